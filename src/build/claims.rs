//! The files that one run of a command reads and writes. A run never overwrites an input and never writes a file twice.

use super::identity::Identity;
use super::read;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle: clones share one list.
#[derive(Clone, Default, Debug)]
pub struct Claims(Arc<Mutex<Files>>);

#[derive(Default, Debug)]
struct Files {
    /// With the path that each was read through.
    inputs: FxHashMap<Identity, PathBuf>,
    outputs: FxHashSet<PathBuf>,
}

impl Claims {
    /// Reads a regular file of at most `limit` bytes, and protects it from being written.
    ///
    /// # Errors
    /// Like [`read::bytes`].
    pub fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let bytes = read::bytes(path, limit)?;
        self.add_input(path);
        Ok(bytes)
    }

    /// Notes that a file is read.
    pub fn add_input(&self, path: &Path) {
        if let Some(identity) = Identity::of(path) {
            self.files().inputs.insert(identity, path.to_path_buf());
        }
    }

    /// Adds standard input to the inputs, if it is a file.
    #[cfg(unix)]
    pub fn add_stdin(&self) {
        use std::os::fd::AsFd;
        let file = io::stdin().as_fd().try_clone_to_owned().map(fs::File::from);
        if let Ok(meta) = file.and_then(|file| file.metadata())
            && meta.is_file()
        {
            self.files().inputs.insert(Identity::of_meta(&meta), PathBuf::from("-"));
        }
    }

    #[cfg(not(unix))]
    pub fn add_stdin(&self) {}

    /// Claims a file that is about to be written.
    ///
    /// # Errors
    /// Returns an error if this run reads the file or has already written it.
    pub fn add_output(&self, path: &Path) -> io::Result<()> {
        let mut files = self.files();
        let input = Identity::of(path).and_then(|identity| files.inputs.get(&identity).cloned());
        if let Some(input) = input {
            return Err(refused(match input == path {
                true => "it is an input too".to_string(),
                false => format!("it is the same file as the input {}", input.display()),
            }));
        }
        match files.outputs.insert(resolved(path)) {
            true => Ok(()),
            false => Err(refused("another output was written to it".to_string())),
        }
    }

    /// A thread that panics leaves the lists in a valid state.
    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// The path with its folder resolved, so that one output has one path. Links to files stay, because writing replaces
/// them.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    path.file_name().map_or(folder.clone(), |name| folder.join(name))
}
