//! Files that shaders are made of, each read once for all jobs, with the hash of what it holds.

use super::watch::{Stamp, Stamps, stamp};
use crate::build::files::{FileLoader, normal};
use crate::source::{IncludeKind, LoadError, Loaded, Loader};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// What a path holds.
pub enum Content {
    Text(Arc<str>),
    /// Not UTF-8.
    Bytes(Vec<u8>),
    Missing,
    /// There, and not readable.
    Unreadable(String),
}

/// A file that was looked for.
pub struct Source {
    pub content: Content,
    hash: u128,
    /// As it was before it was read.
    stamp: Stamp,
}

impl Source {
    fn read(path: &Path) -> Source {
        let stamp = stamp(path);
        let content = match fs::read(path).map(String::from_utf8) {
            Ok(Ok(text)) => Content::Text(text.into()),
            Ok(Err(error)) => Content::Bytes(error.into_bytes()),
            Err(error) if is_missing(&error) => Content::Missing,
            Err(error) => Content::Unreadable(format!("cannot read {}: {error}", path.display())),
        };
        let hash = match &content {
            Content::Text(text) => xxh3_128(text.as_bytes()),
            Content::Bytes(bytes) => xxh3_128(bytes),
            Content::Missing | Content::Unreadable(_) => 0,
        };
        Source { content, hash, stamp }
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory)
}

/// All files of one run.
#[derive(Default)]
pub struct Sources {
    files: RwLock<FxHashMap<PathBuf, Arc<Source>>>,
}

impl Sources {
    /// What a path holds; read when it is first asked for.
    pub fn get(&self, path: &Path) -> Arc<Source> {
        // A thread that panics holds no half-made entry, so that the map is whole even then.
        let known = self.files.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(path).cloned();
        known.unwrap_or_else(|| {
            let read = Arc::new(Source::read(path));
            let mut files = self.files.write().unwrap_or_else(|poisoned| poisoned.into_inner());
            files.entry(path.to_path_buf()).or_insert(read).clone()
        })
    }

    /// Adds the stamps of all files that were asked for.
    pub fn add_stamps(&self, stamps: &mut Stamps) {
        let files = self.files.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        stamps.extend(files.iter().map(|(path, source)| (path.clone(), source.stamp)));
    }

    /// Hash of the names and contents of some files, those that are not there too.
    pub fn digest<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> u128 {
        let mut hash = Xxh3::new();
        for path in paths {
            let source = self.get(Path::new(path));
            hash.update(path.as_bytes());
            hash.update(&[0, u8::from(matches!(source.content, Content::Missing))]);
            hash.update(&source.hash.to_le_bytes());
        }
        hash.digest128()
    }
}

/// Finds the includes of one job, inside the tree that it may read, and notes every path that was tried.
pub struct TreeLoader<'a> {
    pub sources: &'a Sources,
    pub files: &'a FileLoader,
    /// Folders that an include may lie in; absolute.
    pub roots: &'a [PathBuf],
    pub tried: RefCell<Vec<String>>,
    /// An include led out of the tree, or could not be read.
    pub is_at_fault: Cell<bool>,
}

impl Loader for TreeLoader<'_> {
    fn load(&self, name: &str, kind: IncludeKind, from: &str) -> Result<Loaded, LoadError> {
        let mut missing = Vec::new();
        for path in self.files.candidates(name, kind, from) {
            self.check_inside(&path)?;
            self.tried.borrow_mut().push(path.display().to_string());
            match &self.sources.get(&path).content {
                Content::Text(text) => {
                    return Ok(Loaded { name: path.display().to_string().into(), text: text.clone() });
                }
                Content::Missing => missing.push(path.display().to_string()),
                Content::Bytes(_) => return Err(self.fault(format!("{} is not UTF-8", path.display()))),
                Content::Unreadable(why) => return Err(self.fault(why.clone())),
            }
        }
        Err(LoadError::NotFound(missing))
    }
}

impl TreeLoader<'_> {
    fn check_inside(&self, path: &Path) -> Result<(), LoadError> {
        let whole = std::path::absolute(path).map(|path| normal(&path)).unwrap_or_else(|_| path.to_path_buf());
        if self.roots.iter().any(|root| whole.starts_with(root)) {
            return Ok(());
        }
        let advice = "outside the manifest's folder; name its folder in `include-dirs` to allow it";
        Err(self.fault(format!("{} lies {advice}", path.display())))
    }

    fn fault(&self, why: String) -> LoadError {
        self.is_at_fault.set(true);
        LoadError::Unreadable(why)
    }
}
