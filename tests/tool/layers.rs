//! The order of the crate's modules, and their use of the system: the compiler touches no file, environment, process or
//! clock; only the command line, the support for build scripts and the device modules may.

use std::fs;
use std::path::{Path, PathBuf};

/// Paths that request something from the system. `std::time::Duration` is only a number.
const SYSTEM: &[&str] =
    &["std::fs", "std::env", "std::process", "std::time::Instant", "std::time::SystemTime", "std::net"];

/// The modules below `src` that may use them. The module judge exists only in builds with debug assertions.
const ALLOWED: &[&str] = &["cli", "build", "main.rs", "backend/spirv/judged.rs"];

/// The crate's modules. Each uses only those before it.
const ORDER: &[&str] = &[
    "source",
    "symbols",
    "version",
    "diagnostic",
    "limits",
    "guard",
    "profile",
    "lane",
    "ir",
    "kernel",
    "sim",
    "grammar",
    "glsl",
    "wgsl",
    "warn",
    "backend",
    "spirv",
    "dictionary",
    "compile",
    "simulate",
    "explain",
    "editor",
    "run",
    "build",
    "cli",
];

/// Modules that must not use each other, although one of them comes first.
const STRANGERS: &[(&str, &str)] = &[
    ("glsl", "wgsl"),
    ("sim", "grammar"),
    ("sim", "glsl"),
    ("sim", "wgsl"),
    ("sim", "backend"),
    ("wgsl", "backend"),
    ("lane/planner/nv", "lane/planner/spirv"),
    ("lane/planner/amd", "lane/planner/spirv"),
    ("lane/planner/amd", "lane/planner/nv"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The code of all files below `src`, without comments and tests.
fn code() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 200, "the sources are where they are looked for");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        (path.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), code.join("\n"))
    };
    files.into_iter().map(read).collect()
}

/// The paths below `crate` that a file names, as folders and files.
fn used(code: &str) -> impl Iterator<Item = String> {
    let is_path = |c: char| c.is_alphanumeric() || "_:".contains(c);
    code.split("crate::")
        .skip(1)
        .map(move |rest| rest[..rest.find(|c| !is_path(c)).unwrap_or(rest.len())].replace("::", "/"))
}

/// Returns true if a path is a module or inside one.
fn is_in(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
}

/// The folders of back ends, which must not use each other: what several need is in a file next to them, or in the
/// reflection.
fn back_ends() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/backend");
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir());
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let all: Vec<String> = names.filter(|name| name != "reflection").map(|name| format!("backend/{name}")).collect();
    assert!(all.len() > 4, "{all:?}");
    all
}

fn layer(path: &str) -> Option<usize> {
    ORDER.iter().position(|module| is_in(path, module))
}

#[test]
fn modules_use_those_below_them() {
    let mut wrong = Vec::new();
    let back_ends = back_ends();
    // Random kernels run in the simulator; they belong to the tests.
    for (file, code) in code().into_iter().filter(|(file, _)| !is_in(file, "kernel/random")) {
        for other in used(&code) {
            assert!(!other.is_empty(), "{file}: write `use crate::module::…`, one line per module");
            let is_above = layer(&file).zip(layer(&other)).is_some_and(|(own, other)| other > own);
            let parts = |a, b| is_in(&file, a) && is_in(&other, b);
            let are_strangers = STRANGERS.iter().any(|(a, b)| parts(a, b) || parts(b, a));
            let mut back_ends = back_ends.iter().filter(|name| is_in(&other, name));
            let is_other_back_end = is_in(&file, "backend") && back_ends.any(|name| !is_in(&file, name));
            if is_above || are_strangers || is_other_back_end && file != "backend/mod.rs" {
                wrong.push(format!("{file} uses {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_module_has_its_place() {
    let root = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let modules = root.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
    for module in modules.map(|rest| rest.trim_end_matches(';')) {
        assert!(ORDER.contains(&module), "{module} has no place in the order");
    }
}

#[test]
fn the_compiler_asks_the_system_for_nothing() {
    for (file, code) in code() {
        if ALLOWED.iter().any(|allowed| is_in(&file, allowed)) {
            continue;
        }
        for word in SYSTEM {
            assert!(!code.contains(word), "{file} uses {word}");
        }
    }
}
