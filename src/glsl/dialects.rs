//! The extension tables for the preprocessor, for one target profile.

use super::pragma::fixed_size;
use super::preprocess::{Dialects, ExtensionInfo};
use crate::grammar::{self, Extension};
use crate::profile::{Feature, Profile};

/// The macro with the number of lanes, where it is known.
const SUBGROUP_SIZE: &str = "CROSSLANE_SUBGROUP_SIZE";

/// The extensions that a profile supports, and the macros that describe it.
pub struct ProfileDialects<'a>(pub &'a Profile);

impl ProfileDialects<'_> {
    fn unavailable(&self, extension: &Extension) -> Option<String> {
        if extension.available(self.0) {
            return None;
        }
        if !extension.is_of(self.0.target) {
            let targets: Vec<&str> = extension.targets.iter().map(|target| target.name()).collect();
            return Some(format!("only profiles for {} can do any of it", listed(&targets)));
        }
        if let Some(only) = extension.client.filter(|only| *only != self.0.client) {
            return Some(format!("it belongs to GLSL for {}", only.name()));
        }
        let possible = |feature: &&Feature| feature.is_for(self.0.target);
        let mut needs: Vec<&str> = extension.needs.iter().filter(possible).map(|feature| feature.name()).collect();
        if needs.is_empty() {
            needs.extend(extension.needs.iter().map(|feature| feature.name()));
        }
        Some(format!("the profile {} lacks {}", self.0.name, needs.join(" or ")))
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

impl Dialects for ProfileDialects<'_> {
    fn extension(&self, name: &str) -> Option<ExtensionInfo> {
        let extension = grammar::extension(name)?;
        let unavailable = self.unavailable(extension).map(Into::into);
        Some(ExtensionInfo { value: extension.value, unavailable })
    }

    fn predefined(&self, name: &str) -> Option<u32> {
        match name {
            SUBGROUP_SIZE => self.0.wave_size,
            _ => (name == self.0.target.row().define).then_some(1),
        }
    }

    fn set_by(&self, pragma: &str) -> Option<(&'static str, u32)> {
        Some((SUBGROUP_SIZE, fixed_size(pragma)?))
    }

    fn client(&self, name: &str) -> Option<u32> {
        let row = self.0.client.row();
        (name == row.define).then_some(row.value)
    }

    fn extension_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(grammar::EXTENSIONS.iter().map(|extension| extension.name))
    }
}
