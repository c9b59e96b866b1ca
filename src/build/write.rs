//! Writes files atomically, and only if the bytes differ. An input of the command is never overwritten.

use super::claims::Claims;
use super::read;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The outcome of writing a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    New,
    /// The file already had these bytes and was not touched, so its time is unchanged.
    Same,
}

/// Number of names to try for a temporary file.
const ATTEMPTS: u32 = 1000;

/// Writes a file through a temporary file next to it, so that no reader sees a partial file. A pipe or a device such as
/// `/dev/null` is written directly.
///
/// # Errors
/// Returns an error if the file is claimed, the folder cannot be written, or the disk is full; the old file is then
/// unchanged.
pub fn whole(path: &Path, bytes: &[u8], claims: &Claims) -> io::Result<Written> {
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return fs::write(path, bytes).map(|()| Written::New);
    }
    if is_same(path, bytes, claims)? {
        return Ok(Written::Same);
    }
    let (temporary, file) = create_beside(path)?;
    finish(file, path, bytes, &temporary)
}

/// Writes through a temporary file that the caller names, on the same file system. Only a regular file is replaced.
///
/// # Errors
/// Like [`whole`]. Also returns an error if the path is not a regular file.
pub fn through(path: &Path, bytes: &[u8], temporary: &Path, claims: &Claims) -> io::Result<Written> {
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if is_same(path, bytes, claims)? {
        return Ok(Written::Same);
    }
    finish(File::create(temporary)?, path, bytes, temporary)
}

/// Returns true if a file, which is claimed for writing, already has these bytes.
fn is_same(path: &Path, bytes: &[u8], claims: &Claims) -> io::Result<bool> {
    claims.add_output(path)?;
    let is_as_long = fs::metadata(path).is_ok_and(|meta| meta.len() == bytes.len() as u64);
    Ok(is_as_long && read::bytes(path, bytes.len() as u64).is_ok_and(|old| old == bytes))
}

/// A new file in the same folder as another, so that the rename stays on one file system. Its name is short, because
/// the other's may already have the maximum length.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut last = None;
    for n in 0..ATTEMPTS {
        let temporary = path.with_file_name(format!(".crosslane-{}-{n}.tmp", std::process::id()));
        match File::options().write(true).create_new(true).open(&temporary) {
            Ok(file) => {
                // A lock shows other processes that the file is being written. It is only advisory: some file systems
                // have no locks.
                let _ = file.try_lock();
                return Ok((temporary, file));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
}

/// Returns true if a file is a temporary file of [`whole`] that nothing is writing, because its program was killed.
pub fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let number = name.strip_prefix(".crosslane-").and_then(|rest| rest.strip_suffix(".tmp"));
    let is_ours = number.is_some_and(|number| {
        number.split_once('-').is_some_and(|(process, n)| process.parse::<u32>().is_ok() && n.parse::<u32>().is_ok())
    });
    is_ours && File::options().write(true).open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Fills the temporary file and renames it. Removes it on failure.
fn finish(mut file: File, path: &Path, bytes: &[u8], temporary: &Path) -> io::Result<Written> {
    let written = file.write_all(bytes).and_then(|()| fs::rename(temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(temporary);
    }
    written.map(|()| Written::New)
}
