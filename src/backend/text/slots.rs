//! Numbers of resources in languages that number each kind apart: the registers of HLSL, the indices of MSL.

use super::language::Language;
use super::translator::source_span;
use crate::backend::places::{Place, Places};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use naga::{AddressSpace, GlobalVariable, ImageClass, ResourceBinding, StorageAccess, TypeInner};
use std::collections::BTreeMap;
use std::fmt;

/// A resource with its number.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub name: String,
    /// The binding of the variable in naga's module; none for what has no variable.
    pub key: Option<ResourceBinding>,
    /// Set and binding in the source; none for push constants and for what has no variable.
    pub binding: Option<ResourceBinding>,
    /// The kind, which has numbers of its own.
    pub kind: &'static str,
    /// The space of the number; 0 where there is one space.
    pub space: u32,
    pub index: u32,
    pub is_written: bool,
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

/// The slots of a module's variables, in the order of their bindings: each as `number` says, which gets the place that
/// options choose for it.
pub(super) fn of_variables(
    module: &naga::Module,
    places: &Places,
    language: &Language,
    mut number: impl FnMut(&GlobalVariable, ResourceBinding, Option<Place>) -> (&'static str, u32, u32),
) -> Vec<Slot> {
    let variables = module.global_variables.iter();
    let mut bound: Vec<_> =
        variables.filter_map(|(handle, variable)| Some((variable.binding?, handle, variable))).collect();
    bound.sort_by_key(|(binding, ..)| (binding.group, binding.binding));
    let slot = |(key, handle, variable): (ResourceBinding, _, &GlobalVariable)| {
        let is_push = language.push_constants == Some(key);
        let place = if is_push { places.push_constants } else { places.of(key.group, key.binding) };
        let (kind, space, index) = number(variable, key, place);
        Slot {
            name: variable.name.clone().unwrap_or_default(),
            key: Some(key),
            binding: Some(key).filter(|_| !is_push),
            kind,
            space,
            index,
            is_written: is_written(module, variable),
            span: source_span(module.global_variables.get_span(handle)),
        }
    };
    bound.into_iter().map(slot).collect()
}

/// Returns true if a shader may write a resource.
pub(super) fn is_written(module: &naga::Module, variable: &GlobalVariable) -> bool {
    let access = match (variable.space, &module.types[variable.ty].inner) {
        (AddressSpace::Storage { access }, _) => access,
        (_, TypeInner::Image { class: ImageClass::Storage { access, .. }, .. }) => *access,
        _ => StorageAccess::empty(),
    };
    access.contains(StorageAccess::STORE)
}

/// Reports numbers that the language does not have, and such as two resources of one entry point have.
pub(super) fn check(slots: &[Slot], language: &Language, name: &str, is_alone: bool) -> Vec<Diagnostic> {
    let mut taken = BTreeMap::new();
    let wrong = slots.iter().filter_map(|slot| {
        let most = (language.most_slots)(slot.kind);
        let other = taken.insert((slot.kind, slot.space, slot.index), &slot.name).filter(|_| is_alone);
        let message = match other {
            _ if slot.space > most.space || slot.index > most.index => language.lacks(&slot.to_string(), name),
            Some(other) => format!("`{other}` is at {slot} too"),
            None => return None,
        };
        Some(Diagnostic::error(Code::NOT_SUPPORTED, message).at(slot.span, ""))
    });
    wrong.collect()
}

/// The largest numbers that a kind of resource can have.
pub(super) struct Most {
    pub space: u32,
    pub index: u32,
}
