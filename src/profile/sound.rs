//! Checks that a profile describes hardware that can exist: a wave size that its processor and features have, only
//! features of its own target, and a cost for all its abilities.

use super::error::{ProfileError, Text};
use super::processor::Processor;
use super::{Client, CostClass, Feature, Profile, Target, WaveSize, Waves};
use crate::diagnostic::nearest::nearest_of_family;

/// The first contradiction in a profile; `text` is the last file that was read.
pub(super) fn check(profile: &Profile, text: Text) -> Result<(), ProfileError> {
    if processor_waves(profile).is_none() {
        let key = "processor";
        return Err(if text.sets(key) { text.at_key(key, unknown(profile)) } else { text.missing(key) });
    }
    if let Some(begin) = profile.target.row().processor.filter(|begin| !is_numbered(&profile.processor, begin)) {
        let key = "processor";
        let wrong = format!("`{}` is not a processor: write it as {begin}NUMBER", profile.processor);
        return Err(if text.sets(key) { text.at_key(key, wrong) } else { text.missing(key) });
    }
    check_client(profile).map_err(|(key, why)| text.at_key(key, why))?;
    for feature in profile.features.iter() {
        check_feature(profile, feature).map_err(|why| at_feature(text, feature, why))?;
    }
    if let Some(basis) = profile.target.row().basis.filter(|basis| !profile.has(*basis)) {
        let key = ["features", "inherit"].into_iter().find(|key| text.sets(key)).unwrap_or("target");
        return Err(text.at_key(key, format!("every {} profile needs {basis}", profile.target.name())));
    }
    profile.check_wave_size().map_err(|why| at_wave_size(profile, text, why))?;
    match unpriced(profile) {
        Some((class, feature)) => Err(missing_price(text, class, feature)),
        None => Ok(()),
    }
}

/// Only SPIR-V has several APIs, each of which loads some versions of it.
fn check_client(profile: &Profile) -> Result<(), (&'static str, String)> {
    let Profile { client, target, version, .. } = *profile;
    if client != Client::default() && target != Target::Spirv {
        let language = target.row().language;
        return Err(("client", format!("crosslane cannot write {language} for {} yet", client.name())));
    }
    match client.row().newest {
        Some((major, minor)) if version > (major, minor) => {
            Err(("client", format!("{} loads SPIR-V {major}.{minor}, not {}.{}", client.name(), version.0, version.1)))
        }
        _ => Ok(()),
    }
}

/// Returns true if a name is this beginning and a number.
fn is_numbered(name: &str, begin: &str) -> bool {
    name.strip_prefix(begin).is_some_and(|number| number.parse::<u16>().is_ok())
}

fn unknown(profile: &Profile) -> String {
    let near = nearest_of_family(&profile.processor, Processor::names());
    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("unknown processor `{}`{hint}", profile.processor)
}

impl Profile {
    /// Checks that the target has waves of the profile's size.
    ///
    /// # Errors
    /// Returns a sentence with the reason.
    pub fn check_wave_size(&self) -> Result<(), String> {
        let Some(lanes) = self.wave_size else {
            self.promise.map_or(Ok(()), WaveSize::check)?;
            return match self.target.is_hardware() {
                true => Err("hardware has waves of a fixed size".into()),
                false => Ok(()),
            };
        };
        WaveSize::Fixed(lanes).check()?;
        if lanes < self.promise.map_or(lanes, WaveSize::least) {
            return Err(format!("{} has waves of {lanes} lanes", self.name));
        }
        match processor_waves(self) {
            Some(sizes) if !sizes.is_empty() && !sizes.contains(&lanes) => {
                Err(format!("there are no waves of {lanes} lanes on {}", hardware(self)))
            }
            _ => self.features.iter().try_for_each(|feature| match feature.waves() {
                Some(size) if size != lanes => Err(format!("{feature} is for waves of {size} lanes, not of {lanes}")),
                _ => Ok(()),
            }),
        }
    }
}

fn hardware(profile: &Profile) -> &str {
    let processor = if profile.processor.is_empty() { &profile.name } else { &profile.processor };
    profile.target.row().hardware.unwrap_or(processor)
}

/// The wave sizes of the hardware, none for any size; `None` if the processor is unknown.
fn processor_waves(profile: &Profile) -> Option<&'static [u32]> {
    match profile.target.row().waves {
        Waves::Any => Some(&[]),
        Waves::Of(sizes) => Some(sizes),
        Waves::OfProcessor => Processor::named(&profile.processor).map(|processor| processor.waves),
    }
}

fn check_feature(profile: &Profile, feature: Feature) -> Result<(), String> {
    match feature.is_for(profile.target) {
        false => Err(format!("the profile's target does not have the feature {feature}")),
        true => match feature.needs().filter(|needed| !profile.has(*needed)) {
            Some(needed) => Err(format!("{feature} needs {needed}, which the profile does not have")),
            None => Ok(()),
        },
    }
}

/// Blames the list that names the feature, otherwise the inherited profile.
fn at_feature(text: Text, feature: Feature, why: String) -> ProfileError {
    let keys = ["add-features", "features", "inherit"];
    let key = keys.into_iter().find(|key| text.sets(key)).unwrap_or("target");
    text.at_entry(key, feature.name(), why)
}

/// Blames the size where the file sets it, otherwise the feature or processor that contradicts the inherited size.
fn at_wave_size(profile: &Profile, text: Text, why: String) -> ProfileError {
    if text.sets("wave-size") {
        return text.at_key("wave-size", why);
    }
    let contradicts = |feature: &Feature| feature.waves().is_some_and(|size| profile.wave_size != Some(size));
    match profile.features.iter().find(contradicts) {
        Some(feature) => at_feature(text, feature, why),
        None => text.at_key(if text.sets("processor") { "processor" } else { "inherit" }, why),
    }
}

/// The class and the feature of a cost that is required and missing. Drivers' costs need not be known.
fn unpriced(profile: &Profile) -> Option<(CostClass, Feature)> {
    let is_needed = |class: &CostClass| profile.target.is_hardware() && profile.has(class.needed_for());
    let missing = |class: &CostClass| is_needed(class) && profile.costs.of(*class).is_none();
    CostClass::ALL.iter().copied().find(missing).map(|class| (class, class.needed_for()))
}

/// The error names the cost, at the place that names the feature.
fn missing_price(text: Text, class: CostClass, feature: Feature) -> ProfileError {
    let why = format!("the key is missing, and the feature {feature} needs it");
    ProfileError { key: Some(format!("costs.{}", class.name())), ..at_feature(text, feature, why) }
}
