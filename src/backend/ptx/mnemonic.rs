//! The names of PTX's instructions and registers that reach other lanes.

use crate::lane::op::{MaskOp, ReduceOp, ShuffleMode};
use crate::lane::primitive::{NvOp, Primitive};
use std::borrow::Cow;

/// The name of a mover or of a reduction, of unsigned words.
pub fn of(primitive: Primitive) -> Option<Cow<'static, str>> {
    match primitive {
        Primitive::Nv(NvOp::Shuffle(mode)) => Some(shuffle(mode).into()),
        Primitive::Nv(NvOp::Reduce(op)) => Some(reduction(op, false).into()),
        _ => None,
    }
}

/// A shuffle.
pub const fn shuffle(mode: ShuffleMode) -> &'static str {
    match mode {
        ShuffleMode::Index => "shfl.sync.idx.b32",
        ShuffleMode::Xor => "shfl.sync.bfly.b32",
        ShuffleMode::Up => "shfl.sync.up.b32",
        ShuffleMode::Down => "shfl.sync.down.b32",
    }
}

/// The reduction of 32-bit integers.
pub fn reduction(op: ReduceOp, is_signed: bool) -> String {
    let letter = if is_signed { 's' } else { 'u' };
    match op {
        ReduceOp::Add | ReduceOp::Mul => format!("redux.sync.add.{letter}32"),
        ReduceOp::Min => format!("redux.sync.min.{letter}32"),
        ReduceOp::Max => format!("redux.sync.max.{letter}32"),
        ReduceOp::And => "redux.sync.and.b32".to_owned(),
        ReduceOp::Or => "redux.sync.or.b32".to_owned(),
        ReduceOp::Xor => "redux.sync.xor.b32".to_owned(),
    }
}

/// The masks of lanes that compare as given with this lane.
pub const fn lane_mask(op: MaskOp) -> &'static str {
    match op {
        MaskOp::Eq => "%lanemask_eq",
        MaskOp::Ge => "%lanemask_ge",
        MaskOp::Gt => "%lanemask_gt",
        MaskOp::Le => "%lanemask_le",
        MaskOp::Lt => "%lanemask_lt",
    }
}
