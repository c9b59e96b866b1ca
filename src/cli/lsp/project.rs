//! The options that a shader has: from the `crosslane.toml` above it, otherwise from the editor's settings.

use super::documents::Documents;
use crate::build::claims::Claims;
use crate::build::files::{FileLoader, normal};
use crate::build::kind;
use crate::cli::build::manifest::{Build, Manifest};
use crate::cli::build::plan::{first_macros, targets};
use crate::cli::profiles;
use crate::compile::{Language, Options};
use crate::profile::Profile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of manifests.
pub const MANIFEST: &str = "crosslane.toml";

/// The default profile.
const USUAL: &str = "spirv-1.6";

/// Bytes of a file that is read without being open.
const CLOSED_LIMIT: u64 = 1 << 20;

/// A shader with its options.
pub struct Shader {
    pub name: String,
    pub text: Arc<str>,
    pub language: Language,
    /// One for each profile.
    pub options: Vec<Options>,
    pub directories: Vec<PathBuf>,
    pub is_header: bool,
}

/// A `[[build]]` of a manifest.
struct Part {
    globs: Vec<glob::Pattern>,
    /// Without the stage.
    options: Vec<Options>,
    directories: Vec<PathBuf>,
}

/// A manifest with the text that it was read from; no parts if it is invalid.
struct Known {
    text: Arc<str>,
    parts: Vec<Part>,
}

/// The manifests that were read.
#[derive(Default)]
pub struct Projects {
    known: BTreeMap<PathBuf, Known>,
    /// Profiles for shaders without a manifest.
    pub profiles: Vec<Profile>,
}

impl Projects {
    /// Uses the profiles with these names for shaders without a manifest, or the default profile if none of them
    /// exists.
    pub fn set_profiles<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let files = FileLoader::default();
        self.profiles = names.filter_map(|name| profiles::read(name, &files).ok()).collect();
        if self.profiles.is_empty() {
            self.profiles.extend(Profile::named(USUAL));
        }
    }

    /// Drops the cached manifests, because their profiles may have changed on disk.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// The shader of an open text; `None` for other texts.
    pub fn shader(&mut self, path: &Path, documents: &Documents) -> Option<Shader> {
        let document = documents.get(path)?;
        self.shader_of(path, document.text.clone(), &document.language, documents)
    }

    /// The shader that a file on disk is; none for files of another kind, and for large ones.
    pub fn closed_shader(&mut self, path: &Path, documents: &Documents) -> Option<Shader> {
        let is_small = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= CLOSED_LIMIT);
        let text = documents.text(path).filter(|_| is_small)?;
        self.shader_of(path, text, "", documents)
    }

    /// The shader that a text is; `language` is the editor's name of it.
    fn shader_of(&mut self, path: &Path, text: Arc<str>, language: &str, documents: &Documents) -> Option<Shader> {
        let kind = kind::of(path);
        let language = match (kind, language) {
            (Some(kind), _) => kind.language,
            (None, "glsl") => Language::Glsl,
            (None, "wgsl") => Language::Wgsl,
            _ => return None,
        };
        let stage = kind.and_then(|kind| kind.stage);
        let (mut options, directories) = self.options(path, documents);
        options.iter_mut().for_each(|options| options.stage = stage);
        if language == Language::Wgsl {
            options.iter_mut().for_each(|options| options.stage = None);
        }
        let is_header = stage.is_none() && !text.contains("main");
        let name = path.to_string_lossy().into_owned();
        Some(Shader { name, text, language, options, directories, is_header })
    }

    /// The options of the first `[[build]]` that names a shader; for files that none names, the options of the first.
    fn options(&mut self, path: &Path, documents: &Documents) -> (Vec<Options>, Vec<PathBuf>) {
        let own = || self.profiles.iter().cloned().map(Options::new).collect();
        let manifest = path.ancestors().skip(1).map(|folder| folder.join(MANIFEST));
        let found = manifest.filter_map(|path| Some((documents.text(&path)?, path))).next();
        let Some((text, manifest)) = found else { return (own(), Vec::new()) };
        if self.known.get(&manifest).is_none_or(|known| known.text != text) {
            let parts = parts(&manifest, &text);
            self.known.insert(manifest.clone(), Known { text, parts });
        }
        let parts = &self.known[&manifest].parts;
        let named = parts.iter().find(|part| part.globs.iter().any(|glob| glob.matches_path(path)));
        match named.or(parts.first()) {
            Some(part) => (part.options.clone(), part.directories.clone()),
            None => (self.profiles.iter().cloned().map(Options::new).collect(), Vec::new()),
        }
    }
}

/// The manifest above a file.
pub fn manifest_above(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).map(|folder| folder.join(MANIFEST)).find(|manifest| manifest.is_file())
}

fn parts(path: &Path, text: &str) -> Vec<Part> {
    let Ok(manifest) = Manifest::of(path, text.into()) else { return Vec::new() };
    manifest.builds.iter().filter_map(|build| part(&manifest, build)).collect()
}

fn part(manifest: &Manifest, build: &Build) -> Option<Part> {
    let claims = Claims::default();
    let targets = targets(manifest, build, &claims).ok()?;
    let macros = first_macros(manifest, build).ok()?;
    let settings = &build.options;
    let options = targets.into_iter().map(|target| Options {
        macros: macros.to_vec(),
        entry: settings.entry.clone(),
        bounds_checks: settings.bounds_checks,
        fp_contract: settings.fp_contract(),
        clip_space: settings.clip_space(),
        deny_warnings: settings.deny_warnings,
        no_warnings: settings.no_warnings,
        warnings: settings.warnings.clone(),
        ..Options::new(target.profile)
    });
    let glob = |name: &str| glob::Pattern::new(&normal(&manifest.folder().join(name)).to_string_lossy()).ok();
    Some(Part {
        globs: build.shaders.get_ref().iter().filter_map(|name| glob(name.get_ref())).collect(),
        options: options.collect(),
        directories: settings.include_dirs.iter().map(|dir| normal(&manifest.folder().join(dir))).collect(),
    })
}
