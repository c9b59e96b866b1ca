//! Sources of moves, and the write to one lane.

use crate::lane::op::{LaneOp, Width};
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::{Answer, No};

/// `((i & 31 & and) | or) ^ xor` in the lane's 32 lanes.
pub fn masked_source(b: &mut Builder, and: u8, or: u8, xor: u8) -> Operand {
    let (i, base) = (b.index(), b.base(32));
    let kept = b.alu(AluOp::And, i, Operand::Const(u32::from(and & 31)));
    let set = b.alu(AluOp::Or, kept, Operand::Const(u32::from(or & 31)));
    let flipped = b.alu(AluOp::Xor, set, Operand::Const(u32::from(xor & 31)));
    b.alu(AluOp::Or, flipped, base)
}

/// The new value in one lane, the lane's own value in the others, selected by the lane's index.
pub fn write_lane(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::WriteLane {
        return Err(No::NotMine);
    }
    let i = b.index();
    let is_lane = b.alu(AluOp::Eq, i, b.input(2));
    Ok(b.select(is_lane, Operand::Input(1), b.value()))
}

/// True if bit `bit` of an index is set.
pub fn is_bit_set(b: &mut Builder, index: Operand, bit: u32) -> Operand {
    let masked = b.alu(AluOp::And, index, Operand::Const(1 << bit));
    b.alu(AluOp::Ne, masked, Operand::Const(0))
}

/// True if `i` is its segment's lane `local`, counted from the lowest.
pub fn is_local(b: &mut Builder, width: Width, local: u32) -> Operand {
    let own = b.local(width);
    b.alu(AluOp::Eq, own, Operand::Const(local))
}
