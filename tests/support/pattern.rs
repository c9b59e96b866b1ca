//! The inputs that kernels run over: a few shapes of numbers, the same on every machine.

use super::scalar::Type;

/// A shape of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Ascending numbers: a wrong source lane is identified by its number.
    Iota,
    /// Mixed signs and sizes from a fixed generator with this seed.
    Mixed(u32),
    /// The corners of the domain, over and over.
    Special,
}

/// Every fixture runs over these.
pub const PATTERNS: [Pattern; 4] = [Pattern::Iota, Pattern::Mixed(1), Pattern::Mixed(0x5eed), Pattern::Special];

/// The values that an input may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Any bits of the type, infinities and NaN included: for moves.
    Any(Type),
    /// Numbers whose reductions are exact in every order, so that a driver's order does not matter: for Add, Min, Max.
    Exact(Type),
    /// Powers of two near one, of both signs: products stay exact.
    Factors,
    /// Finite floats of moderate size whose sums round, so that the order of a reduction matters.
    Rounding,
    /// Floats from 0 to 1 in steps of 1/256: depths, places in a texture.
    Unit,
    /// Unsigned numbers below the bound.
    Below(u32),
}

impl Domain {
    /// The type of its words.
    pub fn kind(self) -> Type {
        match self {
            Self::Any(kind) | Self::Exact(kind) => kind,
            Self::Factors | Self::Rounding | Self::Unit => Type::F32,
            Self::Below(_) => Type::U32,
        }
    }

    /// `count` words in the shape of `pattern`; `salt` distinguishes the inputs of a kernel.
    pub fn words(self, pattern: Pattern, salt: u32, count: usize) -> Vec<u32> {
        let mut random = Lcg::new(match pattern {
            Pattern::Mixed(seed) => seed ^ salt.wrapping_mul(0x9e37_79b9),
            _ => salt,
        });
        (0..count as u32).map(|i| self.word(pattern, i, &mut random)).collect()
    }

    fn word(self, pattern: Pattern, i: u32, random: &mut Lcg) -> u32 {
        match (self, pattern) {
            (Self::Below(bound), Pattern::Iota) => i % bound,
            (Self::Below(bound), Pattern::Mixed(_)) => random.next() % bound,
            // Stretches of 16, from the highest value: whole subgroups agree.
            (Self::Below(bound), Pattern::Special) => (i / 16 * 7 + bound - 1) % bound,
            (Self::Unit, Pattern::Mixed(_)) => ((random.next() % 257) as f32 / 256.0).to_bits(),
            (Self::Unit, _) => ((i * 37 % 257) as f32 / 256.0).to_bits(),
            (Self::Factors, _) => factor(pattern, i, random),
            (Self::Rounding, _) => rounding(pattern, i, random).to_bits(),
            (Self::Any(Type::Bool) | Self::Exact(Type::Bool), _) => predicate(pattern, i, random),
            (Self::Any(Type::F32), _) => any_float(pattern, i, random),
            (Self::Exact(Type::F32), _) => exact_float(pattern, i, random).to_bits(),
            (_, Pattern::Iota) => i,
            (_, Pattern::Mixed(_)) => random.next(),
            (_, Pattern::Special) => INTEGERS[i as usize % INTEGERS.len()],
        }
    }
}

/// The corners of the 32-bit integers, signed and unsigned.
const INTEGERS: [u32; 7] = [0, u32::MAX, 0x8000_0000, 0x7fff_ffff, 1, 0xaaaa_aaaa, 0x5555_5555];

/// The corners of the floats but subnormals, which a device may flush.
const FLOATS: [f32; 8] = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, -1.5];

fn factor(pattern: Pattern, i: u32, random: &mut Lcg) -> u32 {
    let pick = match pattern {
        Pattern::Mixed(_) => random.next() as usize,
        _ => i as usize,
    };
    [1.0f32, -2.0, 0.5, -1.0, 2.0, -0.5][pick % 6].to_bits()
}

/// Alternating, random, or long stretches of one value, so that votes have both results.
fn predicate(pattern: Pattern, i: u32, random: &mut Lcg) -> u32 {
    match pattern {
        Pattern::Iota => i & 1,
        Pattern::Mixed(_) => random.next() & 1,
        Pattern::Special => (i / 16) & 1,
    }
}

fn any_float(pattern: Pattern, i: u32, random: &mut Lcg) -> u32 {
    match pattern {
        Pattern::Iota => (i as f32).to_bits(),
        Pattern::Mixed(_) => rounding(pattern, i, random).to_bits(),
        Pattern::Special => FLOATS[i as usize % FLOATS.len()].to_bits(),
    }
}

/// Quarters below 256, or signed powers of two: sums of 128 of them have fewer than 24 significant bits.
fn exact_float(pattern: Pattern, i: u32, random: &mut Lcg) -> f32 {
    match pattern {
        Pattern::Iota => i as f32 + 1.0,
        Pattern::Mixed(_) => (random.next() % 2048) as f32 / 4.0 - 256.0,
        Pattern::Special => {
            let size = (1u32 << (i % 10)) as f32;
            if i.is_multiple_of(3) { -size } else { size }
        }
    }
}

/// Floats with all mantissa bits in use and exponents within a few powers of two.
fn rounding(pattern: Pattern, i: u32, random: &mut Lcg) -> f32 {
    let scale = match pattern {
        Pattern::Iota => i as f32 + 1.0,
        Pattern::Mixed(_) => random.next() as f32 - 2_147_483_648.0,
        Pattern::Special => [1e6, -1e-3, 3.0, -7e2][i as usize % 4],
    };
    scale * 0.1
}

/// A linear congruential generator (Numerical Recipes' constants); a word consists of the high halves of two outputs.
struct Lcg(u32);

impl Lcg {
    fn new(seed: u32) -> Self {
        Self(seed.wrapping_mul(747_796_405).wrapping_add(1))
    }

    fn half(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 16
    }

    fn next(&mut self) -> u32 {
        self.half() << 16 | self.half()
    }
}
