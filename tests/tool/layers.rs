//! The compiler touches no file, environment, process or clock; only the command line, the help for build scripts and the
//! parts that talk to devices may.

use std::fs;
use std::path::{Path, PathBuf};

/// What asks the system for something. `std::time::Duration` is a number.
const SYSTEM: &[&str] =
    &["std::fs", "std::env", "std::process", "std::time::Instant", "std::time::SystemTime", "std::net"];

/// Where that is allowed, below `src`. Only builds with debug assertions have the judge of modules.
const ALLOWED: &[&str] = &["cli", "build", "main.rs", "compile/judged.rs"];

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

#[test]
fn the_compiler_asks_the_system_for_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 200, "the sources are where they are looked for");
    for path in files {
        let inner = path.strip_prefix(&root).unwrap();
        if ALLOWED.iter().any(|allowed| inner.starts_with(allowed)) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        // Tests at the end of a file may use what they like.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for word in SYSTEM {
            assert!(!code.contains(word), "{} uses {word}", path.display());
        }
    }
}
