//! GLSL with NVIDIA's extensions: read back and simulated, and on a GPU compiled by the driver. Fixtures are compared
//! with their formulas, random kernels and shaders of the core language with the simulator.

use crosslane::source::NoIncludes;
use support::compiler::{self, Target};
use support::fixture::{Build, Fixture, Language};
use support::lavapipe::{Buffers, Request};
use support::shader::{self, Maker, RANDOM, Shader};
use support::tables::fixtures;
use support::trial::{Trial, trial};
use support::{by_text, opengl, outcomes, seeds, simulator};

use super::{on_gpu, with_languages};

const PROFILE: &str = "glsl-450-nv";
/// Invocations of a warp.
const LANES: usize = 32;

/// Fixtures that the language cannot express, with a part of the message.
static REFUSED: &[(&str, &str)] = &[("amd_shader_ballot", "has no type u64"), ("quadrants", "has no type u64")];

/// Compares the results of a build's text with the formulas.
type Judge = fn(&Fixture, Build, &str) -> Result<(), String>;

/// Shaders of the core language with returns from loops and negations, for which the dialect has its own texts. The
/// driver compiles those marked true; it runs a loop whose counter wraps around, as in `unrolled_loops`, one iteration
/// too few.
const CORE: [(&str, bool); 4] =
    [("early_returns", true), ("int_operators", true), ("returns_from_loops", true), ("unrolled_loops", false)];

/// Random kernels of each kind that a run of the tests tries.
const USUAL: u64 = 10;

/// A function that runs a text.
type Runner = fn(&str, &Request) -> Result<Vec<Buffers>, String>;

pub fn trials() -> Vec<Trial> {
    let core = CORE.into_iter().flat_map(|(name, is_driven)| {
        let trials = on_both(&format!("core::{name}"), move |runner| {
            let path = support::root().join("fixtures/core").join(name).with_extension("comp");
            match hold(&Shader::read(&path)?, runner)? {
                true => Ok(()),
                false => Err("the language cannot express it".to_owned()),
            }
        });
        trials.into_iter().take(if is_driven { 2 } else { 1 })
    });
    let fixtures = fixtures().flat_map(|fixture| with_languages(fixture, of_fixture));
    fixtures.chain(core).chain(RANDOM.into_iter().filter(|(kind, _)| *kind != NARROW).flat_map(of_random)).collect()
}

/// The kind of kernels whose types the language lacks.
const NARROW: &str = "wide";

fn of_random((kind, maker): (&'static str, Maker)) -> impl Iterator<Item = Trial> {
    seeds::batches(USUAL).flat_map(move |seeds| {
        let name = format!("{kind}::seeds_{}", seeds.start);
        on_both(&name, move |runner| {
            outcomes::each(seeds.clone(), |seed| match maker(seed).blamed(|shader| hold(shader, runner)) {
                Ok(false) => {
                    outcomes::refused(PROFILE, kind);
                    Ok(())
                }
                held => outcomes::counted(PROFILE, kind, held).map(|_| ()),
            })
        })
    })
}

fn on_both(name: &str, test: impl Fn(Runner) -> Result<(), String> + Clone + Send + 'static) -> Vec<Trial> {
    let run = test.clone();
    let read = trial(format!("{PROFILE}::{name}::read"), move || test(read_back));
    let compiled = on_gpu(format!("{PROFILE}::{name}::gpu"), move || run(opengl::run_glsl));
    [read].into_iter().chain(compiled).collect()
}

/// Holds a shader against the simulator; false if the language cannot express it.
fn hold(shader: &Shader, runner: Runner) -> Result<bool, String> {
    let Ok(text) = by_text::text(&shader.input(), &shader::options(PROFILE)?, &NoIncludes)? else { return Ok(false) };
    let held = shader.hold("spirv-1.6", LANES, |request| runner(&text, &request));
    held.map(|()| true).map_err(|why| format!("{why}\n{text}"))
}

fn read_back(text: &str, request: &Request) -> Result<Vec<Buffers>, String> {
    let after = simulator::run(&compiler::kernel_of_text(text)?, LANES, request)?;
    Ok(after.into_iter().map(|run| run.into_iter().map(|buffer| buffer.words).collect()).collect())
}

fn of_fixture(fixture: &'static Fixture, language: Language) -> Vec<Trial> {
    let name = |how| format!("{PROFILE}::{}::{}::{how}", language.name(), fixture.name);
    let read = trial(name("read"), move || check(fixture, language, simulated));
    let compiled = on_gpu(name("gpu"), move || check(fixture, language, on_driver));
    [read].into_iter().chain(compiled).collect()
}

fn check(fixture: &Fixture, language: Language, judge: Judge) -> Result<(), String> {
    let reason = REFUSED.iter().find(|(name, _)| *name == fixture.name).map(|(_, reason)| *reason);
    let builds = fixture.builds().into_iter().chain(fixture.wide_builds());
    for build in builds.filter(|build| build.width.unwrap_or(1) <= LANES && build.wave.is_none_or(|wave| wave == 32)) {
        match (compiler::text(Target { fixture, language, profile: PROFILE, build }), reason) {
            (Ok(text), None) => judge(fixture, build, &text).map_err(|why| format!("{build:?}: {why}\n{text}"))?,
            (Ok(_), Some(reason)) => return Err(format!("{reason:?} refuses it no more")),
            (Err(said), Some(reason)) if said.contains(reason) => {}
            (Err(said), _) => return Err(said),
        }
    }
    Ok(())
}

fn simulated(fixture: &Fixture, build: Build, text: &str) -> Result<(), String> {
    fixture.simulate(&compiler::kernel_of_text(text)?, build, LANES)
}

fn on_driver(fixture: &Fixture, build: Build, text: &str) -> Result<(), String> {
    fixture.judge_runs(build, LANES, &opengl::run_glsl(text, &fixture.request())?)
}
