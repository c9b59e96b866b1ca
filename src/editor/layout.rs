//! Applies the white space of a formatted text. All other characters stay, and directives are left whole.

use super::scan::{Kind, Scanned, Token};
use crate::compile::Language;
use std::ops::Range;

/// A range and the text that replaces it.
pub type Edit = (Range<usize>, String);

/// The edits that give a text the white space of another one, or `None` if the texts differ in anything else.
pub fn white_space(old: &str, new: &str, language: Language) -> Option<Vec<Edit>> {
    let (before, after) = (Scanned::new(old, language), Scanned::new(new, language));
    let pairs = || before.tokens.iter().zip(&after.tokens);
    let texts = |(a, b): &(&Token, &Token)| (old[a.range.clone()].trim_end(), new[b.range.clone()].trim_end());
    let same = |pair: (&Token, &Token)| {
        let (a, b) = texts(&pair);
        a == b || pair.0.kind == Kind::Comment && a.split_whitespace().eq(b.split_whitespace())
    };
    if before.tokens.len() != after.tokens.len() || !pairs().all(same) {
        return None;
    }
    let inside = |at: usize| before.tokens.get(at).is_some_and(|token| token.in_directive && token.kind != Kind::Hash);
    let moved = gaps(old, &before).into_iter().zip(gaps(new, &after)).enumerate();
    let moved = moved.filter(|(at, (a, b))| !inside(*at) && old[a.clone()] != new[b.clone()]);
    let moved = moved.map(|(_, (a, b))| (a, new[b].to_string()));
    // The lines of a comment move with it.
    let comments = pairs().filter(|pair| {
        let (a, b) = texts(pair);
        a != b
    });
    let comments = comments.map(|pair| {
        let (a, b) = texts(&pair);
        (pair.0.range.start..pair.0.range.start + a.len(), b.to_string())
    });
    let mut edits: Vec<Edit> = moved.chain(comments).collect();
    edits.sort_by_key(|(range, _)| range.start);
    Some(edits)
}

/// The range before each token, and the one after the last token.
fn gaps(text: &str, scanned: &Scanned) -> Vec<Range<usize>> {
    let trimmed = |token: &Token| token.range.start + text[token.range.clone()].trim_end().len();
    let ends = std::iter::once(0).chain(scanned.tokens.iter().map(trimmed));
    let starts = scanned.tokens.iter().map(|token| token.range.start).chain([text.len()]);
    ends.zip(starts).map(|(end, start)| end..start).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(old: &str, new: &str) -> Option<String> {
        let mut text = old.to_string();
        for (range, space) in white_space(old, new, Language::Glsl)?.into_iter().rev() {
            text.replace_range(range, &space);
        }
        Some(text)
    }

    #[test]
    fn directives_and_words_stay() {
        let old = "#extension GL_A :require\n#define F(x)  x \\\n   + 1\nvoid  main( ) { // a  \nF(2); }\n";
        let new = "#extension GL_A : require\n#define F(x) x + 1\nvoid main() { // a\n    F(2);\n}\n";
        let wanted = "#extension GL_A :require\n#define F(x)  x \\\n   + 1\nvoid main() { // a\n    F(2);\n}\n";
        assert_eq!(formatted(old, new).as_deref(), Some(wanted));
        assert_eq!(formatted("int a ;", "int b;"), None);
        let comment = formatted("{/* a\n b */}", "{\n    /* a\n       b */\n}");
        assert_eq!(comment.as_deref(), Some("{\n    /* a\n       b */\n}"));
    }
}
