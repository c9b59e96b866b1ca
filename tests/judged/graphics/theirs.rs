//! The results of glslang's modules, found once per shader: ours and those through other languages are held against it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use support::lavapipe::Buffers;

/// The buffers that glslang's modules leave of the shader at `path`: known, or found by `find`.
pub fn left(path: &Path, find: impl FnOnce() -> Result<Vec<Buffers>, String>) -> Result<Arc<Vec<Buffers>>, String> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Arc<Vec<Buffers>>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(left) = known().get(path) {
        return Ok(left.clone());
    }
    let left = Arc::new(find().map_err(|e| format!("glslang's module: {e}"))?);
    known().insert(path.to_owned(), left.clone());
    Ok(left)
}
