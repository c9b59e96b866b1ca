//! The state of a folder of outputs between runs: `.crosslane/state.json`, with the inputs of each output. A folder is
//! locked while it is built. Files are written in `.crosslane` and moved when complete, so a run that is killed leaves
//! no partial file outside, and the next run removes the rest.

use super::super::CommandError;
use super::super::messages;
use super::sources::Sources;
use crate::build::claims::Claims;
use crate::build::identity::{Identity, Stamp};
use crate::build::read;
use crate::build::write::{Written, through};
use crate::source::SOURCE_LIMIT;
use crate::version;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// Name of the folder in every folder of outputs.
const FOLDER: &str = ".crosslane";

/// The file's contents. The state of another version of the compiler is discarded.
#[derive(Default, Serialize, Deserialize)]
struct Memory {
    compiler: String,
    outputs: BTreeMap<String, Entry>,
}

/// The inputs of an output, and its content when it was made.
#[derive(Serialize, Deserialize)]
pub struct Entry {
    /// Hash of everything but files: profile, macros, options.
    pub key: String,
    /// Every path that was read or searched for, the shader first.
    pub files: Vec<String>,
    /// Hash of their contents.
    pub digest: String,
    /// A hint that saves reading the output.
    stamp: Stamp,
    hash: String,
}

impl Entry {
    /// The entry of an output that was just written to `path`.
    pub fn new(key: String, files: Vec<String>, digest: u128, path: &Path, content: &[u8]) -> Entry {
        let stamp = Stamp::of(path).unwrap_or_default();
        let (digest, hash) = (hex(digest), hex(xxh3_128(content)));
        Entry { key, files, digest, stamp, hash }
    }

    /// Returns true if making the output of this key again would give the file on disk.
    pub fn is_current(&self, key: &str, path: &Path, sources: &Sources, saved: Option<Stamp>) -> bool {
        self.key == key
            && self.is_untouched(path, saved)
            && self.digest == hex(sources.digest(self.files.iter().map(String::as_str)))
    }

    /// A file with an equal stamp is unchanged, unless it changed within the clock tick in which it was written. So an
    /// entry that was not saved after that tick proves nothing.
    fn is_untouched(&self, path: &Path, saved: Option<Stamp>) -> bool {
        let Some(stamp) = Stamp::of(path) else { return false };
        let is_known = stamp == self.stamp && saved.is_some_and(|saved| stamp.is_before(saved));
        let is_same = || read::bytes(path, stamp.bytes).is_ok_and(|bytes| hex(xxh3_128(&bytes)) == self.hash);
        stamp.bytes == self.stamp.bytes && (is_known || is_same())
    }
}

/// The text of a hash.
pub fn hex(hash: u128) -> String {
    format!("{hash:032x}")
}

/// Makes and locks folders of outputs.
///
/// # Errors
/// Returns an error if a folder cannot be created or locked, or two are the same through a link.
pub fn open(paths: &[PathBuf], claims: &Claims) -> Result<Vec<OutDir>, CommandError> {
    let mut known: Vec<(Identity, &Path)> = Vec::new();
    for path in paths {
        fs::create_dir_all(path.join(FOLDER)).map_err(|error| cannot_write(path, &error))?;
        let Some(identity) = Identity::of(&path.join(FOLDER)) else { continue };
        if let Some((_, other)) = known.iter().find(|(known, _)| *known == identity) {
            let (path, other) = (path.display(), other.display());
            return Err(CommandError(format!("the out-dirs {other} and {path} are one folder; call it by one name")));
        }
        known.push((identity, path));
    }
    paths.iter().map(|path| OutDir::open(path, claims)).collect()
}

fn cannot_write(folder: &Path, error: &io::Error) -> CommandError {
    CommandError(format!("cannot write the folder {}: {error}", folder.display()))
}

/// A folder of outputs, locked.
pub struct OutDir {
    path: PathBuf,
    memory: Memory,
    /// The stamp of the file that it was read from.
    saved: Option<Stamp>,
    is_changed: bool,
    claims: Claims,
    /// Unlocks when it is dropped.
    _lock: Option<File>,
}

impl OutDir {
    /// Locks a folder, with a message if it has to wait.
    fn open(path: &Path, claims: &Claims) -> Result<OutDir, CommandError> {
        let folder = path.join(FOLDER);
        let cannot = |error: io::Error| cannot_write(path, &error);
        let lock = lock(&folder).map_err(cannot)?;
        throw_away_leftovers(&folder);
        let file = folder.join("state.json");
        let saved = Stamp::of(&file);
        let text = read::text(&file, SOURCE_LIMIT).unwrap_or_default();
        let memory: Memory = serde_json::from_str(&text).unwrap_or_default();
        let is_ours = memory.compiler == version::COMPILER;
        let memory = if is_ours { memory } else { Memory { compiler: version::COMPILER.into(), ..Memory::default() } };
        Ok(OutDir { path: path.to_path_buf(), memory, saved, is_changed: false, claims: claims.clone(), _lock: lock })
    }

    /// When the state was saved.
    pub fn saved(&self) -> Option<Stamp> {
        self.saved
    }

    /// The entry of an output.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.memory.outputs.get(name)
    }

    /// Writes an output atomically; `number` is unique among concurrent writes.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written. The previous contents are unchanged then.
    pub fn write(&self, name: &str, bytes: &[u8], number: usize) -> io::Result<Written> {
        let path = self.path.join(name);
        match path.parent() {
            Some(folder) if name.contains('/') => fs::create_dir_all(folder)?,
            _ => {}
        }
        through(&path, bytes, &self.path.join(FOLDER).join(format!("{number}.tmp")), &self.claims)
    }

    /// Stores the state of an output; `None` removes it.
    pub fn remember(&mut self, name: &str, entry: Option<Entry>) {
        self.is_changed = true;
        match entry {
            Some(entry) => self.memory.outputs.insert(name.to_string(), entry),
            None => self.memory.outputs.remove(name),
        };
    }

    /// Writes the state, if it changed.
    ///
    /// # Errors
    /// Returns an error if the state cannot be written.
    pub fn save(&mut self) -> Result<(), CommandError> {
        if !self.is_changed {
            return Ok(());
        }
        let path = self.path.join(FOLDER).join("state.json");
        let text = serde_json::to_string(&self.memory).expect("names and numbers always serialize");
        let temporary = path.with_extension("json.tmp");
        let written = through(&path, text.as_bytes(), &temporary, &self.claims).map(drop);
        written.map_err(|error| CommandError(format!("cannot write {}: {error}", path.display())))
    }
}

/// The lock of a folder; `None` on a file system without locks.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join("lock");
    let open = || File::options().read(true).write(true).create(true).truncate(false).open(&path);
    // A read-only folder may still have outputs that are all current.
    let file = open().or_else(|error| File::open(&path).map_err(|_| error))?;
    match file.try_lock() {
        Ok(()) => return Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    messages::say(&format!("waiting for another build of {}", folder.parent().unwrap_or(folder).display()));
    file.lock().map(|()| Some(file))
}

/// A run that was killed may have left temporary files. A file that cannot be removed is overwritten later.
fn throw_away_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "tmp") {
            let _ = fs::remove_file(entry.path());
        }
    }
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        let _ = fs::write(ignore, "*\n");
    }
}
