//! What a folder of outputs remembers from one run to the next: `.crosslane/state.json`, with what each output was made
//! from. A folder is locked while it is built. Everything that is being written lies in `.crosslane` until it is whole,
//! so that a run that is killed leaves nothing half-written outside, and the next one throws the rest away.

use super::super::CommandError;
use super::sources::Sources;
use crate::build::write::{Written, through};
use crate::version;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use xxhash_rust::xxh3::xxh3_128;

/// Name of the folder in every folder of outputs.
const FOLDER: &str = ".crosslane";

/// The file as it is written; another compiler's is worth nothing.
#[derive(Default, Serialize, Deserialize)]
struct Memory {
    compiler: String,
    outputs: BTreeMap<String, Entry>,
}

/// What an output was made from, and what it was when it was made.
#[derive(Serialize, Deserialize)]
pub struct Entry {
    /// Hash of everything but files: profile, macros, options.
    pub key: String,
    /// Every path that was read or looked for, the shader first.
    pub files: Vec<String>,
    /// Hash of what those held.
    pub digest: String,
    bytes: u64,
    /// Nanoseconds since 1970; a hint that saves reading the output.
    modified: u64,
    hash: String,
}

impl Entry {
    /// The entry of an output that was just written to `path`.
    pub fn new(key: String, files: Vec<String>, digest: u128, path: &Path, content: &[u8]) -> Entry {
        let modified = fs::metadata(path).map_or(0, |meta| modified(&meta));
        let (digest, hash) = (hex(digest), hex(xxh3_128(content)));
        Entry { key, files, digest, bytes: content.len() as u64, modified, hash }
    }

    /// Whether the output of this key would be made again as it is on the disk.
    pub fn is_current(&self, key: &str, path: &Path, sources: &Sources) -> bool {
        self.key == key
            && self.is_untouched(path)
            && self.digest == hex(sources.digest(self.files.iter().map(String::as_str)))
    }

    fn is_untouched(&self, path: &Path) -> bool {
        let Ok(meta) = fs::metadata(path) else { return false };
        meta.len() == self.bytes
            && (modified(&meta) == self.modified
                || fs::read(path).is_ok_and(|bytes| hex(xxh3_128(&bytes)) == self.hash))
    }
}

fn modified(meta: &fs::Metadata) -> u64 {
    let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// A hash as it is written.
pub fn hex(hash: u128) -> String {
    format!("{hash:032x}")
}

/// A folder of outputs, locked.
pub struct OutDir {
    path: PathBuf,
    memory: Memory,
    is_changed: bool,
    /// Unlocks when it is dropped.
    _lock: Option<File>,
}

impl OutDir {
    /// Locks a folder, which is made if it is not there; says so when it has to wait.
    ///
    /// # Errors
    /// When the folder cannot be made or its lock not be had.
    pub fn open(path: &Path) -> Result<OutDir, CommandError> {
        let folder = path.join(FOLDER);
        let cannot = |error: io::Error| CommandError(format!("cannot write the folder {}: {error}", path.display()));
        fs::create_dir_all(&folder).map_err(cannot)?;
        let lock = lock(&folder).map_err(cannot)?;
        throw_away_leftovers(&folder);
        let text = fs::read_to_string(folder.join("state.json")).unwrap_or_default();
        let memory: Memory = serde_json::from_str(&text).unwrap_or_default();
        let is_ours = memory.compiler == version::COMPILER;
        let memory = if is_ours { memory } else { Memory { compiler: version::COMPILER.into(), ..Memory::default() } };
        Ok(OutDir { path: path.to_path_buf(), memory, is_changed: false, _lock: lock })
    }

    /// What is known of an output.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.memory.outputs.get(name)
    }

    /// Writes an output whole; `number` is that of no other that is written at the same time.
    ///
    /// # Errors
    /// When it cannot be written; what was there before is as it was.
    pub fn write(&self, name: &str, bytes: &[u8], number: usize) -> io::Result<Written> {
        let path = self.path.join(name);
        match path.parent() {
            Some(folder) if name.contains('/') => fs::create_dir_all(folder)?,
            _ => {}
        }
        through(&path, bytes, &self.path.join(FOLDER).join(format!("{number}.tmp")))
    }

    /// Keeps what is now known of an output; none forgets it.
    pub fn remember(&mut self, name: &str, entry: Option<Entry>) {
        self.is_changed = true;
        match entry {
            Some(entry) => self.memory.outputs.insert(name.to_string(), entry),
            None => self.memory.outputs.remove(name),
        };
    }

    /// Writes what is remembered, if it changed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&mut self) -> Result<(), CommandError> {
        if !self.is_changed {
            return Ok(());
        }
        let path = self.path.join(FOLDER).join("state.json");
        let text = serde_json::to_string(&self.memory).expect("names and numbers always serialize");
        let temporary = path.with_extension("json.tmp");
        let written = through(&path, text.as_bytes(), &temporary).map(drop);
        written.map_err(|error| CommandError(format!("cannot write {}: {error}", path.display())))
    }
}

/// The lock of a folder; none on a file system that has no locks.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join("lock");
    let open = || File::options().read(true).write(true).create(true).truncate(false).open(&path);
    // A folder that cannot be written may still hold outputs that are all current.
    let file = open().or_else(|error| File::open(&path).map_err(|_| error))?;
    match file.try_lock() {
        Ok(()) => return Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    eprintln!("waiting for another build of {}", folder.parent().unwrap_or(folder).display());
    file.lock().map(|()| Some(file))
}

/// A run that was killed may have left files that it was writing. One that cannot be removed is written over later.
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
