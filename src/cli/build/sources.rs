//! Source files, each read once for all jobs, with the hash of its contents.

use super::watch::Stamps;
use crate::build::claims::Claims;
use crate::build::files::{FileLoader, missing, normal, not_utf8};
use crate::build::identity::{Identity, Stamp};
use crate::build::read::SHADER_LIMIT;
use crate::source::{IncludeKind, LoadError, Loaded, Loader};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The content of a path.
pub enum Content {
    Text(Arc<str>),
    /// Not UTF-8.
    Bytes(Vec<u8>),
    Missing,
    /// The file exists but cannot be read.
    Unreadable(String),
}

/// A file that a build looked for, present or not.
pub struct Source {
    pub content: Content,
    hash: u128,
    /// Its state before it was read.
    stamp: Option<Stamp>,
}

impl Source {
    fn read(path: &Path, claims: &Claims) -> Source {
        let stamp = Stamp::of(path);
        let content = match claims.read(path, SHADER_LIMIT).map(String::from_utf8) {
            Ok(Ok(text)) => Content::Text(text.into()),
            Ok(Err(error)) => Content::Bytes(error.into_bytes()),
            Err(error) if missing(&error) => Content::Missing,
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

/// The folders that includes may come from.
pub struct Folders {
    /// Absolute, but not resolved.
    written: Vec<PathBuf>,
    /// Without links.
    resolved: Vec<PathBuf>,
    /// Outputs, which are not sources; existing outputs also by identity.
    outputs: FxHashSet<PathBuf>,
    old_outputs: FxHashSet<Identity>,
}

impl Folders {
    pub fn new<'a>(folders: impl Iterator<Item = &'a Path>, outputs: FxHashSet<PathBuf>) -> Folders {
        let old_outputs = outputs.iter().filter_map(|path| Identity::of(path)).collect();
        let mut written: Vec<PathBuf> = folders.map(whole).collect();
        written.sort();
        written.dedup();
        let resolved = written.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
        Folders { written, resolved, outputs, old_outputs }
    }

    fn has_output(&self, path: &Path) -> bool {
        let is_old = || Identity::of(path).is_some_and(|identity| self.old_outputs.contains(&identity));
        self.outputs.contains(path) || is_old()
    }

    /// Returns true if a path is in one of the folders, both as written and, if it exists, after resolving links.
    fn hold(&self, path: &Path) -> bool {
        let is_below = |folders: &[PathBuf], path: &Path| folders.iter().any(|folder| path.starts_with(folder));
        let resolved = fs::canonicalize(path).ok();
        is_below(&self.written, &whole(path)) && resolved.is_none_or(|path| is_below(&self.resolved, &path))
    }
}

/// A path from the root.
fn whole(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    std::path::absolute(path).map_or_else(|_| path.to_path_buf(), |path| normal(&path))
}

/// All files of one run.
pub struct Sources {
    claims: Claims,
    files: RwLock<FxHashMap<PathBuf, Arc<Source>>>,
}

impl Sources {
    pub fn new(claims: &Claims) -> Sources {
        Sources { claims: claims.clone(), files: RwLock::default() }
    }

    /// Reads the content of a path on first use.
    pub fn get(&self, path: &Path) -> Arc<Source> {
        // A thread that panics leaves no partial entry, so the map is valid even then.
        let known = self.files.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(path).cloned();
        known.unwrap_or_else(|| {
            let read = Arc::new(Source::read(path, &self.claims));
            let mut files = self.files.write().unwrap_or_else(|poisoned| poisoned.into_inner());
            files.entry(path.to_path_buf()).or_insert(read).clone()
        })
    }

    /// Adds the stamps of all files requested.
    pub fn add_stamps(&self, stamps: &mut Stamps) {
        let files = self.files.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        stamps.extend(files.iter().map(|(path, source)| (path.clone(), source.stamp)));
    }

    /// Hash of the names and contents of some files, missing files included.
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

/// Finds the includes of one job, within the tree that it may read, and records every path that it tries.
pub struct TreeLoader<'a> {
    pub sources: &'a Sources,
    pub files: &'a FileLoader,
    pub tree: &'a Folders,
    pub tried: RefCell<Vec<String>>,
    /// An include led out of the tree, or could not be read.
    pub is_at_fault: Cell<bool>,
}

impl Loader for TreeLoader<'_> {
    fn load(&self, name: &str, kind: IncludeKind, from: &str) -> Result<Loaded, LoadError> {
        let mut missing = Vec::new();
        for path in self.files.candidates(name, kind, from) {
            self.check_allowed(&path)?;
            self.tried.borrow_mut().push(path.display().to_string());
            match &self.sources.get(&path).content {
                Content::Text(text) => {
                    return Ok(Loaded { name: path.display().to_string().into(), text: text.clone() });
                }
                Content::Missing => missing.push(path.display().to_string()),
                Content::Bytes(bytes) => {
                    let text = String::from_utf8_lossy(bytes).into();
                    return Ok(Loaded { name: path.display().to_string().into(), text });
                }
                Content::Unreadable(why) => return Err(self.fault(why.clone())),
            }
        }
        Err(LoadError::NotFound(missing))
    }
}

impl TreeLoader<'_> {
    fn check_allowed(&self, path: &Path) -> Result<(), LoadError> {
        if path.to_str().is_none() {
            return Err(self.fault(not_utf8(path)));
        }
        if !self.tree.hold(path) {
            let advice = "outside the manifest's folder; name its folder in `include-dirs` to allow it";
            return Err(self.fault(format!("{} lies {advice}", path.display())));
        }
        if self.tree.has_output(path) {
            return Err(self.fault(format!("{} is an output of this build", path.display())));
        }
        Ok(())
    }

    fn fault(&self, why: String) -> LoadError {
        self.is_at_fault.set(true);
        LoadError::Unreadable(why)
    }
}
