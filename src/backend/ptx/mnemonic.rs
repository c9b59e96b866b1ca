//! The names of PTX's cross-lane instructions and registers.

use crate::ir::ScalarKind;
use crate::lane::op::{MaskOp, ReduceOp, ShuffleMode, VoteOp};
use crate::lane::primitive::{NvOp, Primitive};
use std::borrow::Cow;

/// The name of a move, a reduction or a match of words, a vote or a ballot.
pub fn of(primitive: Primitive, kind: ScalarKind) -> Option<Cow<'static, str>> {
    let Primitive::Nv(op) = primitive else { return None };
    Some(match op {
        NvOp::Shuffle(mode) => shuffle(mode).into(),
        NvOp::Reduce(op) => reduction(op, kind == ScalarKind::Sint).into(),
        NvOp::Vote(op) => vote(op).into(),
        NvOp::Ballot => BALLOT.into(),
        NvOp::Match => MATCH_ANY.into(),
        NvOp::MatchAll => MATCH_ALL.into(),
        NvOp::Sync => SYNC.into(),
        NvOp::ShuffleValid(_) | NvOp::QuadSwizzle(_) => return None,
    })
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

/// A vote of the lanes of a mask, on predicates.
pub const fn vote(op: VoteOp) -> &'static str {
    match op {
        VoteOp::All => "vote.sync.all.pred",
        VoteOp::Any => "vote.sync.any.pred",
        VoteOp::Equal => "vote.sync.uni.pred",
    }
}

/// The ballot of the lanes of a mask.
pub const BALLOT: &str = "vote.sync.ballot.b32";

/// The lanes with this lane's value, and whether all have it; the type follows.
pub const MATCH_ANY: &str = "match.any.sync";
pub const MATCH_ALL: &str = "match.all.sync";

/// The instruction that waits for the lanes of a mask.
pub const SYNC: &str = "bar.warp.sync";

/// An instruction that ptxas never predicates, so that the branch around it stays a branch.
pub const KEEPS_BRANCH: &str = "nanosleep.u32 0;";

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

/// The masks of lanes with a relation to this lane.
pub const fn lane_mask(op: MaskOp) -> &'static str {
    match op {
        MaskOp::Eq => "%lanemask_eq",
        MaskOp::Ge => "%lanemask_ge",
        MaskOp::Gt => "%lanemask_gt",
        MaskOp::Le => "%lanemask_le",
        MaskOp::Lt => "%lanemask_lt",
    }
}
