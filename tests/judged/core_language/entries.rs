//! WGSL modules with several entry points: one valid SPIR-V module contains all of them, each with the interface and
//! execution modes that it would have in its own module. For targets with one entry point per program, each is compiled
//! by name.

use crosslane::backend::spirv::disassemble;
use crosslane::compile::{Artifact, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::render;
use crosslane::source::NoIncludes;

use support::rival::{PROFILES, has_subgroups};
use support::{compiler, judge};

const TEXT: &str = include_str!("../../../fixtures/said/wgsl_entry_points.wgsl");

/// Entry points, and whether they are compute shaders.
const ENTRIES: [(&str, bool); 5] =
    [("corner", false), ("paint", false), ("depth_only", false), ("sum", true), ("scale", true)];

pub fn check() -> Result<(), String> {
    for (profile, environment) in PROFILES.into_iter().filter(|(profile, _)| has_subgroups(profile)) {
        let all = spirv(profile, None)?;
        judge::spirv_val(&all, environment, false).map_err(|e| format!("{profile}: {e}"))?;
        // A private variable that only one entry point uses becomes local to it and leaves its interface.
        if profile.contains(" -O") {
            continue;
        }
        let all = disassemble(&all)?;
        for (entry, _) in ENTRIES {
            let one = disassemble(&spirv(profile, Some(entry))?)?;
            let [together, alone] = [shown(&all, entry), shown(&one, entry)];
            if together.is_none() || together != alone {
                return Err(format!("{profile}, {entry}: {together:?}, and alone {alone:?}"));
            }
        }
    }
    let programs =
        ENTRIES.into_iter().flat_map(|(entry, compute)| [("nv-volta", entry, true), ("gfx1030", entry, compute)]);
    programs.filter(|(.., takes)| *takes).try_for_each(|(profile, entry, _)| made(profile, Some(entry)).map(drop))
}

/// The size of an entry point's interface, and its execution modes.
fn shown(listing: &str, entry: &str) -> Option<(usize, Vec<String>)> {
    let quoted = format!("\"{entry}\"");
    let line = listing.lines().find(|line| line.contains("OpEntryPoint") && line.contains(&quoted))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == quoted)?;
    let id = words[at - 1];
    let modes =
        listing.lines().filter(|line| line.contains("OpExecutionMode") && line.split_whitespace().any(|w| w == id));
    // The word after the id is a mode; sizes that are constants are referred to by id.
    let mode =
        |line: &str| line.split_whitespace().skip_while(|word| *word != id).nth(1).unwrap_or_default().to_owned();
    Some((words.len() - at - 1, modes.map(mode).collect()))
}

fn spirv(profile: &str, entry: Option<&str>) -> Result<Vec<u32>, String> {
    match made(profile, entry)? {
        Artifact::Spirv(words) => Ok(words),
        Artifact::Text(_) => Err(format!("{profile} makes text")),
    }
}

fn made(profile: &str, entry: Option<&str>) -> Result<Artifact, String> {
    let options = Options { entry: entry.map(str::to_owned), ..compiler::named(profile)? };
    let input = Input { name: "entries.wgsl", bytes: TEXT.as_bytes(), language: Language::Wgsl };
    let done = compile(&input, &options, &NoIncludes);
    match done.verdict {
        Verdict::Done(artifact) => Ok(artifact),
        _ => Err(format!("{profile}, {entry:?}: {}", render::human(&done.sources, &done.diagnostics))),
    }
}
