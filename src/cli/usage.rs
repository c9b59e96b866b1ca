//! Prints clap's help, version or error.

use super::Exit;
use crate::diagnostic::visible::{is_hidden, visible};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

/// Prints it; `words` are the arguments that were read. A closed pipe does not matter.
pub fn print(mut error: clap::Error, words: &[OsString]) -> ExitCode {
    name_whole_word(&mut error, words);
    let printed = write(&error, words);
    let is_full = printed.is_err_and(|failure| failure.kind() != io::ErrorKind::BrokenPipe);
    ExitCode::from(if error.use_stderr() || is_full { Exit::CommandWrong as u8 } else { Exit::Done as u8 })
}

/// Prints in colours where clap does, unless an argument holds characters that a terminal obeys.
fn write(error: &clap::Error, words: &[OsString]) -> io::Result<()> {
    match words.iter().any(|word| word.to_string_lossy().contains(is_hidden)) {
        true => io::stderr().lock().write_all(visible(&error.render().to_string()).as_bytes()),
        false => error.print(),
    }
}

/// clap reads `-fPIC` as letters and reports `-f`; the user looks for `-fPIC`.
fn name_whole_word(error: &mut clap::Error, words: &[OsString]) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(letter)) = error.get(ContextKind::InvalidArg) else { return };
    let Some(word) = word_of(letter, words) else { return };
    error.insert(ContextKind::InvalidArg, ContextValue::String(word));
    // The advice speaks of the letter.
    error.remove(ContextKind::Suggested);
}

/// The word that begins with a letter's option, otherwise the first cluster that holds it.
fn word_of(option: &str, words: &[OsString]) -> Option<String> {
    let letter = option.strip_prefix('-').filter(|rest| rest.chars().count() == 1)?;
    let clusters = || words.iter().filter_map(|word| word.to_str()).filter(|word| !word.starts_with("--"));
    let first = clusters().find(|word| word.starts_with(option));
    first.or_else(|| clusters().find(|word| word.starts_with('-') && word.contains(letter))).map(str::to_string)
}
