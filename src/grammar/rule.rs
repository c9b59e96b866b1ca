//! Rules for constant arguments, shared by all front ends.

use super::Rule;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::fmt;

/// The violation of an argument's rule; its `Display` is the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleError {
    NotPowerOfTwo { value: i128, low: u32, high: u32 },
    OutOfRange { value: i128, low: u32, high: u32 },
}

impl RuleError {
    pub const fn code(&self) -> Code {
        match self {
            RuleError::NotPowerOfTwo { .. } => Code::WIDTH_INVALID,
            RuleError::OutOfRange { .. } => Code::ARGUMENT_RANGE,
        }
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleError::NotPowerOfTwo { value, low, high } => {
                write!(f, "the width {value} is not a power of two from {low} to {high}")
            }
            RuleError::OutOfRange { value, low, high } => write!(f, "{value} is not in the range {low} to {high}"),
        }
    }
}

impl Rule {
    /// Checks a known value.
    ///
    /// # Errors
    /// Describes the error.
    pub fn check(self, value: i128) -> Result<(), RuleError> {
        let is_right = |low: u32, high: u32| (i128::from(low)..=i128::from(high)).contains(&value);
        match self {
            Rule::Range { low, high } | Rule::Log2 { low, high } if !is_right(low, high) => {
                Err(RuleError::OutOfRange { value, low, high })
            }
            Rule::Width { low, high } if !is_right(low, high) || value.count_ones() != 1 => {
                Err(RuleError::NotPowerOfTwo { value, low, high })
            }
            _ => Ok(()),
        }
    }
}

impl Rule {
    /// The value that the operation uses for an argument: a width if the argument is its logarithm.
    pub fn meant(self, value: u32) -> u32 {
        match self {
            Rule::Log2 { .. } => 1u32.checked_shl(value).unwrap_or(0),
            _ => value,
        }
    }
}

/// The error at a constant that exists only in profiles with a known subgroup size.
pub fn size_unknown(name: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` is a constant, and the profile does not say how many lanes a subgroup has");
    Diagnostic::error(Code::PROFILE_LACKS, message).at(span, "not known").note("set it by --wave-size")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: Rule = Rule::Width { low: 2, high: 64 };

    #[test]
    fn widths_are_powers_of_two() {
        assert_eq!(WIDTH.check(64), Ok(()));
        for wrong in [12, -2, 128, 1, 0] {
            assert_eq!(WIDTH.check(wrong).map_err(|e| e.code()), Err(Code::WIDTH_INVALID));
        }
    }

    #[test]
    fn ranges_include_their_bounds() {
        let rule = Rule::Range { low: 0, high: 3 };
        assert_eq!(rule.check(3), Ok(()));
        assert!(rule.check(4).is_err() && rule.check(-1).is_err());
    }

    #[test]
    fn logarithms_mean_widths() {
        let rule = Rule::Log2 { low: 0, high: 6 };
        assert_eq!((rule.check(5), rule.meant(5)), (Ok(()), 32));
        assert_eq!(rule.check(7).map_err(|e| e.code()), Err(Code::ARGUMENT_RANGE));
    }
}
