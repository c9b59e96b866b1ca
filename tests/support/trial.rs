//! Rows of tables as tests.

use super::judge;
use libtest_mimic::Failed;

/// One test of a group.
pub struct Trial {
    name: String,
    ignored: bool,
    test: Box<dyn FnOnce() -> Result<(), Failed> + Send>,
}

impl Trial {
    /// The test as the harness takes it, named `group::name`.
    pub fn of(self, group: &str) -> libtest_mimic::Trial {
        libtest_mimic::Trial::test(format!("{group}::{}", self.name), self.test).with_ignored_flag(self.ignored)
    }
}

/// A test that needs no judge.
pub fn trial(name: impl Into<String>, test: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial { name: name.into(), ignored: false, test: Box::new(|| test().map_err(Failed::from)) }
}

/// A test that needs `judges`: without them it fails where they are required and is skipped elsewhere.
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
