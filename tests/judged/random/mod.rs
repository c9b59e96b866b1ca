//! Random kernels: each leaves the same buffers behind whether this compiler or glslang compiled it, and in the simulator.
//!
//! `CROSSLANE_RANDOM=SEED:COUNT` runs other seeds than the usual ones, and `CROSSLANE_LANGUAGES=PROFILE,PROFILE` takes the
//! kernels by way of those shading languages only. A kernel that fails is printed with its seed.

use std::ops::Range;

use crosslane::ir::Stage;
use support::by_text::{self, Made, Outcome};
use support::compare::Closeness;
#[allow(dead_code)]
use support::generator::{arms, formulas, program, wide};
use support::lavapipe::{Buffers, Request};
use support::pattern::{Domain, PATTERNS};
use support::rival::{self, Judged};
use support::scalar::Type;
use support::trial::{Trial, judged};
use support::{dawn, judge, seeds, slang};

/// Kernels that each run of the tests tries.
const USUAL: u64 = 50;

pub fn trials() -> Vec<Trial> {
    let languages = languages();
    let of_languages = languages.iter().flat_map(|language| language.judges);
    let judges: Vec<&str> = ["bin/glslangValidator", "bin/spirv-val"].iter().chain(of_languages).copied().collect();
    let batch = |(name, make): (&str, Maker), mut seeds: Range<u64>| {
        let (name, languages) = (format!("{name}_{}", seeds.start), languages.clone());
        judged(name, &judges, move || seeds.try_for_each(|seed| check(seed, &make(seed), &languages)))
    };
    let all = |kind: (&'static str, Maker)| {
        let batch = &batch;
        seeds::batches(USUAL).map(move |seeds| batch(kind, seeds))
    };
    KINDS.into_iter().flat_map(all).collect()
}

/// Makes a kernel from a seed.
type Maker = fn(u64) -> String;

/// Kernels of plain types, of narrow and wide ones, of integer formulas, and of cross-lane operations in arms and loops.
const KINDS: [(&str, Maker); 4] = [
    ("seeds", program::kernel),
    ("wide", wide::kernel),
    ("formulas", formulas::kernel),
    ("arms", |seed| arms::kernel(seed, program::INVOCATIONS)),
];

fn check(seed: u64, source: &str, languages: &[&Language]) -> Result<(), String> {
    agree(seed, source, languages).map_err(|why| format!("seed {seed}: {why}\n{}", program::keep(seed, source)))
}

/// A shading language that kernels go by.
struct Language {
    profile: &'static str,
    /// One in how many of the usual kernels does.
    every: u64,
    judges: &'static [&'static str],
}

static LANGUAGES: [Language; 3] = [
    Language { profile: "wgsl", every: 1, judges: &dawn::JUDGES },
    Language { profile: "glsl-450-khr", every: 5, judges: &[] },
    Language { profile: "hlsl-6.5", every: 5, judges: &[slang::JUDGE] },
];

/// The languages that `CROSSLANE_LANGUAGES` names by profiles with commas between them, which may be none; all by default.
fn languages() -> Vec<&'static Language> {
    let Ok(asked) = std::env::var("CROSSLANE_LANGUAGES") else { return LANGUAGES.iter().collect() };
    let named = |name| LANGUAGES.iter().find(|language| language.profile == name);
    let names = asked.split(',').filter(|name| !name.is_empty());
    names.map(|name| named(name).unwrap_or_else(|| panic!("CROSSLANE_LANGUAGES: no kernel goes by `{name}`"))).collect()
}

/// How the buffers are compared.
const JUDGED: [Judged; 2] = [Judged { kind: Type::I32, closeness: Closeness::Same }; 2];

/// One profile a kernel, in turn.
fn agree(seed: u64, source: &str, languages: &[&Language]) -> Result<(), String> {
    let request = request();
    let theirs = rival::run(&request, &rival::theirs(source)?).map_err(|e| format!("glslang's module: {e}"))?;
    let (profile, environment) = rival::PROFILES[seed as usize % rival::PROFILES.len()];
    let hinted = if profile.ends_with(" -O") { program::unrolled(source) } else { source.to_owned() };
    let module = rival::ours("random.comp", &hinted, profile)?;
    judge::spirv_val(&module, environment, false).map_err(|e| format!("{profile}: {e}"))?;
    let ours = rival::run(&request, &module).map_err(|e| format!("{profile}: {e}"))?;
    let judged = JUDGED;
    theirs.iter().zip(&ours).try_for_each(|(theirs, ours)| rival::differences(&judged, theirs, ours))?;
    for Language { profile, every, .. } in languages {
        if seeds::are_asked_for() || seed.is_multiple_of(*every) {
            by_language(profile, source, &request, &theirs).map_err(|e| format!("{profile}: {e}"))?;
        }
    }
    rival::simulated("random.comp", source, &request, &judged, &theirs)
}

/// A kernel through a shading language, unless that lacks a type.
fn by_language(profile: &str, source: &str, request: &Request, theirs: &[Buffers]) -> Result<(), String> {
    let Outcome::Made(Made { module, .. }) = by_text::make(profile, "random.comp", source, Stage::Compute)? else {
        return Ok(());
    };
    judge::spirv_val(&module, "vulkan1.3", false)?;
    let ours = rival::run(request, &module)?;
    theirs.iter().zip(&ours).try_for_each(|(theirs, ours)| rival::differences(&JUDGED, theirs, ours))
}

/// Values that a kernel leaves in its own block are floats too, whose zeros may differ in sign: they are written down,
/// not compared.
fn request() -> Request {
    let given = Domain::Any(Type::I32);
    let results = program::INVOCATIONS * program::RESULTS;
    let run = |&pattern| {
        vec![
            given.words(pattern, 3, 2 * program::INVOCATIONS),
            vec![0; results],
            vec![0; program::MEMORY * program::INVOCATIONS],
        ]
    };
    Request::new(Vec::new(), 1, PATTERNS[..2].iter().map(run).collect())
}
