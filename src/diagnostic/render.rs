//! Messages as text for people (codespan-reporting) and as JSON lines for tools. This module writes into a string; the
//! caller prints it.

use super::visible::{escaped_json, is_hidden, picture, visible, visible_name};
use super::{Diagnostic, Diagnostics, Label, Severity, warning};
use crate::source::{FileId, Location, SourceFile, SourceMap, Span};
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{self, Files};
use codespan_reporting::term;
use serde::Serialize;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

/// The longest source line that an excerpt shows. Longer lines are reported without an excerpt.
const EXCERPT_LIMIT: usize = 4096;

/// Renders all messages as text, with source excerpts.
pub fn human(sources: &SourceMap, diagnostics: &Diagnostics) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics.iter() {
        human_one(sources, diagnostic, &mut text);
    }
    if diagnostics.suppressed() > 0 {
        text.push_str(&format!("note: {} further messages are not shown\n", diagnostics.suppressed()));
    }
    text
}

fn human_one(sources: &SourceMap, diagnostic: &Diagnostic, text: &mut String) {
    let view = View::new(sources);
    let rendered = to_codespan(&view, diagnostic);
    let config = term::Config::default();
    // The view can answer every question about the spans that `to_codespan` kept, so emission cannot fail.
    if term::emit_to_string(text, &config, &view, &rendered).is_err() {
        text.push_str(&format!("{}: {}\n", diagnostic.code, diagnostic.message));
    }
}

/// Renders one line per message and per note, as C compilers do: `a.comp:3: error: …`.
pub fn lines(sources: &SourceMap, diagnostics: &Diagnostics) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics.iter() {
        let place = place_name(sources, diagnostic, false);
        let mut line = |kind: &str, said: &str| text.push_str(&format!("{place}{kind}: {}\n", visible(said)));
        line(severity_name(diagnostic.severity), &diagnostic.title());
        diagnostic.suggestion.iter().for_each(|suggestion| line("note", &suggestion.text));
        diagnostic.notes.iter().for_each(|note| line("note", note.strip_prefix("help: ").unwrap_or(note)));
    }
    text
}

/// Renders a line for each message as glslang does: `ERROR: a.comp:3: …`.
pub fn glslang(sources: &SourceMap, diagnostics: &Diagnostics, columns: bool) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics.iter() {
        let (kind, place) =
            (severity_name(diagnostic.severity).to_uppercase(), place_name(sources, diagnostic, columns));
        text.push_str(&format!("{kind}: {place}{}\n", visible(&diagnostic.title())));
    }
    if diagnostics.has_errors() {
        text.push_str(&format!("ERROR: {} compilation errors.  No code generated.\n\n\n", diagnostics.error_count()));
    }
    text
}

/// File and line of a message, and the separator before its text.
fn place_name(sources: &SourceMap, diagnostic: &Diagnostic, column: bool) -> String {
    let at = Some(diagnostic.span()).filter(|span| !span.is_none()).and_then(|span| sources.locate(span.lo));
    match at {
        Some(at) if column => format!("{}:{}:{}: ", visible_name(&at.file), at.line, at.column),
        Some(at) => format!("{}:{}: ", visible_name(&at.file), at.line),
        None => String::new(),
    }
}

const fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Renders all messages in ANSI colours.
#[cfg(feature = "cli")]
pub fn coloured(sources: &SourceMap, diagnostics: &Diagnostics) -> Vec<u8> {
    let mut out = termcolor::Ansi::new(Vec::new());
    let (view, config) = (View::new(sources), term::Config::default());
    for diagnostic in diagnostics.iter() {
        let rendered = to_codespan(&view, diagnostic);
        if term::emit_to_write_style(&mut out, &config, &view, &rendered).is_err() {
            return human(sources, diagnostics).into_bytes();
        }
    }
    let mut bytes = out.into_inner();
    if diagnostics.suppressed() > 0 {
        bytes.extend_from_slice(
            format!("note: {} further messages are not shown\n", diagnostics.suppressed()).as_bytes(),
        );
    }
    bytes
}

fn to_codespan(view: &View<'_>, diagnostic: &Diagnostic) -> codespan::Diagnostic<FileId> {
    let severity = match diagnostic.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
        Severity::Note => codespan::Severity::Note,
    };
    let labels = diagnostic.labels.iter().filter_map(|label| to_label(view, label)).collect();
    codespan::Diagnostic::new(severity)
        .with_code(diagnostic.code.0)
        .with_message(visible(&diagnostic.title()))
        .with_labels(labels)
        .with_notes(notes(view.sources, diagnostic))
}

fn to_label(view: &View<'_>, label: &Label) -> Option<codespan::Label<FileId>> {
    let (id, range) = place_of(view.sources, label)?;
    let shown = view.shown(id);
    let range = shown.place(range.start)..shown.place(range.end);
    let style = if label.primary { codespan::LabelStyle::Primary } else { codespan::LabelStyle::Secondary };
    Some(codespan::Label::new(style, id, range).with_message(visible(&label.text)))
}

/// The bytes of a file that a label marks, or `None` if no excerpt can show them.
fn place_of(sources: &SourceMap, label: &Label) -> Option<(FileId, Range<usize>)> {
    let (id, range) = sources.resolve(label.span)?;
    let range = on_char_boundaries(&sources.file(id).text, range);
    (line_length(sources, id, range.start) <= EXCERPT_LIMIT).then_some((id, range))
}

fn line_length(sources: &SourceMap, id: FileId, offset: usize) -> usize {
    let file = sources.file(id);
    let line = file.line_of(offset as u32);
    let end = file.line_starts().get(line + 1).map_or(file.text.len(), |next| *next as usize);
    end - file.line_starts()[line] as usize
}

fn on_char_boundaries(text: &str, range: Range<usize>) -> Range<usize> {
    let down = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    down(range.start)..down(range.end)
}

fn notes(sources: &SourceMap, diagnostic: &Diagnostic) -> Vec<String> {
    let mut notes = diagnostic.notes.clone();
    notes.extend(diagnostic.suggestion.as_ref().map(|suggestion| format!("help: {}", suggestion.text)));
    // A label that cannot be drawn still names its place.
    for label in diagnostic.labels.iter().filter(|label| place_of(sources, label).is_none()) {
        if let Some(at) = sources.locate(label.span.lo) {
            notes.push(format!("at {}:{}:{}: {}", at.file, at.line, at.column, label.text));
        }
    }
    notes.iter().map(|note| visible(note).into_owned()).collect()
}

/// The displayed text of a file. A carriage return at the end of a line stays.
struct Shown {
    /// `None` if it is the text itself.
    text: Option<String>,
    line_starts: Vec<usize>,
    /// Places after a character that was replaced by one of another length, with the corresponding place in the shown
    /// text.
    shifts: Vec<(usize, usize)>,
}

impl Shown {
    fn new(file: &SourceFile) -> Shown {
        let mut shown = Shown { text: None, line_starts: Vec::new(), shifts: Vec::new() };
        if file.text.contains(|c| is_hidden(c) && !matches!(c, '\t' | '\n' | '\r')) || has_lone_return(&file.text) {
            shown.replace(&file.text);
        }
        shown.line_starts = file.line_starts().iter().map(|start| shown.place(*start as usize)).collect();
        shown
    }

    fn replace(&mut self, text: &str) {
        let mut out = String::with_capacity(text.len() + text.len() / 8);
        let mut characters = text.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            let ends_line = c == '\r' && characters.peek().is_some_and(|(_, next)| *next == '\n');
            if !is_hidden(c) || ends_line || matches!(c, '\t' | '\n') {
                out.push(c);
                continue;
            }
            out.push(picture(c));
            if picture(c).len_utf8() != c.len_utf8() {
                self.shifts.push((at + c.len_utf8(), out.len()));
            }
        }
        self.text = Some(out);
    }

    /// The place in the shown text for a place in the file.
    fn place(&self, at: usize) -> usize {
        let before = self.shifts.partition_point(|(place, _)| *place <= at);
        self.shifts[..before].last().map_or(at, |(place, here)| at - place + here)
    }
}

/// Returns true if a carriage return is not part of a line ending.
fn has_lone_return(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n') || text.ends_with('\r')
}

/// The sources as codespan-reporting needs them, with the line names of `#line`.
struct View<'a> {
    sources: &'a SourceMap,
    /// The requested files.
    shown: Vec<OnceCell<Shown>>,
}

impl<'a> View<'a> {
    fn new(sources: &'a SourceMap) -> View<'a> {
        View { sources, shown: sources.files().iter().map(|_| OnceCell::new()).collect() }
    }

    fn shown(&self, id: FileId) -> &Shown {
        self.shown[id.0 as usize].get_or_init(|| Shown::new(self.sources.file(id)))
    }
}

impl<'a> Files<'a> for View<'a> {
    type FileId = FileId;
    type Name = Cow<'a, str>;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<Cow<'a, str>, files::Error> {
        Ok(visible_name(&self.sources.file(id).name))
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, files::Error> {
        Ok(self.shown(id).text.as_deref().unwrap_or(&self.sources.file(id).text))
    }

    fn line_index(&'a self, id: FileId, byte: usize) -> Result<usize, files::Error> {
        Ok(self.shown(id).line_starts.partition_point(|start| *start <= byte) - 1)
    }

    fn line_number(&'a self, id: FileId, line: usize) -> Result<usize, files::Error> {
        // `#line` allows 0, and numbers that the renderer cannot take.
        Ok(self.sources.named_line(self.sources.file(id), line).1.max(1) as usize)
    }

    fn line_range(&'a self, id: FileId, line: usize) -> Result<Range<usize>, files::Error> {
        let starts = &self.shown(id).line_starts;
        let Some(start) = starts.get(line) else {
            return Err(files::Error::LineTooLarge { given: line, max: starts.len().saturating_sub(1) });
        };
        let end = starts.get(line + 1).copied().unwrap_or(self.source(id)?.len());
        Ok(*start..end)
    }
}

/// Version of the JSON form; raised when a field changes its meaning or goes away.
const JSON_SCHEMA: u32 = 1;

#[derive(Serialize)]
struct JsonLine<'a> {
    schema: u32,
    severity: &'static str,
    code: &'static str,
    message: &'a str,
    #[serde(flatten)]
    at: Option<JsonPlace>,
    labels: Vec<JsonLabel<'a>>,
    notes: &'a [String],
    suggestion: Option<JsonSuggestion<'a>>,
    /// The word after `-Wno-` that turns it off.
    warning: Option<&'static str>,
}

/// Lines and columns are 1-based; the end is exclusive.
#[derive(Serialize)]
struct JsonPlace {
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct JsonLabel<'a> {
    #[serde(flatten)]
    at: Option<JsonPlace>,
    text: &'a str,
    primary: bool,
}

#[derive(Serialize)]
struct JsonSuggestion<'a> {
    #[serde(flatten)]
    at: Option<JsonPlace>,
    replacement: &'a str,
    text: &'a str,
}

/// Renders all messages as JSON, one object per line.
pub fn json(sources: &SourceMap, diagnostics: &Diagnostics) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics.iter() {
        // Plain strings and numbers always serialise.
        let line = serde_json::to_string(&json_line(sources, diagnostic)).unwrap_or_default();
        text.push_str(&escaped_json(&line));
        text.push('\n');
    }
    text
}

fn json_line<'a>(sources: &SourceMap, diagnostic: &'a Diagnostic) -> JsonLine<'a> {
    let label =
        |label: &'a Label| JsonLabel { at: place(sources, label.span), text: &label.text, primary: label.primary };
    JsonLine {
        schema: JSON_SCHEMA,
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        code: diagnostic.code.0,
        message: &diagnostic.message,
        at: place(sources, diagnostic.span()),
        labels: diagnostic.labels.iter().map(label).collect(),
        notes: &diagnostic.notes,
        suggestion: diagnostic.suggestion.as_ref().map(|suggestion| JsonSuggestion {
            at: place(sources, suggestion.span),
            replacement: &suggestion.replacement,
            text: &suggestion.text,
        }),
        warning: warning::of(diagnostic.code).map(|kind| kind.name),
    }
}

fn place(sources: &SourceMap, span: Span) -> Option<JsonPlace> {
    let Location { file, line, column } = sources.locate(span.lo)?;
    let end = sources.locate(span.hi)?;
    Some(JsonPlace { file: file.to_string(), line, column, end_line: end.line, end_column: end.column })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;

    fn sample() -> (SourceMap, Diagnostics) {
        let mut sources = SourceMap::new();
        let id = sources.add("a.comp", "void main() {\n  x = 1;\n}\n").unwrap();
        let base = sources.file(id).base;
        let mut diagnostics = Diagnostics::new();
        let span = Span::new(base + 16, base + 17);
        let message = Diagnostic::error(Code::UNKNOWN_NAME, "no variable `x` is in scope");
        diagnostics.push(message.at(span, "not declared").suggest(span, "y", "did you mean `y`?"));
        (sources, diagnostics)
    }

    #[test]
    fn text_shows_place_and_label() {
        let (sources, diagnostics) = sample();
        let text = human(&sources, &diagnostics);
        assert!(text.contains("error[E0300]: no variable `x` is in scope"), "{text}");
        assert!(text.contains("a.comp:2:3"), "{text}");
        assert!(text.contains("help: did you mean `y`?"), "{text}");
    }

    #[test]
    fn hidden_characters_move_no_label() {
        let (mut sources, mut diagnostics) = (SourceMap::new(), Diagnostics::new());
        let id = sources.add("a\x1b.comp", "/*\x1b[2J\0\r\u{202e}\u{9b}*/ x = 1;\r\n").unwrap();
        let at = sources.file(id).base + sources.file(id).text.find('x').unwrap() as u32;
        diagnostics.push(Diagnostic::error(Code::UNKNOWN_NAME, "no \x1b").at(Span::new(at, at + 1), "here\x07"));
        let text = human(&sources, &diagnostics);
        let lines: Vec<&str> = text.lines().collect();
        assert!(text.chars().all(|c| c == '\n' || !is_hidden(c)), "{text:?}");
        assert_eq!(lines[0], "error[E0300]: no ␛");
        assert_eq!(lines[1], "  ┌─ a␛.comp:1:14");
        let column = |line: &str, of: char| line.chars().position(|c| c == of).unwrap();
        assert_eq!(column(lines[3], 'x'), column(lines[4], '^'), "{text}");
        let line: serde_json::Value = serde_json::from_str(json(&sources, &diagnostics).trim()).unwrap();
        assert_eq!(line["file"], "a\x1b.comp");
        assert_eq!(line["column"], 14);
    }

    #[test]
    fn json_holds_no_hidden_character() {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::error(Code::UNKNOWN_NAME, "\x1b\x7f\u{9b}\u{202e}"));
        let text = json(&SourceMap::new(), &diagnostics);
        assert!(text.trim().chars().all(|c| !is_hidden(c)), "{text:?}");
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["message"], "\x1b\x7f\u{9b}\u{202e}");
    }

    #[test]
    fn json_is_one_object_a_line() {
        let (sources, diagnostics) = sample();
        let line: serde_json::Value = serde_json::from_str(json(&sources, &diagnostics).trim()).unwrap();
        assert_eq!((line["line"].as_u64(), line["column"].as_u64()), (Some(2), Some(3)));
        assert_eq!(line["suggestion"]["replacement"], "y");
    }
}
