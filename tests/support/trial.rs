//! Rows of tables as tests.

use super::{judge, watchdog};
use libtest_mimic::Failed;

/// One test of a group.
pub struct Trial {
    name: String,
    ignored: bool,
    test: Box<dyn FnOnce() -> Result<(), Failed> + Send>,
}

impl Trial {
    /// The test for the harness, named `group::name`.
    pub fn of(self, group: &str) -> libtest_mimic::Trial {
        libtest_mimic::Trial::test(format!("{group}::{}", self.name), self.test).with_ignored_flag(self.ignored)
    }
}

/// A test that needs no judge. If it never ends, the run is stopped and the test is named.
pub fn trial(name: impl Into<String>, test: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    let name = name.into();
    let said = name.clone();
    let watched = || {
        let _watch = watchdog::watch(|| said);
        test().map_err(Failed::from)
    };
    Trial { name, ignored: false, test: Box::new(watched) }
}

/// A test that needs `judges`: without them it fails if they are required and is skipped otherwise.
pub fn judged(
    name: impl Into<String>,
    judges: &[&str],
    test: impl FnOnce() -> Result<(), String> + Send + 'static,
) -> Trial {
    let missing = judges.iter().find_map(|judge| judge::need(judge).err());
    let ignored = missing.is_some() && !judge::required();
    if ignored {
        static ONCE: std::sync::Once = std::sync::Once::new();
        let why = missing.unwrap_or_default();
        ONCE.call_once(|| eprintln!("skipped: {why}"));
    }
    Trial { ignored, ..trial(name, test) }
}
