//! Every shader of the fixtures as GLSL ES: glslang takes the text, or the shader is refused as the language's lack.

use std::path::Path;

use crosslane::compile::{Input, Language, Options};
use crosslane::source::NoIncludes;
use support::trial::{Trial, judged};
use support::{by_text, fixture, judge};

const PROFILE: &str = "glsl-es-320-khr";

const FOLDERS: [&str; 3] = ["core", "graphics", "stages"];

/// What glslang refuses though the language has it.
const UNKNOWN_TO_GLSLANG: [&str; 2] = [
    "extension not supported: GL_EXT_clip_cull_distance",
    // A component of a vector is no element of an array.
    "variable indexing fragment shader output array",
];

pub fn trials() -> impl Iterator<Item = Trial> {
    let trial = |folder| judged(format!("es::{folder}"), &["bin/glslangValidator"], move || check(folder));
    FOLDERS.into_iter().map(trial)
}

fn check(folder: &str) -> Result<(), String> {
    let (mut written, mut wrong) = (0, Vec::new());
    for path in fixture::files(&format!("fixtures/{folder}")) {
        match taken(&path) {
            Ok(is_written) => written += usize::from(is_written),
            Err(why) => wrong.push(format!("{}: {why}", path.display())),
        }
    }
    match wrong.as_slice() {
        [] if written > 20 => Ok(()),
        [] => Err(format!("{written} are written")),
        _ => Err(wrong.join("\n")),
    }
}

/// Returns true if a shader is written, and an error if glslang does not take the text.
fn taken(path: &Path) -> Result<bool, String> {
    let Some(stage) = super::stages::stage(path) else { return Ok(false) };
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let input = Input { name: "shader", bytes: source.as_bytes(), language: Language::Glsl };
    let options = Options { stage: Some(stage), ..Options::new(by_text::named(PROFILE)?) };
    let Ok(text) = by_text::text(&input, &options, &NoIncludes)? else { return Ok(false) };
    match judge::glslang_takes(&text, stage.ending()) {
        Err(said) if !UNKNOWN_TO_GLSLANG.iter().any(|known| said.contains(known)) => Err(format!("{said}\n{text}")),
        _ => Ok(true),
    }
}
