//! Writing results to a file or to standard output.

use super::CommandError;
use crate::build::write;
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
                let written = write::whole(path, bytes).map(drop);
                written.map_err(|error| CommandError(format!("cannot write {}: {error}", path.display())))
            }
        }
    }
}

/// Makes a folder for files, with those around it; one that is there is fine.
///
/// # Errors
/// When it cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), CommandError> {
    fs::create_dir_all(folder).map_err(|error| CommandError(format!("cannot make {}: {error}", folder.display())))
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
