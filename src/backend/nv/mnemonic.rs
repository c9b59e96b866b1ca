//! What NVIDIA's instructions are called (NV_gpu_program5, NV_shader_thread_group, NV_shader_thread_shuffle), with the type
//! that they carry behind the name: `.U`, `.S` and `.F32`.

use crate::lane::op::{FoldOp, MaskOp, QuadMove, ShuffleMode, VoteOp};
use crate::lane::plan::AluOp;
use crate::lane::request::{LaneType, ScalarKind};

/// A shuffle. Its result is in `.y`, whether its source was in range in `.x`.
pub const fn shuffle(mode: ShuffleMode) -> &'static str {
    match mode {
        ShuffleMode::Index => "SHFIDX.U",
        ShuffleMode::Xor => "SHFXOR.U",
        ShuffleMode::Up => "SHFUP.U",
        ShuffleMode::Down => "SHFDOWN.U",
    }
}

/// A swizzle of quads; none across the quad, which has no instruction.
pub const fn quad_swizzle(mv: QuadMove) -> Option<&'static str> {
    Some(match mv {
        QuadMove::Lane(0) => "QSWZ0.F",
        QuadMove::Lane(1) => "QSWZ1.F",
        QuadMove::Lane(2) => "QSWZ2.F",
        QuadMove::Lane(3) => "QSWZ3.F",
        QuadMove::X => "QSWZX.F",
        QuadMove::Y => "QSWZY.F",
        QuadMove::Lane(_) | QuadMove::Diagonal => return None,
    })
}

/// A vote of the active lanes, on bools.
pub const fn vote(op: VoteOp) -> &'static str {
    match op {
        VoteOp::All => "TGALL.S",
        VoteOp::Any => "TGANY.S",
        VoteOp::Equal => "TGEQ.S",
    }
}

/// The ballot of the active lanes.
pub const BALLOT: &str = "TGBALLOT.U";

/// The masks of lanes that compare so with the own one, behind the name of the stage.
pub const fn lane_mask(op: MaskOp) -> &'static str {
    match op {
        MaskOp::Eq => "threadeqmask",
        MaskOp::Ge => "threadgemask",
        MaskOp::Gt => "threadgtmask",
        MaskOp::Le => "threadlemask",
        MaskOp::Lt => "threadltmask",
    }
}

/// The lane's number in its warp, behind the name of the stage.
pub const LANE: &str = "threadid";

/// Arithmetic of folds on 32-bit values; none for other sizes. Bools are -1 and 0.
pub fn fold(op: FoldOp, ty: LaneType) -> Option<String> {
    let suffix = match (ty.kind, ty.width) {
        (ScalarKind::Float, 32) => "F32",
        (ScalarKind::Uint, 32) => "U",
        (ScalarKind::Sint, 32) | (ScalarKind::Bool, _) => "S",
        _ => return None,
    };
    let name = match op {
        FoldOp::Add => "ADD",
        FoldOp::Mul => "MUL",
        FoldOp::Min => "MIN",
        FoldOp::Max => "MAX",
        FoldOp::And => "AND",
        FoldOp::Or => "OR",
        FoldOp::Xor => "XOR",
    };
    Some(format!("{name}.{suffix}"))
}

/// Arithmetic on indices, bools and ballots, all of them 32-bit words; none for what is no instruction.
pub const fn alu(op: AluOp) -> Option<&'static str> {
    Some(match op {
        AluOp::Add => "ADD.U",
        AluOp::Sub => "SUB.U",
        AluOp::Mul => "MUL.U",
        AluOp::And | AluOp::BallotAnd => "AND.U",
        AluOp::Or | AluOp::BallotOr => "OR.U",
        AluOp::Xor => "XOR.U",
        AluOp::Shl => "SHL.U",
        AluOp::Shr => "SHR.U",
        AluOp::Min => "MIN.U",
        AluOp::Max => "MAX.U",
        AluOp::Not | AluOp::BallotNot => "NOT.U",
        AluOp::BitCount | AluOp::BallotSize => "BTC.U",
        AluOp::FindLsb => "BTFL.U",
        AluOp::FindMsb => "BTFM.U",
        AluOp::Eq => "SEQ.U",
        AluOp::Ne => "SNE.U",
        AluOp::Lt => "SLT.U",
        AluOp::Le => "SLE.U",
        AluOp::Gt => "SGT.U",
        AluOp::Ge => "SGE.U",
        AluOp::BoolAnd => "AND.S",
        AluOp::BoolOr => "OR.S",
        AluOp::BoolXor => "XOR.S",
        AluOp::BoolNot | AluOp::BallotIsEmpty | AluOp::BallotIsSome | AluOp::BallotWord | AluOp::BallotFromMask => {
            return None;
        }
    })
}

/// A move of 32 bits, a conversion of -1 and 0 included.
pub const MOVE: &str = "MOV.U";

/// The inverse of a bool, as its comparison with 0. `NOT` is not used: driver 580.159.04 loses one between a comparison of
/// floats and what tests it (`CMP`, a ballot, a condition code).
pub const INVERT: &str = "SEQ.S";

/// `condition < 0 ? a : b`.
pub const SELECT: &str = "CMP.S";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_carry_the_type_of_their_values() {
        assert_eq!(fold(FoldOp::Add, LaneType::F32).as_deref(), Some("ADD.F32"));
        assert_eq!(fold(FoldOp::Min, LaneType::I32).as_deref(), Some("MIN.S"));
        assert_eq!(fold(FoldOp::Or, LaneType::BOOL).as_deref(), Some("OR.S"));
        assert_eq!(fold(FoldOp::Add, LaneType::scalar(ScalarKind::Float, 64)), None);
    }

    #[test]
    fn there_is_no_swizzle_across_a_quad() {
        assert_eq!(quad_swizzle(QuadMove::Diagonal), None);
        assert_eq!(quad_swizzle(QuadMove::Lane(3)), Some("QSWZ3.F"));
    }
}
