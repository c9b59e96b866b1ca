//! Built-in values that a language, or a version of it, lacks: the caller provides them in constant buffers.

use super::ports::Given;
use super::slots::Role;
use super::writer::Writer;
use crate::ir::{BuiltIn, Space};
use crate::source::Span;

/// A constant buffer with values from the caller.
pub(super) struct HostBlock {
    pub name: &'static str,
    pub role: Role,
    /// Its register, if fixed.
    pub index: u32,
    /// Each value with its type and default member name: all are declared, so that their offsets are fixed.
    pub values: &'static [(BuiltIn, &'static str, &'static str)],
}

/// A value of a block, and the source's variable if the shader uses it.
pub(super) struct HostValue {
    pub ty: &'static str,
    pub unused: &'static str,
    pub given: Option<Given>,
}

impl HostBlock {
    /// Returns true if the block has a value.
    pub fn has(&self, of: BuiltIn) -> bool {
        self.values.iter().any(|(value, ..)| *value == of)
    }

    /// The values of the block, with the place of each one that the shader uses and that `is_asked` selects; empty if
    /// it uses none.
    pub fn used(&self, t: &Writer, is_asked: impl Fn(BuiltIn) -> bool) -> Option<(Span, Vec<HostValue>)> {
        let value = |(of, ty, unused): &(BuiltIn, &'static str, &'static str)| {
            let given = t.ports.find(*of, Space::Input).filter(|_| is_asked(*of)).cloned();
            HostValue { ty, unused, given }
        };
        let values: Vec<HostValue> = self.values.iter().map(value).collect();
        let span = values.iter().find_map(|value| value.given.as_ref())?.span;
        Some((span, values))
    }
}
