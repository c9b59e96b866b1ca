//! The files that the builders of one process have written. Two builders with the same name would silently overwrite
//! each other's files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The writer of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Maker {
    /// Everything that its outputs depend on: the same request may be repeated.
    pub request: String,
    /// The builder's name in messages.
    pub title: String,
}

static MAKERS: Mutex<BTreeMap<PathBuf, Maker>> = Mutex::new(BTreeMap::new());

/// Records the builder that writes these files.
///
/// # Errors
/// Returns the file that another builder has written, and that builder. Nothing is recorded then.
pub fn claim(files: &[PathBuf], maker: &Maker) -> Result<(), (PathBuf, Maker)> {
    // A thread that panics leaves the map in a valid state.
    let mut makers = MAKERS.lock().unwrap_or_else(PoisonError::into_inner);
    for file in files {
        if let Some(other) = makers.get(&whole(file)).filter(|other| *other != maker) {
            return Err((file.clone(), other.clone()));
        }
    }
    makers.extend(files.iter().map(|file| (whole(file), maker.clone())));
    Ok(())
}

fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}
