//! Text from the file system: first next to the including file, then in the include directories in order.

use super::claims::Claims;
use super::read;
use crate::source::{IncludeKind, LoadError, Loaded, Loader};
use std::cell::RefCell;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Finds files by path: next to the including file, then in the include directories.
#[derive(Clone, Default, Debug)]
pub struct FileLoader {
    /// The include directories, the first first.
    pub directories: Vec<PathBuf>,
    /// Records every file that is read.
    pub claims: Claims,
}

impl Loader for FileLoader {
    fn load(&self, name: &str, kind: IncludeKind, from: &str) -> Result<Loaded, LoadError> {
        let mut tried = Vec::new();
        for path in self.candidates(name, kind, from) {
            match self.claims.read(&path, read::SHADER_LIMIT) {
                Ok(bytes) => return loaded(&path, &bytes),
                Err(error) if missing(&error) => tried.push(path.display().to_string()),
                Err(error) => return Err(LoadError::Unreadable(format!("cannot read {}: {error}", path.display()))),
            }
        }
        Err(LoadError::NotFound(tried))
    }
}

impl FileLoader {
    /// The paths that a name may mean, the first first.
    pub fn candidates<'a>(
        &'a self,
        name: &'a str,
        kind: IncludeKind,
        from: &str,
    ) -> impl Iterator<Item = PathBuf> + 'a {
        let beside =
            (kind == IncludeKind::Quoted).then(|| Path::new(from).parent().unwrap_or(Path::new("")).join(name));
        beside.into_iter().chain(self.directories.iter().map(move |dir| dir.join(name))).map(|path| normal(&path))
    }
}

/// Returns true if there is no file at a path; a folder does not count as one.
pub fn missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory)
}

/// A file is identified by its name, which therefore must be text. Its comments may contain any bytes; the preprocessor
/// reports invalid bytes elsewhere.
fn loaded(path: &Path, bytes: &[u8]) -> Result<Loaded, LoadError> {
    match path.to_str() {
        Some(name) => Ok(Loaded { name: name.into(), text: String::from_utf8_lossy(bytes).into() }),
        None => Err(LoadError::Unreadable(not_utf8(path))),
    }
}

/// The error for a name that is not UTF-8.
pub fn not_utf8(path: &Path) -> String {
    format!("the name {path:?} is not UTF-8")
}

/// An included file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Include {
    pub name: Arc<str>,
    /// The name in the directive.
    pub asked: String,
    pub kind: IncludeKind,
    /// The file with the directive.
    pub from: String,
}

/// Records the files that another loader finds.
pub struct Recorder<'a> {
    inner: &'a dyn Loader,
    found: RefCell<Vec<Include>>,
}

impl<'a> Recorder<'a> {
    pub fn new(inner: &'a dyn Loader) -> Recorder<'a> {
        Recorder { inner, found: RefCell::default() }
    }

    /// The names of the found files, in request order.
    pub fn into_found(self) -> Vec<Arc<str>> {
        self.into_includes().into_iter().map(|include| include.name).collect()
    }

    /// The includes, each with its including file.
    pub fn into_includes(self) -> Vec<Include> {
        self.found.into_inner()
    }
}

impl Loader for Recorder<'_> {
    fn load(&self, name: &str, kind: IncludeKind, from: &str) -> Result<Loaded, LoadError> {
        let loaded = self.inner.load(name, kind, from)?;
        let (asked, from) = (name.to_string(), from.to_string());
        self.found.borrow_mut().push(Include { name: loaded.name.clone(), asked, kind, from });
        Ok(loaded)
    }
}

/// The path without `.` and, as far as the text alone allows, without `..`: one file, one name.
pub fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::normal;
    use std::path::Path;

    #[test]
    fn one_file_has_one_name() {
        assert_eq!(normal(Path::new("./a/../b/c.glsl")), Path::new("b/c.glsl"));
        assert_eq!(normal(Path::new("../x")), Path::new("../x"));
    }
}
