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
    WiderThanSubgroup { width: u32, subgroup: u32 },
}

impl RuleError {
    pub const fn code(&self) -> Code {
        match self {
            RuleError::NotPowerOfTwo { .. } => Code::WIDTH_INVALID,
            RuleError::OutOfRange { .. } => Code::ARGUMENT_RANGE,
            RuleError::WiderThanSubgroup { .. } => Code::TOO_WIDE,
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
            RuleError::WiderThanSubgroup { width, subgroup } => {
                write!(f, "a segment of {width} lanes does not fit into a subgroup of {subgroup}")
            }
        }
    }
}

impl Rule {
    /// Checks a known value; `subgroup` is the subgroup size if it is fixed.
    ///
    /// # Errors
    /// Describes the error.
    pub fn check(self, value: i128, subgroup: Option<u32>) -> Result<(), RuleError> {
        match self {
            Rule::None => Ok(()),
            Rule::Range { low, high } => match (i128::from(low)..=i128::from(high)).contains(&value) {
                true => Ok(()),
                false => Err(RuleError::OutOfRange { value, low, high }),
            },
            Rule::Log2 { low, high } => {
                Rule::Range { low, high }.check(value, None)?;
                check_width(1 << value.clamp(0, 31), subgroup)
            }
            Rule::Width { low, high } => {
                let width = u32::try_from(value).ok().filter(|w| w.is_power_of_two() && (low..=high).contains(w));
                check_width(width.ok_or(RuleError::NotPowerOfTwo { value, low, high })?, subgroup)
            }
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

/// Checks that a segment fits into the subgroup.
///
/// # Errors
/// Returns an error if the segment is wider than a subgroup of fixed size.
pub fn check_width(width: u32, subgroup: Option<u32>) -> Result<(), RuleError> {
    match subgroup {
        Some(subgroup) if width > subgroup => Err(RuleError::WiderThanSubgroup { width, subgroup }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: Rule = Rule::Width { low: 2, high: 64 };

    #[test]
    fn widths_are_powers_of_two_that_fit() {
        assert_eq!(WIDTH.check(16, None), Ok(()));
        assert_eq!(WIDTH.check(12, None).map_err(|e| e.code()), Err(Code::WIDTH_INVALID));
        assert_eq!(WIDTH.check(-2, None).map_err(|e| e.code()), Err(Code::WIDTH_INVALID));
        assert_eq!(WIDTH.check(64, Some(32)), Err(RuleError::WiderThanSubgroup { width: 64, subgroup: 32 }));
    }

    #[test]
    fn ranges_include_their_bounds() {
        let rule = Rule::Range { low: 0, high: 3 };
        assert_eq!(rule.check(3, None), Ok(()));
        assert!(rule.check(4, None).is_err() && rule.check(-1, None).is_err());
    }

    #[test]
    fn logarithms_mean_widths() {
        let rule = Rule::Log2 { low: 0, high: 6 };
        assert_eq!((rule.check(5, Some(32)), rule.meant(5)), (Ok(()), 32));
        assert_eq!(rule.check(6, Some(32)), Err(RuleError::WiderThanSubgroup { width: 64, subgroup: 32 }));
        assert_eq!(rule.check(7, None).map_err(|e| e.code()), Err(Code::ARGUMENT_RANGE));
    }
}
