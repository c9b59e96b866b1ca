//! Compares the final buffer contents of two machines.
//!
//! Words that are undefined in the simulator are not compared. All others must have the same bits, except floats: all
//! NaNs are equal, zeros of both signs are equal, a device may flush a subnormal to zero, and a relative tolerance can
//! be set for functions that drivers may approximate. The buffer's type shows which words are floats.

use super::numbers::scalar_at;
use crate::ir::fold::f16_to_f64;
use crate::ir::{Module, TypeId};
use crate::sim::Memory;

/// A place where two buffers differ.
#[derive(Debug, PartialEq)]
pub struct Difference {
    /// Of the first byte of the number.
    pub byte: usize,
    /// The two machines' values there.
    pub numbers: [String; 2],
}

/// The first difference between buffers of a type, and how many there are.
pub fn compare(module: &Module, ty: TypeId, [a, b]: [&Memory; 2], within: f64) -> Option<(Difference, usize)> {
    let (mut first, mut count, mut at) = (None, 0, 0);
    while at < a.len().min(b.len()) {
        let float = scalar_at(module, ty, at).filter(|scalar| scalar.is_float()).map(|scalar| scalar.bytes() as usize);
        let bytes = float.unwrap_or(4).min(a.len() - at);
        let undefined = a.is_undefined(at, bytes) || b.is_undefined(at, bytes);
        let words = [&a.bytes()[at..at + bytes], &b.bytes()[at..at + bytes]];
        let same = words[0] == words[1] || undefined || float.is_some() && agree(words.map(float_of), within, bytes);
        if !same {
            count += 1;
            first = first.or_else(|| Some(Difference { byte: at, numbers: words.map(|word| show(word, float)) }));
        }
        at += bytes;
    }
    first.map(|difference| (difference, count))
}

fn float_of(word: &[u8]) -> f64 {
    match *word {
        [a, b] => f16_to_f64(u16::from_le_bytes([a, b])),
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => f64::NAN,
    }
}

fn agree([a, b]: [f64; 2], within: f64, bytes: usize) -> bool {
    let least = match bytes {
        2 => 6.103_515_625e-5,
        4 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    };
    let flushed = |x: f64, y: f64| x == 0.0 && y.abs() < least;
    a == b
        || a.is_nan() && b.is_nan()
        || flushed(a, b)
        || flushed(b, a)
        || a.is_finite() && (a - b).abs() <= within * a.abs()
}

fn show(word: &[u8], float: Option<usize>) -> String {
    match (float, word) {
        (Some(8), _) => format!("{:?}", float_of(word)),
        (Some(_), _) => format!("{:?}", float_of(word) as f32),
        (None, [a, b, c, d]) => format!("{:#010x}", u32::from_le_bytes([*a, *b, *c, *d])),
        (None, _) => format!("{word:x?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_agree_as_far_as_devices_must() {
        let same = |a: f32, b: f32, within| agree([a.into(), b.into()], within, 4);
        assert!(same(f32::NAN, -f32::NAN, 0.0) && same(0.0, -0.0, 0.0) && same(1e-40, 0.0, 0.0));
        assert!(!same(1.0, 1.000_001, 0.0) && same(1.0, 1.000_001, 1e-5));
        assert!(!same(f32::INFINITY, f32::MAX, 1e-5) && !same(1e-30, 0.0, 0.0));
    }
}
