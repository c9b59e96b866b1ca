//! Built-in values that a language, or a version of it, does not have: the caller puts them into constant buffers.

use super::ports::Given;
use super::slots::Role;
use super::writer::Writer;
use crate::ir::{BuiltIn, Space};
use crate::source::Span;

/// A constant buffer with values of the caller's.
pub(super) struct HostBlock {
    pub name: &'static str,
    pub role: Role,
    /// Its register, where that is fixed.
    pub index: u32,
    /// Each value with its type and the name of its member where a shader does not use it: all are declared, so that none moves.
    pub values: &'static [(BuiltIn, &'static str, &'static str)],
}

/// A value of a block, and the variable of the source where the shader uses it.
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

    /// The values of the block, with the place where the shader uses one that `is_asked` returns true for; nothing if it uses none.
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
