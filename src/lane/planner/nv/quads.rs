//! Moves within quads: by QSWZ if it exists, otherwise by shuffles in segments of four lanes.

use super::shf::{active, from_lane, is_some, shf};
use crate::lane::op::{LaneOp, QuadMove, ReduceOp, ShuffleMode};
use crate::lane::plan::{Activity, AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::quads::{IDENTITY, move_of, permuted};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::NvOp;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "quad permutation that keeps its place", needs: &[], build: identity },
    Rule { name: "QSWZ", needs: &[Feature::NvQuadSwizzle], build: swizzle },
    Rule { name: "SHF in the quad", needs: &[Feature::NvShuffle], build: shuffle },
    Rule { name: "SHFIDX, zero from inactive lanes", needs: &[Feature::NvShuffle, Feature::NvBallot], build: or_zero },
];

pub fn identity(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::QuadPermute(IDENTITY) | LaneOp::QuadPermuteZero(IDENTITY) => Ok(b.value()),
        _ => Err(No::NotMine),
    }
}

/// QSWZ supports 32-bit floats in fragment shaders, may change the bits of a subnormal or a NaN, and has no diagonal.
pub fn swizzle(b: &mut Builder) -> Answer {
    let ty = b.request.inputs[0].ty;
    if !(b.request.fragment && ty.is_float() && ty.width == 32) {
        return Err(No::NotMine);
    }
    let value = b.value();
    match b.request.op {
        LaneOp::Quad { mv: QuadMove::Diagonal, .. } | LaneOp::QuadAdd(QuadMove::Diagonal) => Err(No::NotMine),
        LaneOp::Quad { mv, float_only: true } => Ok(b.prim(NvOp::QuadSwizzle(mv), &[value], b.ty(value))),
        LaneOp::QuadAdd(mv) => Ok(b.combine_moved(ReduceOp::Add, NvOp::QuadSwizzle(mv), Operand::Input(1), value)),
        _ => Err(No::NotMine),
    }
}

pub fn shuffle(b: &mut Builder) -> Answer {
    let value = b.value();
    let moved = match (b.request.op, move_of(b.request.op)) {
        (_, Some(mv)) => by_move(b, mv),
        (LaneOp::QuadPermute(mode), None) => {
            let lane = permuted_local(b, mode);
            shf(b, ShuffleMode::Index, value, lane, 4)
        }
        (LaneOp::QuadBroadcast, None) => shf(b, ShuffleMode::Index, value, b.input(1), 4),
        _ => return Err(No::NotMine),
    };
    Ok(match b.request.op {
        LaneOp::QuadAdd(_) => b.combine(ReduceOp::Add, moved, Operand::Input(1)),
        _ => moved,
    })
}

fn by_move(b: &mut Builder, mv: QuadMove) -> Operand {
    let (mode, index) = match mv {
        QuadMove::Lane(lane) => (ShuffleMode::Index, lane.into()),
        QuadMove::X => (ShuffleMode::Xor, 1),
        QuadMove::Y => (ShuffleMode::Xor, 2),
        QuadMove::Diagonal => (ShuffleMode::Xor, 3),
    };
    shf(b, mode, b.value(), Operand::Const(index), 4)
}

/// `(mode >> (2 * (i & 3))) & 3`; SHFIDX only uses the low two bits.
fn permuted_local(b: &mut Builder, mode: u8) -> Operand {
    let i = b.index();
    let local = b.alu(AluOp::And, i, Operand::Const(3));
    let shift = b.alu(AluOp::Shl, local, Operand::Const(1));
    b.alu(AluOp::Shr, Operand::Const(mode.into()), shift)
}

pub fn or_zero(b: &mut Builder) -> Answer {
    let LaneOp::QuadPermuteZero(mode) = b.request.op else {
        return Err(No::NotMine);
    };
    let source = permuted(b, mode);
    Ok(from_lane_or_zero(b, source))
}

/// `v[source]` if that lane is active, otherwise zero.
pub fn from_lane_or_zero(b: &mut Builder, source: Operand) -> Operand {
    let (value, zero) = (b.value(), b.zero());
    let moved = from_lane(b, value, source);
    if b.request.activity == Activity::Full {
        return moved;
    }
    let (all, one) = (active(b), b.alu(AluOp::Shl, Operand::Const(1), source));
    let there = b.alu(AluOp::And, all, one);
    let is_there = is_some(b, there);
    b.select(is_there, moved, zero)
}
