//! Ends the test process if a test hangs, since a call into a GPU that hangs never returns.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Seconds that a test or a kernel may take, unless `CROSSLANE_WATCHDOG` sets another number.
const USUAL: u64 = 300;

/// The exit status for tests that hang.
const STATUS: i32 = 86;

/// Watches until it is dropped.
pub struct Watch(#[expect(dead_code, reason = "the thread waits until it is dropped")] Sender<()>);

/// Ends the process with the text from `says`, unless the watch is dropped in time.
pub fn watch(says: impl FnOnce() -> String + Send + 'static) -> Watch {
    let limit = std::env::var("CROSSLANE_WATCHDOG").ok().and_then(|limit| limit.parse().ok()).unwrap_or(USUAL);
    let (sender, receiver) = channel::<()>();
    thread::spawn(move || {
        if receiver.recv_timeout(Duration::from_secs(limit)) == Err(RecvTimeoutError::Timeout) {
            eprintln!("HANGS: {}, after {limit} s", says());
            std::process::exit(STATUS);
        }
    });
    Watch(sender)
}
