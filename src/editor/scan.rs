//! The tokens of a text for an editor: including comments, directive lines, and text that conditionals exclude.

use super::IncludeName;
use crate::compile::Language;
use crate::source::IncludeKind;
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Word,
    Number,
    Text,
    Comment,
    /// The `#` that begins a directive.
    Hash,
    Punct(u8),
}

#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    pub range: Range<usize>,
    /// True in the line of a directive.
    pub in_directive: bool,
}

/// A tokenized text.
#[derive(Debug)]
pub struct Scanned {
    pub tokens: Vec<Token>,
}

impl Scanned {
    pub fn new(text: &str, language: Language) -> Scanned {
        let mut scan =
            Scan { bytes: text.as_bytes(), language, at: 0, tokens: Vec::new(), directive: false, fresh: true };
        while scan.at < scan.bytes.len() {
            scan.token();
        }
        Scanned { tokens: scan.tokens }
    }

    pub fn words(&self) -> impl Iterator<Item = Range<usize>> {
        self.tokens.iter().filter(|token| token.kind == Kind::Word).map(|token| token.range.clone())
    }

    /// Index of the token that contains an offset or ends there.
    pub fn at(&self, offset: usize) -> Option<usize> {
        let after = self.tokens.partition_point(|token| token.range.start <= offset);
        let touches = |index: &usize| self.tokens[*index].range.end >= offset;
        let last = after.checked_sub(1).filter(touches)?;
        // Between `f` and `(`, take the word.
        let before = last.checked_sub(1).filter(touches).filter(|index| self.tokens[*index].kind == Kind::Word);
        Some(before.filter(|_| self.tokens[last].kind != Kind::Word).unwrap_or(last))
    }

    /// The word at an offset.
    pub fn word_at(&self, offset: usize) -> Option<usize> {
        self.at(offset).filter(|index| self.tokens[*index].kind == Kind::Word)
    }

    /// The last token that is before an offset and is not a comment.
    pub fn before(&self, offset: usize) -> Option<usize> {
        let after = self.tokens.partition_point(|token| token.range.end <= offset);
        (0..after).rev().find(|index| self.tokens[*index].kind != Kind::Comment)
    }

    /// The name of the directive on a token's line, with its index.
    pub fn directive(&self, index: usize) -> Option<usize> {
        self.tokens[index].in_directive.then_some(())?;
        let hash = (0..=index).rev().find(|at| self.tokens[*at].kind == Kind::Hash)?;
        self.tokens.get(hash + 1).filter(|token| token.in_directive).map(|_| hash + 1)
    }

    /// The file that an `#include` at an offset names.
    pub fn include_at<'t>(&self, offset: usize, text: &'t str) -> Option<IncludeName<'t>> {
        let name = self.directive(self.at(offset)?)?;
        if &text[self.tokens[name].range.clone()] != "include" {
            return None;
        }
        let first = self.tokens.get(name + 1).filter(|token| token.in_directive)?;
        match first.kind {
            Kind::Text => {
                let inner = first.range.start + 1..first.range.end.saturating_sub(1).max(first.range.start + 1);
                Some((first.range.clone(), text.get(inner)?, IncludeKind::Quoted))
            }
            Kind::Punct(b'<') => {
                let line = text[first.range.start..].lines().next()?;
                let end = line.find('>')?;
                let range = first.range.start..first.range.start + end + 1;
                Some((range, &line[1..end], IncludeKind::Angled))
            }
            _ => None,
        }
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    language: Language,
    at: usize,
    tokens: Vec<Token>,
    directive: bool,
    /// True before the first token of a line.
    fresh: bool,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn token(&mut self) {
        let start = self.at;
        let byte = self.peek(0);
        let kind = match byte {
            b'\\' if self.directive && matches!(self.peek(1), b'\n' | b'\r') => {
                self.at += if self.peek(1) == b'\r' && self.peek(2) == b'\n' { 3 } else { 2 };
                return;
            }
            b'\n' | b'\r' => {
                (self.at, self.directive, self.fresh) = (self.at + 1, false, true);
                return;
            }
            b' ' | b'\t' | 0x0b | 0x0c => {
                self.at += 1;
                return;
            }
            b'/' if self.peek(1) == b'/' => self.skip(Kind::Comment, |byte| byte != b'\n'),
            b'/' if self.peek(1) == b'*' => self.comment(),
            b'#' if self.language == Language::Glsl && self.fresh => {
                (self.at, self.directive) = (self.at + 1, true);
                Kind::Hash
            }
            b'"' if self.language == Language::Glsl => self.text(),
            b'0'..=b'9' => self.skip(Kind::Number, |byte| byte.is_ascii_alphanumeric() || byte == b'.'),
            _ if is_word(byte) => self.skip(Kind::Word, is_word),
            _ => {
                self.at += 1;
                Kind::Punct(byte)
            }
        };
        self.fresh &= kind == Kind::Comment;
        self.tokens.push(Token { kind, range: start..self.at, in_directive: self.directive });
    }

    fn skip(&mut self, kind: Kind, goes_on: impl Fn(u8) -> bool) -> Kind {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| !goes_on(*byte)).unwrap_or(rest.len()).max(1);
        kind
    }

    /// Comments nest in WGSL alone.
    fn comment(&mut self) -> Kind {
        let mut depth = 0usize;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') if depth == 0 || self.language == Language::Wgsl => {
                    (self.at, depth) = (self.at + 2, depth + 1)
                }
                (b'*', b'/') => (self.at, depth) = (self.at + 2, depth - 1),
                _ => self.at += 1,
            }
            if depth == 0 {
                break;
            }
        }
        self.at = self.at.min(self.bytes.len());
        Kind::Comment
    }

    fn text(&mut self) -> Kind {
        self.at += 1;
        while !matches!(self.peek(0), b'"' | b'\n' | 0) {
            self.at += 1;
        }
        self.at += usize::from(self.peek(0) == b'"');
        Kind::Text
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_directives_are_told_apart() {
        let text = "#include \"a.h\" // b\nint x; /* # */ #\n";
        let scanned = Scanned::new(text, Language::Glsl);
        let kinds: Vec<Kind> = scanned.tokens.iter().map(|token| token.kind).collect();
        let (word, comment) = (Kind::Word, Kind::Comment);
        let line = [Kind::Hash, word, Kind::Text, comment, word, word, Kind::Punct(b';'), comment, Kind::Punct(b'#')];
        assert_eq!(kinds, line);
        assert_eq!(scanned.include_at(12, text), Some((9..14, "a.h", IncludeKind::Quoted)));
        assert_eq!(scanned.include_at(25, text), None);
    }

    #[test]
    fn a_position_between_a_name_and_its_bracket_is_the_names() {
        let scanned = Scanned::new("f(x)", Language::Glsl);
        assert_eq!((scanned.word_at(1), scanned.word_at(2), scanned.word_at(3)), (Some(0), Some(2), Some(2)));
    }
}
