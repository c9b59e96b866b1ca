//! Building blocks shared by the rules: shuffles in segments, ballots and masks of lanes as words.

use crate::lane::op::{MaskOp, ShuffleMode, WARP, Width};
use crate::lane::plan::{AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::primitive::NvOp;
use crate::lane::primitive::nv::shuffle_mask;

/// The mask operand of a shuffle over the whole warp that is not SHFUP.
pub const WHOLE: Operand = Operand::Const(shuffle_mask(ShuffleMode::Index, WARP));

/// A shuffle in segments of `width` lanes; a distance of 0 moves nothing.
pub fn shf(b: &mut Builder, mode: ShuffleMode, value: Operand, index: Operand, width: u32) -> Operand {
    match (mode, index) {
        (ShuffleMode::Up | ShuffleMode::Down | ShuffleMode::Xor, Operand::Const(0)) => value,
        _ => shf_masked(b, mode, value, index, Operand::Const(shuffle_mask(mode, width))),
    }
}

/// A shuffle with an explicit mask operand.
pub fn shf_masked(b: &mut Builder, mode: ShuffleMode, value: Operand, index: Operand, mask: Operand) -> Operand {
    b.prim(NvOp::Shuffle(mode), &[value, index, mask], b.ty(value))
}

/// The predicate of such a shuffle: true if its source is in range.
pub fn in_range(b: &mut Builder, mode: ShuffleMode, index: Operand, mask: Operand) -> Operand {
    b.prim(NvOp::ShuffleValid(mode), &[index, mask], StepType::Bool)
}

/// `v[source]` of the whole warp.
pub fn from_lane(b: &mut Builder, value: Operand, source: Operand) -> Operand {
    shf_masked(b, ShuffleMode::Index, value, source, WHOLE)
}

/// The active lanes with a true predicate, as a word.
pub fn ballot(b: &mut Builder, predicate: Operand) -> Operand {
    let ballot = b.prim(NvOp::Ballot, &[predicate], StepType::Ballot);
    word(b, ballot)
}

/// The active lanes, as a word.
pub fn active(b: &mut Builder) -> Operand {
    ballot(b, Operand::Bool(true))
}

/// True if all lanes of the warp are active.
pub fn is_full(b: &mut Builder) -> Operand {
    let all = active(b);
    b.alu(AluOp::Eq, all, Operand::Const(u32::MAX))
}

/// A ballot as a word.
pub fn word(b: &mut Builder, ballot: Operand) -> Operand {
    b.alu(AluOp::BallotWord, ballot, Operand::Const(0))
}

/// Lanes with this relation to the lane, as a word.
pub fn lanes(b: &mut Builder, op: MaskOp) -> Operand {
    let mask = b.mask(op);
    word(b, mask)
}

/// The lanes of the lane's segment, as a word.
pub fn segment(b: &mut Builder, width: u32) -> Operand {
    if width == WARP {
        return Operand::Const(u32::MAX);
    }
    let base = b.base(width);
    b.alu(AluOp::Shl, Operand::Const((1 << width) - 1), base)
}

/// The lanes of the lane's segment with this relation to the lane, as a word.
pub fn segment_lanes(b: &mut Builder, width: u32, op: MaskOp) -> Operand {
    let (mask, segment) = (lanes(b, op), segment(b, width));
    b.alu(AluOp::And, mask, segment)
}

/// True if any bit of a word is set.
pub fn is_some(b: &mut Builder, word: Operand) -> Operand {
    b.alu(AluOp::Ne, word, Operand::Const(0))
}

/// True if no bit of a word is set.
pub fn is_none(b: &mut Builder, word: Operand) -> Operand {
    b.alu(AluOp::Eq, word, Operand::Const(0))
}

/// The width of a segment in a warp.
pub fn lanes_of(width: Width) -> u32 {
    width.lanes_in(WARP)
}
