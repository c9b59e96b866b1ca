//! The options of the page as options of compilations.

use crate::question::Choices;
use crosslane::build::kind::Kind;
use crosslane::compile::{EmitKind, Options};
use crosslane::glsl::preprocess::MacroOption;
use crosslane::limits::Limits;
use crosslane::profile::Profile;

/// A page is for shaders of people, who wait for it.
const LIMITS: (u64, u64) = (1 << 31, 1 << 30);

impl Choices {
    /// The options for one profile.
    ///
    /// # Errors
    /// When a definition is none.
    pub fn options(&self, kind: Kind, profile: Profile) -> Result<Options, String> {
        let macros: Vec<MacroOption> = self.defines.iter().map(|text| MacroOption::define(text)).collect();
        macros.iter().try_for_each(MacroOption::check)?;
        let limits = Limits { steps: LIMITS.0, memory: LIMITS.1, ..Limits::default() };
        let mut options = Options::new(profile);
        options.manner.optimize = self.optimize;
        let entry = self.entry.clone().filter(|entry| !entry.is_empty());
        Ok(Options { stage: kind.stage, emit: EmitKind::Assembly, macros, entry, limits, ..options })
    }

    /// The profile with the chosen waves.
    ///
    /// # Errors
    /// When its hardware has no such waves, or the size is none.
    pub fn with_waves(&self, profile: Profile) -> Result<Profile, String> {
        match self.wave.as_deref() {
            None | Some("") => Ok(profile),
            Some(size) => profile.promising(size.parse()?),
        }
    }
}
