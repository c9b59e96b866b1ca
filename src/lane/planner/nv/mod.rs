//! Rules for NVIDIA's instructions: SHF, QSWZ, TGALL, TGANY, TGBALLOT over warps of 32 lanes. The cheapest plan wins.
//!
//! A ballot is one word here, and so are the masks of lanes: set-up takes the lane's own.

mod active;
mod ballots;
mod moves;
mod quads;
mod reductions;
mod scans;
mod shf;
mod shuffles;
mod votes;

#[cfg(test)]
mod tests;

use super::Rule;
use crate::lane::op::{LaneOp, ReduceKind};

/// The rules for an operation.
pub fn rules(op: LaneOp) -> &'static [Rule] {
    use LaneOp as O;
    match op {
        O::Quad { .. } | O::QuadAdd(_) | O::QuadPermute(_) | O::QuadPermuteZero(_) | O::QuadBroadcast => quads::RULES,
        O::Butterfly(_) | O::Shuffle(_) | O::Rotate(_) | O::Bpermute | O::Permute | O::Broadcast => moves::RULES,
        O::BroadcastFirst | O::SwizzleMasked { .. } | O::WriteLane | O::Sort { .. } => moves::RULES,
        O::ShuffleNv(_) | O::ShuffleNvValid(_) => shuffles::RULES,
        O::Reduce { kind: ReduceKind::Inclusive | ReduceKind::Exclusive, .. } | O::Segmented { .. } => scans::RULES,
        O::Reduce { .. } => reductions::RULES,
        O::Partitioned { .. } | O::Partition => active::PARTITIONS,
        O::Vote { .. } | O::Elect => votes::RULES,
        O::Ballot(_) | O::InverseBallot | O::BallotBit | O::BallotCount(_) | O::BallotFindLsb => ballots::RULES,
        O::BallotFindMsb | O::MaskedCount | O::LaneIndex(_) | O::LaneCount(_) | O::SegmentLast(_) => ballots::RULES,
        O::LaneMask(..) | O::ActiveMask | O::Sync => ballots::RULES,
    }
}
