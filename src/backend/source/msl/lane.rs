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

    /// The lanes of the SIMD-group that compare as given with this lane.
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
            return match op {
                GroupOp::Elect => Expr::primary("simd_is_first()"),
                _ => b.t.broken("a function that the language does not have"),
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
        let (name, lane) = match op {
            GroupOp::Ballot => return self.ballot(&value),
            GroupOp::Shuffle => ("simd_shuffle", Some(LANES)),
            GroupOp::ShuffleXor => ("simd_shuffle_xor", Some(LANES)),
            GroupOp::ShuffleUp => ("simd_shuffle_up", Some(LANES)),
            GroupOp::ShuffleDown => ("simd_shuffle_down", Some(LANES)),
            GroupOp::Broadcast => ("simd_broadcast", Some(LANES)),
            GroupOp::QuadBroadcast => ("quad_broadcast", Some(QUAD)),
            GroupOp::QuadSwap(to) => {
                let by = match to {
                    QuadMove::Y => "2",
                    QuadMove::Diagonal => "3",
                    _ => "1",
                };
                return Expr::call("quad_shuffle_xor", &[value, Expr::primary(by)]);
            }
            _ => match function(op) {
                Some(name) => (name, None),
                None => return b.t.broken("a function that the language does not have"),
            },
        };
        let Some(lanes) = lane else { return Expr::call(name, &[value]) };
        let lane = self.lane_of(b, &args[1], lanes);
        Expr::call(name, &[value, lane])
    }

    /// A lane's number, a distance or a mask: beyond the lanes the result is undefined, so any other constant does.
    fn lane_of(&self, b: &mut Body, arg: &Arg, lanes: u32) -> Expr {
        match arg.known {
            Some(number) => Expr::primary((number % lanes).to_string()),
            None => b.index_of(arg),
        }
    }

    /// The votes of the lanes as the first bits of four words.
    fn ballot(&self, value: &Expr) -> Expr {
        let votes = Expr::call("simd_ballot", std::slice::from_ref(value));
        let word = Expr::call("uint", &[Expr::call("simd_vote::vote_t", &[votes])]);
        let zero = Expr::primary("0u");
        Expr::call("uint4", &[word, zero.clone(), zero.clone(), zero])
    }
}

const fn function(op: GroupOp) -> Option<&'static str> {
    Some(match op {
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
