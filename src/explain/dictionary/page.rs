//! The dictionary as a page of the book: by operation, and by language.

use crate::dictionary::{Entry, Means, Portable, entries, general, portable};
use crate::explain::book::topics::{TOPICS, slug};
use crate::lane::LaneOp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The names of one operation, by language.
type Names = BTreeMap<&'static str, BTreeSet<String>>;

/// The page in Markdown. Writing into a `String` cannot fail.
pub fn page() -> String {
    let entries: Vec<Entry> = entries().iter().map(shown).collect();
    let mut page = String::from(
        "<!-- Written by `crosslane ops --dictionary`; not to be edited. -->\n# Dictionary\n\n\
         The names of cross-lane operations in other languages, and what to write for them. `crosslane ops NAME` looks a name up,\n\
         in any case and with types, a namespace or arguments around it, and shows the code that each profile gets:\n\n\
         ```sh\ncrosslane ops __shfl_up_sync\ncrosslane ops WaveActiveSum -p gfx1100,nv-ampere\n\
         crosslane ops DS_SWIZZLE_B32\n```\n\n\
         `{W}` is the width of a segment. An instruction is listed where it is nearest to an operation by itself; profiles use it for\n\
         others too, as [the operations' pages](../operations/index.md) show.\n\n## By operation\n",
    );
    by_operation(&entries, &mut page);
    by_language(&entries, &mut page);
    page
}

/// An entry with the representative operation, and `{W}` for the width in the name.
fn shown(entry: &Entry) -> Entry {
    let means = match entry.means {
        Means::Is(op) => Means::Is(general(op)),
        means => means,
    };
    let name = match entry.means.op() {
        Some(op) if entry.language == "crosslane" => named(&entry.name, op).into(),
        _ => entry.name.clone(),
    };
    Entry { name, means, ..entry.clone() }
}

/// Replaces `{W}` in a name by the operation's width.
fn named(name: &str, op: LaneOp) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if op.width().is_some() && stem.len() < name.len() { format!("{stem}{{W}}") } else { name.to_owned() }
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
            let others = if others.is_empty() { "none".into() } else { others.join("<br>") };
            let _ = writeln!(page, "| {} | {others} |", ways(*op));
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
    let way = |way: Portable| format!("`{}{}` {}", named(way.name, op), way.params, way.when);
    let ways: Vec<String> = portable(op).into_iter().map(way).collect();
    ways.iter().map(|way| way.trim_end()).collect::<Vec<_>>().join("<br>")
}

/// The names of each language and their portable spellings.
fn by_language(entries: &[Entry], page: &mut String) {
    let languages: BTreeSet<&str> = entries.iter().map(|entry| entry.language).collect();
    let _ = writeln!(page, "\n## By language");
    let is_told = |language: &&&str| !matches!(**language, "crosslane" | "GLSL extension");
    for language in languages.iter().filter(is_told) {
        let _ = writeln!(page, "\n### {language}\n\n| name | write |\n|---|---|");
        let mut names: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        let own = entries.iter().filter(|entry| entry.language == *language);
        own.for_each(|entry| names.entry(&entry.name).or_default().push(entry));
        for (name, meanings) in names {
            let mut said: Vec<String> = Vec::new();
            for op in meanings.iter().filter_map(|entry| entry.means.op()) {
                let ways = ways(op);
                if !said.contains(&ways) {
                    said.push(ways);
                }
            }
            said.extend(said.is_empty().then(|| "no counterpart".into()));
            let notes = meanings.first().map(|entry| entry.note.to_string());
            said.extend(notes.filter(|note| !note.is_empty()));
            let _ = writeln!(page, "| `{name}` | {} |", said.join("<br>"));
        }
    }
}
