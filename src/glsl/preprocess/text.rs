//! Preprocessing tokens as text (`-E`): each token on its line and, if that takes few newlines, at its line number.

use super::{KeptLine, Preprocessor};
use crate::glsl::lex::PpToken;
use crate::glsl::token::Interner;
use crate::source::{FileId, SourceMap};
use std::sync::Arc;

/// Empty lines that are cheaper to read than a `#line`.
const NEWLINE_LIMIT: u32 = 8;

/// Limit of the newlines before all text, where a `#line` would precede the `#version`.
const HEAD_LIMIT: u32 = 1 << 12;

/// Renders a run's output.
pub(super) fn render(mut run: Preprocessor<'_>, main: FileId) -> String {
    let tokens: Vec<PpToken> = std::iter::from_fn(|| run.next_token()).collect();
    let Preprocessor { sources, interner, output, .. } = run;
    let file = sources.file(main).name.clone();
    let mut writer = Writer { text: String::new(), sources, file, line: 1, blank: true };
    let mut kept = output.kept.iter().peekable();
    let mut before = None;
    for (index, token) in tokens.iter().enumerate() {
        while let Some(line) = kept.next_if(|line| line.token as usize <= index) {
            writer.directive(line);
        }
        writer.token(token, before, interner);
        before = Some(token);
    }
    kept.for_each(|line| writer.directive(line));
    writer.end_line();
    writer.text
}

struct Writer<'a> {
    text: String,
    sources: &'a SourceMap,
    /// Name and number that the line being written has.
    file: Arc<str>,
    line: u32,
    /// The line is empty so far.
    blank: bool,
}

impl Writer<'_> {
    fn token(&mut self, token: &PpToken, before: Option<&PpToken>, interner: &Interner) {
        self.go_to(token.span.lo);
        let spelling = token.kind().spelling(interner);
        let joins = || before.is_some_and(|before| joins(&before.kind().spelling(interner), &spelling));
        if !self.blank && (token.spaced || joins()) {
            self.text.push(' ');
        }
        self.text.push_str(&spelling);
        self.blank = false;
    }

    /// A directive, on its own line.
    fn directive(&mut self, kept: &KeptLine) {
        self.go_to(kept.span.lo);
        if !self.blank {
            self.end_line();
        }
        let written = self.sources.text(kept.span);
        let joined = written.replace("\\\r\n", "").replace("\\\n", "").replace(['\r', '\n'], " ");
        self.text.push_str(&joined);
        self.blank = false;
        self.end_line();
    }

    fn end_line(&mut self) {
        if !self.blank {
            self.text.push('\n');
            self.line = self.line.saturating_add(1);
            self.blank = true;
        }
    }

    /// Starts the line of a position, unless it is the current one.
    fn go_to(&mut self, position: u32) {
        let Some(at) = self.sources.locate(position) else { return };
        if at.file == self.file && at.line == self.line {
            return;
        }
        let limit = if self.text.trim().is_empty() { HEAD_LIMIT } else { NEWLINE_LIMIT };
        let near = at.line.checked_sub(self.line).is_some_and(|gap| (1..=limit).contains(&gap));
        if at.file == self.file && near {
            (self.line..at.line).for_each(|_| self.text.push('\n'));
        } else {
            self.end_line();
            self.mark(&at.file, at.line);
        }
        (self.file, self.line, self.blank) = (at.file, at.line, true);
    }

    fn mark(&mut self, file: &str, line: u32) {
        let name = if *self.file == *file { String::new() } else { format!(" \"{file}\"") };
        self.text.push_str(&format!("#line {line}{name}\n"));
    }
}

/// Characters that may start a longer operator with `=` or with themselves.
const ASSIGNING: &str = "+-*/%<>=!&|^";
const DOUBLING: &str = "+-<>&|^=#";

/// Returns true if two tokens would be read differently without a space between them.
fn joins(left: &str, right: &str) -> bool {
    let (Some(a), Some(b)) = (left.chars().last(), right.chars().next()) else { return false };
    let number = left.starts_with(|c: char| c.is_ascii_digit());
    match b {
        'a'..='z' | 'A'..='Z' | '_' => is_word(a) || (number && a == '.'),
        '0'..='9' => is_word(a) || a == '.',
        '.' => number || a == '.',
        '+' | '-' if number && matches!(a, 'e' | 'E') => true,
        '=' => ASSIGNING.contains(a),
        '/' | '*' => a == '/',
        _ => a == b && DOUBLING.contains(a),
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
