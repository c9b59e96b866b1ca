//! Scans: decoding of requests, and scans of one lane.

use crate::lane::op::{InvertibleOp, LaneOp, Members, ReduceKind, ReduceOp, Width};
use crate::lane::plan::Operand;
use crate::lane::planner::build::Builder;
use crate::lane::planner::{Answer, No};

/// A scan without its result's kind.
#[derive(Clone, Copy)]
pub struct Scan {
    pub op: ReduceOp,
    pub width: Width,
    pub members: Members,
    pub exclusive: bool,
}

pub fn scan(b: &Builder) -> Result<Scan, No> {
    match b.request.op {
        LaneOp::Reduce { op, width, members, kind: kind @ (ReduceKind::Inclusive | ReduceKind::Exclusive) } => {
            Ok(Scan { op, width, members, exclusive: kind == ReduceKind::Exclusive })
        }
        _ => Err(No::NotMine),
    }
}

/// The exclusive scan from the inclusive one, without the lane's own value; `None` if it cannot be removed. If it can,
/// a move from the lane below is never cheaper: it also takes an instruction per register, and a select or a copy of
/// the identity for the first lane.
pub fn without_own(b: &mut Builder, op: ReduceOp, inclusive: Operand) -> Option<Operand> {
    let value = b.value();
    invertible(b, op).map(|op| b.remove(op, inclusive, value))
}

/// The operator of a reduction, if it is invertible.
pub fn invertible(b: &Builder, op: ReduceOp) -> Option<InvertibleOp> {
    op.invertible().filter(|_| !b.request.inputs[0].ty.is_float())
}

pub fn one_lane(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    match (scan.width.lanes(), scan.members, scan.exclusive) {
        (Some(1), _, false) => Ok(b.value()),
        (Some(1), _, true) => Ok(b.identity(scan.op)),
        _ => Err(No::NotMine),
    }
}
