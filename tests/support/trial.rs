//! Rows of tables as tests: a harness of one's own where the test binary is also lavapipe's process.

use libtest_mimic::{Arguments, Failed, Trial};

use super::{judge, lavapipe, radv};

/// The whole `main` of such a binary: a driver's process, or the tests that `trials` lists.
pub fn main(trials: impl FnOnce() -> Vec<Trial>) {
    if lavapipe::serve() || radv::serve() {
        return;
    }
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials());
    lavapipe::stop();
    conclusion.exit();
}

/// A test that needs `judges`: without them it fails where they are required and is skipped elsewhere.
pub fn judged(name: String, judges: &[&str], test: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    let missing = judges.iter().find_map(|judge| judge::need(judge).err());
    let skip = missing.is_some() && !judge::required();
    if skip {
        static ONCE: std::sync::Once = std::sync::Once::new();
        let why = missing.unwrap_or_default();
        ONCE.call_once(|| eprintln!("skipped: {why}"));
    }
    Trial::test(name, move || test().map_err(Failed::from)).with_ignored_flag(skip)
}
