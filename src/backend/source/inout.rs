//! Arguments that functions write: the typed form copies them into variables and back, the language does that itself.

use super::expr::Reads;
use super::uses::{Uses, local_of};
use crate::ir::{Function, InstId, LocalId, Module, Op, Space, Type, Value, Values};
use crate::limits;
use rustc_hash::{FxHashMap, FxHashSet};

/// The places of the function's own to which a function that writes an argument gets a reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum References {
    /// None: the language copies arguments itself.
    No,
    /// Variables and parts of these, each to one alone.
    Parts,
    /// Variables.
    Variables,
}

/// The copies of a function that nothing is left of.
#[derive(Default)]
pub(super) struct Copies {
    /// The argument that replaces each variable that only passes it on.
    pub passed: FxHashMap<LocalId, Value>,
    /// Instructions that copy.
    pub skipped: FxHashSet<InstId>,
}

/// Returns true if a place is part of a variable without memory qualifiers, which a parameter would have to have too.
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

/// Returns true if a reference can be to a place: one in a variable of the function that is no component of a vector.
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
    pub fn of(module: &Module, f: &Function, uses: &Uses, references: References) -> Copies {
        let mut copies = Copies::default();
        for (id, inst) in f.insts.iter() {
            if let Op::Call(_, args) = inst.op {
                copies.look_at((module, f, uses), id, args, references);
            }
        }
        copies
    }

    fn look_at(
        &mut self,
        (module, f, uses): (&Module, &Function, &Uses),
        call: InstId,
        args: Values,
        references: References,
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
            // Nothing but other copies comes between the call and the copy back.
            let last = copy.insts.last().and_then(|id| uses.place(*id));
            let is_next = last.zip(uses.place(call)).is_some_and(|((block, to), (_, at))| {
                f.blocks[block].insts[at as usize + 1..to as usize].iter().all(|id| back.contains(id))
            });
            let can_refer = references == References::No || {
                let others = found.iter().filter(|other| local_of(f, other.place) == local_of(f, copy.place));
                let is_whole = matches!(copy.place, Value::Local(_));
                let is_taken = is_whole || references == References::Parts && can_refer(module, f, copy.place);
                is_taken && others.count() == 1
            };
            if is_next && !is_twice(copy) && is_plain(module, f, copy.place) && can_refer {
                self.passed.insert(copy.local, copy.place);
                self.skipped.extend(&copy.insts);
            }
        }
    }
}

/// Uses of a variable that only passes an argument: the copy before the call, the call, and the copy after it.
const MOST_USES: usize = 3;

/// The instructions that copy a place into a variable before a call and back after it, if the variable has no other use.
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
