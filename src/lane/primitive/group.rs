//! The portable subgroup instructions of SPIR-V (SPIR-V 1.6, section 3.49.21, Non-Uniform Instructions).
//!
//! This module has the lane maps of the moves; [`crate::lane::eval`] computes reductions, votes and ballots.

use super::{CostClass, Index, Instruction, Source};
use crate::lane::op::{CountOp, QuadMove, ReduceOp, VoteOp, Width};
use crate::lane::value::Lanes;
use crate::profile::{Feature, FeatureSet};
use serde::Deserialize;

/// Subgroup instructions over the *active* lanes. Reading a lane that is inactive or outside the subgroup gives an
/// undefined value. Operands are listed in brackets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
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
    /// `[value, lane]`: `v[lane]`; `lane` is uniform, and a constant if the profile has no dynamic broadcast.
    Broadcast,
    /// `[value]`: value of the lowest active lane.
    BroadcastFirst,
    /// `[value, lane]`: `v[(i & ~3) | lane]`; `lane` as for `Broadcast`.
    QuadBroadcast,
    /// `[value]`: `v[i ^ 1]`, `v[i ^ 2]` or `v[i ^ 3]`; never [`QuadMove::Lane`].
    QuadSwap(QuadMove),
    /// `[value]`: reduction over active lanes, in no guaranteed order.
    Reduce(ReduceOp, GroupReduce),
    /// `[value, ballot]`: reduction over the active lanes in the ballot, which must be equal in those lanes
    /// (SPV_NV_shader_subgroup_partitioned); never [`GroupReduce::Clustered`].
    PartitionedReduce(ReduceOp, GroupReduce),
    /// `[value]`: the active lanes that pass the same value, as a ballot.
    Partition,
    /// `[value]`: `v[(i & ~3) | (mode >> 2 * (i & 3)) & 3]`, 0 from an inactive lane (SPV_AMD_shader_ballot).
    SwizzleAmd(u8),
    /// `[value]`: `v[(i & ~31) | ((i & 31 & and) | or) ^ xor]`, 0 from an inactive lane; each of 5 bits.
    SwizzleMaskedAmd { and: u8, or: u8, xor: u8 },
    /// `[value, new, lane]`: `i == lane ? new : value`, `new` and `lane` uniform.
    WriteAmd,
    /// `[mask]`: bits of a 64-bit mask below this lane.
    MaskedCountAmd,
    /// `[value]`: reduction over active lanes by addition, minimum or maximum, in no guaranteed order (the NonUniform
    /// functions of GL_AMD_shader_ballot); never [`GroupReduce::Clustered`].
    ReduceAmd(ReduceOp, GroupReduce),
    /// `[value]`: over the active lanes of the subgroup. Bool.
    Vote(VoteOp),
    /// `[predicate]`: over the active lanes of the quad; [`VoteOp::All`] and [`VoteOp::Any`] only (SPV_KHR_quad_control).
    QuadVote(VoteOp),
    /// `[]`: true in the lowest active lane.
    Elect,
    /// `[predicate]`: a ballot.
    Ballot,
    /// `[ballot]`: the lane's bit.
    InverseBallot,
    /// `[ballot, lane]`: one bit; undefined if the lane is `S` or higher.
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

/// The lanes of a native reduction and of its result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum GroupReduce {
    /// All active lanes, in every lane.
    Reduce,
    /// Active lanes up to and including `i`.
    Inclusive,
    /// Active lanes below `i`; the identity if there are none.
    Exclusive,
    /// Active lanes of the lane's segment, in every lane; the width is a constant of 1 to `S` lanes.
    Clustered(Width),
}

impl GroupOp {
    /// The feature family that a profile needs to run it; `None` if the instruction is its own family.
    const fn family(self) -> Option<Feature> {
        use GroupOp as G;
        Some(match self {
            G::Shuffle | G::ShuffleXor => Feature::Shuffle,
            G::ShuffleUp | G::ShuffleDown => Feature::ShuffleRelative,
            G::Rotate(_) => Feature::Rotate,
            G::Broadcast | G::BroadcastFirst | G::Ballot | G::InverseBallot => Feature::Ballot,
            G::BallotBitExtract | G::BallotBitCount(_) | G::BallotFindLsb | G::BallotFindMsb => Feature::Ballot,
            G::QuadBroadcast | G::QuadSwap(_) => Feature::Quad,
            G::Reduce(_, GroupReduce::Clustered(_)) => Feature::Clustered,
            G::Reduce(..) => Feature::Arithmetic,
            G::PartitionedReduce(..) | G::Partition => Feature::Partitioned,
            G::SwizzleAmd(_) | G::SwizzleMaskedAmd { .. } | G::WriteAmd | G::MaskedCountAmd | G::ReduceAmd(..) => {
                Feature::ShaderBallotAmd
            }
            G::Vote(_) => Feature::Vote,
            G::QuadVote(_) => Feature::QuadControl,
            G::Elect | G::Sync => return None,
        })
    }

    /// The additional feature for a part of the family that not every language has.
    const fn part(self) -> Option<Feature> {
        use GroupOp as G;
        Some(match self {
            G::InverseBallot | G::BallotBitExtract | G::BallotBitCount(_) => Feature::BallotBits,
            G::BallotFindLsb | G::BallotFindMsb => Feature::BallotBits,
            G::Reduce(op, GroupReduce::Inclusive | GroupReduce::Exclusive)
                if !matches!(op, ReduceOp::Add | ReduceOp::Mul) =>
            {
                Feature::Scans
            }
            G::PartitionedReduce(op, GroupReduce::Exclusive) if !matches!(op, ReduceOp::Min | ReduceOp::Max) => {
                Feature::PartitionedScans
            }
            G::PartitionedReduce(..) => Feature::PartitionedFolds,
            G::Vote(VoteOp::Equal) => Feature::VoteEqual,
            G::Elect => Feature::Elect,
            G::Sync => Feature::SubgroupBarrier,
            _ => return None,
        })
    }
}

impl GroupOp {
    /// The lane that a move of this kind reads in lane `i`; `None` if the value is undefined. The lane may be inactive
    /// or outside the subgroup.
    pub fn lane(self, i: u32, operand: u32, lanes: Lanes) -> Option<u32> {
        match self {
            GroupOp::Shuffle | GroupOp::Broadcast => Some(operand),
            GroupOp::ShuffleXor => Some(i ^ operand),
            GroupOp::ShuffleUp => i.checked_sub(operand),
            GroupOp::ShuffleDown => i.checked_add(operand),
            GroupOp::Rotate(width) => {
                let width = width.lanes_in(lanes.size);
                Some((i & !(width - 1)) | (i.wrapping_add(operand) & (width - 1))).filter(|_| width <= lanes.size)
            }
            GroupOp::BroadcastFirst => lanes.iter().next(),
            GroupOp::QuadBroadcast => Some((i & !3) | operand).filter(|_| operand < 4),
            GroupOp::QuadSwap(QuadMove::X) => Some(i ^ 1),
            GroupOp::QuadSwap(QuadMove::Y) => Some(i ^ 2),
            GroupOp::QuadSwap(QuadMove::Diagonal) => Some(i ^ 3),
            GroupOp::SwizzleAmd(mode) => Some((i & !3) | (u32::from(mode) >> (2 * (i & 3)) & 3)),
            GroupOp::SwizzleMaskedAmd { and, or, xor } => {
                let [and, or, xor] = [and, or, xor].map(|mask| u32::from(mask & 31));
                Some((i & !31) | (((i & and) | or) ^ xor))
            }
            _ => None,
        }
    }

    /// Width of the segments in which the operand must be uniform.
    pub fn uniform_width(self, lanes: Lanes) -> u32 {
        match self {
            GroupOp::Broadcast | GroupOp::Rotate(_) => lanes.size,
            GroupOp::QuadBroadcast => 4,
            _ => 1,
        }
    }

    const fn is_mover(self) -> bool {
        use GroupOp as G;
        matches!(self, G::BroadcastFirst | G::QuadSwap(_)) || self.is_swizzle_amd() || self.takes_index()
    }

    /// Returns true if the operation gives 0 where the source lane is inactive.
    pub const fn is_swizzle_amd(self) -> bool {
        matches!(self, GroupOp::SwizzleAmd(_) | GroupOp::SwizzleMaskedAmd { .. })
    }

    const fn takes_index(self) -> bool {
        use GroupOp as G;
        matches!(
            self,
            G::Shuffle | G::ShuffleXor | G::ShuffleUp | G::ShuffleDown | G::Rotate(_) | G::Broadcast | G::QuadBroadcast
        )
    }
}

impl Instruction for GroupOp {
    fn needs(&self) -> FeatureSet {
        [self.family(), self.part()].into_iter().flatten().collect()
    }

    fn index_operands(&self) -> usize {
        usize::from(self.takes_index())
    }

    fn source(&self, i: u32, index: &[Index], lanes: Lanes) -> Option<Source> {
        let operand = index.first().map_or(0, |index| index.at(i));
        let lane = self.is_mover().then(|| self.lane(i, operand, lanes))?;
        let nothing = if self.is_swizzle_amd() { Source::Zero } else { Source::Undefined };
        Some(lane.filter(|lane| lanes.is_active(*lane)).map_or(nothing, Source::Lane))
    }

    /// A driver compiles the others, and no profile has a cost for them.
    fn cost_class(&self) -> Option<CostClass> {
        match self {
            GroupOp::Reduce(_, GroupReduce::Clustered(_)) => Some(CostClass::Clustered),
            GroupOp::Reduce(_, GroupReduce::Inclusive | GroupReduce::Exclusive) => Some(CostClass::Scan),
            _ => None,
        }
    }
}
