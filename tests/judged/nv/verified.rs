//! The page `docs/verified/nv.md`: the results of every fixture on the GPU for every profile.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::graphics::{self, Outcome};
use super::kernel::{PLAIN, against_formulas, against_simulator, builds, hold, resized};
use super::{PROFILE, expressed, fixtures, language, registers, scenes};
use support::compiler::{self, Target};
use support::fixture::{Build, Fixture, Language};
use support::shader::{Maker, RANDOM, Shader};
use support::{opengl, outcomes, report};

/// The profiles, oldest first.
pub const PROFILES: [&str; 6] = ["nv-fermi", "nv-kepler", "nv-maxwell", "nv-volta", "nv-ampere", "nv-hopper"];
/// The profile without shuffles.
const OLDEST: &str = PROFILES[0];

/// Number of random kernels of each kind, starting with seed 1.
const KERNELS: u64 = 1000;

const INTRODUCTION: &str = "# NVIDIA assembly on a GPU

Every fixture, compiled for each profile, loaded by the driver's OpenGL and run over all input patterns and widths.";

const FIXTURES: &str = "Held against the formulas in `tests/support/tables`; and once more with the other kind of workgroup (40 \
invocations, which do not fill their last warp, for 64, or 64 for 40) against the simulator. *refused*: the profile lacks \
shuffles, as `snapshots/nv/refused-by-fermi.snap` says of each.";

const LANGUAGE: &str = "The language without cross-lane operations, against the simulator.";

const BESIDE: &str = "The same shaders beside the driver's own GLSL of the same source in OpenGL's words; the words in the table are \
those of \"Fixtures of graphics\" below.";

const SCENES: &str = "Draws of vertex and fragment programs, and dispatches with textures and images, each run as assembly and, \
from the same source in `fixtures/scenes`, as the driver's own GLSL: colours, depths, buffers and images are the same, bit by bit \
but for the order of roundings.";

const GRAPHICS: &str = "The dispatches and draws of `fixtures/graphics`, which say in their comments how they are run, each as assembly \
and as the driver's own GLSL from the same source in OpenGL's words (`tests/judged/nv/dialect.rs`). *same*: the same bits; *close*: \
but for the order of roundings; *vulkan*: the driver's OpenGL takes no such GLSL (or is known to differ: \
`DRIVER_DIFFERS` in `tests/judged/nv/graphics.rs` says why), and its Vulkan leaves the same of glslang's module (of crosslane's where \
quads are swizzled); *alone*: neither tells; *refused*: as `snapshots/nv/refused-graphics.snap` says of each.";

const REGISTERS: &str = "Components of 32 bits that each program declares (`TEMP` 4, `LONG TEMP` 8, `SHORT TEMP` 2), beside \
those in the driver's own listing of the same GLSL at the same width. Where there is none, OpenGL's GLSL does not have what \
the shader uses.";

/// Runs everything and writes the page's own sections; those of other programs stay.
pub fn write(path: &Path) -> Result<(), String> {
    let mut wrong = Vec::new();
    if !path.exists() {
        std::fs::write(path, INTRODUCTION).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    report::replace(path, "Device", &device()?)?;
    report::replace(path, "Fixtures", &format!("{FIXTURES}\n\n{}", lane_table(&mut wrong)))?;
    report::replace(path, "Language", &format!("{LANGUAGE}\n\n{}", language_table(&mut wrong)))?;
    let beside = format!("{BESIDE}\n\n{}", graphics_table(graphics::core()?, &mut wrong)?);
    report::replace(path, "Language beside the driver's own", &beside)?;
    report::replace(path, "Graphics and images", &format!("{SCENES}\n\n{}", scene_table(&mut wrong)))?;
    report::replace(
        path,
        "Fixtures of graphics",
        &format!("{GRAPHICS}\n\n{}", graphics_table(graphics::cases()?, &mut wrong)?),
    )?;
    report::replace(path, "Random kernels", &random(&mut wrong))?;
    report::replace(path, "Registers", &format!("{REGISTERS}\n\n{}", register_table()?))?;
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn device() -> Result<String, String> {
    let said = opengl::describe()?;
    let mut lines = said.lines();
    let (name, version) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let limits =
        lines.filter_map(|line| line.split_once(' ')).map(|(name, value)| vec![format!("`{name}`"), value.into()]);
    let rows: Vec<Vec<String>> =
        [vec!["device".into(), name.into()], vec!["driver".into(), version.into()]].into_iter().chain(limits).collect();
    let command = "```sh\nCROSSLANE_GL=1 CROSSLANE_DRIVER_LANES=32 CROSSLANE_VERIFIED=docs/verified/nv.md cargo test --test judged nv::\n```";
    Ok(format!("{}\n{command}", report::table(&["", ""], &rows)))
}

/// The outcome of a shader for each profile.
struct Verdicts {
    names: [String; 2],
    cells: Vec<Result<&'static str, String>>,
}

impl Verdicts {
    fn of(name: String, language: Language, verdict: impl Fn(&str) -> Result<&'static str, String>) -> Verdicts {
        let cells = PROFILES.iter().map(|profile| verdict(profile)).collect();
        Verdicts { names: [name, language.name().to_owned()], cells }
    }

    /// The row of the table; failures are reported elsewhere.
    fn row(self, wrong: &mut Vec<String>) -> Vec<String> {
        let [name, language] = self.names;
        let cells = self.cells.into_iter().zip(PROFILES).map(|(cell, profile)| {
            cell.unwrap_or_else(|why| {
                wrong.push(format!("{name}, {language}, {profile}: {why}"));
                "WRONG"
            })
        });
        let cells: Vec<String> = cells.map(str::to_owned).collect();
        [vec![name, language], cells].concat()
    }
}

/// Does the same work on many items, on all processors; returns the results in order.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let take = || {
        while let Some((at, item)) = Some(next.fetch_add(1, Relaxed)).and_then(|at| Some((at, items.get(at)?))) {
            let result = work(item);
            done.lock().expect("no other worker panics").push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(take);
        }
    });
    let mut done = done.into_inner().expect("all workers have ended");
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn head<'a>(first: &[&'a str]) -> Vec<&'a str> {
    first.iter().copied().chain(PROFILES).collect()
}

fn with_languages(all: impl Iterator<Item = &'static Fixture>) -> impl Iterator<Item = (&'static Fixture, Language)> {
    all.flat_map(|fixture| fixture.languages().into_iter().map(move |language| (fixture, language)))
}

fn table(verdicts: Vec<Verdicts>, wrong: &mut Vec<String>) -> String {
    let rows: Vec<Vec<String>> = verdicts.into_iter().map(|verdicts| verdicts.row(wrong)).collect();
    report::table(&head(&["fixture", "language"]), &rows)
}

fn lane_table(wrong: &mut Vec<String>) -> String {
    let all: Vec<_> = with_languages(fixtures()).collect();
    let verdicts = in_parallel(&all, |(fixture, language)| {
        Verdicts::of(fixture.name.to_owned(), *language, |profile| lane_verdict(fixture, *language, profile))
    });
    table(verdicts, wrong)
}

fn lane_verdict(fixture: &Fixture, language: Language, profile: &str) -> Result<&'static str, String> {
    if refusal(fixture, language, profile).is_some() {
        return if profile == OLDEST { Ok("refused") } else { Err("refused".to_owned()) };
    }
    against_formulas(fixture, language, profile, opengl::run)?;
    match resized(fixture) {
        Some(other) => against_simulator(&other, language, profile, opengl::run).map(|()| "right"),
        None => Ok("right"),
    }
}

fn language_table(wrong: &mut Vec<String>) -> String {
    let all: Vec<_> = with_languages(language::FIXTURES.iter()).collect();
    let mut verdicts = in_parallel(&all, |(fixture, language)| {
        Verdicts::of(fixture.name.to_owned(), *language, |profile| {
            against_simulator(fixture, *language, profile, opengl::run).map(|()| "right")
        })
    });
    verdicts.extend(in_parallel(&expressed(), |path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Verdicts::of(format!("core/{name}"), Language::Glsl, |profile| core_verdict(path, profile))
    }));
    table(verdicts, wrong)
}

fn core_verdict(path: &Path, profile: &str) -> Result<&'static str, String> {
    if profile == OLDEST && !graphics::Case::read(path)?.refusals(profile).is_empty() {
        return Ok("refused");
    }
    hold(&Shader::read(path)?, profile, opengl::run).map(|()| "right")
}

fn scene_table(wrong: &mut Vec<String>) -> String {
    let verdicts = scenes::cases().into_iter().map(|case| {
        let name = case.name.clone();
        Verdicts::of(name, Language::Glsl, |profile| scene_verdict(&case, profile))
    });
    table(verdicts.collect(), wrong)
}

fn scene_verdict(case: &scenes::Case, profile: &str) -> Result<&'static str, String> {
    match case.programs(profile) {
        Err(_) if profile == OLDEST => Ok("refused"),
        Err(why) => Err(why),
        Ok(_) => case.on_gpu(profile).map(|()| "right"),
    }
}

fn graphics_table(cases: Vec<graphics::Case>, wrong: &mut Vec<String>) -> Result<String, String> {
    let alone = Mutex::new(BTreeSet::new());
    let verdict = |case: &graphics::Case, profile: &str| match case.refusals(profile).is_empty() {
        false => Ok("refused"),
        true => case.on_gpu(profile).map(|outcome| match outcome {
            Outcome::Same => "same",
            Outcome::Close => "close",
            Outcome::Vulkan => "vulkan",
            Outcome::Alone(why) => {
                let first = why.lines().find(|line| line.contains("error")).unwrap_or(&why).to_owned();
                alone.lock().expect("no other verdict panics").insert(format!("- {}: {first}\n", case.name));
                "alone"
            }
        }),
    };
    let verdicts = cases.into_iter().map(|case| {
        let name = case.name.clone();
        Verdicts::of(name, Language::Glsl, |profile| verdict(&case, profile))
    });
    let table = table(verdicts.collect(), wrong);
    let reasons: String = alone.into_inner().map_err(|e| e.to_string())?.into_iter().collect();
    Ok(if reasons.is_empty() {
        table
    } else {
        format!("{table}\nWhy the driver's own GLSL and its Vulkan tell nothing of these:\n\n{reasons}")
    })
}

fn random(wrong: &mut Vec<String>) -> String {
    let seeds: Vec<u64> = (1..=KERNELS).collect();
    let row = |(name, maker): (&'static str, Maker)| {
        let held = in_parallel(&seeds, |seed| {
            let held = maker(*seed).blamed(|shader| hold(shader, PROFILE, opengl::run));
            outcomes::counted(PROFILE, name, held).map_err(|why| format!("{name}, seed {seed}: {why}"))
        });
        let refused = held.iter().filter(|held| matches!(held, Ok(None))).count();
        let before = wrong.len();
        wrong.extend(held.into_iter().filter_map(Result::err));
        let different = wrong.len() - before;
        vec![name.to_owned(), format!("1 to {KERNELS}"), refused.to_string(), different.to_string()]
    };
    let rows: Vec<Vec<String>> = RANDOM.into_iter().map(row).collect();
    let said = "*random*: control flow and arithmetic; *lanes*: the same, with cross-lane operations in uniform flow; \
        *arms*: operations in arms and before exits from loops; *wide*: integers of 8, 16 and 64 bits, halves and doubles; \
        *formulas*: minima, maxima, negations, comparisons and choices of integers; \
        *memory*: accesses to memory with several names; *waits*: workgroups that wait for each other; *names*: names that are not \
        ASCII. *refused*: they nest too deep, or have references or bytes in buffers (E0700).";
    format!(
        "{said} Against the simulator, for {PROFILE}.\n\n{}",
        report::table(&["kernels", "seeds", "refused", "different"], &rows)
    )
}

fn register_table() -> Result<String, String> {
    let cell = |row: registers::Row| {
        let driver = row.driver.map_or("–".to_owned(), |count| count.to_string());
        vec![row.name, row.ours.to_string(), driver]
    };
    let rows: Vec<Vec<String>> = registers::rows()?.into_iter().map(cell).collect();
    Ok(report::table(&["shader", "crosslane", "driver"], &rows))
}

// Refusals of the oldest profile.

fn widest(fixture: &Fixture) -> Build {
    builds(fixture).last().copied().unwrap_or(PLAIN)
}

/// The compiler's messages when it refuses a fixture.
fn refusal(fixture: &Fixture, language: Language, profile: &str) -> Option<String> {
    compiler::program(Target { fixture, language, profile, build: widest(fixture) }).err()
}

/// Every fixture that the profile without shuffles refuses, and why; a line each.
pub fn refusals() -> Result<String, String> {
    let line = |(fixture, language): (&'static Fixture, Language)| {
        let why = refusal(fixture, language, OLDEST)?;
        Some(format!("{}::{}: {}\n", language.name(), fixture.name, reason(&why)))
    };
    Ok(with_languages(fixtures()).filter_map(line).collect())
}

/// The first message, and the text that it points to.
pub fn reason(messages: &str) -> String {
    let first = messages.lines().next().unwrap_or_default();
    let label = messages.lines().find_map(|line| line.rsplit_once("^ ")).map(|(_, label)| format!(" ({label})"));
    first.to_owned() + &label.unwrap_or_default()
}
