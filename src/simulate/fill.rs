//! The contents of buffers and push constants before a run, as people write them.

use super::element::Element;
use crate::kernel::Buffer;
use std::fmt;

/// Maximum number of bytes in a buffer.
pub const MOST_BYTES: usize = 1 << 30;

/// A buffer's place: its descriptor set, its binding, and its index in an array of buffers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot {
    pub set: u32,
    pub binding: u32,
    pub element: u32,
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Slot { set, binding, element } = self;
        if *set != 0 {
            write!(f, "{set}.")?;
        }
        write!(f, "{binding}")?;
        if *element != 0 { write!(f, "[{element}]") } else { Ok(()) }
    }
}

impl Slot {
    /// The place of a buffer.
    pub const fn of(buffer: &Buffer) -> Slot {
        Slot { set: buffer.set, binding: buffer.binding, element: buffer.element }
    }
}

/// `1` is binding 1 of set 0, `2.1` binding 1 of set 2, `3[4]` the fifth of an array of buffers at binding 3.
///
/// # Errors
/// Describes the expected text.
pub fn slot(text: &str) -> Result<Slot, String> {
    let number = |text: &str| text.parse::<u32>().ok();
    let (place, element) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((place, element)) => (place, number(element)),
        None => (text, Some(0)),
    };
    let (set, binding) = match place.split_once('.') {
        None => (Some(0), number(place)),
        Some((set, binding)) => (number(set), number(binding)),
    };
    let whole = set.zip(binding).zip(element);
    whole
        .map(|((set, binding), element)| Slot { set, binding, element })
        .ok_or_else(|| format!("`{text}` is not a binding: write BINDING or SET.BINDING"))
}

/// The bytes that a text describes: `zeros:f32:64`, `iota:u32:64`, `random:f32:64:SEED`, `i32:1,2,3`; `None` for other
/// texts.
///
/// # Errors
/// Describes the error in the text.
pub fn bytes(text: &str) -> Option<Result<Vec<u8>, String>> {
    let parts: Vec<&str> = text.split(':').collect();
    let described = match parts[..] {
        ["zeros", element, count] => generated(element, count, |_| 0.0),
        ["iota", element, count] => generated(element, count, |n| n as f64),
        ["random", element, count] => random(element, count, "0"),
        ["random", element, count, seed] => random(element, count, seed),
        ["zeros" | "iota" | "random", ..] => {
            Err("write it as zeros:TYPE:COUNT, iota:TYPE:COUNT or random:TYPE:COUNT:SEED".into())
        }
        [element, values] if Element::named(element).is_some() => listed(element, values),
        _ => return None,
    };
    Some(described.map_err(|why| format!("`{text}`: {why}")))
}

fn element(name: &str) -> Result<Element, String> {
    Element::named(name).ok_or_else(|| format!("there is no type `{name}`; there are {}", Element::names()))
}

fn count(text: &str, element: Element) -> Result<usize, String> {
    let count: usize = text.parse().map_err(|_| format!("`{text}` is not a number of elements"))?;
    match count.checked_mul(element.bytes()) {
        Some(..=MOST_BYTES) => Ok(count),
        _ => Err(format!("more than {MOST_BYTES} bytes are too many")),
    }
}

fn generated(name: &str, number: &str, value: impl Fn(usize) -> f64) -> Result<Vec<u8>, String> {
    let element = element(name)?;
    Ok((0..count(number, element)?).flat_map(|n| element.encode(value(n))).collect())
}

fn listed(name: &str, values: &str) -> Result<Vec<u8>, String> {
    let element = element(name)?;
    let one = |text: &str| element.parse(text).ok_or_else(|| format!("`{text}` is not a value of type {name}"));
    values.split(',').map(one).collect::<Result<Vec<_>, _>>().map(|values| values.concat())
}

/// Floats from 0 up to 1, integers of any bits.
fn random(name: &str, number: &str, seed: &str) -> Result<Vec<u8>, String> {
    let (element, seed) = (element(name)?, seed.parse::<u64>().map_err(|_| format!("`{seed}` is not a seed"))?);
    let one = |n: usize| {
        let bits = scrambled(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(n as u64));
        match element {
            Element::Int { bytes, .. } => bits.to_le_bytes()[..bytes].to_vec(),
            // Every float type represents integers of 10 bits exactly.
            Element::Float { bytes: 2 } => element.encode((bits >> 54) as f64 / 1024.0),
            Element::Float { .. } => element.encode((bits >> 40) as f64 / f64::from(1 << 24)),
        }
    };
    Ok((0..count(number, element)?).flat_map(one).collect())
}

/// The mixing steps of splitmix64.
fn scrambled(state: u64) -> u64 {
    let mut x = state.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<u32> {
        let bytes = bytes(text).expect("a fill").unwrap_or_else(|why| panic!("{why}"));
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }

    #[test]
    fn fills_are_what_they_say() {
        assert_eq!(words("iota:u32:4"), [0, 1, 2, 3]);
        assert_eq!(words("iota:f32:2"), [0, 1.0_f32.to_bits()]);
        assert_eq!(words("i32:-1,0x10"), [u32::MAX, 16]);
        assert_eq!(words("zeros:u64:1"), [0, 0]);
        let unit = words("random:f32:100:7").into_iter().map(f32::from_bits).collect::<Vec<_>>();
        assert!(unit.iter().all(|x| (0.0..1.0).contains(x)) && unit[0] != unit[1]);
        assert_eq!(words("random:u32:8:1"), words("random:u32:8:1"));
        assert_ne!(words("random:u32:8:1"), words("random:u32:8:2"));
    }

    #[test]
    fn wrong_fills_say_why() {
        let why = |text: &str| bytes(text).expect("a fill").expect_err("it is wrong");
        assert!(why("iota:u33:4").contains("there is no type `u33`"), "{}", why("iota:u33:4"));
        assert!(why("iota:u32").contains("write it as"));
        assert!(why("zeros:f64:9999999999").contains("too many"));
        assert!(why("random:f32:4:x").contains("is not a seed"));
        assert!(why("u8:1,300").contains("`300` is not a value of type u8"));
        assert_eq!(bytes("no/such/file"), None);
    }

    #[test]
    fn bindings_have_sets() {
        let kept = ["3", "2.1", "7[2]", "1.0[3]"];
        assert!(kept.iter().all(|text| slot(text).is_ok_and(|slot| slot.to_string() == *text)));
        assert!(["x", "1.", "3[", "3[x]", "-1"].iter().all(|text| slot(text).is_err()));
    }
}
