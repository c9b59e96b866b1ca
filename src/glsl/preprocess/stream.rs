//! Preprocessing tokens to the parser's tokens: numbers get their values, and what is no GLSL token is refused.

use super::Preprocessor;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::lex::{PpKind, PpToken};
use crate::glsl::number;
use crate::glsl::token::{Literal, LiteralId, Symbol, Token, TokenKind, TokenStream};
use crate::source::Span;

/// Longest number that a message spells out.
const SHOWN: usize = 64;

/// Reads a run to its end. Equal spellings of a number share one literal.
pub(super) fn finish(run: Preprocessor<'_>) -> TokenStream {
    let mut tokens = Vec::with_capacity(run.expected_tokens());
    let mut finisher = Finisher { run, literals: Vec::new(), ids: Vec::new() };
    let mut stray = false;
    while let Some(token) = finisher.next(stray, &mut tokens) {
        // A directive that is none: its words are no program.
        stray &= !token.first;
        if !stray {
            stray = token.kind == PpKind::Hash;
            tokens.push(Token { kind: finisher.kind(token), span: token.span });
        }
    }
    let end = tokens.last().map_or(0, |last| last.span.hi);
    tokens.push(Token { kind: TokenKind::End, span: Span::new(end, end) });
    let Finisher { run: Preprocessor { output, .. }, literals, .. } = finisher;
    TokenStream { tokens, literals, version: output.version, extensions: output.extensions, pragmas: output.pragmas }
}

struct Finisher<'a> {
    run: Preprocessor<'a>,
    literals: Vec<Literal>,
    /// By symbol: the literal that it spells plus one, 0 where that is not known.
    ids: Vec<u32>,
}

impl Finisher<'_> {
    /// The next token, those that need nothing done going into `tokens` first.
    fn next(&mut self, stray: bool, tokens: &mut Vec<Token>) -> Option<PpToken> {
        match stray {
            true => self.run.next_token(),
            false => self.run.next_after(|token| tokens.push(token)),
        }
    }

    fn kind(&mut self, token: PpToken) -> TokenKind {
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
            self.ids.resize(self.run.interner.len().max(index + 1), 0);
        }
        if self.ids[index] == 0 {
            let Some(literal) = self.value(text, span) else { return self.zero() };
            self.literals.push(literal);
            self.ids[index] = self.literals.len() as u32;
        }
        LiteralId(self.ids[index] - 1)
    }

    fn value(&mut self, text: Symbol, span: Span) -> Option<Literal> {
        let text = self.run.interner.text(text);
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
                self.run.diagnostics.push(error);
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
        let message = format!("`{}` begins no directive here", kind.spelling(self.run.interner));
        let error = Diagnostic::error(Code::STRAY_HASH, message);
        self.run.diagnostics.push(error.at(span, "a directive must be the first thing on its line"));
        TokenKind::Literal(self.zero())
    }
}
