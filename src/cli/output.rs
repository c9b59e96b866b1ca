//! Writing results to a file or to standard output.

use super::CommandError;
use super::endings::{self, Format};
use crate::build::claims::Claims;
use crate::build::write;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The destination of a result.
pub enum Sink {
    Stdout,
    File(PathBuf),
}

impl Sink {
    /// `-` is standard output.
    pub fn new(path: PathBuf) -> Sink {
        if path.as_os_str() == "-" { Sink::Stdout } else { Sink::File(path) }
    }

    /// A file for something of this format, or standard output.
    ///
    /// # Errors
    /// Returns an error if the file name implies another format.
    pub fn of_format(path: PathBuf, format: Format) -> Result<Sink, CommandError> {
        let sink = Sink::new(path);
        if let Sink::File(path) = &sink {
            endings::check(path, format)?;
        }
        Ok(sink)
    }

    /// # Errors
    /// Returns an error if the file or stream cannot be written, or another output has claimed the file. A closed pipe
    /// is not an error.
    pub fn write(&self, bytes: &[u8], claims: &Claims) -> Result<(), CommandError> {
        match self {
            Sink::Stdout => to_stdout(bytes),
            Sink::File(path) => {
                let written = write::whole(path, bytes, claims).map(drop);
                written.map_err(|error| CommandError(format!("cannot write {}: {error}", path.display())))
            }
        }
    }
}

/// Creates a folder and its parents, unless they exist.
///
/// # Errors
/// Returns an error if the folder cannot be created.
pub fn make_folder(folder: &Path) -> Result<(), CommandError> {
    fs::create_dir_all(folder).map_err(|error| CommandError(format!("cannot make {}: {error}", folder.display())))
}

/// Writes to standard output.
///
/// # Errors
/// Returns an error if the output cannot be written; a closed pipe is not an error.
pub fn to_stdout(bytes: &[u8]) -> Result<(), CommandError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandError(format!("cannot write standard output: {error}")))
        }
        _ => Ok(()),
    }
}
