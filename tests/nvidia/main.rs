//! NVIDIA assembly: every fixture and every shader of the core language becomes a program, which an interpreter of the text
//! runs, and where `CROSSLANE_GL` is set the machine's GPU too. Fixtures are held against their formulas and their texts
//! against snapshots, the others against the simulator.

// Several test binaries share these and none uses all of them.
#[path = "../fixtures/folds.rs"]
#[allow(dead_code)]
mod folds;
#[path = "../fixtures/groups.rs"]
#[allow(dead_code)]
mod groups;
#[path = "../fixtures/kernels.rs"]
#[allow(dead_code)]
mod kernels;
#[path = "../fixtures/language.rs"]
#[allow(dead_code)]
mod language;
#[path = "../fixtures/moves.rs"]
#[allow(dead_code)]
mod moves;
#[path = "../core/plan.rs"]
mod plan;
#[path = "../fixtures/quads.rs"]
#[allow(dead_code)]
mod quads;
#[path = "../fixtures/rows.rs"]
#[allow(dead_code)]
mod rows;

#[path = "../random/expressions.rs"]
mod expressions;
#[path = "../random/program.rs"]
mod program;
#[path = "../random/rng.rs"]
mod rng;
#[path = "../random/scope.rs"]
mod scope;
#[path = "../random/statements.rs"]
mod statements;
#[path = "../random/types.rs"]
mod types;

#[allow(dead_code)]
#[path = "../support/mod.rs"]
mod support;

use crosslane::compile::{self, Input, Options};
use crosslane::profile::Profile;
use crosslane::target::nv::Program;
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use support::compare::Closeness;
use support::compiler::{self, Target};
use support::fixture::{Build, Fixture, Language};
use support::lavapipe::{Buffers, Request};
use support::pattern::{Domain, PATTERNS};
use support::rival::Judged;
use support::scalar::Type;
use support::{glasm, opengl, rival, simulator};

/// The profile that stands for all: they differ in costs alone.
const PROFILE: &str = "nv-ampere";
/// Lanes of a warp.
const LANES: usize = 32;

fn main() {
    if opengl::serve() {
        return;
    }
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials());
    opengl::stop();
    conclusion.exit();
}

fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = fixtures().flat_map(|fixture| with_languages(fixture, fixture_trials)).collect();
    trials.extend(language::FIXTURES.iter().flat_map(|fixture| with_languages(fixture, language_trials)));
    trials.extend(core_sources().into_iter().flat_map(core_trials));
    trials.extend(random_trials());
    if opengl::is_asked() {
        trials.push(trial("device".to_owned(), || opengl::describe().map(|said| eprintln!("{said}"))));
    }
    trials
}

fn fixtures() -> impl Iterator<Item = &'static Fixture> {
    [quads::FIXTURES, moves::FIXTURES, folds::FIXTURES, groups::FIXTURES, kernels::FIXTURES].into_iter().flatten()
}

fn with_languages(fixture: &'static Fixture, of: fn(&'static Fixture, Language) -> Vec<Trial>) -> Vec<Trial> {
    fixture.languages().into_iter().flat_map(|language| of(fixture, language)).collect()
}

fn trial(name: String, test: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(name, move || test().map_err(Failed::from))
}

/// A trial that needs the GPU; none where nobody asked for it.
fn on_gpu(name: String, test: impl FnOnce() -> Result<(), String> + Send + 'static) -> Option<Trial> {
    opengl::is_asked().then(|| trial(name, test))
}

// Fixtures.

fn fixture_trials(fixture: &'static Fixture, language: Language) -> Vec<Trial> {
    let name = format!("{}::{}", language.name(), fixture.name);
    let text = trial(format!("{name}::snapshot"), move || snapshot(fixture, language));
    let interpreted = trial(format!("{name}::text"), move || execute(fixture, language, interpret));
    let run = on_gpu(format!("{name}::gpu"), move || execute(fixture, language, opengl::run));
    [text, interpreted].into_iter().chain(run).collect()
}

/// The builds that a warp has lanes for.
fn builds(fixture: &Fixture) -> Vec<Build> {
    let wide = fixture.wide_builds().filter(|build| build.wave == Some(LANES as u32));
    let mut widths: Vec<Option<usize>> = fixture.builds().into_iter().chain(wide).map(|build| build.width).collect();
    widths.retain(|width| width.is_none_or(|width| width <= LANES));
    widths.dedup();
    widths.into_iter().map(|width| Build { width, wave: Some(LANES as u32) }).collect()
}

/// The widest build stands for all, as for SPIR-V.
fn snapshot(fixture: &Fixture, language: Language) -> Result<(), String> {
    let mut last = None;
    for build in builds(fixture) {
        let target = Target { fixture, language, profile: PROFILE, build };
        last = Some((build, compiler::program(target)?.text));
    }
    let (build, text) = last.ok_or("a fixture has builds")?;
    keep(&format!("{}-{}", language.name(), fixture.name), build, &text);
    Ok(())
}

fn keep(name: &str, build: Build, text: &str) {
    insta::with_settings!({
        snapshot_path => "../../snapshots/nv",
        prepend_module_to_snapshot => false,
        omit_expression => true,
        description => build.width.map(|width| format!("WIDTH={width}")).unwrap_or_default(),
    }, {
        insta::assert_snapshot!(name, text);
    });
}

/// What runs a program: the interpreter or the GPU.
type Runner = fn(Program, Request) -> Result<Vec<Buffers>, String>;

fn interpret(program: Program, request: Request) -> Result<Vec<Buffers>, String> {
    glasm::run(&program.text, &program.reflection, &request)
}

fn execute(fixture: &Fixture, language: Language, runner: Runner) -> Result<(), String> {
    for build in builds(fixture) {
        let program = compiler::program(Target { fixture, language, profile: PROFILE, build })?;
        let after = runner(program, fixture.request()).map_err(|why| format!("{build:?}: {why}"))?;
        fixture.judge_runs(build, LANES, &after)?;
    }
    Ok(())
}

// The language's own fixtures.

const PLAIN: Build = Build { width: None, wave: Some(LANES as u32) };

fn language_trials(fixture: &'static Fixture, language: Language) -> Vec<Trial> {
    let name = format!("language::{}::{}", language.name(), fixture.name);
    let text = trial(format!("{name}::snapshot"), move || {
        let program = compiler::program(Target { fixture, language, profile: PROFILE, build: PLAIN })?;
        keep(&format!("language-{}-{}", language.name(), fixture.name), PLAIN, &program.text);
        Ok(())
    });
    let interpreted = trial(format!("{name}::text"), move || against_simulator(fixture, language, interpret));
    let run = on_gpu(format!("{name}::gpu"), move || against_simulator(fixture, language, opengl::run));
    [text, interpreted].into_iter().chain(run).collect()
}

fn against_simulator(fixture: &Fixture, language: Language, runner: Runner) -> Result<(), String> {
    let target = Target { fixture, language, profile: PROFILE, build: PLAIN };
    let model = simulator::run(&compiler::kernel(target)?, LANES, &fixture.request())?;
    let after = runner(compiler::program(target)?, fixture.request())?;
    fixture.judge_against(&model, &after)
}

// The core language.

fn core_sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/core");
    let entries = std::fs::read_dir(folder).expect("the fixtures are part of the repository");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "comp"));
    paths.sort();
    paths
}

fn core_trials(path: PathBuf) -> Vec<Trial> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let gpu_path = path.clone();
    let interpreted = trial(format!("core::{stem}::text"), move || Core::read(&path)?.run(interpret));
    let run = on_gpu(format!("core::{stem}::gpu"), move || Core::read(&gpu_path)?.run(opengl::run));
    [interpreted].into_iter().chain(run).collect()
}

/// Shaders whose results a square root or a quotient went into: here they are close, elsewhere the same.
const CLOSE: &[&str] = &["constant_floats.comp"];

/// A shader of the core language and how to run it.
struct Core {
    name: String,
    source: String,
    request: Request,
    judged: Vec<Judged>,
}

impl Core {
    fn read(path: &Path) -> Result<Core, String> {
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
    fn random(seed: u64) -> Core {
        let given = Domain::Any(Type::I32);
        let results = program::INVOCATIONS * program::RESULTS;
        let run = |&pattern| {
            vec![given.words(pattern, 3, 2 * program::INVOCATIONS), vec![0; results], vec![0; program::MEMORY]]
        };
        let request = Request::new(Vec::new(), 1, PATTERNS[..2].iter().map(run).collect());
        let judged = vec![Judged { kind: Type::I32, closeness: Closeness::Same }; 2];
        Core { name: format!("seed {seed}"), source: program::kernel(seed), request, judged }
    }

    fn input(&self) -> Input<'_> {
        Input { name: &self.name, bytes: self.source.as_bytes(), language: compile::Language::Glsl }
    }

    fn options() -> Result<Options, String> {
        Profile::named(PROFILE).map(Options::new).ok_or_else(|| format!("no profile {PROFILE}"))
    }

    fn program(&self) -> Result<Program, String> {
        compiler::nv_program(&self.input(), &Self::options()?, &self.request.settings())
    }

    fn run(&self, runner: Runner) -> Result<(), String> {
        let kernel = compiler::parsed(&self.input(), &Self::options()?, &self.request.settings())?;
        let model = simulator::run(&kernel, LANES, &self.request)?;
        let after = runner(self.program()?, self.request.clone())?;
        for (model, after) in model.iter().zip(&after) {
            rival::same(&self.judged, model, after)?;
        }
        Ok(())
    }
}

// Random kernels.

/// Kernels that each run of the tests tries; `CROSSLANE_RANDOM=SEED:COUNT` runs others.
const USUAL: (u64, u64) = (1, 50);
/// Kernels in one test.
const BATCH: u64 = 10;

fn random_trials() -> Vec<Trial> {
    let (first, count) = match std::env::var("CROSSLANE_RANDOM") {
        Err(_) => USUAL,
        Ok(asked) => {
            let parsed =
                asked.split_once(':').and_then(|(seed, count)| Some((seed.parse().ok()?, count.parse().ok()?)));
            parsed.expect("CROSSLANE_RANDOM is SEED:COUNT")
        }
    };
    let batches = (first..first + count).step_by(BATCH as usize);
    let seeds = move |start: u64| start..(start + BATCH).min(first + count);
    let check = |seed: u64, runner: Runner| {
        let core = Core::random(seed);
        core.run(runner).map_err(|why| format!("seed {seed}: {why}\n{}", program::keep(seed, &core.source)))
    };
    let with = move |start: u64, runner: Runner| seeds(start).try_for_each(|seed| check(seed, runner));
    let both = move |start: u64| {
        let interpreted = trial(format!("random::seeds_{start}::text"), move || with(start, interpret));
        let run = on_gpu(format!("random::seeds_{start}::gpu"), move || with(start, opengl::run));
        [interpreted].into_iter().chain(run)
    };
    batches.flat_map(both).collect()
}
