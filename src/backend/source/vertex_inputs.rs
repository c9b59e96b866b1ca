//! Vertex inputs at the locations that the user chose.

use crate::backend::places::{InputPlace, Places};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Binding, Module, Space, Stage};
use std::collections::BTreeMap;

/// Moves the inputs of a vertex shader to other locations.
///
/// # Errors
/// When two of them are at one location then.
pub(super) fn place(module: &mut Module, places: &Places) -> Result<(), Vec<Diagnostic>> {
    if module.entry_points.first().is_none_or(|entry| entry.stage != Stage::Vertex) {
        return Ok(());
    }
    let mut taken: BTreeMap<(u32, u32), String> = BTreeMap::new();
    for id in module.globals.handles() {
        let global = &mut module.globals[id];
        let Binding::Location { location: Some(location), component, .. } = &mut global.binding else { continue };
        if global.space != Space::Input {
            continue;
        }
        if let Some(InputPlace::Location(chosen)) = places.inputs.get(location) {
            *location = *chosen;
        }
        let (first, component, ty) = (*location, *component, global.ty);
        let (name, span) = (global.name.to_string(), global.span);
        for at in first..first.saturating_add(module.types.locations(ty)) {
            if let Some(other) = taken.insert((at, component), name.clone()) {
                let message = format!("the vertex inputs `{other}` and `{name}` are both at location {at}");
                return Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message).at(span, "")]);
            }
        }
    }
    Ok(())
}
