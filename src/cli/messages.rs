//! Printing messages on standard error, in the form and colour requested.

use super::CommandError;
use super::args::{Color, MessageArgs, MessageFormat};
use crate::diagnostic::visible::visible;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, render};
use crate::source::SourceMap;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Prints all messages. A standard error that cannot be written has nowhere to complain.
pub fn print(args: &MessageArgs, sources: &SourceMap, diagnostics: &Diagnostics) {
    let bytes = render(args, sources, diagnostics);
    let _ = match args.message_format {
        MessageFormat::Glslang | MessageFormat::GlslangColumns => io::stdout().lock().write_all(&bytes),
        _ => io::stderr().lock().write_all(&bytes),
    };
}

/// Renders all messages as bytes.
pub fn render(args: &MessageArgs, sources: &SourceMap, diagnostics: &Diagnostics) -> Vec<u8> {
    match args.message_format {
        MessageFormat::Json => render::json(sources, diagnostics).into_bytes(),
        MessageFormat::Lines => render::lines(sources, diagnostics).into_bytes(),
        MessageFormat::Glslang => render::glslang(sources, diagnostics, false).into_bytes(),
        MessageFormat::GlslangColumns => render::glslang(sources, diagnostics, true).into_bytes(),
        MessageFormat::None => Vec::new(),
        MessageFormat::Human if colour(args.color) => render::coloured(sources, diagnostics),
        MessageFormat::Human => render::human(sources, diagnostics).into_bytes(),
    }
}

/// The messages about an output.
pub struct Said<'a> {
    pub output: &'a Path,
    pub sources: &'a SourceMap,
    pub diagnostics: &'a Diagnostics,
}

/// The messages about the outputs of one shader, each once. A message about only some of its outputs names them.
pub fn once(args: &MessageArgs, said: &[Said<'_>], outputs: usize) -> Vec<u8> {
    let mut groups: Vec<(Vec<u8>, Vec<&Path>)> = Vec::new();
    for Said { output, sources, diagnostics } in said {
        let words = render(args, sources, diagnostics);
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, outputs)) => outputs.push(output),
            None => groups.push((words, vec![output])),
        }
    }
    let is_human = args.message_format == MessageFormat::Human;
    let mut text = Vec::new();
    for (words, about) in groups.into_iter().filter(|(words, _)| !words.is_empty()) {
        text.extend(words);
        if is_human && about.len() < outputs {
            text.extend(visible(&for_whom(&about)).as_bytes());
        }
    }
    text
}

/// The outputs of a message, in words.
fn for_whom(outputs: &[&Path]) -> String {
    let more = match outputs.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("  = in {}{more}\n\n", outputs[0].display())
}

/// A message without a place in a source, as bytes: one line.
pub fn plain(args: &MessageArgs, diagnostic: Diagnostic) -> Vec<u8> {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    let text = render(args, &SourceMap::new(), &diagnostics);
    [text.trim_ascii_end(), b"\n"].concat()
}

/// Prints why a command cannot be carried out, in the form requested.
pub fn command_failed(args: Option<&MessageArgs>, CommandError(text): &CommandError) {
    let bytes = match args.filter(|args| args.message_format == MessageFormat::Json) {
        Some(args) => plain(args, Diagnostic::error(Code::COMMAND_FAILED, text)),
        None => format!("error: {}\n", visible(text)).into_bytes(),
    };
    let _ = io::stderr().lock().write_all(&bytes);
}

/// Prints a line on standard error. Unlike `eprintln!` it does not panic if this fails.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", visible(text));
}

/// `NO_COLOR` (no-color.org) and `CLICOLOR_FORCE` decide if the option is `auto`.
pub fn colour(when: Color) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match when {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto => set("CLICOLOR_FORCE") || io::stderr().is_terminal(),
    }
}
