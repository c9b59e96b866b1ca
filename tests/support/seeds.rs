//! The random kernels of a test run: the usual ones, or those selected by `CROSSLANE_RANDOM=SEED:COUNT`.

use std::ops::Range;

/// Kernels in one test.
const BATCH: u64 = 10;

/// Returns true if other kernels than the usual ones are to be tried.
pub fn are_asked_for() -> bool {
    std::env::var_os("CROSSLANE_RANDOM").is_some()
}

/// The seeds for each test, which tries `usual` kernels unless others are selected.
pub fn batches(usual: u64) -> impl Iterator<Item = Range<u64>> {
    let (first, count) = match std::env::var("CROSSLANE_RANDOM") {
        Err(_) => (1, usual),
        Ok(asked) => {
            let parsed =
                asked.split_once(':').and_then(|(seed, count)| Some((seed.parse().ok()?, count.parse().ok()?)));
            parsed.expect("CROSSLANE_RANDOM is SEED:COUNT")
        }
    };
    (first..first + count).step_by(BATCH as usize).map(move |start| start..(start + BATCH).min(first + count))
}
