//! Outcomes of random kernels: how many were right, refused and wrong, by target and kind. Test runs print the counts
//! at their end, so that refusals are noticed.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The counts of right, refused and wrong kernels, and of those that a judge handles incorrectly.
type Counts = BTreeMap<(String, &'static str), [u64; 4]>;

static COUNTS: Mutex<Counts> = Mutex::new(BTreeMap::new());

/// The messages of refusals that random kernels may get; any other message is an error.
const REFUSALS: [&str; 3] = [
    // Beyond some depth the driver does not reconverge invocations: few kernels nest this deeply.
    "NVIDIA's driver joins invocations correctly inside",
    "crosslane cannot write memory at a physical address as NVIDIA assembly yet",
    "8-bit",
];

/// Returns true if an error is a known refusal by a target.
fn is_refusal(why: &str) -> bool {
    let is_known = |line: &str| REFUSALS.iter().any(|known| line.contains(known));
    let mut errors = why.lines().filter(|line| line.contains("error[")).peekable();
    errors.peek().is_some() && errors.all(is_known)
}

fn count(target: &str, kind: &'static str, at: usize) {
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    counts.entry((target.to_owned(), kind)).or_default()[at] += 1;
}

/// Counts a kernel that a target does not express.
pub fn refused(target: &str, kind: &'static str) {
    count(target, kind, 1);
}

/// Counts a kernel that a judge handles incorrectly: a driver that also does so for another compiler, or a compiler
/// that makes an invalid module.
pub fn alike(target: &str, kind: &'static str) {
    count(target, kind, 3);
}

/// Counts the outcome for a kernel; returns `None` if it was refused.
///
/// # Errors
/// Returns the error of a wrong kernel.
pub fn counted<T>(target: &str, kind: &'static str, held: Result<T, String>) -> Result<Option<T>, String> {
    match held {
        Ok(held) => {
            count(target, kind, 0);
            Ok(Some(held))
        }
        Err(why) if is_refusal(&why) => {
            refused(target, kind);
            Ok(None)
        }
        Err(why) => {
            count(target, kind, 2);
            Err(why)
        }
    }
}

/// Checks the kernel for each seed, continuing after a failure.
///
/// # Errors
/// Returns the messages about all failing kernels.
pub fn each(seeds: Range<u64>, check: impl FnMut(u64) -> Result<(), String>) -> Result<(), String> {
    let wrong: Vec<String> = seeds.map(check).filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Prints the counts, one line per target and kind; nothing if no random kernel ran.
pub fn state() {
    let counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    if !counts.is_empty() {
        eprintln!("\nrandom kernels:");
    }
    for ((target, kind), [right, refused, wrong, alike]) in counts.iter() {
        let wrong = if *wrong > 0 { format!(", {wrong} WRONG") } else { String::new() };
        let alike = if *alike > 0 { format!(", {alike} that a judge takes wrongly") } else { String::new() };
        eprintln!("  {target:16} {kind:10} {right} right, {refused} refused{alike}{wrong}");
    }
}
