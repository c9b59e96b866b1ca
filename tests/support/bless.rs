//! Committed files that a test generates again: they are compared, or written if `CROSSLANE_BLESS` is set.
// Each test file uses its own part.
#![allow(dead_code)]

use std::fs;

/// Returns true if committed files are to be written instead of compared.
pub fn is_asked() -> bool {
    std::env::var_os("CROSSLANE_BLESS").is_some()
}

/// Compares a file, named relative to the project's root, with its expected contents.
///
/// # Errors
/// Returns the first line that differs, unless files are to be written.
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
