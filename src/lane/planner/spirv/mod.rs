//! Rules for the portable subgroup instructions (SPIR-V), whose cost only the driver knows: the first that matches wins.

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
use crate::lane::op::{LaneOp, ReduceKind};

/// The rules for an operation, best first.
pub fn rules(op: LaneOp) -> &'static [Rule] {
    use LaneOp as O;
    match op {
        O::Quad { .. } | O::QuadAdd(_) | O::QuadPermute(_) | O::QuadPermuteZero(_) | O::QuadBroadcast => quads::RULES,
        O::Butterfly(_) | O::Shuffle(_) | O::Rotate(_) | O::Bpermute | O::Permute | O::Broadcast => moves::RULES,
        O::BroadcastFirst | O::SwizzleMasked { .. } | O::WriteLane => moves::RULES,
        O::ShuffleNv(_) | O::ShuffleNvValid(_) => nv_shuffle::RULES,
        O::Reduce { kind: ReduceKind::Inclusive | ReduceKind::Exclusive, .. } | O::Segmented { .. } => scans::RULES,
        O::Reduce { .. } => reductions::RULES,
        O::Sort { .. } => sort::RULES,
        O::Vote { .. } | O::Elect => votes::RULES,
        O::Ballot(_) | O::InverseBallot | O::BallotBit | O::BallotCount(_) | O::BallotFindLsb => facts::RULES,
        O::BallotFindMsb | O::MaskedCount | O::LaneIndex(_) | O::LaneCount(_) | O::SegmentLast(_) => facts::RULES,
        O::LaneMask(..) | O::ActiveMask | O::Sync => facts::RULES,
        O::Partitioned { .. } | O::Partition => partition::RULES,
    }
}
