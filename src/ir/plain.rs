//! Function variables that are only loaded and stored, so that all changes are known.

use super::{Function, GlobalId, InstFlags, LocalId, Op, Value, Values};

/// Returns true for each variable that is only loaded and stored, whole or through chains that `is_path` accepts.
pub fn plain_locals(f: &Function, is_path: impl Fn(LocalId, Values) -> bool) -> Vec<bool> {
    let mut is_plain = vec![true; f.locals.len()];
    let local = |value: Value| if let Value::Local(local) = value { Some(local) } else { None };
    uses(f, local, |local, chain| {
        let keeps = chain.is_some_and(|chain| chain.is_none_or(|indices| is_path(local, indices)));
        is_plain[local.index()] &= keeps;
    });
    is_plain
}

/// Calls `see` for each use of a variable of the module: true if it is plain.
pub fn global_uses(f: &Function, mut see: impl FnMut(GlobalId, bool)) {
    let global = |value: Value| if let Value::Global(global) = value { Some(global) } else { None };
    uses(f, global, |global, chain| see(global, chain.is_some()));
}

/// Calls `see` for each use of the variables that `root` finds: with the indices of a chain, or `None` if it is neither
/// a plain load or store nor a chain.
fn uses<T: Copy>(f: &Function, root: impl Fn(Value) -> Option<T>, mut see: impl FnMut(T, Option<Option<Values>>)) {
    let mut roots: Vec<Option<T>> = vec![None; f.insts.len()];
    for (id, inst) in f.insts.iter() {
        let plain = !inst.flags.intersects(InstFlags::VOLATILE | InstFlags::NON_UNIFORM | InstFlags::COHERENT);
        let mut spared = match inst.op {
            Op::Load(pointer) | Op::Store { pointer, .. } if plain => Some((pointer, None)),
            Op::Access { base, indices } if plain && root(base).is_some() => {
                roots[id.index()] = root(base);
                Some((base, Some(indices)))
            }
            _ => None,
        };
        inst.op.each_operand(f, |operand| {
            let found = match operand {
                Value::Inst(other) => roots[other.index()],
                other => root(other),
            };
            let chain = match spared {
                Some((pointer, chain)) if pointer == operand => {
                    spared = None;
                    Some(chain)
                }
                _ => None,
            };
            if let Some(found) = found {
                see(found, chain);
            }
        });
    }
}

/// The function variable that a pointer points into.
pub fn root_local(f: &Function, pointer: Value) -> Option<LocalId> {
    match pointer {
        Value::Local(local) => Some(local),
        Value::Inst(id) => match f.insts[id].op {
            Op::Access { base: Value::Local(local), .. } => Some(local),
            _ => None,
        },
        _ => None,
    }
}
