//! Subgroup and quad functions (WGSL 17.12 and 17.13). The functions only support numbers, so bools are moved as words
//! that are 0 or 1.

use super::Wgsl;
use super::stage::Port;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::lane::Arg;
use crate::ir::{Scalar, Types};
use crate::lane::{GroupOp, GroupReduce, LaneFact, MaskOp, QuadMove, ReduceOp, VoteOp};

/// Numbers of lanes, distances and masks that are constants must be below this.
const MOST_LANES: u32 = 128;

impl Wgsl {
    pub fn fact(&self, b: &mut Body, fact: LaneFact) -> Expr {
        match fact {
            LaneFact::Index => self.lane_port(b, Port::LaneIndex),
            LaneFact::Size => self.lane_port(b, Port::LaneCount),
            LaneFact::Mask(op) => self.mask(b, op),
            LaneFact::InSet(_) => b.t.broken("a set of lanes"),
        }
    }

    /// The lanes of the subgroup with this relation to the lane.
    fn mask(&self, b: &mut Body, op: MaskOp) -> Expr {
        let index = self.lane_port(b, Port::LaneIndex);
        let next = Expr::binary("+", Level::Sum, &index, &Expr::primary("1u"));
        let (from, to) = match op {
            MaskOp::Lt => return self.lanes_below(b, index),
            MaskOp::Le => return self.lanes_below(b, next),
            MaskOp::Eq => (index, next),
            MaskOp::Ge => (index, self.lane_port(b, Port::LaneCount)),
            MaskOp::Gt => (next, self.lane_port(b, Port::LaneCount)),
        };
        let [from, to] = [from, to].map(|count| self.lanes_below(b, count));
        Expr::binary("^", Level::Xor, &to, &from)
    }

    fn lanes_below(&self, b: &mut Body, count: Expr) -> Expr {
        Expr::call(&self.help(b.t, "lanes_below", Types::U32), &[count])
    }

    pub fn group(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
        b.t.need("subgroups");
        let Some(first) = args.first() else {
            return match function(op) {
                Some(name) => Expr::call(name, &[]),
                None => b.t.broken("a function that the language does not have"),
            };
        };
        let of_truth = matches!(op, GroupOp::Vote(_) | GroupOp::QuadVote(_) | GroupOp::Ballot);
        if first.shape.0.is_bool() && !of_truth {
            return b.of_words(op, args);
        }
        let Some(name) = function(op) else { return b.t.broken("a function that the language does not have") };
        let lane = args.get(1).map(|arg| self.lane_of(b, arg));
        Expr::call(name, &[Some(first.value.clone()), lane].into_iter().flatten().collect::<Vec<_>>())
    }

    /// A lane index, a distance or a mask: beyond the maximum number of lanes the result is undefined, so any other
    /// constant will do.
    fn lane_of(&self, b: &mut Body, arg: &Arg) -> Expr {
        match arg.known {
            Some(number) => b.t.literal(Scalar::U32, u64::from(number % MOST_LANES)),
            None => b.index_of(arg),
        }
    }
}

/// The name of the function.
pub(in crate::backend::source) const fn function(op: GroupOp) -> Option<&'static str> {
    Some(match op {
        GroupOp::Shuffle => "subgroupShuffle",
        GroupOp::ShuffleXor => "subgroupShuffleXor",
        GroupOp::ShuffleUp => "subgroupShuffleUp",
        GroupOp::ShuffleDown => "subgroupShuffleDown",
        GroupOp::Broadcast => "subgroupBroadcast",
        GroupOp::BroadcastFirst => "subgroupBroadcastFirst",
        GroupOp::QuadBroadcast => "quadBroadcast",
        GroupOp::QuadSwap(QuadMove::Y) => "quadSwapY",
        GroupOp::QuadSwap(QuadMove::Diagonal) => "quadSwapDiagonal",
        GroupOp::QuadSwap(_) => "quadSwapX",
        GroupOp::Vote(VoteOp::All) => "subgroupAll",
        GroupOp::Vote(VoteOp::Any) => "subgroupAny",
        GroupOp::Ballot => "subgroupBallot",
        GroupOp::Elect => "subgroupElect",
        GroupOp::Reduce(op, GroupReduce::Reduce) => match op {
            ReduceOp::Add => "subgroupAdd",
            ReduceOp::Mul => "subgroupMul",
            ReduceOp::Min => "subgroupMin",
            ReduceOp::Max => "subgroupMax",
            ReduceOp::And => "subgroupAnd",
            ReduceOp::Or => "subgroupOr",
            ReduceOp::Xor => "subgroupXor",
        },
        GroupOp::Reduce(ReduceOp::Add, GroupReduce::Inclusive) => "subgroupInclusiveAdd",
        GroupOp::Reduce(ReduceOp::Mul, GroupReduce::Inclusive) => "subgroupInclusiveMul",
        GroupOp::Reduce(ReduceOp::Add, GroupReduce::Exclusive) => "subgroupExclusiveAdd",
        GroupOp::Reduce(ReduceOp::Mul, GroupReduce::Exclusive) => "subgroupExclusiveMul",
        _ => return None,
    })
}
