//! NV_shader_thread_shuffle: four shuffles inside segments that say whether the source was in range, and give the own
//! value where it was not. What is known of index and width folds away; a guard is left only where it can fail.

use crate::lane::op::{LaneOp, ShuffleMode};
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::GroupOp;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "range of an NV shuffle", needs: &[], build: valid },
    Rule { name: "NV shuffle that keeps its place", needs: &[], build: own_value },
    Rule { name: "NV shuffle inside a quad", needs: &[Feature::Quad], build: in_quad },
    Rule { name: "guarded shuffle", needs: &[Feature::Shuffle], build: guarded },
];

/// What a call asks for; `index` is masked with 31 already.
#[derive(Clone, Copy)]
pub struct Call {
    mode: ShuffleMode,
    index: Operand,
    width: Operand,
}

/// The call, whose index is operand `first` and whose width the next.
pub fn call(b: &mut Builder, mode: ShuffleMode, first: u8) -> Call {
    let (index, width) = (b.input(first), b.input(first + 1));
    Call { mode, index: b.alu(AluOp::And, index, Operand::Const(31)), width }
}

/// The call of an operation that moves a value.
fn moving_call(b: &mut Builder) -> Result<Call, No> {
    match b.request.op {
        LaneOp::ShuffleNv(mode) => Ok(call(b, mode, 1)),
        _ => Err(No::NotMine),
    }
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

fn own_value(b: &mut Builder) -> Answer {
    let call = moving_call(b)?;
    let stays = call.mode != ShuffleMode::Index && call.index == Operand::Const(0);
    if stays || in_range(b, call) == Operand::Bool(false) { Ok(b.value()) } else { Err(No::NotMine) }
}

fn in_quad(b: &mut Builder) -> Answer {
    match moving_call(b)? {
        Call { mode: ShuffleMode::Index, index: index @ Operand::Const(0..4), width: Operand::Const(4) } => {
            Ok(b.mover(GroupOp::QuadBroadcast, b.value(), index))
        }
        _ => Err(No::NotMine),
    }
}

fn guarded(b: &mut Builder) -> Answer {
    let call = moving_call(b)?;
    let (value, range) = (b.value(), in_range(b, call));
    let moved = match call.mode {
        ShuffleMode::Up => b.shuffle_up(value, call.index),
        ShuffleMode::Down => b.shuffle_down(value, call.index),
        ShuffleMode::Xor => b.shuffle_xor(value, call.index),
        ShuffleMode::Index => {
            let source = target(b, call);
            indexed(b, source)
        }
    };
    Ok(b.select(range, moved, value))
}

/// The lane that is read, where it is in range.
pub fn target(b: &mut Builder, call: Call) -> Operand {
    let (op, from) = match call.mode {
        ShuffleMode::Up => (AluOp::Sub, b.index()),
        ShuffleMode::Down => (AluOp::Add, b.index()),
        ShuffleMode::Xor => (AluOp::Xor, b.index()),
        ShuffleMode::Index => (AluOp::Add, base(b, call.width)),
    };
    b.alu(op, from, call.index)
}

/// `v[source]`, as a broadcast where the source is one lane for all.
fn indexed(b: &mut Builder, source: Operand) -> Operand {
    let value = b.value();
    match source {
        Operand::Const(_) if b.has(Feature::Ballot) => b.mover(GroupOp::Broadcast, value, source),
        _ => b.shuffle(value, source),
    }
}

/// Whether the source lane is in the own segment.
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
        // The index is below 32, so a full width needs no test.
        ShuffleMode::Xor | ShuffleMode::Index if call.width == Operand::Const(32) => Operand::Bool(true),
        ShuffleMode::Xor | ShuffleMode::Index => b.alu(AluOp::Lt, call.index, call.width),
    }
}

/// `local + index < width`, as `local < width - index` where the difference is known.
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
