//! The language and the stage that a shader's file name indicates.

use crate::compile::Language;
use crate::ir::Stage;
use std::path::{Path, PathBuf};

/// The language of an extension, and its stage if it implies one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    pub language: Language,
    pub stage: Option<Stage>,
}

/// The extensions that do not name a stage.
static EXTENSIONS: &[(&str, Kind)] = &[
    ("glsl", Kind { language: Language::Glsl, stage: None }),
    ("wgsl", Kind { language: Language::Wgsl, stage: None }),
];

fn of_extension(extension: &str) -> Option<Kind> {
    let known = EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, kind)| *kind);
    let stage = Stage::ALL.into_iter().find(|stage| stage.ending() == extension);
    known.or_else(|| stage.map(|stage| Kind { language: Language::Glsl, stage: Some(stage) }))
}

/// The kind of a path; `None` if its extension is not a shader's. Both `a.comp` and `a.comp.glsl` mean compute.
pub fn of(path: &Path) -> Option<Kind> {
    let find = |path: &Path| {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        of_extension(&extension)
    };
    let last = find(path)?;
    let inner = path.file_stem().map(Path::new).and_then(find);
    Some(inner.filter(|inner| last.stage.is_none() && inner.language == last.language).unwrap_or(last))
}

/// The stem of the names of a shader's outputs: `sub/a.comp` gives `sub/a`, `a.comp.glsl` gives `a`; `a.vert` keeps its
/// stage, so that it differs from `a.frag`. Uses `/` on every system.
pub fn stem(path: &Path) -> String {
    let text = path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
    let inner = [".glsl", ".wgsl"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(&text);
    inner.strip_suffix(".comp").unwrap_or(inner).to_string()
}

/// The path without the extensions for language and stage: a name that the stages of one program share.
pub fn program(shader: &Path) -> PathBuf {
    let mut name = shader.to_path_buf();
    while of(&name).is_some() {
        name.set_extension("");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_language_and_stage() {
        let of = |name: &str| of(Path::new(name)).map(|kind| (kind.language, kind.stage));
        assert_eq!(of("a.comp"), Some((Language::Glsl, Some(Stage::Compute))));
        assert_eq!(of("a.FRAG.glsl"), Some((Language::Glsl, Some(Stage::Fragment))));
        assert_eq!(of("a.wgsl"), Some((Language::Wgsl, None)));
        assert_eq!(of("a.txt"), None);
    }
}
