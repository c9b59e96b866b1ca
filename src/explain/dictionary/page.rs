//! The dictionary as a page of the book: by operation, and by language.

use super::answer::Spelled;
use super::{Entry, Means, general, of_tables, of_targets};
use crate::explain::book::topics::{TOPICS, slug};
use crate::lane::LaneOp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The names of one operation, by language.
type Names = BTreeMap<&'static str, BTreeSet<String>>;

/// The page in Markdown. Writing into a `String` cannot fail.
pub fn page() -> String {
    let entries: Vec<Entry> = of_tables().into_iter().chain(of_targets()).map(shown).collect();
    let mut page = String::from(
        "<!-- Written by `crosslane ops --dictionary`; not to be edited. -->\n# Dictionary\n\n\
         The names of cross-lane operations in other languages, and what to write for them. `crosslane ops NAME` looks a name up, \
         in any case and with its types, namespace and arguments, and shows the code that each profile gets:\n\n\
         ```sh\ncrosslane ops __shfl_up_sync\ncrosslane ops WaveActiveSum -p gfx1100,nv-ampere\n\
         crosslane ops DS_SWIZZLE_B32\n```\n\n\
         `{W}` is the width of a segment. Instructions are listed where one of them is the whole operation; what else they are a \
         part of, `crosslane ops` says.\n\n## By operation\n",
    );
    by_operation(&entries, &mut page);
    by_language(&entries, &mut page);
    page
}

/// An entry with the operation that stands for those like it, and `{W}` for the width in the name.
fn shown(entry: Entry) -> Entry {
    let means = match entry.means {
        Means::Is(op) => Means::Is(general(op)),
        means => means,
    };
    let has_width = entry.language == "crosslane" && entry.means.op().is_some_and(|op| op.width().is_some());
    let stem = entry.name.trim_end_matches(|c: char| c.is_ascii_digit());
    match has_width && stem.len() < entry.name.len() {
        true => Entry { name: format!("{stem}{{W}}").into(), means, ..entry },
        false => Entry { means, ..entry },
    }
}

/// The operations that some name is just, in the order of the pages.
fn by_operation(entries: &[Entry], page: &mut String) {
    let mut operations: BTreeMap<LaneOp, Names> = BTreeMap::new();
    for entry in entries {
        if let Means::Is(op) = entry.means {
            let names = operations.entry(op).or_default();
            names.entry(entry.language).or_default().insert(entry.name.to_string());
        }
    }
    for topic in TOPICS {
        let _ = writeln!(page, "\n### {}\n\n[The operation's page](../operations/{}.md)\n", topic.title, topic.slug);
        let _ = writeln!(page, "| write | other names |\n|---|---|");
        for (op, names) in operations.iter().filter(|(op, _)| slug(**op) == topic.slug) {
            let is_other = |language: &&&str| **language != "crosslane";
            let others: Vec<String> = names
                .iter()
                .filter(|(language, _)| is_other(language))
                .map(|(language, names)| all(language, names))
                .collect();
            let _ = writeln!(page, "| {} | {} |", ways(*op), others.join("<br>"));
        }
    }
}

/// `HLSL: WaveActiveSum`.
fn all(language: &str, names: &BTreeSet<String>) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{language}: {}", names.join(", "))
}

/// The ways to write an operation.
fn ways(op: LaneOp) -> String {
    let entry = Entry { name: "".into(), language: "", means: Means::Is(op), note: "" };
    let ways: Vec<String> =
        Spelled::of(&entry).portable.into_iter().map(|way| format!("`{}` {}", way.call, way.when)).collect();
    ways.iter().map(|way| way.trim_end()).collect::<Vec<_>>().join("<br>")
}

/// The names of each language with what to write for them.
fn by_language(entries: &[Entry], page: &mut String) {
    let languages: BTreeSet<&str> = entries.iter().map(|entry| entry.language).collect();
    let _ = writeln!(page, "\n## By language");
    let is_told = |language: &&&str| !matches!(**language, "crosslane" | "GLSL extension");
    for language in languages.iter().filter(is_told) {
        let _ = writeln!(page, "\n### {language}\n\n| name | write | |\n|---|---|---|");
        let mut names: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        let own =
            entries.iter().filter(|entry| entry.language == *language && !matches!(entry.means, Means::StepOf(_)));
        own.for_each(|entry| names.entry(&entry.name).or_default().push(entry));
        for (name, meanings) in names {
            let mut said: Vec<String> = Vec::new();
            for op in meanings.iter().filter_map(|entry| entry.means.op()) {
                let ways = ways(op);
                if !said.contains(&ways) {
                    said.push(ways);
                }
            }
            let said = if said.is_empty() { "no counterpart".into() } else { said.join("<br>") };
            let note = meanings.first().map_or("", |entry| entry.note);
            let _ = writeln!(page, "| `{name}` | {said} | {note} |");
        }
    }
}
