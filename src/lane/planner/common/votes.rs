//! Votes: decoding of requests, and votes of one lane.

use crate::lane::op::{Group, LaneOp, VoteOp, Width};
use crate::lane::plan::CompareOp;
use crate::lane::planner::build::Builder;
use crate::lane::planner::{Answer, No};

/// The group whose lanes vote, as a width; a warp that is not the whole subgroup has 32 lanes.
pub fn vote(b: &Builder) -> Result<(VoteOp, Group, Width), No> {
    let LaneOp::Vote { op, group } = b.request.op else {
        return Err(No::NotMine);
    };
    let lanes = match group {
        Group::Subgroup => return Ok((op, group, Width::SUBGROUP)),
        Group::Quad => 4,
        Group::Warp => 32,
        Group::Segment(width) => width.lanes_in(b.most_lanes()),
    };
    let width = Width::new(lanes).expect("groups have a power of two lanes");
    Ok((op, group, if b.is_whole(width) { Width::SUBGROUP } else { width }))
}

pub fn one_lane(b: &mut Builder) -> Answer {
    let (op, _, width) = vote(b)?;
    let value = b.value();
    match (width.lanes(), op) {
        (Some(1), VoteOp::All | VoteOp::Any) => Ok(value),
        (Some(1), VoteOp::Equal) => Ok(b.compare(CompareOp::Eq, value, value)),
        _ => Err(No::NotMine),
    }
}
