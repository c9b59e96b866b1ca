//! Reads profiles: the text of a file, and the profile that it inherits from, which is built in or another file.
//!
//! Only the requested profile and its ancestors are parsed. Errors name file, line and key.

use super::builtin::Builtin;
use super::error::{ProfileError, Text};
use super::{Client, Cost, CostClass, Costs, Feature, FeatureSet, Profile, Target, WaveSize, Weights, sound};
use crate::source::{IncludeKind, LoadError, Loader, NoIncludes};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The file as written. Everything except the name may come from the profile that it inherits from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    inherit: Option<String>,
    name: Option<Box<str>>,
    #[serde(default)]
    aliases: Vec<Box<str>>,
    #[serde(default)]
    families: Vec<Box<str>>,
    description: Option<Box<str>>,
    target: Option<Target>,
    client: Option<Client>,
    version: Option<String>,
    processor: Option<Box<str>>,
    wave_size: Option<WaveSize>,
    reproducible: Option<bool>,
    lane_nesting: Option<u32>,
    #[serde(default)]
    costs: BTreeMap<Box<str>, Cost>,
    weights: Option<Weights>,
    features: Option<Vec<Feature>>,
    #[serde(default)]
    add_features: Vec<Feature>,
    #[serde(default)]
    remove_features: Vec<Feature>,
}

impl Profile {
    /// The profile of a TOML text, which can inherit from built-in profiles only; `file` names it in messages.
    ///
    /// # Errors
    /// Like [`Profile::from_file`].
    pub fn from_toml(text: &str, file: &str) -> Result<Profile, ProfileError> {
        Profile::from_file(text, file, &NoIncludes)
    }

    /// Reads a profile from TOML text. It inherits from a built-in profile or, if the name ends in `.toml`, from a file
    /// that the loader finds next to it.
    ///
    /// # Errors
    /// Returns an error if the text is not TOML, has unknown keys or names, lacks required keys, or contradicts itself.
    pub fn from_file(text: &str, file: &str, loader: &dyn Loader) -> Result<Profile, ProfileError> {
        Reader { loader, chain: Vec::new() }.read(Text { file, text })
    }

    /// The profile with another subgroup size, which the user promises (`--wave-size`). A minimum leaves a fixed size as it is.
    /// [`Profile::check_wave_size`] checks that the hardware has such waves.
    pub fn with_wave_size(mut self, size: impl Into<WaveSize>) -> Profile {
        let size = size.into();
        let lanes = if matches!(size, WaveSize::Least(_)) { self.wave_size } else { size.lanes() };
        // SPIR-V's profiles are proven at every size, other profiles only at their own.
        self.is_builtin &= !self.target.is_hardware() || self.wave_size == lanes;
        self.wave_size = lanes;
        self.promise = Some(size).filter(|size| *size != WaveSize::Any);
        self
    }

    /// The profile with a promised subgroup size that its hardware has.
    ///
    /// # Errors
    /// Like [`Profile::check_wave_size`].
    pub fn promising(self, size: WaveSize) -> Result<Profile, String> {
        let profile = self.with_wave_size(size);
        profile.check_wave_size().map(|()| profile)
    }

    /// The profile for a shader that makes a promise of its own, beside that of the options or the profile. A fixed size stays.
    ///
    /// # Errors
    /// Returns a sentence if no size keeps both promises, or the profile does not have it.
    pub fn narrowed(&self, own: WaveSize) -> Result<Profile, String> {
        let promise = self.promise.unwrap_or(WaveSize::Any);
        let both = promise.and(own);
        let both = both.ok_or_else(|| format!("{} are promised for {}", promise.in_words(), self.name))?;
        if both == promise {
            return Ok(self.clone());
        }
        let narrowed = self.clone().promising(both)?;
        match self.wave_size.filter(|_| narrowed.wave_size != self.wave_size) {
            None => Ok(narrowed),
            Some(lanes) => {
                Err(format!("{} has waves of {lanes} lanes; `--wave-size {both}` chooses others", self.name))
            }
        }
    }

    /// The profile with subgroups of a known size: its own, otherwise the size nearest to a usual one that the promise allows.
    pub fn sized(&self, usual: u32) -> Profile {
        match self.wave_size {
            Some(_) => self.clone(),
            None => {
                self.clone().with_wave_size(WaveSize::Fixed(self.promise.map_or(usual, |size| size.nearest(usual))))
            }
        }
    }
}

/// A built-in profile.
pub(super) fn built_in(builtin: &Builtin) -> Result<Profile, ProfileError> {
    Profile::from_toml(builtin.text, builtin.name)
}

/// Reads one profile and its ancestors.
struct Reader<'a> {
    loader: &'a dyn Loader,
    /// Files that are being read, each inheriting from the next.
    chain: Vec<String>,
}

impl Reader<'_> {
    fn read(&mut self, text: Text) -> Result<Profile, ProfileError> {
        let file: File = toml::from_str(text.text).map_err(|error| text.of_toml(&error))?;
        self.chain.push(text.file.to_string());
        let base = file.inherit.as_ref().map(|name| self.base(name, text)).transpose()?;
        merge(file, base, text)
    }

    /// The profile of this name, which `text` inherits from.
    fn base(&mut self, name: &str, text: Text) -> Result<Profile, ProfileError> {
        if !name.ends_with(".toml") {
            let found = Builtin::find(name);
            let builtin = found.ok_or_else(|| text.at_key("inherit", Profile::unknown(name)))?;
            return self.inherited(Text { file: builtin.name, text: builtin.text }, text);
        }
        let loaded = self.loader.load(name, IncludeKind::Quoted, text.file);
        let loaded = loaded.map_err(|error| match error {
            LoadError::NotFound(_) => text.at_key("inherit", format!("there is no file {name}")),
            LoadError::Unreadable(why) => text.at_key("inherit", why),
        })?;
        self.inherited(Text { file: &loaded.name, text: &loaded.text }, text)
    }

    fn inherited(&mut self, base: Text, heir: Text) -> Result<Profile, ProfileError> {
        if let Some(start) = self.chain.iter().position(|file| file == base.file) {
            let cycle = self.chain[start..].join(" inherits from ");
            return Err(heir.at_key("inherit", format!("{cycle} inherits from {}", base.file)));
        }
        self.read(base)
    }
}

/// The file on top of the inherited profile.
fn merge(file: File, base: Option<Profile>, text: Text) -> Result<Profile, ProfileError> {
    let base = base.as_ref();
    let profile = Profile {
        name: file.name.ok_or_else(|| text.missing("name"))?,
        aliases: file.aliases,
        families: file.families,
        description: file.description.or(base.map(|base| base.description.clone())).unwrap_or_default(),
        target: file.target.or(base.map(|base| base.target)).ok_or_else(|| text.missing("target"))?,
        client: file.client.or(base.map(|base| base.client)).unwrap_or_default(),
        version: version(file.version.as_deref(), base, text)?,
        wave_size: match file.wave_size {
            Some(size) => size.lanes(),
            None => base.ok_or_else(|| text.missing("wave-size"))?.wave_size,
        },
        promise: match file.wave_size {
            Some(size) => Some(size).filter(|size| matches!(size, WaveSize::Least(_))),
            None => base.and_then(|base| base.promise),
        },
        features: features(file.features, base, &file.add_features, &file.remove_features, text)?,
        processor: file.processor.or(base.map(|base| base.processor.clone())).unwrap_or_default(),
        costs: prices(&file.costs, base, text)?,
        weights: file.weights.or(base.map(|base| base.weights)).unwrap_or_default(),
        reproducible: file.reproducible.or(base.map(|base| base.reproducible)).unwrap_or(false),
        lane_nesting: file.lane_nesting.or(base.and_then(|base| base.lane_nesting)),
        is_builtin: false,
    };
    sound::check(&profile, text)?;
    Ok(profile)
}

fn version(own: Option<&str>, base: Option<&Profile>, text: Text) -> Result<(u8, u8), ProfileError> {
    match own {
        Some(own) => parse_version(own)
            .ok_or_else(|| text.at_key("version", format!("`{own}` is not a version: write it as MAJOR.MINOR"))),
        None => base.map(|base| base.version).ok_or_else(|| text.missing("version")),
    }
}

fn features(
    own: Option<Vec<Feature>>,
    base: Option<&Profile>,
    more: &[Feature],
    fewer: &[Feature],
    text: Text,
) -> Result<FeatureSet, ProfileError> {
    let own = own.map(|list| list.into_iter().collect());
    let all: FeatureSet = own.or(base.map(|base| base.features)).ok_or_else(|| text.missing("features"))?;
    let all = more.iter().fold(all, |set, feature| set.with(*feature));
    Ok(fewer.iter().fold(all, |set, feature| set.without(*feature)))
}

/// The file's costs on top of the inherited ones.
fn prices(costs: &BTreeMap<Box<str>, Cost>, base: Option<&Profile>, text: Text) -> Result<Costs, ProfileError> {
    let mut all = base.map_or_else(Costs::default, |base| base.costs);
    for (name, cost) in costs {
        let class = CostClass::of_name(name).ok_or_else(|| text.at_key(name, "unknown price"))?;
        all.set(class, *cost);
    }
    Ok(all)
}

/// `1.3` as (1, 3).
fn parse_version(text: &str) -> Option<(u8, u8)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
