//! Moves inside quads: swizzles, broadcasts and permutations.

use crate::lane::op::{LaneOp, QuadMove, ReduceOp};
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::quads::{IDENTITY, move_of, permuted};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::GroupOp;
use crate::lane::request::LaneType;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "quad permutation that keeps its place", needs: &[], build: permute_identity },
    Rule { name: "quad instruction", needs: &[Feature::Quad], build: native },
    Rule { name: "swizzle by a constant", needs: &[Feature::ShaderBallotAmd], build: swizzle_amd },
    Rule { name: "quad move by shuffle", needs: &[Feature::Shuffle], build: by_shuffle },
    Rule {
        name: "quad permutation, zero from inactive lanes",
        needs: &[Feature::Shuffle, Feature::Ballot],
        build: permute_zero,
    },
];

fn permute_identity(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::QuadPermute(IDENTITY) | LaneOp::QuadPermuteZero(IDENTITY) => Ok(b.value()),
        _ => Err(No::NotMine),
    }
}

fn native(b: &mut Builder) -> Answer {
    if b.request.op == LaneOp::QuadBroadcast {
        return native_broadcast(b);
    }
    let mv = move_of(b.request.op).ok_or(No::NotMine)?;
    let value = b.value();
    let moved = match mv {
        QuadMove::Lane(lane) => b.mover(GroupOp::QuadBroadcast, value, Operand::Const(lane.into())),
        swap => b.mover(GroupOp::QuadSwap(swap), value, Operand::None),
    };
    Ok(with_operand(b, moved))
}

fn swizzle_amd(b: &mut Builder) -> Answer {
    let (LaneOp::QuadPermute(mode) | LaneOp::QuadPermuteZero(mode)) = b.request.op else {
        return Err(No::NotMine);
    };
    swizzled(b, GroupOp::SwizzleAmd(mode))
}

/// The result of an instruction of SPV_AMD_shader_ballot, which takes 32-bit numbers.
pub fn swizzled(b: &mut Builder, op: GroupOp) -> Answer {
    if !is_word(b.request.input_ty(0)) {
        return Err(No::NotMine);
    }
    let value = b.value();
    Ok(b.group(op, &[value], b.ty(value)))
}

/// Returns true if the instructions of SPV_AMD_shader_ballot support values of a type.
pub fn is_word(ty: LaneType) -> bool {
    ty.width == 32
}

fn native_broadcast(b: &mut Builder) -> Answer {
    let (value, lane) = (b.value(), b.input(1));
    match lane {
        Operand::Const(_) => {}
        _ => b.need(Feature::DynamicBroadcast).map_err(|_| No::NotMine)?,
    }
    Ok(b.mover(GroupOp::QuadBroadcast, value, lane))
}

fn by_shuffle(b: &mut Builder) -> Answer {
    let value = b.value();
    let moved = match b.request.op {
        LaneOp::QuadBroadcast => {
            let lane = b.input(1);
            from_quad_lane(b, lane)
        }
        LaneOp::QuadPermute(mode) => {
            let source = permuted(b, mode);
            b.shuffle(value, source)
        }
        LaneOp::Quad { mv, .. } | LaneOp::QuadAdd(mv) => match mv {
            QuadMove::Lane(lane) => from_quad_lane(b, Operand::Const(lane.into())),
            QuadMove::X => b.shuffle_xor(value, Operand::Const(1)),
            QuadMove::Y => b.shuffle_xor(value, Operand::Const(2)),
            QuadMove::Diagonal => b.shuffle_xor(value, Operand::Const(3)),
        },
        _ => return Err(No::NotMine),
    };
    Ok(with_operand(b, moved))
}

/// `v[(i & ~3) | lane]`.
fn from_quad_lane(b: &mut Builder, lane: Operand) -> Operand {
    let (value, base) = (b.value(), b.base(4));
    let source = b.alu(AluOp::Or, base, lane);
    b.shuffle(value, source)
}

fn permute_zero(b: &mut Builder) -> Answer {
    let LaneOp::QuadPermuteZero(mode) = b.request.op else {
        return Err(No::NotMine);
    };
    let source = permuted(b, mode);
    Ok(shuffle_or_zero(b, source))
}

/// `v[source]` if that lane of the lane's 32 is active, otherwise zero.
pub fn shuffle_or_zero(b: &mut Builder, source: Operand) -> Operand {
    let active = b.ballot(Operand::Bool(true));
    let word = b.own_word(active);
    let bit_index = b.alu(AluOp::And, source, Operand::Const(31));
    let shifted = b.alu(AluOp::Shr, word, bit_index);
    let bit = b.alu(AluOp::And, shifted, Operand::Const(1));
    let is_active = b.alu(AluOp::Ne, bit, Operand::Const(0));
    let (value, zero) = (b.value(), b.zero());
    let moved = b.shuffle(value, source);
    b.select(is_active, moved, zero)
}

/// Adds the operand of NV_shader_thread_group's swizzles to the moved value.
fn with_operand(b: &mut Builder, moved: Operand) -> Operand {
    match b.request.op {
        LaneOp::QuadAdd(_) => b.combine(ReduceOp::Add, moved, Operand::Input(1)),
        _ => moved,
    }
}
