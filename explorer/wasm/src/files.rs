//! The files of the page: the shader and what it may include.

use crate::question::File;
use crate::units::Units;
use crosslane::build::files::FileLoader;
use crosslane::source::{IncludeKind, LoadError, Loaded, Loader};
use std::path::PathBuf;

/// Files in memory, the shader first.
pub struct Files(Vec<Known>);

struct Known {
    file: File,
    units: Units,
}

impl Files {
    pub fn new(shader: File, others: Vec<File>) -> Files {
        let known = |file: File| Known { units: Units::new(&file.text), file };
        Files(std::iter::once(shader).chain(others).map(known).collect())
    }

    /// The shader.
    pub fn shader(&self) -> &File {
        &self.0[0].file
    }

    fn find(&self, name: &str) -> Option<&Known> {
        self.0.iter().find(|known| known.file.name == name)
    }

    /// The units of a file; none for texts that are the compiler's own.
    pub fn units(&self, name: &str) -> Option<&Units> {
        self.find(name).map(|known| &known.units)
    }

    pub fn text(&self, name: &str) -> &str {
        self.find(name).map_or("", |known| &known.file.text)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|known| known.file.name.as_str())
    }
}

impl Loader for Files {
    /// As the command finds files, with the root of the page's files as include directory.
    fn load(&self, name: &str, kind: IncludeKind, from: &str) -> Result<Loaded, LoadError> {
        let paths = FileLoader { directories: vec![PathBuf::new()], ..FileLoader::default() };
        let names: Vec<String> = paths.candidates(name, kind, from).map(|path| path.display().to_string()).collect();
        let found = names.iter().find_map(|name| self.find(name));
        let loaded = found.map(|Known { file, .. }| Loaded { name: (*file.name).into(), text: (*file.text).into() });
        loaded.ok_or(LoadError::NotFound(names))
    }
}
