//! Values of the expressions in `#if`, `#elif` and `#line` (GLSL 4.60 section 3.3), in 64 bits as C++ has it.
//!
//! Macros are expanded and `defined` is resolved before. Remaining names count as 0 and are listed for the caller if
//! their value matters.

use crate::diagnostic::Code;
use crate::glsl::lex::{PpKind, PpToken};
use crate::glsl::number;
use crate::glsl::token::{Interner, Punct};
use crate::source::Span;

/// Maximum nesting of parentheses and unary operators.
const DEPTH_LIMIT: u32 = 256;

/// Why there is no value.
#[derive(Debug)]
pub(super) struct Problem {
    pub code: Code,
    pub span: Span,
    pub text: String,
}

type Value = Result<i64, Problem>;

/// Reads one expression.
pub(super) struct Evaluator<'a> {
    tokens: &'a [PpToken],
    interner: &'a Interner,
    /// Where to point when tokens run out.
    directive: Span,
    next: usize,
    depth: u32,
    /// Names without a value whose value was needed.
    pub undefined: Vec<PpToken>,
}

/// Operator, precedence (higher binds tighter), function; it returns `None` if the value is undefined.
type Binary = (Punct, u8, fn(i64, i64) -> Option<i64>);

const BINARY: &[Binary] = &[
    (Punct::PipePipe, 1, |a, b| Some(i64::from(a != 0 || b != 0))),
    (Punct::AmpAmp, 2, |a, b| Some(i64::from(a != 0 && b != 0))),
    (Punct::Pipe, 3, |a, b| Some(a | b)),
    (Punct::Caret, 4, |a, b| Some(a ^ b)),
    (Punct::Amp, 5, |a, b| Some(a & b)),
    (Punct::EqualEqual, 6, |a, b| Some(i64::from(a == b))),
    (Punct::BangEqual, 6, |a, b| Some(i64::from(a != b))),
    (Punct::Less, 7, |a, b| Some(i64::from(a < b))),
    (Punct::Greater, 7, |a, b| Some(i64::from(a > b))),
    (Punct::LessEqual, 7, |a, b| Some(i64::from(a <= b))),
    (Punct::GreaterEqual, 7, |a, b| Some(i64::from(a >= b))),
    (Punct::ShiftLeft, 8, |a, b| a.checked_shl(u32::try_from(b).ok()?)),
    (Punct::ShiftRight, 8, |a, b| a.checked_shr(u32::try_from(b).ok()?)),
    (Punct::Plus, 9, |a, b| Some(a.wrapping_add(b))),
    (Punct::Minus, 9, |a, b| Some(a.wrapping_sub(b))),
    (Punct::Star, 10, |a, b| Some(a.wrapping_mul(b))),
    (Punct::Slash, 10, |a, b| (b != 0).then(|| a.wrapping_div(b))),
    (Punct::Percent, 10, |a, b| (b != 0).then(|| a.wrapping_rem(b))),
];

impl<'a> Evaluator<'a> {
    pub fn new(tokens: &'a [PpToken], directive: Span, interner: &'a Interner) -> Evaluator<'a> {
        Evaluator { tokens, interner, directive, next: 0, depth: 0, undefined: Vec::new() }
    }

    /// The value of the longest expression at the start, and how many tokens it has.
    pub fn expression(&mut self) -> Result<(i64, usize), Problem> {
        let value = self.binary(1, true)?;
        Ok((value, self.next))
    }

    fn problem<T>(&self, span: Span, text: impl Into<String>) -> Result<T, Problem> {
        Err(Problem { code: Code::BAD_CONDITION, span, text: text.into() })
    }

    /// Operators of at least the precedence `least`. An expression that is not `live` need not have a value.
    fn binary(&mut self, least: u8, live: bool) -> Value {
        let mut left = self.unary(live)?;
        while let Some(&(operator, precedence, apply)) = self.operator(least) {
            let span = self.tokens[self.next].span;
            self.next += 1;
            let decided = match operator {
                Punct::AmpAmp => left == 0,
                Punct::PipePipe => left != 0,
                _ => false,
            };
            let right = self.binary(precedence + 1, live && !decided)?;
            left = match apply(left, right) {
                Some(value) => value,
                None if !live => 0,
                None => return self.problem(span, format!("`{}` has no value for {right}", operator.text())),
            };
        }
        Ok(left)
    }

    fn operator(&self, least: u8) -> Option<&'static Binary> {
        let PpKind::Punct(punct) = self.tokens.get(self.next)?.kind() else { return None };
        BINARY.iter().find(|(known, precedence, _)| *known == punct && *precedence >= least)
    }

    fn unary(&mut self, live: bool) -> Value {
        let Some(&token) = self.tokens.get(self.next) else {
            let last = self.tokens.last().map_or(self.directive, |last| last.span);
            return self.problem(last, "an operand must follow");
        };
        self.next += 1;
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            let text = format!("nested more than {DEPTH_LIMIT} deep");
            return Err(Problem { code: Code::TOO_DEEP, span: token.span, text });
        }
        let value = match token.kind() {
            PpKind::Punct(punct) => self.prefixed(punct, token, live),
            PpKind::Number(text) => self.number(self.interner.text(text), token.span),
            PpKind::Word(_) => {
                self.undefined.extend(live.then_some(token));
                Ok(0)
            }
            _ => self.problem(token.span, "not an integer"),
        };
        self.depth -= 1;
        value
    }

    fn prefixed(&mut self, punct: Punct, token: PpToken, live: bool) -> Value {
        match punct {
            Punct::LeftParen => self.parenthesised(token, live),
            Punct::Plus => self.unary(live),
            Punct::Minus => self.unary(live).map(i64::wrapping_neg),
            Punct::Tilde => self.unary(live).map(|value| !value),
            Punct::Bang => self.unary(live).map(|value| i64::from(value == 0)),
            _ => self.problem(token.span, "an operand is expected here"),
        }
    }

    fn parenthesised(&mut self, open: PpToken, live: bool) -> Value {
        let value = self.binary(1, live)?;
        match self.tokens.get(self.next) {
            Some(close) if close.is(Punct::RightParen) => {
                self.next += 1;
                Ok(value)
            }
            Some(other) => self.problem(other.span, "`)` or an operator is expected here"),
            None => self.problem(open.span, "this parenthesis is not closed"),
        }
    }

    fn number(&self, text: &str, span: Span) -> Value {
        match number::integer(text) {
            Ok((value, "" | "u" | "U" | "l" | "L" | "ul" | "UL")) => Ok(value as i64),
            Ok(_) => self.problem(span, "not an integer"),
            Err(error) => self.problem(span, error.text),
        }
    }
}
