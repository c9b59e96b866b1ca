//! The width of text on a terminal.

use std::io::{self, IsTerminal};
use terminal_size::{Width, terminal_size};

/// Columns of the terminal on standard output; `None` without a terminal.
pub fn columns() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    told.or_else(|| terminal_size().map(|(Width(columns), _)| columns.into()))
}
