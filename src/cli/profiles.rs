//! `crosslane profiles`: the list, or one profile in full.

use super::args::ProfilesArgs;
use super::output::to_stdout;
use super::{CommandError, Exit, Outcome};
use crate::build::claims::Claims;
use crate::build::files::FileLoader;
use crate::explain::json;
use crate::lane::check;
use crate::profile::{Client, Cost, CostClass, Profile, WaveSize};
use crate::source::{IncludeKind, LoadError, Loader};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

pub fn run(args: &ProfilesArgs, claims: &Claims) -> Outcome {
    let named: Vec<Profile> = args.names.iter().map(|name| find(name, claims)).collect::<Result<_, _>>()?;
    let text = match named.as_slice() {
        [] if args.json => json::json(&Json::new(Profile::built_in())),
        [] => list(),
        named if args.json => json::json(&Json::new(named)),
        named => named.iter().map(show).collect::<Vec<_>>().join("\n"),
    };
    to_stdout(text.as_bytes()).map(|()| Exit::Done)
}

/// The profile of a name, an alias, or a `.toml` file.
pub fn find(name: &str, claims: &Claims) -> Result<Profile, CommandError> {
    find_with(name, &FileLoader { claims: claims.clone(), ..FileLoader::default() })
}

/// A profile with the subgroup size of `--wave-size`.
pub fn promising(profile: Profile, size: Option<WaveSize>) -> Result<Profile, CommandError> {
    let Some(size) = size else { return Ok(profile) };
    profile.promising(size).map_err(|why| CommandError(format!("--wave-size: {why}")))
}

/// Like `find`, with files from a loader.
pub fn find_with(name: &str, files: &dyn Loader) -> Result<Profile, CommandError> {
    let profile = read(name, files)?;
    if is_file(name) {
        prove(&profile).map_err(|CommandError(why)| CommandError(format!("{name}: {why}")))?;
    }
    Ok(profile)
}

fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// Like `find_with`, but does not prove the plans of a profile from a file, which takes a while.
pub fn read(name: &str, files: &dyn Loader) -> Result<Profile, CommandError> {
    if is_file(name) { read_file(name, files) } else { Profile::named(name).ok_or_else(|| unknown(name)) }
}

/// Proves a profile's plans.
pub fn prove(profile: &Profile) -> Result<(), CommandError> {
    check::prove(profile).map(drop).map_err(|unsound| CommandError(format!("internal error: {unsound}")))
}

/// The profile in a file, which may inherit from others next to it.
fn read_file(path: &str, files: &dyn Loader) -> Result<Profile, CommandError> {
    let loaded = files.load(path, IncludeKind::Quoted, "").map_err(|error| match error {
        LoadError::NotFound(_) => CommandError(format!("cannot read {path}: there is no such file")),
        LoadError::Unreadable(why) => CommandError(why),
    })?;
    let profile = Profile::from_file(&loaded.text, &loaded.name, files);
    profile.map_err(|error| CommandError(error.to_string()))
}

fn unknown(name: &str) -> CommandError {
    let is_known = |part: &str| Profile::named(part.trim()).is_some();
    if name.contains(',') && name.split(',').all(is_known) {
        return CommandError(format!("one profile is needed, not `{name}`; `crosslane build` compiles for several"));
    }
    CommandError(Profile::unknown(name))
}

/// Profiles as data; features and costs have the names of the files.
#[derive(Serialize)]
struct Json<'a> {
    schema: &'static str,
    profiles: Vec<JsonProfile<'a>>,
}

#[derive(Serialize)]
struct JsonProfile<'a> {
    name: &'a str,
    aliases: &'a [Box<str>],
    families: &'a [Box<str>],
    description: &'a str,
    target: &'static str,
    /// The ending of its outputs, without a dot.
    ending: &'static str,
    version: String,
    processor: &'a str,
    wave_size: Option<u32>,
    reproducible: bool,
    is_builtin: bool,
    features: Vec<&'static str>,
    costs: BTreeMap<&'static str, Cost>,
}

impl<'a> Json<'a> {
    fn new(profiles: &'a [Profile]) -> Json<'a> {
        Json { schema: "crosslane-profiles-1", profiles: profiles.iter().map(JsonProfile::of).collect() }
    }
}

impl<'a> JsonProfile<'a> {
    fn of(profile: &'a Profile) -> JsonProfile<'a> {
        let (major, minor) = profile.version;
        JsonProfile {
            name: &profile.name,
            aliases: &profile.aliases,
            families: &profile.families,
            description: &profile.description,
            target: profile.target.name(),
            ending: profile.target.row().ending.trim_start_matches('.'),
            version: format!("{major}.{minor}"),
            processor: &profile.processor,
            wave_size: profile.wave_size,
            reproducible: profile.reproducible,
            is_builtin: profile.is_builtin,
            features: profile.features.iter().map(|feature| feature.name()).collect(),
            costs: prices(profile).map(|(class, cost)| (class.name(), cost)).collect(),
        }
    }
}

/// Writing into a `String` cannot fail, so its results are not looked at here and below.
fn list() -> String {
    let profiles: Vec<Profile> = Profile::all().collect();
    let width = profiles.iter().map(|profile| profile.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for profile in &profiles {
        let _ = writeln!(text, "{:width$}  {}", profile.name, profile.description);
    }
    text
}

fn show(profile: &Profile) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}: {}", profile.name, profile.description);
    for (name, value) in facts(profile).iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(text, "{name:12}  {value}");
    }
    let _ = writeln!(text, "features");
    for feature in profile.features.iter() {
        let _ = writeln!(text, "  {:26}  {}", feature.name(), feature.meaning());
    }
    let mut prices = prices(profile).peekable();
    if prices.peek().is_some() {
        let _ = writeln!(text, "costs");
    }
    for (class, cost) in prices {
        let _ = writeln!(text, "  {:26}  {}", class.name(), price(cost));
    }
    text
}

/// The facts of a profile other than features and costs; empty if it has none.
fn facts(profile: &Profile) -> [(&'static str, String); 8] {
    let target = profile.target.row().language;
    let others = Some(profile.client).filter(|client| *client != Client::default());
    [
        ("aliases", profile.aliases.join(", ")),
        ("families", profile.families.join(", ")),
        ("target", format!("{target} {}.{}", profile.version.0, profile.version.1)),
        ("loaded by", others.map_or(String::new(), |client| client.name().to_string())),
        ("processor", profile.processor.to_string()),
        ("wave size", profile.wave_size.map_or("any".to_string(), |lanes| lanes.to_string())),
        ("reproducible", if profile.reproducible { "yes" } else { "no" }.to_string()),
        ("built in", if profile.is_builtin { "yes" } else { "no" }.to_string()),
    ]
}

/// The costs of instructions that the profile has.
fn prices(profile: &Profile) -> impl Iterator<Item = (CostClass, Cost)> {
    let priced = |class: &CostClass| profile.costs.of(*class).map(|cost| (*class, cost));
    CostClass::ALL.iter().filter(|class| profile.has(class.needed_for())).filter_map(priced)
}

/// A cost without zeros.
fn price(cost: Cost) -> String {
    let parts = [
        ("instructions", u16::from(cost.instructions)),
        ("latency", cost.latency),
        ("lds", u16::from(cost.lds)),
        ("wait-before", u16::from(cost.wait_before)),
        ("wait-index", u16::from(cost.wait_index)),
        ("wait-after", u16::from(cost.wait_after)),
        ("registers", u16::from(cost.registers)),
        ("scalars", u16::from(cost.scalars)),
    ];
    let said = parts.iter().filter(|(_, number)| *number != 0).map(|(name, number)| format!("{name} {number}"));
    said.collect::<Vec<_>>().join(", ")
}
