//! Scans of segments, of active lanes, and of runs inside segments.

use super::active;
use super::reductions::{is_bool, reduction_of_ballot};
use super::shf::{ballot, from_lane, in_range, is_full, lanes, lanes_of, segment_lanes, shf, shf_masked};
use crate::lane::op::{LaneOp, MaskOp, Members, ReduceOp, ShuffleMode, WARP};
use crate::lane::plan::{Activity, AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::moves::{is_bit_set, is_local};
use crate::lane::planner::common::reductions::all_active;
use crate::lane::planner::common::scans::{Scan, one_lane, scan, without_own};
use crate::lane::planner::{Answer, No, Rule};
use crate::profile::Feature;

const SHUFFLE_AND_BALLOT: &[Feature] = &[Feature::NvShuffle, Feature::NvBallot];

pub static RULES: &[Rule] = &[
    Rule { name: "scan of one lane", needs: &[], build: one_lane },
    Rule { name: "own lower lanes of a ballot", needs: &[Feature::NvBallot], build: bools },
    Rule { name: "steps of SHFUP", needs: &[Feature::NvShuffle], build: steps },
    Rule {
        name: "steps of SHFUP if all lanes are active, otherwise jumps from active lane to active lane",
        needs: SHUFFLE_AND_BALLOT,
        build: steps_if_full,
    },
    Rule { name: "jumps from active lane to active lane", needs: SHUFFLE_AND_BALLOT, build: jumps },
    Rule { name: "steps of SHFUP from the run's head on", needs: SHUFFLE_AND_BALLOT, build: segmented },
];

pub fn bools(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    if !is_bool(b) {
        return Err(No::NotMine);
    }
    let reach = if scan.exclusive { MaskOp::Lt } else { MaskOp::Le };
    let lanes = segment_lanes(b, lanes_of(scan.width), reach);
    let everybody = all_active(b, scan.members);
    reduction_of_ballot(b, scan.op, lanes, everybody)
}

/// The lanes below an active one are active too, or the scan is over all lanes.
pub fn steps(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    if scan.members == Members::Active {
        if b.request.activity < Activity::FirstLanes {
            return Err(No::NotMine);
        }
        b.assumes = Activity::FirstLanes;
    }
    Ok(over_all(b, scan))
}

/// The scan under any mask, with a test of the whole warp first, because usually all lanes are active.
pub fn steps_if_full(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    if is_bool(b) || b.request.activity != Activity::Any || scan.members == Members::All {
        return Err(No::NotMine);
    }
    let full = is_full(b);
    Ok(b.fork(full, |b| over_all(b, scan), |b| over_active(b, scan)))
}

/// The scan if all lanes below each lane are active.
fn over_all(b: &mut Builder, scan: Scan) -> Operand {
    let inclusive = inclusive(b, scan.op, lanes_of(scan.width));
    if !scan.exclusive {
        return inclusive;
    }
    without_own(b, scan.op, inclusive).unwrap_or_else(|| shifted(b, scan, inclusive))
}

/// The inclusive scan in the guaranteed order: Hillis-Steele inside rows of 16 lanes, then the row below.
fn inclusive(b: &mut Builder, op: ReduceOp, width: u32) -> Operand {
    let row = width.min(16);
    let mut value = b.value();
    for level in 0..row.ilog2() {
        let distance = Operand::Const(1 << level);
        let below = shf(b, ShuffleMode::Up, value, distance, row);
        let local = local(b, row);
        let takes = b.alu(AluOp::Ge, local, distance);
        value = combine_where(b, op, takes, below, value);
    }
    if width > 16 { row_step(b, op, value) } else { value }
}

fn local(b: &mut Builder, width: u32) -> Operand {
    let i = b.index();
    b.alu(AluOp::And, i, Operand::Const(width - 1))
}

/// Combines with the value from below, in lanes that take it. A lane that does not may get its own value, if combining
/// it again changes nothing.
fn combine_where(b: &mut Builder, op: ReduceOp, takes: Operand, below: Operand, value: Operand) -> Operand {
    let sum = b.combine(op, below, value);
    if op.is_idempotent() { sum } else { b.select(takes, sum, value) }
}

/// Lane 15 for the upper half of the warp; lanes of the lower half read themselves.
fn row_step(b: &mut Builder, op: ReduceOp, value: Operand) -> Operand {
    let i = b.index();
    let upper = is_bit_set(b, i, 4);
    let source = if op.is_idempotent() { b.alu(AluOp::Min, i, Operand::Const(15)) } else { Operand::Const(15) };
    let below = from_lane(b, value, source);
    combine_where(b, op, upper, below, value)
}

/// The lane below's result, the identity in the segment's first lane.
fn shifted(b: &mut Builder, scan: Scan, inclusive: Operand) -> Operand {
    let below = shf(b, ShuffleMode::Up, inclusive, Operand::Const(1), lanes_of(scan.width));
    let (first, identity) = (is_local(b, scan.width, 0), b.identity(scan.op));
    b.select(first, identity, below)
}

pub fn jumps(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    if scan.members == Members::All {
        return Err(No::NotMine);
    }
    Ok(over_active(b, scan))
}

/// The scan over the active lanes, whichever they are.
fn over_active(b: &mut Builder, scan: Scan) -> Operand {
    let width = lanes_of(scan.width);
    let inclusive = active::inclusive(b, scan.op, width);
    if !scan.exclusive {
        return inclusive;
    }
    without_own(b, scan.op, inclusive).unwrap_or_else(|| {
        let below = active::active_below(b, width);
        active::exclusive(b, scan.op, inclusive, below)
    })
}

/// SHFUP clamped at the first lane of the run; its predicate shows whether the source is in range.
pub fn segmented(b: &mut Builder) -> Answer {
    let LaneOp::Segmented { op, width } = b.request.op else {
        return Err(No::NotMine);
    };
    let width = lanes_of(width);
    if width == 1 {
        return Ok(b.value());
    }
    let head = run_start(b, width);
    let row = width.min(16);
    let clamp = if width > 16 { first_in_row(b, head) } else { head };
    let mut value = b.value();
    for level in 0..row.ilog2() {
        let distance = Operand::Const(1 << level);
        let below = shf_masked(b, ShuffleMode::Up, value, distance, clamp);
        let takes =
            if op.is_idempotent() { Operand::Bool(true) } else { in_range(b, ShuffleMode::Up, distance, clamp) };
        value = combine_where(b, op, takes, below, value);
    }
    Ok(if width > 16 { row_step_of_run(b, op, head, value) } else { value })
}

/// The first lane of the run, or of the lane's row of 16 lanes if that is above it.
fn first_in_row(b: &mut Builder, head: Operand) -> Operand {
    let row = b.base(16);
    b.alu(AluOp::Max, head, row)
}

/// Lane 15 for lanes of the upper half whose run starts in the lower one.
fn row_step_of_run(b: &mut Builder, op: ReduceOp, head: Operand, value: Operand) -> Operand {
    let i = b.index();
    let (upper, reaches) = (is_bit_set(b, i, 4), b.alu(AluOp::Le, head, Operand::Const(15)));
    let takes = b.alu(AluOp::BoolAnd, upper, reaches);
    let below = from_lane(b, value, Operand::Const(15));
    let sum = b.combine(op, below, value);
    b.select(takes, sum, value)
}

/// The nearest lane at or below `i` with its head flag set; the segment's first lane counts as a head.
fn run_start(b: &mut Builder, width: u32) -> Operand {
    let heads = ballot(b, Operand::Input(1));
    let all_heads = b.alu(AluOp::Or, heads, Operand::Const(first_lanes(width)));
    let below = lanes(b, MaskOp::Le);
    let candidates = b.alu(AluOp::And, all_heads, below);
    b.alu1(AluOp::FindMsb, candidates)
}

/// The first lane of every segment, as a word.
const fn first_lanes(width: u32) -> u32 {
    let mut word = 0;
    let mut lane = 0;
    while lane < WARP {
        word |= 1 << lane;
        lane += width;
    }
    word
}
