//! Values of the pseudo-code: bits with a type, and arithmetic on them.

/// How bits are read as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Unsigned,
    Signed,
    Float,
}

impl Sort {
    /// The type for its letter: `B` has no sign.
    pub fn named(letters: &str) -> Option<Self> {
        match letters {
            "U" | "B" => Some(Sort::Unsigned),
            "I" => Some(Sort::Signed),
            "F" => Some(Sort::Float),
            _ => None,
        }
    }
}

/// Up to 128 bits with their type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value {
    pub bits: u128,
    pub width: u32,
    pub sort: Sort,
}

pub fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The mantissa's bits and the exponent's of a float of a width.
pub fn format(width: u32) -> (u32, u32) {
    match width {
        16 => (10, 5),
        32 => (23, 8),
        _ => (52, 11),
    }
}

impl Value {
    pub fn new(bits: u128, width: u32, sort: Sort) -> Self {
        Self { bits: bits & mask(width), width, sort }
    }

    pub fn unsigned(bits: u64, width: u32) -> Self {
        Self::new(bits.into(), width, Sort::Unsigned)
    }

    pub fn bool(value: bool) -> Self {
        Self::unsigned(value.into(), 1)
    }

    pub fn int(value: i64) -> Self {
        Self::new(value as u128, 32, Sort::Signed)
    }

    /// The nearest float of a width.
    pub fn float(value: f64, width: u32) -> Self {
        Self::new(narrowed(value, width, false).into(), width, Sort::Float)
    }

    /// The nearest float towards zero.
    pub fn float_down(value: f64, width: u32) -> Self {
        Self::new(narrowed(value, width, true).into(), width, Sort::Float)
    }

    pub fn is_float(self) -> bool {
        self.sort == Sort::Float
    }

    pub fn is_true(self) -> bool {
        self.bits != 0
    }

    /// The whole number.
    pub fn whole(self) -> i128 {
        let unused = 128 - self.width;
        match self.sort {
            Sort::Signed => (self.bits << unused) as i128 >> unused,
            _ => self.bits as i128,
        }
    }

    /// The float's value; a NaN keeps as many of its bits as fit.
    pub fn number(self) -> f64 {
        let (mantissa, exponent) = format(self.width);
        let bits = self.bits as u64;
        let (sign, fraction) = (bits >> (self.width - 1) & 1, bits & ((1 << mantissa) - 1));
        let field = bits >> mantissa & ((1 << exponent) - 1);
        let bias = (1 << (exponent - 1)) - 1;
        if field == (1 << exponent) - 1 {
            return f64::from_bits(sign << 63 | 0x7ff << 52 | fraction << (52 - mantissa));
        }
        if self.width == 64 {
            return f64::from_bits(bits);
        }
        let (whole, power) = if field == 0 { (fraction, 1) } else { (fraction | 1 << mantissa, field as i32) };
        let size = whole as f64 * 2f64.powi(power - bias - mantissa as i32);
        if sign == 1 { -size } else { size }
    }

    /// The exponent's field.
    pub fn exponent(self) -> i64 {
        let (mantissa, exponent) = format(self.width);
        (self.bits >> mantissa & mask(exponent)) as i64
    }

    pub fn is_nan(self) -> bool {
        self.is_float() && self.number().is_nan()
    }

    pub fn is_signaling(self) -> bool {
        let (mantissa, _) = format(self.width);
        self.is_nan() && self.bits >> (mantissa - 1) & 1 == 0
    }

    pub fn is_denormal(self) -> bool {
        let (mantissa, _) = format(self.width);
        self.exponent() == 0 && self.bits & mask(mantissa) != 0
    }

    /// The same bits as another type, padded with zeros.
    pub fn seen_as(self, width: u32, sort: Sort) -> Self {
        Self::new(self.bits, width, sort)
    }

    /// The same number as another type; bits become a float unchanged.
    pub fn converted(self, width: u32, sort: Sort) -> Self {
        match (self.sort, sort) {
            (Sort::Float, Sort::Float) if self.width != width => Self::float(self.number(), width),
            (Sort::Float, _) | (_, Sort::Float) => self.seen_as(width, sort),
            _ => Self::new(self.whole() as u128, width, sort),
        }
    }
}

/// The bits of the float of a width that is nearest to a number, ties to even, or the next one towards zero.
fn narrowed(value: f64, width: u32, down: bool) -> u64 {
    let (mantissa, exponent) = format(width);
    let bits = value.to_bits();
    let (sign, fraction) = (bits >> 63 << (width - 1), bits & ((1 << 52) - 1));
    let (field, most) = ((bits >> 52 & 0x7ff) as i32, (1u64 << exponent) - 1);
    if width == 64 {
        return bits;
    }
    let infinity = most << mantissa;
    if field == 0x7ff {
        let kept = fraction >> (52 - mantissa);
        let lost = u64::from(fraction != 0 && kept == 0) << (mantissa - 1);
        return sign | infinity | kept | lost;
    }
    // Numbers below the smallest normal 64-bit number are zero in all smaller widths.
    let power = field - 1023 + ((1 << (exponent - 1)) - 1);
    let dropped = 52 - mantissa as i32 + (1 - power).max(0);
    if field == 0 || dropped > 54 {
        return sign;
    }
    let whole = fraction | 1 << 52;
    let (kept, rest) = (whole >> dropped, whole & ((1u64 << dropped) - 1));
    let half = 1u64 << (dropped - 1);
    let up = !down && (rest > half || rest == half && kept & 1 == 1);
    // The hidden bit counts into the exponent of normal numbers, and so does a carry.
    let size = kept + u64::from(up) + ((power.max(1) as u64 - 1) << mantissa);
    let limit = if down { infinity - 1 } else { infinity };
    sign | size.min(limit)
}
