//! Macro expansion with C++'s rules (GLSL 4.60 section 3.3). `#` is not in the specification; glslang has it since
//! 16.1.
//!
//! Expansions are a stack of frames over one pool of tokens. While a macro's frame is open, its name is not expanded,
//! and an occurrence of the name is painted, so that it is never expanded later. Tokens of a macro carry the span of
//! the outermost call. The size of all expansions and their nesting are bounded.

use super::Preprocessor;
use super::define::{MacroId, MacroKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::lex::{self, PpKind, PpToken};
use crate::glsl::token::Punct;
use crate::glsl::types::counted;
use crate::limits;
use crate::source::Span;

/// Length limit of a token from `##` or `#`.
const PASTE_LIMIT: usize = 4096;

/// Nesting of macro calls in the arguments of macro calls.
const DEPTH_LIMIT: u32 = 500;

/// The origin of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    Text,
    Macro,
}

/// The next tokens in the pool.
#[derive(Debug)]
struct PendingTokens {
    start: usize,
    next: usize,
    end: usize,
    /// `None` for a separately expanded list; reading stops at its end.
    of: Option<MacroId>,
}

/// State of expansion.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    frames: Vec<PendingTokens>,
    pool: Vec<PpToken>,
    produced: usize,
    depth: u32,
    /// A limit was exceeded; nothing is expanded any more.
    exhausted: bool,
    /// The argument list of a call is being read.
    pub in_arguments: bool,
}

impl Expansion {
    /// Returns true if a limit is passed, so that the rest of the shader is not worth reading.
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Returns true if tokens come from files, not from a macro.
    pub fn is_idle(&self) -> bool {
        self.frames.is_empty() && !self.exhausted
    }
}

/// The result of expanding a name.
enum Step {
    /// This token.
    Emit(PpToken),
    /// Tokens to be read next.
    Pushed,
}

/// The arguments of a call, one after the other.
struct Arguments {
    tokens: Vec<PpToken>,
    /// The end of each argument.
    ends: Vec<usize>,
    /// The closing parenthesis.
    close: Span,
    /// Arguments after expansion, as far as they are needed and differ.
    expanded: Vec<Option<Vec<PpToken>>>,
}

impl Arguments {
    /// The tokens of an argument; a missing one is empty.
    fn get(&self, index: usize) -> &[PpToken] {
        let start = index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        match (start, self.ends.get(index)) {
            (Some(start), Some(end)) => &self.tokens[start..*end],
            _ => &[],
        }
    }

    fn is_empty(&self) -> bool {
        self.ends.len() == 1 && self.tokens.is_empty()
    }
}

impl Preprocessor<'_> {
    /// The next token after macro expansion.
    pub(super) fn next_expanded(&mut self) -> PpToken {
        let token = self.read();
        self.expanded(token)
    }

    /// The first token of the expansion of a token: the token itself, unless it names a macro.
    pub(super) fn expanded(&mut self, mut token: PpToken) -> PpToken {
        loop {
            let PpKind::Word(name) = token.kind() else { return token };
            if token.painted {
                return token;
            }
            let Some(id) = self.lookup(name) else { return token };
            if let Step::Emit(token) = self.expand(token, id) {
                return token;
            }
            token = self.read();
        }
    }

    /// The next token before macro expansion: of the innermost frame, otherwise of the files.
    pub(super) fn read(&mut self) -> PpToken {
        while let Some(frame) = self.expansion.frames.last_mut() {
            if frame.next < frame.end {
                frame.next += 1;
                return self.expansion.pool[frame.next - 1];
            }
            if frame.of.is_none() {
                return PpToken::END;
            }
            self.pop_frame();
        }
        self.read_source()
    }

    /// The origin of the last token read.
    pub(super) fn origin(&self) -> Origin {
        match self.expansion.frames.last() {
            Some(PendingTokens { of: Some(_), .. }) => Origin::Macro,
            _ => Origin::Text,
        }
    }

    fn expand(&mut self, name: PpToken, id: MacroId) -> Step {
        let definition = self.macros.get(id);
        if definition.active {
            return Step::Emit(PpToken { painted: true, ..name });
        }
        if self.expansion.exhausted {
            return Step::Emit(name);
        }
        match definition.kind {
            MacroKind::Builtin(builtin) => Step::Emit(self.builtin(builtin, name)),
            MacroKind::Object => self.expand_object(name, id),
            MacroKind::Function(_) => self.expand_call(name, id),
        }
    }

    fn expand_object(&mut self, name: PpToken, id: MacroId) -> Step {
        let body = self.macros.body(id);
        if let [only] = body
            && !matches!(only.kind(), PpKind::Word(_))
        {
            return Step::Emit(name.with(only.kind()));
        }
        if self.macros.get(id).pastes {
            let mut none = Arguments { tokens: Vec::new(), ends: Vec::new(), close: name.span, expanded: Vec::new() };
            let tokens = self.substitute(id, &mut none, name.span);
            self.push_frame(Some(id), &tokens, name);
        } else {
            let start = self.expansion.pool.len();
            self.expansion.pool.extend_from_slice(&self.macros.bodies[self.macros.get(id).body.clone()]);
            self.open_frame(Some(id), start, name);
        }
        Step::Pushed
    }

    fn expand_call(&mut self, name: PpToken, id: MacroId) -> Step {
        if self.take_paren().is_none() {
            return Step::Emit(name);
        }
        let Some(mut arguments) = self.arguments(name) else { return Step::Pushed };
        self.check_count(name, id, &arguments);
        let call = PpToken { span: name.span.to(arguments.close), ..name };
        let tokens = self.substitute(id, &mut arguments, call.span);
        self.push_frame(Some(id), &tokens, call);
        Step::Pushed
    }

    fn push_frame(&mut self, of: Option<MacroId>, tokens: &[PpToken], call: PpToken) {
        let start = self.expansion.pool.len();
        self.expansion.pool.extend_from_slice(tokens);
        self.open_frame(of, start, call);
    }

    /// Reads the pool's tokens from `start` on next, as the expansion of a call.
    fn open_frame(&mut self, of: Option<MacroId>, start: usize, call: PpToken) {
        let Expansion { frames, pool, .. } = &mut self.expansion;
        if let Some(id) = of {
            self.macros.get_mut(id).active = true;
            pool[start..].iter_mut().for_each(|token| token.span = call.span);
            if let Some(first) = pool.get_mut(start) {
                first.spaced = call.spaced;
            }
        }
        frames.push(PendingTokens { start, next: start, end: pool.len(), of });
        let added = pool.len() - start;
        self.count(added, call.span);
    }

    fn pop_frame(&mut self) {
        let Some(frame) = self.expansion.frames.pop() else { return };
        self.expansion.pool.truncate(frame.start);
        if let Some(id) = frame.of {
            self.macros.get_mut(id).active = false;
        }
    }

    /// Reads a token list next, up to its end.
    pub(super) fn push_list(&mut self, tokens: &[PpToken]) {
        self.push_frame(None, tokens, PpToken::END);
    }

    /// Ends a list from [`Self::push_list`] that was read to its end.
    pub(super) fn pop_list(&mut self) {
        self.pop_frame();
    }

    fn count(&mut self, tokens: usize, span: Span) {
        self.expansion.produced += tokens;
        let limit = self.options.limits.macro_tokens;
        if self.expansion.produced > limit {
            self.exhaust(span, format!("macros expand to more than {limit} tokens"));
        }
    }

    /// Reports once that a limit is exceeded.
    fn exhaust(&mut self, span: Span, message: String) {
        if !std::mem::replace(&mut self.expansion.exhausted, true) {
            self.error(Code::MACRO_LIMIT, span, message, "here the compiler gives up");
        }
    }

    /// Takes the next token if it is `(`, leaving macros that end before it.
    fn take_paren(&mut self) -> Option<Span> {
        while let Some(frame) = self.expansion.frames.last_mut() {
            if frame.next < frame.end {
                let token = self.expansion.pool[frame.next];
                frame.next += usize::from(token.is(Punct::LeftParen));
                return token.is(Punct::LeftParen).then_some(token.span);
            }
            frame.of?;
            self.pop_frame();
        }
        self.take_source_paren()
    }

    /// Reads the arguments of a call to its closing parenthesis. Reports an error and returns `None` if that is
    /// missing.
    fn arguments(&mut self, name: PpToken) -> Option<Arguments> {
        let mut tokens = Vec::new();
        let mut ends = Vec::new();
        let mut depth = 0;
        let outer = std::mem::replace(&mut self.expansion.in_arguments, true);
        let close = loop {
            let token = self.read_argument();
            match token.kind() {
                PpKind::End => break None,
                PpKind::Punct(Punct::RightParen) if depth == 0 => break Some(token.span),
                PpKind::Punct(Punct::Comma) if depth == 0 => {
                    ends.push(tokens.len());
                    continue;
                }
                PpKind::Punct(Punct::LeftParen) => depth += 1,
                PpKind::Punct(Punct::RightParen) => depth -= 1,
                _ => {}
            }
            tokens.push(token);
        };
        self.expansion.in_arguments = outer;
        limits::hold::<PpToken>(tokens.len());
        ends.push(tokens.len());
        if close.is_none() {
            let message = format!("the arguments of the macro `{}` do not end", name.kind().spelling(self.interner));
            self.error(Code::MACRO_ARGUMENTS, name.span, message, "no `)` closes this call");
        }
        Some(Arguments { tokens, ends, close: close?, expanded: Vec::new() })
    }

    /// A token of an argument. The name of a macro that is being expanded is painted here already.
    fn read_argument(&mut self) -> PpToken {
        let mut token = self.read();
        if let PpKind::Word(name) = token.kind()
            && let Some(id) = self.lookup(name)
        {
            token.painted |= self.macros.get(id).active;
        }
        token
    }

    fn check_count(&mut self, name: PpToken, id: MacroId, arguments: &Arguments) {
        let definition = self.macros.get(id);
        let MacroKind::Function(parameters) = &definition.kind else { return };
        let (wanted, given) = (parameters.len(), arguments.ends.len());
        if wanted == given || (wanted == 0 && arguments.is_empty()) {
            return;
        }
        let text = name.kind().spelling(self.interner);
        let (wanted, are) = (counted(wanted, "argument"), if given == 1 { "is" } else { "are" });
        let message = format!("the macro `{text}` takes {wanted}, {given} {are} given");
        let error = Diagnostic::error(Code::MACRO_ARGUMENTS, message)
            .at(name.span.to(arguments.close), "wrong number of arguments")
            .with(definition.span, "defined here");
        self.diagnostics.push(error);
    }

    /// The body of a macro with its parameters replaced and its tokens pasted.
    fn substitute(&mut self, id: MacroId, arguments: &mut Arguments, call: Span) -> Vec<PpToken> {
        let body = self.macros.get(id).body.clone();
        let mut out = Vec::with_capacity(body.len() + arguments.tokens.len());
        // True while the operand to the left of a `##` would be empty.
        let mut left_empty = true;
        let mut at = body.start;
        while at < body.end && !self.expansion.exhausted {
            let pastes = self.macros.bodies[at].kind() == PpKind::Paste;
            at += usize::from(pastes);
            let raw = pastes || self.macros.bodies[at + 1..body.end].first().is_some_and(|t| t.kind() == PpKind::Paste);
            let start = out.len();
            if self.macros.bodies[at].kind() == PpKind::Hash {
                at += 1;
                self.stringize(at, arguments, call, &mut out);
            } else {
                self.operand(at, raw, arguments, &mut out);
            }
            let right_empty = out.len() == start;
            if pastes && !left_empty && !right_empty {
                self.paste(&mut out, start, call);
            }
            left_empty = right_empty && (left_empty || !pastes);
            at += 1;
            self.count_pending(out.len(), call);
        }
        out
    }

    /// Limits a single expansion during its construction.
    fn count_pending(&mut self, tokens: usize, span: Span) {
        if self.expansion.produced + tokens > self.options.limits.macro_tokens {
            self.count(tokens, span);
        }
    }

    /// Adds the expansion of a body token: the token itself, or an argument, expanded unless it is `raw`.
    fn operand(&mut self, at: usize, raw: bool, arguments: &mut Arguments, out: &mut Vec<PpToken>) {
        let token = self.macros.bodies[at];
        let PpKind::Parameter(index) = token.kind() else { return out.push(token) };
        let index = index as usize;
        let start = out.len();
        if raw || !self.needs_expansion(arguments.get(index)) {
            out.extend_from_slice(arguments.get(index));
        } else {
            out.extend_from_slice(self.expanded_argument(index, arguments));
        }
        if let Some(first) = out.get_mut(start) {
            first.spaced = token.spaced;
        }
    }

    /// Adds the string for `#` and the parameter at `at`: its argument as written, with white space as one space.
    fn stringize(&mut self, at: usize, arguments: &Arguments, call: Span, out: &mut Vec<PpToken>) {
        let PpKind::Parameter(index) = self.macros.bodies[at].kind() else { return };
        let mut text = String::new();
        for token in arguments.get(index as usize) {
            if !text.is_empty() && (token.spaced || token.first) {
                text.push(' ');
            }
            let spelling = token.kind().spelling(self.interner);
            match token.kind() {
                PpKind::String(_) => text.push_str(&spelling.replace('\\', r"\\").replace('"', "\\\"")),
                _ => text.push_str(&spelling),
            }
            if text.len() > PASTE_LIMIT {
                return self.exhaust(call, format!("`#` makes a string longer than {PASTE_LIMIT} bytes"));
            }
        }
        let hash = self.macros.bodies[at - 1];
        out.push(hash.with(PpKind::String(self.interner.intern(&text))));
    }

    fn needs_expansion(&mut self, tokens: &[PpToken]) -> bool {
        let mut words = tokens.iter().filter(|token| !token.painted);
        words.any(|token| matches!(token.kind(), PpKind::Word(name) if self.lookup(name).is_some()))
    }

    fn expanded_argument<'x>(&mut self, index: usize, arguments: &'x mut Arguments) -> &'x [PpToken] {
        if arguments.expanded.len() <= index {
            arguments.expanded.resize(index + 1, None);
        }
        if arguments.expanded[index].is_none() {
            let list = self.expand_list(arguments.get(index));
            arguments.expanded[index] = Some(list);
        }
        arguments.expanded[index].as_deref().unwrap_or_default()
    }

    /// Expands a list as if it were the whole text.
    fn expand_list(&mut self, tokens: &[PpToken]) -> Vec<PpToken> {
        if self.expansion.depth == DEPTH_LIMIT {
            let message = format!("macro calls are nested more than {DEPTH_LIMIT} deep");
            self.exhaust(tokens.first().map_or(Span::NONE, |token| token.span), message);
        }
        // Both the list and its expansion stay until the enclosing call ends.
        limits::hold::<[PpToken; 2]>(tokens.len());
        let mut expanded = Vec::with_capacity(tokens.len());
        self.expansion.depth += 1;
        self.push_list(tokens);
        loop {
            let token = self.next_expanded();
            if token.kind() == PpKind::End {
                break;
            }
            expanded.push(token);
        }
        self.pop_list();
        self.expansion.depth -= 1;
        expanded
    }

    /// Pastes the tokens before and at `start` into one.
    fn paste(&mut self, out: &mut Vec<PpToken>, start: usize, call: Span) {
        let (left, right) = (out[start - 1].kind().spelling(self.interner), out[start].kind().spelling(self.interner));
        let text = format!("{left}{right}");
        if text.len() > PASTE_LIMIT {
            let message = format!("`##` makes a token longer than {PASTE_LIMIT} bytes");
            self.exhaust(call, message);
            return;
        }
        match lex::single_token(&text, self.interner) {
            Some(kind) => {
                out[start - 1] = PpToken { painted: false, ..out[start - 1].with(kind) };
                out.remove(start);
            }
            None => {
                let message = format!("`{text}`, which `##` makes here, is not one token");
                self.error(Code::BAD_PASTE, call, message, "in this expansion");
            }
        }
    }
}
