//! Reductions and scans over the active lanes, whichever they are.
//!
//! If the first lanes are active, each lane of a block reads the reduction of the partner block from that block's first
//! lane, which is active if any lane of the block is; SHFIDX leaves a lane unchanged if its source is beyond the last
//! active one. Under any mask, the highest active lane of the partner block is the source: all active lanes of the
//! block have the reduction. For finding it, the driver emits one instruction for BTFM and two for BTFL. Scans follow
//! pointers: from each lane to the nearest active one below it, and from there to that lane's target. Each jump doubles
//! the lanes covered.

use super::shf::{active, from_lane, in_range, is_some, lanes_of, segment_lanes, shf_masked, word};
use crate::lane::op::{MaskOp, ReduceOp, ShuffleMode, WARP};
use crate::lane::plan::{Activity, AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::reductions::{Reduction, reduction};
use crate::lane::planner::partition::{self, Ways};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::NvOp;
use crate::profile::Feature;

pub static PARTITIONS: &[Rule] = &[
    Rule {
        name: "comparison with the first lane that is left, in turns",
        needs: &[Feature::NvShuffle, Feature::NvBallot],
        build: partition,
    },
    Rule {
        name: "jumps from lane to lane of the partition",
        needs: &[Feature::NvShuffle, Feature::NvBallot],
        build: |b| partition::fold(b, &WAYS),
    },
];

/// The sets of lanes with the same bits, in turns.
pub fn partition(b: &mut Builder) -> Answer {
    partition::partition(b, &WAYS)
}

const WAYS: Ways = Ways {
    end: WARP,
    ignores_end: true,
    first: |b, value| {
        let all = active(b);
        let first = b.alu1(AluOp::FindLsb, all);
        from_lane(b, value, first)
    },
    ballot: |b, predicate| b.prim(NvOp::Ballot, &[predicate], StepType::Ballot),
    is_some: |b, ballot| {
        let bits = word(b, ballot);
        is_some(b, bits)
    },
    highest: |b, ballot| {
        let bits = word(b, ballot);
        b.alu1(AluOp::FindMsb, bits)
    },
    read: from_lane,
};

pub fn first_lanes_tree(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if b.request.activity < Activity::FirstLanes {
        return Err(No::NotMine);
    }
    b.assumes = Activity::FirstLanes;
    let all = active(b);
    let last = b.alu1(AluOp::FindMsb, all);
    let mut value = b.value();
    for level in 0..lanes_of(fold.width).ilog2() {
        let first = partner_block(b, level);
        // The last active lane as the clamp, and no segments.
        let other = shf_masked(b, ShuffleMode::Index, value, first, last);
        let sum = b.combine(fold.op, value, other);
        value = if fold.op.is_idempotent() {
            sum
        } else {
            let there = in_range(b, ShuffleMode::Index, first, last);
            b.select(there, sum, value)
        };
    }
    Ok(value)
}

/// The first lane of the neighbouring block of `2^level` lanes.
fn partner_block(b: &mut Builder, level: u32) -> Operand {
    let i = b.index();
    let other = b.alu(AluOp::Xor, i, Operand::Const(1 << level));
    b.alu(AluOp::And, other, Operand::Const(31 & !((1 << level) - 1)))
}

pub fn any_tree(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    Ok(tree(b, fold))
}

/// The reduction of the active lanes of each segment.
pub fn tree(b: &mut Builder, fold: Reduction) -> Operand {
    let all = active(b);
    let mut value = b.value();
    for level in 0..lanes_of(fold.width).ilog2() {
        let first = partner_block(b, level);
        let block = b.alu(AluOp::Shl, Operand::Const(low_bits(1 << level)), first);
        let partners = b.alu(AluOp::And, all, block);
        // One lane needs no search.
        let source = if level == 0 { first } else { b.alu1(AluOp::FindMsb, partners) };
        value = combine_from(b, fold.op, value, source, partners);
    }
    value
}

/// The lowest `count` bits of a word, fewer than 32.
const fn low_bits(count: u32) -> u32 {
    (1 << count) - 1
}

/// The value, reduced with `source`'s if some lane is in `lanes`.
fn combine_from(b: &mut Builder, op: ReduceOp, value: Operand, source: Operand, lanes: Operand) -> Operand {
    let other = from_lane(b, value, source);
    let sum = b.combine(op, other, value);
    let some = is_some(b, lanes);
    b.select(some, sum, value)
}

/// The inclusive scan of the active lanes in segments of `width`: jumps within rows of 16 lanes, then the total of the
/// row below is combined. If all lanes are active, this is the guaranteed order.
pub fn inclusive(b: &mut Builder, op: ReduceOp, width: u32) -> Operand {
    let all = active(b);
    let row = segment_lanes(b, width.min(16), MaskOp::Lt);
    let below = b.alu(AluOp::And, all, row);
    let value = jumps(b, op, below, width.min(16).ilog2());
    if width <= 16 {
        return value;
    }
    let row_below = row_below(b);
    let sources = b.alu(AluOp::And, all, row_below);
    let last = b.alu1(AluOp::FindMsb, sources);
    combine_from(b, op, value, last, sources)
}

/// Lanes 0 to 15 for the upper half of the warp, none for the lower.
fn row_below(b: &mut Builder) -> Operand {
    let i = b.index();
    let upper = b.alu(AluOp::Shr, i, Operand::Const(4));
    b.alu(AluOp::Mul, upper, Operand::Const(0xFFFF))
}

/// The reduction of the lane's own value with the lanes in `below`, which are active lower lanes, at most `2^count`
/// including its own. The end of a chain is the lane's own index with bit 5 set, so that it still names an active lane.
fn jumps(b: &mut Builder, op: ReduceOp, below: Operand, count: u32) -> Operand {
    let (i, nearest) = (b.index(), b.alu1(AluOp::FindMsb, below));
    let end = b.alu(AluOp::Or, i, Operand::Const(WARP));
    let mut more = is_some(b, below);
    let mut pointer = b.select(more, nearest, end);
    let mut value = b.value();
    for jump in 1..=count {
        let other = from_lane(b, value, pointer);
        let sum = b.combine(op, other, value);
        value = b.select(more, sum, value);
        if jump < count {
            pointer = from_lane(b, pointer, pointer);
            more = b.alu(AluOp::Lt, pointer, Operand::Const(WARP));
        }
    }
    value
}

/// The exclusive scan from the inclusive one: the value of the nearest lane in `below`.
pub fn exclusive(b: &mut Builder, op: ReduceOp, inclusive: Operand, below: Operand) -> Operand {
    let (nearest, some) = (b.alu1(AluOp::FindMsb, below), is_some(b, below));
    let (moved, identity) = (from_lane(b, inclusive, nearest), b.identity(op));
    b.select(some, moved, identity)
}

/// The active lanes below this lane in segments of `width`.
pub fn active_below(b: &mut Builder, width: u32) -> Operand {
    let (all, below) = (active(b), segment_lanes(b, width, MaskOp::Lt));
    b.alu(AluOp::And, all, below)
}
