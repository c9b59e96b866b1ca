//! Every shader of the fixtures as GLSL of each version of OpenGL and OpenGL ES: glslang takes the text, or the shader is refused as
//! the language's lack.

use std::path::Path;

use crosslane::compile::{Input, Language, Options};
use crosslane::source::NoIncludes;
use support::trial::{Trial, judged};
use support::{by_text, fixture, judge};

/// The profiles, and how many shaders each of them can say at least.
const PROFILES: [(&str, usize); 11] = [
    ("glsl-330", 60),
    ("glsl-400", 60),
    ("glsl-410", 60),
    ("glsl-420", 150),
    ("glsl-430", 200),
    ("glsl-440", 200),
    ("glsl-450-opengl", 250),
    ("glsl-460-opengl", 250),
    ("glsl-es-300", 40),
    ("glsl-es-310", 150),
    ("glsl-es-320-khr", 200),
];

const FOLDERS: [&str; 4] = ["core", "graphics", "graphics/primitives", "stages"];

/// What glslang refuses though the language has it.
const UNKNOWN_TO_GLSLANG: [&str; 11] = [
    "extension not supported: GL_EXT_clip_cull_distance",
    "extension not supported: GL_ARB_cull_distance",
    "extension not supported: GL_ARB_conservative_depth",
    "extension not supported: GL_ARB_arrays_of_arrays",
    "extension not supported: GL_ARB_fragment_layer_viewport",
    "extension not supported: GL_ARB_texture_query_levels",
    "extension not supported: GL_NV_shader_thread_group",
    // Of GL_ARB_cull_distance.
    "'gl_PerVertex' : block redeclaration has extra members",
    // GL_ARB_shader_draw_parameters is for all versions from 140 on.
    "'gl_Base",
    "'gl_DrawIDARB' : undeclared identifier",
    // A component of a vector is no element of an array.
    "variable indexing fragment shader output array",
];

pub fn trials() -> impl Iterator<Item = Trial> {
    let trial = |(profile, least)| {
        judged(format!("opengl::{profile}"), &["bin/glslangValidator"], move || check(profile, least))
    };
    PROFILES.into_iter().map(trial)
}

fn check(profile: &str, least: usize) -> Result<(), String> {
    let (mut written, mut wrong) = (0, Vec::new());
    for path in FOLDERS.iter().flat_map(|folder| fixture::files(&format!("fixtures/{folder}"))) {
        match taken(&path, profile) {
            Ok(is_written) => written += usize::from(is_written),
            Err(why) => wrong.push(format!("{}: {why}", path.display())),
        }
    }
    match wrong.as_slice() {
        [] if written >= least => Ok(()),
        [] => Err(format!("{written} are written")),
        _ => Err(wrong.join("\n")),
    }
}

/// Returns true if a shader is written, and an error if glslang does not take the text.
fn taken(path: &Path, profile: &str) -> Result<bool, String> {
    let Some(stage) = super::stages::stage(path) else { return Ok(false) };
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let input = Input { name: "shader", bytes: source.as_bytes(), language: Language::Glsl };
    let options = Options { stage: Some(stage), ..Options::new(by_text::named(profile)?) };
    let Ok(text) = by_text::text(&input, &options, &NoIncludes)? else { return Ok(false) };
    match judge::glslang_takes(&text, stage.ending()) {
        Err(said) if !UNKNOWN_TO_GLSLANG.iter().any(|known| said.contains(known)) => Err(format!("{said}\n{text}")),
        _ => Ok(true),
    }
}
