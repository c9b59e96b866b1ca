//! Reductions: decoding of requests, and reductions of one lane.

use crate::lane::op::{LaneOp, Members, ReduceKind, ReduceOp, Width};
use crate::lane::plan::Activity;
use crate::lane::planner::build::Builder;
use crate::lane::planner::{Answer, No};

/// A reduction without its kind: all reductions here give every lane the result.
#[derive(Clone, Copy)]
pub struct Reduction {
    pub op: ReduceOp,
    pub width: Width,
    pub members: Members,
}

pub fn reduction(b: &Builder) -> Result<Reduction, No> {
    match b.request.op {
        LaneOp::Reduce { op, width, members, kind } => {
            let reduces = matches!(kind, ReduceKind::Reduce | ReduceKind::ReduceLow | ReduceKind::AllReduce);
            if reduces { Ok(Reduction { op, width, members }) } else { Err(No::NotMine) }
        }
        _ => Err(No::NotMine),
    }
}

/// Returns true if the bits of the result depend on the order, and the profile guarantees one.
pub fn order_matters(b: &Builder) -> bool {
    b.profile.reproducible && b.request.inputs[0].ty.is_float()
}

/// Returns true if a reduction covers all lanes of its segments.
pub fn all_active(b: &Builder, members: Members) -> bool {
    members == Members::All || b.request.activity == Activity::Full
}

pub fn one_lane(b: &mut Builder) -> Answer {
    if reduction(b)?.width.lanes() == Some(1) { Ok(b.value()) } else { Err(No::NotMine) }
}
