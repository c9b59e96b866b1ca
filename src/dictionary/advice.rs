//! Advice on the names of cross-lane operations in other languages, for messages about unknown names.

use super::{Entry, Means, entries, portable};
use crate::diagnostic::{Code, Diagnostic};
use crate::grammar::SPELLINGS;
use crate::source::SourceMap;

/// Adds what to write in GLSL to a message about an unknown name that another language has.
pub fn advise(message: &mut Diagnostic, sources: &SourceMap) {
    let span = message.span();
    let entry = match message.code {
        Code::UNKNOWN_NAME => of_row(sources.text(span)),
        Code::UNKNOWN_FUNCTION => of_row(sources.text(span)).or_else(|| {
            // The names of the back ends follow from plans for all profiles.
            let is_open = message.suggestion.is_none() && message.notes.is_empty();
            is_open.then(|| of_target(sources.text(span))).flatten()
        }),
        _ => None,
    };
    let Some(entry) = entry else { return };
    // Names that only look alike mean something else.
    message.suggestion = None;
    match (entry.means.op().and_then(|op| portable(op).into_iter().next()), entry.note) {
        (Some(way), "") if way.params.len() > "()".len() => {
            let advice = format!("`{}` is `{}` in {}", way.name, entry.name, entry.language);
            *message = message.clone().suggest(span, way.name, advice);
        }
        (Some(way), note) => message.notes.push(help(&entry, &format!("write `{}{}`", way.name, way.params), note)),
        (None, note) => message.notes.push(help(&entry, note, "")),
    }
}

fn help(entry: &Entry, advice: &str, note: &str) -> String {
    let joint = if note.is_empty() { "" } else { "; " };
    format!("help: `{}` is a name of {}; {advice}{joint}{note}", entry.name, entry.language)
}

/// The first meaning of a name in the rows of other languages.
fn of_row(name: &str) -> Option<Entry> {
    SPELLINGS.iter().find(|row| row.name == name).map(Entry::of)
}

/// The first meaning of a name in a target's language.
fn of_target(name: &str) -> Option<Entry> {
    let is_word = name.len() > 3 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_foreign = |entry: &&Entry| {
        let is_ours = entry.language == "crosslane" || entry.language.starts_with("GLSL");
        entry.name == name && !is_ours && !matches!(entry.means, Means::Brings(_))
    };
    is_word.then(|| entries().iter().find(is_foreign).cloned()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advised(name: &str) -> (Option<String>, Vec<String>) {
        let mut sources = SourceMap::new();
        let file = sources.add("a", name).expect("a short text");
        let at = sources.file(file).base;
        let span = crate::source::Span::new(at, at + name.len() as u32);
        let mut message = Diagnostic::error(Code::UNKNOWN_FUNCTION, "no such function").at(span, "");
        advise(&mut message, &sources);
        (message.suggestion.map(|suggestion| suggestion.replacement), message.notes)
    }

    #[test]
    fn names_of_other_languages_have_a_counterpart() {
        for (name, ours) in [
            ("WaveActiveSum", "subgroupAdd"),
            ("WaveMultiPrefixProduct", "subgroupPartitionedExclusiveMulNV"),
            ("simd_shuffle_xor", "subgroupShuffleXor"),
            ("sub_group_broadcast", "broadcast"),
        ] {
            assert_eq!(advised(name), (Some(ours.into()), Vec::new()), "{name}");
        }
        let (replacement, notes) = advised("__shfl_xor_sync");
        assert_eq!(replacement, None);
        assert!(
            notes[0].contains("write `subgroupShuffleXor(value, mask)`") && notes[0].contains("no mask"),
            "{notes:?}"
        );
        assert!(advised("simd_is_helper_thread").1[0].contains("gl_HelperInvocation"));
        assert_eq!(advised("mySum"), (None, Vec::new()));
    }
}
