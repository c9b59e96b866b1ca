//! AMD's data-parallel primitives: lane maps on the first operand of a vector instruction.
//!
//! A *row* is 16 lanes, a *bank* 4 lanes of each row. DPP16 exists from GCN 3 on, DPP8 from RDNA 1 on (GCN 3, Vega,
//! CDNA 3 and RDNA 3 ISA guides, "Data Parallel Primitives": the DPP_CTRL table). A source is invalid if it is out of
//! range, or if its lane is inactive and the instruction does not fetch inactive lanes. [`super::fusion`] lists the
//! arithmetic instructions that support DPP.

use super::{CostClass, Index, Instruction, LaneMap, Move, Source};
use crate::lane::value::Lanes;
use crate::profile::{Feature, FeatureSet};
use serde::Deserialize;

/// The lane map of DPP16.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum DppControl {
    /// Any map of quads: lane `k` of each quad reads the lane of its quad that bits `2k` and `2k + 1` name.
    QuadPerm(u8),
    /// Lane `i` reads `i + k` of its row, `k` from 1 to 15; data moves to lower lanes. Out of range past the row.
    RowShl(u8),
    /// Lane `i` reads `i - k` of its row, `k` from 1 to 15. Out of range before the row.
    RowShr(u8),
    /// Lane `i` reads `i - k` around its row, `k` from 1 to 15.
    RowRor(u8),
    /// Lane `i` reads `i + 1`; the last lane is out of range.
    WaveShl,
    /// Lane `i` reads `i - 1`; lane 0 is out of range.
    WaveShr,
    /// Lane `i` reads `i + 1` around the wave.
    WaveRol,
    /// Lane `i` reads `i - 1` around the wave.
    WaveRor,
    /// Lane `i` reads `15 - i` of its row.
    RowMirror,
    /// Lane `i` reads `7 - i` of its 8 lanes.
    RowHalfMirror,
    /// Lanes of every row but the first read lane 15 of the row before; the first row is out of range.
    RowBcast15,
    /// Lanes of rows 2 and 3 read lane 31; rows 0 and 1 are out of range.
    RowBcast31,
    /// All lanes of a row read lane `k` of it (CDNA 2 and 3).
    RowNewBcast(u8),
    /// All lanes of a row read lane `k` of it (RDNA).
    RowShare(u8),
    /// Lane `i` reads `i ^ k` of its row.
    RowXmask(u8),
}

/// A vector instruction's first operand, or a move, with DPP16: `[value, old]`.
///
/// A lane that the masks exclude keeps its old value, but can still be a source. An invalid source gives zero with
/// `bound_ctrl`; otherwise the lane keeps its old value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub struct Dpp16 {
    pub control: DppControl,
    /// Bit `r` enables writes to row `r`.
    pub row_mask: u8,
    /// Bit `b` enables writes to bank `b` of each row.
    pub bank_mask: u8,
    pub bound_ctrl: bool,
    /// Read inactive lanes too (`fi`, RDNA). Sources out of range stay invalid.
    pub fetch_inactive: bool,
}

/// DPP with any map within groups of 8 lanes: `[value]`. There are no masks; an inactive source gives zero unless
/// inactive lanes are fetched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub struct Dpp8 {
    /// Lane `k` of each group reads the lane of its group that bits `3k` to `3k + 2` name.
    pub selectors: u32,
    pub fetch_inactive: bool,
}

impl DppControl {
    /// The lane that lane `i` reads in a wave of `size` lanes; `None` if it is out of range.
    pub fn lane(self, i: u32, size: u32) -> Option<u32> {
        use DppControl as C;
        let (row, in_row) = (i & !15, i & 15);
        match self {
            C::QuadPerm(selectors) => Some((i & !3) | (u32::from(selectors) >> (2 * (i & 3)) & 3)),
            C::RowShl(k) => Some(i + u32::from(k)).filter(|lane| lane & !15 == row),
            C::RowShr(k) => in_row.checked_sub(k.into()).map(|lane| row | lane),
            C::RowRor(k) => Some(row | (in_row.wrapping_sub(k.into()) & 15)),
            C::WaveShl => Some(i + 1).filter(|lane| *lane < size),
            C::WaveShr => i.checked_sub(1),
            C::WaveRol => Some((i + 1) % size),
            C::WaveRor => Some((i + size - 1) % size),
            C::RowMirror => Some(i ^ 15),
            C::RowHalfMirror => Some(i ^ 7),
            C::RowBcast15 => row.checked_sub(1),
            C::RowBcast31 => Some(31).filter(|_| i >= 32),
            C::RowNewBcast(k) | C::RowShare(k) => Some(row | u32::from(k)),
            C::RowXmask(k) => Some(i ^ u32::from(k)),
        }
    }

    /// The feature that the profile needs in addition to DPP16.
    pub const fn feature(self) -> Feature {
        use DppControl as C;
        match self {
            C::QuadPerm(_) | C::RowShl(_) | C::RowShr(_) | C::RowRor(_) | C::RowMirror | C::RowHalfMirror => {
                Feature::AmdDpp16
            }
            C::WaveShl | C::WaveShr | C::WaveRol | C::WaveRor => Feature::AmdDppWave,
            C::RowBcast15 | C::RowBcast31 => Feature::AmdDppRowBcast,
            C::RowNewBcast(_) => Feature::AmdDppNewBcast,
            C::RowShare(_) | C::RowXmask(_) => Feature::AmdDppRowShare,
        }
    }

    /// Every control except the quad permutations, oldest hardware first.
    pub fn all_but_quad() -> impl Iterator<Item = DppControl> {
        use DppControl as C;
        let shifts = (1..16).flat_map(|k| [C::RowShl(k), C::RowShr(k), C::RowRor(k)]);
        let fixed = [C::RowMirror, C::RowHalfMirror, C::WaveShl, C::WaveShr, C::WaveRol, C::WaveRor];
        let broadcasts = [C::RowBcast15, C::RowBcast31];
        let chosen = (0..16).flat_map(|k| [C::RowNewBcast(k), C::RowShare(k), C::RowXmask(k)]);
        fixed.into_iter().chain(shifts).chain(broadcasts).chain(chosen)
    }

    fn in_range(self) -> bool {
        use DppControl as C;
        match self {
            C::RowShl(k) | C::RowShr(k) | C::RowRor(k) => (1..16).contains(&k),
            C::RowNewBcast(k) | C::RowShare(k) | C::RowXmask(k) => k < 16,
            _ => true,
        }
    }
}

impl Dpp16 {
    /// The control on all lanes, with zero for invalid sources, so that no old value matters.
    pub const fn new(control: DppControl) -> Dpp16 {
        Dpp16 { control, row_mask: 15, bank_mask: 15, bound_ctrl: true, fetch_inactive: false }
    }

    /// Returns true if every lane is written when all are active, so that no old value matters.
    pub fn writes_all(&self) -> bool {
        let valid = |i| self.bound_ctrl || self.control.lane(i, 64).is_some();
        (0..64).all(|i| self.writes(i) && valid(i))
    }

    /// Returns true if the masks enable writes to lane `i`.
    fn writes(&self, i: u32) -> bool {
        self.row_mask >> (i / 16) & 1 != 0 && self.bank_mask >> (i / 4 % 4) & 1 != 0
    }
}

impl Instruction for Dpp16 {
    fn needs(&self) -> FeatureSet {
        let needs = FeatureSet::default().with(Feature::AmdDpp16).with(self.control.feature());
        if self.fetch_inactive { needs.with(Feature::AmdFetchInactive) } else { needs }
    }

    fn fits(&self, _: u32, _: FeatureSet) -> bool {
        self.control.in_range() && self.row_mask < 16 && self.bank_mask < 16
    }

    fn source(&self, i: u32, _: &[Index], lanes: Lanes) -> Option<Source> {
        if !lanes.is_active(i) || !self.writes(i) {
            return Some(Source::Old);
        }
        let valid = |lane: &u32| self.fetch_inactive || lanes.is_active(*lane);
        Some(match self.control.lane(i, lanes.size).filter(valid) {
            Some(lane) => Source::Lane(lane),
            None if self.bound_ctrl => Source::Zero,
            None => Source::Old,
        })
    }

    fn cost_class(&self) -> Option<CostClass> {
        Some(CostClass::AmdDpp)
    }
}

impl Instruction for Dpp8 {
    fn needs(&self) -> FeatureSet {
        let needs = FeatureSet::default().with(Feature::AmdDpp8);
        if self.fetch_inactive { needs.with(Feature::AmdFetchInactive) } else { needs }
    }

    fn fits(&self, _: u32, _: FeatureSet) -> bool {
        self.selectors < 1 << 24
    }

    fn source(&self, i: u32, _: &[Index], lanes: Lanes) -> Option<Source> {
        let lane = (i & !7) | (self.selectors >> (3 * (i & 7)) & 7);
        Some(match lanes.is_active(i) {
            false => Source::Old,
            true if self.fetch_inactive || lanes.is_active(lane) => Source::Lane(lane),
            true => Source::Zero,
        })
    }

    fn cost_class(&self) -> Option<CostClass> {
        Some(CostClass::AmdDpp)
    }
}

/// One of the DPP16 controls, with masks if lanes want their old value.
pub fn solve_dpp16(map: &LaneMap, features: FeatureSet) -> Option<Move> {
    let quad = map.selectors(4, 0).map(|selectors| DppControl::QuadPerm(selectors as u8));
    // The first and the last moved lane rule out nearly all controls.
    let mut moves = map.moves();
    let ends = [moves.next().or_else(|| map.moved()), moves.next_back()];
    let serves =
        |control: &DppControl| ends.iter().flatten().all(|(i, lane)| control.lane(*i, map.size()) == Some(*lane));
    let exists = |control: &DppControl| features.has(control.feature());
    let controls = quad.into_iter().chain(DppControl::all_but_quad()).filter(exists).filter(serves);
    let masks = narrowest_masks(map);
    map.first_that_fits(controls.flat_map(|control| with_masks(map, control, masks)), features)
}

/// A control with full masks, and with the narrowest: both write all lanes that want a lane or zero, and the narrowest
/// keep the old value in as many other lanes as possible.
fn with_masks(map: &LaneMap, control: DppControl, (row_mask, bank_mask): (u8, u8)) -> [Move; 2] {
    let bound_ctrl = map.has(Source::Zero) || !map.has(Source::Old);
    let full = Dpp16 { bound_ctrl, ..Dpp16::new(control) };
    [full, Dpp16 { row_mask, bank_mask, ..full }].map(Move::plain)
}

/// The narrowest row and bank masks that enable all lanes that want a new value.
fn narrowest_masks(map: &LaneMap) -> (u8, u8) {
    let written = |i: &u32| !matches!(map.want(*i), None | Some(Source::Old | Source::Undefined));
    let with = |(rows, banks): (u8, u8), i: u32| (rows | 1 << (i / 16), banks | 1 << (i / 4 % 4));
    (0..map.size()).filter(written).fold((0, 0), with)
}

/// Any map inside groups of 8 lanes.
pub fn solve_dpp8(map: &LaneMap, features: FeatureSet) -> Option<Move> {
    let selectors = map.selectors(8, 0)? as u32;
    map.first_that_fits([Move::plain(Dpp8 { selectors, fetch_inactive: false })], features)
}
