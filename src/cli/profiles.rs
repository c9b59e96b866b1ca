//! `crosslane profiles`: the list, or one profile in full.

use super::args::ProfilesArgs;
use super::output::to_stdout;
use super::{CommandError, Exit, Outcome};
use crate::diagnostic::nearest::nearest;
use crate::profile::Profile;
use std::fmt::Write;
use std::path::Path;

pub fn run(args: &ProfilesArgs) -> Outcome {
    let text = match &args.name {
        None => list(),
        Some(name) => show(&find(name)?),
    };
    to_stdout(text.as_bytes()).map(|()| Exit::Done)
}

/// The profile of a name, an alias, or a `.toml` file.
pub fn find(name: &str) -> Result<Profile, CommandError> {
    if Path::new(name).extension().is_some_and(|extension| extension == "toml") {
        let text =
            std::fs::read_to_string(name).map_err(|error| CommandError(format!("cannot read {name}: {error}")))?;
        return Profile::from_toml(&text, name).map_err(|error| CommandError(error.to_string()));
    }
    Profile::named(name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> CommandError {
    let hint = match nearest(name, Profile::names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`crosslane profiles` lists them".to_string(),
    };
    CommandError(format!("there is no profile `{name}`; {hint}"))
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
    let lanes = profile.wave_size.map_or("any".to_string(), |lanes| lanes.to_string());
    let _ = writeln!(text, "{}: {}", profile.name, profile.description);
    if !profile.aliases.is_empty() {
        let _ = writeln!(text, "aliases       {}", profile.aliases.join(", "));
    }
    let _ = writeln!(text, "version       {}.{}", profile.version.0, profile.version.1);
    let _ = writeln!(text, "wave size     {lanes}");
    let _ = writeln!(text, "reproducible  {}", if profile.reproducible { "yes" } else { "no" });
    let _ = writeln!(text, "features");
    for feature in profile.features.iter() {
        let _ = writeln!(text, "  {:24}  {}", feature.name(), feature.meaning());
    }
    text
}
