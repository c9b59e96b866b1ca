//! Reading profiles: the built-in files by name, a user's file as text, inheritance between them.
//!
//! Only the profile that is asked for is parsed, with those it inherits from. An error names file, line and key.

use super::{Cost, CostClass, Costs, Feature, FeatureSet, Profile, Target};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// A built-in profile as text.
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

macro_rules! builtin {
    ($($name:literal),+ $(,)?) => {
        &[$(Builtin { name: $name, text: include_str!(concat!("../../profiles/", $name, ".toml")) }),+]
    };
}
#[cfg(test)]
pub(super) use builtin;

/// In order of age within a vendor: the first that can run an operation is the oldest that can.
static BUILTIN: &[Builtin] = builtin!["spirv-1.3", "spirv-1.5", "spirv-1.6"];

/// Longest chain of `inherit`; a longer one is taken for a cycle.
const MAX_CHAIN: usize = 16;

/// What is wrong with a profile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileError {
    /// Name of the file as given, or of the built-in profile.
    pub file: String,
    /// Counted from 1; none when the whole file is meant.
    pub line: Option<usize>,
    /// The key that is wrong, where one is.
    pub key: Option<String>,
    pub message: String,
}

impl ProfileError {
    fn whole(file: &str, message: impl Into<String>) -> ProfileError {
        ProfileError { file: file.into(), line: None, key: None, message: message.into() }
    }

    /// An error about `key`, at the line where the file sets it.
    fn at_key(file: &str, text: &str, key: &str, message: impl Into<String>) -> ProfileError {
        ProfileError { file: file.into(), line: line_of_key(text, key), key: Some(key.into()), message: message.into() }
    }

    fn from_toml(file: &str, text: &str, error: &toml::de::Error) -> ProfileError {
        let line = error.span().map(|span| line_of_offset(text, span.start));
        let key = line.and_then(|line| key_on_line(text, line));
        ProfileError { file: file.into(), line, key, message: error.message().into() }
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))?;
        f.write_str(": ")?;
        self.key.as_ref().map_or(Ok(()), |key| write!(f, "{key}: "))?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProfileError {}

fn line_of_offset(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let is_key = |line: &str| line.split_once('=').is_some_and(|(name, _)| name.trim() == key);
    text.lines().position(is_key).map(|index| index + 1)
}

/// The key of the nearest assignment at or above a line: an array may run over several lines.
fn key_on_line(text: &str, line: usize) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    lines.iter().rev().find_map(|line| line.split_once('=')).map(|(name, _)| name.trim().to_string())
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "expected a number of lanes or \"any\"")]
enum WaveSize {
    Fixed(u32),
    Any(AnySize),
}

#[derive(Clone, Copy, Deserialize)]
enum AnySize {
    #[serde(rename = "any")]
    Any,
}

impl WaveSize {
    fn lanes(self) -> Option<u32> {
        match self {
            WaveSize::Fixed(lanes) => Some(lanes),
            WaveSize::Any(AnySize::Any) => None,
        }
    }
}

/// The file as written: everything may come from the profile that it inherits from, except the name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    inherit: Option<String>,
    name: Box<str>,
    #[serde(default)]
    aliases: Vec<Box<str>>,
    description: Option<Box<str>>,
    target: Option<Target>,
    version: Option<String>,
    processor: Option<Box<str>>,
    wave_size: Option<WaveSize>,
    reproducible: Option<bool>,
    #[serde(default)]
    costs: BTreeMap<Box<str>, Cost>,
    features: Option<Vec<Feature>>,
    #[serde(default)]
    add_features: Vec<Feature>,
    #[serde(default)]
    remove_features: Vec<Feature>,
}

impl Profile {
    /// The built-in profile of this name or alias.
    pub fn named(name: &str) -> Option<Profile> {
        find(BUILTIN, name).map(Builtin::parse)
    }

    /// Names of the built-in profiles, the oldest of each vendor first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|builtin| builtin.name)
    }

    /// All built-in profiles, the oldest of each vendor first.
    pub fn all() -> impl Iterator<Item = Profile> {
        BUILTIN.iter().map(Builtin::parse)
    }

    /// The profile that a TOML text describes; `file` names it in messages.
    pub fn from_toml(text: &str, file: &str) -> Result<Profile, ProfileError> {
        read(text, file, 0)
    }

    /// The same profile for a subgroup of another size: `--wave-size`.
    pub fn with_wave_size(mut self, lanes: Option<u32>) -> Profile {
        self.wave_size = lanes;
        self
    }
}

impl Builtin {
    pub(super) fn parse(&self) -> Profile {
        read(self.text, self.name, 0).expect("the built-in profiles are read by a test")
    }
}

/// The file of this name, else the one with this alias.
pub(super) fn find<'a>(files: &'a [Builtin], name: &str) -> Option<&'a Builtin> {
    let quoted = format!("\"{name}\"");
    let exact = files.iter().find(|file| file.name == name);
    exact.or_else(|| files.iter().find(|file| has_alias(file.text, &quoted)))
}

/// A file that others may inherit from.
fn base(name: &str) -> Option<&'static Builtin> {
    let builtin = BUILTIN.iter().find(|builtin| builtin.name == name);
    #[cfg(test)]
    let builtin = builtin.or_else(|| super::hardware::FILES.iter().find(|file| file.name == name));
    builtin
}

/// Whether the line of aliases holds the quoted name.
fn has_alias(text: &str, quoted: &str) -> bool {
    text.lines().any(|line| line.starts_with("aliases") && line.contains(quoted))
}

fn read(text: &str, name: &str, depth: usize) -> Result<Profile, ProfileError> {
    let file: File = toml::from_str(text).map_err(|error| ProfileError::from_toml(name, text, &error))?;
    let wrong = |key: &str, message: String| ProfileError::at_key(name, text, key, message);
    let base = match &file.inherit {
        None => None,
        Some(_) if depth == MAX_CHAIN => return Err(wrong("inherit", "the profiles inherit from each other".into())),
        Some(name) => {
            let builtin = base(name).ok_or_else(|| wrong("inherit", format!("there is no profile {name}")))?;
            Some(read(builtin.text, builtin.name, depth + 1)?)
        }
    };
    merge(file, base, &wrong, name)
}

/// The file over what it inherits.
fn merge(
    file: File,
    base: Option<Profile>,
    wrong: &dyn Fn(&str, String) -> ProfileError,
    name: &str,
) -> Result<Profile, ProfileError> {
    let missing = |key: &str| ProfileError::whole(name, format!("missing key {key}"));
    let version = match &file.version {
        Some(text) => Some(parse_version(text).ok_or_else(|| wrong("version", format!("{text} is no version")))?),
        None => None,
    };
    if let Some(WaveSize::Fixed(lanes)) = file.wave_size
        && !(lanes.is_power_of_two() && (4..=128).contains(&lanes))
    {
        return Err(wrong("wave-size", format!("{lanes} is no power of two from 4 to 128")));
    }
    let base = base.as_ref();
    let features = file.features.as_ref().map(|list| list.iter().copied().collect());
    let features: FeatureSet = features.or(base.map(|base| base.features)).ok_or_else(|| missing("features"))?;
    let features = file.add_features.iter().fold(features, |set, feature| set.with(*feature));
    let features = file.remove_features.iter().fold(features, |set, feature| set.without(*feature));
    let costs = prices(&file.costs, base, wrong)?;
    if let Some(class) = unpriced(features, &costs) {
        return Err(missing(&format!("costs.{}", class.name())));
    }
    Ok(Profile {
        name: file.name,
        aliases: file.aliases,
        description: file.description.or(base.map(|base| base.description.clone())).unwrap_or_default(),
        target: file.target.or(base.map(|base| base.target)).ok_or_else(|| missing("target"))?,
        version: version.or(base.map(|base| base.version)).ok_or_else(|| missing("version"))?,
        wave_size: match file.wave_size {
            Some(size) => size.lanes(),
            None => base.and_then(|base| base.wave_size),
        },
        features,
        processor: file.processor.or(base.map(|base| base.processor.clone())).unwrap_or_default(),
        costs,
        reproducible: file.reproducible.or(base.map(|base| base.reproducible)).unwrap_or(false),
    })
}

/// The file's prices over those that it inherits.
fn prices(
    costs: &BTreeMap<Box<str>, Cost>,
    base: Option<&Profile>,
    wrong: &dyn Fn(&str, String) -> ProfileError,
) -> Result<Costs, ProfileError> {
    let mut all = base.map_or_else(Costs::default, |base| base.costs);
    for (name, cost) in costs {
        let class = CostClass::of_name(name).ok_or_else(|| wrong(name, "there is no such price".into()))?;
        all.set(class, *cost);
    }
    Ok(all)
}

/// What the features need a price for and have none.
fn unpriced(features: FeatureSet, costs: &Costs) -> Option<CostClass> {
    CostClass::ALL.iter().copied().find(|class| features.has(class.needed_for()) && costs.of(*class).is_none())
}

/// `1.3` as (1, 3).
fn parse_version(text: &str) -> Option<(u8, u8)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_profiles_are_sound() {
        for (profile, builtin) in Profile::all().zip(BUILTIN) {
            assert_eq!(&*profile.name, builtin.name);
            for alias in &profile.aliases {
                assert_eq!(Profile::named(alias).expect("alias").name, profile.name);
            }
        }
    }

    #[test]
    fn inheritance_adds_features() {
        let profile = Profile::named("vulkan1.3").expect("alias");
        assert_eq!(profile.version, (1, 6));
        assert!(profile.has(Feature::DynamicBroadcast) && profile.has(Feature::Ballot));
        assert!(!Profile::named("spirv-1.3").expect("name").has(Feature::DynamicBroadcast));
        assert_eq!(Profile::named("spirv-9"), None);
    }

    fn error(text: &str) -> String {
        Profile::from_toml(text, "my.toml").expect_err("a wrong profile").to_string()
    }

    #[test]
    fn errors_name_file_line_and_key() {
        let cases = [
            ("name = \"a\"\ninherit = \"b\"\n", "my.toml:2: inherit: there is no profile b"),
            ("name = \"a\"\ntarget = \"spirv\"\n", "my.toml: missing key features"),
            (
                "inherit = \"spirv-1.3\"\nname = \"a\"\nwave-size = 12\n",
                "my.toml:3: wave-size: 12 is no power of two from 4 to 128",
            ),
            ("inherit = \"spirv-1.3\"\nname = \"a\"\nversion = \"x\"\n", "my.toml:3: version: x is no version"),
            (
                "inherit = \"spirv-1.3\"\nname = \"a\"\nadd-features = [\"nv-shuffle\"]\n",
                "my.toml: missing key costs.nv-shuffle",
            ),
            (
                "inherit = \"spirv-1.3\"\nname = \"a\"\n[costs]\ntea = { latency = 3 }\n",
                "my.toml:4: tea: there is no such price",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(error(text), message);
        }
    }

    #[test]
    fn unknown_names_are_errors() {
        let message = error("name = \"a\"\ncolour = 3\n");
        assert!(message.starts_with("my.toml:2: colour: unknown field"), "{message}");
        let message = error("name = \"a\"\nfeatures = [\n  \"vote\",\n  \"tea\",\n]\n");
        assert!(message.starts_with("my.toml:4: features: unknown variant"), "{message}");
    }
}
