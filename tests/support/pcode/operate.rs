//! The signs between values.

use super::value::{Sort, Value};

pub fn unary(sign: &str, of: Value) -> Value {
    match sign {
        "!" => Value::bool(!of.is_true()),
        "~" => Value::new(!of.bits, of.width, of.sort),
        "-" if of.is_float() => Value::new(of.bits ^ 1 << (of.width - 1), of.width, of.sort),
        "-" => Value::new(of.whole().wrapping_neg() as u128, of.width, of.sort),
        _ => of,
    }
}

pub fn binary(sign: &str, a: Value, b: Value) -> Result<Value, String> {
    match sign {
        "&&" => Ok(Value::bool(a.is_true() && b.is_true())),
        "||" => Ok(Value::bool(a.is_true() || b.is_true())),
        "<<" | ">>" => Ok(shifted(sign, a, b)),
        "**" => Ok(Value::float(power(a, b)?, a.width)),
        _ if a.is_float() && b.is_float() => floats(sign, a, b),
        _ if a.is_float() || b.is_float() => Err(format!("{sign} is between a float and an integer")),
        _ => wholes(sign, a, b),
    }
}

/// A power of any size, without rounding if the base is two.
pub fn power(base: Value, exponent: Value) -> Result<f64, String> {
    match (base.is_float(), exponent.is_float()) {
        (true, true) => Ok(base.number().powf(exponent.number())),
        (true, false) => Ok(base.number().powi(exponent.whole().clamp(-2000, 2000) as i32)),
        _ => Err("a power of an integer".to_owned()),
    }
}

/// A float times a power of two, rounded once.
pub fn scaled(value: Value, by: i128) -> Value {
    let mut by = by.clamp(-5000, 5000) as i32;
    let mut number = value.number();
    if value.width == 64 {
        // The number scaled to an exponent of zero, so that only the last step can round.
        let near = if number.abs() < f64::MIN_POSITIVE { (number * 2f64.powi(64), -64) } else { (number, 0) };
        if near.0 == 0.0 || !near.0.is_finite() {
            return value;
        }
        let exponent = (near.0.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        number = f64::from_bits(near.0.to_bits() & !(0x7ff << 52) | 1023 << 52);
        by += exponent + near.1;
        return match by {
            1024.. => Value::float(number * f64::INFINITY, 64),
            -1022.. => Value::float(number * 2f64.powi(by), 64),
            -1100.. => Value::float(number * 2f64.powi(-1022) * 2f64.powi(by + 1022), 64),
            _ => Value::float(0f64.copysign(number), 64),
        };
    }
    Value::float(number * 2f64.powi(by.clamp(-700, 700)), value.width)
}

fn shifted(sign: &str, a: Value, b: Value) -> Value {
    let by = b.bits.min(127) as u32;
    let bits = match sign {
        "<<" if by >= a.width => 0,
        "<<" => a.bits << by,
        _ => (a.whole() >> by) as u128,
    };
    Value::new(bits, a.width, a.sort)
}

fn floats(sign: &str, a: Value, b: Value) -> Result<Value, String> {
    let (x, y, width) = (a.number(), b.number(), a.width.max(b.width));
    Ok(match sign {
        // Rounding again from 64 bits gives the correctly rounded result of the smaller width, which has less than half
        // of the bits.
        "+" => Value::float(x + y, width),
        "-" => Value::float(x - y, width),
        "*" => Value::float(x * y, width),
        "/" => Value::float(x / y, width),
        "==" => Value::bool(x == y),
        "!=" => Value::bool(x != y),
        "<>" => Value::bool(x.partial_cmp(&y).is_some_and(std::cmp::Ordering::is_ne)),
        "<" => Value::bool(x < y),
        ">" => Value::bool(x > y),
        "<=" => Value::bool(x <= y),
        ">=" => Value::bool(x >= y),
        _ => return Err(format!("floats have no {sign}")),
    })
}

fn wholes(sign: &str, a: Value, b: Value) -> Result<Value, String> {
    let (x, y) = (a.whole(), b.whole());
    let sort = if a.sort == Sort::Signed && b.sort == Sort::Signed { Sort::Signed } else { Sort::Unsigned };
    let of = |value: i128| Ok(Value::new(value as u128, a.width.max(b.width), sort));
    match sign {
        "+" => of(x.wrapping_add(y)),
        "-" => of(x.wrapping_sub(y)),
        "*" => of(x.wrapping_mul(y)),
        "&" => of(x & y),
        "|" => of(x | y),
        "^" => of(x ^ y),
        "==" => Ok(Value::bool(x == y)),
        "!=" | "<>" => Ok(Value::bool(x != y)),
        "<" => Ok(Value::bool(x < y)),
        ">" => Ok(Value::bool(x > y)),
        "<=" => Ok(Value::bool(x <= y)),
        ">=" => Ok(Value::bool(x >= y)),
        _ => Err(format!("integers have no {sign}")),
    }
}
