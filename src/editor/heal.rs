//! A shader without its wrong statements, so that its operations still have costs.

use super::pieces::{Piece, Pieces};
use super::scan::{Kind, Scanned};
use super::texts::Texts;
use super::{Analysis, Source};
use crate::compile::Language;
use crate::diagnostic::Severity;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of attempts.
const ROUNDS: usize = 8;

/// The attempts that remove the smallest part around each error. Later ones remove more.
const NARROW: usize = 4;

/// A range and the text that replaces it.
type Edit = (Range<usize>, String);

/// An error in a file.
struct Mistake {
    at: Range<usize>,
    /// The correction that its message suggests.
    fix: Option<Edit>,
}

/// The errors of each file.
type Mistakes = FxHashMap<Arc<str>, Vec<Mistake>>;

/// The shader without the parts that have errors; `None` if errors remain after all attempts.
pub(super) fn healed(wrong: &Analysis, source: &Source<'_>) -> Option<Analysis> {
    // A profile that lacks something is not a mistake in the shader.
    if wrong.reading.messages(&source.options[0]).errors_are_refusals() {
        return None;
    }
    let mut texts = Texts::of(&wrong.sources, source.loader);
    let mut mistakes = mistakes(wrong, source);
    for round in 0..ROUNDS {
        if mistakes.is_empty() {
            return None;
        }
        let wider = round.saturating_sub(NARROW - 1);
        for (file, list) in &mistakes {
            let text = texts.files.get_mut(file)?;
            *text = without(text, list, wrong.language, wider)?.into();
        }
        let analysis = Analysis::new(&texts.source(source));
        if analysis.is_right() {
            return Some(analysis);
        }
        mistakes = self::mistakes(&analysis, source);
    }
    None
}

fn mistakes(of: &Analysis, source: &Source<'_>) -> Mistakes {
    let mut mistakes = Mistakes::default();
    let messages = of.reading.messages(&source.options[0]);
    for diagnostic in messages.iter().filter(|diagnostic| diagnostic.severity == Severity::Error) {
        let Some(place) = of.place(diagnostic.span()) else { continue };
        let fix = of.fix(diagnostic).filter(|(at, ..)| at.file == place.file);
        let fix = fix.map(|(at, replacement, _)| (at.start..at.end, replacement));
        mistakes.entry(place.file).or_default().push(Mistake { at: place.start..place.end, fix });
    }
    mistakes
}

/// The text with corrections, and without the parts around other errors; `None` if there is nothing to change.
fn without(text: &str, mistakes: &[Mistake], language: Language, wider: usize) -> Option<String> {
    let scanned = Scanned::new(text, language);
    let pieces = Pieces::of(text, &scanned);
    let removed = |range: &Range<usize>| (range.clone(), text.get(range.clone()).map(blank).unwrap_or_default());
    if !pieces.unpaired.is_empty() {
        return Some(edited(text, pieces.unpaired.iter().map(removed).collect()));
    }
    let has_tokens = |range: &Range<usize>| {
        let mut tokens = scanned.tokens.iter().filter(|token| token.kind != Kind::Comment);
        tokens.any(|token| range.start <= token.range.start && token.range.end <= range.end)
    };
    let edit = |Mistake { at, fix }: &Mistake| {
        if let Some(fix) = fix.clone().filter(|_| wider == 0) {
            return Some(fix);
        }
        if wider == 0 && is_value(&scanned, at) {
            return Some((at.clone(), "0".into()));
        }
        let found: Vec<Range<usize>> = around(&pieces, at.start, language).into_iter().filter(has_tokens).collect();
        found.get(wider.min(found.len().checked_sub(1)?)).map(removed)
    };
    let edits: Vec<Edit> = mistakes.iter().filter_map(edit).collect();
    (!edits.is_empty()).then(|| edited(text, edits))
}

/// Applies edits. Of edits that overlap, it takes the first.
fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    edits.dedup();
    let (mut new, mut done) = (String::with_capacity(text.len()), 0);
    for (range, replacement) in
        edits.into_iter().filter(|(range, _)| text.is_char_boundary(range.start) && text.is_char_boundary(range.end))
    {
        if range.start >= done {
            new += &text[done..range.start];
            new += &replacement;
            done = range.end;
        }
    }
    new + &text[done..]
}

/// Replaces each character except line breaks by a space.
fn blank(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { ' ' }).collect()
}

/// Returns true for a name that is neither called, indexed nor assigned to, so that a number can replace it.
fn is_value(scanned: &Scanned, place: &Range<usize>) -> bool {
    let Some(at) = scanned.tokens.iter().position(|token| token.range == *place) else { return false };
    let next = scanned.tokens.get(at + 1).map(|token| token.kind);
    let is_more = matches!(next, Some(Kind::Word | Kind::Punct(b'(' | b'.' | b'[' | b'=' | b'{')));
    let token = &scanned.tokens[at];
    token.kind == Kind::Word && !token.in_directive && !is_more
}

/// The parts to remove for an error, the smallest first.
fn around(pieces: &Pieces, offset: usize, language: Language) -> Vec<Range<usize>> {
    let mut around = pieces.around(offset);
    // The error follows the last token of a statement.
    around.extend(pieces.before(offset).filter(|_| around.is_empty()));
    around.into_iter().flat_map(|piece| parts(piece, offset, language)).collect()
}

/// A declaration loses its initializer first, a block its contents.
fn parts(piece: &Piece, offset: usize, language: Language) -> impl Iterator<Item = Range<usize>> {
    let end = piece.range.end.saturating_sub(1);
    let value =
        piece.value.map(|start| start..end).filter(|value| language == Language::Glsl && value.contains(&offset));
    let inside = piece.inside.clone().filter(|inside| inside.contains(&offset));
    [value, inside, Some(piece.range.clone())].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_declaration_keeps_its_name() {
        let text = "void f() { float a = b + 1.0; g(a); }";
        let cut = |at: &str, wider| {
            let start = text.find(at).unwrap();
            let mistake = Mistake { at: start..start + at.len(), fix: None };
            without(text, &[mistake], Language::Glsl, wider).unwrap()
        };
        assert_eq!(cut("b", 0), "void f() { float a = 0 + 1.0; g(a); }");
        assert_eq!(cut("b +", 0), "void f() { float a          ; g(a); }");
        assert_eq!(cut("float a", 0), "void f() {                    g(a); }");
        assert_eq!(cut("b +", 2).split_whitespace().collect::<String>(), "voidf(){}");
        let fix = Some((5..6, "g".to_string()));
        let fixed = without(text, &[Mistake { at: 0..4, fix }], Language::Glsl, 0).unwrap();
        assert!(fixed.starts_with("void g() {"), "{fixed}");
    }
}
