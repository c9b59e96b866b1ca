//! A helper process for anything that may crash its process: a driver or a compiler. The test binary starts itself
//! again and sends it jobs, one line of JSON each.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A running process, which ends when this is dropped.
pub struct Helper {
    child: Child,
    jobs: Option<ChildStdin>,
    results: BufReader<ChildStdout>,
}

/// Time that a process has to end by itself, in twentieths of a second.
const WAITS: u32 = 200;

/// The command that starts this test binary again; an environment variable must tell it that it is a helper.
pub fn command() -> Result<Command, String> {
    std::env::current_exe().map(Command::new).map_err(|e| e.to_string())
}

impl Helper {
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|e| format!("the helper did not start: {e}"))?;
        let jobs = child.stdin.take();
        let results = BufReader::new(child.stdout.take().expect("standard output was asked for"));
        Ok(Self { child, jobs, results })
    }

    /// Sends the process a job and waits for the answer. An error is the process', not the job's.
    pub fn ask<Answer: DeserializeOwned>(&mut self, job: &impl Serialize) -> Result<Answer, String> {
        let broken = |e: io::Error| format!("the process ended: {e}");
        let line = serde_json::to_string(job).map_err(|e| e.to_string())?;
        let jobs = self.jobs.as_mut().expect("open until drop");
        writeln!(jobs, "{line}").and_then(|()| jobs.flush()).map_err(broken)?;
        let mut answer = String::new();
        self.results.read_line(&mut answer).map_err(broken)?;
        serde_json::from_str(&answer).map_err(|e| format!("the process ended ({e})"))
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.jobs.take());
        // It ends when its input does, unless a driver hangs.
        let is_left = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        for _ in 0..WAITS {
            if !is_left(&mut self.child) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
    }
}

/// Idle processes: as many as threads have used at once.
#[derive(Default)]
pub struct Pool(Mutex<Vec<Helper>>);

impl Pool {
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Helper>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a job to an idle process, or to a new one if there is none. One that has ended is not used again.
    ///
    /// # Errors
    /// Like [`Helper::ask`] and `start`.
    pub fn ask<Answer: DeserializeOwned>(
        &self,
        start: impl FnOnce() -> Result<Helper, String>,
        job: &impl Serialize,
    ) -> Result<Answer, String> {
        let waiting = self.idle().pop();
        let mut helper = waiting.map_or_else(start, Ok)?;
        let answer = helper.ask(job)?;
        self.idle().push(helper);
        Ok(answer)
    }

    /// Ends every process that waits.
    pub fn stop(&self) {
        self.idle().clear();
    }
}

/// The main loop of a helper: answers jobs until its input ends.
pub fn serve<Job: DeserializeOwned, Answer: Serialize>(mut answer: impl FnMut(Job) -> Result<Answer, String>) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let answer = serde_json::from_str(&line).map_err(|e| e.to_string()).and_then(&mut answer);
        println!("{}", serde_json::to_string(&answer).expect("words and text always serialize"));
    }
}
