//! `crosslane ops`: every cross-lane operation, and what each profile makes of it.

use super::args::OpsArgs;
use super::output::to_stdout;
use super::{Exit, Outcome, profiles};
use crate::lane::describe::{self, Line};
use crate::profile::Profile;
use std::fmt::Write;

pub fn run(args: &OpsArgs) -> Outcome {
    let chosen: Vec<Profile> = match args.profile.as_slice() {
        [] => Profile::all().collect(),
        names => names.iter().map(|name| profiles::find(name)).collect::<Result<_, _>>()?,
    };
    let mut lines = describe::table(&chosen);
    if let Some(filter) = &args.filter {
        let wanted = filter.to_ascii_lowercase();
        lines.retain(|line| line.family.to_ascii_lowercase().contains(&wanted));
    }
    to_stdout(table(&chosen, &lines).as_bytes()).map(|()| Exit::Done)
}

/// Columns as wide as their widest cell. Writing into a `String` cannot fail.
fn table(profiles: &[Profile], lines: &[Line]) -> String {
    let header = std::iter::once("operation".to_string()).chain(profiles.iter().map(|p| p.name.to_string()));
    let cells = |line: &Line| {
        std::iter::once(line.family.to_string()).chain(line.support.iter().map(ToString::to_string)).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(header.collect()).chain(lines.iter().map(cells)).collect();
    let widths: Vec<usize> =
        (0..=profiles.len()).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
