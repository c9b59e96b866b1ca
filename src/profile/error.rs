//! Errors in profiles, with the place in the file.

use std::fmt;

/// An error in a profile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileError {
    /// Name of the file as given, or of the built-in profile.
    pub file: String,
    /// Counted from 1; `None` for errors about the whole file.
    pub line: Option<usize>,
    /// The wrong key, if the error is about one.
    pub key: Option<String>,
    pub message: String,
}

/// A profile's text and its name in messages.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl Text<'_> {
    /// An error about `key`, at the line where the file sets it.
    pub fn at_key(self, key: &str, message: impl Into<String>) -> ProfileError {
        self.error(self.line_of_key(key), key, message)
    }

    /// A missing key, reported at the line of the profile's name, otherwise at the first line.
    pub fn missing(self, key: &str) -> ProfileError {
        self.error(self.line_of_key("name").or(Some(1)), key, "the key is missing")
    }

    /// An error about a name in the list of `key`, at its own line.
    pub fn at_entry(self, key: &str, entry: &str, message: impl Into<String>) -> ProfileError {
        let quoted = format!("\"{entry}\"");
        let line = self.text.lines().position(|line| line.contains(&quoted)).map(|index| index + 1);
        self.error(line.or_else(|| self.line_of_key(key)), key, message)
    }

    /// An error of the TOML reader. Everything after its first line is advice for callers of the library, and is
    /// dropped.
    pub fn of_toml(self, error: &toml::de::Error) -> ProfileError {
        let line = error.span().map(|span| self.line_of_offset(span.start));
        let key = line.and_then(|line| self.key_on_line(line));
        ProfileError { file: self.file.into(), line, key, message: error.message().into() }
    }

    fn error(self, line: Option<usize>, key: &str, message: impl Into<String>) -> ProfileError {
        ProfileError { file: self.file.into(), line, key: Some(key.into()), message: message.into() }
    }

    /// Returns true if the file itself sets a key.
    pub fn sets(self, key: &str) -> bool {
        self.line_of_key(key).is_some()
    }

    fn line_of_offset(self, offset: usize) -> usize {
        self.text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
    }

    /// The line that sets a key; otherwise, for a key of an inline table, the first line that names it.
    fn line_of_key(self, key: &str) -> Option<usize> {
        let at = |is: &dyn Fn(&str) -> bool| self.text.lines().position(is).map(|index| index + 1);
        at(&|line| key_of(line) == Some(key)).or_else(|| at(&|line| line.contains(&format!(" {key} ="))))
    }

    /// The key of the nearest assignment at or above a line: an array may run over several lines.
    fn key_on_line(self, line: usize) -> Option<String> {
        let lines: Vec<&str> = self.text.lines().take(line).collect();
        lines.iter().rev().find_map(|line| key_of(line)).map(str::to_string)
    }
}

/// The last part of the key that a line sets, by assignment or as a table header.
fn key_of(line: &str) -> Option<&str> {
    let table = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let path = table.or_else(|| line.split_once('=').map(|(key, _)| key))?;
    path.rsplit('.').next().map(|key| key.trim().trim_matches('"'))
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))?;
        f.write_str(": ")?;
        self.key.as_ref().map_or(Ok(()), |key| write!(f, "{key}: "))?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProfileError {}
