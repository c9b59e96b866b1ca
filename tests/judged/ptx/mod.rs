//! PTX: every compute fixture and every shader of the core language becomes a kernel, which `ptxas` accepts and an
//! interpreter of the text runs, with its lanes in several orders; if `CROSSLANE_CUDA` is set, the machine's GPU runs
//! it instead. Fixtures are compared with their formulas, the others with the simulator.

pub mod verified;

use crate::nv::kernel::{LANES, builds, resized};
use crosslane::backend::ptx::Program;
use std::collections::BTreeSet;
use std::path::PathBuf;
use support::compiler::{self, Target};
use support::fixture::{Build, Fixture};
use support::lavapipe::{Buffers, Request};
use support::ptx::{SCHEDULES, Schedule};
use support::shader::{Maker, RANDOM, Shader};
use support::tables::{fixtures, language};
use support::trial::{self, Trial};
use support::{cuda, judge, outcomes, ptx, ptxas, seeds, shader, simulator};

/// The profiles with different programs; `ptx-sm90` and `ptx-sm100` differ from `ptx-sm80` only in the header.
const PROFILES: [&str; 3] = ["ptx-sm30", "ptx-sm70", "ptx-sm80"];

/// The profiles that a Hopper GPU runs.
const ON_GPU: [&str; 4] = ["ptx-sm30", "ptx-sm70", "ptx-sm80", "ptx-sm90"];

/// Random kernels of each kind that a run of the tests tries.
const USUAL: u64 = 30;

fn profiles() -> &'static [&'static str] {
    match (cuda::is_asked(), judge::is_quick()) {
        (true, _) => &ON_GPU,
        (false, true) => &PROFILES[2..],
        (false, false) => &PROFILES,
    }
}

pub fn trials() -> Vec<Trial> {
    if !cuda::is_asked() {
        eprintln!("skipped: runs on the GPU (CROSSLANE_CUDA is not set)");
    }
    let mut trials: Vec<Trial> =
        fixtures().map(|fixture| fixture_trial("fixture", fixture, against_formulas)).collect();
    trials.extend(language::FIXTURES.iter().map(|fixture| fixture_trial("language", fixture, against_simulator)));
    let others = fixtures().filter(|fixture| resized(fixture).is_some());
    trials.extend(others.map(|fixture| fixture_trial("resized", fixture, against_simulator)));
    trials.extend(shader::sources().into_iter().map(core_trial));
    trials.extend(random_trials());
    trials
}

/// A test whose kernels are assembled together at its end.
fn trial(name: String, test: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    trial::trial(name, move || test().and(ptxas::assemble_queue()))
}

/// Compiles a kernel, and queues it for `ptxas` unless the GPU's driver will assemble it.
fn queued(program: Result<Program, String>) -> Result<Program, String> {
    let program = program?;
    if !cuda::is_asked() {
        ptxas::queue(&program.text, &program.reflection.symbol, program.reflection.sm);
    }
    Ok(program)
}

/// How kernels are run.
#[derive(Debug, Clone, Copy)]
enum Way {
    Gpu,
    Text(Schedule),
}

impl Way {
    /// The ways to run a program: the GPU if enabled, otherwise the interpreter. The order of lanes matters where they
    /// diverge.
    fn all(program: &Program) -> Vec<Way> {
        match (cuda::is_asked(), program.text.contains("bra ")) {
            (true, _) => vec![Way::Gpu],
            (false, true) => SCHEDULES.map(Way::Text).to_vec(),
            (false, false) => vec![Way::Text(SCHEDULES[2])],
        }
    }

    fn run(self, program: &Program, request: &Request) -> Result<Vec<Buffers>, String> {
        match self {
            Way::Gpu => cuda::run(program, request),
            Way::Text(schedule) => ptx::run(program, request, schedule),
        }
    }
}

/// Judges the buffers that each way of running a kernel leaves.
fn run(program: &Program, request: &Request, judge: impl Fn(&[Buffers]) -> Result<(), String>) -> Result<(), String> {
    Way::all(program).into_iter().try_for_each(|way| {
        let judged = way.run(program, request).and_then(|after| judge(&after));
        judged.map_err(|why| format!("{way:?}: {why}"))
    })
}

type Judge = fn(Target<'_>, &Program) -> Result<(), String>;

fn against_formulas(target: Target<'_>, program: &Program) -> Result<(), String> {
    run(program, &target.fixture.request(), |after| target.fixture.judge_runs(target.build, LANES, after))
}

fn against_simulator(target: Target<'_>, program: &Program) -> Result<(), String> {
    let request = target.fixture.request();
    let model = simulator::run(&compiler::kernel(target)?, LANES, &request)?;
    run(program, &request, |after| target.fixture.judge_against(&model, after))
}

/// Every build of a fixture in every language for every profile.
fn fixture_trial(kind: &'static str, fixture: &'static Fixture, judge: Judge) -> Trial {
    trial(format!("{kind}::{}", fixture.name), move || {
        // With the other kind of workgroup: one that fills its last warp, or one that does not.
        let other = if kind == "resized" { resized(fixture) } else { None };
        let fixture = other.as_ref().unwrap_or(fixture);
        let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
        let cases = profiles().iter().flat_map(|profile| fixture.languages().into_iter().map(move |l| (profile, l)));
        for (profile, language) in cases {
            let done = builds(fixture).into_iter().try_for_each(|build| {
                let target = Target { fixture, language, profile, build };
                let done = queued(compiler::ptx(target)).and_then(|program| match is_new(&program, build, &mut seen) {
                    true => judge(target, &program),
                    false => Ok(()),
                });
                done.map_err(|why| format!("{profile}, {}, {build:?}: {why}", language.name()))
            });
            verified::record(kind, profile, done.is_ok());
            wrong.extend(done.err());
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    })
}

/// Returns false for code that an earlier profile or language already gave, which the interpreter need not run again.
fn is_new(program: &Program, build: Build, seen: &mut BTreeSet<(Option<usize>, String)>) -> bool {
    let code = program.text.split_once(".address_size").map_or(&*program.text, |(_, code)| code);
    seen.insert((build.width, code.to_owned())) || cuda::is_asked()
}

fn core_trial(path: PathBuf) -> Trial {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    trial(format!("core::{stem}"), move || {
        profiles().iter().try_for_each(|profile| {
            let done = Shader::read(&path).and_then(|shader| hold(&shader, profile));
            verified::record("core", profile, done.is_ok());
            done
        })
    })
}

/// Holds a shader against the simulator.
fn hold(shader: &Shader, profile: &str) -> Result<(), String> {
    let program = compiler::ptx_program(&shader.input(), &shader.options(profile)?, &shader.request.settings());
    let program = queued(program).map_err(|why| format!("{profile}: {why}"))?;
    Way::all(&program).into_iter().try_for_each(|way| {
        let held = shader.hold(profile, LANES, |request| way.run(&program, &request));
        held.map_err(|why| format!("{profile}, {way:?}: {why}"))
    })
}

/// Random kernels, with the profiles in turn.
fn random_trials() -> Vec<Trial> {
    let batches = |(name, maker): (&'static str, Maker)| {
        seeds::batches(USUAL).map(move |seeds| {
            let start = seeds.start;
            trial(format!("{name}::seeds_{start}"), move || {
                outcomes::each(seeds.clone(), |seed| {
                    let (shader, profile) = (maker(seed), profiles()[seed as usize % profiles().len()]);
                    let done = shader.blamed(|shader| hold(shader, profile));
                    verified::record(name, profile, done.is_ok());
                    outcomes::counted(profile, name, done).map(|_| ())
                })
            })
        })
    };
    RANDOM.into_iter().flat_map(batches).collect()
}
