//! Printing messages on standard error, in the form and colour that were asked for.

use super::args::{Color, MessageArgs, MessageFormat};
use crate::diagnostic::{Diagnostics, render};
use crate::source::SourceMap;
use std::io::{self, IsTerminal, Write};

/// Prints all messages. A standard error that cannot be written has nowhere to complain.
pub fn print(args: &MessageArgs, sources: &SourceMap, diagnostics: &Diagnostics) {
    let bytes = match args.message_format {
        MessageFormat::Json => render::json(sources, diagnostics).into_bytes(),
        MessageFormat::Human if colour(args.color) => render::coloured(sources, diagnostics),
        MessageFormat::Human => render::human(sources, diagnostics).into_bytes(),
    };
    let _ = io::stderr().lock().write_all(&bytes);
}

/// `NO_COLOR` (no-color.org) and `CLICOLOR_FORCE` speak where the option says `auto`.
fn colour(when: Color) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match when {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto => set("CLICOLOR_FORCE") || io::stderr().is_terminal(),
    }
}
