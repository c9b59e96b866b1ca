//! The statements and blocks of a text, found from its tokens alone, so that errors do not matter.

use super::scan::{Kind, Scanned, Token};
use std::ops::Range;

/// A statement, a declaration or a directive. Ranges are in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    pub range: Range<usize>,
    /// The offset of its `=`.
    pub value: Option<usize>,
    /// The text between its braces.
    pub inside: Option<Range<usize>>,
}

/// The pieces of a text, inner ones before outer ones.
#[derive(Debug, Default)]
pub struct Pieces {
    pub list: Vec<Piece>,
    /// Blocks without a closing brace, and closing braces without a block.
    pub unpaired: Vec<Range<usize>>,
}

impl Pieces {
    /// Splits a text. If braces do not match, a block ends before the next line that begins with a word.
    pub(super) fn of(text: &str, scanned: &Scanned) -> Pieces {
        let pieces = Cutter::new(text, false).cut(&scanned.tokens);
        if pieces.unpaired.is_empty() { pieces } else { Cutter::new(text, true).cut(&scanned.tokens) }
    }

    /// The pieces around an offset, the innermost first.
    pub fn around(&self, offset: usize) -> Vec<&Piece> {
        let mut all: Vec<&Piece> =
            self.list.iter().filter(|piece| piece.range.start <= offset && offset <= piece.range.end).collect();
        all.sort_by_key(|piece| piece.range.len());
        all
    }

    /// The last piece that ends before an offset.
    pub fn before(&self, offset: usize) -> Option<&Piece> {
        self.list.iter().filter(|piece| piece.range.end <= offset).max_by_key(|piece| piece.range.end)
    }
}

/// An open block.
struct Open {
    head: usize,
    inside: usize,
}

struct Cutter<'a> {
    text: &'a str,
    /// True if a line that begins with a word ends all blocks.
    by_lines: bool,
    pieces: Pieces,
    open: Vec<Open>,
    /// The start of the current piece.
    start: Option<usize>,
    value: Option<usize>,
    is_loop: bool,
    brackets: usize,
    /// The end of the last token.
    end: usize,
}

impl<'a> Cutter<'a> {
    fn new(text: &'a str, by_lines: bool) -> Cutter<'a> {
        let (pieces, open) = (Pieces::default(), Vec::new());
        Cutter { text, by_lines, pieces, open, start: None, value: None, is_loop: false, brackets: 0, end: 0 }
    }

    fn cut(mut self, tokens: &[Token]) -> Pieces {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if token.kind == Kind::Hash {
                let rest = &tokens[at + 1..];
                let line = rest.iter().take_while(|token| token.in_directive && token.kind != Kind::Hash).count();
                let range = token.range.start..tokens[at + line].range.end;
                self.pieces.list.push(Piece { range, value: None, inside: None });
                at += line;
            } else if token.kind != Kind::Comment {
                self.token(token);
                self.end = token.range.end;
            }
            at += 1;
        }
        self.finish(self.end);
        self.close_all();
        self.pieces
    }

    fn token(&mut self, token: &Token) {
        let Range { start, end } = token.range.clone();
        match token.kind {
            Kind::Punct(b'{') => {
                self.open.push(Open { head: self.start.unwrap_or(start), inside: end });
                self.begin();
            }
            Kind::Punct(b'}') => self.close(token),
            Kind::Punct(b';') if !(self.is_loop && self.brackets > 0) => {
                self.start.get_or_insert(start);
                self.finish(end);
            }
            Kind::Word if self.by_lines && !self.open.is_empty() && self.begins_line(start) => {
                self.finish(self.end);
                self.close_all();
                self.inner(token);
            }
            _ => self.inner(token),
        }
    }

    fn inner(&mut self, token: &Token) {
        let Range { start, end } = token.range.clone();
        if self.start.is_none() {
            self.start = Some(start);
            self.is_loop = &self.text[start..end] == "for";
        }
        match token.kind {
            Kind::Punct(b'(') => self.brackets += 1,
            Kind::Punct(b')') => self.brackets = self.brackets.saturating_sub(1),
            Kind::Punct(b'=') if self.brackets == 0 => {
                self.value.get_or_insert(start);
            }
            _ => {}
        }
    }

    fn begins_line(&self, at: usize) -> bool {
        at == 0 || self.text.as_bytes()[at - 1] == b'\n'
    }

    fn begin(&mut self) {
        (self.start, self.value, self.is_loop, self.brackets) = (None, None, false, 0);
    }

    fn finish(&mut self, end: usize) {
        if let Some(start) = self.start {
            self.pieces.list.push(Piece { range: start..end, value: self.value, inside: None });
        }
        self.begin();
    }

    fn close(&mut self, token: &Token) {
        self.finish(self.end);
        match self.open.pop() {
            Some(Open { head, inside }) => {
                let inside = Some(inside..token.range.start);
                self.pieces.list.push(Piece { range: head..token.range.end, value: None, inside });
            }
            None => self.pieces.unpaired.push(token.range.clone()),
        }
    }

    fn close_all(&mut self) {
        while let Some(Open { head, .. }) = self.open.pop() {
            self.pieces.list.push(Piece { range: head..self.end, value: None, inside: None });
            self.pieces.unpaired.push(head..self.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Language;

    fn pieces(text: &str) -> (Vec<&str>, Vec<&str>) {
        let pieces = Pieces::of(text, &Scanned::new(text, Language::Glsl));
        let texts = |ranges: Vec<Range<usize>>| ranges.into_iter().map(|range| &text[range]).collect::<Vec<_>>();
        (texts(pieces.list.into_iter().map(|piece| piece.range).collect()), texts(pieces.unpaired))
    }

    #[test]
    fn inner_pieces_come_first() {
        let text = "#define F(x) x\nint a = 1; void f() { for (int i = 0; i < 2; ++i) { a; } }";
        let (all, unpaired) = pieces(text);
        let of_loop = "for (int i = 0; i < 2; ++i) { a; }";
        assert_eq!(all, ["#define F(x) x", "int a = 1;", "a;", of_loop, &text[26..]]);
        assert!(unpaired.is_empty());
    }

    #[test]
    fn a_block_without_an_end_costs_itself_alone() {
        let (all, unpaired) = pieces("void f() {\n  if (x) {\n    a;\n\nvoid g() { b; }\n}\n");
        assert!(all.contains(&"void g() { b; }"), "{all:?}");
        assert_eq!(unpaired, ["if (x) {\n    a;", "void f() {\n  if (x) {\n    a;", "}"]);
    }
}
