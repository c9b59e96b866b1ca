//! GLSL with NVIDIA's extensions: read back and simulated, on a GPU compiled by the driver.

use support::compiler::{self, Target};
use support::fixture::{Build, Fixture, Language};
use support::opengl;
use support::tables::fixtures;
use support::trial::{Trial, trial};

use super::{on_gpu, with_languages};

const PROFILE: &str = "glsl-450-nv";
/// Invocations of a warp.
const LANES: usize = 32;

/// Fixtures that the language cannot express, with a part of the message.
static REFUSED: &[(&str, &str)] = &[("amd_shader_ballot", "has no type u64"), ("quadrants", "has no type u64")];

/// Holds what a text of a build does against the formulas.
type Judge = fn(&Fixture, Build, &str) -> Result<(), String>;

pub fn trials() -> Vec<Trial> {
    fixtures().flat_map(|fixture| with_languages(fixture, of_fixture)).collect()
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
