//! Turns preprocessing tokens into the parser's tokens: numbers get their values, and invalid tokens are errors.

use super::{Output, Preprocessor};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::lex::{PpKind, PpToken};
use crate::glsl::number::{self, NumberError};
use crate::glsl::token::{Interner, Literal, LiteralId, Packed, Punct, Symbol, Token, TokenKind, TokenStream};
use crate::limits;
use crate::source::Span;

/// Longest number that a message spells out.
const SHOWN: usize = 64;

/// Upper bound of the syntax tree's bytes per token.
const TREE_BYTES: usize = 128;

/// Reads a run to its end. Equal spellings of a number share one literal.
pub(super) fn finish(run: Preprocessor<'_>) -> TokenStream {
    let mut tokens = Vec::with_capacity(run.expected_tokens());
    let mut finisher = Finisher { run, literals: Literals::default() };
    let mut stray = false;
    while let Some(token) = finisher.next(stray, &mut tokens) {
        // Skip the words of an invalid directive, which are not code.
        stray &= !token.first;
        if !stray {
            stray = token.kind() == PpKind::Hash;
            tokens.push(Token::new(finisher.kind(token), token.span));
        }
    }
    limits::spend(tokens.len());
    limits::hold::<Token>(tokens.len());
    limits::hold::<[u8; TREE_BYTES]>(tokens.len());
    fold_layouts(&mut tokens, finisher.run.interner);
    let end = tokens.last().map_or(0, |last| last.span.hi);
    tokens.push(Token::new(TokenKind::End, Span::new(end, end)));
    let Finisher { run: Preprocessor { output, .. }, literals } = finisher;
    let Output { version, extensions, pragmas, .. } = output;
    TokenStream { tokens, literals: literals.list, version, extensions, pragmas }
}

/// Converts names in `layout(…)` to lower case, because they are case-insensitive (GLSL 1.50 section 4.3.8; glslang and
/// the drivers still accept this in later versions). Names of extensions stay.
fn fold_layouts(tokens: &mut [Token], words: &mut Interner) {
    let layout = TokenKind::Word(words.intern("layout"));
    let mut depth = 0;
    for at in 1..tokens.len() {
        let before = tokens[at - 1].kind();
        match tokens[at].kind() {
            TokenKind::Punct(Punct::LeftParen) if depth > 0 || before == layout => depth += 1,
            TokenKind::Punct(Punct::RightParen) if depth > 0 => depth -= 1,
            TokenKind::Word(name)
                if depth == 1
                    && matches!(before, TokenKind::Punct(Punct::LeftParen | Punct::Comma))
                    && has_capitals(words.text(name)) =>
            {
                let folded = words.text(name).to_ascii_lowercase();
                tokens[at] = Token::new(TokenKind::Word(words.intern(&folded)), tokens[at].span);
            }
            _ => {}
        }
    }
}

/// Returns true if a name has capitals and is not an extension's, such as `shaderRecordEXT`.
fn has_capitals(name: &str) -> bool {
    let rest = name.trim_end_matches(|c: char| c.is_ascii_uppercase());
    let is_of_vendor = rest.len() + 2 <= name.len() && rest.bytes().any(|c| c.is_ascii_lowercase());
    !is_of_vendor && name.bytes().any(|c| c.is_ascii_uppercase())
}

/// The values of the numbers so far.
#[derive(Default)]
struct Literals {
    list: Vec<Literal>,
    /// Indexed by symbol: its literal plus one, 0 if unknown.
    ids: Vec<u32>,
}

impl Literals {
    /// The literal of a spelling.
    fn get(&mut self, text: Symbol, words: &Interner) -> Result<LiteralId, NumberError> {
        let index = text.0 as usize;
        if self.ids.len() <= index {
            self.ids.resize((index + 1).next_power_of_two().max(256), 0);
        }
        if self.ids[index] == 0 {
            let LiteralId(last) = self.add(number::literal(words.text(text))?);
            self.ids[index] = last + 1;
        }
        Ok(LiteralId(self.ids[index] - 1))
    }

    fn add(&mut self, literal: Literal) -> LiteralId {
        self.list.push(literal);
        LiteralId(self.list.len() as u32 - 1)
    }

    /// A zero instead of an invalid literal, so that parsing can continue.
    fn zero(&mut self) -> LiteralId {
        self.add(Literal::Int { value: 0, width: 32, signed: true })
    }

    /// The parser's form of a valid token.
    #[inline(always)]
    fn plain(&mut self, PpToken { packed, span, .. }: PpToken, words: &Interner) -> Option<Token> {
        match packed.tag() {
            Packed::WORD | Packed::PUNCT => Some(Token::packed(packed, span)),
            Packed::NUMBER => {
                let literal = self.get(Symbol(packed.payload()), words).ok()?;
                Some(Token::new(TokenKind::Literal(literal), span))
            }
            _ => None,
        }
    }
}

struct Finisher<'a> {
    run: Preprocessor<'a>,
    literals: Literals,
}

impl Finisher<'_> {
    /// The next token; tokens without special handling go to `tokens` first.
    fn next(&mut self, stray: bool, tokens: &mut Vec<Token>) -> Option<PpToken> {
        if stray {
            return self.run.next_token();
        }
        self.run.next_after(|token, words| {
            let Some(plain) = self.literals.plain(token, words) else { return false };
            tokens.push(plain);
            true
        })
    }

    fn kind(&mut self, token: PpToken) -> TokenKind {
        match token.kind() {
            PpKind::Word(name) => TokenKind::Word(name),
            PpKind::Punct(punct) => TokenKind::Punct(punct),
            PpKind::String(body) => TokenKind::String(body),
            PpKind::Number(text) => TokenKind::Literal(self.literal(text, token.span)),
            other => self.stray(other, token.span),
        }
    }

    fn literal(&mut self, text: Symbol, span: Span) -> LiteralId {
        match self.literals.get(text, self.run.interner) {
            Ok(literal) => literal,
            Err(problem) => {
                self.report(text, span, problem);
                self.literals.zero()
            }
        }
    }

    #[cold]
    fn report(&mut self, text: Symbol, span: Span, problem: NumberError) {
        let text = self.run.interner.text(text);
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
    }

    fn stray(&mut self, kind: PpKind, span: Span) -> TokenKind {
        let message = format!("`{}` begins no directive here", kind.spelling(self.run.interner));
        let error = Diagnostic::error(Code::STRAY_HASH, message);
        self.run.diagnostics.push(error.at(span, "a directive must be the first thing on its line"));
        TokenKind::Literal(self.literals.zero())
    }
}
