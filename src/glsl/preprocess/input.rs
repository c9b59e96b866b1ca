//! Reads the stack of open files: finds directives, enters and leaves files, reports invalid tokens.

use super::{MacroOption, Preprocessor};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::lex::{Invalid, Lexer, PpKind, PpToken};
use crate::glsl::token::{Punct, Symbol};
use crate::source::{FileId, SourceMap, Span};
use std::fmt::Write;

/// Name in messages for the macros from `-D` and `-U`.
const COMMAND_LINE: &str = "<command line>";

/// A file that is being read.
pub(super) struct Input {
    pub file: FileId,
    pub lexer: Lexer,
    /// Number of conditional groups open at the include.
    pub outer_groups: usize,
    /// The name in an `#ifndef` at the top of the file.
    pub guard: Option<Symbol>,
    /// Nothing but white space has been read.
    pub pristine: bool,
    /// The source string number that a `#line` gave.
    pub string_number: u32,
    /// True for the input with the command line's macros, which the shader's restrictions do not cover.
    pub command_line: bool,
}

impl Input {
    pub fn main(file: FileId, sources: &SourceMap) -> Input {
        Input::included(file, sources, 0)
    }

    pub fn included(file: FileId, sources: &SourceMap, outer_groups: usize) -> Input {
        let source = sources.file(file);
        Input {
            file,
            lexer: Lexer::new(source.text.clone(), source.base),
            outer_groups,
            guard: None,
            pristine: true,
            string_number: 0,
            command_line: false,
        }
    }
}

/// Maximum distance in bytes between the quotation marks of a character constant.
const LONGEST_CHARACTER: u32 = 12;

impl Preprocessor<'_> {
    /// The file being read.
    pub(super) fn input(&mut self) -> &mut Input {
        self.inputs.last_mut().expect("the main file is never left")
    }

    /// Puts the command line's macros before the main file, as a separate file.
    pub(super) fn enter_command_line(&mut self) {
        let mut text = String::new();
        for option in self.options.macros {
            let written = match option {
                MacroOption::Define { name, value } => write!(text, "#define {name} {}", one_line(value)),
                MacroOption::Name(name) => write!(text, "#define {} 1", one_line(name)),
                MacroOption::Undefine(name) => write!(text, "#undef {}", one_line(name)),
            };
            written.expect("writing to a string cannot fail");
            text.push('\n');
        }
        text.push_str(self.options.preamble);
        if text.is_empty() {
            return;
        }
        match self.sources.add(COMMAND_LINE, text) {
            Ok(file) => {
                let input = Input::included(file, self.sources, 0);
                self.inputs.push(Input { command_line: true, ..input });
            }
            Err(_) => self.error(Code::TOO_LARGE, Span::NONE, "the macros of the command line are too large", ""),
        }
    }

    /// The next token of the files that is not part of a directive.
    pub(super) fn read_source(&mut self) -> PpToken {
        loop {
            let input = self.inputs.last_mut().expect("the main file is never left");
            let token = input.lexer.next(self.interner);
            if let Some(token) = self.admit(token) {
                return token;
            }
        }
    }

    /// Handles a token of the files that is not part of the text: a directive, the end of a file, or an error.
    pub(super) fn admit(&mut self, token: PpToken) -> Option<PpToken> {
        match token.kind() {
            PpKind::Hash if token.first => self.directive(token),
            PpKind::Invalid(invalid) => self.report_invalid(invalid, token.span),
            PpKind::End if self.leave_file() => {}
            PpKind::End => return Some(token),
            _ => {
                self.input().pristine = false;
                return Some(token);
            }
        }
        self.diagnostics.is_full().then_some(PpToken::END)
    }

    /// Takes the next token of the files if it is `(`; leaves everything else, including directives.
    pub(super) fn take_source_paren(&mut self) -> Option<Span> {
        let input = self.inputs.last_mut().expect("the main file is never left");
        let mark = input.lexer.mark();
        let token = input.lexer.next(self.interner);
        if token.is(Punct::LeftParen) {
            return Some(token.span);
        }
        input.lexer.reset(mark);
        None
    }

    /// The next token of the directive's line.
    pub(super) fn next_in_line(&mut self) -> Option<PpToken> {
        loop {
            let input = self.inputs.last_mut().expect("the main file is never left");
            let token = input.lexer.next_in_line(self.interner)?;
            match token.kind() {
                PpKind::Invalid(invalid) => self.report_invalid(invalid, token.span),
                _ => return Some(token),
            }
        }
    }

    /// The rest of the directive's line.
    pub(super) fn line_tokens(&mut self) -> Vec<PpToken> {
        std::iter::from_fn(|| self.next_in_line()).collect()
    }

    /// Leaves the rest of the line unread.
    pub(super) fn skip_line(&mut self) {
        self.input().lexer.rest_of_line();
    }

    /// Ends a file. Returns false for the main file, which stays.
    fn leave_file(&mut self) -> bool {
        let outer = self.input().outer_groups;
        self.close_groups(outer);
        let included = self.inputs.len() > 1;
        if included {
            self.inputs.pop();
        }
        included
    }

    pub(super) fn report_invalid(&mut self, invalid: Invalid, span: Span) {
        if self.diagnostics.is_full() {
            return;
        }
        let (code, message, label) = match invalid {
            _ if self.is_not_utf8(invalid, span) => {
                let label = "only comments may hold such bytes";
                (Code::NOT_UTF8, "this part of the source is not UTF-8".to_string(), label)
            }
            Invalid::Nul => (Code::BAD_CHARACTER, "a NUL byte in the source".to_string(), "not allowed in GLSL"),
            Invalid::NonAscii | Invalid::Character | Invalid::NotUtf8 => {
                (Code::BAD_CHARACTER, self.character_message(span), "not allowed outside comments and strings")
            }
            Invalid::Comment => (Code::UNTERMINATED_COMMENT, "this comment has no end".to_string(), "no `*/` follows"),
            Invalid::String => {
                (Code::UNTERMINATED_STRING, "this string has no end on its line".to_string(), "no `\"` follows")
            }
        };
        if code == Code::BAD_CHARACTER && self.ends_character(span) {
            return;
        }
        self.error(code, span, message, label);
    }

    /// Returns true if this is the second quotation mark of a C character constant.
    fn ends_character(&self, span: Span) -> bool {
        let is_mark = |span: Span| self.sources.text(span).starts_with('\'');
        let before =
            self.diagnostics.iter().last().filter(|last| last.code == Code::BAD_CHARACTER).map(Diagnostic::span);
        before.is_some_and(|before| is_mark(before) && is_mark(span) && span.lo - before.lo <= LONGEST_CHARACTER)
    }

    fn is_not_utf8(&self, invalid: Invalid, span: Span) -> bool {
        let replaced = || self.sources.text(span).starts_with(char::REPLACEMENT_CHARACTER);
        invalid == Invalid::NotUtf8 || invalid == Invalid::NonAscii && replaced()
    }

    fn character_message(&self, span: Span) -> String {
        let first = self.sources.text(span).chars().next().unwrap_or_default();
        let number = u32::from(first);
        match first {
            '\'' => "GLSL has no character constants".to_string(),
            '`' => format!("the character U+{number:04X} has no meaning here"),
            _ if first.is_control() => format!("the character U+{number:04X} has no meaning here"),
            _ => format!("the character `{first}` (U+{number:04X}) has no meaning here"),
        }
    }
}

/// A value from the command line must stay on one line.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
