//! Functions that the pseudo-code calls and does not define.

use super::operate::scaled;
use super::value::{Sort, Value, mask};

/// The result of a function, if it is one of these; `down` rounds conversions between floats towards zero.
pub fn builtin(name: &str, arguments: &[Value], down: bool) -> Option<Value> {
    let first = *arguments.first()?;
    let second = arguments.get(1).copied();
    Some(match name {
        "isNAN" => Value::bool(first.is_nan()),
        "isSignalNAN" => Value::bool(first.is_signaling()),
        "isQuietNAN" => Value::bool(first.is_nan() && !first.is_signaling()),
        "isEven" => Value::bool(first.number() % 2.0 == 0.0),
        "cvtToQuietNAN" => {
            Value::new(first.bits | 1 << (super::value::format(first.width).0 - 1), first.width, first.sort)
        }
        "sign" => Value::unsigned((first.bits >> (first.width - 1)) as u64, 1),
        "abs" => Value::new(first.bits & mask(first.width - 1), first.width, first.sort),
        "exponent" => Value::int(first.exponent()),
        "mantissa" => mantissa(first),
        "floor" => rounded(first, f64::floor),
        "trunc" => rounded(first, f64::trunc),
        "fract" => rounded(first, |x| x - x.floor()),
        "sqrt" => rounded(first, f64::sqrt),
        "log2" => rounded(first, f64::log2),
        "sin" => rounded(first, f64::sin),
        "cos" => rounded(first, f64::cos),
        "pow" => Value::float(first.number().powf(second?.number()), first.width),
        "ldexp" => scaled(first, second?.whole()),
        "fma" => fused(first, second?, *arguments.get(2)?),
        "signext" => Value::new(first.whole() as u128, 64, Sort::Signed),
        "signext_from_bit" => extended(first, second?.bits),
        // The first bit of a mask that is set.
        "s_ff1_i32_b32" | "s_ff1_i32_b64" | "s_ctz_i32_b32" | "s_ctz_i32_b64" if first.bits != 0 => {
            Value::int(first.bits.trailing_zeros().into())
        }
        _ => return conversion(name, first, down),
    })
}

fn rounded(value: Value, apply: impl Fn(f64) -> f64) -> Value {
    Value::float(apply(value.number()), value.width)
}

/// The number with its exponent replaced, so that it is in [0.5, 1).
fn mantissa(value: Value) -> Value {
    let number = value.number();
    if number == 0.0 || !number.is_finite() {
        return value;
    }
    let normal = if number.abs() < f64::MIN_POSITIVE { number * 2f64.powi(64) } else { number };
    Value::float(f64::from_bits(normal.to_bits() & !(0x7ff << 52) | 1022 << 52), value.width)
}

fn fused(a: Value, b: Value, c: Value) -> Value {
    let wide = a.number().mul_add(b.number(), c.number());
    if a.width != 32 {
        return Value::float(wide, a.width);
    }
    let [a, b, c] = [a, b, c].map(|value| f32::from_bits(value.bits as u32));
    Value::new(a.mul_add(b, c).to_bits().into(), 32, Sort::Float)
}

/// Extends the sign of a number with this many bits.
fn extended(value: Value, bits: u128) -> Value {
    match bits {
        0 => Value::new(0, value.width, value.sort),
        bits if bits >= value.width.into() => value,
        bits => {
            let narrow = Value::new(value.bits, bits as u32, Sort::Signed);
            Value::new(narrow.whole() as u128, value.width, value.sort)
        }
    }
}

/// `f32_to_i32` and the like: by the types in the name.
fn conversion(name: &str, value: Value, down: bool) -> Option<Value> {
    let (from, to) = name.split_once("_to_")?;
    if !matches!(from, "f16" | "f32" | "f64" | "i16" | "i32" | "u16" | "u32") {
        return None;
    }
    let value = value.seen_as(value.width, if from.starts_with('f') { Sort::Float } else { value.sort });
    let limits = |least: f64, most: f64| value.number().clamp(least, most);
    let whole = |number: f64, width, sort| {
        let number = if number.is_nan() { 0.0 } else { number };
        Value::new(number as i128 as u128, width, sort)
    };
    match (from.starts_with('f'), to) {
        (true, "f16" | "f32" | "f64") => {
            let width = to[1..].parse().ok()?;
            Some(if down { Value::float_down(value.number(), width) } else { Value::float(value.number(), width) })
        }
        (false, "f16" | "f32" | "f64") => Some(float_of(value.whole(), to[1..].parse().ok()?)),
        (true, "snorm") => Some(whole((limits(-1.0, 1.0) * 32767.0).round_ties_even(), 16, Sort::Signed)),
        (true, "unorm") => Some(whole((limits(0.0, 1.0) * 65535.0).round_ties_even(), 16, Sort::Unsigned)),
        (is_float, _) => {
            let (sort, width) =
                (if to.starts_with('u') { Sort::Unsigned } else { Sort::Signed }, to[1..].parse().ok()?);
            let (least, most) = match sort {
                Sort::Unsigned => (0, mask(width) as i128),
                _ => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
            };
            let number =
                if is_float { whole(limits(least as f64, most as f64).trunc(), 127, Sort::Signed) } else { value };
            Some(Value::new(number.whole().clamp(least, most) as u128, width, sort))
        }
    }
}

/// Whole numbers of 32 bits are floats of 64.
fn float_of(number: i128, width: u32) -> Value {
    Value::float(number as f64, width)
}
