//! Semantic highlighting: the meaning of each word of a file.

use super::Analysis;
use super::lookup::{Named, span_of};
use super::scan::Kind as Lexeme;
use super::words::Builtin;
use crate::symbols::Kind;
use std::ops::Range;

/// The classes of words, in the order of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    Function,
    Parameter,
    Variable,
    Property,
    Type,
    Struct,
    Macro,
    Keyword,
    Number,
    Comment,
    Text,
}

impl TokenKind {
    pub const ALL: [TokenKind; 11] = [
        TokenKind::Function,
        TokenKind::Parameter,
        TokenKind::Variable,
        TokenKind::Property,
        TokenKind::Type,
        TokenKind::Struct,
        TokenKind::Macro,
        TokenKind::Keyword,
        TokenKind::Number,
        TokenKind::Comment,
        TokenKind::Text,
    ];
}

/// A token with its class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SemanticToken {
    pub range: Range<usize>,
    pub kind: TokenKind,
    /// True if it is built into the language.
    pub is_builtin: bool,
    pub is_constant: bool,
}

impl Analysis {
    /// The tokens of a file that have a class, in its order.
    pub fn semantic_tokens(&self, file: &str) -> Vec<SemanticToken> {
        let Some(index) = self.sources.files().iter().position(|known| *known.name == *file) else { return Vec::new() };
        let base = self.sources.files()[index].base;
        let scanned = self.scan(index);
        let mut tokens = Vec::new();
        for (at, token) in scanned.tokens.iter().enumerate() {
            let after_hash = at > 0 && scanned.tokens[at - 1].kind == Lexeme::Hash;
            let (kind, is_builtin, is_constant) = match token.kind {
                Lexeme::Word if after_hash => (TokenKind::Keyword, false, false),
                Lexeme::Word => match self.class(span_of(base, &token.range)) {
                    Some(class) => class,
                    None => continue,
                },
                Lexeme::Number => (TokenKind::Number, false, false),
                Lexeme::Text => (TokenKind::Text, false, false),
                Lexeme::Comment => (TokenKind::Comment, false, false),
                Lexeme::Hash => (TokenKind::Keyword, false, false),
                Lexeme::Punct(_) => continue,
            };
            tokens.push(SemanticToken { range: token.range.clone(), kind, is_builtin, is_constant });
        }
        tokens
    }

    /// The class of a word, and whether it is built in and constant.
    fn class(&self, word: crate::source::Span) -> Option<(TokenKind, bool, bool)> {
        match self.named(word) {
            Some(Named::Declared(index)) => return Some(declared(self.known().declarations[index].kind)),
            Some(Named::Macro(_)) => return Some((TokenKind::Macro, false, true)),
            None => {}
        }
        if self.follows_point(word) {
            return Some((TokenKind::Property, false, false));
        }
        Some(match self.builtin(self.text(word))? {
            Builtin::Function(_) => (TokenKind::Function, true, false),
            Builtin::Variable(_) => (TokenKind::Variable, true, false),
            Builtin::Constant(_) => (TokenKind::Variable, true, true),
            Builtin::Type => (TokenKind::Type, true, false),
            Builtin::Keyword => (TokenKind::Keyword, false, false),
        })
    }
}

const fn declared(kind: Kind) -> (TokenKind, bool, bool) {
    match kind {
        Kind::Function => (TokenKind::Function, false, false),
        Kind::Parameter => (TokenKind::Parameter, false, false),
        Kind::Local | Kind::Global => (TokenKind::Variable, false, false),
        Kind::Constant => (TokenKind::Variable, false, true),
        Kind::Struct | Kind::Block => (TokenKind::Struct, false, false),
        Kind::Alias => (TokenKind::Type, false, false),
        Kind::Member => (TokenKind::Property, false, false),
    }
}
