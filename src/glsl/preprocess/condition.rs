//! Conditional groups: `#if`, `#ifdef`, `#ifndef`, `#elif`, `#else`, `#endif` (GLSL 4.60 section 3.3).
//!
//! Excluded groups are skipped line by line without tokenizing them.

use super::Preprocessor;
use super::evaluate::Evaluator;
use super::expand::Origin;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::lex::{PpKind, PpToken};
use crate::glsl::token::Punct;
use crate::source::Span;

/// An open `#if`.
pub(super) struct Conditional {
    span: Span,
    /// One of its groups has been used, or none may be.
    taken: bool,
    /// True inside an excluded group.
    dead: bool,
    otherwise: Option<Span>,
}

impl Preprocessor<'_> {
    pub(super) fn begin_if(&mut self, at: Span) {
        let pristine = self.input().pristine;
        let tokens = self.line_tokens();
        if pristine {
            self.note_guard(&tokens);
        }
        let taken = self.condition(&tokens, at);
        self.open_group(at, taken);
    }

    pub(super) fn begin_ifdef(&mut self, at: Span, wanted: bool) {
        let pristine = self.input().pristine;
        let Some((name, _)) = self.directive_name(at) else {
            return self.open_group(at, false);
        };
        if pristine && !wanted {
            self.input().guard = Some(name);
        }
        self.expect_line_end();
        let taken = self.lookup(name).is_some() == wanted;
        self.open_group(at, taken);
    }

    /// Recognises `#if !defined(NAME)` at the top of a file.
    fn note_guard(&mut self, tokens: &[PpToken]) {
        let name = match tokens {
            [not, defined, name] if not.is(Punct::Bang) && self.is_defined_operator(defined) => name,
            [not, defined, open, name, _] if not.is(Punct::Bang) && self.is_defined_operator(defined) => {
                if !open.is(Punct::LeftParen) {
                    return;
                }
                name
            }
            _ => return,
        };
        if let PpKind::Word(name) = name.kind() {
            self.input().guard = Some(name);
        }
    }

    pub(super) fn begin_elif(&mut self, at: Span) {
        if !self.turn_elif(at) {
            self.skip_groups();
        }
    }

    pub(super) fn begin_else(&mut self, at: Span) {
        if !self.turn_else(at) {
            self.skip_groups();
        }
    }

    pub(super) fn end_if(&mut self, at: Span) {
        self.close_group(at);
    }

    fn open_group(&mut self, span: Span, taken: bool) {
        self.conditionals.push(Conditional { span, taken, dead: false, otherwise: None });
        if !taken {
            self.skip_groups();
        }
    }

    /// The innermost `#if` of this file; an error if there is none.
    fn open_conditional(&mut self, at: Span) -> Option<&mut Conditional> {
        if self.conditionals.len() == self.input().outer_groups {
            let message = format!("`{}` without `#if`", self.sources.text(at));
            self.error(Code::CONDITIONAL_ORDER, at, message, "no group is open");
            return None;
        }
        self.conditionals.last_mut()
    }

    fn refuse_after_else(&mut self, at: Span, otherwise: Span) {
        let message = format!("`{}` after `#else`", self.sources.text(at));
        let error = Diagnostic::error(Code::CONDITIONAL_ORDER, message).at(at, "must come before `#else`");
        self.diagnostics.push(error.with(otherwise, "the `#else` of this group"));
    }

    /// Returns true if the group after this `#elif` is used.
    fn turn_elif(&mut self, at: Span) -> bool {
        let Some(group) = self.open_conditional(at) else {
            self.skip_line();
            return true;
        };
        if let Some(otherwise) = group.otherwise {
            self.refuse_after_else(at, otherwise);
            return false;
        }
        if group.taken {
            return false;
        }
        let tokens = self.line_tokens();
        let taken = self.condition(&tokens, at);
        self.conditionals.last_mut().expect("it was open above").taken = taken;
        taken
    }

    /// Returns true if the group after this `#else` is used.
    fn turn_else(&mut self, at: Span) -> bool {
        let Some(group) = self.open_conditional(at) else { return true };
        if let Some(otherwise) = group.otherwise {
            self.refuse_after_else(at, otherwise);
            return false;
        }
        group.otherwise = Some(at);
        let (used, dead) = (!group.taken, group.dead);
        group.taken = true;
        if !dead {
            self.expect_line_end();
        }
        used
    }

    /// Ends a group. Returns true if the text after it is used.
    fn close_group(&mut self, at: Span) -> bool {
        if self.open_conditional(at).is_none() {
            return true;
        }
        let dead = self.conditionals.pop().is_some_and(|group| group.dead);
        if !dead {
            self.expect_line_end();
        }
        !dead
    }

    /// Skips from a group that is not used to the next one that is, or past the `#endif`.
    fn skip_groups(&mut self) {
        let first = self.input().lexer.next_line();
        let last = self.find_group();
        self.sources.skip(Span::new(first, last.max(first)));
    }

    /// The position of the directive that ends the skipping.
    fn find_group(&mut self) -> u32 {
        loop {
            let input = self.inputs.last_mut().expect("the main file is never left");
            let hash = input.lexer.skip_group(self.interner);
            match hash.kind() {
                PpKind::End => return hash.span.lo,
                PpKind::Invalid(invalid) => {
                    self.report_invalid(invalid, hash.span);
                    return hash.span.lo;
                }
                _ => {}
            }
            let name = input.lexer.next_in_line(self.interner);
            if name.is_some_and(|name| self.leaves_skipping(hash.span.to(name.span), name)) {
                return hash.span.lo;
            }
        }
    }

    /// Obeys a directive in skipped text. Returns true if the text after it is used.
    fn leaves_skipping(&mut self, at: Span, name: PpToken) -> bool {
        let PpKind::Word(name) = name.kind() else { return false };
        match self.interner.text(name) {
            "if" | "ifdef" | "ifndef" => {
                self.conditionals.push(Conditional { span: at, taken: true, dead: true, otherwise: None });
                false
            }
            "elif" => self.turn_elif(at),
            "else" => self.turn_else(at),
            "endif" => self.close_group(at),
            _ => false,
        }
    }

    /// Reports the unclosed groups of a file.
    pub(super) fn close_groups(&mut self, outer: usize) {
        for group in self.conditionals.split_off(outer) {
            self.error(Code::UNTERMINATED_IF, group.span, "this group has no `#endif`", "opened here");
        }
    }

    /// The value of an `#if` line; false if it has none.
    fn condition(&mut self, tokens: &[PpToken], at: Span) -> bool {
        let tokens = self.expand_condition(tokens);
        let Some((value, length)) = self.evaluate(&tokens, at) else { return false };
        if let Some(extra) = tokens.get(length) {
            let text = extra.kind().spelling(self.interner);
            let message = format!("`{text}` does not continue the expression");
            self.error(Code::BAD_CONDITION, extra.span, message, "an operator or the end of the line is expected here");
            return false;
        }
        value != 0
    }

    /// Expands the macros of a line, except the operands of `defined`, which turns into 0 or 1.
    pub(super) fn expand_condition(&mut self, tokens: &[PpToken]) -> Vec<PpToken> {
        let mut expanded = Vec::with_capacity(tokens.len());
        self.push_list(tokens);
        loop {
            let token = self.next_expanded();
            match token.kind() {
                PpKind::End => break,
                PpKind::Word(_) if self.is_defined_operator(&token) => expanded.push(self.defined(token)),
                _ => expanded.push(token),
            }
        }
        self.pop_list();
        expanded
    }

    fn is_defined_operator(&self, token: &PpToken) -> bool {
        matches!(token.kind(), PpKind::Word(name) if self.interner.text(name) == "defined")
    }

    /// `defined NAME` or `defined(NAME)`, the operator being read.
    fn defined(&mut self, operator: PpToken) -> PpToken {
        if self.origin() == Origin::Macro {
            let message = "`defined` comes from a macro, which not every compiler allows";
            let help = "write `defined` in the `#if` line itself";
            self.warn(Code::DEFINED_FROM_MACRO, operator.span, message, "produced here", help);
        }
        let first = self.read();
        let parenthesised = first.is(Punct::LeftParen);
        let name = if parenthesised { self.read() } else { first };
        let closed = !parenthesised || self.read().is(Punct::RightParen);
        let value = match name.kind() {
            PpKind::Word(name) if closed => self.lookup(name).is_some(),
            _ => {
                let message = "`defined` needs the name of a macro";
                self.error(Code::BAD_CONDITION, operator.span, message, "as in `defined(NAME)`");
                false
            }
        };
        let digit = self.interner.intern(if value { "1" } else { "0" });
        operator.with(PpKind::Number(digit))
    }

    /// Value of the expression at the start of a line and the number of its tokens.
    pub(super) fn evaluate(&mut self, tokens: &[PpToken], at: Span) -> Option<(i64, usize)> {
        let mut evaluator = Evaluator::new(tokens, at, self.interner);
        let result = evaluator.expression();
        for token in std::mem::take(&mut evaluator.undefined) {
            self.undefined_name(token);
        }
        match result {
            Ok(found) => Some(found),
            Err(problem) => {
                let message = "this is not a constant integer expression";
                self.error(problem.code, problem.span, message, problem.text);
                None
            }
        }
    }

    fn undefined_name(&mut self, token: PpToken) {
        if matches!(token.kind(), PpKind::Word(name) if !self.warned.zero.insert(name)) {
            return;
        }
        let name = token.kind().spelling(self.interner);
        let message = format!("`{name}` is not defined and counts as 0 here");
        let help = format!("write `defined({name})` to ask if it is defined");
        // GLSL is laxer in practice than GLSL ES.
        let diagnostic = match self.is_es() {
            true => Diagnostic::error(Code::UNDEFINED_IN_CONDITION, message),
            false => Diagnostic::warning(Code::UNDEFINED_IS_ZERO, message),
        };
        self.diagnostics.push(diagnostic.at(token.span, "not defined").help(help));
    }
}
