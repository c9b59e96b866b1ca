//! Maps resources of all descriptor sets to OpenGL's binding points. OpenGL has no sets, numbers each kind of resource
//! separately, and gives each element of an array a number (GLSL 4.60 section 4.4.5).

use super::language::Language;
use crate::backend::Made;
use crate::backend::places::{Place, Places};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::link::{self, resource_of};
use crate::ir::{Binding, Global, GlobalId, Module, Other, ResourceClass, Space, Type};
use crate::source::Span;
use serde::Serialize;
use std::collections::BTreeMap;

/// A resource whose place differs from the source's.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Moved {
    pub name: String,
    /// Set and binding in the source, or chosen by an option.
    pub set: u32,
    pub binding: u32,
    /// The binding point.
    pub point: u32,
    #[serde(skip)]
    pub class: ResourceClass,
}

/// A resource whose binding point the host assigns by name, if layouts cannot set it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Point {
    /// Name of the variable, or of the block.
    pub name: String,
    pub point: u32,
}

/// Moves all resources into set 0. Each keeps its number if that is free; the choices in `places` come first, then
/// lower sets. Resources of other stages of the program count too, so that the stages agree.
///
/// # Errors
/// Returns an error if options put two resources of one kind at one place.
pub(super) fn flatten(module: &mut Module, places: &Places, language: &dyn Language) -> Made<Vec<Moved>> {
    let numbered_with = |class| language.numbered_with(class);
    let chosen = |set, binding| places.resources.values().any(|place| *place == at(place, set, binding));
    // The smallest and the largest number of each resource.
    let mut bounds: BTreeMap<(ResourceClass, u32, u32), (u32, u32)> = BTreeMap::new();
    let mut wanted: BTreeMap<(ResourceClass, bool, u32, u32), u32> = BTreeMap::new();
    for Other { set, binding, class, count } in link::resources(module).iter().chain(&module.others).copied() {
        let most = wanted.entry((numbered_with(class), !chosen(set, binding), set, binding)).or_default();
        *most = count.max(*most);
        let (least, most) = language.numbers(module, class);
        let known = bounds.entry((numbered_with(class), set, binding)).or_insert((least, most));
        *known = (known.0.max(least), known.1.min(most));
    }
    let mut points = BTreeMap::new();
    let mut taken: BTreeMap<ResourceClass, Taken> = BTreeMap::new();
    for ((class, _, set, binding), count) in wanted {
        let (least, most) = bounds.get(&(class, set, binding)).copied().unwrap_or_default();
        let fits = chosen(set, binding) || binding.saturating_add(count - 1) <= most;
        let from = if fits { binding.max(least) } else { least };
        let point = taken.entry(class).or_default().take(from, count);
        if chosen(set, binding) && point != binding {
            return Err(vec![crowded(module, (set, binding), point, language)]);
        }
        points.insert((class, set, binding), point);
    }
    let mut moved = Vec::new();
    for id in module.globals.handles() {
        let Some(Other { set, binding, class, .. }) = resource_of(module, &module.globals[id]) else { continue };
        let Some(point) = points.get(&(numbered_with(class), set, binding)).copied() else { continue };
        let global = &mut module.globals[id];
        if let Binding::Resource { set: own, binding: number } | Binding::Attachment { set: own, binding: number, .. } =
            &mut global.binding
        {
            (*own, *number) = (0, point);
        }
        if (set, binding) != (0, point) {
            moved.push(Moved { name: name_of(module, id), set, binding, point, class });
        }
    }
    Ok(moved)
}

/// The error about a chosen place that is already in use.
fn crowded(module: &Module, (set, binding): (u32, u32), point: u32, language: &dyn Language) -> Diagnostic {
    let is_it = |global: &Global| resource_of(module, global).is_some_and(|of| (of.set, of.binding) == (set, binding));
    let found = module.globals.iter().find(|(_, global)| is_it(global));
    let (name, span) = found.map_or((String::new(), Span::NONE), |(_, global)| (global.name.to_string(), global.span));
    let message = format!("{} has no place {binding} for `{name}`: the first that is free is {point}", language.name());
    Diagnostic::error(Code::NOT_SUPPORTED, message).at(span, "")
}

/// Refuses push constants at the place of a uniform block, in a module in which they are such a block.
///
/// # Errors
/// Returns an error that names the other block.
pub(super) fn check_push_constants(before: &Module, places: &Places) -> Made<()> {
    let Some(chosen) = places.push_constants else { return Ok(()) };
    let has_push = before.globals.iter().any(|(_, global)| global.space == Space::PushConstant);
    let is_there = |global: &Global| {
        let of = resource_of(before, global).filter(|of| of.class == ResourceClass::UniformBlock);
        of.is_some_and(|of| {
            let own = places.of(of.set, of.binding).unwrap_or(Place { group: Some(of.set), number: of.binding });
            (own.group.unwrap_or(of.set), own.number) == (chosen.group.unwrap_or(0), chosen.number)
        })
    };
    match before.globals.iter().find(|(_, global)| has_push && is_there(global)) {
        Some((_, global)) => {
            let message = format!("`{}` is where the push constants are to be", global.name);
            Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message).at(global.span, "")])
        }
        None => Ok(()),
    }
}

/// The name of a resource, or of its block.
fn name_of(module: &Module, id: GlobalId) -> String {
    let global = &module.globals[id];
    match module.types.get(module.types.innermost(global.ty)) {
        Type::Struct(of) if global.name.is_empty() => module.types.structs[of].name.to_string(),
        _ => global.name.to_string(),
    }
}

/// The chosen place of a resource with this set and binding.
fn at(place: &Place, set: u32, binding: u32) -> Place {
    Place { group: place.group.map(|_| set), number: binding }
}

/// Numbers in use, as ranges from a start to an end, which do not touch.
#[derive(Default)]
struct Taken(BTreeMap<u32, u32>);

impl Taken {
    /// Takes the first consecutive free numbers from `from` on, and returns the first of them.
    fn take(&mut self, from: u32, count: u32) -> u32 {
        let mut first = from;
        while let Some((_, end)) =
            self.0.range(..first.saturating_add(count)).next_back().filter(|(_, end)| **end > first)
        {
            first = *end;
        }
        let end = first.saturating_add(count);
        let end = self.0.remove(&end).unwrap_or(end);
        let before = self.0.range(..first).next_back().filter(|(_, end)| **end == first).map(|(start, _)| *start);
        self.0.insert(before.unwrap_or(first), end);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_first_free_ones() {
        let mut taken = Taken::default();
        assert_eq!(taken.take(0, 4), 0);
        assert_eq!(taken.take(1, 1), 4);
        assert_eq!(taken.take(9, 1), 9);
        assert_eq!(taken.take(3, 5), 10);
        assert_eq!(taken.take(3, 4), 5);
        assert_eq!(taken.0.len(), 1);
    }
}
