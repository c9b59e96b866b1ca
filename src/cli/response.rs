//! `@file`: the words of a file instead of the argument, with gcc's rules. Blanks separate words; quotes of either kind
//! enclose blanks; a backslash escapes the next character. If the file does not exist, the argument stays as it is.

use super::CommandError;
use crate::build::claims::Claims;
use crate::build::identity::Identity;
use crate::build::read::{self, TEXT_LIMIT};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

/// Files may name files, so deep.
const DEPTH_LIMIT: usize = 16;
/// Words that a command line may have once all files are read.
const WORD_LIMIT: usize = 1 << 16;

/// Replaces `@file` arguments by the words of the files.
///
/// # Errors
/// Returns an error if a file cannot be read, includes itself, or has an unclosed quote; if the files nest too deeply
/// or are too large.
pub fn expand(arguments: Vec<OsString>, claims: &Claims) -> Result<Vec<OsString>, CommandError> {
    let mut expansion = Expansion { claims, open: Vec::new(), bytes: 0, words: 0, out: Vec::new() };
    arguments.into_iter().try_for_each(|argument| expansion.add(argument))?;
    Ok(expansion.out)
}

struct Expansion<'a> {
    claims: &'a Claims,
    /// The open argument files, each named by the previous one.
    open: Vec<Identity>,
    /// Total size of all files so far.
    bytes: u64,
    /// Words, file names included.
    words: usize,
    out: Vec<OsString>,
}

impl Expansion<'_> {
    fn add(&mut self, argument: OsString) -> Result<(), CommandError> {
        let file = argument.to_str().and_then(|text| text.strip_prefix('@'));
        if let Some(file) = file
            && let Some(text) = self.read(file)?
        {
            return self.add_file(file, &text);
        }
        self.out.push(argument);
        Ok(())
    }

    /// The text of a file, or `None` if it does not exist.
    fn read(&mut self, file: &str) -> Result<Option<String>, CommandError> {
        let read = self.claims.read(Path::new(file), TEXT_LIMIT.saturating_sub(self.bytes)).and_then(read::utf8);
        match read {
            Ok(text) => {
                self.bytes += text.len() as u64;
                Ok(Some(text))
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                Err(wrong(file, &format!("files of arguments have more than {TEXT_LIMIT} bytes together")))
            }
            Err(error) => Err(wrong(file, &format!("cannot read it: {error}"))),
        }
    }

    fn add_file(&mut self, file: &str, text: &str) -> Result<(), CommandError> {
        let Some(identity) = Identity::of(Path::new(file)) else { return Err(wrong(file, "the file is gone")) };
        if self.open.contains(&identity) {
            return Err(wrong(file, "the file names itself"));
        }
        if self.open.len() == DEPTH_LIMIT {
            return Err(wrong(file, &format!("files name each other more than {DEPTH_LIMIT} deep")));
        }
        let words = words(text).map_err(|quote| wrong(file, &format!("a {quote} is not closed")))?;
        self.words += words.len();
        if self.words > WORD_LIMIT {
            return Err(wrong(file, &format!("files contain more than {WORD_LIMIT} words together")));
        }
        self.open.push(identity);
        words.into_iter().try_for_each(|word| self.add(word.into()))?;
        self.open.pop();
        Ok(())
    }
}

fn wrong(file: &str, why: &str) -> CommandError {
    CommandError(format!("@{file}: {why}"))
}

/// The words of a text; an error for an unclosed quote.
fn words(text: &str) -> Result<Vec<String>, char> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => word.get_or_insert_default().extend(characters.next()),
            _ if quote == Some(character) => quote = None,
            '\'' | '"' if quote.is_none() => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            _ if quote.is_none() && character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.map_or(Ok(words), Err)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_quoted_as_in_gcc() {
        let read = words("-DA=1  'b c'\n\"d'e\" f\\ g '' x\"y z\"").unwrap();
        assert_eq!(read, ["-DA=1", "b c", "d'e", "f g", "", "xy z"]);
        assert_eq!(words("'a"), Err('\''));
    }
}
