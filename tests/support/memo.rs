//! Answers of judges to questions that several tests ask: the same source, or the same module over the same buffers.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Answers by the hashes of their questions. Errors are not kept, since a judge may fail once.
pub struct Memo<T>(LazyLock<Mutex<HashMap<u64, T>>>);

impl<T: Clone> Memo<T> {
    pub const fn empty() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// The known answer to a question, or what `answer` says.
    pub fn get(&self, question: impl Hash, answer: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let mut hasher = DefaultHasher::new();
        question.hash(&mut hasher);
        let key = hasher.finish();
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known().get(&key).cloned() {
            return Ok(answer);
        }
        let answer = answer()?;
        known().insert(key, answer.clone());
        Ok(answer)
    }
}
