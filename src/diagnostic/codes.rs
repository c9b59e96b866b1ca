//! The stable codes of all messages. A code, once released, keeps its meaning; a removed one is not used again.
//!
//! Ranges: E00xx input, E01xx preprocessor, E02xx GLSL syntax, E03xx names, types and expressions, E04xx declarations
//! and layouts, E05xx cross-lane operations, E06xx WGSL, E07xx profiles and targets, E09xx limits and internal checks;
//! W: the same ranges, as warnings.

use std::fmt;

/// A stable message code such as `E0301`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)+) => {
        impl Code {
            $($(#[doc = $doc])+ pub const $name: Code = Code($code);)+
        }

        /// Every code with what it means, in ascending order.
        pub static ALL: &[(Code, &str)] = &[$((Code::$name, concat!($($doc),+))),+];
    };
}

codes! {
    // Input.
    /// The input is not UTF-8.
    NOT_UTF8 = "E0001";
    /// The input, with everything it includes, is too large.
    TOO_LARGE = "E0002";
    /// A NUL byte or another character that no language here allows.
    BAD_CHARACTER = "E0003";

    // Preprocessor.

    // GLSL syntax.
    /// Something else was expected here.
    SYNTAX = "E0200";
    /// Nesting is deeper than the compiler follows.
    TOO_DEEP = "E0201";

    // Names, types and expressions.
    /// No declaration of this name is in scope.
    UNKNOWN_NAME = "E0300";
    /// No function of this name is known.
    UNKNOWN_FUNCTION = "E0301";
    /// No overload takes these arguments.
    NO_OVERLOAD = "E0302";
    /// A value of another type is needed here.
    TYPE_MISMATCH = "E0303";

    // Declarations and layouts.

    // Cross-lane operations.
    /// The operation needs an `#extension` line that the shader does not have.
    MISSING_EXTENSION = "E0500";

    // WGSL.

    // Profiles and targets.
    /// The language has it, crosslane does not support it yet.
    NOT_SUPPORTED = "E0700";

    // Limits and internal checks.
    /// A check inside the compiler failed: a defect of crosslane, not of the shader.
    INTERNAL = "E0900";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn codes_ascend_and_are_unique() {
        assert!(ALL.windows(2).all(|pair| pair[0].0.0 < pair[1].0.0), "codes.rs: out of order or used twice");
    }
}
