//! The number of parallel jobs: the argument of `-j`, otherwise the tokens of cargo's or make's jobserver, otherwise
//! one per processor.
//!
//! Every process may run one job without a token from the jobserver. A thread that finds this right taken requests a
//! token, and continues with whichever is free first. Waiting only for the jobserver could block forever, because it
//! may have no tokens left.

use jobserver::{Acquired, Client, HelperThread};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The rights to run jobs.
pub struct Tokens {
    /// Threads that may wait for a right.
    pub threads: usize,
    pool: Arc<Pool>,
    /// Requests tokens from the jobserver; `None` if there is none, and jobs run freely.
    helper: Option<HelperThread>,
}

#[derive(Default)]
pub struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_own_taken: bool,
    lent: Vec<Acquired>,
    waiting: usize,
    /// The jobserver failed: it grants no more tokens and restricts nothing.
    is_gone: bool,
}

impl Pool {
    /// A thread that panics leaves the counts unchanged, so they are right even then.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a token at once if no job waits for it any more.
    fn receive(&self, answer: io::Result<Acquired>) {
        let mut state = self.lock();
        match answer {
            Ok(token) if state.waiting > state.lent.len() => state.lent.push(token),
            Ok(_) => {}
            Err(_) => state.is_gone = true,
        }
        self.changed.notify_all();
    }
}

/// The right to run one job, until it is dropped.
pub enum Token<'a> {
    Free,
    Own(&'a Pool),
    Lent(#[expect(dead_code, reason = "held until it is dropped")] Acquired),
}

impl Tokens {
    pub fn new(jobs: Option<usize>) -> Tokens {
        // SAFETY: the environment names descriptors that this process inherited for this purpose. No other part of the
        // program uses them, so they have not been opened or closed since.
        let client = if jobs.is_none() { unsafe { Client::from_env() } } else { None };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let pool = Arc::new(Pool::default());
        let receiver = pool.clone();
        let helper = client.and_then(|client| client.into_helper_thread(move |answer| receiver.receive(answer)).ok());
        Tokens { threads: jobs.unwrap_or(processors).max(1), pool, helper }
    }

    /// Waits for the right to run one more job.
    pub fn take(&self) -> Token<'_> {
        let Some(helper) = &self.helper else { return Token::Free };
        let mut state = self.pool.lock();
        if state.is_own_taken {
            helper.request_token();
        }
        state.waiting += 1;
        while state.is_own_taken && state.lent.is_empty() && !state.is_gone {
            state = self.pool.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
        if !state.is_own_taken {
            state.is_own_taken = true;
            return Token::Own(&self.pool);
        }
        state.lent.pop().map_or(Token::Free, Token::Lent)
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        if let Token::Own(pool) = self {
            pool.lock().is_own_taken = false;
            pool.changed.notify_one();
        }
    }
}
