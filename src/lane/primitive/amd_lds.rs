//! AMD's moves through the local data share: its crossbar (DS_SWIZZLE, DS_PERMUTE, DS_BPERMUTE), which touches no
//! memory, and moves through memory.
//!
//! Sources: the DS instructions of the GCN 3, Vega and RDNA 3 ISA guides (DS_SWIZZLE_B32, DS_PERMUTE_B32,
//! DS_BPERMUTE_B32); for the reach of permutations, LLVM's `supportsWaveWideBPermute`. The results arrive
//! asynchronously, and the emitter inserts the waits.

use super::{CostClass, Index, Instruction, LaneMap, Move, Source};
use crate::lane::value::Lanes;
use crate::profile::{Feature, FeatureSet};
use serde::Deserialize;

/// One instruction; operands in brackets. An active lane whose source is inactive gets zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum LdsOp {
    /// `[value]`: a fixed map inside 32 lanes.
    Swizzle(Swizzle),
    /// `[value, address]`: reads lane `(address + offset) / 4` modulo the reach; any lane may read any lane.
    Bpermute {
        reach: Reach,
        /// Bytes, added to the address.
        offset: u16,
        /// Read inactive lanes too (DS_BPERMUTE_FI).
        fetch_inactive: bool,
    },
    /// `[value, address]`: the lane's own value goes to lane `(address + offset) / 4` modulo the reach. If several go
    /// to one lane, the highest lane's value stays; a lane that gets none reads zero.
    Permute {
        reach: Reach,
        /// Bytes, added to the address.
        offset: u16,
    },
    /// `[value, address]`: writes the value to the lane's own word of memory (at four times its index) and reads the
    /// word at `address`; both addresses are in bytes from the start of the wave's part of memory. The words of
    /// inactive lanes and words outside the part are undefined.
    Bounce,
}

/// The reach of a permutation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum Reach {
    /// The whole wave.
    Wave,
    /// The lane's own 32 lanes.
    Half,
}

/// The lane map of DS_SWIZZLE, within each 32 lanes regardless of the wave size; `i` here is the index within them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum Swizzle {
    /// `((i & and) | or) ^ xor`, five bits each.
    Mask { and: u8, or: u8, xor: u8 },
    /// Any map of quads: bits `2k` and `2k + 1` name the lane that lane `k` of each quad reads.
    Quad(u8),
    /// `i + count`, or `i - count`, in the bits outside `keep`; bits in `keep` are the lane's own.
    Rotate { down: bool, count: u8, keep: u8 },
    /// The five bits of `i` reversed, shifted right by the number of bits of `keep`, combined with the bits of `i` in
    /// `keep`.
    Fft { keep: u8 },
}

impl Swizzle {
    /// The lane that lane `i` of the wave reads.
    pub fn lane(self, i: u32) -> u32 {
        let local = i & 31;
        let read = match self {
            Swizzle::Mask { and, or, xor } => ((local & u32::from(and)) | u32::from(or)) ^ u32::from(xor),
            Swizzle::Quad(selectors) => (local & !3) | (u32::from(selectors) >> (2 * (local & 3)) & 3),
            Swizzle::Rotate { down, count, keep } => {
                let (count, keep) = (u32::from(count), u32::from(keep));
                let turned = if down { local.wrapping_sub(count) } else { local + count };
                (local & keep) | (turned & !keep)
            }
            Swizzle::Fft { keep } => {
                let keep = u32::from(keep);
                ((local.reverse_bits() >> 27) >> keep.count_ones()) | (local & keep)
            }
        };
        (i & !31) | (read & 31)
    }

    /// The instruction's 16-bit offset field.
    pub const fn offset(self) -> u16 {
        match self {
            Swizzle::Mask { and, or, xor } => and as u16 | (or as u16) << 5 | (xor as u16) << 10,
            Swizzle::Quad(selectors) => 0x8000 | selectors as u16,
            Swizzle::Rotate { down, count, keep } => 0xc000 | (down as u16) << 10 | (count as u16) << 5 | keep as u16,
            Swizzle::Fft { keep } => 0xe000 | keep as u16,
        }
    }

    const fn feature(self) -> Feature {
        match self {
            Swizzle::Mask { .. } | Swizzle::Quad(_) => Feature::AmdSwizzle,
            Swizzle::Rotate { .. } | Swizzle::Fft { .. } => Feature::AmdSwizzleRotate,
        }
    }

    const fn in_range(self) -> bool {
        match self {
            Swizzle::Mask { and, or, xor } => (and | or | xor) < 32,
            Swizzle::Quad(_) => true,
            Swizzle::Rotate { count, keep, .. } => (count | keep) < 32,
            Swizzle::Fft { keep } => keep < 32,
        }
    }
}

impl Reach {
    /// The reach on hardware with these features: not every architecture can permute a whole wave of 64 lanes (RDNA 1
    /// to 3.5 cannot).
    pub fn of(size: u32, features: FeatureSet) -> Reach {
        if size <= 32 || features.has(Feature::AmdWidePermute) { Reach::Wave } else { Reach::Half }
    }

    /// The lane within the reach of lane `i` that an address names.
    fn lane(self, i: u32, address: u32, size: u32) -> u32 {
        let lanes = if self == Reach::Wave { size } else { size.min(32) };
        (i & !(lanes - 1)) | ((address / 4) & (lanes - 1))
    }
}

impl LdsOp {
    /// The lane that pushes its value to lane `i`: the highest of several.
    fn pusher(i: u32, address: Index, offset: u16, reach: Reach, lanes: Lanes) -> Option<u32> {
        let target = |j: u32| reach.lane(j, address.at(j).wrapping_add(offset.into()), lanes.size);
        lanes.iter().rev().find(|j| target(*j) == i)
    }
}

impl Instruction for LdsOp {
    fn needs(&self) -> FeatureSet {
        let needs = FeatureSet::default();
        match self {
            LdsOp::Swizzle(swizzle) => needs.with(swizzle.feature()),
            LdsOp::Bpermute { fetch_inactive: true, .. } => {
                needs.with(Feature::AmdPermute).with(Feature::AmdPermuteFetchInactive)
            }
            LdsOp::Bpermute { .. } | LdsOp::Permute { .. } => needs.with(Feature::AmdPermute),
            LdsOp::Bounce => needs.with(Feature::AmdWave),
        }
    }

    fn fits(&self, size: u32, features: FeatureSet) -> bool {
        match self {
            LdsOp::Swizzle(swizzle) => swizzle.in_range(),
            LdsOp::Bpermute { reach, .. } | LdsOp::Permute { reach, .. } => *reach == Reach::of(size, features),
            LdsOp::Bounce => true,
        }
    }

    fn index_operands(&self) -> usize {
        usize::from(!matches!(self, LdsOp::Swizzle(_)))
    }

    fn source(&self, i: u32, index: &[Index], lanes: Lanes) -> Option<Source> {
        let read = |lane: u32, otherwise| if lanes.is_active(lane) { Source::Lane(lane) } else { otherwise };
        Some(match (*self, index) {
            _ if !lanes.is_active(i) => Source::Old,
            (LdsOp::Swizzle(swizzle), []) => read(swizzle.lane(i), Source::Zero),
            (LdsOp::Bpermute { reach, offset, fetch_inactive }, [address]) => {
                let lane = reach.lane(i, address.at(i).wrapping_add(offset.into()), lanes.size);
                if fetch_inactive { Source::Lane(lane) } else { read(lane, Source::Zero) }
            }
            (LdsOp::Permute { reach, offset }, [address]) => {
                LdsOp::pusher(i, *address, offset, reach, lanes).map_or(Source::Zero, Source::Lane)
            }
            (LdsOp::Bounce, [address]) if address.at(i) % 4 == 0 => read(address.at(i) / 4, Source::Undefined),
            (LdsOp::Bounce, [_]) => Source::Undefined,
            _ => return None,
        })
    }

    fn cost_class(&self) -> Option<CostClass> {
        Some(match self {
            LdsOp::Swizzle(_) => CostClass::AmdSwizzle,
            LdsOp::Bpermute { .. } | LdsOp::Permute { .. } => CostClass::AmdPermute,
            LdsOp::Bounce => CostClass::AmdBounce,
        })
    }
}

/// A swizzle: masks, quads, rotations, then the FFT map.
pub fn solve_swizzle(map: &LaneMap, features: FeatureSet) -> Option<Move> {
    let quad = map.selectors(4, 0).map(|selectors| Swizzle::Quad(selectors as u8));
    let first = map.moved();
    let ffts = (0..32).map(|keep| Swizzle::Fft { keep });
    let ffts = ffts.filter(move |swizzle| first.is_some_and(|(i, lane)| swizzle.lane(i) == lane));
    // These two need a search, so it runs only if the modes exist.
    let rotates = features.has(Feature::AmdSwizzleRotate);
    let turned = rotates.then(|| rotations(map).chain(ffts));
    let swizzles = masks(map).into_iter().chain(quad).chain(turned.into_iter().flatten());
    map.first_that_fits(swizzles.map(|swizzle| Move::plain(LdsOp::Swizzle(swizzle))), features)
}

/// The masks that could do.
fn masks(map: &LaneMap) -> Option<Swizzle> {
    let (and, or, xor) = map.masks(5)?;
    Some(Swizzle::Mask { and: and as u8, or: or as u8, xor: xor as u8 })
}

/// The rotations that satisfy the first moved lane and keep no bit that some lane needs changed. A rotation by `-count`
/// equals one by `32 - count`.
fn rotations(map: &LaneMap) -> impl Iterator<Item = Swizzle> {
    let first = map.moved();
    let changed = map.moves().fold(0, |bits, (i, lane)| bits | (i ^ lane));
    let keeps: Vec<u8> = (0..32).filter(|keep| u32::from(*keep) & changed == 0).collect();
    // Lanes outside the lane's 32 cannot be read.
    let counts = 0..if changed < 32 { 32 } else { 0 };
    let rotations = counts
        .flat_map(move |count| keeps.clone().into_iter().map(move |keep| Swizzle::Rotate { down: false, count, keep }));
    rotations.filter(move |swizzle| first.is_some_and(|(i, lane)| swizzle.lane(i) == lane))
}
