//! Consecutive stores between components of two vectors, which become one assignment: `color.xyz = light`.

use super::constants::component;
use super::expr::Expr;
use super::function::Body;
use crate::ir::{BlockId, Function, Inst, InstId, Module, Op, Scalar, Space, Type, Value, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Stores combined into one assignment.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The vector whose components are stored.
    pub value: Value,
    /// The instructions that extract its components, and the stores.
    pub extracts: SmallVec<[InstId; 4]>,
    pub stores: SmallVec<[InstId; 4]>,
    base: Value,
    /// The indices that lead to the destination vector.
    indices: Values,
    /// Its components, and the value's.
    to: SmallVec<[u8; 4]>,
    from: SmallVec<[u8; 4]>,
    /// Number of components of the destination vector.
    size: u8,
}

impl Run {
    /// Returns true if a whole vector is stored, in order.
    fn is_whole(&self) -> bool {
        self.to.len() == usize::from(self.size) && in_order(&self.to)
    }
}

impl Run {
    /// Returns true if all of a value becomes the first components of a vector.
    fn is_start(&self, module: &Module, f: &Function) -> bool {
        let size = module.value_type(f, self.value).and_then(|ty| module.types.components(ty));
        size.map(usize::from) == Some(self.from.len()) && in_order(&self.to) && in_order(&self.from)
    }
}

fn in_order(components: &[u8]) -> bool {
    (0..).zip(components).all(|(n, component)| n == *component)
}

/// The runs of a function.
#[derive(Default)]
pub(super) struct Runs {
    /// Runs by their first store.
    first: FxHashMap<InstId, Run>,
    /// The other stores.
    others: FxHashSet<InstId>,
}

impl Runs {
    /// Finds the runs; `of_parts` allows any components, otherwise only the first ones.
    pub fn of(module: &Module, f: &Function, of_parts: bool) -> Runs {
        let mut runs = Runs::default();
        for (block, _) in f.blocks.iter() {
            runs.find(module, f, block, of_parts);
        }
        runs
    }

    pub fn iter(&self) -> impl Iterator<Item = (InstId, &Run)> {
        self.first.iter().map(|(id, run)| (*id, run))
    }

    /// Returns true for a store that is part of an earlier one's assignment.
    pub fn stands_elsewhere(&self, id: InstId) -> bool {
        self.others.contains(&id)
    }

    pub fn at(&self, id: InstId) -> Option<&Run> {
        self.first.get(&id)
    }

    fn find(&mut self, module: &Module, f: &Function, block: BlockId, of_parts: bool) {
        let insts = &f.blocks[block].insts;
        crate::limits::spend(insts.len());
        let mut at = 0;
        while at < insts.len() {
            if let Some(run) = merged_of(module, f, insts.get(at..at + 3)) {
                if of_parts || run.is_start(module, f) {
                    self.first.insert(run.stores[0], run);
                }
                at += 3;
                continue;
            }
            let Some(mut run) = store_of(module, f, insts.get(at..at + 3)) else {
                at += 1;
                continue;
            };
            at += 3;
            while let Some(next) = store_of(module, f, insts.get(at..at + 3)).filter(|next| run.goes_on(f, next)) {
                run.extracts.extend(next.extracts);
                run.stores.extend(next.stores);
                run.to.extend(next.to);
                run.from.extend(next.from);
                at += 3;
            }
            if run.stores.len() > 1 && (of_parts || run.is_start(module, f)) {
                self.others.extend(&run.stores[1..]);
                self.first.insert(run.stores[0], run);
            }
        }
    }
}

impl Run {
    fn goes_on(&self, f: &Function, next: &Run) -> bool {
        let is_same = (self.base, self.value) == (next.base, next.value);
        is_same && f.values(self.indices) == f.values(next.indices) && !self.to.contains(&next.to[0])
    }
}

/// The store that three instructions are: an address, a component, and the store.
fn store_of(module: &Module, f: &Function, insts: Option<&[InstId]>) -> Option<Run> {
    let [a, b, store] = *insts? else { return None };
    let Op::Store { pointer: Value::Inst(pointer), value: Value::Inst(value) } = f.insts[store].op else { return None };
    if (pointer, value) != (a, b) && (pointer, value) != (b, a) {
        return None;
    }
    let Op::Access { base, indices } = f.insts[pointer].op else { return None };
    let Op::Extract { composite, index } = f.insts[value].op else { return None };
    let is_vector = |inst: &Inst| module.types.components(inst.ty).is_some();
    let Value::Inst(of) = composite else { return None };
    let indices = Values { len: indices.len.checked_sub(1)?, ..indices };
    let last = f.operands[(indices.start + indices.len) as usize];
    let size = vector_at(module, f, base, indices)?;
    let to = u8::try_from(module.known_u32(last)?).ok()?;
    is_vector(&f.insts[of]).then(|| Run {
        value: composite,
        extracts: [value].into_iter().collect(),
        stores: [store].into_iter().collect(),
        base,
        indices,
        to: [to].into_iter().collect(),
        from: [index as u8].into_iter().collect(),
        size,
    })
}

/// The store of a vector with some new components and otherwise its own, which is three instructions: a load of the
/// vector, the new vector, and the store.
fn merged_of(module: &Module, f: &Function, insts: Option<&[InstId]>) -> Option<Run> {
    let [load, merge, store] = *insts? else { return None };
    let Op::Load(pointer) = f.insts[load].op else { return None };
    let Op::Shuffle { a, b, mask } = f.insts[merge].op else { return None };
    let is_stored =
        matches!(f.insts[store].op, Op::Store { pointer: to, value } if to == pointer && value == Value::Inst(merge));
    let size = module.types.components(f.insts[load].ty)?;
    if !is_stored || a != Value::Inst(load) || module.types.components(f.insts[merge].ty) != Some(size) {
        return None;
    }
    let (space, _) = module.pointee_of(f, &module.types, pointer)?;
    let (base, indices) = match pointer {
        Value::Inst(id) => match f.insts[id].op {
            Op::Access { base, indices } => (base, indices),
            _ => return None,
        },
        other => (other, Values { start: 0, len: 0 }),
    };
    let is_own = matches!(space, Space::Private) || space == Space::Function && matches!(base, Value::Local(_));
    let mask = &mask[..usize::from(size)];
    let is_new = |component: u8| component >= size;
    let is_kept = (0..).zip(mask).all(|(at, component): (u8, &u8)| is_new(*component) || *component == at);
    (is_own && is_kept && mask.iter().any(|component| is_new(*component))).then(|| Run {
        value: b,
        extracts: [load, merge].into_iter().collect(),
        stores: [store].into_iter().collect(),
        base,
        indices,
        to: (0..).zip(mask).filter(|(_, component)| is_new(**component)).map(|(at, _)| at).collect(),
        from: mask.iter().filter(|component| is_new(**component)).map(|component| component - size).collect(),
        size,
    })
}

/// The components of the vector at a constant address in private memory.
fn vector_at(module: &Module, f: &Function, base: Value, indices: Values) -> Option<u8> {
    let (space, mut ty) = module.pointee_of(f, &module.types, base)?;
    let is_own = match space {
        Space::Function => matches!(base, Value::Local(_)),
        Space::Output => !matches!(module.types.get(ty), Type::Array { .. }),
        space => space == Space::Private,
    };
    for index in f.values(indices) {
        let index = module.known_u32(*index)?;
        ty = match module.types.get(ty) {
            Type::Array { element, .. } => element,
            Type::Struct(of) => module.types.structs[of].members.get(index as usize)?.ty,
            _ => return None,
        };
    }
    match module.types.get(ty) {
        Type::Vector { size, .. } if is_own => Some(size),
        _ => None,
    }
}

/// `.xy`
fn letters(components: &[u8]) -> String {
    let letters = components.iter().map(|n| component(u32::from(*n))[1..].to_string());
    std::iter::once(".".to_string()).chain(letters).collect()
}

impl Body<'_, '_> {
    /// Writes a run as one assignment.
    pub fn store_run(&mut self, run: &Run, store: InstId) {
        let place = match self.f.insts[store].op {
            Op::Store { pointer: Value::Inst(pointer), .. } if run.indices.len > 0 => {
                let (language, flags) = (self.t.language, self.f.insts[pointer].flags);
                let made = language.access(self, pointer, run.base, run.indices, flags);
                self.single(made)
            }
            _ => self.value(run.base),
        };
        let value = self.value(run.value);
        let size = self.shape_of(run.value).map_or(0, |(_, size)| usize::from(size));
        let is_all = run.from.len() == size && in_order(&run.from);
        let value = if is_all { value } else { value.part(&letters(&run.from)) };
        let (place, value) = match (run.is_whole(), self.t.language.assigns_components()) {
            (true, _) => (place, value),
            (false, true) => (place.part(&letters(&run.to)), value),
            (false, false) => {
                let rest: SmallVec<[u8; 4]> = (run.to.len() as u8..run.size).collect();
                let scalar = self.shape_of(run.value).map_or(Scalar::F32, |(scalar, _)| scalar);
                let name = self.t.vector_name(scalar, run.size);
                let whole = Expr::call(&name, &[value, place.part(&letters(&rest))]);
                (place, whole)
            }
        };
        self.assign(&place, &value);
    }

    /// A statement that gives a place a value.
    pub fn assign(&mut self, place: &Expr, value: &Expr) {
        match value.assigned.as_deref() {
            Some([op, left, right]) if *left == place.text => self.line(match (op.as_str(), right.as_str()) {
                ("+" | "-", "1" | "1u") => format!("{left}{op}{op}"),
                _ => format!("{left} {op}= {right}"),
            }),
            _ => self.line(format!("{} = {}", place.text, value.text)),
        }
    }
}
