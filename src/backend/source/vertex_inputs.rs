//! Vertex inputs at the places that the user chose.

use crate::backend::places::{InputPlace, Places};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Binding, Module, Space, Stage};
use std::collections::BTreeMap;

/// Moves the inputs of a vertex shader to other locations.
///
/// # Errors
/// Returns an error if two inputs then have the same location, or the same semantic in a language with semantics.
pub(super) fn place(module: &mut Module, places: &Places, has_semantics: bool) -> Result<(), Vec<Diagnostic>> {
    if module.entry_points.first().is_none_or(|entry| entry.stage != Stage::Vertex) {
        return Ok(());
    }
    let mut taken: BTreeMap<(String, u32, u32), String> = BTreeMap::new();
    for id in module.globals.handles() {
        let global = &mut module.globals[id];
        let Binding::Location { location: Some(location), component, .. } = &mut global.binding else { continue };
        if global.space != Space::Input {
            continue;
        }
        if let Some(InputPlace::Location(chosen)) = places.inputs.get(location) {
            *location = *chosen;
        }
        let semantic = places.semantic(*location).filter(|_| has_semantics);
        let (kind, first) = semantic.map_or((String::new(), *location), semantic_of);
        let component = if semantic.is_some() { 0 } else { *component };
        let (name, span, ty) = (global.name.to_string(), global.span, global.ty);
        for at in first..first.saturating_add(module.types.locations(ty)) {
            if let Some(other) = taken.insert((kind.clone(), at, component), name.clone()) {
                let place = if kind.is_empty() { format!("at location {at}") } else { format!("{kind}{at}") };
                let message = format!("the vertex inputs `{other}` and `{name}` are both {place}");
                return Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message).at(span, "")]);
            }
        }
    }
    Ok(())
}

/// Name and number of a semantic: case does not matter, and a missing number is 0. `LOC` with a number is the default
/// of inputs.
fn semantic_of(text: &str) -> (String, u32) {
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = text[name.len()..].parse().unwrap_or(0);
    let name = name.to_ascii_uppercase();
    (if name == "LOC" { String::new() } else { name }, number)
}
