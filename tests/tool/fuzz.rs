//! Randomly broken shaders: tokens of good and bad fixtures are dropped, duplicated, swapped and moved between files,
//! and their numbers replaced. Nothing may panic, with any kind of output; modules must be valid SPIR-V, and LLVM's
//! assembler must accept the kernels for AMD's hardware.
//!
//! The changes come from a fixed seed. `CROSSLANE_FUZZ_SECONDS` makes it run longer, `CROSSLANE_FUZZ_SEED` sets another
//! seed, and `CROSSLANE_FUZZ_CORPUS` names a folder whose shaders are added to the fixtures.

use crosslane::backend::DebugInfo;
use crosslane::compile::{Artifact, EmitKind, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::render;
use crosslane::glsl::preprocess::MacroOption;
use crosslane::ir::Stage;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::{assembler, judge};

const EMITS: [EmitKind; 4] = [EmitKind::Binary, EmitKind::Assembly, EmitKind::Ir, EmitKind::Preprocessed];

/// Profiles and the environments in which their modules are judged.
const PROFILES: [(&str, Option<u32>, &str); 4] = [
    ("spirv-1.3", None, "vulkan1.1"),
    ("spirv-1.5", Some(32), "vulkan1.2"),
    ("spirv-1.6", Some(64), "vulkan1.3"),
    ("spirv-1.6", None, "vulkan1.3"),
];

/// Profiles of hardware; each mutant is also tried for one of them.
const MACHINES: [&str; 6] = ["nv-fermi", "nv-hopper", "gfx701", "gfx900", "gfx1100-wave64", "gfx1201-wave32"];

/// Values at the limits of literals, widths and sizes.
const LITERALS: [&str; 16] =
    ["0", "1", "2", "3", "7", "32", "64", "0u", "1u", "4294967295u", "2147483647", "-1", "1e38", "0.0", "1.5", "true"];

/// The macros that the fixtures expect from the command line.
const WIDTHS: [&str; 4] = ["WIDTH=4", "WIDTH=8", "WIDTH=32", "WIDTH=3"];

/// One in this number of modules and listings is judged: starting the judge costs as much as many compilations.
const JUDGED: u64 = 10;

/// Maximum number of mutants in a run, so that the default run is always the same.
const MUTANTS: u64 = 2500;

/// A xorshift generator: good enough to pick tokens.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// The language and stage of a shader, by the ending of its file.
#[derive(Clone, Copy)]
struct Kind {
    language: Language,
    stage: Stage,
}

impl Kind {
    fn of(extension: &str) -> Option<Kind> {
        let (language, stage) = match extension {
            "comp" | "glsl" => (Language::Glsl, Stage::Compute),
            "vert" => (Language::Glsl, Stage::Vertex),
            "frag" => (Language::Glsl, Stage::Fragment),
            "wgsl" => (Language::Wgsl, Stage::Compute),
            _ => return None,
        };
        Some(Kind { language, stage })
    }
}

/// A shader, cut into tokens with the blanks after them.
struct Seed {
    kind: Kind,
    tokens: Vec<String>,
}

impl Seed {
    fn new(path: &Path) -> Option<Seed> {
        let kind = Kind::of(path.extension()?.to_str()?)?;
        let text = fs::read_to_string(path).ok().filter(|text| text.len() < 64 << 10)?;
        Some(Seed { kind, tokens: cut(&text) })
    }
}

/// A broken shader.
struct Mutant {
    kind: Kind,
    text: String,
}

/// Words with the blanks after them, other characters one by one, and line ends separately.
fn cut(text: &str) -> Vec<String> {
    let class = |c: char| match c {
        '\n' => 0,
        ' ' | '\t' => 1,
        _ if c.is_alphanumeric() || c == '_' || c == '.' => 2,
        _ => 3,
    };
    let mut tokens: Vec<String> = Vec::new();
    let mut last = 0;
    for c in text.chars() {
        let now = class(c);
        let joins = (now == 2 && last == 2) || (now == 1 && last != 0);
        match tokens.last_mut() {
            Some(token) if joins => token.push(c),
            _ => tokens.push(c.to_string()),
        }
        last = now;
    }
    tokens
}

/// The fixtures, and the shaders of the folder that the environment names.
fn seeds() -> Vec<Seed> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")];
    folders.extend(std::env::var_os("CROSSLANE_FUZZ_CORPUS").map(PathBuf::from));
    let mut paths = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let list = if entry.path().is_dir() { &mut folders } else { &mut paths };
            list.push(entry.path());
        }
    }
    paths.sort();
    paths.iter().filter_map(|path| Seed::new(path)).collect()
}

/// A few changes to a seed.
fn mutate(seeds: &[Seed], random: &mut Random) -> Mutant {
    let seed = random.pick(seeds);
    let mut tokens = seed.tokens.clone();
    for _ in 0..=random.below(3) {
        change(seeds, random, &mut tokens);
    }
    Mutant { kind: seed.kind, text: tokens.concat() }
}

fn change(seeds: &[Seed], random: &mut Random, tokens: &mut Vec<String>) {
    if tokens.is_empty() {
        return;
    }
    let at = random.below(tokens.len());
    match random.below(12) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at].clone()),
        2 => {
            let other = random.below(tokens.len());
            tokens.swap(at, other);
        }
        3 => tokens[at] = random.pick(tokens).clone(),
        4 if random.below(4) == 0 => tokens.truncate(at),
        5 => splice(seeds, random, tokens, at),
        6 => remove_stretch(random, tokens, at),
        _ => replace_number(random, tokens, at),
    }
}

/// Inserts some tokens of another shader.
fn splice(seeds: &[Seed], random: &mut Random, tokens: &mut Vec<String>, at: usize) {
    let other = random.pick(seeds);
    let start = random.below(other.tokens.len());
    let end = (start + random.below(30)).min(other.tokens.len());
    tokens.splice(at..at, other.tokens[start.min(end)..end].iter().cloned());
}

fn remove_stretch(random: &mut Random, tokens: &mut Vec<String>, at: usize) {
    let end = (at + random.below(12)).min(tokens.len());
    tokens.drain(at..end);
}

/// Replaces the next number after a position.
fn replace_number(random: &mut Random, tokens: &mut [String], at: usize) {
    let is_number = |token: &&mut String| token.starts_with(|c: char| c.is_ascii_digit());
    if let Some(token) = tokens[at..].iter_mut().find(is_number) {
        *token = random.pick(&LITERALS).to_string();
    }
}

/// The output, and its judge.
enum Made {
    Nothing,
    Module(Vec<u32>, &'static str),
    /// A kernel for a profile of AMD's hardware.
    Listing(String, &'static str),
}

/// Compiles to every kind of output for a SPIR-V profile; returns a module with its environment, or an error.
fn try_compile(mutant: &Mutant, random: &mut Random) -> Result<Made, String> {
    let (profile, lanes, environment) = *random.pick(&PROFILES);
    let mut options =
        options(Profile::named(profile).expect("a built-in profile").with_wave_size(lanes), mutant, random);
    let mut made = Made::Nothing;
    for emit in EMITS {
        options.emit = emit;
        if let Some(Artifact::Spirv(words)) = compile_once(mutant, &options)? {
            made = Made::Module(words, environment);
        }
    }
    Ok(made)
}

/// Compiles for a hardware profile.
fn try_machine(mutant: &Mutant, random: &mut Random) -> Result<Made, String> {
    let name: &'static str = MACHINES[random.below(MACHINES.len())];
    let options = options(machine(name), mutant, random);
    let is_amd = !options.profile.processor.is_empty();
    let made = compile_once(mutant, &options).map_err(|why| format!("{name}: {why}"))?;
    Ok(match made {
        Some(Artifact::Text(text)) if is_amd => Made::Listing(text, name),
        _ => Made::Nothing,
    })
}

fn machine(name: &str) -> Profile {
    Profile::named(name).expect("a built-in profile")
}

fn options(profile: Profile, mutant: &Mutant, random: &mut Random) -> Options {
    let mut options = Options { stage: Some(mutant.kind.stage), ..Options::new(profile) };
    options.debug = [DebugInfo::None, DebugInfo::Lines, DebugInfo::Full, DebugInfo::None][random.below(4)];
    options.macros.push(MacroOption::define(WIDTHS[random.below(WIDTHS.len())]));
    options
}

/// Compiles a mutant once and returns its output if it is right; an internal error fails the test.
fn compile_once(mutant: &Mutant, options: &Options) -> Result<Option<Artifact>, String> {
    let input = Input { name: "mutant", bytes: mutant.text.as_bytes(), language: mutant.kind.language };
    let start = Instant::now();
    let made = compile(&input, options, &NoIncludes);
    let messages = render::human(&made.sources, &made.diagnostics);
    if messages.contains("E09") || messages.contains("E0605") || start.elapsed() > Duration::from_secs(5) {
        return Err(format!("after {:?}: {messages}", start.elapsed()));
    }
    match made.verdict {
        Verdict::Done(artifact) => Ok(Some(artifact)),
        _ if messages.is_empty() => Err("refused without a message".to_string()),
        _ => Ok(None),
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Runs on a thread with the default stack size.
fn with_stack(act: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn_scoped(scope, act);
        thread.expect("a thread can be started").join().expect("the mutants have been tried");
    });
}

#[test]
fn mutants_never_panic_and_give_valid_modules() {
    with_stack(|| {
        let seeds = seeds();
        assert!(!seeds.is_empty());
        let mut random = Random(number("CROSSLANE_FUZZ_SEED").unwrap_or(0x5eed_1234_5678_9abc));
        let longer = number("CROSSLANE_FUZZ_SECONDS").map(Duration::from_secs);
        let start = Instant::now();
        let (mut tried, mut compiled) = (0, 0);
        while longer.map_or(tried < MUTANTS, |limit| start.elapsed() < limit) {
            tried += 1;
            compiled += u64::from(try_mutant(&seeds, &mut random, compiled));
        }
        println!("{tried} mutants, {compiled} compiled, in {:?}", start.elapsed());
    });
}

/// Returns true if the mutant compiled.
fn try_mutant(seeds: &[Seed], random: &mut Random, compiled: u64) -> bool {
    let mutant = mutate(seeds, random);
    let all = [try_compile, try_machine].map(|attempt| {
        let caught = catch_unwind(AssertUnwindSafe(|| attempt(&mutant, random)));
        caught.unwrap_or_else(|_| Err("a panic".to_string()))
    });
    let judged = compiled.is_multiple_of(JUDGED);
    let mut any = false;
    for made in all {
        any |= matches!(made, Ok(Made::Module(..)));
        if let Err(problem) = made.and_then(|made| if judged { judge(&made, &mutant.text) } else { Ok(()) }) {
            fail::<()>(&mutant.text, &problem);
        }
    }
    any
}

fn judge(made: &Made, text: &str) -> Result<(), String> {
    match made {
        // Numbers that a shader sets with `spirv_` qualifiers are not checked.
        Made::Module(words, environment) if !text.contains("spirv_") && judge::find("bin/spirv-val").is_some() => {
            let judged = match judge::spirv_val(words, environment, true) {
                // The stable judge does not know the floats for machine learning.
                Err(why) if why.contains("Invalid capability operand") => {
                    judge::newest_spirv_val(words, environment, true)
                }
                judged => judged,
            };
            judged.map_err(|why| format!("for {environment}: {why}"))
        }
        Made::Listing(text, name) => {
            let profile = machine(name);
            assembler::build(text, &profile.processor, profile.wave_size.unwrap_or(32))
                .map_err(|why| format!("for {name}: {why}"))
        }
        _ => Ok(()),
    }
}

/// Shows the mutant; with `CROSSLANE_FUZZ_KEEP` it is saved in that folder and the run continues.
fn fail<T: Default>(text: &str, problem: &str) -> T {
    let Some(folder) = std::env::var_os("CROSSLANE_FUZZ_KEEP") else { panic!("{problem}\n----\n{text}\n----") };
    let name = problem.bytes().fold(5381u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(byte));
    let kept = format!("/* {problem} */\n{text}");
    fs::write(Path::new(&folder).join(format!("{name:08x}.txt")), kept).expect("the folder can be written");
    T::default()
}
