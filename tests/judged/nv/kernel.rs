//! Runs a program in the text's interpreter or on the GPU, and compares the results with formulas or the simulator.

use crosslane::backend::nv::Program;

use support::compiler::{self, Target};
use support::fixture::{Build, Fixture, Language};
use support::lavapipe::{Buffers, Request};
use support::shader::Shader;
use support::{nv, simulator};

/// Lanes of a warp.
pub const LANES: usize = 32;

/// The build of a kernel without a width.
pub const PLAIN: Build = Build { width: None, wave: Some(LANES as u32) };

/// A function that runs a program.
pub type Runner = fn(Program, Request) -> Result<Vec<Buffers>, String>;

/// The interpreter of the text.
pub fn interpret(program: Program, request: Request) -> Result<Vec<Buffers>, String> {
    nv::run(&program.text, &program.reflection, &request)
}

// Fixtures.

/// The builds for which a warp has enough lanes.
pub fn builds(fixture: &Fixture) -> Vec<Build> {
    let wide = fixture.wide_builds().filter(|build| build.wave == Some(LANES as u32));
    let mut widths: Vec<Option<usize>> = fixture.builds().into_iter().chain(wide).map(|build| build.width).collect();
    widths.retain(|width| width.is_none_or(|width| width <= LANES));
    widths.dedup();
    widths.into_iter().map(|width| Build { width, wave: Some(LANES as u32) }).collect()
}

/// Kernels that branch on results of reductions over whole warps.
const WHOLE: &[&str] = &["kernel_arg_max", "kernel_radix_split"];

/// The same fixture with workgroups that do not fill their last warp, or, if its own do not, with whole warps; `None`
/// for workgroups of one invocation and where the algorithm needs whole warps.
pub fn resized(fixture: &Fixture) -> Option<Fixture> {
    match fixture.group {
        _ if WHOLE.contains(&fixture.name) => None,
        64 => Some(fixture.resized(40)),
        40 => Some(fixture.resized(64)),
        _ => None,
    }
}

/// Every build against the formulas.
pub fn against_formulas(fixture: &Fixture, language: Language, profile: &str, runner: Runner) -> Result<(), String> {
    for build in builds(fixture) {
        let program = compiler::program(Target { fixture, language, profile, build })?;
        let after = runner(program, fixture.request()).map_err(|why| format!("{build:?}: {why}"))?;
        fixture.judge_runs(build, LANES, &after)?;
    }
    Ok(())
}

/// Compares every build with the simulator, where its results are defined.
pub fn against_simulator(fixture: &Fixture, language: Language, profile: &str, runner: Runner) -> Result<(), String> {
    for build in builds(fixture) {
        let target = Target { fixture, language, profile, build };
        let model = simulator::run(&compiler::kernel(target)?, LANES, &fixture.request())?;
        let after = runner(compiler::program(target)?, fixture.request())?;
        fixture.judge_against(&model, &after).map_err(|why| format!("{build:?}: {why}"))?;
    }
    Ok(())
}

// The core language and random kernels.

/// The program of a shader that the simulator judges.
pub fn program_of(shader: &Shader, profile: &str) -> Result<Program, String> {
    compiler::nv_program(&shader.input(), &shader.options(profile)?, &shader.request.settings())
}

/// Compares a run with the simulator.
pub fn hold(shader: &Shader, profile: &str, runner: Runner) -> Result<(), String> {
    let program = program_of(shader, profile)?;
    shader.hold(profile, LANES, |request| runner(program, request))
}
