//! Sends messages to the editor. A text's messages are for its newest version; outdated ones are cleared.

use super::convert::Lines;
use super::manifest;
use super::server::{Known, Server, is_manifest, source};
use crate::diagnostic::{Diagnostic, Severity};
use crate::editor::{Analysis, Message, Place};
use lsp_server::Notification;
use lsp_types::notification::{Notification as _, PublishDiagnostics};
use lsp_types::{
    Diagnostic as LspDiagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    PublishDiagnosticsParams,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The messages of one text, by file.
pub type Published = BTreeMap<PathBuf, Vec<LspDiagnostic>>;

/// Sends the messages of all texts that changed.
pub fn publish(server: &mut Server<'_>) {
    let mut touched = BTreeSet::new();
    while let Some(path) = server.unpublished.pop_first() {
        let new = messages(server, &path);
        let old = server.published.insert(path.clone(), new);
        touched.extend(old.into_iter().flat_map(BTreeMap::into_keys));
        touched.extend(server.published[&path].keys().cloned());
        touched.insert(path);
    }
    touched.iter().for_each(|path| send(server, path));
}

/// Clears the messages of a closed text.
pub fn withdraw(server: &mut Server<'_>, path: &Path) {
    server.unpublished.remove(path);
    let old = server.published.remove(path).unwrap_or_default();
    old.keys().for_each(|file| send(server, file));
    send(server, path);
}

/// The current messages of a text.
fn messages(server: &mut Server<'_>, path: &Path) -> Published {
    let Some(document) = server.documents.get(path) else { return Published::new() };
    if is_manifest(path) {
        let text = document.text.clone();
        let list = manifest::diagnostics(path, &text, &Lines::new(&text, server.is_utf8));
        return Published::from([(path.to_path_buf(), list)]);
    }
    // A header's messages are reported as part of the shader that includes it.
    if server.root(path).is_none_or(|root| root != path) || server.read(path).is_none() {
        return Published::from([(path.to_path_buf(), Vec::new())]);
    }
    let mut files = Published::from([(path.to_path_buf(), Vec::new())]);
    let Some(known) = server.get(path) else { return files };
    let mut lines = LineCache { known, is_utf8: server.is_utf8, lines: BTreeMap::new() };
    let overlay = server.overlay(&known.shader);
    for message in known.analysis.messages(&source(&known.shader, &overlay)) {
        let place = known.analysis.place(message.diagnostic.span());
        let file = place.as_ref().map_or_else(|| path.to_path_buf(), |place| PathBuf::from(&*place.file));
        files.entry(file).or_default().push(converted(server, message, place, &mut lines));
    }
    files
}

/// Sends the messages of all texts about a file, each once.
fn send(server: &Server<'_>, path: &Path) {
    let Some(uri) = server.documents.uri(path) else { return };
    let mut diagnostics: Vec<LspDiagnostic> = Vec::new();
    for diagnostic in server.published.values().filter_map(|files| files.get(path)).flatten() {
        if !diagnostics.contains(diagnostic) {
            diagnostics.push(diagnostic.clone());
        }
    }
    let version = server.documents.get(path).map(|document| document.version);
    let params = PublishDiagnosticsParams { uri, diagnostics, version };
    server.send(Notification::new(PublishDiagnostics::METHOD.into(), params));
}

/// The lines of the files of one shader, each computed once.
pub struct LineCache<'a> {
    known: &'a Known,
    is_utf8: bool,
    lines: BTreeMap<String, Lines<'a>>,
}

impl<'a> LineCache<'a> {
    pub fn new(known: &'a Known, is_utf8: bool) -> LineCache<'a> {
        LineCache { known, is_utf8, lines: BTreeMap::new() }
    }

    pub fn range(&mut self, place: &Place) -> lsp_types::Range {
        let text = || {
            let mut files = self.known.analysis.sources().files().iter();
            files.find(|file| file.name == place.file).map_or("", |file| &*file.text)
        };
        let lines = self.lines.entry(place.file.to_string()).or_insert_with(|| Lines::new(text(), self.is_utf8));
        lines.range(place.start..place.end)
    }
}

fn converted(server: &Server<'_>, message: &Message, place: Option<Place>, lines: &mut LineCache<'_>) -> LspDiagnostic {
    let diagnostic = &message.diagnostic;
    let range = place.map(|place| lines.range(&place)).unwrap_or_default();
    LspDiagnostic {
        range,
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(diagnostic.code.to_string())),
        source: Some("crosslane".into()),
        message: message.text(),
        related_information: related(server, diagnostic, &lines.known.analysis, lines.is_utf8),
        ..Default::default()
    }
}

/// All labels except the first.
fn related(
    server: &Server<'_>,
    diagnostic: &Diagnostic,
    analysis: &Analysis,
    is_utf8: bool,
) -> Option<Vec<DiagnosticRelatedInformation>> {
    let first = diagnostic.labels.iter().position(|label| label.primary);
    let others = diagnostic.labels.iter().enumerate().filter(|(at, _)| Some(*at) != first);
    let info = |label: &crate::diagnostic::Label| {
        let place = analysis.place(label.span)?;
        let uri = server.documents.uri(Path::new(&*place.file))?;
        let file = analysis.sources().files().iter().find(|file| file.name == place.file)?;
        let range = Lines::new(&file.text, is_utf8).range(place.start..place.end);
        Some(DiagnosticRelatedInformation { location: Location { uri, range }, message: label.text.clone() })
    };
    let list: Vec<DiagnosticRelatedInformation> = others.filter_map(|(_, label)| info(label)).collect();
    (!list.is_empty()).then_some(list)
}
