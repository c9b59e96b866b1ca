//! Preprocessing tokens to the parser's tokens: numbers get their values, and what is no GLSL token is refused.

use super::Output;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::glsl::lex::{PpKind, PpToken};
use crate::glsl::number;
use crate::glsl::token::{Interner, Literal, LiteralId, Symbol, Token, TokenKind, TokenStream};
use crate::source::Span;

/// Longest number that a message spells out.
const SHOWN: usize = 64;

/// Makes the stream. Equal spellings of a number share one literal.
pub(super) fn finish(output: Output, interner: &Interner, diagnostics: &mut Diagnostics) -> TokenStream {
    let mut finisher = Finisher { interner, diagnostics, literals: Vec::new(), ids: Vec::new() };
    let mut tokens = Vec::with_capacity(output.tokens.len() + 1);
    let mut stray = false;
    for token in &output.tokens {
        // A directive that is none: its words are no program.
        stray &= !token.first;
        if !stray {
            stray = token.kind == PpKind::Hash;
            tokens.push(Token { kind: finisher.kind(token), span: token.span });
        }
    }
    let end = output.tokens.last().map_or(0, |last| last.span.hi);
    tokens.push(Token { kind: TokenKind::End, span: Span::new(end, end) });
    TokenStream {
        tokens,
        literals: finisher.literals,
        version: output.version,
        extensions: output.extensions,
        pragmas: output.pragmas,
    }
}

struct Finisher<'a> {
    interner: &'a Interner,
    diagnostics: &'a mut Diagnostics,
    literals: Vec<Literal>,
    /// By symbol: the literal that it spells plus one, 0 where that is not known.
    ids: Vec<u32>,
}

impl Finisher<'_> {
    fn kind(&mut self, token: &PpToken) -> TokenKind {
        match token.kind {
            PpKind::Word(name) => TokenKind::Word(name),
            PpKind::Punct(punct) => TokenKind::Punct(punct),
            PpKind::String(body) => TokenKind::String(body),
            PpKind::Number(text) => TokenKind::Literal(self.literal(text, token.span)),
            other => self.stray(other, token.span),
        }
    }

    fn literal(&mut self, text: Symbol, span: Span) -> LiteralId {
        let index = text.0 as usize;
        if self.ids.len() <= index {
            self.ids.resize(self.interner.len().max(index + 1), 0);
        }
        if self.ids[index] == 0 {
            let Some(literal) = self.value(text, span) else { return self.zero() };
            self.literals.push(literal);
            self.ids[index] = self.literals.len() as u32;
        }
        LiteralId(self.ids[index] - 1)
    }

    fn value(&mut self, text: Symbol, span: Span) -> Option<Literal> {
        let text = self.interner.text(text);
        match number::literal(text) {
            Ok(literal) => Some(literal),
            Err(problem) => {
                let message = match text.len() {
                    0..=SHOWN => format!("`{text}` is not a valid number"),
                    _ => "this is not a valid number".to_string(),
                };
                let mut error = Diagnostic::error(Code::BAD_NUMBER, message).at(span, problem.text);
                if let Some(instead) = problem.instead {
                    let text = format!("write `{instead}`");
                    error = error.suggest(span, instead, text);
                }
                self.diagnostics.push(error);
                None
            }
        }
    }

    /// What stands in for a token that is none, so that parsing can go on.
    fn zero(&mut self) -> LiteralId {
        self.literals.push(Literal::Int { value: 0, width: 32, signed: true });
        LiteralId(self.literals.len() as u32 - 1)
    }

    fn stray(&mut self, kind: PpKind, span: Span) -> TokenKind {
        let message = format!("`{}` begins no directive here", kind.spelling(self.interner));
        let error = Diagnostic::error(Code::STRAY_HASH, message);
        self.diagnostics.push(error.at(span, "a directive must be the first thing on its line"));
        TokenKind::Literal(self.zero())
    }
}
