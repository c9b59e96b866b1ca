//! Committed files that a test makes again: it compares, or with `CROSSLANE_BLESS` set writes.
// Each test file uses its own part.
#![allow(dead_code)]

use std::fs;

/// Returns true if committed files are to be written instead of compared.
pub fn is_asked() -> bool {
    std::env::var_os("CROSSLANE_BLESS").is_some()
}

/// Holds a file, named from the project's root, against what it should be.
///
/// # Errors
/// With the first line that differs, unless the file is to be written.
pub fn hold(name: &str, text: &str) -> Result<(), String> {
    let path = crate::root().join(name);
    let there = fs::read_to_string(&path).unwrap_or_default();
    if there == text {
        return Ok(());
    }
    if is_asked() {
        return fs::write(&path, text).map_err(|error| format!("{name}: {error}"));
    }
    let same = there.lines().zip(text.lines()).take_while(|(one, other)| one == other).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_owned();
    Err(format!(
        "{name}:{}: is not what it should be (CROSSLANE_BLESS=1 writes it)\n  is:        {}\n  should be: {}",
        same + 1,
        line(&there),
        line(text)
    ))
}
