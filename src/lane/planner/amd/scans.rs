//! Scans of segments, of active lanes, and of runs inside segments, in the guaranteed order.
//!
//! | distance | gfx6, 7 | gfx8, 9, CDNA | gfx10 and later |
//! |---|---|---|---|
//! | 1 to 8 | the cheapest move (1 and 2 through memory, 4 and 8 by ds_swizzle), op, select | op_dpp row_shr, which leaves the row's first lanes alone | the same |
//! | 16 | v_readlane of lanes 15 and 47, select, op, select | op_dpp row_bcast:15 row_mask:0xa | v_permlanex16 of lane 15, op_dpp row_mask:0xa |
//! | 32 | v_readlane of lane 31, op, select | op_dpp row_bcast:31 row_mask:0xc | v_readlane of lane 31, op, select |
//!
//! In segments of fewer than 16 lanes row_shr crosses the edge, so a select follows. Integer operations without op_dpp,
//! such as products, combine with the identity that v_mov_dpp leaves in lanes without a source; steps on floats never
//! do. Integers, whose order is free, may also read the last lane of the block below at every distance, which
//! ds_swizzle does.

use super::moves::emit;
use super::search::Search;
use super::{carries, combine_with, enter, every, masks};
use crate::lane::op::{LaneOp, Members, ReduceOp, Width};
use crate::lane::plan::{AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::reductions::order_matters;
use crate::lane::planner::common::scans::{Scan, invertible, one_lane, scan, without_own};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::{Dpp16, DppControl, Fetch, LaneMap, PermlaneOp, ScalarOp, Source, amd_dpp};
use crate::lane::request::ScalarKind;
use crate::profile::Feature;

/// The source of the values of lower lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// row_shr, row_bcast.
    Bcast,
    /// row_shr, PERMLANEX16, READLANE.
    Permlanex,
    /// The cheapest separate moves.
    Moves,
    /// In blocks of ascending size, an order that floats do not allow.
    Blocks,
}

impl Style {
    /// Returns true if it can be the cheapest: if there is DPP, no separate move is cheaper.
    fn suits(self, b: &Builder) -> bool {
        matches!(self, Style::Bcast | Style::Permlanex) || !b.has(Feature::AmdDpp16)
    }
}

pub static RULES: &[Rule] = &[
    Rule { name: "scan of one lane", needs: &[], build: one_lane },
    Rule {
        name: "scan by DPP row_shr and row_bcast",
        needs: &[Feature::AmdDppRowBcast],
        build: |b| scanned(b, Style::Bcast),
    },
    Rule {
        name: "scan by DPP row_shr, PERMLANEX16 and READLANE",
        needs: &[Feature::AmdDpp16, Feature::AmdPermlane16],
        build: |b| scanned(b, Style::Permlanex),
    },
    Rule { name: "scan of a mask", needs: &[], build: masks::fold },
    Rule { name: "scan by moves", needs: &[], build: |b| scanned(b, Style::Moves) },
    Rule { name: "scan by blocks", needs: &[], build: |b| scanned(b, Style::Blocks) },
    Rule {
        name: "scan of runs by DPP row_shr and row_bcast",
        needs: &[Feature::AmdDppRowBcast],
        build: |b| segmented(b, Style::Bcast),
    },
    Rule {
        name: "scan of runs by DPP row_shr, PERMLANEX16 and READLANE",
        needs: &[Feature::AmdDpp16, Feature::AmdPermlane16],
        build: |b| segmented(b, Style::Permlanex),
    },
    Rule { name: "scan of runs by moves", needs: &[], build: |b| segmented(b, Style::Moves) },
];

fn scanned(b: &mut Builder, style: Style) -> Answer {
    let scan = scan(b)?;
    let is_mine = b.request.inputs[0].ty.kind != ScalarKind::Bool && scan.width.lanes() != Some(1);
    if !is_mine || !style.suits(b) || style == Style::Blocks && order_matters(b) {
        return Err(No::NotMine);
    }
    let moves_up = scan.exclusive && invertible(b, scan.op).is_none();
    let result = enter(b, scan.op, scan.members, |b, value| {
        let inclusive = inclusive(b, style, scan, value)?;
        if moves_up { below(b, scan, inclusive) } else { Ok(inclusive) }
    })?;
    Ok(match scan.exclusive {
        false => result,
        true => without_own(b, scan.op, result).unwrap_or_else(|| with_identity(b, scan, result)),
    })
}

fn inclusive(b: &mut Builder, style: Style, scan: Scan, value: Operand) -> Answer {
    let lanes = b.most_in(scan.width);
    let levels = (0..lanes.ilog2()).map(|level| 1 << level);
    levels.into_iter().try_fold(value, |value, distance| {
        if let Some(dpp) = in_place(b, style, scan.op, lanes, distance) {
            return Ok(with_moved(b, scan.op, dpp, value));
        }
        if style == Style::Permlanex && distance == 16 && carries(b, scan.op, UPPER_ROWS) {
            let last = last_of_other_row(b, value);
            return Ok(b.combine_moved(scan.op, UPPER_ROWS, value, last));
        }
        let folded = with_lower(b, style, scan.op, value, distance).ok_or(No::NotMine)?;
        let takes = takers(style, lanes, distance);
        let takes = b.in_set(takes);
        Ok(b.select(takes, folded, value))
    })
}

/// A move of the lane's own value that writes only odd rows.
const UPPER_ROWS: Dpp16 = Dpp16 { row_mask: 0xa, bound_ctrl: false, ..Dpp16::new(DppControl::QuadPerm(0b11_10_01_00)) };

/// The lanes that read at a distance, in segments of `lanes`.
fn takers(style: Style, lanes: u32, distance: u32) -> u64 {
    let row = lanes.min(16);
    let takes = |i: &u32| if distance < 16 && style != Style::Blocks { i % row >= distance } else { i & distance != 0 };
    (0..64).filter(takes).fold(0, |set, i| set | 1 << i)
}

/// The lane that lane `i` reads.
fn source(style: Style, i: u32, distance: u32) -> u32 {
    if distance < 16 && style != Style::Blocks { i - distance } else { (i & !(2 * distance - 1)) + distance - 1 }
}

/// A DPP move whose masks and row ends exclude exactly the lanes that read nothing.
fn in_place(b: &Builder, style: Style, op: ReduceOp, lanes: u32, distance: u32) -> Option<Dpp16> {
    if !matches!(style, Style::Bcast | Style::Permlanex) {
        return None;
    }
    let shift = DppControl::RowShr(distance as u8);
    let (control, row_mask, bank_mask) = match (distance, lanes, style) {
        (..16, 16.., _) => (shift, 0xf, 0xf),
        (4, 8, _) => (shift, 0xf, 0xa),
        (16, _, Style::Bcast) => (DppControl::RowBcast15, 0xa, 0xf),
        (32, _, Style::Bcast) => (DppControl::RowBcast31, 0xc, 0xf),
        _ => return None,
    };
    let dpp = Dpp16 { row_mask, bank_mask, bound_ctrl: false, ..Dpp16::new(control) };
    (carries(b, op, dpp) || !b.request.inputs[0].ty.is_float()).then_some(dpp)
}

/// Combines each lane's value with a moved value. Without a DPP form, excluded lanes combine with the identity, which
/// only integers may do.
fn with_moved(b: &mut Builder, op: ReduceOp, dpp: Dpp16, value: Operand) -> Operand {
    if carries(b, op, dpp) {
        return b.combine_moved(op, dpp, value, value);
    }
    let identity = b.identity(op);
    let moved = b.prim(dpp, &[value, identity], b.ty(value));
    b.combine(op, moved, value)
}

/// The value of each lane combined with a lower lane's; undefined in lanes without one.
fn with_lower(b: &mut Builder, style: Style, op: ReduceOp, value: Operand, distance: u32) -> Option<Operand> {
    let dpp = match (style, distance) {
        (Style::Bcast | Style::Permlanex, ..16) => Some(DppControl::RowShr(distance as u8)),
        (Style::Bcast, 16) => Some(DppControl::RowBcast15),
        (Style::Bcast, _) => Some(DppControl::RowBcast31),
        _ => None,
    };
    if let Some(control) = dpp {
        return Some(combine_with(b, op, Dpp16::new(control), value, value));
    }
    let lower = match (style, distance) {
        (Style::Permlanex, 16) => last_of_other_row(b, value),
        (_, 32) => b.prim(ScalarOp::ReadLane, &[value, Operand::Const(31)], b.ty(value)),
        _ => {
            let takes = takers(style, b.lanes().min(16).max(2 * distance), distance);
            let wants = |i| (takes >> i & 1 != 0).then(|| Source::Lane(source(style, i, distance)));
            let route = Search { profile: b.profile }.direct(&LaneMap::new(b.lanes(), wants))?;
            route.emit(b, value)
        }
    };
    Some(b.combine(op, lower, value))
}

/// Lane 15 of the other row of the pair.
fn last_of_other_row(b: &mut Builder, value: Operand) -> Operand {
    let last = PermlaneOp::Row { across: true, selectors: u64::MAX, fetch: Fetch::default() };
    b.prim(last, &[value], b.ty(value))
}

/// The value of lane `i - 1`, the identity in the segment's first lane.
fn below(b: &mut Builder, scan: Scan, value: Operand) -> Answer {
    let lanes = b.most_in(scan.width);
    let lane = |i: u32| if i.is_multiple_of(lanes) { Source::Old } else { Source::Lane(i - 1) };
    let map = LaneMap::new(b.lanes(), |i| Some(lane(i)));
    let identity = b.identity(scan.op);
    if let Some(step) = amd_dpp::solve_dpp16(&map, b.profile.features) {
        return Ok(b.prim(step.primitive, &[value, identity], b.ty(value)));
    }
    let map = map.only(|i| i % lanes != 0);
    let route = Search { profile: b.profile }.direct(&map).ok_or(No::NotMine)?;
    let moved = emit(b, &route, value);
    let first = b.in_set(every(lanes, 0));
    Ok(b.select(first, identity, moved))
}

/// The first active lane of an exclusive scan over active lanes has the neutral value, which differs from the identity
/// for sums of floats.
fn with_identity(b: &mut Builder, scan: Scan, result: Operand) -> Operand {
    let in_doubt = scan.members == Members::Active && scan.op == ReduceOp::Add && b.request.inputs[0].ty.is_float();
    if !in_doubt || b.is_full() {
        return result;
    }
    let first = super::is_first_active(b);
    let identity = b.identity(scan.op);
    b.select(first, identity, result)
}

/// Distances to the head of the lane's run decide which lanes read.
fn segmented(b: &mut Builder, style: Style) -> Answer {
    let LaneOp::Segmented { op, width } = b.request.op else { return Err(No::NotMine) };
    if width.lanes() == Some(1) {
        return if style == Style::Moves { Ok(b.value()) } else { Err(No::NotMine) };
    }
    if !style.suits(b) {
        return Err(No::NotMine);
    }
    let lanes = b.most_in(width);
    let distance_to_head = distance_to_head(b, width, lanes);
    let value = b.value();
    (0..lanes.ilog2()).map(|level| 1 << level).try_fold(value, |value, distance| {
        let folded = with_lower(b, style, op, value, distance).ok_or(No::NotMine)?;
        let takes = in_run(b, distance_to_head, lanes, distance);
        Ok(b.select(takes, folded, value))
    })
}

/// True if the source lane is in the lane's run and, at distances below 16 lanes, in the lane's row.
fn in_run(b: &mut Builder, to_head: Operand, lanes: u32, distance: u32) -> Operand {
    let takes = b.in_set(takers(Style::Moves, lanes, distance));
    let inside = match distance {
        ..16 => b.alu(AluOp::Ge, to_head, Operand::Const(distance)),
        _ => {
            let i = b.index();
            let local = b.alu(AluOp::And, i, Operand::Const(distance - 1));
            b.alu(AluOp::Gt, to_head, local)
        }
    };
    // The head of a segment of up to a row stops there.
    if lanes <= 16 { inside } else { b.alu(AluOp::BoolAnd, inside, takes) }
}

/// Distance from this lane down to the start of its run; the segment's first lane always starts one.
fn distance_to_head(b: &mut Builder, width: Width, lanes: u32) -> Operand {
    let first = b.in_set(every(lanes, 0));
    let is_head = b.alu(AluOp::BoolOr, Operand::Input(1), first);
    let heads = b.prim(ScalarOp::Ballot, &[is_head], StepType::Ballot);
    let head = if width.lanes_in(b.lanes()) == 64 { head_of_two(b, heads) } else { head_of_word(b, heads) };
    let i = b.index();
    b.alu(AluOp::Sub, i, head)
}

/// Bits of the lane's word up to and including this lane.
fn up_to_own(b: &mut Builder) -> Operand {
    let i = b.index();
    let bit = b.alu(AluOp::And, i, Operand::Const(31));
    let above = b.alu(AluOp::Shl, Operand::Const(2), bit);
    b.alu(AluOp::Sub, above, Operand::Const(1))
}

fn head_of_word(b: &mut Builder, heads: Operand) -> Operand {
    let word = super::own_word(b, heads);
    let mask = up_to_own(b);
    let below = b.alu(AluOp::And, word, mask);
    let bit = b.alu1(AluOp::FindMsb, below);
    let i = b.index();
    let base = b.alu(AluOp::And, i, Operand::Const(!31));
    b.alu(AluOp::Or, bit, base)
}

fn head_of_two(b: &mut Builder, heads: Operand) -> Operand {
    let (low, high) =
        (b.alu(AluOp::BallotWord, heads, Operand::Const(0)), b.alu(AluOp::BallotWord, heads, Operand::Const(1)));
    let mask = up_to_own(b);
    let upper = b.in_set(super::UPPER_HALF);
    let low_mask = b.select(upper, Operand::Const(u32::MAX), mask);
    let high_mask = b.select(upper, mask, Operand::Const(0));
    let (low, high) = (b.alu(AluOp::And, low, low_mask), b.alu(AluOp::And, high, high_mask));
    let in_high = b.alu(AluOp::Ne, high, Operand::Const(0));
    let (low, high) = (b.alu1(AluOp::FindMsb, low), b.alu1(AluOp::FindMsb, high));
    let high = b.alu(AluOp::Or, high, Operand::Const(32));
    b.select(in_high, high, low)
}
