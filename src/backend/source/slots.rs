//! Numbers of resources in languages that number each kind separately: HLSL's registers, MSL's indices.

use super::language::Language;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::BTreeMap;
use std::fmt;

/// The part that a resource plays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Role {
    /// A resource by its set and binding in the source.
    Resource(u32, u32),
    /// The sampler of the combined texture with this set and binding.
    Sampler(u32, u32),
    /// The argument buffer of a set.
    ArgumentBuffer(u32),
    PushConstants,
    /// The buffer with the number of workgroups.
    WorkgroupCount,
    /// The buffer with the first vertex and instance of a draw, and its number.
    DrawParameters,
    /// A buffer that passes values between stages, by its role.
    Stage(&'static str),
    /// The buffer with the sizes of others.
    BufferSizes,
}

impl Role {
    /// Set and binding in the source, if any.
    pub fn binding(self) -> Option<(u32, u32)> {
        match self {
            Role::Resource(set, binding) | Role::Sampler(set, binding) => Some((set, binding)),
            Role::ArgumentBuffer(_)
            | Role::PushConstants
            | Role::WorkgroupCount
            | Role::DrawParameters
            | Role::Stage(_)
            | Role::BufferSizes => None,
        }
    }
}

/// A resource with its number.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub name: String,
    pub role: Role,
    /// The kind, which is numbered separately.
    pub kind: &'static str,
    /// The space of the number; 0 if there is one space.
    pub space: u32,
    pub index: u32,
    /// The number of indices of an array, from `index` on.
    pub count: u32,
    pub span: Span,
}

/// `t3 of space 1`, `buffer 3`
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Slot { kind, space, index, .. } = self;
        let gap = if kind.len() > 1 { " " } else { "" };
        write!(f, "{kind}{gap}{index}")?;
        if *space > 0 { write!(f, " of space {space}") } else { Ok(()) }
    }
}

/// Reports numbers that the language does not have, and such as two resources have.
pub(super) fn check(slots: &[Slot], language: &dyn Language) -> Vec<Diagnostic> {
    let mut taken = BTreeMap::new();
    let wrong = slots.iter().filter_map(|slot| {
        let last = slot.index.saturating_add(slot.count.saturating_sub(1));
        let (space, most) = language.most_slots(slot.kind);
        let message = if slot.space > space || last > most {
            let over = Slot { index: last, ..slot.clone() };
            format!("{} has no {over}", language.name())
        } else {
            let numbers = slot.index..=last;
            let other = numbers.filter_map(|n| taken.insert((slot.kind, slot.space, n), &slot.name)).last()?;
            format!("`{other}` is at {slot} too")
        };
        Some(Diagnostic::error(Code::NOT_SUPPORTED, message).at(slot.span, ""))
    });
    wrong.collect()
}
