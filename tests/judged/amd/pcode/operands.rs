//! Operands that reveal differences: the limits of every type, values that round or overflow, and random bits.

use support::amd::single::Kind;

/// A generator of random numbers whose sequence never changes.
pub struct Random(u64);

impl Random {
    pub fn new(name: &str) -> Self {
        Self(
            name.bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)),
        )
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Integers: shift amounts up to and above each width, and the limits of each width.
const WHOLE: [u64; 26] = [
    0,
    1,
    2,
    3,
    7,
    8,
    15,
    16,
    17,
    24,
    31,
    32,
    33,
    63,
    64,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7f_ffff,
    0x80_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
];

const WIDE: [u64; 10] = [
    u64::MAX,
    u64::MAX - 1,
    1 << 63,
    (1 << 63) - 1,
    1 << 32,
    (1 << 32) + 1,
    0xffff_ffff_0000_0000,
    0x8000_0000_8000_0000,
    0x7fff_ffff_ffff_ffff,
    0x1234_5678_9abc_def0,
];

/// Negative numbers of 32 bits, and fields for extracting bits.
const NARROW: [u64; 12] = [
    0xffff_fffe,
    0xffff_fffd,
    0xffff_8000,
    0xffff_7fff,
    0xff80_0000,
    0x0001_0000,
    0x0020_0000,
    0x0021_001f,
    0x0008_0018,
    0x0c0b_0a09,
    0x0f0d_0802,
    0x0706_0504,
];

const FLOATS: [f64; 25] = [
    0.0,
    1.0,
    0.5,
    1.5,
    2.5,
    3.5,
    2.0,
    3.0,
    0.25,
    0.75,
    0.1,
    0.3333333333333333,
    127.5,
    254.5,
    255.5,
    2047.5,
    32767.5,
    65504.0,
    65519.0,
    65520.0,
    65535.5,
    8388607.5,
    2147483648.0,
    4294967296.0,
    std::f64::consts::PI,
];

/// The operands of a kind that are tried in all pairs.
pub fn extremes(kind: Kind) -> Vec<u64> {
    match kind {
        Kind::Float16 => floats(0x3ff, 10, 15, &[0x7c00, 0x7e00, 0x7d01, 0x7bff, 0x0400, 0x03ff, 0x0001, 0x3bff]),
        Kind::Float32 => floats(
            0x7f_ffff,
            23,
            31,
            &[
                0x7f80_0000,
                0x7fc0_0000,
                0x7fa0_0001,
                0x7f7f_ffff,
                0x0080_0000,
                0x007f_ffff,
                0x0000_0001,
                0x3f7f_ffff,
                0x7e80_0000,
                0x0100_0000,
                0x4eff_ffff,
            ],
        ),
        Kind::Float64 => floats(
            0xf_ffff_ffff_ffff,
            52,
            63,
            &[
                0x7ff0_0000_0000_0000,
                0x7ff8_0000_0000_0000,
                0x7ff4_0000_0000_0001,
                0x7fef_ffff_ffff_ffff,
                0x0010_0000_0000_0000,
                0x000f_ffff_ffff_ffff,
                0x0000_0000_0000_0001,
                0x3fef_ffff_ffff_ffff,
                0x7fd0_0000_0000_0000,
            ],
        ),
        Kind::Int16 | Kind::Int32 => WHOLE.iter().chain(&NARROW).copied().collect(),
        _ => WHOLE.iter().chain(&NARROW).chain(&WIDE).copied().collect(),
    }
}

/// Numbers that a format represents exactly or nearly, and the special ones, all with both signs.
fn floats(mantissa: u64, bits: u32, sign: u32, special: &[u64]) -> Vec<u64> {
    let near = |x: &f64| match bits {
        10 => u64::from(support::amd::float::to_half(*x)),
        23 => u64::from((*x as f32).to_bits()),
        _ => x.to_bits(),
    };
    debug_assert!(mantissa + 1 == 1 << bits);
    let positive: Vec<u64> = FLOATS.iter().map(near).chain(special.iter().copied()).collect();
    positive.iter().flat_map(|bits| [*bits, *bits | 1 << sign]).collect()
}

/// An operand of a kind: a special value or one close to it, a small number, or random bits.
pub fn any(kind: Kind, extremes: &[u64], random: &mut Random) -> u64 {
    let width = if kind.is_short() { 32 } else { 32 * kind.registers() };
    let bits = match random.below(8) {
        0..=2 => extremes[random.below(extremes.len())],
        3 => extremes[random.below(extremes.len())].wrapping_add(random.next() % 5).wrapping_sub(2),
        4 => random.next() % 100,
        _ => random.next(),
    };
    // The upper half of a register is not part of a short operand.
    let above = if kind.is_short() { random.next() << 16 | bits & 0xffff } else { bits };
    above & (u64::MAX >> (64 - width))
}
