//! Which operations give all active lanes the same result, whatever the plan.

use super::build::Builder;
use crate::lane::op::{CountOp, Group, LaneOp, ReduceKind, ShuffleMode};
use crate::lane::request::{Input, Known};

/// Returns true if the result is the same in all active lanes.
pub fn is_uniform(b: &Builder) -> bool {
    use LaneOp as O;
    match b.request.op {
        O::Reduce { kind: ReduceKind::AllReduce, width, .. } => b.is_whole(width),
        O::Vote { group, .. } | O::Ballot(group) => spans_all(b, group),
        O::ActiveMask => spans_all(b, Group::Warp),
        O::Broadcast | O::BroadcastFirst | O::LaneCount(_) => true,
        O::Shuffle(ShuffleMode::Index) | O::Bpermute => b.request.inputs.iter().skip(1).all(is_known),
        O::BallotBit | O::BallotCount(CountOp::All) | O::BallotFindLsb | O::BallotFindMsb => {
            b.request.inputs.iter().all(is_known)
        }
        _ => false,
    }
}

fn is_known(input: &Input) -> bool {
    input.known != Known::Varying
}

/// Returns true if a group is the whole subgroup, whose size is known unless the group is the subgroup by name.
fn spans_all(b: &Builder, group: Group) -> bool {
    match group {
        Group::Subgroup => true,
        Group::Quad => false,
        Group::Warp => b.fixed_size().is_some_and(|size| size <= 32),
        Group::Segment(width) => b.is_whole(width),
    }
}
