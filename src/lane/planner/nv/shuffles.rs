//! NV_shader_thread_shuffle by its native instructions. SHFUP and SHFDOWN keep the lane's own value if the source is
//! out of range. SHFIDX wraps, and SHFXOR reaches a lower segment, if the index is not below the width, so they are
//! guarded unless the index is known to be below it.

use super::shf::{in_range, shf_masked};
use crate::lane::op::{LaneOp, ShuffleMode, WARP};
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::nv::shuffle_mask;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "range of an NV shuffle", needs: &[], build: known_range },
    Rule { name: "predicate of SHF", needs: &[Feature::NvShuffle], build: predicate },
    Rule { name: "NV shuffle that keeps its place", needs: &[], build: own_value },
    Rule { name: "SHF with constants", needs: &[Feature::NvShuffle], build: super::moves::by_map },
    Rule { name: "SHF", needs: &[Feature::NvShuffle], build: shuffle },
];

/// The arguments of a call. A constant index is reduced to the bits that the hardware uses.
#[derive(Clone, Copy)]
struct Call {
    mode: ShuffleMode,
    index: Operand,
    width: Operand,
}

/// The call, with its index in operand `first` and its width in the next.
fn call(b: &Builder, mode: ShuffleMode, first: u8) -> Call {
    let index = match b.input(first) {
        Operand::Const(index) => Operand::Const(index & b.index_bits()),
        other => other,
    };
    Call { mode, index, width: b.input(first + 1) }
}

/// The call of an operation that queries whether its source is in range.
fn asking_call(b: &Builder) -> Result<Call, No> {
    match b.request.op {
        LaneOp::ShuffleNvValid(mode) => Ok(call(b, mode, 0)),
        _ => Err(No::NotMine),
    }
}

/// The call of an operation that moves a value.
fn moving_call(b: &Builder) -> Result<Call, No> {
    match b.request.op {
        LaneOp::ShuffleNv(mode) => Ok(call(b, mode, 1)),
        _ => Err(No::NotMine),
    }
}

/// Modes whose range does not depend on the lane, with known distances.
pub fn known_range(b: &mut Builder) -> Answer {
    let call = asking_call(b)?;
    match (call.mode, call.index, call.width) {
        (ShuffleMode::Index | ShuffleMode::Xor, ..) => Ok(is_below_width(b, call)),
        (_, Operand::Const(0), _) => Ok(Operand::Bool(true)),
        (_, Operand::Const(index), Operand::Const(width)) if index >= width => Ok(Operand::Bool(false)),
        (ShuffleMode::Up, Operand::Const(_), Operand::Const(width)) => {
            let local = local(b, width);
            Ok(b.alu(AluOp::Ge, local, call.index))
        }
        (ShuffleMode::Down, Operand::Const(index), Operand::Const(width)) => {
            let local = local(b, width);
            Ok(b.alu(AluOp::Lt, local, Operand::Const(width - index)))
        }
        _ => Err(No::NotMine),
    }
}

fn local(b: &mut Builder, width: u32) -> Operand {
    let i = b.index();
    b.alu(AluOp::And, i, Operand::Const(width - 1))
}

/// True if the bits of the index that count are below the width.
fn is_below_width(b: &mut Builder, call: Call) -> Operand {
    match (call.index, call.width) {
        (Operand::Const(0), _) | (_, Operand::Const(WARP)) => Operand::Bool(true),
        (Operand::Const(_), width) => b.alu(AluOp::Lt, call.index, width),
        (index, Operand::Const(width)) => {
            let above = b.alu(AluOp::And, index, Operand::Const(WARP - width));
            b.alu(AluOp::Eq, above, Operand::Const(0))
        }
        (index, width) => {
            let index = b.modulo(index);
            b.alu(AluOp::Lt, index, width)
        }
    }
}

pub fn predicate(b: &mut Builder) -> Answer {
    let call = asking_call(b)?;
    match call.mode {
        ShuffleMode::Up | ShuffleMode::Down => {
            let mask = mask(b, call);
            Ok(in_range(b, call.mode, call.index, mask))
        }
        ShuffleMode::Index | ShuffleMode::Xor => Err(No::NotMine),
    }
}

/// The mask operand: a constant for a constant width, or `((32 - width) << 8) | clamp`, computed.
fn mask(b: &mut Builder, call: Call) -> Operand {
    match call.width {
        Operand::Const(width) => Operand::Const(shuffle_mask(call.mode, width)),
        width => {
            let shifted = b.alu(AluOp::Shl, width, Operand::Const(8));
            let clamp = shuffle_mask(call.mode, WARP);
            b.alu(AluOp::Sub, Operand::Const((WARP << 8) + clamp), shifted)
        }
    }
}

pub fn own_value(b: &mut Builder) -> Answer {
    let call = moving_call(b)?;
    match (call.mode, call.index, call.width) {
        (_, Operand::Const(index), Operand::Const(width)) if index >= width => Ok(b.value()),
        (ShuffleMode::Up | ShuffleMode::Down | ShuffleMode::Xor, Operand::Const(0), _) => Ok(b.value()),
        _ => Err(No::NotMine),
    }
}

pub fn shuffle(b: &mut Builder) -> Answer {
    let call = moving_call(b)?;
    let (value, mask) = (b.value(), mask(b, call));
    let moved = shf_masked(b, call.mode, value, call.index, mask);
    let guard = match call.mode {
        ShuffleMode::Up | ShuffleMode::Down => Operand::Bool(true),
        ShuffleMode::Index | ShuffleMode::Xor => is_below_width(b, call),
    };
    Ok(b.select(guard, moved, value))
}
