//! The names of NVIDIA's instructions (NV_gpu_program5, NV_shader_thread_group, NV_shader_thread_shuffle), with the
//! type after the name: `.U`, `.S` and `.F32`.

use crate::ir::ScalarKind;
use crate::lane::op::{MaskOp, QuadMove, ShuffleMode, VoteOp};
use crate::lane::primitive::{NvOp, Primitive};
use std::borrow::Cow;

/// The name of a mover, a vote or a ballot, without the type.
pub fn of(primitive: Primitive, _: ScalarKind) -> Option<Cow<'static, str>> {
    let name = match primitive {
        Primitive::Nv(NvOp::Shuffle(mode)) => shuffle(mode),
        Primitive::Nv(NvOp::QuadSwizzle(mv)) => quad_swizzle(mv)?,
        Primitive::Nv(NvOp::Vote(op)) => vote(op),
        Primitive::Nv(NvOp::Ballot) => BALLOT,
        _ => return None,
    };
    name.split('.').next().map(Cow::from)
}

/// A shuffle. Its result is in `.y`; `.x` shows whether its source was in range.
pub const fn shuffle(mode: ShuffleMode) -> &'static str {
    match mode {
        ShuffleMode::Index => "SHFIDX.U",
        ShuffleMode::Xor => "SHFXOR.U",
        ShuffleMode::Up => "SHFUP.U",
        ShuffleMode::Down => "SHFDOWN.U",
    }
}

/// A quad swizzle; `None` for the diagonal, which has no instruction.
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

/// The masks of lanes with a relation to this lane, after the name of the stage.
pub const fn lane_mask(op: MaskOp) -> &'static str {
    match op {
        MaskOp::Eq => "threadeqmask",
        MaskOp::Ge => "threadgemask",
        MaskOp::Gt => "threadgtmask",
        MaskOp::Le => "threadlemask",
        MaskOp::Lt => "threadltmask",
    }
}

/// The lane's number in its warp, after the name of the stage.
pub const LANE: &str = "threadid";

/// A move of 32 bits, a conversion of -1 and 0 included.
pub const MOVE: &str = "MOV.U";

/// The inverse of a bool, as its comparison with 0. `NOT` is not used: driver 580.159.04 loses one between a comparison
/// of floats and its test (`CMP`, a ballot, a condition code).
pub const INVERT: &str = "SEQ.S";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_swizzle_across_a_quad() {
        assert_eq!(quad_swizzle(QuadMove::Diagonal), None);
        assert_eq!(quad_swizzle(QuadMove::Lane(3)), Some("QSWZ3.F"));
    }
}
