//! The source lane of a shuffle of NV_shader_thread_shuffle, and its valid range.

use crate::lane::op::{LaneOp, ShuffleMode};
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::{Answer, No};

/// The arguments of a call; `index` has the bits alone that count.
#[derive(Clone, Copy)]
pub struct Call {
    pub mode: ShuffleMode,
    pub index: Operand,
    pub width: Operand,
}

/// The call, with its index in operand `first` and its width in the next.
pub fn call(b: &mut Builder, mode: ShuffleMode, first: u8) -> Call {
    Call { mode, index: b.counted(first), width: b.input(first + 1) }
}

pub fn valid(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::ShuffleNvValid(mode) => {
            let call = call(b, mode, 0);
            Ok(in_range(b, call))
        }
        _ => Err(No::NotMine),
    }
}

/// The source lane, if it is in range.
pub fn target(b: &mut Builder, call: Call) -> Operand {
    let (op, from) = match call.mode {
        ShuffleMode::Up => (AluOp::Sub, b.index()),
        ShuffleMode::Down => (AluOp::Add, b.index()),
        ShuffleMode::Xor => (AluOp::Xor, b.index()),
        ShuffleMode::Index => (AluOp::Add, base(b, call.width)),
    };
    b.alu(op, from, call.index)
}

/// True if the source lane is in the lane's segment.
pub fn in_range(b: &mut Builder, call: Call) -> Operand {
    match (call.index, call.width) {
        (Operand::Const(0), _) => return Operand::Bool(true),
        (Operand::Const(index), Operand::Const(width)) if index >= width => return Operand::Bool(false),
        _ => {}
    }
    match call.mode {
        ShuffleMode::Up => {
            let local = local(b, call.width);
            b.alu(AluOp::Ge, local, call.index)
        }
        ShuffleMode::Down => {
            let (local, room) = (local(b, call.width), b.alu(AluOp::Sub, call.width, call.index));
            below_room(b, local, room, call)
        }
        // The index is below 32, so the full width needs no test.
        ShuffleMode::Xor | ShuffleMode::Index if call.width == Operand::Const(32) => Operand::Bool(true),
        ShuffleMode::Xor | ShuffleMode::Index => b.alu(AluOp::Lt, call.index, call.width),
    }
}

/// `local + index < width`, as `local < width - index` if the difference is known.
fn below_room(b: &mut Builder, local: Operand, room: Operand, call: Call) -> Operand {
    match room {
        Operand::Const(_) => b.alu(AluOp::Lt, local, room),
        _ => {
            let target = b.alu(AluOp::Add, local, call.index);
            b.alu(AluOp::Lt, target, call.width)
        }
    }
}

/// `i & (width - 1)`.
fn local(b: &mut Builder, width: Operand) -> Operand {
    let i = b.index();
    let mask = b.alu(AluOp::Sub, width, Operand::Const(1));
    b.alu(AluOp::And, i, mask)
}

/// `i & ~(width - 1)`, which is `i & -width`.
fn base(b: &mut Builder, width: Operand) -> Operand {
    let i = b.index();
    let mask = b.alu(AluOp::Sub, Operand::Const(0), width);
    b.alu(AluOp::And, i, mask)
}
