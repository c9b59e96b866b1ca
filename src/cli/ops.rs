//! `crosslane ops`: every cross-lane operation, and what each profile makes of it.

use super::args::OpsArgs;
use super::output::{Sink, make_folder, to_stdout};
use super::{CommandError, Exit, Outcome, profiles, terminal};
use crate::build::claims::Claims;
use crate::diagnostic::nearest::nearest;
use crate::explain::text::wrapped;
use crate::explain::{book, header, json};
use crate::lane::describe::{self, Line, Support};
use crate::profile::Profile;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

pub fn run(args: &OpsArgs, claims: &Claims) -> Outcome {
    if args.header {
        return to_stdout(header::header().as_bytes()).map(|()| Exit::Done);
    }
    let chosen: Vec<Profile> = match args.profile.as_slice() {
        [] => Profile::all().collect(),
        names => names.iter().map(|name| profiles::find(name, claims)).collect::<Result<_, _>>()?,
    };
    if let Some(folder) = &args.pages {
        return write_pages(folder, &chosen, claims);
    }
    let mut lines = describe::table(&chosen);
    if let Some(filter) = &args.filter {
        let wanted = filter.to_ascii_lowercase();
        let families: Vec<&str> = lines.iter().map(|line| line.family).collect();
        lines.retain(|line| line.family.to_ascii_lowercase().contains(&wanted));
        if lines.is_empty() {
            return Err(unknown(filter, &families));
        }
    }
    let text = match args.json {
        true => json::json(&Json::new(&chosen, &lines)),
        false => fitting(&chosen, &lines, args.width.or_else(terminal::columns)),
    };
    to_stdout(text.as_bytes()).map(|()| Exit::Done)
}

fn unknown(filter: &str, families: &[&str]) -> CommandError {
    // `allReduceAdd8` is of the family `allReduce`.
    let longer =
        || families.iter().copied().filter(|family| filter.starts_with(family)).max_by_key(|family| family.len());
    let hint = match nearest(filter, families.iter().copied()).or_else(longer) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`crosslane ops` lists them".to_string(),
    };
    CommandError(format!("no operation's name contains `{filter}`; {hint}"))
}

/// The table, or paragraphs where it is wider than the text may be.
fn fitting(profiles: &[Profile], lines: &[Line], width: Option<usize>) -> String {
    let table = table(profiles, lines);
    let fits = |width: usize| table.lines().all(|line| line.chars().count() <= width);
    match width {
        Some(width) if !fits(width) => paragraphs(profiles, lines, width),
        _ => table,
    }
}

/// For each operation the profiles by what they make of it, in the order in which they come.
fn paragraphs(profiles: &[Profile], lines: &[Line], width: usize) -> String {
    let mut text = String::new();
    for line in lines {
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for (profile, support) in profiles.iter().zip(&line.support) {
            let said = support.to_string();
            match groups.iter_mut().find(|(known, _)| *known == said) {
                Some((_, names)) => names.push(&profile.name),
                None => groups.push((said, vec![&profile.name])),
            }
        }
        text += &format!("{}\n", line.family);
        for (said, names) in groups {
            let group = format!("  {said}: {}", names.join(" "));
            wrapped(&group, Some(width)).iter().for_each(|line| text += &format!("{line}\n"));
        }
    }
    text
}

/// A file for each page of the book that is about operations.
fn write_pages(folder: &Path, profiles: &[Profile], claims: &Claims) -> Outcome {
    make_folder(folder)?;
    for page in book::pages(profiles) {
        Sink::File(folder.join(page.file)).write(page.text.as_bytes(), claims)?;
    }
    Ok(Exit::Done)
}

/// The table as data.
#[derive(Serialize)]
struct Json<'a> {
    schema: &'static str,
    profiles: Vec<&'a str>,
    operations: Vec<JsonOperation>,
}

#[derive(Serialize)]
struct JsonOperation {
    name: &'static str,
    /// One for each profile, in their order.
    support: Vec<JsonSupport>,
}

#[derive(Serialize)]
struct JsonSupport {
    /// True if some form can be done.
    can: bool,
    /// Fewest and most instructions of the forms that can be done.
    least_instructions: Option<usize>,
    most_instructions: Option<usize>,
    /// Why some or all forms cannot be done.
    refusal: Option<String>,
}

impl<'a> Json<'a> {
    fn new(profiles: &'a [Profile], lines: &[Line]) -> Json<'a> {
        let operation = |line: &Line| JsonOperation {
            name: line.family,
            support: line.support.iter().map(JsonSupport::of).collect(),
        };
        Json {
            schema: "crosslane-ops-1",
            profiles: profiles.iter().map(|profile| &*profile.name).collect(),
            operations: lines.iter().map(operation).collect(),
        }
    }
}

impl JsonSupport {
    fn of(support: &Support) -> JsonSupport {
        JsonSupport {
            can: support.instructions.is_some(),
            least_instructions: support.instructions.map(|(least, _)| least),
            most_instructions: support.instructions.map(|(_, most)| most),
            refusal: support.refusal.as_ref().map(|refusal| refusal.reason().to_string()),
        }
    }
}

/// A head and a cell for each operation.
struct Column {
    head: String,
    cells: Vec<String>,
}

/// A column for each profile; neighbours that make the same of everything share one.
fn columns(profiles: &[Profile], lines: &[Line]) -> Vec<Column> {
    let names =
        Column { head: "operation".to_string(), cells: lines.iter().map(|line| line.family.to_string()).collect() };
    let mut columns = vec![names];
    for (n, profile) in profiles.iter().enumerate() {
        let cells: Vec<String> = lines.iter().map(|line| line.support[n].to_string()).collect();
        match columns.last_mut() {
            Some(last) if last.cells == cells => last.head = format!("{}, {}", last.head, profile.name),
            _ => columns.push(Column { head: profile.name.to_string(), cells }),
        }
    }
    columns
}

/// Columns as wide as their widest cell. Writing into a `String` cannot fail.
fn table(profiles: &[Profile], lines: &[Line]) -> String {
    let columns = columns(profiles, lines);
    let row = |at: usize| columns.iter().map(|column| column.cells[at].clone()).collect();
    let head = columns.iter().map(|column| column.head.clone()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain((0..lines.len()).map(row)).collect();
    let widths: Vec<usize> =
        (0..columns.len()).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
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
