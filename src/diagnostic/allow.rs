//! `// crosslane: allow(divergent-lanes)`: a comment that turns a warning off on its line, or on the next line if it is
//! alone. The text is searched only after a warning, so other compilations pay nothing.

use super::warning::{self, UnknownWarning};
use super::{Code, Diagnostic, Label};
use crate::source::{SourceMap, Span};

/// The words before the names in such a comment.
const WORDS: &str = "crosslane: allow(";

/// Returns true if a comment at one of the message's places turns it off.
pub fn is_allowed(sources: &SourceMap, message: &Diagnostic) -> bool {
    let kind = warning::of(message.code);
    kind.is_some_and(|kind| allowed(sources, message).any(|name| name == kind.name))
}

/// Notes about comments at a message's places that name an unknown warning.
pub fn misspelt(sources: &SourceMap, message: &Diagnostic) -> Vec<String> {
    let unknown = allowed(sources, message).filter(|name| warning::named(name).is_none());
    let said =
        unknown.map(|name| format!("a comment here allows something else: {}", UnknownWarning(name.to_string())));
    said.collect()
}

/// The names that comments at a message's places allow. The use of a result has two places: its own, and the place that
/// computes the result.
fn allowed<'s>(sources: &'s SourceMap, message: &Diagnostic) -> impl Iterator<Item = &'s str> {
    let is_place = |label: &&Label| label.primary || message.code == Code::RESULT_ELSEWHERE;
    message.labels.iter().filter(is_place).flat_map(|label| comments(sources, label.span)).flat_map(names)
}

/// The comments on the line of a span, and on the previous line if that has nothing else.
fn comments(sources: &SourceMap, span: Span) -> impl Iterator<Item = &str> {
    let lines = sources.resolve(span).map(|(id, range)| {
        let file = sources.file(id);
        let line = file.line_of(range.start as u32);
        let text = |line: usize| {
            let starts = file.line_starts();
            let end = starts.get(line + 1).map_or(file.text.len(), |next| *next as usize);
            file.text.get(starts[line] as usize..end).unwrap_or("")
        };
        let before = line.checked_sub(1).map(text).filter(|line| starts_comment(line.trim_start()));
        (Some(text(line)), before)
    });
    let (own, before) = lines.unwrap_or((None, None));
    own.into_iter().chain(before).filter_map(comment)
}

fn starts_comment(text: &str) -> bool {
    text.starts_with("//") || text.starts_with("/*")
}

/// A line from its first comment on.
fn comment(line: &str) -> Option<&str> {
    let at = [line.find("//"), line.find("/*")].into_iter().flatten().min()?;
    Some(&line[at..])
}

/// The names that a comment allows.
fn names(comment: &str) -> impl Iterator<Item = &str> {
    let list = comment.split_once(WORDS).and_then(|(_, rest)| rest.split_once(')')).map(|(list, _)| list);
    list.into_iter().flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if the comments of a text turn off a warning at the first `@`, and the notes on the warning.
    fn allowed(text: &str) -> (bool, Vec<String>) {
        let mut sources = SourceMap::new();
        let id = sources.add("a.comp", text).expect("it is small");
        let at = sources.file(id).base + text.find('@').expect("a place") as u32;
        let message = Diagnostic::warning(Code::LANES_APART, "apart").at(Span::new(at, at + 1), "");
        (is_allowed(&sources, &message), misspelt(&sources, &message))
    }

    #[test]
    fn a_comment_allows_on_its_line_and_on_the_next() {
        for text in [
            "x = @; // crosslane: allow(divergent-lanes)\n",
            "x = @; /* crosslane: allow(wave-size, divergent-lanes) */ y();\n",
            "  // why\u{2026}: crosslane: allow(divergent-lanes)\nx = @;",
        ] {
            assert!(allowed(text).0, "{text}");
        }
    }

    #[test]
    fn nothing_else_allows() {
        for text in [
            "x = @;\n",
            "y(); // crosslane: allow(divergent-lanes)\nx = @;\n",
            "// crosslane: allow(divergent-lanes)\n\nx = @;\n",
            "x = @;\n// crosslane: allow(divergent-lanes)\n",
            "x = @; // crosslane: allow(wave-size)\n",
            "crosslane: allow(divergent-lanes) x = @;\n",
        ] {
            assert_eq!(allowed(text), (false, Vec::new()), "{text}");
        }
    }

    #[test]
    fn a_name_that_no_warning_has_is_told() {
        let (is_allowed, notes) = allowed("x = @; // crosslane: allow(divergent-lane)\n");
        assert!(!is_allowed);
        let note =
            "a comment here allows something else: unknown warning `divergent-lane`; did you mean `divergent-lanes`?";
        assert_eq!(notes, [note]);
    }
}
