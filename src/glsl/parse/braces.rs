//! The brace that a missing `}` belongs to. Braces alone say only that the outermost `{` stays open; the indentation of the
//! lines shows the one that was meant to be closed.

use super::cursor::Parser;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::token::{Punct, TokenKind};
use crate::source::Span;

/// A `{` and the indentation of the line on which its statement begins.
#[derive(Clone, Copy)]
struct Open {
    brace: Span,
    indent: Option<usize>,
}

impl Parser<'_> {
    /// The message that a `}` is missing before the current token. The `{` at `open` is the innermost one that is open.
    #[cold]
    pub fn unclosed(&self, open: Span) -> Diagnostic {
        let (unclosed, stolen) = self.misaligned(open).map_or((open, None), |(of, by)| (of, Some(by)));
        let message = Diagnostic::error(Code::SYNTAX, "this `{` has no `}`").at(unclosed, "not closed");
        let message = match stolen {
            Some(brace) => message.with(brace, "this `}` closes it, but by its indentation it belongs to an outer `{`"),
            None => message,
        };
        message.with(self.span(), if self.at_end() { "the file ends here" } else { "expected `}` before this" })
    }

    /// The first `{` from `open` on whose `}` is at the start of a line with less indentation, and that `}`.
    fn misaligned(&self, open: Span) -> Option<(Span, Span)> {
        let tokens = &self.tokens()[..self.position()];
        let first = tokens.iter().position(|token| token.span == open)?;
        let (mut opened, mut parentheses, mut start) = (Vec::<Open>::new(), 0usize, self.statement_at(first));
        for (index, token) in tokens.iter().enumerate().skip(first) {
            match token.kind() {
                TokenKind::Punct(Punct::LeftBrace) => {
                    opened.push(Open { brace: token.span, indent: self.indentation(tokens[start].span) });
                    start = index + 1;
                }
                TokenKind::Punct(Punct::RightBrace) => {
                    start = index + 1;
                    let Some(open) = opened.pop() else { continue };
                    if self.leads(token.span) && open.indent > self.indentation(token.span) {
                        return Some((open.brace, token.span));
                    }
                }
                TokenKind::Punct(Punct::Semicolon) if parentheses == 0 => start = index + 1,
                TokenKind::Punct(Punct::LeftParen) => parentheses += 1,
                TokenKind::Punct(Punct::RightParen) => parentheses = parentheses.saturating_sub(1),
                _ => {}
            }
        }
        None
    }

    /// The first token of the statement that the token at `index` belongs to.
    fn statement_at(&self, index: usize) -> usize {
        let ends = |token: &TokenKind| {
            matches!(token, TokenKind::Punct(Punct::Semicolon | Punct::LeftBrace | Punct::RightBrace))
        };
        let before = self.tokens()[..index].iter().rposition(|token| ends(&token.kind()));
        before.map_or(0, |end| end + 1)
    }

    /// The blanks before the first word of the line that holds a span.
    fn indentation(&self, span: Span) -> Option<usize> {
        let line = self.sources().line_before(span.lo)?;
        Some(line.len() - line.trim_start().len())
    }

    /// True if only blanks come before a span on its line.
    fn leads(&self, span: Span) -> bool {
        self.sources().line_before(span.lo).is_some_and(|line| line.trim_start().is_empty())
    }
}
