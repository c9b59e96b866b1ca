//! The values of numeric literals (GLSL 4.60 sections 4.1.3 and 4.1.4; the suffixes of GL_ARB_gpu_shader_int64 and
//! GL_EXT_shader_explicit_arithmetic_types and GL_EXT_float_e2m1). The caller checks that a suffix is enabled.

use super::token::Literal;
use crate::ir::{Encoding, Format};

/// Why a spelling is not a number; the text completes a label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NumberError {
    pub text: &'static str,
    /// The word to write instead.
    pub instead: Option<String>,
}

impl From<&'static str> for NumberError {
    fn from(text: &'static str) -> NumberError {
        NumberError { text, instead: None }
    }
}

/// Suffixes of integers: spelling, width, signed.
const INT_SUFFIXES: &[(&str, u8, bool)] = &[
    ("", 32, true),
    ("u", 32, false),
    ("U", 32, false),
    ("l", 64, true),
    ("L", 64, true),
    ("ul", 64, false),
    ("uL", 64, false),
    ("Ul", 64, false),
    ("UL", 64, false),
    ("s", 16, true),
    ("S", 16, true),
    ("us", 16, false),
    ("uS", 16, false),
    ("Us", 16, false),
    ("US", 16, false),
];

/// Suffixes of floating-point numbers: spelling, width.
const FLOAT_SUFFIXES: &[(&str, u8)] =
    &[("", 32), ("f", 32), ("F", 32), ("lf", 64), ("LF", 64), ("hf", 16), ("HF", 16), ("fe2m1", 4)];

/// The value of a literal.
///
/// # Errors
/// Returns an error if a digit, a suffix or the size is wrong.
pub fn literal(text: &str) -> Result<Literal, NumberError> {
    if is_hex(text) || !text.contains(['.', 'e', 'E']) {
        let (value, suffix) = integer(text)?;
        return int_literal(text, value, suffix);
    }
    float_literal(text)
}

/// Value and suffix of an integer in base 8, 10 or 16; the suffix is not checked.
///
/// # Errors
/// Returns an error if the text has no digits, has an invalid digit for its base, or exceeds 64 bits.
pub fn integer(text: &str) -> Result<(u64, &str), NumberError> {
    let (radix, body) = match text {
        _ if is_hex(text) => (16, &text[2..]),
        _ if text.len() > 1 && text.starts_with('0') => (8, &text[1..]),
        _ => (10, text),
    };
    let accepted = |c: char| c.is_digit(radix.max(10));
    let length = body.find(|c| !accepted(c)).unwrap_or(body.len());
    let (digits, suffix) = body.split_at(length);
    if digits.is_empty() && radix == 16 {
        return Err("a hexadecimal number needs digits".into());
    }
    if radix == 8 && digits.contains(['8', '9']) {
        return Err("an octal number has only the digits 0 to 7".into());
    }
    let digits = if digits.is_empty() { "0" } else { digits };
    // The digits are of this radix: only the size can be wrong.
    let value = u64::from_str_radix(digits, radix).map_err(|_| "does not fit in 64 bits")?;
    Ok((value, suffix))
}

fn is_hex(text: &str) -> bool {
    text.starts_with("0x") || text.starts_with("0X")
}

fn int_literal(text: &str, value: u64, suffix: &str) -> Result<Literal, NumberError> {
    let known = INT_SUFFIXES.iter().find(|(spelling, ..)| *spelling == suffix);
    let Some(&(_, width, signed)) = known else {
        return Err(wrong_int_suffix(text, suffix));
    };
    if width < 64 && value >> width != 0 {
        let text = if width == 32 { "does not fit in 32 bits" } else { "does not fit in 16 bits" };
        return Err(text.into());
    }
    Ok(Literal::Int { value, width, signed })
}

fn wrong_int_suffix(text: &str, suffix: &str) -> NumberError {
    if !is_hex(text) && FLOAT_SUFFIXES.iter().any(|(spelling, _)| *spelling == suffix) {
        return without_point(&text[..text.len() - suffix.len()], suffix);
    }
    "has a suffix that no integer has".into()
}

/// C and C# mark doubles by `d`, `L` or nothing.
fn wrong_float_suffix(number: &str, suffix: &str) -> NumberError {
    let instead = matches!(suffix, "d" | "D" | "l" | "L").then(|| format!("{number}lf"));
    NumberError { text: "has a suffix that no floating-point number has", instead }
}

fn without_point(digits: &str, suffix: &str) -> NumberError {
    let instead = Some(format!("{digits}.0{suffix}"));
    NumberError { text: "a floating-point number needs a point or an exponent", instead }
}

fn float_literal(text: &str) -> Result<Literal, NumberError> {
    let length = mantissa_and_exponent(text);
    let (number, suffix) = text.split_at(length);
    if number.ends_with(['e', 'E', '+', '-']) {
        return Err("the exponent needs digits".into());
    }
    let known = FLOAT_SUFFIXES.iter().find(|(spelling, _)| *spelling == suffix);
    let &(_, width) = known.ok_or_else(|| wrong_float_suffix(number, suffix))?;
    if !number.contains(['.', 'e', 'E']) {
        return Err(without_point(number, suffix));
    }
    let value = rounded(number, width).ok_or("is not a number")?;
    Ok(Literal::Float { value, width })
}

/// Length of the digits, point and exponent at the start of a text.
fn mantissa_and_exponent(text: &str) -> usize {
    let digit = |c: char| c.is_ascii_digit();
    let mantissa = text.find(|c| !digit(c) && c != '.').unwrap_or(text.len());
    let rest = &text[mantissa..];
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else { return mantissa };
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let end = digits.find(|c| !digit(c)).unwrap_or(digits.len());
    text.len() - digits.len() + end
}

fn rounded(number: &str, width: u8) -> Option<f64> {
    match width {
        4 => number.parse().ok().map(|value| Encoding::E2M1.format().round(value)),
        16 => number.parse().ok().map(|value| Format::HALF.round(value)),
        32 => number.parse::<f32>().ok().map(f64::from),
        _ => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: u64, width: u8, signed: bool) -> Result<Literal, NumberError> {
        Ok(Literal::Int { value, width, signed })
    }

    fn float(value: f64, width: u8) -> Result<Literal, NumberError> {
        Ok(Literal::Float { value, width })
    }

    #[test]
    fn integers_in_three_bases() {
        assert_eq!(literal("0"), int(0, 32, true));
        assert_eq!(literal("00"), int(0, 32, true));
        assert_eq!(literal("42u"), int(42, 32, false));
        assert_eq!(literal("017"), int(15, 32, true));
        assert_eq!(literal("0xFFFFFFFF"), int(0xffff_ffff, 32, true));
        assert_eq!(literal("0XeU"), int(14, 32, false));
        assert_eq!(literal("18446744073709551615ul"), int(u64::MAX, 64, false));
        assert_eq!(literal("65535us"), int(65535, 16, false));
        assert_eq!(literal("0x7fS"), int(127, 16, true));
    }

    #[test]
    fn wrong_integers() {
        for text in ["08", "0x", "4294967296", "65536s", "1ux", "1lu", "18446744073709551616ul", "0x1g", "12abc"] {
            assert!(literal(text).is_err(), "{text}");
        }
        assert_eq!(literal("1f").unwrap_err().instead.as_deref(), Some("1.0f"));
        assert_eq!(literal("2lf").unwrap_err().instead.as_deref(), Some("2.0lf"));
        assert_eq!(literal("2fe2m1").unwrap_err().instead.as_deref(), Some("2.0fe2m1"));
    }

    #[test]
    fn floats_are_rounded_to_their_width() {
        assert_eq!(literal("1."), float(1.0, 32));
        assert_eq!(literal(".5f"), float(0.5, 32));
        assert_eq!(literal("1.e2"), float(100.0, 32));
        assert_eq!(literal("0e0"), float(0.0, 32));
        assert_eq!(literal("01.5"), float(1.5, 32));
        assert_eq!(literal("0.1"), float(f64::from(0.1f32), 32));
        assert_eq!(literal("0.1lf"), float(0.1, 64));
        assert_eq!(literal("0.1hf"), float(0.0999755859375, 16));
        assert_eq!(literal("65520.0hf"), float(f64::INFINITY, 16));
        assert_eq!(literal("6e-8hf"), float(2f64.powi(-24), 16));
        assert_eq!(literal("2E-3F"), float(f64::from(0.002f32), 32));
        assert_eq!(literal("10.fe2m1"), float(6.0, 4));
        assert_eq!(literal("1e-1fe2m1"), float(0.0, 4));
    }

    #[test]
    fn wrong_floats() {
        for text in ["1.0e", "1e+", "1.0g", "1.0lF", "1.5u", "1.0ff", "1e5.0"] {
            assert!(literal(text).is_err(), "{text}");
        }
    }
}
