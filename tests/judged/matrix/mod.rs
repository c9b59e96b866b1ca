//! The matrix: every operation of the tables × type × width × front end × profile. The cells come from the compiler's
//! tables, so a new row makes new cells; the expected results come from formulas in plain Rust. Each cell is proven by
//! the lane engine and simulated with the profile's plan. Then its listing is interpreted, or its module is validated
//! and run on lavapipe.
//!
//! An ordinary run tests a part of the cells that covers every row, type, width and profile. `CROSSLANE_MATRIX` selects
//! others:
//! - `all` runs all cells and writes docs/verified/ops.md.
//! - Names of profiles, with commas, run all of theirs; a single name with every subgroup size.
//! - `gpu` runs the cells that an NVIDIA GPU can run (see `gpu.rs`).
//! - `portable` runs one shader per family in every way (see `portable.rs`).

mod compile;
mod domain;
mod formula;
mod gpu;
mod judge;
mod kind;
mod portable;
mod prove;
mod refusal;
mod rows;
mod shader;
mod slice;
mod spelling;
mod stage;
mod table;

use std::collections::BTreeMap;

use crosslane::profile::Profile;
use judge::{Mode, Seen, judge};
use libtest_mimic::{Arguments, Conclusion};
use rows::{Unit, units};
use stage::PROFILES;
use support::trial::{Trial, trial};

/// Writes the pages that record a run of all cells, if requested and if all of them ran.
pub fn write_pages(arguments: &Arguments, conclusion: &Conclusion) {
    let is_whole = arguments.filter.as_deref() == Some("matrix::") && arguments.skip.is_empty() && !arguments.list;
    let write = match is_whole {
        true if is_on_gpu() => gpu::write,
        true if conclusion.has_failed() => return,
        true if asks_for("all") => table::write,
        true if asks_for("portable") => portable::write,
        _ => return,
    };
    write().unwrap_or_else(|why| panic!("{why}"));
}

/// Returns true if the cells that a GPU can test are requested.
pub fn is_on_gpu() -> bool {
    asks_for("gpu")
}

/// The mode selected by `CROSSLANE_MATRIX`.
fn mode() -> Mode {
    match std::env::var("CROSSLANE_MATRIX").as_deref() {
        Ok("all") => Mode::All,
        Ok("gpu") => Mode::Gpu,
        Ok(names) if PROFILES.iter().any(|profile| names.split(',').any(|name| *profile.name == *name)) => Mode::All,
        _ => Mode::Slice,
    }
}

/// Returns true if `CROSSLANE_MATRIX` is this word.
fn asks_for(word: &str) -> bool {
    std::env::var("CROSSLANE_MATRIX").is_ok_and(|asked| asked == word)
}

/// Returns true if all cells of a profile are requested.
fn is_asked(profile: &Profile, mode: Mode) -> bool {
    match std::env::var("CROSSLANE_MATRIX").as_deref() {
        Ok("all") => true,
        Ok(_) if mode == Mode::Gpu => gpu::runs(profile),
        Ok(names) => names.split(',').any(|name| *profile.name == *name),
        Err(_) => false,
    }
}

pub fn trials() -> Vec<Trial> {
    let mode = mode();
    if asks_for("portable") {
        return portable::trials();
    }
    let groups = groups();
    let mut trials = Vec::new();
    if mode == Mode::Slice {
        let parts: Vec<_> = groups.values().enumerate().map(|(n, units)| slice::of(n, units)).collect();
        trials.push(trial("slice::holds_everything", {
            let parts = parts.clone();
            move || slice::holds_everything(&parts)
        }));
        trials.push(trial("table::is_current", table::is_current));
        let named = groups.into_keys().zip(parts);
        trials.extend(named.map(|(name, part)| trial(name, move || all_right(part, mode))));
    } else {
        let profiles = || PROFILES.iter().filter(move |profile| is_asked(profile, mode));
        let all =
            |units: Vec<Unit>| units.into_iter().flat_map(|unit| profiles().map(move |p| (unit.clone(), &*p.name)));
        let named = groups.into_iter().map(|(name, units)| (name, all(units).collect::<Vec<_>>()));
        trials.extend(named.map(|(name, part)| trial(name, move || all_right(part, mode))));
    }
    if mode != Mode::Gpu {
        trials.extend(portable::trials());
    }
    trials
}

/// The units of rows that differ in widths alone, by name.
fn groups() -> BTreeMap<String, Vec<Unit>> {
    let mut groups: BTreeMap<String, Vec<Unit>> = BTreeMap::new();
    for unit in units() {
        groups.entry(unit.row().group()).or_default().push(unit);
    }
    groups
}

/// Maximum number of failures that a trial reports.
const TOLD: usize = 4;

/// Judges units on profiles; all failures count, some of them are reported.
fn all_right(part: Vec<(Unit, &'static str)>, mode: Mode) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut seen: Option<(usize, u64, Seen)> = None;
    for (unit, name) in &part {
        let profile = PROFILES.iter().find(|profile| *profile.name == **name).ok_or("no such profile")?;
        // Observations of a unit are used for that unit only.
        let key = (unit.row, unit.turn());
        if seen.as_ref().is_none_or(|(row, turn, _)| (*row, *turn) != key) {
            seen = Some((key.0, key.1, Seen::default()));
        }
        let seen = &mut seen.as_mut().expect("just made").2;
        let done = judge(unit, profile, mode, seen);
        gpu::record(unit, name, &done);
        wrong.extend(done.err().map(|why| format!("{} on {name}: {why}", unit.title())));
    }
    let told = wrong.iter().take(TOLD).cloned().collect::<Vec<_>>().join("\n");
    if wrong.is_empty() { Ok(()) } else { Err(format!("{} of {} are wrong\n{told}", wrong.len(), part.len())) }
}
