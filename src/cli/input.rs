//! Reading the shader, and what its name says about it.

use super::CommandError;
use super::args::{Lang, SourceArgs, StageName};
use crate::compile::Language;
use crate::ir::Stage;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Extensions, the language that they mean, and the stage where they mean one.
static EXTENSIONS: &[(&str, Language, Option<Stage>)] = &[
    ("comp", Language::Glsl, Some(Stage::Compute)),
    ("vert", Language::Glsl, Some(Stage::Vertex)),
    ("frag", Language::Glsl, Some(Stage::Fragment)),
    ("glsl", Language::Glsl, None),
    ("wgsl", Language::Wgsl, None),
];

/// A shader that has been read.
pub struct Shader {
    /// Name for messages.
    pub name: String,
    pub bytes: Vec<u8>,
    pub language: Language,
    pub stage: Stage,
}

/// # Errors
/// When the input cannot be read, or neither its name nor an option says what language it is.
pub fn read(args: &SourceArgs) -> Result<Shader, CommandError> {
    let path = &args.input;
    let hint = by_extension(path);
    let language = match (args.lang, hint) {
        (Some(Lang::Glsl), _) => Language::Glsl,
        (Some(Lang::Wgsl), _) => Language::Wgsl,
        (None, Some((_, language, _))) => *language,
        (None, None) => {
            return Err(CommandError(format!("{}: which language? Say --lang glsl or --lang wgsl", path.display())));
        }
    };
    let stage = args.stage.map(stage).or(hint.and_then(|(_, _, stage)| *stage)).unwrap_or(Stage::Compute);
    let bytes = bytes(path).map_err(|error| CommandError(format!("cannot read {}: {error}", path.display())))?;
    let name = if is_stdin(path) { "<stdin>".to_string() } else { path.display().to_string() };
    Ok(Shader { name, bytes, language, stage })
}

/// `a.comp` and `a.comp.glsl` alike say compute.
fn by_extension(path: &Path) -> Option<&'static (&'static str, Language, Option<Stage>)> {
    let find = |path: &Path| {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        EXTENSIONS.iter().find(|(known, _, _)| *known == extension)
    };
    let last = find(path)?;
    let inner = path.file_stem().map(Path::new).and_then(find);
    Some(inner.filter(|inner| last.2.is_none() && inner.1 == last.1).unwrap_or(last))
}

fn stage(name: StageName) -> Stage {
    match name {
        StageName::Compute => Stage::Compute,
        StageName::Vertex => Stage::Vertex,
        StageName::Fragment => Stage::Fragment,
    }
}

pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    if !is_stdin(path) {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_language_and_stage() {
        let of = |name: &str| by_extension(Path::new(name)).map(|(_, language, stage)| (*language, *stage));
        assert_eq!(of("a.comp"), Some((Language::Glsl, Some(Stage::Compute))));
        assert_eq!(of("a.FRAG.glsl"), Some((Language::Glsl, Some(Stage::Fragment))));
        assert_eq!(of("a.wgsl"), Some((Language::Wgsl, None)));
        assert_eq!(of("a.txt"), None);
    }
}
