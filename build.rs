//! Turns the language tables in `grammar/` into `static` data for `src/grammar`.
//!
//! Reads every `grammar/*.toml`, checks each row, expands its patterns and writes `tables.rs` to the output directory;
//! beside it `hashes.rs`, which says what the program is made of, and `profiles.rs`, the list of profiles.
//! A bad row stops the build with the file, the row and the reason.

#[path = "build/emit.rs"]
mod emit;
#[path = "build/expand.rs"]
mod expand;
#[path = "build/hash.rs"]
mod hash;
#[path = "build/lane.rs"]
mod lane;
#[path = "build/opaque.rs"]
mod opaque;
#[path = "build/param.rs"]
mod param;
#[path = "build/profiles.rs"]
mod profiles;
#[path = "build/row.rs"]
mod row;
#[path = "build/shape.rs"]
mod shape;

use row::Table;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

fn main() {
    for input in ["grammar", "profiles", "src", "build", "build.rs", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={input}");
    }
    link_for_a_fixed_address();
    if let Err(reason) = generate(Path::new("grammar")) {
        println!("cargo::error={reason}");
        process::exit(1);
    }
}

/// The program's tables are full of references. Linked for a fixed address they need not be relocated when it starts, which
/// was a fifth of a short run.
fn link_for_a_fixed_address() {
    let is = |name, value| env::var(name).is_ok_and(|known| known == value);
    let dynamic = !env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|known| known.contains("crt-static"));
    let known = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if known && is("CARGO_CFG_TARGET_ARCH", "x86_64") && dynamic {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

fn generate(folder: &Path) -> Result<(), String> {
    let tables = table_paths(folder)?.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let text = emit::tables(&tables)?;
    write("tables.rs", &text)?;
    write("profiles.rs", &profiles::list(Path::new("profiles"))?)?;
    write("hashes.rs", &hash::constants()?)
}

fn write(name: &str, text: &str) -> Result<(), String> {
    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    let target = Path::new(&out).join(name);
    fs::write(&target, text).map_err(|e| format!("{}: {e}", target.display()))
}

/// The tables in the order of their names, so that the output does not depend on the file system.
fn table_paths(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Table, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}
