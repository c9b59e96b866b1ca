//! AMD's moves between vector lanes and scalar registers, and its masks of lanes: every GCN, CDNA and RDNA has them.
//!
//! Sources: V_READLANE_B32, V_READFIRSTLANE_B32, V_WRITELANE_B32, V_MBCNT_LO_U32_B32, V_MBCNT_HI_U32_B32, V_CMP, S_WQM,
//! S_BCNT1, S_FF1 and S_FLBIT of the GCN 3 and RDNA 3 ISA guides. A scalar result is the same in all lanes, active or
//! not.

use super::{CostClass, Index, Instruction, LaneMap, Move, Source};
use crate::lane::value::Lanes;
use crate::profile::{Feature, FeatureSet};
use serde::Deserialize;

/// One instruction; operands in brackets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum ScalarOp {
    /// `[value, lane]`: one lane's value, active or not, as a scalar. The lane is a constant or a scalar; only its low
    /// bits count.
    ReadLane,
    /// `[value]`: the value of the lowest active lane, of lane 0 if none is active, as a scalar.
    ReadFirstLane,
    /// `[scalar, old, lane]`: the scalar in one lane, active or not; the old value in the others. Before RDNA 1 either
    /// the lane is a constant or in M0, or both operands are the same register.
    WriteLane,
    /// `[mask, count]`: the count, plus the number of set bits for lanes 0 to 31 below this lane. Index.
    CountBelowLow,
    /// `[mask, count]`: the same for lanes 32 to 63; both together count all lanes below.
    CountBelowHigh,
    /// `[predicate]`: the active lanes with a true predicate (V_CMP): a ballot.
    Ballot,
    /// `[predicate]`: the active lanes with a false predicate (V_CMP of the opposite, or S_ANDN2 of EXEC): a ballot.
    BallotFalse,
    /// `[]`: the active lanes (EXEC): a ballot.
    Active,
    /// `[mask]`: true if this lane is in a mask that is uniform. Bool; no instruction, because bools are masks.
    OwnBit,
    /// `[mask]`: each quad with a set bit becomes four set bits (S_WQM): a ballot.
    WholeQuads,
    /// `[mask]`: the number of lanes in a mask that is the same in all lanes (S_BCNT1): index.
    CountLanes,
    /// `[mask]`: the lowest lane of such a mask, which must not be empty (S_FF1): index.
    LowestLane,
    /// `[mask]`: the number of lanes above the highest one of such a mask, which must not be empty (S_FLBIT): index.
    LanesAbove,
}

impl ScalarOp {
    /// Returns true if the result is the same in all lanes of the wave, active or not.
    pub const fn is_scalar(self) -> bool {
        use ScalarOp as S;
        matches!(self, S::ReadLane | S::ReadFirstLane | S::Ballot | S::BallotFalse | S::Active | S::WholeQuads)
            || matches!(self, S::CountLanes | S::LowestLane | S::LanesAbove)
    }

    /// The number that an operation reads from a mask in a wave of this size; `None` if it is undefined.
    pub fn read_of_mask(self) -> Option<fn(u128, u32) -> Option<u32>> {
        match self {
            ScalarOp::CountLanes => Some(|mask, _| Some(mask.count_ones())),
            ScalarOp::LowestLane => Some(|mask, _| (mask != 0).then(|| mask.trailing_zeros())),
            ScalarOp::LanesAbove => Some(|mask, size| (mask != 0).then(|| mask.leading_zeros() + size - u128::BITS)),
            _ => None,
        }
    }

    /// The lanes below lane `i` that an operation counts; `None` if it counts nothing.
    pub fn counted(self, i: u32) -> Option<u128> {
        let below = (1 << i) - 1;
        match self {
            ScalarOp::CountBelowLow => Some(below & 0xffff_ffff),
            ScalarOp::CountBelowHigh => Some(below & 0xffff_ffff_0000_0000),
            _ => None,
        }
    }
}

/// The mask extended to all lanes of each quad that has a lane in it.
pub fn whole_quads(mask: u128) -> u128 {
    const FIRST_OF_QUADS: u128 = u128::MAX / 15;
    let any = (mask | mask >> 1 | mask >> 2 | mask >> 3) & FIRST_OF_QUADS;
    any * 15
}

impl Instruction for ScalarOp {
    fn needs(&self) -> FeatureSet {
        FeatureSet::default().with(Feature::AmdWave)
    }

    fn fits(&self, size: u32, _: FeatureSet) -> bool {
        !matches!(self, ScalarOp::CountBelowHigh) || size > 32
    }

    fn index_operands(&self) -> usize {
        usize::from(matches!(self, ScalarOp::ReadLane | ScalarOp::WriteLane))
    }

    fn index_is_uniform(&self) -> bool {
        true
    }

    fn value_is_uniform(&self) -> bool {
        matches!(self, ScalarOp::WriteLane | ScalarOp::CountLanes | ScalarOp::LowestLane | ScalarOp::LanesAbove)
    }

    fn source(&self, i: u32, index: &[Index], lanes: Lanes) -> Option<Source> {
        match (self, index) {
            (ScalarOp::ReadLane, [lane]) => Some(Source::Lane(lane.at(i) & (lanes.size - 1))),
            (ScalarOp::ReadFirstLane, []) => Some(Source::Lane(lanes.iter().next().unwrap_or(0))),
            (ScalarOp::WriteLane, [lane]) if lane.at(i) & (lanes.size - 1) == i => Some(Source::Own),
            (ScalarOp::WriteLane, [_]) => Some(Source::Old),
            _ => None,
        }
    }

    fn cost_class(&self) -> Option<CostClass> {
        Some(match self {
            ScalarOp::ReadLane | ScalarOp::ReadFirstLane => CostClass::AmdReadLane,
            ScalarOp::WriteLane => CostClass::AmdWriteLane,
            ScalarOp::CountBelowLow | ScalarOp::CountBelowHigh => CostClass::AmdCountBelow,
            // A bool is already a mask; S_AND limits it to the active lanes.
            ScalarOp::Ballot | ScalarOp::BallotFalse | ScalarOp::WholeQuads => CostClass::AmdMask,
            ScalarOp::CountLanes | ScalarOp::LowestLane | ScalarOp::LanesAbove => CostClass::AmdMask,
            ScalarOp::Active | ScalarOp::OwnBit => return None,
        })
    }
}

/// One lane's value in all lanes.
pub fn solve_read(map: &LaneMap, features: FeatureSet) -> Option<Move> {
    let (_, lane) = map.moved()?;
    map.first_that_fits([Move::with_constant(ScalarOp::ReadLane, lane)], features)
}
