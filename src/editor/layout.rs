//! Applies the white space of a formatted text. All other characters stay, and directives are left whole.

use super::scan::{Kind, Scanned, Token};
use crate::compile::Language;
use std::ops::Range;

/// A range and the text that replaces it.
pub type Edit = (Range<usize>, String);

/// The edits that give a text the white space of another one, or `None` if the texts differ in anything else.
pub fn white_space(old: &str, new: &str, language: Language) -> Option<Vec<Edit>> {
    let (before, after) = (code(old, language), code(new, language));
    if texts(old, &before).ne(texts(new, &after)) {
        return None;
    }
    let inside = |at: usize| before.get(at).is_some_and(|token| token.in_directive && token.kind != Kind::Hash);
    let gaps = gaps(old, &before).into_iter().zip(gaps(new, &after)).enumerate();
    let moved = gaps.filter(|(at, (a, b))| {
        let (a, b) = (&old[a.clone()], &new[b.clone()]);
        // A comment that says something else stays as it was, with the space around it.
        !inside(*at) && a != b && words(a).eq(words(b))
    });
    Some(moved.map(|(_, (a, b))| (a, new[b].to_string())).collect())
}

/// The tokens of a text without its comments.
fn code(text: &str, language: Language) -> Vec<Token> {
    Scanned::new(text, language).tokens.into_iter().filter(|token| token.kind != Kind::Comment).collect()
}

fn texts<'t>(text: &'t str, tokens: &'t [Token]) -> impl Iterator<Item = &'t str> {
    tokens.iter().map(|token| &text[token.range.clone()])
}

/// The words of comments. A formatter breaks long lines, and puts spaces after `//`.
fn words(comments: &str) -> impl Iterator<Item = &str> {
    comments.split(|c: char| c.is_whitespace() || matches!(c, '/' | '*')).filter(|word| !word.is_empty())
}

/// The range before each token, and the one after the last token.
fn gaps(text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
    let ends = std::iter::once(0).chain(tokens.iter().map(|token| token.range.end));
    let starts = tokens.iter().map(|token| token.range.start).chain([text.len()]);
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

    #[test]
    fn lines_of_comments_are_broken_and_nothing_is_lost() {
        let broken = formatted("//a long comment\nint  a;", "// a long\n// comment\nint a;");
        assert_eq!(broken.as_deref(), Some("// a long\n// comment\nint a;"));
        let behind = formatted("int  a; // one two\nint b;", "int a; // one\n       // two\nint b;");
        assert_eq!(behind.as_deref(), Some("int a; // one\n       // two\nint b;"));
        let changed = formatted("int  a; // one\nint  b;", "int a; // other\nint b;");
        assert_eq!(changed.as_deref(), Some("int a; // one\nint b;"));
    }
}
