//! Float arithmetic that Rust does not have or that the hardware does differently.

use super::operand::Kind;

/// A float of 16 bits, rounded to nearest, ties to even.
pub fn to_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let size = value.abs();
    if value.is_nan() {
        return sign | 0x7e00;
    }
    // The distance between neighbours: for subnormals that of the smallest normal number.
    let exponent = (size.to_bits() >> 52) as i32 - 1023;
    let step = 2f64.powi(exponent.max(-14) - 10);
    let units = (size / step).round_ties_even();
    if units * step >= 65520.0 {
        return sign | 0x7c00;
    }
    if exponent < -14 {
        return sign | units as u16;
    }
    sign + (((exponent + 14) as u16) << 10) + units as u16
}

/// Converts to half, rounded towards zero.
pub fn to_half_down(value: f32) -> u16 {
    let near = to_half(value.into());
    let over = from_half(near).abs() > f64::from(value.abs());
    if over { near - 1 } else { near }
}

pub fn from_half(bits: u16) -> f64 {
    let (sign, exponent, mantissa) = (bits >> 15, i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (mantissa + 1024.0) * 2f64.powi(exponent - 25),
    };
    if sign == 1 { -size } else { size }
}

/// The value of a float of any width.
pub fn value(bits: u64, kind: Kind) -> f64 {
    match kind {
        Kind::Float16 => from_half(bits as u16),
        Kind::Float32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// The nearest float of a width.
pub fn bits(value: f64, kind: Kind) -> u64 {
    match kind {
        Kind::Float16 => to_half(value).into(),
        Kind::Float32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// Number of mantissa bits and bias of the exponent.
fn format(kind: Kind) -> (u32, i32) {
    match kind {
        Kind::Float16 => (10, 15),
        Kind::Float32 => (23, 127),
        _ => (52, 1023),
    }
}

fn exponent_bits(bits: u64, kind: Kind) -> i32 {
    let (mantissa, bias) = format(kind);
    (bits >> mantissa) as i32 & (2 * bias + 1)
}

/// Returns true if it is subnormal.
pub fn is_subnormal(bits: u64, kind: Kind) -> bool {
    let (mantissa, _) = format(kind);
    exponent_bits(bits, kind) == 0 && bits & ((1 << mantissa) - 1) != 0
}

pub fn is_signaling(bits: u64, kind: Kind) -> bool {
    let (mantissa, _) = format(kind);
    value(bits, kind).is_nan() && bits >> (mantissa - 1) & 1 == 0
}

fn quiet(bits: u64, kind: Kind) -> u64 {
    let (mantissa, _) = format(kind);
    bits | 1 << (mantissa - 1)
}

/// V_MIN and V_MAX; in IEEE mode a signaling NaN wins, quieted.
pub fn extreme(a: u64, b: u64, kind: Kind, greatest: bool, ieee: bool) -> u64 {
    let (x, y) = (value(a, kind), value(b, kind));
    if ieee && is_signaling(a, kind) {
        return quiet(a, kind);
    }
    if ieee && is_signaling(b, kind) {
        return quiet(b, kind);
    }
    if x.is_nan() || y.is_nan() {
        return if x.is_nan() { b } else { a };
    }
    let first = if greatest { x > y || x == y && a < b } else { x < y || x == y && a > b };
    if first { a } else { b }
}

/// x·2^n, rounded once.
pub fn scale(value: f64, n: i32) -> f64 {
    // Three steps reach every exponent; only the last one can round, because the others stay in the normal range or
    // leave it for good.
    let n = n.clamp(-3000, 3000);
    let (a, b) = (n.clamp(-1000, 1000), n - n.clamp(-1000, 1000));
    let (b, c) = (b.clamp(-1000, 1000), b - b.clamp(-1000, 1000));
    if n < 0 && value.abs() >= 1.0 {
        return value * 2f64.powi(a) * 2f64.powi(b) * 2f64.powi(c);
    }
    if n < -1000 {
        return value * 2f64.powi(c) * 2f64.powi(b) * 2f64.powi(a);
    }
    value * 2f64.powi(a) * 2f64.powi(b) * 2f64.powi(c)
}

/// Mantissa in [0.5, 1) with the sign, and exponent, of a finite number.
pub fn split(value: f64) -> (f64, i32) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    let normal = if value.abs() < f64::MIN_POSITIVE { value * 2f64.powi(64) } else { value };
    let shift = if normal == value { 0 } else { -64 };
    let exponent = (normal.to_bits() >> 52 & 0x7ff) as i32 - 1022;
    (normal / 2f64.powi(exponent - 1) / 2.0, exponent + shift)
}

/// A function that flushes subnormals in its argument and result: the hardware's 1/x, √x and the like.
pub fn flushing(bits: u64, f: impl Fn(f64) -> f64) -> u64 {
    let flush = |x: f32| if x.abs() < f32::MIN_POSITIVE { 0f32.copysign(x) } else { x };
    flush(f(flush(f32::from_bits(bits as u32)).into()) as f32).to_bits().into()
}

/// A 64-bit function that the hardware computes to about 24 bits.
pub fn rough(bits: u64, f: impl Fn(f64) -> f64) -> u64 {
    let exact = f(f64::from_bits(bits));
    // Half of the mantissa bits are dropped; NaNs and infinities stay.
    if exact.is_finite() { exact.to_bits() & !0x0fff_ffff } else { exact.to_bits() }
}

/// Sine and cosine of angles in turns; zero beyond 256 turns.
pub fn turns(bits: u64, f: impl Fn(f64) -> f64) -> u64 {
    let x = f64::from(f32::from_bits(bits as u32));
    if !x.is_finite() {
        return f32::NAN.to_bits().into();
    }
    if x.abs() > 256.0 {
        return f(0.0).to_bits() >> 63 << 31;
    }
    (f(x % 1.0 * std::f64::consts::TAU) as f32).to_bits().into()
}

/// V_DIV_SCALE: the scaled value, and whether V_DIV_FMAS must scale back. `s0` is the denominator `s1` or the numerator
/// `s2`.
pub fn div_scale(s0: u64, s1: u64, s2: u64, kind: Kind) -> (u64, bool) {
    let (shift, apart, tiny) = if kind == Kind::Float32 { (64, 96, 23) } else { (128, 768, 53) };
    let scaled = |by| bits(scale(value(s0, kind), by), kind);
    let (den, num) = (value(s1, kind), value(s2, kind));
    if den == 0.0 || num == 0.0 {
        return (bits(f64::NAN, kind), false);
    }
    let below = |quotient: f64| is_subnormal(bits(quotient, kind), kind) || quotient == 0.0;
    let (inverse_below, quotient_below) = (below(1.0 / den), below(num / den));
    if exponent_bits(s2, kind) - exponent_bits(s1, kind) >= apart {
        (if s0 == s1 { scaled(shift) } else { s0 }, true)
    } else if is_subnormal(s1, kind) {
        (scaled(shift), false)
    } else if inverse_below && quotient_below {
        (if s0 == s1 { scaled(-shift) } else { s0 }, true)
    } else if inverse_below {
        (scaled(-shift), false)
    } else if quotient_below {
        (if s0 == s2 { scaled(shift) } else { s0 }, true)
    } else if exponent_bits(s2, kind) <= tiny {
        (scaled(shift), false)
    } else {
        (s0, false)
    }
}

/// a·b + c, rounded once.
pub fn fma(a: u64, b: u64, c: u64, kind: Kind) -> u64 {
    match kind {
        Kind::Float32 => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            a.mul_add(b, c).to_bits().into()
        }
        // Products of 16-bit floats are exact in 64 bits, and so are sums that could round differently.
        _ => bits(value(a, kind).mul_add(value(b, kind), value(c, kind)), kind),
    }
}

/// V_DIV_FMAS with VCC set: a fused multiply-add, scaled back to undo V_DIV_SCALE.
pub fn fma_scaled(a: u64, b: u64, c: u64, kind: Kind) -> u64 {
    let (shift, bias) = if kind == Kind::Float32 { (64, 127) } else { (128, 1023) };
    let by = if exponent_bits(c, kind) > bias { shift } else { -shift };
    // In 64 bits first, so that a float of 32 is rounded once.
    bits(scale(value(a, kind).mul_add(value(b, kind), value(c, kind)), by), kind)
}

/// V_DIV_FIXUP: a quotient with the special cases put right.
pub fn div_fixup(quotient: u64, den: u64, num: u64, kind: Kind) -> u64 {
    let (d, n) = (value(den, kind), value(num, kind));
    let sign = if d.is_sign_negative() != n.is_sign_negative() { -1.0 } else { 1.0 };
    if n.is_nan() || d.is_nan() {
        return quiet(if n.is_nan() { num } else { den }, kind);
    }
    let (least, apart) =
        (exponent_bits(num, kind) - exponent_bits(den, kind), if kind == Kind::Float32 { -150 } else { -1075 });
    let special = if d == 0.0 && n == 0.0 || d.is_infinite() && n.is_infinite() {
        -f64::NAN
    } else if d == 0.0 || n.is_infinite() {
        sign * f64::INFINITY
    } else if d.is_infinite() || n == 0.0 || least < apart {
        sign * 0.0
    } else if value(quotient, kind).is_nan() {
        // Neither operand is special, so the steps before overflowed.
        sign * f64::INFINITY
    } else {
        sign * value(quotient, kind).abs()
    };
    bits(special, kind)
}

/// V_CMP_CLASS: whether the number is in one of the classes in the mask.
pub fn is_of_class(bits: u64, mask: u64, kind: Kind) -> bool {
    let x = value(bits, kind);
    let class = if x.is_nan() {
        if is_signaling(bits, kind) { 0 } else { 1 }
    } else {
        let size = match x {
            _ if x.is_infinite() => 0,
            _ if x == 0.0 => 3,
            _ if is_subnormal(bits, kind) => 2,
            _ => 1,
        };
        if x.is_sign_negative() { 2 + size } else { 9 - size }
    };
    mask >> class & 1 != 0
}
