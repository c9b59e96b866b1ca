//! The files below a folder. Each folder is visited once, regardless of links, so that cyclic links end.

use super::identity::Identity;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files and folders found. A folder that several paths lead to gets the path without links.
#[derive(Default, Debug)]
pub struct Tree {
    pub files: Vec<PathBuf>,
    /// Includes the folder where the walk began.
    pub folders: Vec<PathBuf>,
}

/// How far a walk goes.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Levels of folders to enter below the first; `None` for all.
    pub depth: Option<usize>,
    /// Enter folders whose names begin with a dot.
    pub hidden: bool,
    /// Folders that are visited at most.
    pub folders: usize,
    /// The names of folders that are not entered.
    pub without: &'static [&'static str],
}

impl Default for Reach {
    fn default() -> Reach {
        Reach { depth: None, hidden: false, folders: usize::MAX, without: &[] }
    }
}

/// Everything below a folder, sorted by name within each folder.
///
/// # Errors
/// Returns an error if a folder cannot be read; the error contains its path.
pub fn below(root: &Path, reach: Reach) -> Result<Tree, (PathBuf, io::Error)> {
    walk(root, reach, |folder, error| Err((folder.to_path_buf(), error)))
}

/// Like [`below`], without the folders that cannot be read.
pub fn readable_below(root: &Path, reach: Reach) -> Tree {
    let Ok(tree) = walk(root, reach, |_, _| Ok::<(), Infallible>(()));
    tree
}

/// Walks below a folder; `failed` decides about folders that cannot be read.
fn walk<E>(root: &Path, reach: Reach, mut failed: impl FnMut(&Path, io::Error) -> Result<(), E>) -> Result<Tree, E> {
    let (mut tree, mut seen) = (Tree::default(), FxHashSet::default());
    let (mut own, mut links) = (VecDeque::from([(root.to_path_buf(), 0)]), VecDeque::new());
    while let Some((folder, depth)) = own.pop_front().or_else(|| links.pop_front()) {
        if tree.folders.len() >= reach.folders {
            break;
        }
        if Identity::of(here(&folder)).is_some_and(|identity| !seen.insert(identity)) {
            continue;
        }
        let found = entries(&folder).or_else(|error| failed(&folder, error).map(|()| Vec::new()))?;
        for entry in found {
            match entry.kind {
                Kind::File => tree.files.push(entry.path),
                _ if !reach.enters(&entry.path, depth) => {}
                Kind::Folder => own.push_back((entry.path, depth + 1)),
                Kind::Link => links.push_back((entry.path, depth + 1)),
            }
        }
        tree.folders.push(folder);
    }
    Ok(tree)
}

impl Reach {
    fn enters(self, folder: &Path, depth: usize) -> bool {
        let is_left_out = folder.file_name().is_some_and(|name| self.without.iter().any(|without| name == *without));
        self.depth.is_none_or(|most| depth < most) && (self.hidden || !is_hidden(folder)) && !is_left_out
    }
}

pub fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

enum Kind {
    File,
    Folder,
    /// To a folder.
    Link,
}

struct Entry {
    path: PathBuf,
    kind: Kind,
}

/// The entries of a folder, by name.
fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(here(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        let kind = match entry.file_type()? {
            kind if kind.is_dir() => Kind::Folder,
            kind if kind.is_symlink() && path.is_dir() => Kind::Link,
            _ => Kind::File,
        };
        found.push(Entry { path, kind });
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// A path for the system; the working directory's path may be empty here.
pub fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}
