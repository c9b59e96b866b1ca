//! SPIR-V as input: glslang's modules of fixtures leave the buffers that the text leaves, crosslane's own modules
//! become valid modules again, and broken modules are messages.

use crate::fixtures::header;
use crosslane::compile::Artifact;
use crosslane::compile::{Input, Language as Text, Options, Parsed, Verdict, compile, parse};
use crosslane::diagnostic::{Code, render};
use crosslane::ir::Stage;
use crosslane::kernel::{Kernel, Specializations};
use crosslane::source::NoIncludes;
use std::collections::BTreeMap;
use std::path::Path;
use support::compiler::{self, Target};
use support::fixture::{self, Build, Fixture, Language};
use support::lavapipe::Buffers;
use support::tables::{fixtures, language};
use support::trial::{Trial, judged, trial};
use support::{judge, simulator};

/// The profile that modules are read for.
const PROFILE: &str = "spirv-1.6";

/// How many of the fixtures' own modules are read again at least, in percent.
const LEAST_READ: usize = 65;

/// Mutants of each module.
const MUTANTS: u64 = 30;

/// Lanes of a simulated subgroup.
const LANES: usize = 8;

pub fn trials() -> Vec<Trial> {
    let judges = ["bin/glslangValidator"];
    let is_glsl = |fixture: &&'static Fixture| fixture.languages().contains(&Language::Glsl);
    let of_language = language::FIXTURES.iter().filter(is_glsl);
    let mut trials: Vec<Trial> = of_language
        .map(|fixture| judged(format!("language::{}", fixture.name), &judges, move || as_the_text(fixture)))
        .collect();
    let portable = fixtures().filter(|fixture| header::is_for(fixture));
    trials.extend(
        portable
            .map(|fixture| judged(format!("formulas::{}", fixture.name), &judges, move || as_the_formulas(fixture))),
    );
    trials.push(judged("again", &["bin/spirv-val"], again));
    trials.push(trial("mutants", mutants));
    trials
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn options() -> Result<Options, String> {
    compiler::named(PROFILE)
}

/// The kernel of a module.
fn kernel(words: &[u32]) -> Result<Kernel, String> {
    let bytes = bytes(words);
    let input = Input { name: "a.spv", bytes: &bytes, language: Text::Glsl };
    compiler::parsed(&input, &options()?, &Specializations::new())
}

fn as_the_text(fixture: &Fixture) -> Result<(), String> {
    let fixture = &fixture.in_order();
    let target =
        Target { fixture, language: Language::Glsl, profile: PROFILE, build: Build { width: None, wave: None } };
    let request = fixture.request();
    let text = simulator::run(&compiler::kernel(target)?, LANES, &request)?;
    let read = kernel(&judge::glslang(&fixture.source(Language::Glsl)?)?)?;
    let after = simulator::run(&read, LANES, &request)?;
    let words = |run: &Vec<simulator::After>| run.iter().map(|buffer| buffer.words.clone()).collect();
    fixture.judge_against(&text, &after.iter().map(words).collect::<Vec<Buffers>>())
}

fn as_the_formulas(fixture: &Fixture) -> Result<(), String> {
    let build = *fixture.builds().last().ok_or("a fixture has builds")?;
    let width = build.width.map(|width| format!("#define WIDTH {width}\n")).unwrap_or_default();
    let source = header::with_header(&fixture.source(Language::Glsl)?, &width);
    let lanes = build.width.unwrap_or(LANES).clamp(LANES, 64);
    fixture.simulate(&kernel(&judge::glslang(&source)?)?, build, lanes)
}

/// The GLSL fixtures, and their stages.
fn sources() -> Vec<(String, String, Stage)> {
    let paths = fixture::FOLDERS.into_iter().flat_map(|folder| fixture::files(&format!("fixtures/{folder}")));
    let stage = |path: &Path| Stage::named(path.extension()?.to_str()?);
    let read = |path: &Path| Some((path.display().to_string(), std::fs::read_to_string(path).ok()?, stage(path)?));
    paths.filter_map(|path| read(&path)).collect()
}

/// The module for a text or a module.
fn module(name: &str, bytes: &[u8], stage: Option<Stage>) -> Result<Vec<u32>, String> {
    let input = Input { name, bytes, language: Text::Glsl };
    let done = compile(&input, &Options { stage, ..options()? }, &NoIncludes);
    match done.verdict {
        Verdict::Done(Artifact::Spirv(words)) => Ok(words),
        _ => Err(render::human(&done.sources, &done.diagnostics)),
    }
}

/// Each module that crosslane writes is read, and written as a valid module, or refused by name.
fn again() -> Result<(), String> {
    let (mut all, mut read, mut wrong) = (0, 0, Vec::new());
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (name, source, stage) in sources() {
        let Ok(words) = module(&name, source.as_bytes(), Some(stage)) else { continue };
        all += 1;
        match module("again.spv", &bytes(&words), None) {
            Ok(words) => {
                read += 1;
                wrong.extend(judge::spirv_val(&words, "vulkan1.3", true).err().map(|why| format!("{name}: {why}")));
            }
            Err(said) if said.contains(Code::MODULE_NOT_READ.0) => *reasons.entry(reason(&said)).or_default() += 1,
            Err(said) => wrong.push(format!("{name}: {said}")),
        }
    }
    println!("{read} of {all} modules are read again");
    reasons.iter().for_each(|(reason, count)| println!("{count:5} {reason}"));
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    if 100 * read < LEAST_READ * all { Err(format!("only {read} of {all} modules are read")) } else { Ok(()) }
}

/// A refusal without what differs from module to module.
fn reason(said: &str) -> String {
    let line = said.lines().next().unwrap_or_default();
    let parts = line.split(' ').map(|word| if word.contains(|c: char| c.is_ascii_digit()) { "N" } else { word });
    parts.collect::<Vec<_>>().join(" ")
}

/// A small generator of numbers.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// The module with a bit, a word or an instruction changed.
fn mutated(words: &[u32], state: &mut u64) -> Vec<u32> {
    let mut words = words.to_vec();
    let at = 5 + next(state) as usize % (words.len() - 5);
    match next(state) % 6 {
        0 => words[at] ^= 1 << (next(state) % 32),
        1 => words[at] = next(state) as u32,
        2 => words[at] = words[5 + next(state) as usize % (words.len() - 5)],
        3 => words.truncate(at),
        4 => {
            words.remove(at);
        }
        _ => {
            // A whole instruction is left out.
            let mut start = 5;
            while start < words.len() && start + ((words[start] >> 16) as usize).max(1) <= at {
                start += ((words[start] >> 16) as usize).max(1);
            }
            let end = (start + (words[start] >> 16) as usize).min(words.len());
            words.drain(start..end);
        }
    }
    words
}

/// No mutant of a module makes the compiler fail.
fn mutants() -> Result<(), String> {
    let mut state = 0x9E37_79B9_7F4A_7C15;
    for (name, source, stage) in sources().into_iter().step_by(5) {
        let Ok(words) = module(&name, source.as_bytes(), Some(stage)) else { continue };
        for _ in 0..MUTANTS {
            let mutant = bytes(&mutated(&words, &mut state));
            let input = Input { name: "mutant.spv", bytes: &mutant, language: Text::Glsl };
            let Parsed { diagnostics, sources, .. } = parse(&input, &options()?, &NoIncludes);
            if diagnostics.iter().any(|message| message.code == Code::INTERNAL) {
                return Err(format!("{name}: {}", render::human(&sources, &diagnostics)));
            }
        }
    }
    Ok(())
}
