//! AMD assembly: every fixture and every shader of the core language becomes a kernel for every profile. LLVM's
//! assembler and linker take all of a profile's kernels at once, LLVM's passes look for missing waits and hazards in
//! them, and an interpreter of the text runs each. Fixtures are checked with their formulas, other shaders with the
//! simulator, cross-lane operations with ACO's instruction counts, accesses and fences with LLVM's, texts with
//! snapshots, and the interpreter with AMD's pseudo-code.

mod aco;
mod images;
mod machine_code;
mod memory_model;
mod pcode;
mod recognizer;
mod speed;
mod texts;
mod waits;

use crosslane::backend::amd::Program;
use crosslane::compile::{Input, Language, Options};
use crosslane::kernel::Specializations;
use crosslane::profile::{self, Profile};
use machine_code::Listing;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use support::compare::Closeness;
use support::compiler::{self, CONTRACTED, Target};
use support::fixture::{self, Buffer, Build, Fixture};
use support::interpret::{Order, interpret};
use support::lavapipe::{Buffers, Request};
use support::shader::{Maker, RANDOM, Shader};
use support::tables::{fixtures, language};
use support::trial::{Trial, trial};
use support::{amd, assembler, emulator, judge, outcomes, seeds, shader, simulator};

/// Profiles that run every width and random kernels, and whose listings are kept as snapshots; each of the others is
/// like one of them.
const CHOSEN: [&str; 6] = ["gfx701", "gfx900", "gfx950", "gfx1030-wave64", "gfx1100-wave32", "gfx1201-wave32"];

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = fixtures().map(|fixture| fixture_trial(fixture, EXACT)).collect();
    trials.extend(language::FIXTURES.iter().map(|fixture| language_trial(fixture, EXACT)));
    let approximate = |fixture: &&Fixture| is_approximate(fixture);
    trials.extend(fixtures().filter(approximate).map(|fixture| fixture_trial(fixture, CONTRACTED)));
    trials.extend(language::FIXTURES.iter().filter(approximate).map(|fixture| language_trial(fixture, CONTRACTED)));
    trials.extend(shader::sources().into_iter().map(core_trial));
    trials.extend(images::trials());
    trials.extend(CHOSEN.into_iter().filter(|profile| emulator::has(profile)).flat_map(random_trials));
    trials.push(trial("aco".to_owned(), aco::hold));
    trials.extend(speed::trials());
    trials.extend(all_fixtures().map(listings_trial));
    trials.push(trial("snapshot::sums".to_owned(), || texts::hold_sums(all_fixtures())));
    trials.extend(fixture::files("fixtures/hazards").into_iter().map(hazards_trial));
    trials.extend(profiles().into_iter().map(recognizer_trial));
    trials.push(trial("recognizer::finds".to_owned(), recognizer::finds));
    trials.push(trial("waits::finds".to_owned(), waits::finds));
    trials.extend(pcode::trials());
    trials.push(trial("memory_model".to_owned(), || memory_model::hold(&profiles())));
    trials.push(trial("assembler::names_what_it_refuses".to_owned(), refused_program_is_named));
    trials
}

fn all_fixtures() -> impl Iterator<Item = &'static Fixture> {
    fixtures().chain(language::FIXTURES)
}

/// The profiles whose texts are run: all, or the chosen ones where time matters; with an emulator, those it supports.
fn judging() -> impl Iterator<Item = Profile> {
    let is_one = |profile: &Profile| emulator::has(&profile.name) && (!judge::is_quick() || is_chosen(profile));
    profiles().into_iter().filter(is_one)
}

/// The buffers after the interpreter, or an emulator in its place, has run a program.
fn run(program: &Program, profile: &Profile, request: &Request, order: Order) -> Result<Vec<Buffers>, String> {
    if emulator::is_asked() {
        return emulator::run(program, profile, request, order == Order::Together);
    }
    interpret(program, &profile.processor, request, order)
}

/// Every profile for AMD's hardware.
fn profiles() -> Vec<Profile> {
    Profile::all().filter(|profile| profile.target == profile::Target::Amd).collect()
}

fn is_chosen(profile: &Profile) -> bool {
    CHOSEN.contains(&&*profile.name)
}

/// The builds for which a profile's waves have enough lanes.
fn builds(fixture: &Fixture, profile: &Profile) -> Vec<Build> {
    let wave = profile.wave_size;
    let wide = fixture.wide_builds().filter(|build| build.wave == wave);
    let mut widths: Vec<Option<usize>> = fixture.builds().into_iter().chain(wide).map(|build| build.width).collect();
    widths.dedup();
    widths.into_iter().map(|width| Build { width, wave }).collect()
}

/// The judged combinations: every width in the first language on the chosen profiles; otherwise the widest one, and the
/// second language only on the chosen profiles.
fn targets<'a>(fixture: &'a Fixture, profile: &'a Profile) -> Vec<Target<'a>> {
    let (languages, builds) = (fixture.languages(), builds(fixture, profile));
    let widest = builds.len().saturating_sub(1);
    let is_whole = is_chosen(profile) && !judge::is_quick();
    let of = |(n, &language)| {
        let builds = if n == 0 && is_whole { &builds[..] } else { &builds[widest..] };
        builds.iter().map(|&build| Target { fixture, language, profile: &profile.name, build }).collect::<Vec<_>>()
    };
    let taken = if is_whole { &languages[..] } else { &languages[..1] };
    taken.iter().enumerate().flat_map(of).collect()
}

/// The text without the name of the source: equal programs are judged once.
fn stripped(text: &str) -> String {
    let code = text.lines().map(|line| line.split(';').next().unwrap_or_default().trim_end());
    code.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Appended to a profile's name where results are compared bit for bit.
const EXACT: &str = "";

/// Returns true if some results may be approximate: by default, shorter code computes those.
fn is_approximate(fixture: &Fixture) -> bool {
    let is_close = |buffer: &Buffer| matches!(buffer, Buffer::Out(_, _, Closeness::Within(share)) if *share > 0.0);
    fixture.buffers.iter().any(is_close)
}

/// The name of the trial of a fixture.
fn trial_name(kind: &str, fixture: &Fixture, option: &str) -> String {
    let kind = if option == EXACT { kind } else { "contracted" };
    format!("{kind}::{}", fixture.name)
}

/// Runs a test for every profile and its [`targets`]. Reports all failures.
fn on_all(
    fixture: &Fixture,
    option: &str,
    judge: impl Fn(Target<'_>, &Profile, &Program) -> Result<(), String>,
) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for profile in judging() {
        let name = format!("{} {option}", profile.name);
        for target in targets(fixture, &profile) {
            let target = Target { profile: name.trim(), ..target };
            let done = compiler::amd(target).and_then(|program| {
                let is_new = seen.insert((profile.name.to_string(), target.build.width, stripped(&program.text)));
                if is_new { judge(target, &profile, &program) } else { Ok(()) }
            });
            let (language, width) = (target.language.name(), target.build.width);
            wrong.extend(done.err().map(|why| format!("{}, {language}, width {width:?}: {why}", profile.name)));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn wave(profile: &Profile) -> u32 {
    profile.wave_size.expect("profiles of hardware say how many lanes a wave has")
}

/// Assembles and links listings as one program.
fn assemble(profile: &Profile, listings: &[Listing]) -> Result<(), String> {
    let programs: Vec<(&str, &str)> = listings.iter().map(|listing| (&*listing.name, &*listing.text)).collect();
    assembler::build_all(&programs, &profile.processor, wave(profile))
}

fn fixture_trial(fixture: &'static Fixture, option: &'static str) -> Trial {
    let judge = |target: Target<'_>, profile: &Profile, program: &Program| {
        let after = run(program, profile, &target.fixture.request(), Order::Both)?;
        target.fixture.judge_runs(target.build, wave(profile) as usize, &after)
    };
    trial(trial_name("fixture", fixture, option), move || on_all(fixture, option, judge))
}

fn listings_trial(fixture: &'static Fixture) -> Trial {
    trial(format!("snapshot::{}", fixture.name), move || texts::hold_listings(fixture))
}

fn language_trial(fixture: &'static Fixture, option: &'static str) -> Trial {
    let judge = |target: Target<'_>, profile: &Profile, program: &Program| {
        let request = target.fixture.request();
        let model = simulator::run(&compiler::kernel(target)?, wave(profile) as usize, &request)?;
        let after = run(program, profile, &request, Order::Ascending)?;
        target.fixture.judge_against(&model, &after)
    };
    trial(trial_name("language", fixture, option), move || on_all(fixture, option, judge))
}

fn refused_program_is_named() -> Result<(), String> {
    let programs = [("good", "v_nop\n"), ("bad", "v_none\n"), ("also good", "s_nop 0\n")];
    let said = assembler::build_all(&programs, "gfx900", 64);
    let is_named = said.as_ref().is_err_and(|why| why.starts_with("bad: ") && why.contains("v_none"));
    if is_named || !assembler::are_there()? { Ok(()) } else { Err(format!("{said:?}")) }
}

// Hazards: shaders that once had some, and LLVM's passes over everything.

fn hazards_trial(path: PathBuf) -> Trial {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let one = move |profile: &Profile| {
        let program = hazardous(&path, profile)?;
        let target = amd::target::Target::new(&profile.processor, wave(profile) as usize)?;
        amd::walk(&amd::Program::read(&program.text, target)?)
    };
    trial(format!("hazards::{stem}"), move || {
        let wrong = |profile: &Profile| one(profile).err().map(|why| format!("{}: {why}", profile.name));
        let wrong: Vec<String> = judging().filter_map(|profile| wrong(&profile)).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    })
}

fn hazardous(path: &Path, profile: &Profile) -> Result<Program, String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let input = Input { name: &path.to_string_lossy(), bytes: source.as_bytes(), language: Language::Glsl };
    compiler::amd_program(&input, &Options::new(profile.clone()), &Specializations::new())
}

fn recognizer_trial(profile: Profile) -> Trial {
    trial(format!("recognizer::{}", profile.name), move || judge_listings(&profile, &all_listings(&profile)?))
}

/// Assembles and links listings, and has LLVM's passes look for faults in them.
fn judge_listings(profile: &Profile, listings: &[Listing]) -> Result<(), String> {
    assemble(profile, listings)?;
    if !assembler::are_there()? {
        return Ok(());
    }
    let program = machine_code::Program::read(profile, listings)?;
    waits::hold(&program)?;
    recognizer::hold(&program)
}

/// Every fixture, every shader of the core language, and random kernels on profiles that do not run them.
fn all_listings(profile: &Profile) -> Result<Vec<Listing>, String> {
    let contracted = format!("{} {CONTRACTED}", profile.name);
    let mut listings = Vec::new();
    for target in all_fixtures().flat_map(|fixture| targets(fixture, profile)) {
        let name = format!("{}, {}, width {:?}", target.fixture.name, target.language.name(), target.build.width);
        listings.push(Listing { name, text: compiler::amd(Target { profile: &contracted, ..target })?.text });
    }
    let known: Result<Vec<Shader>, String> = shader::sources().iter().map(|path| Shader::read(path)).collect();
    let is_run = is_chosen(profile);
    let random = RANDOM.into_iter().filter(|_| !is_run);
    let random = random.flat_map(|(_, maker)| seeds::batches(FEW).flatten().map(maker));
    for shader in known?.into_iter().chain(random) {
        let options = compiler::named(&contracted)?;
        let program = compiler::amd_program(&shader.input(), &options, &shader.request.settings())?;
        listings.push(Listing { name: shader.name, text: program.text });
    }
    for path in fixture::files("fixtures/hazards") {
        let name = path.to_string_lossy().into_owned();
        listings.push(Listing { name, text: hazardous(&path, profile)?.text });
    }
    Ok(listings)
}

// The core language and random kernels.

fn core_trial(path: PathBuf) -> Trial {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    trial(format!("core::{stem}"), move || {
        let shader = Shader::read(&path)?;
        let wrong: Vec<String> = judging().filter_map(|profile| run_shader(&shader, &profile).err()).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    })
}

/// Runs a shader and returns its listing.
fn run_shader(shader: &Shader, profile: &Profile) -> Result<Listing, String> {
    let run = |shader: &Shader| -> Result<Listing, String> {
        let program =
            compiler::amd_program(&shader.input(), &shader.options(&profile.name)?, &shader.request.settings())?;
        // Lanes that wait for each other must do so.
        let order = if shader.request.groups == [1; 3] { Order::Ascending } else { Order::Together };
        let run = |request| run(&program, profile, &request, order);
        shader.hold(&profile.name, wave(profile) as usize, run)?;
        Ok(Listing { name: shader.name.clone(), text: program.text })
    };
    shader.blamed(run).map_err(|why| format!("{}: {why}", profile.name))
}

/// Random kernels of each kind that a run of the tests tries on each profile.
const USUAL: u64 = 6;
/// The number of random kernels on profiles that do not run them.
const FEW: u64 = 3;

fn random_trials(profile: &'static str) -> Vec<Trial> {
    let test = move |(kind, maker): (&'static str, Maker), seeds: Range<u64>| {
        let profile = Profile::named(profile).ok_or_else(|| format!("no profile {profile}"))?;
        let mut listings = Vec::new();
        let ran = outcomes::each(seeds, |seed| {
            let ran = outcomes::counted(&profile.name, kind, run_shader(&maker(seed), &profile))?;
            listings.extend(ran);
            Ok(())
        });
        if emulator::is_asked() { ran } else { judge_listings(&profile, &listings).and(ran) }
    };
    let one = |(kind, maker): (&'static str, Maker), seeds: Range<u64>| {
        trial(format!("{kind}::{profile}::seeds_{}", seeds.start), move || test((kind, maker), seeds))
    };
    RANDOM.into_iter().flat_map(|kind| seeds::batches(USUAL).map(move |seeds| one(kind, seeds))).collect()
}
