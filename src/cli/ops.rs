//! `crosslane ops`: every cross-lane operation with its code on each profile, or one operation by its name in any
//! language.

use super::args::OpsArgs;
use super::output::{Sink, make_folder, to_stdout};
use super::{CommandError, Exit, Outcome, profiles, terminal};
use crate::build::claims::Claims;
use crate::dictionary::search::{Dictionary, Found};
use crate::dictionary::{Entry, general};
use crate::explain::dictionary::answer::{self, Elsewhere, Spelled};
use crate::explain::dictionary::page;
use crate::explain::text::wrapped;
use crate::explain::{book, header, json};
use crate::lane::describe::{self, Line, Support};
use crate::lane::{LaneOp, catalog};
use crate::profile::Profile;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

pub fn run(args: &OpsArgs, claims: &Claims) -> Outcome {
    if args.header {
        return to_stdout(header::header().as_bytes()).map(|()| Exit::Done);
    }
    if args.dictionary {
        return to_stdout(page::page().as_bytes()).map(|()| Exit::Done);
    }
    let chosen: Vec<Profile> = match args.profile.as_slice() {
        [] => Profile::all().collect(),
        names => names.iter().map(|name| profiles::find(name, claims)).collect::<Result<_, _>>()?,
    };
    if let Some(folder) = &args.pages {
        return write_pages(folder, &chosen, claims);
    }
    let asked = args.filter.as_deref().map_or(Ok(Asked::All), Asked::of)?;
    let width = args.width.or_else(terminal::columns);
    let text = match &asked {
        asked if args.json => json::json(&Json::new(&chosen, asked)),
        Asked::Name(entries) => answer::text(entries, (!args.profile.is_empty()).then_some(&*chosen), width),
        Asked::Among(entries) => answer::list(entries, width),
        asked => fitting(&chosen, &asked.lines(&chosen), width),
    };
    to_stdout(text.as_bytes()).map(|()| Exit::Done)
}

/// The requested operations.
enum Asked {
    All,
    /// Operations whose heading in the table contains a text.
    Families(String),
    /// Operations with a name in some language.
    Name(Vec<Entry>),
    /// Operations whose names contain a text.
    Among(Vec<Entry>),
}

impl Asked {
    /// # Errors
    /// Returns an error if no operation has this name.
    fn of(name: &str) -> Result<Asked, CommandError> {
        let dictionary = Dictionary::new();
        if let Some(entries) = dictionary.exact(name) {
            return Ok(Asked::Name(entries));
        }
        let wanted = name.to_ascii_lowercase();
        if catalog::all().iter().any(|sample| sample.family.to_ascii_lowercase().contains(&wanted)) {
            return Ok(Asked::Families(wanted));
        }
        match dictionary.find(name) {
            Found::Name(entries) => Ok(Asked::Name(entries)),
            Found::Among(entries) => Ok(Asked::Among(entries)),
            Found::Near(names) => Err(unknown(name, &names)),
        }
    }

    /// The names that were found.
    fn entries(&self) -> &[Entry] {
        match self {
            Asked::All | Asked::Families(_) => &[],
            Asked::Name(entries) | Asked::Among(entries) => entries,
        }
    }

    /// The lines of the table.
    fn lines(&self, profiles: &[Profile]) -> Vec<Line> {
        let mut lines = describe::table(profiles);
        lines.retain(|line| self.has(line.family));
        lines
    }

    fn has(&self, family: &str) -> bool {
        match self {
            Asked::All => true,
            Asked::Families(wanted) => family.to_ascii_lowercase().contains(wanted),
            Asked::Name(entries) | Asked::Among(entries) => {
                let ops: Vec<LaneOp> = entries.iter().filter_map(|entry| entry.means.op()).map(general).collect();
                catalog::all().iter().any(|sample| sample.family == family && ops.contains(&general(sample.op)))
            }
        }
    }
}

fn unknown(name: &str, near: &[String]) -> CommandError {
    let hint = match near {
        [] => {
            "`crosslane ops` lists the operations, and the book's dictionary the names in other languages".to_string()
        }
        near => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            format!("did you mean {}?", near.join(" or "))
        }
    };
    CommandError(format!("no operation is called `{name}`; {hint}"))
}

/// The table, or paragraphs if the table is too wide.
fn fitting(profiles: &[Profile], lines: &[Line], width: Option<usize>) -> String {
    let table = table(profiles, lines);
    let fits = |width: usize| table.lines().all(|line| line.chars().count() <= width);
    match width {
        Some(width) if !fits(width) => paragraphs(profiles, lines, width),
        _ => table,
    }
}

/// For each operation, the profiles grouped by their code for it, in order.
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

/// Writes a file for each page of the book about operations.
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
    /// The names that were found.
    names: Vec<JsonName>,
}

#[derive(Serialize)]
struct JsonName {
    #[serde(flatten)]
    spelled: Spelled,
    elsewhere: Vec<Elsewhere>,
}

#[derive(Serialize)]
struct JsonOperation {
    name: &'static str,
    /// One for each profile, in order.
    support: Vec<JsonSupport>,
}

#[derive(Serialize)]
struct JsonSupport {
    /// True if some form can be done.
    can: bool,
    /// Minimum and maximum number of instructions of the possible forms.
    least_instructions: Option<usize>,
    most_instructions: Option<usize>,
    /// Lanes of the subgroup, if wider forms exchange values in workgroup memory, and their barriers.
    wider_than: Option<u32>,
    least_barriers: Option<usize>,
    most_barriers: Option<usize>,
    /// Why some or all forms cannot be done.
    refusal: Option<String>,
}

impl<'a> Json<'a> {
    fn new(profiles: &'a [Profile], asked: &Asked) -> Json<'a> {
        let name = |entry: &Entry| JsonName {
            spelled: Spelled::of(entry),
            elsewhere: entry.means.op().map(answer::elsewhere).unwrap_or_default(),
        };
        let operation = |line: &Line| JsonOperation {
            name: line.family,
            support: line.support.iter().map(JsonSupport::of).collect(),
        };
        Json {
            schema: "crosslane-ops-1",
            profiles: profiles.iter().map(|profile| &*profile.name).collect(),
            operations: asked.lines(profiles).iter().map(operation).collect(),
            names: asked.entries().iter().map(name).collect(),
        }
    }
}

impl JsonSupport {
    fn of(support: &Support) -> JsonSupport {
        JsonSupport {
            can: support.instructions.is_some(),
            least_instructions: support.instructions.map(|(least, _)| least),
            most_instructions: support.instructions.map(|(_, most)| most),
            wider_than: support.wider.map(|wider| wider.than),
            least_barriers: support.wider.map(|wider| wider.barriers.0),
            most_barriers: support.wider.map(|wider| wider.barriers.1),
            refusal: support.refusal.as_ref().map(|refusal| refusal.reason().to_string()),
        }
    }
}

/// A head and a cell for each operation.
struct Column {
    head: String,
    cells: Vec<String>,
}

/// A column for each profile; neighbours with the same code for every operation share one.
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
