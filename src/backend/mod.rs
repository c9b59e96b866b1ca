//! Targets: each writes one output format, SPIR-V from an [`crate::ir::Module`], assembly from a [`crate::kernel::Kernel`].
//! A target knows no source language.

pub mod amd;
pub mod nv;
mod range;
pub mod reflection;
pub mod spirv;
pub mod written;

/// What a debugger is told, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum DebugInfo {
    #[default]
    None,
    /// Names of variables, types and functions. SPIR-V only.
    Names,
    /// Names, source text and lines.
    Lines,
    /// These, and scopes, variables and types. SPIR-V only; elsewhere the same as lines.
    Full,
}

impl DebugInfo {
    /// Whether source lines are told.
    pub fn has_lines(self) -> bool {
        self >= DebugInfo::Lines
    }
}

/// `true` stands for names and lines.
impl From<bool> for DebugInfo {
    fn from(lines: bool) -> DebugInfo {
        if lines { DebugInfo::Lines } else { DebugInfo::None }
    }
}
