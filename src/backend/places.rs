//! The places of resources in shading languages, where options choose them.
//!
//! Languages with groups and bindings get a module with other ones. Back ends whose language numbers each kind of resource
//! apart read the options themselves.

use crate::ir::{Binding, Function, Module, Other, Space, TypeId, Types};

use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Manifests have these types as strings, and the command as arguments.
macro_rules! from_string {
    ($($ty:ty),*) => {$(
        impl TryFrom<String> for $ty {
            type Error = String;

            fn try_from(text: String) -> Result<$ty, String> {
                text.parse()
            }
        }
    )*};
}

from_string!(Place, Bound, InputPlace);

/// A number, in a group or space where the language has them: `5`, `1:5`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Place {
    /// The set of the resource where this is none; 0 for push constants.
    pub group: Option<u32>,
    pub number: u32,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number"));
        Ok(match text.split_once(':') {
            Some((group, rest)) => Place { group: Some(number(group)?), number: number(rest)? },
            None => Place { group: None, number: number(text)? },
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group {
            Some(group) => write!(f, "{group}:{}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

/// Set and binding of a resource in the source, as the name of its place: `0:3`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Bound {
    pub set: u32,
    pub binding: u32,
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Bound, String> {
        match text.parse()? {
            Place { group: Some(set), number: binding } => Ok(Bound { set, binding }),
            Place { group: None, .. } => Err(format!("`{text}` has no set: write SET:BINDING")),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.set, self.binding)
    }
}

/// The place of a vertex input: another location, or its Direct3D semantic.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Deserialize)]
#[serde(try_from = "String")]
pub enum InputPlace {
    Location(u32),
    /// `TEXCOORD1`.
    Semantic(Box<str>),
}

impl FromStr for InputPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<InputPlace, String> {
        let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_system = text.len() > 2 && text[..3].eq_ignore_ascii_case("SV_");
        let is_word = !is_system && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match text.parse() {
            Ok(location) => Ok(InputPlace::Location(location)),
            Err(_) if is_name && is_word => Ok(InputPlace::Semantic(text.into())),
            Err(_) => Err(format!("`{text}` is neither a location, such as `1`, nor a semantic, such as `TEXCOORD1`")),
        }
    }
}

impl fmt::Display for InputPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputPlace::Location(location) => write!(f, "{location}"),
            InputPlace::Semantic(name) => f.write_str(name),
        }
    }
}

/// The places that options choose.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Places {
    /// The place of the uniform buffer with the push constants.
    pub push_constants: Option<Place>,
    /// The places of resources. Other resources stay where the language puts them.
    pub resources: BTreeMap<Bound, Place>,
    /// Vertex inputs that move, by their location in the source.
    pub inputs: BTreeMap<u32, InputPlace>,
    /// True if each set is an argument buffer, in languages that have such.
    pub argument_buffers: bool,
}

impl Places {
    pub fn is_empty(&self) -> bool {
        self.push_constants.is_none() && self.resources.is_empty()
    }

    /// The semantic of the vertex input at a location of the text, if one is chosen.
    pub fn semantic(&self, location: u32) -> Option<&str> {
        match self.inputs.get(&location)? {
            InputPlace::Semantic(name) => Some(name),
            InputPlace::Location(_) => None,
        }
    }

    /// The place of a resource, if it is chosen.
    pub fn of(&self, set: u32, binding: u32) -> Option<Place> {
        self.resources.get(&Bound { set, binding }).copied()
    }

    /// The module with resources at their places, for languages with groups and bindings.
    pub fn applied<'m>(&self, module: &'m Module, has_groups: bool) -> Cow<'m, Module> {
        if self.is_empty() || !has_groups {
            return Cow::Borrowed(module);
        }
        let mut placed = module.clone();
        for id in module.globals.handles() {
            let global = &mut placed.globals[id];
            if let Binding::Resource { set, binding } | Binding::Attachment { set, binding, .. } = &mut global.binding
                && let Some(place) = self.of(*set, *binding)
            {
                *set = place.group.unwrap_or(*set);
                *binding = place.number;
            }
            if let Some(place) = self.push_constants.filter(|_| global.space == Space::PushConstant) {
                global.space = Space::Uniform;
                global.binding = Binding::Resource { set: place.group.unwrap_or(0), binding: place.number };
            }
        }
        for Other { set, binding, .. } in &mut placed.others {
            if let Some(place) = self.of(*set, *binding) {
                (*set, *binding) = (place.group.unwrap_or(*set), place.number);
            }
        }
        if self.push_constants.is_some() {
            let Module { functions, types, .. } = &mut placed;
            module.functions.handles().for_each(|id| point_to_uniforms(&mut functions[id], types));
        }
        Cow::Owned(placed)
    }
}

/// Lets pointers to push constants point to uniform buffers.
fn point_to_uniforms(function: &mut Function, types: &mut Types) {
    let mut moved = |ty: &mut TypeId| {
        if let Some((Space::PushConstant, pointee)) = types.pointee(*ty) {
            *ty = types.pointer(Space::Uniform, pointee);
        }
    };
    function.params.iter_mut().for_each(|param| moved(&mut param.ty));
    let all: Vec<_> = function.insts.handles().collect();
    all.into_iter().for_each(|id| moved(&mut function.insts[id].ty));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_and_write() {
        let written = |text: &str| text.parse::<Place>().map(|place| place.to_string());
        assert_eq!(written("5"), Ok("5".to_string()));
        assert_eq!(written("1:5"), Ok("1:5".to_string()));
        assert_eq!(written("1:x"), Err("`x` is not a number".to_string()));
        assert_eq!("2".parse::<Bound>(), Err("`2` has no set: write SET:BINDING".to_string()));
        assert_eq!("2:3".parse::<Bound>(), Ok(Bound { set: 2, binding: 3 }));
    }
}
