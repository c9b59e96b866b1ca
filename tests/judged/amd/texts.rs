//! Texts compared with their snapshots: listings for the chosen profiles in `snapshots/amd/PROFILE`, and one table of
//! checksums for the others, with a line per fixture and profile. The widest build in the first language represents
//! each fixture.

use super::{builds, is_chosen, profiles, stripped};
use crosslane::profile::Profile;
use support::compiler::{self, CONTRACTED, Target};
use support::fixture::{Build, Fixture};
use support::snapshot;

/// Holds the listings of a fixture for the chosen profiles.
pub fn hold_listings(fixture: &Fixture) -> Result<(), String> {
    profiles().iter().filter(|profile| is_chosen(profile)).try_for_each(|profile| {
        let (build, text) = widest(fixture, profile)?;
        keep(&profile.name, fixture.name, build, listing(&text));
        Ok(())
    })
}

fn keep(folder: &str, name: &str, build: Build, text: &str) {
    snapshot::hold(&format!("amd/{folder}"), name, &build.description(), text);
}

/// The head and the instructions. The rest is the same for all fixtures, and the interpreter reads it.
fn listing(text: &str) -> &str {
    text.split_once("_end:").and_then(|(before, _)| before.rsplit_once('\n')).map_or(text, |(listing, _)| listing)
}

/// Holds the sums of the texts for all other profiles.
pub fn hold_sums<'f>(fixtures: impl Iterator<Item = &'f Fixture>) -> Result<(), String> {
    let others: Vec<Profile> = profiles().into_iter().filter(|profile| !is_chosen(profile)).collect();
    let mut lines = Vec::new();
    for fixture in fixtures {
        for profile in &others {
            let (_, text) = widest(fixture, profile)?;
            lines.push(format!("{} {} {:016x}", fixture.name, profile.name, sum(&stripped(&text))));
        }
    }
    let none = Build { width: None, wave: None };
    keep("", "sums", none, &lines.join("\n"));
    Ok(())
}

fn widest(fixture: &Fixture, profile: &Profile) -> Result<(Build, String), String> {
    let (languages, builds) = (fixture.languages(), builds(fixture, profile));
    let language = *languages.first().ok_or("a fixture has a language")?;
    let build = *builds.last().ok_or("a fixture has builds")?;
    let profile = format!("{} {CONTRACTED}", profile.name);
    let program = compiler::amd(Target { fixture, language, profile: &profile, build })?;
    Ok((build, program.text))
}

/// FNV-1a, of 64 bits.
fn sum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
