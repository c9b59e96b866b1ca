//! AMD's moves inside and between rows of 16 lanes by the vector unit, and the shared vector registers.
//!
//! Sources: RDNA 1 to RDNA 4 ISA guides (V_PERMLANE16_B32, V_PERMLANEX16_B32, their VAR forms, V_PERMLANE64_B32); LLVM
//! for V_PERMLANE16_SWAP_B32 and V_PERMLANE32_SWAP_B32; Mesa's ACO for shared registers. None of these can be part of
//! an arithmetic instruction.

use super::{CostClass, Index, Instruction, LaneMap, Move, Source};
use crate::lane::value::Lanes;
use crate::profile::{Feature, FeatureSet};
use serde::Deserialize;

/// The result if the source lane is inactive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Deserialize)]
pub struct Fetch {
    /// Read it all the same (`fi`).
    pub inactive: bool,
    /// Give zero; otherwise the lane keeps its old value.
    pub bound_ctrl: bool,
}

/// One instruction; operands in brackets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum PermlaneOp {
    /// `[value, old]`: lane `k` of each row reads the lane that bits `4k` to `4k + 3` name, of its own row or, `across`,
    /// of the other row of its 32 lanes. The selectors are two scalar operands.
    Row { across: bool, selectors: u64, fetch: Fetch },
    /// `[value, old, selector]`: the same with the low four bits of a selector that each lane has.
    RowVar { across: bool, fetch: Fetch },
    /// `[value, old]`: lane `i` reads `i ^ 32`, active or not; waves of 32 lanes keep the old value.
    Half,
    /// `[second, first]`: the *first* register of a swap afterwards: its odd blocks of `block` lanes (16 or 32) are the
    /// even blocks of the second.
    SwapFirst { block: u8, fetch: Fetch },
    /// `[first, second]`: the *second* register of the same swap: its even blocks are the odd blocks of the first.
    SwapSecond { block: u8, fetch: Fetch },
    /// `[value]`: writes a shared register under the mask of one half and reads it in both: lanes `n` and `n + 32`
    /// share their storage. The words of inactive lanes are undefined.
    Shared { high: bool },
}

impl Fetch {
    /// The lane's value, or its substitute.
    fn read(self, lane: u32, lanes: Lanes) -> Source {
        match self {
            _ if lanes.is_active(lane) => Source::Lane(lane),
            Fetch { inactive: true, .. } => Source::Lane(lane),
            Fetch { bound_ctrl: true, .. } => Source::Zero,
            _ => Source::Old,
        }
    }
}

/// The first lane of the row that lane `i` reads.
fn row(i: u32, across: bool) -> u32 {
    (i & !15) ^ (u32::from(across) << 4)
}

/// Returns true if lane `i` is in an odd block.
fn is_odd(i: u32, block: u8) -> bool {
    i & u32::from(block) != 0
}

impl PermlaneOp {
    const fn feature(self) -> Feature {
        match self {
            PermlaneOp::Row { .. } => Feature::AmdPermlane16,
            PermlaneOp::RowVar { .. } => Feature::AmdPermlaneVar,
            PermlaneOp::Half => Feature::AmdPermlane64,
            PermlaneOp::SwapFirst { .. } | PermlaneOp::SwapSecond { .. } => Feature::AmdPermlaneSwap,
            PermlaneOp::Shared { .. } => Feature::AmdSharedVgpr,
        }
    }
}

impl Instruction for PermlaneOp {
    fn needs(&self) -> FeatureSet {
        FeatureSet::default().with(self.feature())
    }

    fn fits(&self, size: u32, _: FeatureSet) -> bool {
        match *self {
            PermlaneOp::SwapFirst { block, .. } | PermlaneOp::SwapSecond { block, .. } => {
                matches!(block, 16 | 32) && u32::from(block) < size
            }
            PermlaneOp::Shared { .. } => size == 64,
            PermlaneOp::Row { .. } | PermlaneOp::RowVar { .. } | PermlaneOp::Half => true,
        }
    }

    fn index_operands(&self) -> usize {
        usize::from(matches!(self, PermlaneOp::RowVar { .. }))
    }

    fn source(&self, i: u32, index: &[Index], lanes: Lanes) -> Option<Source> {
        use PermlaneOp as P;
        Some(match (*self, index) {
            _ if !lanes.is_active(i) => Source::Old,
            (P::Row { across, selectors, fetch }, []) => {
                let selector = (selectors >> (4 * (i & 15)) & 15) as u32;
                fetch.read(row(i, across) | selector, lanes)
            }
            (P::RowVar { across, fetch }, [selector]) => fetch.read(row(i, across) | (selector.at(i) & 15), lanes),
            (P::Half, []) if lanes.size > 32 => Source::Lane(i ^ 32),
            (P::Half, []) => Source::Old,
            (P::SwapFirst { block, fetch }, []) if is_odd(i, block) => fetch.read(i ^ u32::from(block), lanes),
            (P::SwapSecond { block, fetch }, []) if !is_odd(i, block) => fetch.read(i ^ u32::from(block), lanes),
            (P::SwapFirst { .. } | P::SwapSecond { .. }, []) => Source::Old,
            (P::Shared { high }, []) => match (i & 31) | (u32::from(high) << 5) {
                lane if lanes.is_active(lane) => Source::Lane(lane),
                _ => Source::Undefined,
            },
            _ => return None,
        })
    }

    fn cost_class(&self) -> Option<CostClass> {
        Some(match self {
            PermlaneOp::Row { .. } => CostClass::AmdPermlane,
            PermlaneOp::RowVar { .. } => CostClass::AmdPermlaneVar,
            PermlaneOp::Half => CostClass::AmdPermlaneHalf,
            PermlaneOp::SwapFirst { .. } | PermlaneOp::SwapSecond { .. } => CostClass::AmdPermlaneSwap,
            PermlaneOp::Shared { .. } => CostClass::AmdSharedVgpr,
        })
    }
}

/// The same map in every row, from its own row or the other one of the pair.
pub fn solve_row(map: &LaneMap, features: FeatureSet) -> Option<Move> {
    let with = |across: bool| {
        let selectors = map.selectors(16, u32::from(across) << 4)?;
        Some(Move::plain(PermlaneOp::Row { across, selectors, fetch: Fetch::default() }))
    };
    map.first_that_fits([with(false), with(true)].into_iter().flatten(), features)
}

/// Exchanges the halves of a wave of 64 lanes.
pub fn solve_half(map: &LaneMap, features: FeatureSet) -> Option<Move> {
    map.first_that_fits([Move::plain(PermlaneOp::Half)], features)
}

/// One register of a swap.
pub fn solve_swap(map: &LaneMap, features: FeatureSet) -> Option<Move> {
    let fetch = Fetch::default();
    let of = |block| [PermlaneOp::SwapFirst { block, fetch }, PermlaneOp::SwapSecond { block, fetch }];
    map.first_that_fits([16, 32].into_iter().flat_map(of).map(Move::plain), features)
}
