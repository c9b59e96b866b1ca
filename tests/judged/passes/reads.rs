//! Printed kernels read back: every kernel among the fixtures, for profiles of each kind, and before all passes. With
//! `CROSSLANE_MATRIX=all` every profile is tried.

use crosslane::compile::{Artifact, EmitKind, Input, Language, Options, Verdict, compile};
use crosslane::glsl::preprocess::MacroOption;
use crosslane::ir::Stage;
use crosslane::kernel::print::print;
use crosslane::kernel::trace::Moment;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use std::fs;
use std::path::{Path, PathBuf};
use support::fixture;
use support::kernel::read;
use support::trial::{Trial, trial};

const FOLDERS: [&str; 8] = [
    "fixtures/glsl",
    "fixtures/wgsl",
    "fixtures/core",
    "fixtures/language",
    "fixtures/graphics",
    "fixtures/scenes",
    "fixtures/stages",
    "fixtures/explain",
];

/// A profile for each kind of plan, and the kernel as lowered from the module.
const TRIED: [(&str, EmitKind); 7] = [
    ("spirv-1.6", EmitKind::KernelAt(Moment::After("lower", None))),
    ("spirv-1.3", EmitKind::Kernel),
    ("nv-fermi", EmitKind::Kernel),
    ("nv-hopper", EmitKind::Kernel),
    ("gfx600", EmitKind::Kernel),
    ("gfx90a", EmitKind::Kernel),
    ("gfx1100", EmitKind::Kernel),
];

/// Minimum number of kernels.
const ENOUGH: usize = 150;

/// Texts that are not kernels, and the message about each.
const WRONG: [(&str, &str); 6] = [
    ("kernel main {", "line 1: `,` should come before `{`"),
    ("kernel main, workgroup 1 x 1 x 1 {\n    // nothing follows", "line 2: the text ends here"),
    ("kernel main, workgroup 1 x 1 x 1 {\n\n    %1: b32 = add.u32 %2, 1\n}", "line 3: unknown value `%2`"),
    ("kernel main, workgroup 1 x 1 x 1 {\n    %1: b32 = ad.u32 1, 1\n}", "line 2: unknown word `ad`"),
    ("kernel main, workgroup 1 x 1 x 1 {\n    exit @a\n}", "line 2: unknown construct `@a`"),
    ("kernel main, workgroup 1 x 1 x 1 {\n    return 0.5:b16\n}", "line 2: `0.5` is not a number of that type"),
];

pub fn trials() -> impl Iterator<Item = Trial> {
    let of_all = std::env::var("CROSSLANE_MATRIX").is_ok_and(|asked| asked == "all");
    let others = Profile::names().filter(|name| !TRIED.iter().any(|(tried, _)| tried == name));
    let others = others.filter(move |_| of_all).map(|name| (name, EmitKind::Kernel));
    let reads = |(profile, emit)| trial(format!("reads_back::{profile}"), move || all(profile, emit));
    let wrong = trial("wrong_texts_are_refused_with_their_line", wrong);
    TRIED.into_iter().chain(others).map(reads).chain([wrong])
}

fn wrong() -> Result<(), String> {
    for (text, expected) in WRONG {
        let said = read(text).err().map(|error| error.to_string());
        if said.as_deref() != Some(expected) {
            return Err(format!("{text}\n  {said:?}"));
        }
    }
    Ok(())
}

fn all(profile: &str, emit: EmitKind) -> Result<(), String> {
    let profile = Profile::named(profile).ok_or("no such profile")?;
    let files = FOLDERS.into_iter().flat_map(fixture::files);
    let mut count = 0;
    for file in files {
        let Some(text) = kernel(&file, &profile, emit) else { continue };
        count += 1;
        check(&text).map_err(|why| format!("{}: {why}", file.display()))?;
    }
    if count < ENOUGH { Err(format!("only {count} fixtures have a kernel")) } else { Ok(()) }
}

/// The text of a fixture's kernel; `None` if the profile refuses it.
fn kernel(file: &Path, profile: &Profile, emit: EmitKind) -> Option<String> {
    let ending = file.extension()?.to_str()?;
    let stage = match ending {
        "vert" => Some(Stage::Vertex),
        "frag" => Some(Stage::Fragment),
        "comp" => Some(Stage::Compute),
        "wgsl" => None,
        _ => return None,
    };
    let language = if ending == "wgsl" { Language::Wgsl } else { Language::Glsl };
    let bytes = fs::read(file).ok()?;
    let name = PathBuf::from(file.file_name()?).display().to_string();
    let width = MacroOption::Define { name: "WIDTH".to_owned(), value: "8".to_owned() };
    let options = Options { stage, emit, macros: vec![width], ..Options::new(profile.clone()) };
    let made = compile(&Input { name: &name, bytes: &bytes, language }, &options, &NoIncludes);
    match made.verdict {
        Verdict::Done(Artifact::Text(text)) => Some(text),
        _ => None,
    }
}

/// Compares a text with the printed form of the kernel that it describes; only the printer writes comments.
fn check(text: &str) -> Result<(), String> {
    let code = |line: &str| line.split_once("//").map_or(line, |(code, _)| code).trim_end().to_owned();
    let kernel = read(text).map_err(|why| format!("{why}\n{text}"))?;
    let printed = print(&kernel, None);
    let expected = text.lines().map(code).filter(|line| !line.is_empty());
    match expected.zip(printed.lines().chain(["(the end)"])).find(|(one, other)| one != other) {
        Some((expected, printed)) => Err(format!("  printed: {expected}\n  again:   {printed}")),
        None => Ok(()),
    }
}
