//! The answer to a name: the operation, its portable spelling, its page, and its code on the profiles.

use super::operands;
use crate::dictionary::{Entry, Means, Portable, entries, general, portable};
use crate::explain::book::topics::slug;
use crate::explain::book::{self, Answer};
use crate::explain::meaning::meaning;
use crate::explain::{OnProfile, text};
use crate::ir::print::lane_text;
use crate::lane::LaneOp;
use crate::profile::{Profile, Target};
use serde::Serialize;
use std::fmt::Write;

/// One meaning of a name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Spelled {
    pub name: String,
    pub language: &'static str,
    /// `is`, `brings` or `none`.
    pub relation: &'static str,
    /// The operation as `--emit ir` writes it.
    pub operation: Option<String>,
    /// The result in words, and in lane `i`.
    pub meaning: Option<String>,
    pub formula: Option<String>,
    pub portable: Vec<Way>,
    /// The page of the book, from the folder of the repository.
    pub page: Option<String>,
    pub note: &'static str,
    #[serde(skip)]
    pub op: Option<LaneOp>,
}

/// A portable way to write the operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Way {
    pub call: String,
    pub when: &'static str,
}

/// The names of an operation in another language.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Elsewhere {
    pub language: &'static str,
    pub names: Vec<String>,
}

/// Limit of the names listed per relation.
const LISTED: usize = 12;
/// Limit of the profiles named where many have the same code.
const NAMED: usize = 3;

impl Spelled {
    pub fn of(entry: &Entry) -> Spelled {
        let op = entry.means.op();
        let said = op.map(meaning);
        let way = |Portable { name, params, when }: Portable| Way { call: format!("{name}{params}"), when };
        Spelled {
            name: entry.name.to_string(),
            language: entry.language,
            relation: match entry.means {
                Means::Is(_) => "is",
                Means::Brings(_) => "brings",
                Means::Nothing => "none",
            },
            operation: op.map(lane_text),
            meaning: said.as_ref().map(|said| said.words.clone()),
            formula: said.map(|said| said.formula),
            portable: op.map(|op| portable(op).into_iter().map(way).collect()).unwrap_or_default(),
            page: op.map(|op| format!("docs/operations/{}.md", slug(op))),
            note: entry.note,
            op,
        }
    }

    /// The calls to write, as a phrase.
    pub fn ways(&self) -> String {
        let way = |way: &Way| match way.when {
            "" => way.call.clone(),
            when => format!("{} {when}", way.call),
        };
        self.portable.iter().map(way).collect::<Vec<_>>().join(", or ")
    }
}

/// The names that other languages have for just an operation.
pub fn elsewhere(op: LaneOp) -> Vec<Elsewhere> {
    let is_same = |entry: &Entry| matches!(entry.means, Means::Is(other) if general(other) == general(op));
    let mut all: Vec<Elsewhere> = Vec::new();
    for entry in entries().iter().filter(|entry| is_same(entry)) {
        let name = entry.name.to_string();
        match all.iter_mut().find(|known| known.language == entry.language) {
            Some(known) if known.names.contains(&name) => {}
            Some(known) => known.names.push(name),
            None => all.push(Elsewhere { language: entry.language, names: vec![name] }),
        }
    }
    all.retain(|known| known.language != "crosslane");
    all
}

/// The answer to a name as text, with the code of the given profiles, or of typical profiles of each target.
pub fn text(entries: &[Entry], profiles: Option<&[Profile]>, width: Option<usize>) -> String {
    let spelled = distinct(entries);
    let mut text = String::new();
    match spelled.as_slice() {
        [one] => single(one, &mut text, width),
        several => many(several, &mut text, width),
    }
    if let Some(op) = spelled.first().and_then(|first| first.op) {
        code(op, profiles, &mut text, width);
    }
    text
}

/// The meanings of a name, each once.
fn distinct(entries: &[Entry]) -> Vec<Spelled> {
    let mut all: Vec<Spelled> = Vec::new();
    for spelled in entries.iter().map(Spelled::of) {
        let is_like =
            |other: &Spelled| (other.ways(), &other.note) == (spelled.ways(), &spelled.note) && other.op.is_some();
        if !all.iter().any(is_like) {
            all.push(spelled);
        }
    }
    all
}

fn line(text: &mut String, line: &str, width: Option<usize>) {
    text::wrapped(line, width).iter().for_each(|line| _ = writeln!(text, "{line}"));
}

fn single(one: &Spelled, text: &mut String, width: Option<usize>) {
    let head = match (&one.meaning, one.relation) {
        (Some(meaning), "brings") => format!("`{}` ({}) brings: {meaning}", one.name, one.language),
        (Some(meaning), _) => format!("`{}` ({}): {meaning}", one.name, one.language),
        (None, _) => format!("`{}` ({}) has no counterpart among the cross-lane operations", one.name, one.language),
    };
    line(text, &head, width);
    let fact = |text: &mut String, label: &str, said: &str| {
        if !said.is_empty() {
            line(text, &format!("  {label:9}{said}"), width);
        }
    };
    fact(text, "write", &one.ways());
    fact(text, "result", one.formula.as_deref().unwrap_or_default());
    fact(text, "page", one.page.as_deref().unwrap_or_default());
    fact(text, "note", one.note);
    let names = |known: Elsewhere| {
        let mut names: Vec<String> = known.names.into_iter().filter(|name| *name != one.name).collect();
        names.truncate(LISTED);
        (!names.is_empty()).then(|| format!("{} {}", known.language, names.join(", ")))
    };
    let also: Vec<String> = one.op.map(elsewhere).into_iter().flatten().filter_map(names).collect();
    fact(text, "also", &also.join("; "));
}

fn many(several: &[Spelled], text: &mut String, width: Option<usize>) {
    let Some(first) = several.first() else { return };
    let head = match first.relation {
        "is" => "is, by its operands",
        "brings" => "brings",
        _ => "has no counterpart",
    };
    let _ = writeln!(text, "`{}` ({}) {head}:", first.name, first.language);
    for one in several.iter().take(LISTED) {
        let whose = if one.language == first.language { String::new() } else { format!(" ({})", one.language) };
        let said = one.meaning.as_deref().unwrap_or(one.note);
        line(text, &format!("  {}{whose}: {said}; {}", one.ways(), one.page.as_deref().unwrap_or_default()), width);
    }
    if several.len() > LISTED {
        let _ = writeln!(text, "  and {} more", several.len() - LISTED);
    }
}

/// Names that contain a word, one per line.
pub fn list(entries: &[Entry], width: Option<usize>) -> String {
    let mut text = String::new();
    let mut names: Vec<(&str, &str)> = Vec::new();
    for entry in entries {
        if names.contains(&(&*entry.name, entry.language)) {
            continue;
        }
        names.push((&entry.name, entry.language));
        let spelled = Spelled::of(entry);
        let said = if spelled.portable.is_empty() { "no counterpart".into() } else { spelled.ways() };
        line(&mut text, &format!("{} ({}): {said}", spelled.name, spelled.language), width);
    }
    text
}

/// The code of the requested profiles, otherwise the most common code of each target.
fn code(op: LaneOp, profiles: Option<&[Profile]>, text: &mut String, width: Option<usize>) {
    let site = book::site(op, operands(op));
    let _ = writeln!(text, "\ncode for {}:", called(op));
    let Some(profiles) = profiles else {
        let all: Vec<Profile> = Profile::all().collect();
        for target in Target::ALL {
            let own: Vec<Profile> = all.iter().filter(|profile| profile.target == target).cloned().collect();
            if let Some(answer) = usual(book::answers(&site, &own)) {
                write_code(&some_of(&answer.profiles), &answer.on_profile, text, width);
            }
        }
        return line(text, "`-p PROFILE` shows other profiles; the page has all of them.", width);
    };
    book::answers(&site, profiles).iter().for_each(|answer| write_answer(answer, text, width));
}

/// A call of the operation, without a condition.
fn called(op: LaneOp) -> String {
    portable(op).first().map_or_else(|| lane_text(op), |way| format!("{}{}", way.name, way.params))
}

/// Plans come first, then programs over several subgroups.
const fn rank(answer: &OnProfile) -> u32 {
    match answer {
        OnProfile::Planned(_) => 2,
        OnProfile::Spanning(_) => 1,
        OnProfile::Refused { .. } | OnProfile::Gone | OnProfile::Absent => 0,
    }
}

/// The answer of most profiles; a refusal only if all refuse.
fn usual(answers: Vec<Answer>) -> Option<Answer> {
    let weight = |answer: &Answer| (rank(&answer.on_profile), answer.profiles.len());
    answers.into_iter().max_by_key(weight)
}

fn write_answer(answer: &Answer, text: &mut String, width: Option<usize>) {
    let names = answer.profiles.join(", ");
    write_code(&names, &answer.on_profile, text, width);
}

/// The names of some profiles; the first few represent a long list.
fn some_of(names: &[String]) -> String {
    match names.get(NAMED..) {
        Some(more) if more.len() > 1 => format!("{} and {} more", names[..NAMED].join(", "), more.len()),
        _ => names.join(", "),
    }
}

fn write_code(names: &str, on_profile: &OnProfile, text: &mut String, width: Option<usize>) {
    match on_profile {
        OnProfile::Planned(lowering) => {
            line(text, &format!("{names}: {}", lowering.rule), width);
            text::chosen(lowering).iter().for_each(|line| _ = writeln!(text, "{line}"));
        }
        OnProfile::Spanning(spanned) => {
            line(text, &format!("{names}: {}", spanned.title()), width);
            text::spanned(spanned).iter().for_each(|line| _ = writeln!(text, "{line}"));
        }
        OnProfile::Refused { reason } => line(text, &format!("{names}: no: {reason}"), width),
        OnProfile::Gone | OnProfile::Absent => {}
    }
}
