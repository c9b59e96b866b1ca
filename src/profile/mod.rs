//! Target profiles: the abilities of one kind of hardware, or of one version of a standard.
//!
//! A profile is a TOML file. The files in `profiles/` are part of the binary, and you can add your own. This module
//! reads and names profiles; it decides nothing about lowering.

mod builtin;
mod client;
pub mod cost;
mod error;
pub mod feature;
mod load;
pub mod processor;
mod sound;
mod target;
mod wave;

#[cfg(test)]
mod tests;

use crate::diagnostic::cannot_write;

pub use client::{Client, ClientRow};
pub use cost::{Cost, CostClass, Costs, Weights};
pub use error::ProfileError;
pub use feature::{Feature, FeatureSet};
pub use processor::Processor;
pub use target::{Joins, LoopCopies, Matching, Placing, Target, TargetRow, Waves};
pub use wave::{LEAST as LEAST_WAVE_SIZE, WaveSize};

/// One target profile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    pub name: Box<str>,
    /// Other names that select it.
    pub aliases: Vec<Box<str>>,
    /// Names of the hardware that it covers, possibly shared with other profiles. A unique name also selects it.
    pub families: Vec<Box<str>>,
    /// A one-line description.
    pub description: Box<str>,
    pub target: Target,
    /// The API that loads it.
    pub client: Client,
    /// Version of the target's language: SPIR-V's major and minor number.
    pub version: (u8, u8),
    /// Lanes of a subgroup; `None` if only the driver knows, at run time.
    pub wave_size: Option<u32>,
    /// The subgroup size, or the minimum, that the user promises.
    pub promise: Option<WaveSize>,
    pub features: FeatureSet,
    /// The name of the hardware in the target's tools, such as AMD's `gfx1030`; empty if there is none.
    pub processor: Box<str>,
    /// Costs of its instructions; if a driver compiles the code, only the known ones.
    pub costs: Costs,
    /// The weights that decide between plans.
    pub weights: Weights,
    /// True if float reductions and scans have the guaranteed order, so that their bits are the same as on every other
    /// target.
    pub reproducible: bool,
    /// Limit of the branches and loops around a cross-lane instruction; `None` if there is no limit.
    pub lane_nesting: Option<u32>,
    /// True if the profile is built in and unchanged, so that tests have proven its plans. Plans of other profiles are
    /// proven when they are made.
    pub is_builtin: bool,
}

impl Profile {
    pub fn has(&self, feature: Feature) -> bool {
        self.features.has(feature) || self.target.row().given.contains(&feature)
    }

    /// Returns true if its language has scalars of this many bits.
    pub fn has_width(&self, is_float: bool, bits: u8) -> bool {
        self.target.has_width(is_float, bits) && (bits == 32 || self.narrow_language().is_none())
    }

    /// The message about a scalar type that its language, or crosslane so far, does not have.
    pub fn lacks_type(&self, name: &str, is_float: bool, bits: u8) -> String {
        let row = self.target.row();
        let unwritten = if is_float { row.more_floats } else { row.more_integers };
        if unwritten.contains(&bits) {
            return cannot_write(&format!("type {name}"), row.language);
        }
        format!("{} has no type {name}", self.language())
    }

    /// The number in the name of its processor, or `None` if the target's processors have names.
    pub fn architecture(&self) -> Option<u32> {
        self.processor.strip_prefix(self.target.row().processor?)?.parse().ok()
    }

    /// Widths in bits of the floats for which a fused multiply-add takes as long as an addition. By default crosslane
    /// contracts no other floats.
    pub fn fast_fma(&self) -> &'static [u8] {
        if let Some(processor) = Processor::named(&self.processor) {
            return processor.fast_fma;
        }
        let own = self.architecture().unwrap_or_default();
        let rows = self.target.row().fast_fma.iter();
        rows.rev().find(|(since, _)| own >= *since).map_or(&[], |(_, widths)| widths)
    }

    /// The smallest subgroup that a driver may choose: the profile's or the promised size, otherwise the smallest of any driver.
    pub fn least_wave_size(&self) -> u32 {
        self.wave_size.or(self.promise.map(WaveSize::least)).unwrap_or(wave::LEAST)
    }

    /// The subgroups that the output is for, if a size is promised.
    pub fn promised(&self) -> Option<WaveSize> {
        self.promise.map(|promise| self.wave_size.map_or(promise, WaveSize::Fixed))
    }

    /// The language of the output, for messages about types.
    pub fn language(&self) -> &'static str {
        self.narrow_language().unwrap_or(self.target.row().language)
    }

    /// The name of its language, if that only has 32-bit types.
    fn narrow_language(&self) -> Option<&'static str> {
        self.target.row().wide_types.filter(|(feature, _)| !self.has(*feature)).map(|(_, name)| name)
    }

    /// Returns true if the other profile has equal plans: only name and description differ.
    pub fn plans_like(&self, other: &Profile) -> bool {
        let seen = |profile: &Profile| {
            let Profile { target, wave_size, features, costs, weights, reproducible, .. } = *profile;
            (target, wave_size, features, costs, weights, reproducible)
        };
        seen(self) == seen(other)
    }
}
