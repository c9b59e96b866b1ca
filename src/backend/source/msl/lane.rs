//! SIMD-group and quad-group functions (section 6.9).

use super::Msl;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::lane::Arg;
use crate::ir::Types;
use crate::lane::{GroupOp, GroupReduce, LaneFact, MaskOp, QuadMove, ReduceOp, VoteOp};

/// Lanes of a SIMD-group and of a quad-group.
const LANES: u32 = 32;
const QUAD: u32 = 4;

impl Msl {
    pub fn fact(&self, b: &mut Body, fact: LaneFact) -> Expr {
        match fact {
            LaneFact::Index => self.lane_index(b),
            LaneFact::Size => self.lane_count(b),
            LaneFact::Mask(op) => self.mask(b, op),
            LaneFact::InSet(_) => b.t.broken("a set of lanes"),
        }
    }

    /// The lanes of the SIMD-group with this relation to the lane.
    fn mask(&self, b: &mut Body, op: MaskOp) -> Expr {
        let index = self.lane_index(b);
        let next = Expr::binary("+", Level::Sum, &index, &Expr::primary("1u"));
        let (from, to) = match op {
            MaskOp::Lt => return self.lanes_below(b, index),
            MaskOp::Le => return self.lanes_below(b, next),
            MaskOp::Eq => (index, next),
            MaskOp::Ge => (index, self.lane_count(b)),
            MaskOp::Gt => (next, self.lane_count(b)),
        };
        let [from, to] = [from, to].map(|count| self.lanes_below(b, count));
        Expr::binary("^", Level::Xor, &to, &from)
    }

    fn lanes_below(&self, b: &mut Body, count: Expr) -> Expr {
        Expr::call(self.help(b.t, "lanes_below", Types::U32), &[count])
    }

    pub fn group(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
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
        if first.shape.0.width == 64 {
            return b.t.lacking("cross-lane operations on numbers of 64 bits");
        }
        let value = first.value.clone();
        let Some(name) = function(op) else { return b.t.broken("a function that the language does not have") };
        let lane = match op {
            GroupOp::Ballot => return self.ballot(name, &value),
            GroupOp::QuadSwap(to) => Some(Expr::primary(swap_mask(to))),
            GroupOp::QuadBroadcast => Some(self.lane_of(b, &args[1], QUAD)),
            _ => args.get(1).map(|lane| self.lane_of(b, lane, LANES)),
        };
        Expr::call(name, &[value].into_iter().chain(lane).collect::<Vec<_>>())
    }

    /// A lane's number, a distance or a mask: beyond the lanes the result is undefined, so any other constant does.
    fn lane_of(&self, b: &mut Body, arg: &Arg, lanes: u32) -> Expr {
        match arg.known {
            Some(number) => Expr::primary((number % lanes).to_string()),
            None => b.index_of(arg),
        }
    }

    /// The votes of the lanes as the low bits of four words.
    fn ballot(&self, name: &str, value: &Expr) -> Expr {
        let votes = Expr::call(name, std::slice::from_ref(value));
        let word = Expr::call("uint", &[Expr::call("simd_vote::vote_t", &[votes])]);
        let zero = Expr::primary("0u");
        Expr::call("uint4", &[word, zero.clone(), zero.clone(), zero])
    }
}

/// The mask of a swap of quads.
const fn swap_mask(to: QuadMove) -> &'static str {
    match to {
        QuadMove::Y => "2",
        QuadMove::Diagonal => "3",
        _ => "1",
    }
}

/// The name of the function.
pub(in crate::backend::source) const fn function(op: GroupOp) -> Option<&'static str> {
    Some(match op {
        GroupOp::Shuffle => "simd_shuffle",
        GroupOp::ShuffleXor => "simd_shuffle_xor",
        GroupOp::ShuffleUp => "simd_shuffle_up",
        GroupOp::ShuffleDown => "simd_shuffle_down",
        GroupOp::Broadcast => "simd_broadcast",
        GroupOp::QuadBroadcast => "quad_broadcast",
        GroupOp::QuadSwap(_) => "quad_shuffle_xor",
        GroupOp::Ballot => "simd_ballot",
        GroupOp::Elect => "simd_is_first",
        GroupOp::BroadcastFirst => "simd_broadcast_first",
        GroupOp::Vote(VoteOp::All) => "simd_all",
        GroupOp::Vote(VoteOp::Any) => "simd_any",
        GroupOp::QuadVote(VoteOp::All) => "quad_all",
        GroupOp::QuadVote(VoteOp::Any) => "quad_any",
        GroupOp::Reduce(op, GroupReduce::Reduce) => match op {
            ReduceOp::Add => "simd_sum",
            ReduceOp::Mul => "simd_product",
            ReduceOp::Min => "simd_min",
            ReduceOp::Max => "simd_max",
            ReduceOp::And => "simd_and",
            ReduceOp::Or => "simd_or",
            ReduceOp::Xor => "simd_xor",
        },
        GroupOp::Reduce(ReduceOp::Add, GroupReduce::Inclusive) => "simd_prefix_inclusive_sum",
        GroupOp::Reduce(ReduceOp::Mul, GroupReduce::Inclusive) => "simd_prefix_inclusive_product",
        GroupOp::Reduce(ReduceOp::Add, GroupReduce::Exclusive) => "simd_prefix_exclusive_sum",
        GroupOp::Reduce(ReduceOp::Mul, GroupReduce::Exclusive) => "simd_prefix_exclusive_product",
        _ => return None,
    })
}
