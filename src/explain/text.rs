//! Reports as text for a terminal, operation by operation, with profiles side by side where they fit.

use super::listing::{Line, Unit};
use super::lowering::{Difference, Lowering, Rejected};
use super::picture::{Parts, PartsRow, Picture, PictureRow};
use super::spanning::{SpanLine, Spanned};
use super::{OnProfile, Operation, ProfileReport, Report};

/// Lanes in one line of a picture.
const LANES: usize = 16;

/// Subgroups in one line of a picture.
const SUBGROUPS: usize = 8;

/// Between two profiles that are side by side.
const GAP: &str = "   ";

/// The text of a report for a terminal with this many columns.
pub fn text(report: &Report, columns: usize) -> String {
    let mut lines = Vec::new();
    for profile in &report.profiles {
        if let Some(reason) = &profile.refused {
            lines.push(format!("{}: no: {reason}", profile.name));
        }
    }
    if report.operations.is_empty() {
        lines.push(format!("{}: no cross-lane operations", report.input));
    }
    for operation in &report.operations {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(header(operation));
        lines.extend(indented(&operation_picture(operation), "  "));
        lines.extend(profiles(&report.profiles, operation, columns));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The place of the operation and its meaning.
fn header(operation: &Operation) -> Vec<String> {
    let place = &operation.place;
    let number = place.line.to_string();
    let operands: Vec<String> =
        operation.operands.iter().map(|operand| format!("{} {}", operand.known, operand.ty)).collect();
    let takes = if operands.is_empty() { String::new() } else { format!(" of {}", operands.join(", ")) };
    let mut lines = vec![
        format!("{}:{}:{}: {}{takes}", place.file, place.line, place.column, operation.name),
        format!("  {number} | {}", place.text),
        format!("  {}: {}", operation.meaning, operation.formula),
    ];
    lines.extend(operation.part_of.iter().map(|whole| format!("  {whole}")));
    lines
}

/// The picture of the first profile that has one, with the steps of its plan.
fn operation_picture(operation: &Operation) -> Vec<String> {
    let planned = operation.profiles.iter().find_map(|profile| match profile {
        OnProfile::Planned(lowering) => lowering.picture.as_ref(),
        _ => None,
    });
    planned.map(picture).unwrap_or_default()
}

/// The rows of a picture under the lanes' numbers, some lanes a line.
pub fn picture(picture: &Picture) -> Vec<String> {
    let lanes: Vec<String> = (0..picture.lanes).map(|lane| lane.to_string()).collect();
    let example = if picture.example { ", with example operands" } else { "" };
    let mut lines = vec![format!("lanes 0 to {} of {}{example}:", picture.lanes - 1, picture.subgroup)];
    let label = picture.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0).max(4);
    let cells = picture.rows.iter().flat_map(|row| &row.cells).chain(&lanes);
    let cell = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
    for first in (0..lanes.len()).step_by(LANES) {
        let row = |name: &str, cells: &[String]| picture_line(name, cells, first, label, cell);
        lines.push(row("lane", &lanes));
        lines.extend(picture.rows.iter().map(|PictureRow { label, cells, .. }| row(label, cells)));
    }
    lines
}

fn picture_line(name: &str, cells: &[String], first: usize, label: usize, width: usize) -> String {
    let shown = cells.iter().skip(first).take(LANES);
    let cells: String = shown.map(|cell| format!("  {cell:>width$}")).collect();
    format!("{name:label$}{cells}")
}

/// The lowering of the operation by each profile.
fn profiles(names: &[ProfileReport], operation: &Operation, columns: usize) -> Vec<String> {
    let blocks: Vec<Vec<String>> =
        names.iter().zip(&operation.profiles).map(|(name, profile)| block(name, profile)).collect();
    let width = |block: &Vec<String>| block.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = blocks.iter().map(width).collect();
    let all = widths.iter().sum::<usize>() + GAP.len() * widths.len();
    if blocks.len() > 1 && all <= columns {
        side_by_side(&blocks, &widths)
    } else {
        blocks.iter().flat_map(|block| indented(block, "  ")).collect()
    }
}

fn side_by_side(blocks: &[Vec<String>], widths: &[usize]) -> Vec<String> {
    let height = blocks.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |block: &Vec<String>, row: usize| block.get(row).cloned().unwrap_or_default();
    let line = |row: usize| {
        let cells = blocks.iter().zip(widths).map(|(block, width)| format!("{:width$}", cell(block, row)));
        format!("  {}", cells.collect::<Vec<_>>().join(GAP))
    };
    (0..height).map(line).collect()
}

fn block(name: &ProfileReport, profile: &OnProfile) -> Vec<String> {
    match profile {
        OnProfile::Planned(lowering) => {
            let copies = lowering.copies.iter();
            planned(name, lowering).into_iter().chain(copies.flat_map(|copy| planned(name, copy))).collect()
        }
        OnProfile::Spanning(answer) => {
            let head = format!("{}: {}", name.name, answer.title());
            [head].into_iter().chain(spanned(answer)).collect()
        }
        OnProfile::Gone => vec![format!("{}: nothing to do: its result is not used, or known without it", name.name)],
        OnProfile::Refused { reason } => vec![format!("{}: no: {reason}", name.name)],
        OnProfile::Absent => vec![format!("{}: not in the source for it", name.name)],
    }
}

fn planned(name: &ProfileReport, lowering: &Lowering) -> Vec<String> {
    let mut lines = vec![format!("{}: {}; {}", name.name, lowering.rule, lowering.lanes())];
    lines.extend(chosen(lowering));
    if lowering.proposed {
        lines.push("  as in the 2016 proposal, whose sequence is the cheapest here".into());
    }
    lines.extend(lowering.rejected.iter().flat_map(instead));
    let lacking = lowering.lacking.iter();
    lines.extend(lacking.map(|other| format!("  without {}: it has no {}", other.rule, other.feature)));
    lines
}

/// The note on an operation that has no lines.
pub const SHARED: &str = "no lines of its own: other code computes the same";

/// The plan's lines and their cost.
pub fn chosen(lowering: &Lowering) -> Vec<String> {
    let unwritten = lowering.unwritten.iter().map(|reason| format!("  not written in its language yet: {reason}"));
    let lines = sequence("set-up: ", &lowering.setup).into_iter().chain(sequence("", &lowering.sequence));
    let shared = lowering.is_shared().then(|| format!("    {SHARED}"));
    let narrower = narrower(lowering.narrower.as_deref());
    unwritten.chain(lines).chain(shared).chain([format!("  {}", summary(lowering))]).chain(narrower).collect()
}

/// A line for each program for narrower subgroups.
fn narrower(first: Option<&Spanned>) -> impl Iterator<Item = String> {
    let ways = first.into_iter().flat_map(Spanned::ways);
    ways.map(|way| format!("  {}; {}", way.title(), way.summary()))
}

/// The picture, the steps and the cost of an operation over several subgroups.
pub fn spanned(answer: &Spanned) -> Vec<String> {
    let picture = answer.picture.as_ref().map(|parts| indented(&parts_lines(parts), "    ")).unwrap_or_default();
    let steps = answer.steps.iter().flat_map(span_line);
    let notes = [format!("  {}", answer.notation()), format!("  = {}", answer.summary())];
    picture.into_iter().chain(steps).chain(notes).chain(narrower(answer.narrower.as_deref())).collect()
}

fn span_line(step: &SpanLine) -> Vec<String> {
    let code = step.lowering.as_deref().into_iter().flat_map(|first| std::iter::once(first).chain(&first.copies));
    let code = code.flat_map(|lowering| [format!("  {}", lowering.rule)].into_iter().chain(chosen(lowering)));
    let code = indented(&code.collect::<Vec<_>>(), "    ");
    [format!("    {}: {}", step.phase.name(), step.text)].into_iter().chain(code).collect()
}

/// The rows of a picture under the lanes of the subgroups, some subgroups a line; a rule follows each exchange.
fn parts_lines(parts: &Parts) -> Vec<String> {
    let example = if parts.example { ", with example operands" } else { "" };
    let mut lines = vec![format!("a segment of {}{example}:", count(parts.subgroups.len() as u32, "subgroup"))];
    let label = parts.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0).max(5);
    // Slots have brackets.
    let letters = |row: &PartsRow, cell: &String| cell.chars().count() + if row.exchange.is_some() { 2 } else { 0 };
    let cells = parts.rows.iter().flat_map(|row| row.cells.iter().map(|cell| letters(row, cell)));
    let width = cells.chain(parts.subgroups.iter().map(String::len)).max().unwrap_or(0);
    for first in (0..parts.subgroups.len()).step_by(SUBGROUPS) {
        lines.push(parts_line("lanes", &parts.subgroups[first..], label, width));
        for (n, row) in parts.rows.iter().enumerate() {
            let slots = |cell: &String| if row.exchange.is_some() { format!("[{cell}]") } else { cell.clone() };
            let cells: Vec<String> = row.cells[first..].iter().map(slots).collect();
            lines.push(parts_line(&row.label, &cells, label, width));
            let next = parts.rows.get(n + 1).and_then(|next| next.exchange);
            if row.exchange.is_some() && next != row.exchange {
                let shown = cells.len().min(SUBGROUPS);
                lines.push(format!("{:label$}  {}", "wait", "-".repeat(shown * (width + 2) - 2)));
            }
        }
    }
    lines
}

fn parts_line(name: &str, cells: &[String], label: usize, width: usize) -> String {
    let cells: String = cells.iter().take(SUBGROUPS).map(|cell| format!("  {cell:>width$}")).collect();
    format!("{name:label$}{cells}")
}

/// The rejected plan, with its lines if it is the proposal's.
fn instead(other: &Rejected) -> Vec<String> {
    let mut lines = vec![format!("  instead of {}", rejected(other))];
    if other.proposed {
        lines.extend(sequence("set-up: ", &other.setup));
        lines.extend(sequence("", &other.sequence));
    }
    lines
}

/// One line each; only the first has the leading word.
fn sequence(word: &str, lines: &[Line]) -> Vec<String> {
    let blank = " ".repeat(word.len());
    let start = |n: usize| if n == 0 { word } else { &blank };
    lines.iter().enumerate().map(|(n, line)| format!("    {}{}", start(n), line.text)).collect()
}

/// `= v1: 5 instructions (4 vector, 1 LDS), 2 wait states, 84 cycles, 1 vector register`
fn summary(lowering: &Lowering) -> String {
    let cost = &lowering.cost;
    let units: Vec<String> =
        lowering.units.iter().map(|unit| format!("{} {}", unit.count, unit_name(unit.unit))).collect();
    let units = if units.is_empty() { String::new() } else { format!(" ({})", units.join(", ")) };
    let instructions = lowering.instructions();
    let mut parts = vec![format!("{}{units}", count(instructions, "instruction"))];
    if instructions != cost.written() {
        parts.push(format!("priced as {}", cost.written()));
    }
    if cost.rare > 0 {
        parts.push(format!("{} of them on the less common way", cost.rare));
    }
    if lowering.wait_states.max(cost.waits) > 0 {
        parts.push(count(lowering.wait_states, "wait state"));
    }
    if lowering.wait_states != cost.waits {
        parts.push(format!("priced as {}", cost.waits));
    }
    let more = [(cost.latency, "cycle"), (cost.vectors, "vector register"), (cost.scalars, "scalar register")];
    parts.extend(more.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n, what)));
    let uniform = if lowering.uniform { ", the same in all lanes" } else { "" };
    let results =
        if lowering.results.is_empty() { String::new() } else { format!("{}: ", lowering.results.join(" and ")) };
    format!("= {results}{}{uniform}", parts.join(", "))
}

fn unit_name(unit: Unit) -> &'static str {
    unit.name()
}

/// Words with a capital letter in front.
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `1 cycle`, `2 cycles`.
pub fn count(n: u32, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `xor tree by DS_SWIZZLE (6 instructions): 3 instructions and 60 cycles more, 2 wait states less`
pub fn rejected(other: &Rejected) -> String {
    let by = parts(&other.difference);
    let by = if by.is_empty() { "costs the same".to_owned() } else { by.join("; ") };
    let whose = if other.proposed { "the 2016 proposal's " } else { "" };
    format!("{whose}{} ({}): {by}", other.rule, count(other.cost.instructions, "instruction"))
}

/// `takes 3 instructions, 60 cycles more and 2 wait states less`
pub fn difference(differences: &[Difference]) -> String {
    let by = parts(differences);
    if by.is_empty() { "costs the same and comes later".to_owned() } else { format!("takes {}", by.join(" and ")) }
}

/// The parts that cost more, then the parts that cost less.
fn parts(differences: &[Difference]) -> Vec<String> {
    let said = |sign: fn(&&Difference) -> bool, word: &str| {
        let differences = differences.iter().filter(sign);
        let parts: Vec<String> =
            differences.map(|difference| part(difference.more.unsigned_abs(), difference.part)).collect();
        if parts.is_empty() { None } else { Some(format!("{} {word}", parts.join(", "))) }
    };
    [said(|d| d.more > 0, "more"), said(|d| d.more < 0, "less")].into_iter().flatten().collect()
}

/// `1 cycle`, `2 cycles`, of a name in the plural.
fn part(n: u64, name: &str) -> String {
    let name = if n == 1 { name.strip_suffix('s').unwrap_or(name) } else { name };
    format!("{n} {name}")
}

/// Wraps a line at its spaces if a width is given; continuation lines are indented by four more columns.
pub fn wrapped(line: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.filter(|width| line.chars().count() > *width) else { return vec![line.into()] };
    let indent = line.len() - line.trim_start().len();
    let (mut lines, mut current) = (Vec::new(), " ".repeat(indent));
    let mut is_empty = true;
    for word in line.split_whitespace() {
        if !is_empty && current.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut current, " ".repeat(indent + 4)));
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        current += word;
        is_empty = false;
    }
    lines.push(current);
    lines
}

fn indented(lines: &[String], by: &str) -> Vec<String> {
    lines.iter().map(|line| format!("{by}{line}")).collect()
}
