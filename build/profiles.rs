//! Lists the files in `profiles/` for `src/profile`: a profile follows the one it inherits from, so that within a
//! vendor and family the oldest comes first.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The targets in the order of their profiles.
const TARGETS: [&str; 8] = ["spirv", "nv", "amd", "wgsl", "ptx", "glsl", "hlsl", "msl"];

#[derive(serde::Deserialize)]
struct File {
    inherit: Option<String>,
    target: Option<String>,
}

/// The list as Rust: name and text of each profile.
pub fn list(folder: &Path) -> Result<String, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).ok_or("a file's name is not UTF-8")?.to_owned();
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let file: File = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        files.insert(key(&stem), (stem, file, path));
    }
    let mut order = Vec::new();
    for target in TARGETS {
        let roots = files.values().filter(|(_, file, _)| file.target.as_deref() == Some(target));
        roots.for_each(|(name, ..)| add(name, &files, &mut order));
    }
    if order.len() != files.len() {
        return Err(format!(
            "{} of {} profiles inherit from none that says its target",
            files.len() - order.len(),
            files.len()
        ));
    }
    let mut text = "&[\n".to_owned();
    for name in order {
        let path = files[&key(name)].2.canonicalize().map_err(|e| e.to_string())?;
        text += &format!("    Builtin {{ name: {name:?}, text: include_str!({path:?}) }},\n");
    }
    Ok(text + "]\n")
}

type Files = BTreeMap<Vec<(u64, String)>, (String, File, std::path::PathBuf)>;

/// Adds a profile and those that inherit from it.
fn add<'f>(name: &'f str, files: &'f Files, order: &mut Vec<&'f str>) {
    order.push(name);
    let heirs = files.values().filter(|(_, file, _)| file.inherit.as_deref() == Some(name));
    heirs.for_each(|(heir, ..)| add(heir, files, order));
}

/// A name split into parts, so that numbers compare numerically: gfx600 comes before gfx1010.
fn key(name: &str) -> Vec<(u64, String)> {
    let words = name.split_inclusive(|c: char| !c.is_ascii_digit());
    words
        .map(|word| {
            let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
            (digits.parse().unwrap_or(0), word[digits.len()..].to_owned())
        })
        .collect()
}
