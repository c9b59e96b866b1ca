//! Writes files whole or not at all, and not at all when they already hold the same bytes.

use std::fs;
use std::io;
use std::path::Path;

/// Whether a file had to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    New,
    /// It held these bytes already and is as it was, its time too.
    Same,
}

/// Writes a file by way of another beside it, so that nobody ever sees half of it.
///
/// # Errors
/// When the folder cannot be written or the disk is full; the old file is then as it was.
pub fn whole(path: &Path, bytes: &[u8]) -> io::Result<Written> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A name in the same directory: the rename stays on one file system.
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    through(path, bytes, &temporary)
}

/// The same by way of a file whose name the caller chooses, on the same file system.
///
/// # Errors
/// As [`whole`].
pub fn through(path: &Path, bytes: &[u8], temporary: &Path) -> io::Result<Written> {
    match fs::metadata(path) {
        Ok(meta) if !meta.is_file() => return fs::write(path, bytes).map(|()| Written::New),
        Ok(meta) if meta.len() == bytes.len() as u64 && fs::read(path)? == bytes => return Ok(Written::Same),
        _ => {}
    }
    let written = fs::write(temporary, bytes).and_then(|()| fs::rename(temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(temporary);
    }
    written.map(|()| Written::New)
}
