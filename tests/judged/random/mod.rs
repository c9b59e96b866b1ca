//! Random kernels: each gives the same buffers whether compiled by crosslane or by glslang, and in the simulator.
//!
//! `CROSSLANE_RANDOM=SEED:COUNT` runs other seeds than the usual ones, and `CROSSLANE_LANGUAGES=PROFILE,PROFILE` only
//! compiles the kernels through those shading languages. A failing kernel is printed with its seed.

mod segments;

use std::ops::Range;

use crosslane::ir::Stage;
use support::by_text::{self, Made, Outcome};
use support::compare::Closeness;
use support::compiler::LINES;
#[allow(dead_code)]
use support::generator::{arms, formulas, memory, names, program, waits, wide};
use support::lavapipe::{self, Buffers, Request};
use support::metal::{self, Job};
use support::pattern::{Domain, PATTERNS};
use support::rival::{self, Judged};
use support::scalar::Type;
use support::shader::Shader;
use support::trial::{Trial, judged};
use support::{dawn, dxc, judge, outcomes, seeds};

/// Kernels that each run of the tests tries.
const USUAL: u64 = 30;

/// Seeds of plain kernels that found faults which no short shader shows. They go through every language.
const FOUND: [u64; 12] = [
    52_290_082, 52_290_083, 53_110_366, 53_110_380, 53_110_415, 53_110_502, 53_110_568, 53_110_621, 53_110_629,
    53_110_648, 53_110_715, 53_110_739,
];

/// Seeds of plain kernels that lavapipe runs wrongly, whoever made the module: Mesa 25.0.7 takes `c ? 0x80000000 :
/// 0x3f800000` for the conversion of a bool to a float, and gives 0 instead of 0x80000000 if `c` is true.
const LOSES_SIGN: [u64; 1] = [53_110_568];

pub fn trials() -> Vec<Trial> {
    let languages = languages();
    let of_languages = languages.iter().flat_map(|language| language.judges);
    let judges: Vec<&str> = ["bin/glslangValidator", "bin/spirv-val"].iter().chain(of_languages).copied().collect();
    let batch = |kind: Kind, seeds: Range<u64>| {
        let (name, languages) = (format!("{}_{}", kind.name, seeds.start), languages.clone());
        judged(name, &judges, move || outcomes::each(seeds, |seed| check(kind, seed, &languages)))
    };
    let all = |kind: Kind| {
        let batch = &batch;
        seeds::batches(USUAL).map(move |seeds| batch(kind, seeds))
    };
    let found = FOUND.into_iter().filter(|_| !seeds::are_asked_for()).map(|seed| batch(KINDS[0], seed..seed + 1));
    let by_metal = |kind: Kind| {
        let judges = &judges;
        let batch = move |seeds: Range<u64>| {
            judged(format!("{METAL}_{}_{}", kind.name, seeds.start), judges, move || check_metal(kind, seeds))
        };
        seeds::batches(USUAL).map(batch)
    };
    let is_metal_asked_for = languages.iter().any(|language| language.profile == METAL);
    let of_metal = KINDS.into_iter().filter(|kind| is_metal_asked_for && kind.runs_apart).flat_map(by_metal);
    KINDS.into_iter().flat_map(all).chain(found).chain(of_metal).chain(segments::trials()).collect()
}

/// Metal's language, whose texts a C++ compiler takes: many in one program.
const METAL: &str = "msl-3.0";

/// A kind of random kernels.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    make: fn(u64) -> String,
    request: fn() -> Request,
    /// The option for the first profiles, in place of the usual ones.
    option: Option<&'static str>,
    /// True if invocations neither wait for each other in loops nor use the lanes of a subgroup.
    runs_apart: bool,
}

const fn kind(name: &'static str, make: fn(u64) -> String) -> Kind {
    Kind { name, make, request, option: None, runs_apart: true }
}

/// Kernels with plain types, with narrow and wide types, with integer formulas, with cross-lane operations in branches
/// and loops, with accesses to memory through several names, with workgroups that wait for each other, and with `#line`
/// directives.
const KINDS: [Kind; 7] = [
    kind("seeds", program::kernel),
    kind("wide", wide::kernel),
    kind("formulas", formulas::kernel),
    Kind { runs_apart: false, ..kind("arms", |seed| arms::kernel(seed, program::INVOCATIONS)) },
    Kind { request: request_with_address, ..kind("memory", memory::short_kernel) },
    Kind { request: request_of_groups, runs_apart: false, ..kind("waits", waits::kernel) },
    Kind { option: Some(LINES), ..kind("lines", |seed| names::kernel(2 * seed + 1)) },
];

fn check(kind: Kind, seed: u64, languages: &[&Language]) -> Result<(), String> {
    let source = (kind.make)(seed);
    let agreed = agree(kind, seed, &source, languages);
    let agreed = agreed.map_err(|why| format!("seed {seed}: {why}\n{}", program::keep(seed, &source)));
    match agreed {
        Ok(Agreed::Alike(why)) => {
            eprintln!("seed {seed}: the driver takes both modules wrongly: {why}");
            outcomes::alike("spirv", kind.name);
            Ok(())
        }
        held => outcomes::counted("spirv", kind.name, held).map(|_| ()),
    }
}

/// The outcome for the modules of a kernel.
enum Agreed {
    Right,
    /// The driver gave wrong buffers for glslang's module too: how crosslane's differed.
    Alike(String),
}

/// A shading language that kernels are compiled through.
struct Language {
    profile: &'static str,
    /// One in this number of the usual kernels uses it.
    every: u64,
    judges: &'static [&'static str],
}

static LANGUAGES: [Language; 4] = [
    Language { profile: "wgsl", every: 1, judges: &dawn::JUDGES },
    Language { profile: "glsl-450-khr", every: 5, judges: &[] },
    Language { profile: "hlsl-6.5", every: 5, judges: &[dxc::JUDGE] },
    Language { profile: METAL, every: 5, judges: &[metal::JUDGE] },
];

/// The languages that `CROSSLANE_LANGUAGES` names by comma-separated profiles, possibly none; all by default.
fn languages() -> Vec<&'static Language> {
    let Ok(asked) = std::env::var("CROSSLANE_LANGUAGES") else { return LANGUAGES.iter().collect() };
    let named = |name| LANGUAGES.iter().find(|language| language.profile == name);
    let names = asked.split(',').filter(|name| !name.is_empty());
    names.map(|name| named(name).unwrap_or_else(|| panic!("CROSSLANE_LANGUAGES: no kernel goes by `{name}`"))).collect()
}

/// How the buffers are compared.
const JUDGED: [Judged; 2] = [Judged { kind: Type::I32, closeness: Closeness::Same }; 2];

/// Each kernel uses one profile, in turn. On lavapipe, both modules and the simulator give the same results; on other
/// drivers, crosslane's module and the simulator do.
fn agree(kind: Kind, seed: u64, source: &str, languages: &[&Language]) -> Result<Agreed, String> {
    let request = (kind.request)();
    let theirs = rival::run(&request, &rival::theirs(source)?).map_err(|e| format!("glslang's module: {e}"));
    let (profile, module) = ours(kind, seed, source)?;
    let ours = rival::run(&request, &module).map_err(|e| format!("{profile}: {e}"));
    let simulated = |left: &Vec<Buffers>| rival::simulated("random.comp", source, &request, &JUDGED, left);
    if lavapipe::own_driver().is_some() {
        let held = ours.and_then(|left| simulated(&left));
        return match held {
            Ok(()) => Ok(Agreed::Right),
            Err(why) if theirs.and_then(|left| simulated(&left)).is_err() => Ok(Agreed::Alike(why)),
            Err(why) => Err(why),
        };
    }
    let (theirs, ours) = (theirs?, ours?);
    theirs.iter().zip(&ours).try_for_each(|(theirs, ours)| rival::differences(&JUDGED, theirs, ours))?;
    for Language { profile, every, .. } in languages.iter().filter(|language| language.profile != METAL) {
        if seeds::are_asked_for() || FOUND.contains(&seed) || seed.is_multiple_of(*every) {
            let gone = by_language(profile, source, &request, &theirs).map_err(|e| format!("{profile}: {e}"));
            match gone {
                Ok(false) => outcomes::refused(profile, kind.name),
                gone => _ = outcomes::counted(profile, kind.name, gone)?,
            }
        }
    }
    match simulated(&theirs) {
        Err(why) if LOSES_SIGN.contains(&seed) => Ok(Agreed::Alike(why)),
        held => held.map(|()| Agreed::Right),
    }
}

/// Crosslane's module for a kernel, which the validators accept, with its profile and options.
fn ours(kind: Kind, seed: u64, source: &str) -> Result<(String, Vec<u32>), String> {
    let has_them = |profile: &str| !source.contains("subgroup") || rival::has_subgroups(profile);
    let profiles: Vec<_> = rival::PROFILES.into_iter().filter(|(profile, _)| has_them(profile)).collect();
    let (profile, environment) = profiles[seed as usize % profiles.len()];
    let profile = match kind.option {
        Some(option) => format!("{} {option}", profile.split(' ').next().unwrap_or_default()),
        None => profile.to_owned(),
    };
    let hinted = if profile.ends_with(" -O") { program::unrolled(source) } else { source.to_owned() };
    let module = rival::ours("random.comp", &hinted, &profile)?;
    judge::spirv_val(&module, environment, false).map_err(|e| format!("{profile}: {e}"))?;
    judge::newest_spirv_val(&module, environment, false).map_err(|e| format!("{profile}, newest: {e}"))?;
    Ok((profile, module))
}

/// A kernel through a shading language: true, or false if the language lacks a type.
fn by_language(profile: &str, source: &str, request: &Request, theirs: &[Buffers]) -> Result<bool, String> {
    let Outcome::Made(Made { module, .. }) = by_text::make(profile, "random.comp", source, Stage::Compute)? else {
        return Ok(false);
    };
    judge::spirv_val(&module, "vulkan1.3", false)?;
    let ours = rival::run(request, &module)?;
    theirs.iter().zip(&ours).try_for_each(|(theirs, ours)| rival::differences(&JUDGED, theirs, ours))?;
    Ok(true)
}

/// Checks that kernels compiled through Metal's language give the same results as glslang's modules.
fn check_metal(kind: Kind, seeds: Range<u64>) -> Result<(), String> {
    let mut jobs = Vec::new();
    for seed in seeds.filter(|seed| seeds::are_asked_for() || seed.is_multiple_of(5)) {
        let source = (kind.make)(seed);
        let request = (kind.request)();
        match by_text::metal(METAL, "random.comp", &source, false)? {
            Ok([text, reflection]) => jobs.push((seed, source, Job { text, reflection, request })),
            Err(_) => outcomes::refused(METAL, kind.name),
        }
    }
    let programs: Vec<Job> = jobs.iter().map(|(.., job)| job.clone()).collect();
    let left = metal::run(&programs).map_err(|why| format!("{why}\n{:?}", jobs.first().map(|(seed, ..)| seed)))?;
    for ((seed, source, job), ours) in jobs.iter().zip(left) {
        let theirs = rival::run(&job.request, &rival::theirs(source)?)?;
        let held = ours.and_then(|ours| {
            theirs.iter().zip(&ours).try_for_each(|(theirs, ours)| rival::differences(&JUDGED, theirs, ours))
        });
        let held = held.map(|()| true).map_err(|why| format!("seed {seed}: {why}\n{}", job.text));
        outcomes::counted(METAL, kind.name, held)?;
    }
    Ok(())
}

/// The values in a kernel's own block include floats, whose zeros may differ in sign: they are written, not compared.
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

/// The request for memory kernels, which also use buffer references.
fn request_with_address() -> Request {
    Request { push_constants: vec![0; 8], addresses: vec![memory::ADDRESS], ..request() }
}

/// The request for workgroups that wait.
fn request_of_groups() -> Request {
    Shader::waits(1).request
}
