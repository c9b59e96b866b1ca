//! The messages of TOML's reader about a manifest, in the words of manifests and at the place of the mistake.

use super::manifest::{Manifest, Settings};
use crate::diagnostic::nearest::nearest;
use std::ops::Range;

/// The place and the message of an error of TOML's reader.
pub fn told(text: &str, error: &toml::de::Error) -> (Range<usize>, String) {
    let at = error.span().unwrap_or(0..0);
    let is_toml = toml::from_str::<toml::Table>(text).is_ok();
    let told = if is_toml { None } else { Syntax { text, at: at.start.min(text.len()) }.told(error.message()) };
    told.unwrap_or_else(|| (at, said(error.message())))
}

/// A text that is not TOML, and the place where its reader noticed.
struct Syntax<'t> {
    text: &'t str,
    at: usize,
}

impl Syntax<'_> {
    fn told(&self, message: &str) -> Option<(Range<usize>, String)> {
        if let Some(quote) = self.open_quote() {
            let mark = &self.text[quote.start..=quote.start];
            return Some((quote, format!("this string has no closing `{mark}`")));
        }
        match message.split(", expected").next()? {
            "missing comma between array elements" | "unclosed array" => Some(self.list()),
            "missing comma between key-value pairs" => Some(self.after("expected `,` between the keys of a table")),
            "string values must be quoted" => {
                let word = self.word();
                let message = format!("a text is written in quotes: `\"{}\"`", &self.text[word.clone()]);
                Some((word, message))
            }
            "key with no value" => Some(self.no_value()),
            "duplicate key" => {
                let key = self.word();
                let is_build = self.text[..self.at].ends_with('[') && &self.text[key.clone()] == "build";
                let message = format!("the key `{}` is there twice", &self.text[key.clone()]);
                Some((key, if is_build { BUILDS.into() } else { message }))
            }
            _ => None,
        }
    }

    /// The quote at the last line up to the place that opens a string and is not closed there, to the end of the line.
    fn open_quote(&self) -> Option<Range<usize>> {
        let end = self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end);
        let mut start = 0;
        let mut found = None;
        for line in self.text[..end].split_inclusive('\n') {
            let open = unclosed(line).map(|open| start + open..start + line.trim_end().len());
            (found, start) = (open.or(found), start + line.len());
        }
        found
    }

    /// A list without a comma, or without its end where a key follows.
    fn list(&self) -> (Range<usize>, String) {
        let rest = self.text[self.at..].lines().next().unwrap_or_default();
        let is_key = rest.contains('=') || rest.trim_start().starts_with('[');
        match self.text[..self.at].rfind('[').filter(|_| is_key || rest.is_empty()) {
            Some(open) => (open..open + 1, "this list has no closing `]`".into()),
            None => self.after("expected `,` between the elements of a list"),
        }
    }

    /// The place after the last word in front of the error.
    fn after(&self, message: &str) -> (Range<usize>, String) {
        let end = self.text[..self.at].trim_end().len();
        (end..end, message.into())
    }

    fn no_value(&self) -> (Range<usize>, String) {
        let before = self.text[..self.at].trim_end();
        match before.strip_suffix(':') {
            Some(key) => (key.len()..before.len(), "`=` is between a key and its value, not `:`".into()),
            None => self.after("expected `=` and a value after this key"),
        }
    }

    /// The word at the place.
    fn word(&self) -> Range<usize> {
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}' | '#' | '=');
        let rest = &self.text[self.at..];
        self.at..self.at + rest.find(ends).unwrap_or(rest.len())
    }
}

/// The first quote of a line that opens a string and is not closed on the line. A string of several lines is none.
fn unclosed(line: &str) -> Option<usize> {
    if line.contains("\"\"\"") || line.contains("'''") {
        return None;
    }
    let (mut open, mut escaped) = (None::<(usize, char)>, false);
    for (at, c) in line.char_indices() {
        match open {
            Some((_, mark)) if c == mark && !escaped => open = None,
            None if c == '#' => return None,
            None if matches!(c, '"' | '\'') => open = Some((at, c)),
            _ => {}
        }
        escaped = c == '\\' && !escaped && open.is_some_and(|(_, mark)| mark == '"');
    }
    open.map(|(at, _)| at)
}

/// The message about builds that are one table.
const BUILDS: &str = "a build begins with `[[build]]`, in two brackets";

/// The names in backquotes of a message that lists what it expected.
pub fn named_in(message: &str) -> Vec<String> {
    let names = message.split('`').skip(1).step_by(2).map(str::to_string);
    names.filter(|name| !name.is_empty()).collect()
}

/// What TOML's reader says, in the words of manifests.
fn said(message: &str) -> String {
    let names = named_in(message);
    match names.split_first() {
        Some((wrong, known)) if message.starts_with("unknown field") => unknown_key(wrong, known),
        Some((key, _)) if message.starts_with("missing field") => format!("the key `{key}` is missing"),
        _ if message.starts_with("invalid type: map, expected a sequence") => BUILDS.into(),
        _ if message.starts_with("invalid type: string") && message.ends_with("expected a sequence") => {
            format!(
                "{}: write it in brackets, `[\"…\"]`",
                message
                    .replacen("invalid type: string", "a list is needed, not", 1)
                    .replace(", expected a sequence", "")
            )
        }
        Some((wrong, known)) if message.starts_with("unknown variant") => {
            let known: Vec<&str> = known.iter().map(|known| &**known).collect();
            match nearest(wrong, known.iter().copied()) {
                Some(near) => format!("unknown value `{wrong}`; did you mean `{near}`?"),
                None => format!("unknown value `{wrong}`; the values here are `{}`", known.join("`, `")),
            }
        }
        _ => message.strip_prefix("invalid type: ").and_then(of_another_type).unwrap_or_else(|| message.to_string()),
    }
}

/// The message about a value of another type: "integer `2`, expected a string".
fn of_another_type(message: &str) -> Option<String> {
    let (found, wanted) = message.split_once(", expected ")?;
    Some(match (found.split_once(' '), wanted) {
        (Some((_, value)), "a string") => format!("a text is written in quotes: `\"{}\"`", value.trim_matches('`')),
        (_, "a boolean") => format!("`true` or `false` is needed, not {found}"),
        (None, "a map") => "a table is needed, `{ key = value }`, not a list".into(),
        (_, "a map") => format!("a table is needed, `{{ key = value }}`, not {found}"),
        _ => return None,
    })
}

/// The message about a key that means nothing where it is.
fn unknown_key(wrong: &str, known: &[String]) -> String {
    let all = Manifest::keys();
    let near = |keys: &[String]| nearest(wrong, keys.iter().map(|key| &**key)).map(str::to_string);
    let listed = || known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    match (near(known), near(&all)) {
        (Some(near), _) => format!("unknown key `{wrong}`; did you mean `{near}`?"),
        (None, Some(near)) => format!("unknown key `{wrong}` here; `{near}` belongs to {}", owner(&near)),
        (None, None) => format!("unknown key `{wrong}`; the keys here are {}", listed()),
    }
}

/// The table that takes a key.
fn owner(key: &str) -> &'static str {
    let is_option = toml::from_str::<Settings>("\"\" = 0")
        .err()
        .is_some_and(|error| named_in(error.message()).iter().any(|known| known == key));
    if is_option { "the `options` of a `[[build]]`" } else { "a `[[build]]`" }
}
