//! `crosslane explain-code`: a section of the book's page of messages.

use super::args::ExplainCodeArgs;
use super::output::to_stdout;
use super::{CommandError, Exit, Outcome};
use crate::diagnostic::codes;
use crate::diagnostic::nearest::nearest_of_family;
use std::ffi::OsString;

const PAGE: &str = include_str!("../../docs/guide/messages.md");

pub fn run(args: &ExplainCodeArgs) -> Outcome {
    let code = args.code.trim_matches(['[', ']']).to_ascii_uppercase();
    let section = section(&code).ok_or_else(|| unknown(&code))?;
    to_stdout(section.as_bytes()).map(|()| Exit::Done)
}

/// Reads `help E0501` as `explain-code E0501` (arguments with the program name first).
pub fn from_help(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if let [_, command, word] = &mut arguments[..]
        && command == "help"
        && word.to_str().is_some_and(is_code)
    {
        *command = "explain-code".into();
    }
    arguments
}

/// Returns true if a word has the form of a code: a letter and four digits, with or without the brackets of a message.
fn is_code(word: &str) -> bool {
    let word = word.trim_matches(['[', ']']);
    word.len() == 5
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word[1..].bytes().all(|b| b.is_ascii_digit())
}

/// The section of a code, heading included.
fn section(code: &str) -> Option<String> {
    let is_its = |section: &&str| section.split_once(": ").is_some_and(|(named, _)| named == code);
    PAGE.split("\n## ").skip(1).find(is_its).map(|section| format!("{}\n", section.trim_end()))
}

fn unknown(code: &str) -> CommandError {
    let known = || codes::ALL.iter().map(|(known, _)| known.0);
    // Users omit the letter.
    let hint = match nearest_of_family(code, known()).or_else(|| nearest_of_family(&format!("E{code:0>4}"), known())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "codes are a letter and four digits, such as E0501".to_owned(),
    };
    CommandError(format!("unknown code `{code}`; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::{PAGE, section};
    use crate::diagnostic::codes;

    #[test]
    fn every_code_has_a_section_with_its_meaning() {
        for (code, meaning) in codes::ALL {
            let section = section(code.0).unwrap_or_else(|| panic!("no section {code}"));
            assert_eq!(section.lines().next(), Some(&*format!("{code}: {}", meaning.trim().trim_end_matches('.'))));
        }
        assert_eq!(PAGE.matches("\n## ").count(), codes::ALL.len(), "a section without a code");
    }
}
