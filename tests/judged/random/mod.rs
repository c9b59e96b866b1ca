//! Random kernels: each leaves the same buffers behind whether this compiler or glslang compiled it, and in the simulator.
//!
//! `CROSSLANE_RANDOM=SEED:COUNT` runs other seeds than the usual ones. A kernel that fails is printed with its seed.

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
use support::{dawn, judge, seeds};

/// Kernels that each run of the tests tries.
const USUAL: u64 = 50;

pub fn trials() -> Vec<Trial> {
    let judges = ["bin/glslangValidator", "bin/spirv-val", dawn::JUDGES[0], dawn::JUDGES[1]];
    let batch = |(name, make): (&str, Maker), mut seeds: Range<u64>| {
        judged(format!("{name}_{}", seeds.start), &judges, move || seeds.try_for_each(|seed| check(seed, &make(seed))))
    };
    let all = |kind: (&'static str, Maker)| seeds::batches(USUAL).map(move |seeds| batch(kind, seeds));
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

fn check(seed: u64, source: &str) -> Result<(), String> {
    agree(seed, source).map_err(|why| format!("seed {seed}: {why}\n{}", program::keep(seed, source)))
}

/// The profiles of the shading languages that kernels go by, and one in how many of the usual kernels does.
const LANGUAGES: [(&str, u64); 3] = [("wgsl", 1), ("glsl-450-khr", 5), ("hlsl-6.5", 5)];

/// How the buffers are compared.
const JUDGED: [Judged; 2] = [Judged { kind: Type::I32, closeness: Closeness::Same }; 2];

/// One profile a kernel, in turn.
fn agree(seed: u64, source: &str) -> Result<(), String> {
    let request = request();
    let theirs = rival::run(&request, &rival::theirs(source)?).map_err(|e| format!("glslang's module: {e}"))?;
    let (profile, environment) = rival::PROFILES[seed as usize % rival::PROFILES.len()];
    let hinted = if profile.ends_with(" -O") { unrolled(source) } else { source.to_owned() };
    let module = rival::ours("random.comp", &hinted, profile)?;
    judge::spirv_val(&module, environment, false).map_err(|e| format!("{profile}: {e}"))?;
    let ours = rival::run(&request, &module).map_err(|e| format!("{profile}: {e}"))?;
    let judged = JUDGED;
    theirs.iter().zip(&ours).try_for_each(|(theirs, ours)| rival::differences(&judged, theirs, ours))?;
    for (language, _) in
        LANGUAGES.into_iter().filter(|(_, every)| seeds::are_asked_for() || seed.is_multiple_of(*every))
    {
        by_language(language, source, &request, &theirs).map_err(|e| format!("{language}: {e}"))?;
    }
    rival::simulated("random.comp", source, &request, &judged, &theirs)
}

/// A kernel whose counted loops ask to be unrolled.
fn unrolled(source: &str) -> String {
    let (version, rest) = source.split_once('\n').unwrap_or((source, ""));
    let extension = "#extension GL_EXT_control_flow_attributes : require";
    format!(
        "{version}\n{extension}\n{}",
        rest.replace("for (int ", "[[unroll]] for (int ").replace("for (uint ", "[[unroll]] for (uint ")
    )
}

/// A kernel by way of a shading language, unless that lacks a type.
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
