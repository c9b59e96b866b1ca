//! Arguments that functions write. The typed form copies them into variables and back; the language does that itself.

use super::expr::Reads;
use super::uses::Uses;
use super::writer::Writer;
use crate::ir::slice::{Effects, Memory, memory_of};
use crate::ir::{FuncId, Function, InstId, LocalId, Module, Op, Space, Type, Value, Values};
use crate::limits;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The arguments that a function may receive by reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum References {
    /// No arguments: the language copies them itself.
    No,
    /// The language copies arguments itself, but a compiler passes references: variables and parts of them, each in a
    /// single argument, and none that the function also uses by name.
    Hidden,
    /// Variables of the function and parts of them, each in a single argument.
    Parts,
    /// Variables of the function.
    Variables,
}

/// The copies in a function that can be removed.
#[derive(Default)]
pub(super) struct Copies {
    /// The argument that replaces each variable that only passes it on.
    pub passed: FxHashMap<LocalId, Value>,
    /// Instructions that copy.
    pub skipped: FxHashSet<InstId>,
}

/// Returns true if a place is part of a variable without memory qualifiers, which a parameter would need too.
fn is_plain(module: &Module, f: &Function, place: Value) -> bool {
    match place {
        Value::Local(_) => true,
        Value::Global(id) => matches!(module.globals[id].space, Space::Private | Space::Workgroup),
        Value::Inst(id) => match f.insts[id].op {
            Op::Access { base, .. } => is_plain(module, f, base),
            _ => false,
        },
        _ => false,
    }
}

/// Returns true if a reference to a place is possible: it is in a variable of the function and not a component of a
/// vector.
fn can_refer(module: &Module, f: &Function, place: Value) -> bool {
    match place {
        Value::Local(_) => true,
        Value::Inst(id) => match f.insts[id].op {
            Op::Access { base, indices } => {
                let (Value::Local(local), Some((_, before))) = (base, f.values(indices).split_last()) else {
                    return false;
                };
                let of = before.iter().try_fold(f.locals[local].ty, |ty, index| match module.types.get(ty) {
                    Type::Struct(of) => {
                        let member = module.known_u32(*index)? as usize;
                        module.types.structs[of].members.get(member).map(|member| member.ty)
                    }
                    Type::Array { element, .. } => Some(element),
                    // A component of a column.
                    _ => None,
                });
                of.is_some_and(|ty| !matches!(module.types.get(ty), Type::Vector { .. }))
            }
            _ => false,
        },
        _ => false,
    }
}

/// A copy of one argument.
struct Passing {
    local: LocalId,
    place: Value,
    insts: Vec<InstId>,
}

impl Copies {
    /// The copies of a function.
    pub fn of(t: &mut Writer, f: &Function, uses: &Uses) -> Copies {
        let mut copies = Copies::default();
        for (id, inst) in f.insts.iter() {
            if let Op::Call(callee, args) = inst.op {
                copies.look_at(t, (f, uses), (id, callee, args));
            }
        }
        copies
    }

    fn look_at(
        &mut self,
        t: &mut Writer,
        (f, uses): (&Function, &Uses),
        (call, callee, args): (InstId, FuncId, Values),
    ) {
        let locals = f.values(args).iter().filter_map(|arg| match arg {
            Value::Local(local) => Some(*local),
            _ => None,
        });
        let found: Vec<Passing> = locals.filter_map(|local| copy_of(f, uses, call, local)).collect();
        limits::spend(found.len() * found.len());
        let is_twice = |copy: &Passing| found.iter().filter(|other| other.place == copy.place).count() > 1;
        let back: FxHashSet<InstId> = found.iter().flat_map(|copy| copy.insts.iter().copied()).collect();
        for copy in &found {
            // Only other copies may come between the call and the copy back.
            let last = copy.insts.last().and_then(|id| uses.place(*id));
            let is_next = last.zip(uses.place(call)).is_some_and(|((block, to), (_, at))| {
                f.blocks[block].insts[at as usize + 1..to as usize].iter().all(|id| back.contains(id))
            });
            if is_next
                && !is_twice(copy)
                && is_plain(t.module, f, copy.place)
                && refers(t, f, callee, (copy.place, &found))
            {
                self.passed.insert(copy.local, copy.place);
                self.skipped.extend(&copy.insts);
            }
        }
    }
}

/// Returns true if a called function may receive a reference to a place.
fn refers(t: &mut Writer, f: &Function, callee: FuncId, (place, found): (Value, &[Passing])) -> bool {
    let module = t.module;
    let root = memory_of(f, place);
    let mut others = found.iter().filter(|other| other.place != place && memory_of(f, other.place) == root);
    match t.language.references() {
        References::No => true,
        References::Hidden => {
            let is_used = matches!(root, Some(Memory::Global(id)) if t.effects()[callee.index()].globals.contains(&id));
            !is_used && others.next().is_none()
        }
        References::Parts => can_refer(module, f, place) && others.next().is_none(),
        References::Variables => matches!(place, Value::Local(_)) && others.next().is_none(),
    }
}

/// Uses of a variable that only passes an argument: the copy before the call, the call, and the copy after it.
const MOST_USES: usize = 3;

/// The instructions that copy a place into a variable before a call and back after it, if the variable has no other
/// use.
fn copy_of(f: &Function, uses: &Uses, call: InstId, local: LocalId) -> Option<Passing> {
    let of_local = uses.insts_of(f, local, MOST_USES)?;
    let (before, after) = match *of_local.as_slice() {
        [before, at, after] if at == call => (Some(before), after),
        [at, after] if at == call => (None, after),
        _ => return None,
    };
    let Op::Load(Value::Local(_)) = f.insts[after].op else { return None };
    let back = uses.only_user(f, after)?;
    let Op::Store { pointer: place, value: Value::Inst(stored) } = f.insts[back].op else { return None };
    let block = uses.place(call)?.0;
    let is_here = |id: InstId| uses.place(id).is_some_and(|(of, _)| of == block);
    if stored != after || !is_here(after) || !is_here(back) || matches!(place, Value::Param(_)) {
        return None;
    }
    let mut insts = Vec::new();
    if let Some(store) = before {
        let Op::Store { pointer: Value::Local(_), value: Value::Inst(load) } = f.insts[store].op else { return None };
        let Op::Load(from) = f.insts[load].op else { return None };
        let reads = Reads { memory: true, locals: Reads::of_place(f, place).locals };
        let is_it = from == place && uses.only_user(f, load) == Some(store) && is_here(store) && is_here(load);
        if !is_it || uses.is_written(f, load, call, &reads) {
            return None;
        }
        insts.extend([load, store]);
    }
    insts.extend([after, back]);
    Some(Passing { local, place, insts })
}

impl Writer<'_> {
    /// The effects of the module's functions.
    fn effects(&mut self) -> Rc<Vec<Effects>> {
        let module = self.module;
        let roots = || module.entry_points.iter().map(|entry| entry.function);
        self.effects.get_or_insert_with(|| Rc::new(Effects::of(module, roots()))).clone()
    }
}
