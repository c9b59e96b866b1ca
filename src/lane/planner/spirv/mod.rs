//! Rules for the portable subgroup instructions (SPIR-V), whose cost only the driver knows: the first matching rule
//! wins.

mod ballots;
mod facts;
mod moves;
mod nv_shuffle;
mod partition;
mod quads;
mod reductions;
mod scans;
mod sort;
mod votes;

use super::Rule;
use crate::lane::op::LaneOp;
use crate::lane::signature::Family;

/// The rules for an operation, best first.
pub fn rules(op: LaneOp) -> &'static [Rule] {
    use Family as F;
    match op.signature().family {
        F::Quad => quads::RULES,
        F::Move => moves::RULES,
        F::NvShuffle => nv_shuffle::RULES,
        F::Scan => scans::RULES,
        F::Reduce => reductions::RULES,
        F::Sort => sort::RULES,
        F::Vote => votes::RULES,
        F::Fact => facts::RULES,
        F::Partition => partition::RULES,
    }
}
