//! The compiler under test, as its users call it.

use std::fs;

use crosslane::compile::{self, Artifact, EmitKind, Input, Options, Verdict};
use crosslane::diagnostic::render;
use crosslane::glsl::preprocess::MacroOption;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;

use super::fixture::{Fixture, Language};

/// A built-in profile, or the same with folds and scans in the fixed order.
pub fn profile(name: &str, reproducible: bool) -> Result<Profile, String> {
    let text = format!("name = \"{name}-test\"\ninherit = \"{name}\"\nreproducible = {reproducible}\n");
    Profile::from_toml(&text, "a test's profile").map_err(|e| e.to_string())
}

/// The module that a fixture becomes, or the compiler's messages.
pub fn spirv(
    fixture: &Fixture,
    language: Language,
    profile_name: &str,
    width: Option<usize>,
) -> Result<Vec<u32>, String> {
    match artifact(fixture, language, profile_name, width, EmitKind::Binary)? {
        Artifact::Spirv(words) => Ok(words),
        Artifact::Text(_) => Err("text came out where words were asked for".to_string()),
    }
}

/// The same as text.
pub fn assembly(
    fixture: &Fixture,
    language: Language,
    profile_name: &str,
    width: Option<usize>,
) -> Result<String, String> {
    match artifact(fixture, language, profile_name, width, EmitKind::Assembly)? {
        Artifact::Text(text) => Ok(text),
        Artifact::Spirv(_) => Err("words came out where text was asked for".to_string()),
    }
}

fn artifact(
    fixture: &Fixture,
    language: Language,
    profile_name: &str,
    width: Option<usize>,
    emit: EmitKind,
) -> Result<Artifact, String> {
    let path = fixture.path(language);
    let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let width = width.map(|w| MacroOption::Define { name: "WIDTH".to_string(), value: w.to_string() });
    let options = Options {
        macros: width.into_iter().collect(),
        emit,
        ..Options::new(profile(profile_name, fixture.reproducible)?)
    };
    let language = match language {
        Language::Glsl => compile::Language::Glsl,
        Language::Wgsl => compile::Language::Wgsl,
    };
    let done = compile::compile(&Input { name: &name, bytes: &bytes, language }, &options, &NoIncludes);
    match done.verdict {
        Verdict::Done(artifact) => Ok(artifact),
        Verdict::ShaderWrong | Verdict::ProfileLacks => Err(render::human(&done.sources, &done.diagnostics)),
    }
}
