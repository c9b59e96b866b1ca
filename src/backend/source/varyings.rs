//! Names of inputs and outputs between stages, where the language has no locations for them (GLSL ES 3.00 section 4.3.8): the
//! stages of a program need not have the same names in the source.

use crate::ir::{Binding, GlobalId, Module, Space};
use rustc_hash::FxHashMap;

/// Gives every input and output between stages the name of its location in its place.
pub(super) fn name_by_location(module: &mut Module) {
    let Some(stage) = module.entry_points.first().map(|entry| entry.stage) else { return };
    let mut named: FxHashMap<String, GlobalId> = FxHashMap::default();
    for id in module.globals.handles() {
        let global = &mut module.globals[id];
        let is_port = matches!(global.space, Space::Input | Space::Output) && stage.passes(global.space);
        if let Binding::Location { location, component: 0, .. } = &mut global.binding
            && is_port
            && let Some(at) = location.take()
        {
            let name = format!("varying_{at}");
            global.name = name.as_str().into();
            named.insert(name, id);
        }
    }
    for (id, global) in module.globals.iter_mut() {
        if named.get(&*global.name).is_some_and(|other| *other != id) {
            global.name = format!("{}_x", global.name).as_str().into();
        }
    }
}
