//! NVIDIA's cross-lane instructions, over warps of 32 lanes.
//!
//! Shuffles follow PTX's `shfl.sync` (PTX ISA 9.0, section 9.7.9.6), like the SHF instructions of
//! NV_shader_thread_shuffle. If the text of that extension says "lower than" or "greater than", it includes the bound.
//! Votes come from NV_gpu_program5, ballots and quad swizzles from NV_shader_thread_group, and the remaining
//! instructions exist only in PTX.

use super::{Arg, CostClass, Index, Instruction, LaneMap, Move, Source};
use crate::lane::op::{QuadMove, ReduceOp, ShuffleMode, VoteOp, WARP};
use crate::lane::value::Lanes;
use crate::profile::{Feature, FeatureSet};
use serde::Deserialize;

/// One instruction; operands in brackets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum NvOp {
    /// `[value, index, mask]`: SHFUP, SHFDOWN, SHFIDX, SHFXOR. The mask has the clamp in bits 0 to 4 and the segment
    /// mask in bits 8 to 12 and may differ from lane to lane ([`shuffle_mask`] creates one). Out of range: the lane's
    /// own value. Inactive source lane: undefined.
    Shuffle(ShuffleMode),
    /// `[index, mask]`: the predicate result of the same instruction: true if the source is in range. Bool.
    ShuffleValid(ShuffleMode),
    /// `[value]`: QSWZ0 to QSWZ3, QSWZX, QSWZY: 32-bit floats, in fragment programs. They add an operand, so a
    /// subnormal may become zero and the bits of a NaN may change. If a lane of the quad is inactive, all four lanes
    /// get 0. [`QuadMove::Diagonal`] does not exist.
    QuadSwizzle(QuadMove),
    /// `[predicate]`: TGALL, TGANY, TGEQ over the active lanes. TGEQ only tests whether values are zero, so it takes
    /// bools here.
    Vote(VoteOp),
    /// `[predicate]`: TGBALLOT: a ballot.
    Ballot,
    /// `[value]`: the reduction over the active lanes, in all of them (`redux.sync`): integers of at most 32 bits; no
    /// product.
    Reduce(ReduceOp),
    /// `[value]`: the active lanes that pass the same bits, as a ballot (`match.any.sync`).
    Match,
    /// `[value]`: true if all active lanes have the same bits (`match.all.sync`). Bool.
    MatchAll,
    /// `[]`: waits for the active lanes (`bar.warp.sync`). No result.
    Sync,
}

/// The mask operand for segments of `width` lanes, a power of two up to 32.
pub const fn shuffle_mask(mode: ShuffleMode, width: u32) -> u32 {
    let clamp = if matches!(mode, ShuffleMode::Up) { 0 } else { 31 };
    ((WARP - width) & 31) << 8 | clamp
}

/// The source lane of a shuffle, and whether it is in range. Only the low five bits of `index` count.
pub fn shuffle_target(mode: ShuffleMode, i: u32, index: u32, mask: u32) -> (u32, bool) {
    let (index, segment, clamp) = (index & 31, mask >> 8 & 31, mask & 31);
    let least = i & segment;
    let bound = least | (clamp & !segment);
    match mode {
        ShuffleMode::Up => (i.wrapping_sub(index) & 31, i >= index && i - index >= bound),
        ShuffleMode::Down => (i + index, i + index <= bound),
        ShuffleMode::Xor => (i ^ index, i ^ index <= bound),
        ShuffleMode::Index => {
            let lane = least | (index & !segment);
            (lane, lane <= bound)
        }
    }
}

/// The lane of the lane's quad that a move reads.
fn quad_lane(mv: QuadMove, i: u32) -> u32 {
    match mv {
        QuadMove::Lane(lane) => (i & !3) | u32::from(lane),
        QuadMove::X => i ^ 1,
        QuadMove::Y => i ^ 2,
        QuadMove::Diagonal => i ^ 3,
    }
}

impl NvOp {
    fn feature(self) -> Feature {
        match self {
            NvOp::Shuffle(_) | NvOp::ShuffleValid(_) => Feature::NvShuffle,
            NvOp::QuadSwizzle(_) => Feature::NvQuadSwizzle,
            NvOp::Vote(_) => Feature::NvVote,
            NvOp::Ballot => Feature::NvBallot,
            NvOp::Reduce(_) => Feature::PtxReduce,
            NvOp::Match | NvOp::MatchAll => Feature::PtxMatch,
            NvOp::Sync => Feature::PtxSync,
        }
    }
}

impl Instruction for NvOp {
    fn needs(&self) -> FeatureSet {
        FeatureSet::default().with(self.feature())
    }

    fn fits(&self, size: u32, _: FeatureSet) -> bool {
        let exists = match self {
            NvOp::QuadSwizzle(QuadMove::Lane(lane)) => *lane < 4,
            NvOp::QuadSwizzle(QuadMove::Diagonal) | NvOp::Reduce(ReduceOp::Mul) => false,
            _ => true,
        };
        exists && size == WARP
    }

    fn index_operands(&self) -> usize {
        if matches!(self, NvOp::Shuffle(_)) { 2 } else { 0 }
    }

    fn source(&self, i: u32, index: &[Index], lanes: Lanes) -> Option<Source> {
        match (*self, index) {
            _ if !lanes.is_active(i) => Some(Source::Old),
            (NvOp::Shuffle(mode), [index, mask]) => Some(match shuffle_target(mode, i, index.at(i), mask.at(i)) {
                (_, false) => Source::Own,
                (lane, true) if lanes.is_active(lane) => Source::Lane(lane),
                (_, true) => Source::Undefined,
            }),
            (NvOp::QuadSwizzle(mv), []) => match lanes.segment(i, 4).count() {
                4 => Some(Source::Lane(quad_lane(mv, i))),
                _ => Some(Source::Zero),
            },
            _ => None,
        }
    }

    fn cost_class(&self) -> Option<CostClass> {
        Some(match self {
            NvOp::Shuffle(_) | NvOp::ShuffleValid(_) => CostClass::NvShuffle,
            NvOp::QuadSwizzle(_) => CostClass::NvQuadSwizzle,
            NvOp::Vote(_) | NvOp::Ballot => CostClass::NvVote,
            NvOp::Reduce(_) => CostClass::PtxReduce,
            NvOp::Match | NvOp::MatchAll => CostClass::PtxMatch,
            NvOp::Sync => CostClass::PtxSync,
        })
    }
}

/// A shuffle with constant index and mask.
pub fn shuffle(mode: ShuffleMode, index: u32, mask: u32) -> Move {
    Move { primitive: NvOp::Shuffle(mode).into(), args: [Arg::Const(index), Arg::Const(mask)] }
}

/// A shuffle with constant operands: any width and mode, and any choice of index bits for the indexed mode.
pub fn solve_shuffle(map: &LaneMap, features: FeatureSet) -> Option<Move> {
    let (i, lane) = map.moved()?;
    let distances = [
        (ShuffleMode::Xor, i ^ lane),
        (ShuffleMode::Up, i.wrapping_sub(lane) & 31),
        (ShuffleMode::Down, lane.wrapping_sub(i) & 31),
    ];
    let with_width = |width| distances.map(|(mode, index)| shuffle(mode, index, shuffle_mask(mode, width)));
    let by_distance = [32, 16, 8, 4, 2].into_iter().flat_map(with_width);
    map.first_that_fits(by_distance.chain(chosen_bits(map)), features)
}

/// The indexed shuffle that keeps the bits of `i` that no lane's source changes, and takes the others from the index.
fn chosen_bits(map: &LaneMap) -> Option<Move> {
    let (_, first) = map.moved()?;
    let segment = map.lanes().fold(31, |kept, (i, lane)| kept & !(i ^ lane));
    Some(shuffle(ShuffleMode::Index, first & !segment & 31, segment << 8 | 31))
}
