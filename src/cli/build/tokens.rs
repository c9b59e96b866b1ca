//! How many jobs run at once: what `-j` says, otherwise what cargo's or make's jobserver lends, otherwise one for each
//! processor.
//!
//! Every process has one right to run that no jobserver counts. A thread that finds it taken asks for another, and takes
//! whichever is free first; waiting for the jobserver alone would wait for ever where it lends nothing.

use jobserver::{Acquired, Client, HelperThread};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The rights to run jobs.
pub struct Tokens {
    /// Threads that may wait for a right.
    pub threads: usize,
    pool: Arc<Pool>,
    /// Asks the jobserver; none if there is none, and rights are free.
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
    /// The jobserver failed: it lends nothing more and forbids nothing.
    is_gone: bool,
}

impl Pool {
    /// A thread that panics leaves the counts as they are, so that they are right even then.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A token that no job waits for any more is returned at once.
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

/// The right to run one job until it is dropped.
pub enum Token<'a> {
    Free,
    Own(&'a Pool),
    Lent(#[expect(dead_code, reason = "held until it is dropped")] Acquired),
}

impl Tokens {
    pub fn new(jobs: Option<usize>) -> Tokens {
        // SAFETY: the environment names descriptors that this process inherited for this purpose. Nothing has opened or
        // closed them since: no other part of the program knows of them.
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
