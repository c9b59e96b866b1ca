//! What hardware can do across lanes: every mover, fold and vote that some target has as one instruction.
//!
//! One variant of [`Primitive`] a family of instructions; [`crate::lane::eval`] runs them on lanes with their exact maps
//! and validity rules. This file names no target syntax and no cost.

use super::op::{CountOp, FoldOp, QuadMove, VoteOp, Width};
use crate::profile::Feature;

/// One cross-lane instruction, its constant parameters included; what varies at run time is an operand of the step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Primitive {
    /// The portable subgroup instructions (SPIR-V 1.6, section 3.49.21, Non-Uniform Instructions).
    Group(GroupOp),
}

/// Subgroup instructions over the *active* lanes. Reading a lane that is inactive or outside the subgroup gives an
/// undefined value. Operands are listed in brackets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GroupOp {
    /// `[value, index]`: `v[index]` (OpGroupNonUniformShuffle).
    Shuffle,
    /// `[value, mask]`: `v[i ^ mask]`.
    ShuffleXor,
    /// `[value, delta]`: `v[i - delta]`.
    ShuffleUp,
    /// `[value, delta]`: `v[i + delta]`.
    ShuffleDown,
    /// `[value, delta]`: `v[base + (local + delta) mod W]`, `delta` uniform (SPV_KHR_subgroup_rotate); the whole subgroup
    /// for [`Width::SUBGROUP`].
    Rotate(Width),
    /// `[value, lane]`: `v[lane]`; `lane` uniform, and a constant where the profile has no dynamic broadcast.
    Broadcast,
    /// `[value]`: value of the lowest active lane.
    BroadcastFirst,
    /// `[value, lane]`: `v[(i & ~3) | lane]`; `lane` as for `Broadcast`.
    QuadBroadcast,
    /// `[value]`: `v[i ^ 1]`, `v[i ^ 2]` or `v[i ^ 3]`; never [`QuadMove::Lane`].
    QuadSwap(QuadMove),
    /// `[value]`: fold over active lanes, in no promised order.
    Fold(FoldOp, GroupFold),
    /// `[value]`: over the active lanes of the subgroup. Bool.
    Vote(VoteOp),
    /// `[predicate]`: over the active lanes of the quad; [`VoteOp::All`] and [`VoteOp::Any`] only (SPV_KHR_quad_control).
    QuadVote(VoteOp),
    /// `[]`: true in the lowest active lane.
    Elect,
    /// `[predicate]`: a ballot.
    Ballot,
    /// `[ballot]`: the own bit.
    InverseBallot,
    /// `[ballot, lane]`: one bit; undefined from `S` up.
    BallotBitExtract,
    /// `[ballot]`: set bits among lanes below `S`.
    BallotBitCount(CountOp),
    /// `[ballot]`: lowest set bit below `S`; undefined if there is none.
    BallotFindLsb,
    /// `[ballot]`: highest set bit below `S`; undefined if there is none.
    BallotFindMsb,
    /// `[]`: waits for the active lanes of the subgroup. No result.
    Sync,
}

/// How far a native fold reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GroupFold {
    /// All active lanes, in every lane.
    Reduce,
    /// Active lanes up to and including `i`.
    Inclusive,
    /// Active lanes below `i`; the identity where there is none.
    Exclusive,
    /// Active lanes of the own segment, in every lane; the width is a constant of 1 to `S` lanes.
    Clustered(Width),
}

impl GroupOp {
    /// What a profile must have to run it; none for what every subgroup can do (GroupNonUniform).
    pub const fn feature(self) -> Option<Feature> {
        use GroupOp as G;
        Some(match self {
            G::Shuffle | G::ShuffleXor => Feature::Shuffle,
            G::ShuffleUp | G::ShuffleDown => Feature::ShuffleRelative,
            G::Rotate(_) => Feature::Rotate,
            G::Broadcast | G::BroadcastFirst | G::Ballot | G::InverseBallot => Feature::Ballot,
            G::BallotBitExtract | G::BallotBitCount(_) | G::BallotFindLsb | G::BallotFindMsb => Feature::Ballot,
            G::QuadBroadcast | G::QuadSwap(_) => Feature::Quad,
            G::Fold(_, GroupFold::Clustered(_)) => Feature::Clustered,
            G::Fold(..) => Feature::Arithmetic,
            G::Vote(_) => Feature::Vote,
            G::QuadVote(_) => Feature::QuadControl,
            G::Elect | G::Sync => return None,
        })
    }
}
