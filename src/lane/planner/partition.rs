//! Partitions of the active lanes: sets of lanes with the same bits, and reductions over each set
//! (GL_NV_shader_subgroup_partitioned).
//!
//! The sets are found in turns, one per set. Reductions follow pointers: from each lane to the nearest lower lane of
//! its set, and from there to that lane's target. Each jump doubles the lanes covered. The target determines how lanes
//! are read and ballots searched.

use super::build::Builder;
use super::common::scans::without_own;
use super::{Answer, No};
use crate::lane::op::{LaneOp, MaskOp, ReduceKind, ReduceOp};
use crate::lane::plan::{AluOp, CompareOp, Operand};
use crate::lane::request::LaneType;

/// A target's implementation of the steps that a partition needs.
pub struct Ways {
    /// The bits of a pointer whose target has no lower lane in its set; otherwise a pointer names an active lane.
    pub end: u32,
    /// True if reads ignore that bit.
    pub ignores_end: bool,
    /// The value of the lowest active lane; not used for bools.
    pub first: fn(&mut Builder, Operand) -> Operand,
    /// The active lanes with a true predicate.
    pub ballot: fn(&mut Builder, Operand) -> Operand,
    /// True if a ballot has a bit set.
    pub is_some: fn(&mut Builder, Operand) -> Operand,
    /// The highest set bit of a ballot; undefined if there is none.
    pub highest: fn(&mut Builder, Operand) -> Operand,
    /// A value of the lane with this number, which is active.
    pub read: fn(&mut Builder, Operand, Operand) -> Operand,
}

/// The lanes with the lane's bits.
pub fn partition(b: &mut Builder, ways: &Ways) -> Answer {
    if b.request.op != LaneOp::Partition {
        return Err(No::NotMine);
    }
    let value = b.value();
    if b.request.inputs[0].ty != LaneType::BOOL {
        return Ok(sets(b, ways, value, |b, value, first| b.compare(CompareOp::Same, value, first)));
    }
    let number = b.select(value, Operand::Const(1), Operand::Const(0));
    Ok(sets(b, ways, number, |b, number, first| b.alu(AluOp::Eq, number, first)))
}

/// Each turn finds the set of the first remaining lane.
fn sets(b: &mut Builder, ways: &Ways, value: Operand, same: fn(&mut Builder, Operand, Operand) -> Operand) -> Operand {
    b.in_turns(|b| {
        let first = (ways.first)(b, value);
        let same = same(b, value, first);
        ((ways.ballot)(b, same), same)
    })
}

/// The reduction over the lane's set, or over its lanes up to this lane.
pub fn fold(b: &mut Builder, ways: &Ways) -> Answer {
    let LaneOp::Partitioned { op, kind } = b.request.op else {
        return Err(No::NotMine);
    };
    let active = (ways.ballot)(b, Operand::Bool(true));
    let members = b.alu(AluOp::BallotAnd, active, Operand::Input(1));
    Ok(fold_of(b, ways, Set { members, segment: None }, op, kind))
}

/// The lanes that a reduction covers.
#[derive(Clone, Copy)]
pub struct Set {
    /// A ballot of active lanes, including this lane.
    pub members: Operand,
    /// The segments that bound it; `None` if there are none.
    pub segment: Option<Segment>,
}

/// Segments that bound a set.
#[derive(Clone, Copy)]
pub struct Segment {
    pub lanes: u32,
    /// The highest set bit of a ballot in the lane's segment of this many lanes, as a lane; undefined if there is none.
    pub highest: fn(&mut Builder, Operand, u32) -> Operand,
}

/// The nearest lower member, and whether there is one.
struct Nearest {
    lane: Operand,
    exists: Operand,
}

/// The reduction over the lane's set, or over its lanes up to this lane.
pub fn fold_of(b: &mut Builder, ways: &Ways, set: Set, op: ReduceOp, kind: ReduceKind) -> Operand {
    let lower = b.mask(MaskOp::Lt);
    let below = b.alu(AluOp::BallotAnd, set.members, lower);
    let nearest = nearest(b, ways, below, set.segment);
    let inclusive = jumps(b, ways, op, &nearest);
    match kind {
        ReduceKind::Inclusive => inclusive,
        ReduceKind::Exclusive => without_own(b, op, inclusive).unwrap_or_else(|| {
            let (moved, identity) = ((ways.read)(b, inclusive, nearest.lane), b.identity(op));
            b.select(nearest.exists, moved, identity)
        }),
        ReduceKind::Reduce | ReduceKind::ReduceLow | ReduceKind::AllReduce => {
            let last = match set.segment {
                Some(segment) => (segment.highest)(b, set.members, segment.lanes),
                None => (ways.highest)(b, set.members),
            };
            (ways.read)(b, inclusive, last)
        }
    }
}

fn nearest(b: &mut Builder, ways: &Ways, below: Operand, segment: Option<Segment>) -> Nearest {
    let lane = (ways.highest)(b, below);
    let some = (ways.is_some)(b, below);
    let exists = match segment {
        None => some,
        Some(segment) => {
            let base = b.base(segment.lanes);
            let inside = b.alu(AluOp::Ge, lane, base);
            b.select(some, inside, Operand::Bool(false))
        }
    };
    Nearest { lane, exists }
}

/// The reduction of the lane's own value with the members below this lane.
fn jumps(b: &mut Builder, ways: &Ways, op: ReduceOp, nearest: &Nearest) -> Operand {
    let i = b.index();
    let end = b.alu(AluOp::Or, i, Operand::Const(ways.end));
    let mut more = nearest.exists;
    let mut pointer = b.select(more, nearest.lane, end);
    let mut value = b.value();
    let count = b.most_lanes().ilog2();
    for jump in 1..=count {
        let lane = match ways.ignores_end {
            true => pointer,
            false => b.alu(AluOp::And, pointer, Operand::Const(ways.end - 1)),
        };
        let other = (ways.read)(b, value, lane);
        let sum = b.combine(op, other, value);
        value = b.select(more, sum, value);
        if jump < count {
            pointer = (ways.read)(b, pointer, lane);
            more = b.alu(AluOp::Lt, pointer, Operand::Const(ways.end));
        }
    }
    value
}
