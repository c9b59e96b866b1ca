//! Moves inside quads, and the lanes that they read.

use crate::lane::op::{LaneOp, QuadMove};
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;

/// The quad permutation that leaves each lane its own value.
pub const IDENTITY: u8 = 0b11_10_01_00;

/// The single move that a permutation is equivalent to, if any.
fn as_move(mode: u8) -> Option<QuadMove> {
    Some(match mode {
        0b00_00_00_00 => QuadMove::Lane(0),
        0b01_01_01_01 => QuadMove::Lane(1),
        0b10_10_10_10 => QuadMove::Lane(2),
        0b11_11_11_11 => QuadMove::Lane(3),
        0b10_11_00_01 => QuadMove::X,
        0b01_00_11_10 => QuadMove::Y,
        0b00_01_10_11 => QuadMove::Diagonal,
        _ => return None,
    })
}

/// The move of an operation that is a single one.
pub fn move_of(op: LaneOp) -> Option<QuadMove> {
    match op {
        LaneOp::Quad { mv, .. } | LaneOp::QuadAdd(mv) => Some(mv),
        LaneOp::QuadPermute(mode) => as_move(mode),
        _ => None,
    }
}

/// `(i & ~3) | ((mode >> (2 * (i & 3))) & 3)`.
pub fn permuted(b: &mut Builder, mode: u8) -> Operand {
    let i = b.index();
    let local = b.alu(AluOp::And, i, Operand::Const(3));
    let shift = b.alu(AluOp::Shl, local, Operand::Const(1));
    let shifted = b.alu(AluOp::Shr, Operand::Const(mode.into()), shift);
    let lane = b.alu(AluOp::And, shifted, Operand::Const(3));
    let base = b.base(4);
    b.alu(AluOp::Or, base, lane)
}
