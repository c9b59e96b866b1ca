//! The lines that a build script prints for cargo, on standard output (The Cargo Book, "Build Scripts").

use crate::diagnostic::visible::visible;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::source::SourceMap;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Lines for cargo, each file and message once.
#[derive(Default)]
pub struct Lines {
    is_silent: bool,
    said: BTreeSet<String>,
}

impl Lines {
    /// Lines for cargo, printed only in a build script.
    pub fn new(is_printed: bool) -> Lines {
        Lines { is_silent: !is_printed, said: BTreeSet::new() }
    }

    /// Reruns the script when this file, or a file in this folder, changes.
    pub fn file(&mut self, path: &str) {
        self.say(format!("cargo::rerun-if-changed={path}"));
    }

    /// Reruns the script when this variable changes.
    pub fn variable(&mut self, name: &str) {
        self.say(format!("cargo::rerun-if-env-changed={name}"));
    }

    pub fn error(&mut self, text: &str) {
        self.say(format!("cargo::error={}", one_line(text)));
    }

    /// Reports all messages about a shader.
    pub fn messages(&mut self, shader: &str, sources: &SourceMap, diagnostics: &Diagnostics) {
        for diagnostic in diagnostics.iter() {
            let kind = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
            self.say(format!("cargo::{kind}={}", one_line(&text(shader, sources, diagnostic))));
        }
    }

    fn say(&mut self, line: String) {
        if !self.is_silent && !self.said.contains(&line) {
            // If standard output cannot be written, there is no way to report it.
            let _ = writeln!(io::stdout().lock(), "{line}");
            self.said.insert(line);
        }
    }
}

/// `a.comp:3:5: E0300: message (label); note`; a message without a place names the shader.
fn text(shader: &str, sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let at = sources.locate(diagnostic.span().lo);
    let place = at.map_or(format!("{shader}: "), |at| format!("{}:{}:{}: ", at.file, at.line, at.column));
    let label = diagnostic.labels.iter().find(|label| label.primary && !label.text.is_empty());
    let label = label.map_or(String::new(), |label| format!(" ({})", label.text));
    let more = diagnostic.notes.iter().chain(diagnostic.suggestion.as_ref().map(|suggestion| &suggestion.text));
    let notes: String = more.map(|note| format!("; {note}")).collect();
    format!("{place}{}: {}{label}{notes}", diagnostic.code, diagnostic.title())
}

/// Cargo's directives end at the end of the line.
fn one_line(text: &str) -> String {
    visible(&text.replace(['\n', '\r'], " ")).into_owned()
}
