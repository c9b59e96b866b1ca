//! Reductions of segments and of active lanes: a tree over ascending distance, which is the guaranteed order.
//!
//! | distance | gfx6, 7 | gfx8, 9, CDNA | gfx950 | gfx10 and later |
//! |---|---|---|---|---|
//! | 1, 2 | ds_swizzle, op | op_dpp quad_perm:[1,0,3,2], [2,3,0,1] | the same | the same |
//! | 4, 8 | ds_swizzle, op | op_dpp row_half_mirror, row_mirror: quads, then octets, are uniform already | the same | the same |
//! | 16 | ds_swizzle, op | op_dpp row_bcast:15 row_mask:0xa, for the highest lane; or ds_swizzle, op | v_permlane16_swap, op | v_permlanex16, op |
//! | 32 | v_readlane of both halves, op | op_dpp row_bcast:31 row_mask:0xc, for the highest lane | v_permlane32_swap, op | v_permlane64, op (gfx10: v_readlane, op) |
//!
//! If only the highest lane has the value, v_readlane distributes it. A reduction over active lanes runs in the whole
//! wave, with the identity in inactive lanes.

use super::{combine_with, enter, masks};
use crate::lane::op::{ReduceKind, ReduceOp};
use crate::lane::plan::Operand;
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::reductions::{Reduction, one_lane, reduction};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::{Dpp16, DppControl, Fetch, LdsOp, PermlaneOp, ScalarOp, Swizzle};
use crate::lane::request::ScalarKind;
use crate::profile::{Feature, Profile};

/// How two rows of 16 lanes are combined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// The odd row gets the last lane of the even row.
    Bcast,
    Swizzle,
    Permlanex,
    Swap,
}

/// How two halves of 32 lanes are combined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Halves {
    /// The upper half gets the last lane of the lower half.
    Bcast,
    Permlane,
    Swap,
    /// Through scalars from the last lane of each half.
    Scalars,
}

const INSIDE_ROWS: &str = "DPP inside rows";
const ROW_BCAST: &str = "DPP inside rows and row_bcast between them";
const SWIZZLES: &str = "DS_SWIZZLE";

/// Returns true if a rule emits the 2016 proposal's sequence for reductions on such hardware: DPP, row_bcast and
/// V_READLANE if available (GCN 3 and later), DS_SWIZZLE before.
pub fn is_proposed(rule: &str, profile: &Profile) -> bool {
    match (profile.has(Feature::AmdDppRowBcast), profile.has(Feature::AmdDpp16)) {
        (true, _) => [INSIDE_ROWS, ROW_BCAST].contains(&rule),
        (false, false) => rule == SWIZZLES,
        (false, true) => false,
    }
}

pub static RULES: &[Rule] = &[
    Rule { name: "reduction of one lane", needs: &[], build: one_lane },
    Rule { name: INSIDE_ROWS, needs: &[Feature::AmdDpp16], build: inside_rows },
    Rule { name: ROW_BCAST, needs: &[Feature::AmdDppRowBcast], build: |b| between_rows(b, Rows::Bcast, Halves::Bcast) },
    Rule {
        name: "DPP inside rows and PERMLANE swaps between them",
        needs: &[Feature::AmdDpp16, Feature::AmdPermlaneSwap],
        build: |b| between_rows(b, Rows::Swap, Halves::Swap),
    },
    Rule {
        name: "DPP inside rows, PERMLANEX16 and PERMLANE64 between them",
        needs: &[Feature::AmdDpp16, Feature::AmdPermlane16, Feature::AmdPermlane64],
        build: |b| between_rows(b, Rows::Permlanex, Halves::Permlane),
    },
    Rule {
        name: "DPP inside rows, PERMLANEX16 and READLANE between them",
        needs: &[Feature::AmdDpp16, Feature::AmdPermlane16],
        build: |b| between_rows(b, Rows::Permlanex, Halves::Scalars),
    },
    Rule {
        name: "DPP inside rows, DS_SWIZZLE and READLANE between them",
        needs: &[Feature::AmdDpp16, Feature::AmdSwizzle],
        build: |b| between_rows(b, Rows::Swizzle, Halves::Scalars),
    },
    Rule { name: SWIZZLES, needs: &[Feature::AmdSwizzle], build: by_swizzles },
    Rule { name: "reduction of a mask", needs: &[], build: masks::fold },
    Rule { name: "whole quads of a mask", needs: &[], build: masks::reduction_of_quads },
];

/// The exchanges inside a row, by ascending distance.
const NEAR: [DppControl; 4] =
    [DppControl::QuadPerm(0xb1), DppControl::QuadPerm(0x4e), DppControl::RowHalfMirror, DppControl::RowMirror];

/// A reduction of values other than bools, which are reduced as masks.
fn reduction_of_values(b: &Builder) -> Result<Reduction, No> {
    let fold = reduction(b)?;
    let is_mine = b.request.inputs[0].ty.kind != ScalarKind::Bool && fold.width.lanes() != Some(1);
    if is_mine { Ok(fold) } else { Err(No::NotMine) }
}

fn kind(b: &Builder) -> ReduceKind {
    match b.request.op {
        crate::lane::op::LaneOp::Reduce { kind, .. } => kind,
        _ => ReduceKind::AllReduce,
    }
}

fn inside_rows(b: &mut Builder) -> Answer {
    let fold = reduction_of_values(b)?;
    match b.most_in(fold.width) {
        lanes @ ..=16 => enter(b, fold.op, fold.members, |b, value| Ok(near(b, fold.op, value, lanes))),
        _ => Err(No::NotMine),
    }
}

/// The tree over up to 16 lanes: every lane gets the result.
fn near(b: &mut Builder, op: ReduceOp, value: Operand, lanes: u32) -> Operand {
    let controls = NEAR.into_iter().take(lanes.ilog2() as usize);
    controls.fold(value, |value, control| combine_with(b, op, Dpp16::new(control), value, value))
}

fn between_rows(b: &mut Builder, rows: Rows, halves: Halves) -> Answer {
    let fold = reduction_of_values(b)?;
    let (lanes, kind) = (b.most_in(fold.width), kind(b));
    if lanes <= 16 {
        return Err(No::NotMine);
    }
    // Only the highest lane has row_bcast's result, and only one lane of the wave can be read for all.
    let for_all = kind != ReduceKind::Reduce;
    if for_all && rows == Rows::Bcast && lanes < b.lanes() {
        return Err(No::NotMine);
    }
    enter(b, fold.op, fold.members, |b, value| {
        let row = near(b, fold.op, value, 16);
        let pair = pair_of_rows(b, fold.op, row, rows);
        let whole = if lanes == 64 { pair_of_halves(b, fold.op, pair, halves, kind) } else { pair };
        Ok(if for_all && rows == Rows::Bcast { read(b, whole, lanes - 1) } else { whole })
    })
}

fn read(b: &mut Builder, value: Operand, lane: u32) -> Operand {
    b.prim(ScalarOp::ReadLane, &[value, Operand::Const(lane)], b.ty(value))
}

fn swap(b: &mut Builder, op: ReduceOp, value: Operand, block: u8) -> Operand {
    let (fetch, ty) = (Fetch::default(), b.ty(value));
    let first = b.prim(PermlaneOp::SwapFirst { block, fetch }, &[value, value], ty);
    let second = b.prim(PermlaneOp::SwapSecond { block, fetch }, &[value, value], ty);
    b.combine(op, first, second)
}

/// A masked broadcast of a row's last lane; the values in the other rows do not matter.
fn bcast(b: &Builder, op: ReduceOp, control: DppControl, row_mask: u8) -> Dpp16 {
    let dpp = Dpp16 { row_mask, bound_ctrl: false, ..Dpp16::new(control) };
    if super::carries(b, op, dpp) { dpp } else { Dpp16::new(control) }
}

fn pair_of_rows(b: &mut Builder, op: ReduceOp, value: Operand, rows: Rows) -> Operand {
    match rows {
        Rows::Bcast => {
            let dpp = bcast(b, op, DppControl::RowBcast15, 0xa);
            combine_with(b, op, dpp, value, value)
        }
        Rows::Swizzle => by_swizzle(b, op, value, 16),
        Rows::Permlanex => {
            // Rows are uniform, so any lane of the other row will do.
            let other = PermlaneOp::Row { across: true, selectors: 0, fetch: Fetch::default() };
            let other = b.prim(other, &[value], b.ty(value));
            b.combine(op, other, value)
        }
        Rows::Swap => swap(b, op, value, 16),
    }
}

fn pair_of_halves(b: &mut Builder, op: ReduceOp, value: Operand, halves: Halves, kind: ReduceKind) -> Operand {
    match halves {
        Halves::Bcast => {
            let dpp = bcast(b, op, DppControl::RowBcast31, 0xc);
            combine_with(b, op, dpp, value, value)
        }
        Halves::Permlane => {
            let other = b.prim(PermlaneOp::Half, &[value], b.ty(value));
            b.combine(op, other, value)
        }
        Halves::Swap => swap(b, op, value, 32),
        Halves::Scalars => match kind {
            ReduceKind::ReduceLow => {
                let upper = read(b, value, 63);
                b.combine(op, upper, value)
            }
            ReduceKind::AllReduce => {
                let (lower, upper) = (read(b, value, 31), read(b, value, 63));
                b.combine(op, lower, upper)
            }
            _ => {
                let lower = read(b, value, 31);
                b.combine(op, lower, value)
            }
        },
    }
}

fn by_swizzle(b: &mut Builder, op: ReduceOp, value: Operand, distance: u8) -> Operand {
    let swizzle = LdsOp::Swizzle(Swizzle::Mask { and: 31, or: 0, xor: distance });
    let other = b.prim(swizzle, &[value], b.ty(value));
    b.combine(op, other, value)
}

fn by_swizzles(b: &mut Builder) -> Answer {
    let fold = reduction_of_values(b)?;
    let (lanes, kind) = (b.most_in(fold.width), kind(b));
    enter(b, fold.op, fold.members, |b, value| {
        let levels = lanes.min(32).ilog2();
        let half = (0..levels).fold(value, |value, level| by_swizzle(b, fold.op, value, 1 << level));
        Ok(if lanes == 64 { pair_of_halves(b, fold.op, half, Halves::Scalars, kind) } else { half })
    })
}
