//! The identity of files: the file that a path leads to, and changes since it was read.

use serde::{Deserialize, Serialize};
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(unix)]
type Key = (u64, u64);
#[cfg(not(unix))]
type Key = std::path::PathBuf;

/// Identifies a file, independent of the path, symbolic link or hard link that leads to it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity(Key);

impl Identity {
    /// The identity of the file at a path, or `None` if there is no file.
    pub fn of(path: &Path) -> Option<Identity> {
        #[cfg(unix)]
        return fs::metadata(path).ok().map(|meta| Identity::of_meta(&meta));
        #[cfg(not(unix))]
        return fs::canonicalize(path).ok().map(Identity);
    }

    #[cfg(unix)]
    pub fn of_meta(meta: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        Identity((meta.dev(), meta.ino()))
    }
}

/// The file system's metadata of a file. It differs after every change of the contents, except for changes within one
/// tick of the file system's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Stamp {
    pub bytes: u64,
    /// Nanoseconds since 1970, like all times here. Any program can set it.
    modified: u64,
    /// When contents or metadata last changed (POSIX `st_ctime`), which no program can set; 0 if the system does not
    /// record it.
    changed: u64,
    /// The inode, which changes when a file is replaced; 0 if the system has none.
    inode: u64,
}

impl Stamp {
    /// The stamp of the file at a path, or `None` if there is no file.
    pub fn of(path: &Path) -> Option<Stamp> {
        fs::metadata(path).ok().map(|meta| Stamp::of_meta(&meta))
    }

    #[cfg(unix)]
    pub fn of_meta(meta: &Metadata) -> Stamp {
        use std::os::unix::fs::MetadataExt;
        let changed = u64::try_from(meta.ctime()).unwrap_or(0) * 1_000_000_000 + meta.ctime_nsec() as u64;
        Stamp { bytes: meta.len(), modified: modified(meta), changed, inode: meta.ino() }
    }

    #[cfg(not(unix))]
    pub fn of_meta(meta: &Metadata) -> Stamp {
        Stamp { bytes: meta.len(), modified: modified(meta), changed: 0, inode: 0 }
    }

    /// Returns true if the file was last changed before `time`.
    pub fn is_before(&self, time: Stamp) -> bool {
        self.modified.max(self.changed) < time.modified.max(time.changed)
    }
}

fn modified(meta: &Metadata) -> u64 {
    let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).ok();
    meta.modified().ok().and_then(since).map_or(0, |since| since.as_nanos() as u64)
}
