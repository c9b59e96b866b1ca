//! Instructions that nothing uses any more after a pass.

use crate::ir::{Function, InstId, Value};
use rustc_hash::FxHashSet;

/// Drops the instructions that `may_go` names and nothing uses, and then those that only they used.
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
