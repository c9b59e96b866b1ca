//! NVIDIA assembly: every fixture and every shader of the core language becomes a program, which an interpreter of the
//! text runs, and, if `CROSSLANE_GL` is set, also the machine's GPU. Fixtures are compared with their formulas and
//! their texts with snapshots, the others with the simulator.
//!
//! `CROSSLANE_VERIFIED=docs/verified/nv.md` runs everything for every profile on the GPU and records the results.

pub mod beside;
mod dialect;
mod doubles;
mod formats;
pub mod graphics;
pub mod kernel;
mod litmus;
mod pictures;
mod registers;
mod scenes;
mod stage;
mod text;
pub mod verified;

use kernel::{PLAIN, Runner, against_formulas, against_simulator, builds, hold, interpret, resized};
use std::path::PathBuf;
use support::compiler::{self, CONTRACTED, Target};
use support::fixture::{Build, Fixture, Language};
use support::shader::{Maker, RANDOM, Shader};
use support::tables::{fixtures, language};
use support::trial::{Trial, judged, trial};
use support::{opengl, outcomes, seeds, shader, snapshot};

/// The profile that represents all: they differ only in costs.
const PROFILE: &str = "nv-ampere";

/// The same profile with the default options, whose texts are kept as snapshots.
const SEEN: &str = "nv-ampere --fp-contract=fast";

/// The shaders that NVIDIA assembly cannot express: `fixtures/bad` has their messages.
const UNEXPRESSED: &[&str] = &[
    "float_atomics_order.comp",
    "references.comp",
    "references_alignment.comp",
    "references_atomics.comp",
    "references_chains.comp",
    "references_overwritten.comp",
    "references_readonly.comp",
    "storage_8bit.comp",
];

pub fn trials() -> Vec<Trial> {
    if !opengl::is_asked() {
        eprintln!("skipped: runs on the GPU (CROSSLANE_GL is not set)");
    }
    let mut trials: Vec<Trial> = fixtures().flat_map(|fixture| with_languages(fixture, fixture_trials)).collect();
    trials.extend(language::FIXTURES.iter().flat_map(|fixture| with_languages(fixture, language_trials)));
    trials.extend(expressed().into_iter().flat_map(core_trials));
    trials.extend(scenes::cases().into_iter().flat_map(scene_trials));
    trials.push(trial("scenes".to_owned(), scenes::complete));
    trials.extend(on_gpu("scenes::stages_load".to_owned(), scenes::loads));
    trials.extend(
        graphics::cases().expect("the fixtures are part of the repository").into_iter().flat_map(graphics_trials),
    );
    trials
        .push(trial("graphics".to_owned(), || graphics::refusals().map(|text| keep("refused-graphics", PLAIN, &text))));
    trials.push(trial("doubles".to_owned(), doubles::check));
    trials.extend(random_trials());
    trials.extend(text::trials());
    trials.push(trial("fermi".to_owned(), || verified::refusals().map(|text| keep("refused-by-fermi", PLAIN, &text))));
    trials.push(trial("registers".to_owned(), registers::compared));
    trials.extend(on_gpu("litmus".to_owned(), litmus::check));
    trials.extend(on_gpu("device".to_owned(), || opengl::describe().map(|said| eprintln!("{said}"))));
    trials
}

/// The shaders of the core language that NVIDIA assembly can express.
fn expressed() -> Vec<PathBuf> {
    let mut sources = shader::sources();
    sources.retain(|path| !UNEXPRESSED.iter().any(|name| path.ends_with(name)));
    sources
}

fn with_languages(fixture: &'static Fixture, of: fn(&'static Fixture, Language) -> Vec<Trial>) -> Vec<Trial> {
    fixture.languages().into_iter().flat_map(|language| of(fixture, language)).collect()
}

/// A trial that needs the GPU; `None` if it is not enabled.
fn on_gpu(name: String, test: impl FnOnce() -> Result<(), String> + Send + 'static) -> Option<Trial> {
    opengl::is_asked().then(|| trial(name, test))
}

/// A trial in the text's interpreter and, if enabled, one on the GPU.
fn on_both(name: &str, test: impl Fn(Runner) -> Result<(), String> + Clone + Send + 'static) -> Vec<Trial> {
    let run = test.clone();
    let interpreted = trial(format!("{name}::text"), move || test(interpret));
    [interpreted].into_iter().chain(on_gpu(format!("{name}::gpu"), move || run(opengl::run))).collect()
}

fn fixture_trials(fixture: &'static Fixture, language: Language) -> Vec<Trial> {
    let name = format!("{}::{}", language.name(), fixture.name);
    let mut trials = vec![trial(format!("{name}::snapshot"), move || snapshot(fixture, language))];
    trials.extend(on_both(&name, move |runner| against_formulas(fixture, language, PROFILE, runner)));
    if let Some(other) = resized(fixture) {
        let test = move |runner| against_simulator(&other, language, PROFILE, runner);
        trials.extend(on_both(&format!("{name}::{}", other.group), test));
    }
    trials
}

/// The widest build represents all, as for SPIR-V.
fn snapshot(fixture: &Fixture, language: Language) -> Result<(), String> {
    let mut last = None;
    for build in builds(fixture) {
        let target = Target { fixture, language, profile: SEEN, build };
        last = Some((build, compiler::program(target)?.text));
    }
    let (build, text) = last.ok_or("a fixture has builds")?;
    same_for_all(Target { fixture, language, profile: SEEN, build }, &text)?;
    keep(&format!("{}-{}", language.name(), fixture.name), build, &text);
    Ok(())
}

/// Every profile with shuffles gives the same program apart from its name.
fn same_for_all(target: Target<'_>, text: &str) -> Result<(), String> {
    for profile in &verified::PROFILES[1..] {
        let seen = format!("{profile} {CONTRACTED}");
        let other = compiler::program(Target { profile: &seen, ..target })?.text;
        if other.replace(profile, PROFILE) != text {
            return Err(format!("{profile} has another program"));
        }
    }
    Ok(())
}

fn keep(name: &str, build: Build, text: &str) {
    snapshot::hold("nv", name, &build.description(), text);
}

fn language_trials(fixture: &'static Fixture, language: Language) -> Vec<Trial> {
    let name = format!("language::{}::{}", language.name(), fixture.name);
    let text = trial(format!("{name}::snapshot"), move || {
        let program = compiler::program(Target { fixture, language, profile: SEEN, build: PLAIN })?;
        keep(&format!("language-{}-{}", language.name(), fixture.name), PLAIN, &program.text);
        Ok(())
    });
    let runs = on_both(&name, move |runner| against_simulator(fixture, language, PROFILE, runner));
    [text].into_iter().chain(runs).collect()
}

fn core_trials(path: PathBuf) -> Vec<Trial> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (name, case) = (format!("core::{stem}"), path.clone());
    let beside_driver = on_gpu(format!("{name}::driver"), move || {
        let outcome = graphics::Case::read(&case)?.on_gpu(PROFILE)?;
        eprintln!("{stem}: {outcome:?}");
        Ok(())
    });
    let mut trials = on_both(&name, move |runner| hold(&Shader::read(&path)?, PROFILE, runner));
    trials.extend(beside_driver);
    trials
}

/// Trials for a scene: its texts, a run in the interpreter if it has a formula, and one compared with the driver's own
/// GLSL.
fn scene_trials(case: scenes::Case) -> Vec<Trial> {
    let name = format!("scene::{}", case.name);
    let case = std::sync::Arc::new(case);
    let (drawn, interpreted) = (case.clone(), case.clone());
    let formula = pictures::formula(&case)
        .map(|formula| trial(format!("{name}::text"), move || pictures::against_formula(&interpreted, formula)));
    let text = trial(format!("{name}::snapshot"), move || {
        case.text().map(|text| keep(&format!("scene-{}", case.name), PLAIN, &text))
    });
    let run = on_gpu(format!("{name}::gpu"), move || drawn.on_gpu(PROFILE));
    [text].into_iter().chain(formula).chain(run).collect()
}

/// The profiles that graphics fixtures are run for; the others differ from them only in costs.
const NEW_AND_OLD: [&str; 2] = ["nv-hopper", "nv-maxwell"];

/// A fixture in the interpreter compared with lavapipe, and on a GPU with the driver's own GLSL.
fn graphics_trials(case: graphics::Case) -> Vec<Trial> {
    if NEW_AND_OLD.iter().any(|profile| !case.refusals(profile).is_empty()) {
        return Vec::new();
    }
    let name = format!("graphics::{}", case.name.replace('.', "_"));
    let case = std::sync::Arc::new(case);
    let interpreted = case.clone();
    let text = judged(format!("{name}::text"), &JUDGES, move || beside::check(&interpreted));
    let run = on_gpu(format!("{name}::gpu"), move || {
        for profile in NEW_AND_OLD {
            let outcome = case.on_gpu(profile).map_err(|why| format!("{profile}: {why}"))?;
            eprintln!("{}, {profile}: {outcome:?}", case.name);
        }
        Ok(())
    });
    [text].into_iter().chain(run).collect()
}

/// The programs that make and run modules to compare with.
pub const JUDGES: [&str; 3] = ["bin/spirv-val", "bin/glslangValidator", "lvp.json"];

// Random kernels.

/// Random kernels of each kind that a run of the tests tries.
const USUAL: u64 = 30;

fn random_trials() -> Vec<Trial> {
    let batches = |(name, maker): (&'static str, Maker)| {
        seeds::batches(USUAL).flat_map(move |seeds| {
            let start = seeds.start;
            let test = move |runner| outcomes::each(seeds.clone(), |seed| check(name, &maker(seed), runner));
            on_both(&format!("{name}::seeds_{start}"), test)
        })
    };
    RANDOM.into_iter().flat_map(batches).collect()
}

/// Compares a random kernel with the simulator; a failing one is saved to a file.
fn check(kind: &'static str, shader: &Shader, runner: Runner) -> Result<(), String> {
    let held = shader.blamed(|shader| hold(shader, PROFILE, runner));
    outcomes::counted(PROFILE, kind, held).map(|_| ())
}
