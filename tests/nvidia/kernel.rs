//! How a program is run, on the text's interpreter or on the GPU, and held against formulas or the simulator.

use crosslane::compile::{self, Input, Options};
use crosslane::profile::Profile;
use crosslane::target::nv::Program;
use std::path::{Path, PathBuf};

use crate::support::compare::Closeness;
use crate::support::compiler::{self, Target};
use crate::support::fixture::{Build, Fixture, Language};
use crate::support::lavapipe::{Buffers, Request};
use crate::support::pattern::{Domain, PATTERNS};
use crate::support::rival::{self, Judged};
use crate::support::scalar::Type;
use crate::support::{glasm, simulator};
use crate::{lanes, plan, program};

/// Lanes of a warp.
pub const LANES: usize = 32;

/// The build of a kernel that takes no width.
pub const PLAIN: Build = Build { width: None, wave: Some(LANES as u32) };

/// What runs a program.
pub type Runner = fn(Program, Request) -> Result<Vec<Buffers>, String>;

/// The interpreter of the text.
pub fn interpret(program: Program, request: Request) -> Result<Vec<Buffers>, String> {
    glasm::run(&program.text, &program.reflection, &request)
}

// Fixtures.

/// The builds that a warp has lanes for.
pub fn builds(fixture: &Fixture) -> Vec<Build> {
    let wide = fixture.wide_builds().filter(|build| build.wave == Some(LANES as u32));
    let mut widths: Vec<Option<usize>> = fixture.builds().into_iter().chain(wide).map(|build| build.width).collect();
    widths.retain(|width| width.is_none_or(|width| width <= LANES));
    widths.dedup();
    widths.into_iter().map(|width| Build { width, wave: Some(LANES as u32) }).collect()
}

/// Kernels that branch on what they fold over whole warps.
const WHOLE: &[&str] = &["kernel_arg_max", "kernel_radix_split"];

/// The same fixture with workgroups that do not fill their last warp, or, if its own are such, with whole warps; none
/// for workgroups of one invocation and where whole warps are part of the algorithm.
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

/// Every build against the simulator, where what that leaves is defined.
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

/// The shaders of the core language.
pub fn core_sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/core");
    let entries = std::fs::read_dir(folder).expect("the fixtures are part of the repository");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "comp"));
    paths.sort();
    paths
}

/// Shaders whose results a square root or a quotient went into: here they are close, elsewhere the same.
const CLOSE: &[&str] = &["constant_floats.comp"];

/// What makes the random kernel of a seed.
pub type Maker = fn(u64) -> Core;

/// The kinds of random kernels, each with the name of its tests.
pub const RANDOM: [(&str, Maker); 2] = [("random", Core::random), ("lanes", Core::with_lanes)];

/// A shader of the core language and how to run it.
pub struct Core {
    name: String,
    pub source: String,
    request: Request,
    judged: Vec<Judged>,
}

impl Core {
    pub fn read(path: &Path) -> Result<Core, String> {
        let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let plan = plan::Plan::read(&source)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut judged = plan.judged();
        if CLOSE.contains(&&name[..]) {
            judged.iter_mut().for_each(|how| how.closeness = Closeness::Within(1e-6));
        }
        Ok(Core { name, source, request: plan.request(), judged })
    }

    /// A random kernel. What it leaves in its own block are floats too, whose zeros may differ in sign.
    pub fn random(seed: u64) -> Core {
        Core::made(seed, program::kernel(seed), program::INVOCATIONS)
    }

    /// A random kernel with cross-lane operations.
    pub fn with_lanes(seed: u64) -> Core {
        Core::made(seed, program::lane_kernel(seed), lanes::invocations(seed))
    }

    fn made(seed: u64, source: String, invocations: usize) -> Core {
        let given = Domain::Any(Type::I32);
        let results = invocations * program::RESULTS;
        let run = |&pattern| {
            vec![given.words(pattern, 3, 2 * invocations), vec![0; results], vec![0; program::MEMORY * invocations]]
        };
        let request = Request::new(Vec::new(), 1, PATTERNS[..2].iter().map(run).collect());
        let judged = vec![Judged { kind: Type::I32, closeness: Closeness::Same }; 2];
        Core { name: format!("seed {seed}"), source, request, judged }
    }

    fn input(&self) -> Input<'_> {
        Input { name: &self.name, bytes: self.source.as_bytes(), language: compile::Language::Glsl }
    }

    pub fn program(&self, profile: &str) -> Result<Program, String> {
        compiler::nv_program(&self.input(), &options(profile)?, &self.request.settings())
    }

    /// Holds a run against the simulator.
    pub fn run(&self, profile: &str, runner: Runner) -> Result<(), String> {
        let kernel = compiler::parsed(&self.input(), &options(profile)?, &self.request.settings())?;
        let model = simulator::run(&kernel, LANES, &self.request)?;
        let after = runner(self.program(profile)?, self.request.clone())?;
        for (model, after) in model.iter().zip(&after) {
            rival::same(&self.judged, model, after)?;
        }
        Ok(())
    }
}

fn options(profile: &str) -> Result<Options, String> {
    Profile::named(profile).map(Options::new).ok_or_else(|| format!("no profile {profile}"))
}
