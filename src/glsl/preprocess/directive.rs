//! Dispatches directives, and executes the small ones: `#undef`, `#error`, `#pragma`, `#line`.

use super::{KeptLine, Preprocessor};
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::lex::{PpKind, PpToken};
use crate::glsl::pragma::shader_stage;
use crate::glsl::token::{Pragma, Symbol};
use crate::ir::Stage;
use crate::source::{LineMark, Span};

/// Executes a directive whose `#` and name, at the span, have been read.
type Handler = fn(&mut Preprocessor<'_>, Span);

/// GLSL 4.60 section 3.3, and `#include`.
const DIRECTIVES: &[(&str, Handler)] = &[
    ("define", |this, at| this.define(at)),
    ("undef", |this, at| this.undefine(at)),
    ("if", |this, at| this.begin_if(at)),
    ("ifdef", |this, at| this.begin_ifdef(at, true)),
    ("ifndef", |this, at| this.begin_ifdef(at, false)),
    ("elif", |this, at| this.begin_elif(at)),
    ("else", |this, at| this.begin_else(at)),
    ("endif", |this, at| this.end_if(at)),
    ("include", |this, at| this.include(at)),
    ("extension", |this, at| this.extension(at)),
    ("version", |this, at| this.late_version(at)),
    ("pragma", |this, at| this.pragma(at)),
    ("line", |this, at| this.line(at)),
    ("error", |this, at| this.user_error(at)),
];

/// The names of the directives.
pub fn names() -> impl Iterator<Item = &'static str> {
    DIRECTIVES.iter().map(|(name, _)| *name)
}

impl Preprocessor<'_> {
    /// Executes the directive after a `#` at the start of a line. A `#` alone does nothing.
    pub(super) fn directive(&mut self, hash: PpToken) {
        let Some(name) = self.next_in_line() else { return };
        let span = hash.span.to(name.span);
        self.refuse_in_arguments(span);
        // An `#include` puts another file on top.
        let file = self.inputs.len() - 1;
        match self.handler(name) {
            Some(handler) => handler(self, span),
            None => self.unknown_directive(name),
        }
        self.inputs[file].pristine = false;
    }

    fn handler(&self, name: PpToken) -> Option<Handler> {
        let PpKind::Word(symbol) = name.kind() else { return None };
        let text = self.interner.text(symbol);
        DIRECTIVES.iter().find(|(known, _)| *known == text).map(|(_, handler)| *handler)
    }

    fn refuse_in_arguments(&mut self, span: Span) {
        if self.expansion.in_arguments {
            let message = "a directive inside the arguments of a macro";
            self.error(Code::MACRO_ARGUMENTS, span, message, "the argument list is still open here");
        }
    }

    fn unknown_directive(&mut self, name: PpToken) {
        self.skip_line();
        let text = name.kind().spelling(self.interner);
        let message = format!("unknown directive `#{text}`");
        let mut error = Diagnostic::error(Code::BAD_DIRECTIVE, message).at(name.span, "unknown");
        if let Some(near) = nearest(&text, DIRECTIVES.iter().map(|(known, _)| *known)) {
            error = error.suggest(name.span, near, format!("did you mean `#{near}`?"));
        }
        self.diagnostics.push(error);
    }

    /// The name that must follow a directive; otherwise an error and `None`.
    pub(super) fn directive_name(&mut self, at: Span) -> Option<(Symbol, Span)> {
        match self.next_in_line() {
            Some(word) => match word.kind() {
                PpKind::Word(name) => return Some((name, word.span)),
                _ => self.error(Code::BAD_DIRECTIVE, word.span, "a name is missing", "a name is expected here"),
            },
            None => self.error(Code::BAD_DIRECTIVE, at, "a name is missing", "a name must follow"),
        }
        self.skip_line();
        None
    }

    /// Warns about text after a complete directive.
    pub(super) fn expect_line_end(&mut self) {
        if let Some(extra) = self.next_in_line() {
            let span = extra.span.to(self.input().lexer.rest_of_line().1);
            let help = "remove it, or write `//` in front of it";
            self.warn(Code::EXTRA_TEXT, span, "text after the directive is ignored", "ignored", help);
        }
    }

    /// Records that the text form keeps a line.
    pub(super) fn keep_line(&mut self, span: Span) {
        let token = self.token_index();
        self.output.kept.push(KeptLine { token, span });
    }

    /// Number of tokens so far.
    pub(super) fn token_index(&self) -> u32 {
        self.output.tokens
    }

    fn user_error(&mut self, at: Span) {
        let (text, span) = self.input().lexer.rest_of_line();
        let message = if text.is_empty() { "#error".to_string() } else { text.to_string() };
        self.error(Code::USER_ERROR, at.to(span), message, "the shader says so");
    }

    fn pragma(&mut self, at: Span) {
        let (text, span) = self.inputs.last_mut().expect("the main file is never left").lexer.rest_of_line();
        if text == "once" {
            return self.mark_once();
        }
        self.named_stage = self.named_stage.or_else(|| Stage::named(shader_stage(text)?));
        if let Some((name, value)) = self.options.dialects.set_by(text) {
            self.macros.set_builtin(self.interner.intern(name), value);
        }
        let (text, span, token) = (self.interner.intern(text), at.to(span), self.token_index());
        self.output.pragmas.push(Pragma { text, span, token });
        self.keep_line(span);
    }

    fn mark_once(&mut self) {
        let file = self.input().file;
        let name = self.sources.file(file).name.clone();
        self.once.insert(name);
    }

    /// `#line line [source]`: the next line has the number `line` (GLSL 4.60 section 3.3).
    fn line(&mut self, at: Span) {
        let tokens = self.line_tokens();
        let tokens = self.expand_condition(&tokens);
        let Some((line, length)) = self.evaluate(&tokens, at) else { return };
        let name = match tokens.get(length..) {
            None | Some([]) => None,
            Some([only]) if matches!(only.kind(), PpKind::String(_)) => match self.line_file(*only) {
                Some(name) => Some(name),
                None => return,
            },
            Some(rest) => match self.line_number(rest, at) {
                Some(number) => Some(number),
                None => return,
            },
        };
        let Ok(line) = u32::try_from(line) else {
            return self.error(Code::BAD_DIRECTIVE, at, "`#line` needs a line number", format!("{line} is none"));
        };
        let position = self.input().lexer.next_line();
        self.sources.mark_line(LineMark { position, line, name: name.map(Into::into) });
    }

    /// The file name of a `#line` (GL_GOOGLE_cpp_style_line_directive).
    fn line_file(&mut self, token: PpToken) -> Option<String> {
        let PpKind::String(name) = token.kind() else { return None };
        if !self.file_names {
            let note = "`#extension GL_GOOGLE_cpp_style_line_directive : enable` allows it";
            let error = Diagnostic::error(Code::BAD_DIRECTIVE, "a file name in `#line` needs an extension");
            self.diagnostics.push(error.at(token.span, "not a number").note(note));
            return None;
        }
        Some(self.interner.text(name).to_string())
    }

    /// The source string number of a `#line`, to the end of the line.
    fn line_number(&mut self, tokens: &[PpToken], at: Span) -> Option<String> {
        let (number, length) = self.evaluate(tokens, at)?;
        let number = u32::try_from(number).ok().filter(|_| length == tokens.len());
        let Some(number) = number else {
            let label = "the line and the source string must be two numbers";
            self.error(Code::BAD_DIRECTIVE, tokens[0].span, "malformed `#line`", label);
            return None;
        };
        self.input().string_number = number;
        Some(number.to_string())
    }
}
