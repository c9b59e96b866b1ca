//! Random kernels with segments that span subgroups: they give the same in subgroups of every size, on every target.

use std::ops::Range;

use crosslane::compile::{Artifact, Input, Language, Options, Verdict, compile};
use crosslane::ir::Stage;
use crosslane::kernel::Specializations;
use crosslane::profile::{Profile, Target};
use crosslane::source::NoIncludes;
#[allow(dead_code)]
use support::generator::{program, segments};
use support::interpret::{self, Order};
use support::lavapipe::{self, Buffers, Request};
use support::pattern::{Domain, PATTERNS};
use support::scalar::Type;
use support::trial::{Trial, judged};
use support::{compiler, dawn, dxc, nv, outcomes, ptx, seeds, simulator};

/// Kernels that each run of the tests tries.
const USUAL: u64 = 200;

/// The targets that run one kernel each, in turn: a profile, and the lanes of the driver's subgroups if it chooses them.
const TARGETS: [(&str, usize); 12] = [
    ("ptx-sm70", 32),
    ("spirv-1.6", 4),
    ("gfx1100-wave32", 32),
    ("nv-volta", 32),
    ("spirv-1.3", 8),
    ("wgsl", 4),
    ("gfx900", 64),
    ("glsl-450-khr", 8),
    ("gfx1200-wave32", 32),
    ("hlsl-6.2", 8),
    ("spirv-1.5", 16),
    ("wgsl", 8),
];

/// One kernel in this number also runs on a target.
const EVERY: u64 = 5;

pub fn trials() -> Vec<Trial> {
    let judges = [&["bin/glslangValidator", "lvp.json", dxc::JUDGE][..], &dawn::JUDGES].concat();
    let batch =
        |seeds: Range<u64>| judged(format!("segments_{}", seeds.start), &judges, move || outcomes::each(seeds, check));
    seeds::batches(USUAL).map(batch).collect()
}

fn check(seed: u64) -> Result<(), String> {
    let source = segments::kernel(seed);
    let held = agree(seed, &source).map_err(|why| format!("seed {seed}: {why}\n{}", program::keep(seed, &source)));
    outcomes::counted("simulator", "segments", held.map(|()| true)).map(|_| ())
}

fn agree(seed: u64, source: &str) -> Result<(), String> {
    let input = Input { name: "segments.comp", bytes: source.as_bytes(), language: Language::Glsl };
    let expected = simulated(&input, 64)?;
    for lanes in simulator::LANES {
        same(&format!("simulated in {lanes} lanes"), &expected, &simulated(&input, lanes)?)?;
    }
    if !seed.is_multiple_of(EVERY) {
        return Ok(());
    }
    let (name, lanes) = TARGETS[(seed / EVERY) as usize % TARGETS.len()];
    let after = on_target(&input, name, lanes).map_err(|why| format!("{name} in {lanes} lanes: {why}"))?;
    same(&format!("{name} in {lanes} lanes"), &expected, &after)
}

fn request() -> Request {
    let run = |pattern| {
        vec![
            Domain::Any(Type::U32).words(pattern, 1, segments::INVOCATIONS),
            vec![0; segments::INVOCATIONS * segments::RESULTS],
            segments::TURNS.to_vec(),
        ]
    };
    Request::new(Vec::new(), 1, PATTERNS[..2].iter().map(|pattern| run(*pattern)).collect())
}

fn ordered(profile: &str) -> Options {
    let profile = Profile::named(profile).expect("a built-in profile");
    compiler::exact(Profile { reproducible: true, ..profile })
}

fn simulated(input: &Input<'_>, lanes: usize) -> Result<Vec<Buffers>, String> {
    let mut options = ordered("spirv-1.6");
    options.profile = options.profile.with_wave_size(Some(lanes as u32));
    let kernel = compiler::parsed(input, &options, &Specializations::new())?;
    let after = simulator::run(&kernel, lanes, &request())?;
    if after.iter().any(|run| run[1].undefined.contains(&true)) {
        return Err(format!("a word is undefined in {lanes} lanes"));
    }
    Ok(after.into_iter().map(|run| run.into_iter().map(|buffer| buffer.words).collect()).collect())
}

fn on_target(input: &Input<'_>, name: &str, lanes: usize) -> Result<Vec<Buffers>, String> {
    let (options, request, settings) = (ordered(name), request(), Specializations::new());
    match options.profile.target {
        Target::Ptx => ptx::run(&compiler::ptx_program(input, &options, &settings)?, &request, ptx::SCHEDULES[0]),
        Target::Nv => {
            let program = compiler::nv_program(input, &options, &settings)?;
            nv::run(&program.text, &program.reflection, &request)
        }
        Target::Amd => {
            let program = compiler::amd_program(input, &options, &settings)?;
            interpret::interpret(&program, &options.profile.processor, &request, Order::Ascending)
        }
        target => match (target, artifact(input, &options)?) {
            (Target::Wgsl, Artifact::Text(text)) => dawn::run(lanes, &text, &request),
            (_, artifact) => {
                let spirv = compiler::module_of(target, artifact, Stage::Compute)?;
                lavapipe::run(lanes, &Request { spirv, ..request })
            }
        },
    }
}

fn artifact(input: &Input<'_>, options: &Options) -> Result<Artifact, String> {
    let made = compile(input, options, &NoIncludes);
    let messages: Vec<_> = made.diagnostics.iter().collect();
    match made.verdict {
        Verdict::Done(artifact) => Ok(artifact),
        Verdict::ShaderWrong | Verdict::ProfileLacks => Err(format!("{messages:?}")),
    }
}

fn same(who: &str, expected: &[Buffers], got: &[Buffers]) -> Result<(), String> {
    for (run, (expected, got)) in expected.iter().zip(got).enumerate() {
        if let Some(at) = (0..expected[1].len()).find(|at| expected[1][*at] != got[1][*at]) {
            let (want, got) = (expected[1][at], got[1][at]);
            let place = format!("word {} of invocation {}", at % segments::RESULTS, at / segments::RESULTS);
            return Err(format!("{who}, run {run}: {place} is {got:#x} instead of {want:#x}"));
        }
    }
    Ok(())
}
