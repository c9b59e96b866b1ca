//! Resources of all descriptor sets as binding points of OpenGL, which has no sets, numbers each kind of resource apart, and
//! gives each element of an array a number of its own (GLSL 4.60 section 4.4.5).

use super::language::Language;
use crate::backend::places::{Place, Places};
use crate::ir::link::{self, resource_of};
use crate::ir::{Binding, Module, Other, ResourceClass};
use serde::Serialize;
use std::collections::BTreeMap;

/// A resource that does not keep its place in the source.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Moved {
    pub name: String,
    /// Set and binding in the source, or those that an option chose.
    pub set: u32,
    pub binding: u32,
    /// The binding point.
    pub point: u32,
    #[serde(skip)]
    pub class: ResourceClass,
}

/// A resource whose binding point the host gives it by name, where layouts cannot.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Point {
    /// Of the variable, or of the block.
    pub name: String,
    pub point: u32,
}

/// Moves all resources into set 0. Each keeps its number where that is free; those that `places` chose come first, then those
/// of lower sets. Resources of other stages of the program count too, so that the stages agree.
pub(super) fn flatten(module: &mut Module, places: &Places, language: &dyn Language) -> Vec<Moved> {
    let numbered_with = |class| language.numbered_with(class);
    let chosen = |set, binding| places.resources.values().any(|place| *place == at(place, set, binding));
    let mut least: BTreeMap<(ResourceClass, u32, u32), u32> = BTreeMap::new();
    let mut wanted: BTreeMap<(ResourceClass, bool, u32, u32), u32> = BTreeMap::new();
    for Other { set, binding, class, count } in link::resources(module).iter().chain(&module.others).copied() {
        let most = wanted.entry((numbered_with(class), !chosen(set, binding), set, binding)).or_default();
        *most = count.max(*most);
        let from = least.entry((numbered_with(class), set, binding)).or_default();
        *from = language.least_number(module, class).max(*from);
    }
    let mut points = BTreeMap::new();
    let mut taken: BTreeMap<ResourceClass, Taken> = BTreeMap::new();
    for ((class, _, set, binding), count) in wanted {
        let from = binding.max(least.get(&(class, set, binding)).copied().unwrap_or(0));
        points.insert((class, set, binding), taken.entry(class).or_default().take(from, count));
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
            moved.push(Moved { name: global.name.to_string(), set, binding, point, class });
        }
    }
    moved
}

/// The place with the set and binding that a resource has, where it is that one.
fn at(place: &Place, set: u32, binding: u32) -> Place {
    Place { group: place.group.map(|_| set), number: binding }
}

/// Numbers that are taken, as ranges from a start to an end that do not touch.
#[derive(Default)]
struct Taken(BTreeMap<u32, u32>);

impl Taken {
    /// Takes the first free numbers in a row that are not below `from`, and gives the first of them.
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
