//! Scans of segments, of active lanes, and of runs inside segments.

use super::ballots;
use super::partition::jumps;
use super::reductions::is_full;
use crate::lane::op::{LaneOp, MaskOp, ReduceOp, Width};
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::moves::{is_bit_set, is_local};
use crate::lane::planner::common::reductions::{all_active, order_matters};
use crate::lane::planner::common::scans::{Scan, one_lane, scan, without_own};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::GroupReduce;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "scan of one lane", needs: &[], build: one_lane },
    Rule { name: "scan by shuffles in the promised order", needs: &[Feature::Shuffle], build: promised_steps },
    Rule {
        name: "scan in the promised order if all lanes are active, otherwise a native scan",
        needs: &[Feature::Shuffle, Feature::Ballot],
        build: promised_if_full,
    },
    Rule { name: "native scan", needs: &[Feature::Arithmetic], build: |b| in_any_order(b, native_whole) },
    Rule {
        name: "AMD's native scan",
        needs: &[Feature::ShaderBallotAmd],
        build: |b| in_any_order(b, native_whole_amd),
    },
    Rule { name: "scan by shuffles", needs: &[Feature::Shuffle], build: any_steps },
    Rule {
        name: "jumps from active lane to active lane",
        needs: &[Feature::Shuffle, Feature::Ballot],
        build: jumps_in_its_place,
    },
    Rule { name: "scan of runs by shuffles", needs: &[Feature::Shuffle, Feature::Ballot], build: segmented },
];

fn promised_steps(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    if order_matters(b) && all_active(b, scan.members) { Ok(by_steps(b, scan)) } else { Err(No::NotMine) }
}

fn promised_if_full(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    if !order_matters(b) {
        return Err(No::NotMine);
    }
    let native = native(b).or_else(|_| jumps(b))?;
    let ordered = by_steps(b, scan);
    let full = is_full(b);
    Ok(b.select(full, ordered, native))
}

fn native_whole(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    if !b.is_whole(scan.width) {
        return Err(No::NotMine);
    }
    b.need(Feature::Arithmetic)?;
    if !matches!(scan.op, ReduceOp::Add | ReduceOp::Mul) {
        b.need(Feature::Scans)?;
    }
    Ok(b.native_reduction(scan.op, reach(scan)))
}

fn native_whole_amd(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    if b.is_whole(scan.width) { b.native_reduction_amd(scan.op, reach(scan)) } else { Err(No::NotMine) }
}

/// A scan whose order the driver chooses.
fn in_any_order(b: &mut Builder, native: fn(&mut Builder) -> Answer) -> Answer {
    if order_matters(b) { Err(No::NotMine) } else { native(b) }
}

fn native(b: &mut Builder) -> Answer {
    native_whole(b).or_else(|_| native_whole_amd(b))
}

const fn reach(scan: Scan) -> GroupReduce {
    if scan.exclusive { GroupReduce::Exclusive } else { GroupReduce::Inclusive }
}

/// The jumps take many times as long as an instruction or shuffles at fixed distances. They are for cases where neither
/// works.
fn jumps_in_its_place(b: &mut Builder) -> Answer {
    let members = scan(b)?.members;
    if all_active(b, members) || native(b).is_ok() { Err(No::NotMine) } else { jumps(b) }
}

fn any_steps(b: &mut Builder) -> Answer {
    let scan = scan(b)?;
    if all_active(b, scan.members) { Ok(by_steps(b, scan)) } else { Err(No::NotMine) }
}

fn by_steps(b: &mut Builder, scan: Scan) -> Operand {
    let inclusive = steps(b, scan.op, scan.width, None);
    if !scan.exclusive {
        return inclusive;
    }
    if let Some(exclusive) = without_own(b, scan.op, inclusive) {
        return exclusive;
    }
    let below = b.shuffle_up(inclusive, Operand::Const(1));
    let (first, identity) = (is_local(b, scan.width, 0), b.identity(scan.op));
    b.select(first, identity, below)
}

/// The inclusive scan in the guaranteed order: Hillis-Steele within rows of 16 lanes, then row by row. With `head`, the
/// lane where the lane's run starts, only lanes from there on are included.
fn steps(b: &mut Builder, op: ReduceOp, width: Width, head: Option<Operand>) -> Operand {
    let mut value = b.value();
    for level in 0..b.most_in(width).ilog2() {
        let distance = 1 << level;
        let (below, takes) = match distance {
            ..16 => row_step(b, value, width, distance, head),
            _ => block_step(b, value, distance, head),
        };
        let sum = b.combine(op, below, value);
        value = b.select(takes, sum, value);
    }
    value
}

/// `x[i - d]`, and whether lane `i` takes it: within its row, or its segment if that is smaller.
fn row_step(b: &mut Builder, x: Operand, width: Width, d: u32, head: Option<Operand>) -> (Operand, Operand) {
    let row = Width::new(b.most_in(width).min(16)).expect("a segment has a power of two lanes");
    let below = b.shuffle_up(x, Operand::Const(d));
    let local = b.local(row);
    let inside = b.alu(AluOp::Ge, local, Operand::Const(d));
    let Some(head) = head else { return (below, inside) };
    let nearest = b.alu(AluOp::Add, head, Operand::Const(d));
    let i = b.index();
    let in_run = b.alu(AluOp::Ge, i, nearest);
    (below, b.alu(AluOp::BoolAnd, inside, in_run))
}

/// The last lane of the block of `d` lanes below, and whether lane `i` takes it: in the upper half of `2 * d` lanes.
fn block_step(b: &mut Builder, x: Operand, d: u32, head: Option<Operand>) -> (Operand, Operand) {
    let base = b.base(2 * d);
    let source = b.alu(AluOp::Or, base, Operand::Const(d - 1));
    let below = b.shuffle(x, source);
    let i = b.index();
    let upper = is_bit_set(b, i, d.ilog2());
    let Some(head) = head else { return (below, upper) };
    let in_run = b.alu(AluOp::Ge, source, head);
    (below, b.alu(AluOp::BoolAnd, upper, in_run))
}

fn segmented(b: &mut Builder) -> Answer {
    let LaneOp::Segmented { op, width } = b.request.op else {
        return Err(No::NotMine);
    };
    if width.lanes() == Some(1) {
        return Ok(b.value());
    }
    let head = run_start(b, width);
    Ok(steps(b, op, width, Some(head)))
}

/// The nearest lane at or below `i` with its head flag set; the segment's first lane counts as a head.
fn run_start(b: &mut Builder, width: Width) -> Operand {
    let first = is_local(b, width, 0);
    let is_head = b.alu(AluOp::BoolOr, Operand::Input(1), first);
    let (heads, below) = (b.ballot(is_head), b.mask(MaskOp::Le));
    let candidates = b.alu(AluOp::BallotAnd, heads, below);
    ballots::highest(b, candidates)
}
