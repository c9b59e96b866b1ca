//! Scans: readings of requests, and scans of one lane.

use crate::lane::op::{LaneOp, Members, ReduceKind, ReduceOp, Width};
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

pub fn one_lane(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    match (scan.width.lanes(), scan.members, scan.exclusive) {
        (Some(1), _, false) => Ok(b.value()),
        (Some(1), _, true) => Ok(b.identity(scan.op)),
        _ => Err(No::NotMine),
    }
}
