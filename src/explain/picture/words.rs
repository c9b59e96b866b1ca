//! The names of the rows of a picture.

use crate::backend::Backend;
use crate::ir::ScalarKind;
use crate::ir::print::snake;
use crate::lane::{GroupOp, GroupReduce, LaneOp, Param, Primitive, Role, Step, StepOp};
use crate::profile::Target;

/// Operand `n` of an operation; the symbols of a second value have a `b`.
pub fn operand(op: LaneOp, n: usize) -> String {
    match op.signature().params.get(n) {
        Some(Param { name, role: Role::Same | Role::SameNumber | Role::Rider }) => format!("{name} (b)"),
        Some(Param { name, .. }) => (*name).into(),
        None => "index".into(),
    }
}

/// A step of a plan for a target.
pub fn step(step: &Step, target: Target) -> String {
    match step.op {
        StepOp::Prim(primitive) => name(primitive, target),
        StepOp::CombineMoved(op, primitive) => format!("{} + {}", name(primitive, target), snake(op)),
        StepOp::Combine(op) => snake(op),
        StepOp::Remove(_) => "without own".into(),
        _ => "select".into(),
    }
}

/// The name in the target's text, or words for the portable instructions, whose names differ by language.
fn name(primitive: Primitive, target: Target) -> String {
    match primitive {
        Primitive::Group(op) => group(op).into(),
        _ => (Backend::of(target).mnemonic)(primitive, ScalarKind::Uint).map_or("mask".into(), Into::into),
    }
}

/// An instruction with a result of the operation's type.
const fn group(op: GroupOp) -> &'static str {
    match op {
        GroupOp::Shuffle => "shuffle",
        GroupOp::ShuffleXor => "shuffle xor",
        GroupOp::ShuffleUp => "shuffle up",
        GroupOp::ShuffleDown => "shuffle down",
        GroupOp::Rotate(_) => "rotate",
        GroupOp::Broadcast | GroupOp::BroadcastFirst => "broadcast",
        GroupOp::QuadBroadcast => "quad broadcast",
        GroupOp::QuadSwap(_) => "quad swap",
        GroupOp::SwizzleAmd(_) | GroupOp::SwizzleMaskedAmd { .. } => "swizzle",
        GroupOp::WriteAmd => "write lane",
        GroupOp::Reduce(_, reach) | GroupOp::PartitionedReduce(_, reach) | GroupOp::ReduceAmd(_, reach) => {
            match reach {
                GroupReduce::Inclusive => "inclusive scan",
                GroupReduce::Exclusive => "exclusive scan",
                GroupReduce::Reduce | GroupReduce::Clustered(_) => "reduce",
            }
        }
        GroupOp::Vote(_) | GroupOp::QuadVote(_) | GroupOp::Elect | GroupOp::Partition => "vote",
        GroupOp::Ballot | GroupOp::InverseBallot | GroupOp::BallotBitExtract => "ballot",
        GroupOp::BallotBitCount(_) | GroupOp::BallotFindLsb | GroupOp::BallotFindMsb => "ballot",
        GroupOp::MaskedCountAmd => "count",
        GroupOp::Sync => "barrier",
    }
}
