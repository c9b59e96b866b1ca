//! Extensions: the effect of an `#extension` line.

use crate::profile::{Client, Feature, Profile, Target};

/// A name that `#extension` takes.
#[derive(Debug)]
pub struct Extension {
    pub name: &'static str,
    /// Value of its macro.
    pub value: u32,
    pub dialect: &'static str,
    /// The extensions that the line enables: itself and all that it implies.
    pub enables: ExtensionSet,
    /// Features, one of which it needs; empty for none.
    pub needs: &'static [Feature],
    /// Targets that support at least a part of it; empty for all.
    pub targets: &'static [Target],
    /// The only API whose GLSL has it, if not all do.
    pub client: Option<Client>,
    pub doc: &'static str,
}

impl Extension {
    /// Returns true if a profile can run a part of it.
    pub fn available(&self, profile: &Profile) -> bool {
        let fits = self.is_of(profile.target) && self.is_for(profile.client);
        fits && (self.needs.is_empty() || self.needs.iter().any(|feature| profile.has(*feature)))
    }

    /// Returns true if the GLSL for an API has it.
    pub fn is_for(&self, client: Client) -> bool {
        self.client.is_none_or(|only| only == client)
    }

    /// Returns true if one of a target's profiles supports a part of it.
    pub fn is_of(&self, target: Target) -> bool {
        self.targets.is_empty() || self.targets.contains(&target.row().extensions)
    }
}

/// A set of extensions by their index in [`super::EXTENSIONS`], 128 per word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ExtensionSet(pub [u128; 2]);

impl ExtensionSet {
    pub const fn is_empty(self) -> bool {
        self.0[0] | self.0[1] == 0
    }

    pub const fn intersects(self, other: ExtensionSet) -> bool {
        (self.0[0] & other.0[0]) | (self.0[1] & other.0[1]) != 0
    }

    /// Turns on an extension and all that it implies.
    pub fn enable(&mut self, extension: &Extension) {
        self.0[0] |= extension.enables.0[0];
        self.0[1] |= extension.enables.0[1];
    }

    /// Disables an extension; implied extensions stay enabled.
    pub fn disable(&mut self, extension: &'static Extension) {
        if let Some(at) = super::EXTENSIONS.iter().position(|e| e.name == extension.name) {
            self.0[at / 128] &= !(1 << (at % 128));
        }
    }

    /// Returns true if an extension is enabled.
    pub fn contains(self, name: &str) -> bool {
        self.iter().any(|extension| extension.name == name)
    }

    /// The extensions in the order of their names.
    pub fn iter(self) -> impl Iterator<Item = &'static Extension> {
        super::EXTENSIONS
            .iter()
            .enumerate()
            .filter(move |(at, _)| self.0[at / 128] >> (at % 128) & 1 == 1)
            .map(|(_, e)| e)
    }
}
