//! The arguments of calls, and their values: the same on every machine.

use super::formula::Value;
use super::kind::{Kind, Type};
use support::fixture::Language;
use support::scalar::{Half, Op};

/// The domain of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// Moved: any bits except NaNs and subnormals.
    Data,
    /// Moved, the same in all lanes.
    UniformData,
    /// Reduced: sums and products are exact in every order if the profile does not guarantee one.
    Summand,
    /// Reduced, and always exact.
    Exact,
    /// Sorted: few different values.
    Key,
    /// Compared: one, two or a few different values.
    Class,
    Predicate,
    /// A lane of the subgroup, different in each lane or the same in all.
    AnyLane,
    UniformLane,
    /// A lane from 0 to 31.
    WarpLane,
    /// Any number, different in each lane.
    AnyIndex,
    /// A number below twice the subgroup size, the same in all lanes.
    UniformIndex,
    /// An index of NVIDIA's shuffles: 0 to 39.
    NvIndex,
    /// A ballot with some bit of the subgroup's lanes, the same in all.
    Ballot,
    /// The ballots of the lanes' partitions.
    Partition,
    /// A 64-bit mask.
    Mask,
    /// Constants: a width as a number or logarithm, a lane of the quad, the mode of a quad permutation, its four lanes,
    /// the three masks of a swizzle, a number of lanes.
    Width,
    Log2,
    QuadLane,
    QuadMode,
    QuadLanes,
    SwizzleMasks,
    FirstLanes,
    /// Written, not read.
    Out,
}

/// The patterns of inputs.
pub const PATTERNS: usize = 3;

/// The place and purpose of a value.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub pattern: usize,
    /// Distinguishes arguments.
    pub salt: u64,
    /// The invocation, counted over all subgroups.
    pub slot: usize,
    /// Lanes of the subgroup.
    pub lanes: usize,
    /// The operator of a reduction.
    pub op: Option<Op>,
    /// True if the order of float reductions is fixed, so that inexact ones can be compared.
    pub ordered: bool,
    pub language: Language,
}

/// The quad permutations, their lanes, the masks of swizzles, and the numbers of lanes that calls use.
const MODES: [u64; 4] = [0x1B, 0x39, 0xB1, 0x00];
const LANES: [Value; 4] = [[1, 1, 3, 0], [3, 2, 1, 0], [0, 0, 3, 3], [2, 0, 2, 1]];
const MASKS: [Value; 4] = [[31, 0, 16, 0], [28, 1, 2, 0], [15, 16, 7, 0], [24, 3, 0, 0]];
const FIRST: [u64; 4] = [1, 7, 31, 32];

impl Domain {
    /// The value of a constant argument; `None` for others.
    pub fn constant(self, width: usize, salt: u64) -> Option<Value> {
        let pick = (salt % 4) as usize;
        Some(match self {
            Self::Width => [width as u64, 0, 0, 0],
            Self::Log2 => [width.ilog2().into(), 0, 0, 0],
            Self::QuadLane => [pick as u64, 0, 0, 0],
            Self::QuadMode => [MODES[pick], 0, 0, 0],
            Self::QuadLanes => LANES[pick],
            Self::SwizzleMasks => MASKS[pick],
            Self::FirstLanes => [FIRST[pick], 0, 0, 0],
            _ => return None,
        })
    }

    /// The value of an argument that is read from a buffer.
    pub fn value(self, ty: Type, place: Place) -> Value {
        let mut value = [0; 4];
        for (n, part) in value.iter_mut().enumerate().take(ty.size.into()) {
            *part = ty.kind.through(place.language, self.part(ty.kind, n, place));
        }
        match self {
            Self::Ballot => with_lane(value, place.uniform() as usize % place.lanes),
            Self::Partition => own_set(place),
            _ => value,
        }
    }

    fn part(self, kind: Kind, n: usize, place: Place) -> u64 {
        let (own, uniform, lanes) = (place.random(n), place.uniform(), place.lanes as u64);
        match self {
            Self::Data => data(kind, n, place),
            Self::UniformData => data(kind, n, Place { slot: place.wave(), ..place }),
            Self::Summand => summand(kind, n, place),
            Self::Exact => summand(kind, n, Place { ordered: false, ..place }),
            Self::Key => small(kind, own % 5, true),
            Self::Class => small(kind, [1, own % 2, place.slot as u64 / 16 % 2][place.pattern], false),
            Self::Predicate => truth(kind, [place.slot & 16 != 0, own & 1 != 0, true][place.pattern]),
            Self::AnyLane => own % lanes,
            Self::UniformLane => uniform % lanes,
            Self::WarpLane => own % 32,
            Self::AnyIndex => own & 0xffff_ffff,
            Self::UniformIndex => uniform % (2 * lanes),
            Self::NvIndex => own % 40,
            Self::Ballot => mix(uniform.wrapping_add(n as u64)) & 0xffff_ffff,
            Self::Mask => own,
            _ => 0,
        }
    }
}

impl Place {
    fn wave(self) -> usize {
        self.slot / self.lanes * self.lanes
    }

    fn random(self, n: usize) -> u64 {
        mix(mix(self.salt.wrapping_mul(8).wrapping_add(n as u64)) ^ mix((self.pattern * 1024 + self.slot) as u64))
    }

    /// The same in all lanes of the subgroup.
    fn uniform(self) -> u64 {
        Self { slot: self.wave(), ..self }.random(7)
    }
}

/// SplitMix64's finisher.
pub fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn low(kind: Kind, bits: u64) -> u64 {
    bits & (u64::MAX >> (64 - kind.bits()))
}

fn float(kind: Kind, value: f64) -> u64 {
    match kind {
        Kind::F16 => Half::nearest(value as f32).0.into(),
        Kind::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// Ascending numbers, which identify a wrong lane; random numbers; the extremes of the type.
fn data(kind: Kind, n: usize, place: Place) -> u64 {
    let number = 4 * place.slot as u64 + n as u64;
    match (place.pattern, kind.is_float()) {
        (0, true) => float(kind, number as f64),
        (0, false) => low(kind, number ^ (u64::from(kind == Kind::Bool) * (number >> 2 ^ number >> 4))),
        (1, true) => rounding(kind, place.random(n)),
        (1, false) => low(kind, place.random(n)),
        (_, true) => float_corner(kind, place.random(n)),
        (_, false) => low(
            kind,
            [0, u64::MAX, 1 << (kind.bits() - 1), !(1 << (kind.bits() - 1)), 0xaaaa_aaaa_5555_5555]
                [(place.random(n) % 5) as usize],
        ),
    }
}

fn float_corner(kind: Kind, random: u64) -> u64 {
    let largest = match kind {
        Kind::F16 => 65504.0,
        Kind::F32 => f32::MAX.into(),
        // Values that an f32 can hold, because WGSL passes doubles as f32.
        _ => f64::from(f32::MAX),
    };
    let all = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, largest, -largest, -1.5, 6.104e-5];
    float(kind, all[(random % 8) as usize])
}

/// All bits of the mantissa in use, and a magnitude near one.
fn rounding(kind: Kind, random: u64) -> u64 {
    let fraction = (random >> 12) as f64 / (1u64 << 52) as f64;
    float(kind, (0.75 + 0.75 * fraction) * if random & 1 == 0 { 1.0 } else { -1.0 })
}

fn summand(kind: Kind, n: usize, place: Place) -> u64 {
    let random = place.random(n);
    match (kind.is_float(), place.pattern) {
        (false, 0) => low(kind, place.slot as u64 + 1 + n as u64),
        (false, _) => low(kind, random),
        (true, 1) if place.ordered => rounding(kind, random),
        (true, pattern) => float(kind, exact(place.op, pattern, place.slot, random)),
    }
}

/// Sums of 64 such numbers, and products, are exact in eleven bits.
fn exact(op: Option<Op>, pattern: usize, slot: usize, random: u64) -> f64 {
    let sign = if random & 1 == 0 { 1.0 } else { -1.0 };
    match (op, pattern) {
        (Some(Op::Mul), _) if slot % 11 == 3 => 2.0 * sign,
        (Some(Op::Mul), _) if slot % 11 == 7 => 0.5 * sign,
        (Some(Op::Mul), _) => sign,
        (_, 0) => (slot % 31 + 1) as f64,
        _ => ((random >> 8) % 29 + 1) as f64 * sign,
    }
}

/// A small number; for signed types from -2 on.
fn small(kind: Kind, number: u64, signed: bool) -> u64 {
    match kind {
        Kind::Bool => number & 1,
        _ if kind.is_float() => float(kind, number as f64 - if signed { 2.5 } else { -3.0 }),
        _ if kind.is_signed() && signed => low(kind, number.wrapping_sub(2)),
        _ => low(kind, number * 3 + 1),
    }
}

/// Zero or a nonzero number; with 64 bits, one whose low half is zero.
fn truth(kind: Kind, truth: bool) -> u64 {
    match kind {
        _ if !truth => 0,
        Kind::I64 | Kind::U64 => 1 << 40,
        _ if kind.is_float() => float(kind, 0.5),
        _ => 1,
    }
}

fn with_lane(mut words: Value, lane: usize) -> Value {
    words[lane / 32] |= 1 << (lane % 32);
    words
}

/// The lanes of the subgroup that are in this lane's partition, one of three.
fn own_set(place: Place) -> Value {
    let set = |slot: usize| Place { slot, ..place }.random(0) % 3;
    let lanes = (0..place.lanes).filter(|lane| set(place.wave() + lane) == set(place.slot));
    lanes.fold([0; 4], with_lane)
}
