//! Positions and kinds, as the protocol has them.

use crate::editor::{CompletionKind, TokenKind};
use crate::symbols::Kind;
use lsp_types::{
    CompletionItemKind, Position, Range, SemanticToken, SemanticTokenModifier, SemanticTokenType, SymbolKind,
};
use std::ops;

/// The lines of a text, for converting bytes to positions and back. Columns count UTF-16 units, or bytes if the client
/// accepts them.
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    is_utf8: bool,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str, is_utf8: bool) -> Lines<'a> {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { text, starts: std::iter::once(0).chain(newlines).collect(), is_utf8 }
    }

    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.text[self.starts[line]..offset];
        let column = if self.is_utf8 { before.len() } else { before.encode_utf16().count() };
        Position::new(line as u32, column as u32)
    }

    pub fn range(&self, range: ops::Range<usize>) -> Range {
        Range::new(self.position(range.start), self.position(range.end))
    }

    /// The byte of a position. Columns past the end of a line give its end, and lines past the end of the text give the
    /// end of the text.
    pub fn offset(&self, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize) else { return self.text.len() };
        let end = self.starts.get(position.line as usize + 1).map_or(self.text.len(), |next| next - 1);
        let line = &self.text[*start..end];
        let mut column = 0;
        for (at, c) in line.char_indices() {
            if column >= position.character as usize {
                return start + at;
            }
            column += if self.is_utf8 { c.len_utf8() } else { c.len_utf16() };
        }
        end
    }
}

/// The names of the classes of words, in the order of [`TokenKind::ALL`].
pub fn token_types() -> Vec<SemanticTokenType> {
    let name = |kind: TokenKind| match kind {
        TokenKind::Function => SemanticTokenType::FUNCTION,
        TokenKind::Parameter => SemanticTokenType::PARAMETER,
        TokenKind::Variable => SemanticTokenType::VARIABLE,
        TokenKind::Property => SemanticTokenType::PROPERTY,
        TokenKind::Type => SemanticTokenType::TYPE,
        TokenKind::Struct => SemanticTokenType::STRUCT,
        TokenKind::Macro => SemanticTokenType::MACRO,
        TokenKind::Keyword => SemanticTokenType::KEYWORD,
        TokenKind::Number => SemanticTokenType::NUMBER,
        TokenKind::Comment => SemanticTokenType::COMMENT,
        TokenKind::Text => SemanticTokenType::STRING,
    };
    TokenKind::ALL.map(name).to_vec()
}

pub fn token_modifiers() -> Vec<SemanticTokenModifier> {
    vec![SemanticTokenModifier::DEFAULT_LIBRARY, SemanticTokenModifier::READONLY]
}

/// Delta-encoded tokens, split at line ends.
pub fn tokens(lines: &Lines<'_>, tokens: &[crate::editor::SemanticToken]) -> Vec<SemanticToken> {
    let mut last = Position::new(0, 0);
    let mut out = Vec::with_capacity(tokens.len());
    for token in tokens {
        let token_type = TokenKind::ALL.iter().position(|kind| *kind == token.kind).unwrap_or(0) as u32;
        let token_modifiers_bitset = u32::from(token.is_builtin) | u32::from(token.is_constant) << 1;
        let Range { start, end } = lines.range(token.range.clone());
        for line in start.line..=end.line {
            let from = if line == start.line { start.character } else { 0 };
            let to = if line == end.line { end.character } else { lines.end_of(line) };
            if to > from {
                let delta_line = line - last.line;
                let delta_start = if delta_line == 0 { from - last.character } else { from };
                out.push(SemanticToken {
                    delta_line,
                    delta_start,
                    length: to - from,
                    token_type,
                    token_modifiers_bitset,
                });
                last = Position::new(line, from);
            }
        }
    }
    out
}

impl Lines<'_> {
    /// The column of a line's end.
    fn end_of(&self, line: u32) -> u32 {
        let end = self.starts.get(line as usize + 1).map_or(self.text.len(), |next| next - 1);
        self.position(end).character
    }
}

pub const fn completion_kind(kind: CompletionKind) -> CompletionItemKind {
    match kind {
        CompletionKind::Function => CompletionItemKind::FUNCTION,
        CompletionKind::Variable => CompletionItemKind::VARIABLE,
        CompletionKind::Constant => CompletionItemKind::CONSTANT,
        CompletionKind::Struct => CompletionItemKind::STRUCT,
        CompletionKind::Member => CompletionItemKind::FIELD,
        CompletionKind::Type => CompletionItemKind::CLASS,
        CompletionKind::Keyword | CompletionKind::Macro => CompletionItemKind::KEYWORD,
        CompletionKind::Extension => CompletionItemKind::MODULE,
    }
}

pub const fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Function => SymbolKind::FUNCTION,
        Kind::Parameter | Kind::Local | Kind::Global => SymbolKind::VARIABLE,
        Kind::Constant => SymbolKind::CONSTANT,
        Kind::Struct => SymbolKind::STRUCT,
        Kind::Block => SymbolKind::INTERFACE,
        Kind::Member => SymbolKind::FIELD,
        Kind::Alias => SymbolKind::CLASS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_what_the_client_takes() {
        let text = "a\n😀b\r\nc";
        let (utf16, utf8) = (Lines::new(text, false), Lines::new(text, true));
        assert_eq!((utf16.position(6), utf8.position(6)), (Position::new(1, 2), Position::new(1, 4)));
        for offset in [0, 1, 2, 6, 7, 9, 10] {
            assert_eq!(utf16.offset(utf16.position(offset)), offset);
            assert_eq!(utf8.offset(utf8.position(offset)), offset);
        }
        assert_eq!(utf16.offset(Position::new(9, 9)), text.len());
        assert_eq!(utf16.offset(Position::new(0, 9)), 1);
    }
}
