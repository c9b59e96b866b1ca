//! The number types that buffers are filled with and printed as.

use super::numbers::all;
use crate::ir::fold::{f16_to_f64, f64_to_f16};
use crate::sim::Memory;

/// A number type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    Int { bytes: usize, signed: bool },
    Float { bytes: usize },
}

/// The names of the types.
static NAMES: &[(&str, Element)] = &[
    ("u32", Element::Int { bytes: 4, signed: false }),
    ("i32", Element::Int { bytes: 4, signed: true }),
    ("f32", Element::Float { bytes: 4 }),
    ("u8", Element::Int { bytes: 1, signed: false }),
    ("i8", Element::Int { bytes: 1, signed: true }),
    ("u16", Element::Int { bytes: 2, signed: false }),
    ("i16", Element::Int { bytes: 2, signed: true }),
    ("f16", Element::Float { bytes: 2 }),
    ("u64", Element::Int { bytes: 8, signed: false }),
    ("i64", Element::Int { bytes: 8, signed: true }),
    ("f64", Element::Float { bytes: 8 }),
];

impl Element {
    pub const U32: Element = Element::Int { bytes: 4, signed: false };

    /// The type of a name.
    pub fn named(name: &str) -> Option<Element> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, element)| *element)
    }

    /// All names, for messages.
    pub fn names() -> String {
        NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, element)| *element == self).map_or("", |(name, _)| name)
    }

    /// Bytes of a number.
    pub const fn bytes(self) -> usize {
        match self {
            Element::Int { bytes, .. } | Element::Float { bytes } => bytes,
        }
    }

    /// Little-endian bytes of a small number, rounded to the type.
    pub fn encode(self, value: f64) -> Vec<u8> {
        match self {
            Element::Int { bytes, .. } => (value as i64).to_le_bytes()[..bytes].to_vec(),
            Element::Float { bytes: 2 } => f64_to_f16(value).to_le_bytes().to_vec(),
            Element::Float { bytes: 4 } => (value as f32).to_le_bytes().to_vec(),
            Element::Float { .. } => value.to_le_bytes().to_vec(),
        }
    }

    /// The bytes of a number in the usual notation: `-3`, `0x1f`, `1.5`; `None` if it does not fit in the type.
    pub fn parse(self, text: &str) -> Option<Vec<u8>> {
        let Element::Int { bytes, signed } = self else { return text.parse().ok().map(|value| self.encode(value)) };
        let value = match text.strip_prefix("0x") {
            Some(digits) => i128::from(u64::from_str_radix(digits, 16).ok()?),
            None => text.parse().ok()?,
        };
        let limit = 1_i128 << (8 * bytes - usize::from(signed));
        let least = if signed { -limit } else { 0 };
        (least..limit).contains(&value).then(|| value.to_le_bytes()[..bytes].to_vec())
    }

    /// Its bytes in the usual notation.
    pub fn show(self, bytes: &[u8]) -> String {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        let unused = 64 - 8 * bytes.len();
        match self {
            Element::Int { signed: false, .. } => bits.to_string(),
            Element::Int { .. } => (((bits << unused) as i64) >> unused).to_string(),
            Element::Float { bytes: 2 } => format!("{:?}", f16_to_f64(bits as u16) as f32),
            Element::Float { bytes: 4 } => format!("{:?}", f32::from_bits(bits as u32)),
            Element::Float { .. } => format!("{:?}", f64::from_bits(bits)),
        }
    }

    /// The number at a byte of a memory in the usual notation; `?` for an undefined one.
    pub fn cell(self, memory: &Memory, at: usize) -> String {
        let bytes = self.bytes();
        match memory.is_undefined(at, bytes) {
            true => "?".to_string(),
            false => self.show(&memory.bytes()[at..at + bytes]),
        }
    }

    /// The first numbers of a memory, at most `limit`.
    pub fn cells(self, memory: &Memory, limit: usize) -> Vec<String> {
        all(self, memory.len()).take(limit).map(|(at, _)| self.cell(memory, at)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_type() {
        let of = |name: &str, text: &str| {
            let element = Element::named(name).expect("a name");
            element.parse(text).map(|bytes| element.show(&bytes))
        };
        let kept = [("u8", "255"), ("i16", "-32768"), ("u64", "18446744073709551615"), ("f32", "0.1"), ("f16", "1.5")];
        assert!(kept.iter().all(|(name, text)| of(name, text).as_deref() == Some(text)));
        assert_eq!(of("i32", "0x7f").as_deref(), Some("127"));
        let refused = [("u8", "256"), ("u32", "-1"), ("i8", "128"), ("i32", "1.5"), ("f32", "one")];
        assert!(refused.iter().all(|(name, text)| of(name, text).is_none()));
    }
}
