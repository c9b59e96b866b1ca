//! `crosslane.toml` in the editor: errors, keys and profiles.

use super::convert::Lines;
use crate::build::files::FileLoader;
use crate::cli::CommandError;
use crate::cli::build::manifest::Manifest;
use crate::cli::profiles;
use crate::profile::Profile;
use lsp_types::{
    CompletionItem, CompletionItemKind, Diagnostic, DiagnosticSeverity, Documentation, Hover, HoverContents,
    MarkupContent, MarkupKind, Position,
};
use std::ops::Range;
use std::path::Path;

/// The messages about a manifest.
pub fn diagnostics(path: &Path, text: &str, lines: &Lines<'_>) -> Vec<Diagnostic> {
    let manifest = match Manifest::of(path, text.into()) {
        Ok(manifest) => manifest,
        Err(wrong) => return vec![error(lines.range(wrong.span), wrong.message.trim_end().into())],
    };
    let files = FileLoader::default();
    let names = manifest.builds.iter().flat_map(|build| build.profiles.get_ref());
    let wrong = names.filter_map(|name| {
        let is_file = name.get_ref().ends_with(".toml");
        let path = manifest.folder().join(name.get_ref()).display().to_string();
        let read = profiles::read(if is_file { &path } else { name.get_ref() }, &files);
        let CommandError(why) = read.err()?;
        Some(error(lines.range(name.span()), why))
    });
    wrong.collect()
}

fn error(range: lsp_types::Range, message: String) -> Diagnostic {
    let severity = Some(DiagnosticSeverity::ERROR);
    Diagnostic { range, severity, source: Some("crosslane".into()), message, ..Default::default() }
}

/// The profiles inside of a string, otherwise the keys.
pub fn completions(text: &str, lines: &Lines<'_>, position: Position) -> Vec<CompletionItem> {
    let offset = lines.offset(position);
    let line = &text[text[..offset].rfind('\n').map_or(0, |newline| newline + 1)..offset];
    if line.matches('"').count() % 2 == 1 {
        return Profile::all()
            .map(|profile| item(&profile.name, CompletionItemKind::VALUE, &profile.description))
            .collect();
    }
    if line.contains(['=', '[']) {
        return Vec::new();
    }
    Manifest::keys().iter().map(|key| item(key, CompletionItemKind::PROPERTY, "")).collect()
}

fn item(label: &str, kind: CompletionItemKind, about: &str) -> CompletionItem {
    let documentation = (!about.is_empty()).then(|| Documentation::String(about.into()));
    CompletionItem { label: label.into(), kind: Some(kind), documentation, ..Default::default() }
}

/// The description of the profile whose name is in the string at a position.
pub fn hover(text: &str, lines: &Lines<'_>, position: Position) -> Option<Hover> {
    let range = string_at(text, lines.offset(position))?;
    let profile = Profile::named(&text[range.clone()])?;
    let value = format!("**{}**: {}", profile.name, profile.description);
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    Some(Hover { contents, range: Some(lines.range(range)) })
}

fn string_at(text: &str, offset: usize) -> Option<Range<usize>> {
    let start = text[..offset].rfind(['"', '\n'])? + 1;
    let end = offset + text[offset..].find(['"', '\n'])?;
    (text.as_bytes()[start - 1] == b'"' && text.as_bytes()[end] == b'"').then_some(start..end)
}
