//! Floats by their bits: sign, exponent, and significand without its leading one.

/// Float encodings for storage: such floats are stored, converted and combined, but have no arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Encoding {
    /// The upper half of a 32-bit float (SPV_KHR_bfloat16).
    BFloat16,
    /// 8 bits, 4 of them exponent (SPV_EXT_float8, "FP8 Formats for Deep Learning").
    E4M3,
    /// 8 bits, 5 of them exponent (SPV_EXT_float8).
    E5M2,
    /// 4 bits, 2 of them exponent (SPV_EXT_ocp_microscaling_types, "OCP Microscaling Formats").
    E2M1,
}

impl Encoding {
    pub const ALL: [Encoding; 4] = [Encoding::BFloat16, Encoding::E4M3, Encoding::E5M2, Encoding::E2M1];

    /// The meaning of its bits.
    pub const fn format(self) -> Format {
        match self {
            Encoding::BFloat16 => Format { exponent: 8, significand: 7, beyond: Beyond::Infinity },
            Encoding::E4M3 => Format { exponent: 4, significand: 3, beyond: Beyond::Nan },
            Encoding::E5M2 => Format { exponent: 5, significand: 2, beyond: Beyond::Infinity },
            Encoding::E2M1 => Format { exponent: 2, significand: 1, beyond: Beyond::Largest },
        }
    }

    /// Bits of a number.
    pub const fn width(self) -> u8 {
        let Format { exponent, significand, .. } = self.format();
        1 + exponent + significand
    }

    /// A short name like `f16`; GLSL's vectors start with it.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::BFloat16 => "bf16",
            Encoding::E4M3 => "fe4m3",
            Encoding::E5M2 => "fe5m2",
            Encoding::E2M1 => "fe2m1",
        }
    }
}

/// The parts of a float. Its exponent has the bias `2^(exponent - 1) - 1`, and is the minimum for subnormal numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u8,
    /// Bits of the significand, without its leading one.
    pub significand: u8,
    pub beyond: Beyond,
}

/// The result of converting a number that is too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beyond {
    /// Infinities, which have the largest exponent, as NaNs have.
    Infinity,
    /// NaNs, one for each sign: all bits set.
    Nan,
    /// The largest number: there are no infinities and no NaNs.
    Largest,
}

impl Format {
    /// IEEE 754's binary16.
    pub const HALF: Format = Format { exponent: 5, significand: 10, beyond: Beyond::Infinity };

    const fn sign(self) -> u64 {
        1 << (self.exponent + self.significand)
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The bits of the largest number.
    const fn largest(self) -> u64 {
        match self.beyond {
            Beyond::Infinity => self.infinity() - 1,
            Beyond::Nan => self.sign() - 2,
            Beyond::Largest => self.sign() - 1,
        }
    }

    const fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.significand
    }

    const fn nan(self) -> u64 {
        match self.beyond {
            Beyond::Infinity => self.infinity() | 1 << (self.significand - 1),
            Beyond::Nan | Beyond::Largest => self.sign() - 1,
        }
    }

    /// The value of a number.
    pub fn decode(self, bits: u64) -> f64 {
        let magnitude = bits & (self.sign() - 1);
        let value = match magnitude {
            _ if magnitude <= self.largest() => self.finite(magnitude),
            _ if self.beyond == Beyond::Infinity && magnitude == self.infinity() => f64::INFINITY,
            _ => f64::NAN,
        };
        if bits & self.sign() == 0 { value } else { -value }
    }

    fn finite(self, magnitude: u64) -> f64 {
        let (exponent, fraction) = ((magnitude >> self.significand) as i32, magnitude & ((1 << self.significand) - 1));
        let leading = if exponent == 0 { 0 } else { 1 << self.significand };
        let scale = exponent.max(1) - self.bias() - i32::from(self.significand);
        (leading + fraction) as f64 * 2f64.powi(scale)
    }

    /// The value of the nearest number.
    pub fn round(self, value: f64) -> f64 {
        self.decode(self.encode(value))
    }

    /// The nearest number, ties to even.
    pub fn encode(self, value: f64) -> u64 {
        let sign = if value.is_sign_negative() { self.sign() } else { 0 };
        let magnitude = value.abs();
        if magnitude.is_nan() {
            return sign | self.nan();
        }
        sign | Some(self.rounded(magnitude)).filter(|bits| *bits <= self.largest()).unwrap_or(match self.beyond {
            Beyond::Infinity => self.infinity(),
            Beyond::Nan => self.nan(),
            Beyond::Largest => self.largest(),
        })
    }

    /// The bits with an unlimited exponent range.
    fn rounded(self, magnitude: f64) -> u64 {
        if magnitude >= 2f64.powi(self.bias() + 2) {
            return u64::MAX;
        }
        // Between two powers of two numbers have the same distance, and the same below the smallest exponent.
        let least = 1 - self.bias();
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(least);
        let steps = (magnitude * 2f64.powi(i32::from(self.significand) - exponent)).round_ties_even() as u64;
        // The leading one of the significand adds one to the exponent.
        (((exponent - least) as u64) << self.significand) + steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_are_their_own_nearest() {
        for format in Encoding::ALL.map(Encoding::format).into_iter().chain([Format::HALF]) {
            for bits in 0..2 * format.sign() {
                let value = format.decode(bits);
                match value.is_nan() {
                    true => assert!(format.decode(format.encode(value)).is_nan(), "{format:?} {bits:x}"),
                    false => assert_eq!(format.encode(value), bits, "{format:?} {bits:x}"),
                }
            }
        }
    }

    #[test]
    fn numbers_between_go_to_the_nearest_even_one() {
        for format in Encoding::ALL.map(Encoding::format) {
            for bits in 0..format.largest() {
                let (low, high) = (format.decode(bits), format.decode(bits + 1));
                let even = bits + (bits & 1);
                assert_eq!(format.encode((low + high) / 2.0), even, "{format:?} {bits:x}");
                assert_eq!(format.encode(low * 0.75 + high * 0.25), bits, "{format:?} {bits:x}");
                assert_eq!(format.encode(low * 0.25 + high * 0.75), bits + 1, "{format:?} {bits:x}");
            }
        }
    }

    #[test]
    fn what_is_too_large() {
        let encode = |encoding: Encoding, value: f64| encoding.format().encode(value);
        assert_eq!(encode(Encoding::E4M3, 448.0), 0x7e);
        assert_eq!(encode(Encoding::E4M3, 464.0), 0x7e);
        assert_eq!(encode(Encoding::E4M3, 465.0), 0x7f);
        assert_eq!(encode(Encoding::E4M3, f64::NEG_INFINITY), 0xff);
        assert_eq!(encode(Encoding::E5M2, 57344.0), 0x7b);
        assert_eq!(encode(Encoding::E5M2, 61440.0), 0x7c);
        assert_eq!(encode(Encoding::E2M1, -10.0), 0xf);
        assert_eq!(encode(Encoding::BFloat16, f64::MAX), 0x7f80);
        assert_eq!(encode(Encoding::BFloat16, f64::from(1.0f32)), 0x3f80);
        assert_eq!(Encoding::E2M1.format().decode(7), 6.0);
    }
}
