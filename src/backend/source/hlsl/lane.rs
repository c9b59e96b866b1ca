//! Wave intrinsics (DirectX Shader Compiler, "Wave Intrinsics"; the specifications of Shader Models 6.5 and 6.7).

use super::Hlsl;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::lane::Arg;
use crate::ir::{Scalar, ScalarKind};
use crate::lane::{GroupOp, GroupReduce, LaneFact, MaskOp, QuadMove, ReduceOp, VoteOp};

/// Numbers of lanes, distances and masks that are constants must be below this.
const MOST_LANES: u32 = 128;

const INDEX: &str = "WaveGetLaneIndex()";
const COUNT: &str = "WaveGetLaneCount()";

impl Hlsl {
    pub fn fact(&self, b: &mut Body, fact: LaneFact) -> Expr {
        match fact {
            LaneFact::Index => Expr::primary(INDEX),
            LaneFact::Size => Expr::primary(COUNT),
            LaneFact::Mask(op) => self.mask(b, op),
            LaneFact::InSet(_) => b.t.broken("a set of lanes"),
        }
    }

    /// The lanes of the wave with this relation to the lane.
    fn mask(&self, b: &mut Body, op: MaskOp) -> Expr {
        let next = Expr::binary("+", Level::Sum, &Expr::primary(INDEX), &Expr::primary("1u"));
        let below = |b: &mut Body, count: Expr| self.helped(b.t, "lanes_below", &[count], crate::ir::Types::U32);
        let (from, to) = match op {
            MaskOp::Lt => return below(b, Expr::primary(INDEX)),
            MaskOp::Le => return below(b, next),
            MaskOp::Eq => (Expr::primary(INDEX), next),
            MaskOp::Ge => (Expr::primary(INDEX), Expr::primary(COUNT)),
            MaskOp::Gt => (next, Expr::primary(COUNT)),
        };
        let [from, to] = [from, to].map(|count| below(b, count));
        Expr::binary("^", Level::Xor, &to, &from)
    }

    pub fn group(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
        let Some(name) = function(op) else { return b.t.broken("a wave intrinsic that the language does not have") };
        if op == GroupOp::Partition {
            return self.partition(b, name, &args[0]);
        }
        let of_truth = matches!(op, GroupOp::Vote(VoteOp::All | VoteOp::Any) | GroupOp::QuadVote(_) | GroupOp::Ballot);
        if let Some(arg) = args.first().filter(|arg| arg.shape.0.is_bool() && !of_truth) {
            return self.as_other(b, op, args, (arg.clone(), Scalar::U32));
        }
        if let Some(arg) = args.first().filter(|arg| arg.shape.0.kind == ScalarKind::Sint && is_bitwise(op)) {
            let unsigned = Scalar { kind: ScalarKind::Uint, ..arg.shape.0 };
            return self.as_other(b, op, args, (arg.clone(), unsigned));
        }
        let value = args.first().map_or_else(|| Expr::primary("0"), |arg| arg.value.clone());
        let lane = args.get(1).map(|arg| self.lane_of(b, arg));
        let own = |op: &'static str, level: Level, by: &Expr| Expr::binary(op, level, &Expr::primary(INDEX), by);
        let more = match (op, lane) {
            (GroupOp::ShuffleXor, Some(by)) => Some(own("^", Level::Xor, &by)),
            (GroupOp::ShuffleUp, Some(by)) => Some(own("-", Level::Sum, &by)),
            (GroupOp::ShuffleDown, Some(by)) => Some(own("+", Level::Sum, &by)),
            (GroupOp::Vote(VoteOp::Equal), _) => {
                let call = Expr::call(name, &[value]);
                return if args[0].shape.1 == 1 { call } else { Expr::call("all", &[call]) };
            }
            (GroupOp::Elect, _) => return Expr::call(name, &[]),
            (GroupOp::Reduce(op, GroupReduce::Inclusive), _) => return self.inclusive(b, (op, name), &args[0]),
            (GroupOp::PartitionedReduce(..), _) => Some(args[1].value.clone()),
            (_, lane) => lane,
        };
        Expr::call(name, &[value].into_iter().chain(more).collect::<Vec<_>>())
    }

    /// A lane index, a distance or a mask: beyond the maximum number of lanes the result is undefined, so any other
    /// constant will do.
    fn lane_of(&self, b: &mut Body, arg: &Arg) -> Expr {
        match arg.known {
            Some(number) => b.t.literal(Scalar::U32, u64::from(number % MOST_LANES)),
            None => b.index_of(arg),
        }
    }

    /// The exclusive scan combined with the lane's own value.
    fn inclusive(&self, b: &mut Body, (op, name): (ReduceOp, &str), arg: &Arg) -> Expr {
        let ty = b.t.types.vector(arg.shape.0, arg.shape.1);
        let value = b.plain(arg.value.clone(), ty);
        let (text, level) = if op == ReduceOp::Mul { ("*", Level::Product) } else { ("+", Level::Sum) };
        Expr::binary(text, level, &Expr::call(name, std::slice::from_ref(&value)), &value)
    }

    /// The operation on numbers of another type.
    fn as_other(&self, b: &mut Body, op: GroupOp, args: &[Arg], (own, other): (Arg, Scalar)) -> Expr {
        let size = own.shape.1;
        let [from, to] = [own.shape.0, other].map(|scalar| b.t.types.vector(scalar, size));
        let mut args = args.to_vec();
        args[0] = Arg { value: b.t.converted(&own.value, from, to), shape: (other, size), known: None };
        let made = self.group(b, op, &args);
        if matches!(op, GroupOp::Vote(_)) { made } else { b.t.converted(&made, to, from) }
    }

    /// The lanes with the same bits.
    fn partition(&self, b: &mut Body, name: &str, arg: &Arg) -> Expr {
        let (scalar, size) = arg.shape;
        let unsigned = Scalar { kind: ScalarKind::Uint, ..scalar };
        let [own, words] = [scalar, unsigned].map(|scalar| b.t.types.vector(scalar, size));
        let value = match scalar.kind {
            ScalarKind::Bool => {
                let words = b.t.types.vector(Scalar::U32, size);
                b.t.converted(&arg.value, own, words)
            }
            ScalarKind::Float => b.t.reinterpreted(&arg.value, own, words),
            _ => arg.value.clone(),
        };
        Expr::call(name, &[value])
    }
}

/// Returns true for a bitwise reduction, which the language only has for unsigned numbers.
const fn is_bitwise(op: GroupOp) -> bool {
    matches!(
        op,
        GroupOp::Reduce(ReduceOp::And | ReduceOp::Or | ReduceOp::Xor, _)
            | GroupOp::PartitionedReduce(ReduceOp::And | ReduceOp::Or | ReduceOp::Xor, _)
    )
}

/// The name of the intrinsic for the operation, or that it is built from.
const fn function(op: GroupOp) -> Option<&'static str> {
    Some(match op {
        GroupOp::Shuffle | GroupOp::Broadcast => "WaveReadLaneAt",
        GroupOp::ShuffleXor | GroupOp::ShuffleUp | GroupOp::ShuffleDown => "WaveReadLaneAt",
        GroupOp::QuadBroadcast => "QuadReadLaneAt",
        GroupOp::Vote(VoteOp::Equal) => "WaveActiveAllEqual",
        GroupOp::Elect => "WaveIsFirstLane",
        GroupOp::Partition => "WaveMatch",
        GroupOp::BroadcastFirst => "WaveReadLaneFirst",
        GroupOp::QuadSwap(QuadMove::Y) => "QuadReadAcrossY",
        GroupOp::QuadSwap(QuadMove::Diagonal) => "QuadReadAcrossDiagonal",
        GroupOp::QuadSwap(_) => "QuadReadAcrossX",
        GroupOp::Vote(VoteOp::All) => "WaveActiveAllTrue",
        GroupOp::Vote(VoteOp::Any) => "WaveActiveAnyTrue",
        GroupOp::QuadVote(VoteOp::Any) => "QuadAny",
        GroupOp::QuadVote(_) => "QuadAll",
        GroupOp::Ballot => "WaveActiveBallot",
        GroupOp::Reduce(op, GroupReduce::Reduce) => match op {
            ReduceOp::Add => "WaveActiveSum",
            ReduceOp::Mul => "WaveActiveProduct",
            ReduceOp::Min => "WaveActiveMin",
            ReduceOp::Max => "WaveActiveMax",
            ReduceOp::And => "WaveActiveBitAnd",
            ReduceOp::Or => "WaveActiveBitOr",
            ReduceOp::Xor => "WaveActiveBitXor",
        },
        GroupOp::Reduce(ReduceOp::Add, GroupReduce::Exclusive | GroupReduce::Inclusive) => "WavePrefixSum",
        GroupOp::Reduce(ReduceOp::Mul, GroupReduce::Exclusive | GroupReduce::Inclusive) => "WavePrefixProduct",
        GroupOp::PartitionedReduce(op, GroupReduce::Exclusive) => return multi_prefix(op),
        _ => return None,
    })
}

/// The name of the intrinsic that is just the operation.
pub(in crate::backend::source) const fn intrinsic(op: GroupOp) -> Option<&'static str> {
    match op {
        GroupOp::ShuffleXor | GroupOp::ShuffleUp | GroupOp::ShuffleDown => None,
        GroupOp::Reduce(_, GroupReduce::Inclusive) => None,
        _ => function(op),
    }
}

const fn multi_prefix(op: ReduceOp) -> Option<&'static str> {
    Some(match op {
        ReduceOp::Add => "WaveMultiPrefixSum",
        ReduceOp::Mul => "WaveMultiPrefixProduct",
        ReduceOp::And => "WaveMultiPrefixBitAnd",
        ReduceOp::Or => "WaveMultiPrefixBitOr",
        ReduceOp::Xor => "WaveMultiPrefixBitXor",
        ReduceOp::Min | ReduceOp::Max => return None,
    })
}
