//! The subgroup sizes that a shader itself promises: `#pragma crosslane wave_size`.

use super::Module;
use crate::diagnostic::{Code, Diagnostic};
use crate::profile::Profile;
use std::borrow::Cow;

impl Module {
    /// The profile as the shader's own promise narrows it.
    ///
    /// # Errors
    /// Reports a promise that contradicts the hardware, or the promise of the options.
    pub fn profile<'p>(&self, profile: &'p Profile) -> Result<Cow<'p, Profile>, Vec<Diagnostic>> {
        let Some((size, span)) = self.promise else { return Ok(Cow::Borrowed(profile)) };
        let narrowed = profile.narrowed(size).map(Cow::Owned);
        narrowed.map_err(|why| {
            let label = format!("the shader is for {}", size.in_words());
            vec![Diagnostic::error(Code::PROFILE_LACKS, format!("wave_size({size}): {why}")).at(span, label)]
        })
    }
}
