//! Walks over the instructions of a module, for passes.

use crate::ir::{FuncId, Function, InstId, Module, Value};
use rustc_hash::FxHashSet;

/// Calls `see` with each instruction of a module, block by block. Instructions that `see` adds to the list are inserted
/// before it.
pub(super) fn each_inst<C>(
    context: &mut C,
    module: fn(&mut C) -> &mut Module,
    mut see: impl FnMut(&mut C, FuncId, InstId, &mut Vec<InstId>),
) {
    for function in module(context).functions.handles() {
        for block in module(context).functions[function].blocks.handles() {
            let old = std::mem::take(&mut module(context).functions[function].blocks[block].insts);
            let mut new = Vec::with_capacity(old.len());
            for id in old {
                see(context, function, id, &mut new);
                new.push(id);
            }
            module(context).functions[function].blocks[block].insts = new.into();
        }
    }
}

/// Drops unused instructions that `may_go` names, and then instructions that only they used.
pub(super) fn drop_unused(f: &mut Function, may_go: impl Fn(&Function, InstId) -> bool) {
    loop {
        let listed: Vec<InstId> = f.blocks.iter().flat_map(|(_, block)| block.insts.iter().copied()).collect();
        crate::limits::spend(listed.len());
        let mut used = FxHashSet::default();
        for id in &listed {
            f.insts[*id].op.each_operand(f, |value| {
                if let Value::Inst(of) = value {
                    used.insert(of);
                }
            });
        }
        let dead: FxHashSet<InstId> = listed.into_iter().filter(|id| !used.contains(id) && may_go(f, *id)).collect();
        if dead.is_empty() {
            return;
        }
        f.blocks.iter_mut().for_each(|(_, block)| block.insts.retain(|id| !dead.contains(id)));
    }
}
