//! Hashes of the text that the program is built from: printed by `--version`, and used to tell compilers apart.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// The constants of `src/version.rs`.
pub fn constants() -> Result<String, String> {
    let (tables, profiles) = (hash(&["grammar"])?, hash(&["profiles"])?);
    let compiler = hash(&["src", "grammar", "profiles", "build", "build.rs", "Cargo.toml"])?;
    let version = env::var("CARGO_PKG_VERSION").map_err(|e| e.to_string())?;
    let text = format!("{version}\nlanguage tables {tables}\nprofiles {profiles}\ncompiler {compiler}");
    Ok(format!(
        "/// The tables of the languages.\npub const TABLES: &str = {tables:?};\n\
         /// The built-in profiles.\npub const PROFILES: &str = {profiles:?};\n\
         /// Everything that the compiler is made of: another compiler has another.\npub const COMPILER: &str = {compiler:?};\n\
         /// The version and the hashes for people, a line each.\npub const TEXT: &str = {text:?};\n",
    ))
}

/// Names and contents of all files in the given folders, recursively and in name order.
fn hash(roots: &[&str]) -> Result<String, String> {
    let mut hash = Xxh3::new();
    for root in roots {
        let mut files = Vec::new();
        collect(Path::new(root), &mut files)?;
        files.sort();
        for file in files {
            let bytes = fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let name = file.to_string_lossy().replace('\\', "/");
            hash.update(format!("{name}\0{}\0", bytes.len()).as_bytes());
            hash.update(&bytes);
        }
    }
    Ok(format!("{:016x}", hash.digest()))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let entries = fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))?;
    entries.flatten().try_for_each(|entry| collect(&entry.path(), files))
}
