//! Misspelt keywords. The parser reads `bufer` as the name of a type and fails at a later token, but a message about
//! the word is better.

use super::cursor::Parser;
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::QualifierKind;
use crate::glsl::foreign;
use crate::glsl::keyword::{self, Keyword, Language, WordClass};
use crate::glsl::token::{Punct, Symbol, TokenKind};
use crate::grammar;

/// The maximum number of tokens from an error back to the start of its statement.
const FARTHEST: usize = 64;

/// Shorter words are too often names that happen to resemble a keyword.
const SHORTEST: usize = 3;

/// The words that start statements and declarations.
pub(in crate::glsl) fn keywords() -> impl Iterator<Item = &'static str> {
    let begins = |class: WordClass| matches!(class, WordClass::Keyword(_) | WordClass::Qualifier(_));
    keyword::words(Language::Desktop).filter(move |(_, class)| begins(*class)).map(|(word, _)| word)
}

impl Parser<'_> {
    /// The message about the first word of the current statement that is a misspelt keyword, at a place for keywords:
    /// at its start, or after qualifiers.
    pub fn misspelt_keyword(&self) -> Option<Diagnostic> {
        let (at, index) = (self.position(), self.after_qualifiers(self.statement_start()));
        let TokenKind::Word(symbol) = self.token(index).kind() else { return None };
        if index > at || !matches!(self.class_at(index), Some(WordClass::Identifier)) {
            return None;
        }
        let word = self.text(symbol);
        let is_known =
            || word.len() < SHORTEST || !grammar::functions(word).is_empty() || self.is_used_elsewhere(symbol);
        let near = || nearest(word, keywords().filter(|keyword| keyword.len() >= SHORTEST)).filter(|_| !is_known());
        let near = foreign::counterpart(word).or_else(near)?;
        let span = self.token(index).span;
        let message = format!("`{word}` is not a keyword");
        let diagnostic = Diagnostic::error(Code::SYNTAX, message).at(span, "not known here");
        Some(diagnostic.suggest(span, near, format!("did you mean `{near}`?")))
    }

    /// Adds the GLSL equivalent of a foreign word at the current token or at the start of its statement.
    pub fn with_habit(&self, diagnostic: Diagnostic) -> Diagnostic {
        let found = match self.kind() {
            TokenKind::Punct(Punct::Star | Punct::Amp) => {
                return diagnostic.help("GLSL has no pointers: pass an index, or a parameter that is `inout`");
            }
            TokenKind::Word(symbol) => foreign::counterpart(self.text(symbol)),
            _ => None,
        };
        match found {
            Some(ours) => diagnostic.suggest(self.span(), ours, format!("did you mean `{ours}`?")),
            None => self.first_word().and_then(foreign::advice).into_iter().fold(diagnostic, Diagnostic::help),
        }
    }

    /// The first word of the current statement.
    fn first_word(&self) -> Option<&str> {
        match self.token(self.after_qualifiers(self.statement_start())).kind() {
            TokenKind::Word(symbol) => Some(self.text(symbol)),
            _ => None,
        }
    }

    /// The index of the first token of the statement around the current token.
    fn statement_start(&self) -> usize {
        let at = self.position();
        let is_end = |index: &usize| {
            let kind = self.token(*index).kind();
            matches!(kind, TokenKind::Punct(Punct::Semicolon | Punct::LeftBrace | Punct::RightBrace))
        };
        let mut before = (at.saturating_sub(FARTHEST)..at).rev();
        before.find(is_end).map_or(at.saturating_sub(FARTHEST), |end| end + 1)
    }

    /// The index of the first token at or after `index` that is not part of a qualifier, at most the current token.
    fn after_qualifiers(&self, mut index: usize) -> usize {
        while index < self.position()
            && let Some(WordClass::Qualifier(qualifier)) = self.class_at(index)
        {
            index += 1;
            if matches!(qualifier, QualifierKind::Layout(_)) && self.token(index).is(TokenKind::Punct(Punct::LeftParen))
            {
                index = self.after_parentheses(index);
            }
        }
        // `else` may precede the misspelt word.
        if matches!(self.class_at(index), Some(WordClass::Keyword(Keyword::Else))) { index + 1 } else { index }
    }

    /// The index after the `)` that matches the `(` at `index`; the current token's, if there is none yet.
    fn after_parentheses(&self, index: usize) -> usize {
        let mut depth = 0usize;
        for at in index..self.position() {
            match self.token(at).kind() {
                TokenKind::Punct(Punct::LeftParen) => depth += 1,
                TokenKind::Punct(Punct::RightParen) if depth == 1 => return at + 1,
                TokenKind::Punct(Punct::RightParen) => depth -= 1,
                _ => {}
            }
        }
        self.position()
    }

    /// Returns true if the shader contains a word more than once, so that it is probably a name.
    fn is_used_elsewhere(&self, symbol: Symbol) -> bool {
        self.tokens().iter().filter(|token| token.is(TokenKind::Word(symbol))).count() > 1
    }
}
