//! Indices and counts of lanes.

use crate::lane::op::{Group, LaneOp, Width};
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::{Answer, No};

/// The segment of a group; `None` for the subgroup and for a warp.
fn segment(group: Group) -> Option<Width> {
    match group {
        Group::Quad => Width::new(4),
        Group::Segment(width) => Some(width),
        Group::Subgroup | Group::Warp => None,
    }
}

pub fn fact(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::LaneIndex(group) => Ok(lane_index(b, group)),
        LaneOp::LaneCount(group) => Ok(lane_count(b, group)),
        LaneOp::SegmentLast(width) => Ok(segment_last(b, width)),
        _ => Err(No::NotMine),
    }
}

fn lane_index(b: &mut Builder, group: Group) -> Operand {
    let i = b.index();
    match segment(group) {
        Some(width) => b.local(width),
        None if group == Group::Warp => b.alu(AluOp::And, i, Operand::Const(31)),
        None => i,
    }
}

fn lane_count(b: &mut Builder, group: Group) -> Operand {
    let size = b.size();
    match segment(group) {
        Some(width) => width.lanes().map_or(size, Operand::Const),
        None if group == Group::Warp => b.alu(AluOp::Min, size, Operand::Const(32)),
        None => size,
    }
}

fn segment_last(b: &mut Builder, width: Width) -> Operand {
    let (local, size) = (b.local(width), b.size());
    let lanes = width.lanes().map_or(size, Operand::Const);
    let last = b.alu(AluOp::Sub, lanes, Operand::Const(1));
    b.alu(AluOp::Eq, local, last)
}
