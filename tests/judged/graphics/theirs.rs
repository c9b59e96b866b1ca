//! The results of glslang's modules, computed once per shader: crosslane's results, direct and through other languages,
//! are compared with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use support::lavapipe::Buffers;

/// The buffers after running glslang's modules for the shader at `path`: cached, or computed by `find`.
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
