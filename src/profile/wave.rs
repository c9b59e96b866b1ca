//! The sizes that a subgroup may have.

use serde::{Deserialize, Deserializer, de};
use std::fmt;
use std::str::FromStr;

/// The lanes of a subgroup, as profiles, manifests and `--wave-size` state them: `32`, `16..` or `any`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaveSize {
    /// As many as the driver chooses.
    Any,
    /// As many as the driver chooses, and at least so many.
    Least(u32),
    Fixed(u32),
}

/// The fewest lanes of a subgroup that any driver with cross-lane operations has; CPU drivers and some mobile GPUs have so few.
pub const LEAST: u32 = 4;

/// The most lanes of a subgroup (`maxSubgroupSize` in Vulkan, `subgroupMaxSize` in WebGPU).
const MOST: u32 = 128;

impl WaveSize {
    /// The number of lanes; none when only the running driver knows.
    pub fn lanes(self) -> Option<u32> {
        match self {
            WaveSize::Fixed(lanes) => Some(lanes),
            WaveSize::Any | WaveSize::Least(_) => None,
        }
    }

    /// The lanes that every subgroup has.
    pub fn least(self) -> u32 {
        match self {
            WaveSize::Any => LEAST,
            WaveSize::Least(lanes) | WaveSize::Fixed(lanes) => lanes,
        }
    }

    /// Returns true if a subgroup of so many lanes keeps the promise.
    pub fn allows(self, lanes: u32) -> bool {
        match self {
            WaveSize::Any => true,
            WaveSize::Least(least) => lanes >= least,
            WaveSize::Fixed(only) => lanes == only,
        }
    }

    /// The promise that keeps both; none if no size does.
    pub fn and(self, other: WaveSize) -> Option<WaveSize> {
        let (wide, narrow) = if self.rank() < other.rank() { (self, other) } else { (other, self) };
        match (wide, narrow) {
            (WaveSize::Least(a), WaveSize::Least(b)) => Some(WaveSize::Least(a.max(b))),
            (WaveSize::Any, _) => Some(narrow),
            (_, WaveSize::Fixed(lanes)) if wide.allows(lanes) => Some(narrow),
            _ => None,
        }
    }

    /// Orders the kinds from the one with the most sizes to the one with the fewest.
    fn rank(self) -> u8 {
        match self {
            WaveSize::Any => 0,
            WaveSize::Least(_) => 1,
            WaveSize::Fixed(_) => 2,
        }
    }

    /// The size of these that is nearest to a usual one.
    pub fn nearest(self, usual: u32) -> u32 {
        match self {
            WaveSize::Any => usual,
            WaveSize::Least(least) => usual.max(least),
            WaveSize::Fixed(lanes) => lanes,
        }
    }

    /// `subgroups of 16 lanes and more`.
    pub fn in_words(self) -> String {
        match self {
            WaveSize::Any => "subgroups of any size".into(),
            WaveSize::Least(lanes) => format!("subgroups of {lanes} lanes and more"),
            WaveSize::Fixed(lanes) => format!("subgroups of {lanes} lanes"),
        }
    }

    /// The comment at the top of a text that is for such subgroups.
    pub fn remark(self) -> String {
        format!("For {}.", self.in_words())
    }

    /// # Errors
    /// A sentence, if no subgroup has so many lanes.
    pub fn check(self) -> Result<(), String> {
        let lanes = self.least();
        let is_size = lanes.is_power_of_two() && (LEAST..=MOST).contains(&lanes);
        if is_size { Ok(()) } else { Err(format!("{lanes} is not a power of two from {LEAST} to {MOST}")) }
    }
}

impl From<Option<u32>> for WaveSize {
    fn from(lanes: Option<u32>) -> WaveSize {
        lanes.map_or(WaveSize::Any, WaveSize::Fixed)
    }
}

impl FromStr for WaveSize {
    type Err = String;

    fn from_str(text: &str) -> Result<WaveSize, String> {
        let (digits, size): (_, fn(u32) -> WaveSize) = match text.strip_suffix("..") {
            _ if text == "any" => return Ok(WaveSize::Any),
            Some(digits) => (digits, WaveSize::Least),
            None => (text, WaveSize::Fixed),
        };
        let lanes = digits.parse().map_err(|_| "a wave size is a number such as 32, a minimum such as 16.., or any")?;
        let size = size(lanes);
        size.check().map(|()| size)
    }
}

impl fmt::Display for WaveSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaveSize::Any => f.write_str("any"),
            WaveSize::Least(lanes) => write!(f, "{lanes}.."),
            WaveSize::Fixed(lanes) => write!(f, "{lanes}"),
        }
    }
}

impl<'de> Deserialize<'de> for WaveSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<WaveSize, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = WaveSize;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of lanes, a minimum such as \"16..\", or \"any\"")
            }

            fn visit_i64<E: de::Error>(self, lanes: i64) -> Result<WaveSize, E> {
                u32::try_from(lanes)
                    .map(WaveSize::Fixed)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(lanes), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<WaveSize, E> {
                text.parse().map_err(E::custom)
            }
        }
        from.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for size in [WaveSize::Any, WaveSize::Least(16), WaveSize::Fixed(4), WaveSize::Fixed(128)] {
            assert_eq!(size.to_string().parse(), Ok(size));
        }
    }

    #[test]
    fn both_of_two_promises_are_kept() {
        let and = |a: &str, b: &str| -> Option<String> {
            let size = |text: &str| text.parse::<WaveSize>().expect("a size");
            let both = size(a).and(size(b));
            assert_eq!(both, size(b).and(size(a)), "{a} and {b}");
            both.map(|both| both.to_string())
        };
        assert_eq!(and("any", "any").as_deref(), Some("any"));
        assert_eq!(and("any", "16..").as_deref(), Some("16.."));
        assert_eq!(and("8..", "16..").as_deref(), Some("16.."));
        assert_eq!(and("16..", "32").as_deref(), Some("32"));
        assert_eq!(and("32", "32").as_deref(), Some("32"));
        assert_eq!((and("64..", "32"), and("32", "64")), (None, None));
    }

    #[test]
    fn sizes_that_no_subgroup_has_are_refused() {
        for text in ["2", "12", "256..", "..", "16..32", "-4", "", "Any"] {
            assert!(text.parse::<WaveSize>().is_err(), "{text}");
        }
    }
}
