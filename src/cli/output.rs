//! Writing results: a file whole or not at all, and not at all when it already holds the same bytes.

use super::CommandError;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where a result goes.
pub enum Sink {
    Stdout,
    File(PathBuf),
}

impl Sink {
    /// `-` is standard output.
    pub fn new(path: PathBuf) -> Sink {
        if path.as_os_str() == "-" { Sink::Stdout } else { Sink::File(path) }
    }

    /// # Errors
    /// When the file or stream cannot be written; a closed pipe is none.
    pub fn write(&self, bytes: &[u8]) -> Result<(), CommandError> {
        match self {
            Sink::Stdout => to_stdout(bytes),
            Sink::File(path) => {
                to_file(path, bytes).map_err(|error| CommandError(format!("cannot write {}: {error}", path.display())))
            }
        }
    }
}

/// Writes to standard output.
///
/// # Errors
/// When it cannot be written; a closed pipe is no error.
pub fn to_stdout(bytes: &[u8]) -> Result<(), CommandError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandError(format!("cannot write standard output: {error}")))
        }
        _ => Ok(()),
    }
}

fn to_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(meta) if !meta.is_file() => return fs::write(path, bytes),
        Ok(meta) if meta.len() == bytes.len() as u64 && fs::read(path)? == bytes => return Ok(()),
        _ => {}
    }
    let temporary = beside(path);
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A name in the same directory, so that the rename stays on one file system.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}
