//! `#define` and `#undef`, and the table of macros (GLSL 4.60 section 3.3).
//!
//! The table is indexed by symbol. Predefined names get their values at their first use: see `predefined`.

use super::predefined::{self, Builtin};
use super::{MacroOption, Preprocessor};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::lex::{PpKind, PpToken};
use crate::glsl::token::{Punct, Symbol};
use crate::source::Span;
use std::ops::Range;

/// Limit of the parameters of a macro.
const PARAMETER_LIMIT: usize = 256;

/// Index of a macro in its [`MacroTable`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MacroId(u32);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum MacroKind {
    Builtin(Builtin),
    Object,
    /// With the names of its parameters.
    Function(Box<[Symbol]>),
}

/// A macro, defined or not any more.
#[derive(Debug)]
pub(super) struct Macro {
    /// The name in its definition.
    pub span: Span,
    pub kind: MacroKind,
    /// Its tokens in [`MacroTable::bodies`].
    pub body: Range<usize>,
    /// `##` occurs in it.
    pub pastes: bool,
    /// True while its expansion is being read, so that its name is not expanded.
    pub active: bool,
    /// The command line defines it.
    pub command_line: bool,
}

/// The entry of a name.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Slot {
    #[default]
    Unseen,
    NoMacro,
    Macro(MacroId),
}

/// All macros.
#[derive(Debug, Default)]
pub(super) struct MacroTable {
    /// Indexed by symbol.
    slots: Vec<Slot>,
    macros: Vec<Macro>,
    pub bodies: Vec<PpToken>,
}

impl MacroTable {
    pub fn get(&self, id: MacroId) -> &Macro {
        &self.macros[id.0 as usize]
    }

    pub fn get_mut(&mut self, id: MacroId) -> &mut Macro {
        &mut self.macros[id.0 as usize]
    }

    pub fn body(&self, id: MacroId) -> &[PpToken] {
        &self.bodies[self.get(id).body.clone()]
    }

    /// Returns true if a line of the shader or the command line defines the name.
    pub fn is_user_defined(&self, name: Symbol) -> bool {
        match self.slot(name) {
            Slot::Macro(id) => !matches!(self.get(id).kind, MacroKind::Builtin(_)),
            Slot::Unseen | Slot::NoMacro => false,
        }
    }

    /// The macro with a name. At its first use, `find` looks up predefined ones. Inlined, because most names are
    /// already known not to be macros.
    #[inline(always)]
    pub fn lookup(&mut self, name: Symbol, find: impl FnOnce() -> Option<Builtin>) -> Option<MacroId> {
        match self.slot(name) {
            Slot::Macro(id) => Some(id),
            Slot::NoMacro => None,
            Slot::Unseen => self.learn(name, find()),
        }
    }

    #[cold]
    fn learn(&mut self, name: Symbol, found: Option<Builtin>) -> Option<MacroId> {
        let Some(builtin) = found else {
            self.set(name, Slot::NoMacro);
            return None;
        };
        let kind = MacroKind::Builtin(builtin);
        Some(
            self.add(
                name,
                Macro { span: Span::NONE, kind, body: 0..0, pastes: false, active: false, command_line: false },
            ),
        )
    }

    /// Gives a predefined macro a value, unless the shader has its own definition.
    pub fn set_builtin(&mut self, name: Symbol, value: u32) {
        if !self.is_user_defined(name) {
            self.learn(name, Some(Builtin::Value(value)));
        }
    }

    fn slot(&self, name: Symbol) -> Slot {
        self.slots.get(name.0 as usize).copied().unwrap_or_default()
    }

    fn set(&mut self, name: Symbol, slot: Slot) {
        let index = name.0 as usize;
        if index >= self.slots.len() {
            self.slots.resize((index + 1).next_power_of_two().max(256), Slot::Unseen);
        }
        self.slots[index] = slot;
    }

    fn add(&mut self, name: Symbol, definition: Macro) -> MacroId {
        let id = MacroId(self.macros.len() as u32);
        self.macros.push(definition);
        self.set(name, Slot::Macro(id));
        id
    }

    /// Same parameters, same tokens, white space in the same places.
    fn same(&self, a: &Macro, b: &Macro) -> bool {
        let alike =
            |(at, (x, y)): (usize, (&PpToken, &PpToken))| x.kind() == y.kind() && (at == 0 || x.spaced == y.spaced);
        let (left, right) = (&self.bodies[a.body.clone()], &self.bodies[b.body.clone()]);
        a.kind == b.kind && left.len() == right.len() && left.iter().zip(right).enumerate().all(alike)
    }
}

impl Preprocessor<'_> {
    /// The macro with a name.
    pub(super) fn lookup(&mut self, name: Symbol) -> Option<MacroId> {
        let (interner, version, dialects) = (&*self.interner, self.output.version, self.options.dialects);
        let stage = self.stage();
        self.macros.lookup(name, || predefined::find(name, interner, version, stage, dialects))
    }

    /// `#define name body` or `#define name(parameters) body`
    pub(super) fn define(&mut self, at: Span) {
        let Some((name, span)) = self.directive_name(at) else { return };
        let allowed = self.check_name(name, span, "defined");
        let Some(definition) = self.definition(span) else { return self.skip_line() };
        if allowed && self.check_body(&definition) && self.check_redefinition(name, &definition) {
            self.macros.add(name, definition);
        }
    }

    /// `#undef name`
    pub(super) fn undefine(&mut self, at: Span) {
        let Some((name, span)) = self.directive_name(at) else { return };
        self.expect_line_end();
        if self.check_name(name, span, "undefined") {
            self.macros.set(name, Slot::NoMacro);
        }
    }

    /// Names that a shader may not define: GLSL 4.60 section 3.3.
    fn check_name(&mut self, name: Symbol, span: Span, verb: &str) -> bool {
        let text = self.interner.text(name);
        let command_line = self.inputs.last().is_some_and(|input| input.command_line);
        let reserved = text.starts_with("GL_") && !command_line && !self.stands_in;
        if predefined::is_fixed(text) || reserved {
            let message = format!("`{text}` cannot be {verb}");
            let label = if text.starts_with("GL_") { "names that begin with `GL_` are reserved" } else { "predefined" };
            self.error(Code::RESERVED_MACRO, span, message, label);
            return false;
        }
        if text.contains("__") && !command_line {
            let message = format!("`{text}` contains two underscores in a row, as names of the implementation do");
            self.warn(Code::RESERVED_NAME, span, message, "reserved", "choose a name without `__`");
        }
        true
    }

    /// Reads the text after the name.
    fn definition(&mut self, span: Span) -> Option<Macro> {
        let start = self.macros.bodies.len();
        let first = self.next_in_line();
        let kind = match first {
            Some(open) if open.is(Punct::LeftParen) && !open.spaced => MacroKind::Function(self.parameters(open.span)?),
            _ => MacroKind::Object,
        };
        let mut next = if kind == MacroKind::Object { first } else { self.next_in_line() };
        let mut pastes = false;
        while let Some(token) = next {
            pastes |= token.kind() == PpKind::Paste;
            let token = token.with(with_parameter(token.kind(), &kind));
            self.macros.bodies.push(token);
            next = self.next_in_line();
        }
        let command_line = self.inputs.last().is_some_and(|input| input.command_line);
        Some(Macro { span, kind, body: start..self.macros.bodies.len(), pastes, active: false, command_line })
    }

    /// The parameters after an open parenthesis, up to the closing one.
    fn parameters(&mut self, open: Span) -> Option<Box<[Symbol]>> {
        let mut names = Vec::new();
        let mut token = self.next_in_line();
        if token.is_some_and(|token| token.is(Punct::RightParen)) {
            return Some(names.into());
        }
        loop {
            names.push(self.parameter(token, open, &names)?);
            match self.next_in_line() {
                Some(comma) if comma.is(Punct::Comma) => token = self.next_in_line(),
                Some(close) if close.is(Punct::RightParen) => return Some(names.into()),
                other => return self.bad_parameter(other.map_or(open, |t| t.span), "`,` or `)` must follow"),
            }
        }
    }

    fn parameter(&mut self, token: Option<PpToken>, open: Span, before: &[Symbol]) -> Option<Symbol> {
        let span = token.map_or(open, |token| token.span);
        match token.map(|token| token.kind()) {
            Some(PpKind::Word(name)) if before.contains(&name) => self.bad_parameter(span, "this name is used twice"),
            Some(PpKind::Word(_)) if before.len() == PARAMETER_LIMIT => self.bad_parameter(span, "too many parameters"),
            Some(PpKind::Word(name)) => Some(name),
            _ => self.bad_parameter(span, "the name of a parameter is missing"),
        }
    }

    fn bad_parameter<T>(&mut self, span: Span, label: &str) -> Option<T> {
        self.error(Code::BAD_MACRO, span, "malformed list of macro parameters", label);
        None
    }

    /// `#` needs a parameter after it, `##` an operand on each side, and both GLSL, not GLSL ES.
    fn check_body(&mut self, definition: &Macro) -> bool {
        let body = &self.macros.bodies[definition.body.clone()];
        let ends = [body.first(), body.last()].into_iter().flatten();
        let dangling = ends.copied().find(|token| token.kind() == PpKind::Paste);
        let is_idle = |at: &usize| body[*at].kind() == PpKind::Hash && !has_parameter(body, at + 1);
        let hash = (0..body.len()).find(is_idle).map(|at| body[at]);
        let es = body.iter().copied().find(|token| matches!(token.kind(), PpKind::Paste | PpKind::Hash));
        let problem = match (dangling, hash, es.filter(|_| self.is_es())) {
            (Some(paste), ..) => (paste, "`##` at the end of a macro", "it joins the tokens on both its sides"),
            (.., Some(token)) if token.kind() == PpKind::Paste => {
                (token, "`##` in GLSL ES", "GLSL ES does not join tokens")
            }
            (.., Some(token)) => (token, "`#` in GLSL ES", "GLSL ES does not turn tokens into strings"),
            (_, Some(hash), _) => {
                (hash, "`#` without a parameter of the macro", "it makes a string of the parameter after it")
            }
            _ => return true,
        };
        self.error(Code::BAD_MACRO, problem.0.span, problem.1, problem.2);
        false
    }

    /// Returns true for `#define X` after `-DX`: a name that is only tested. `-DX` alone makes it 1, as in C.
    fn only_names(&self, name: Symbol, old: &Macro, new: &Macro) -> bool {
        let is_named =
            |option: &MacroOption| matches!(option, MacroOption::Name(text) if *text == self.interner.text(name));
        let is_empty = new.kind == MacroKind::Object && new.body.is_empty();
        old.command_line && is_empty && self.options.macros.iter().any(is_named)
    }

    /// Returns true if a definition is the number that a predefined macro has.
    fn says_value(&self, predefined: &Macro, new: &Macro) -> bool {
        let (MacroKind::Builtin(Builtin::Value(value)), MacroKind::Object) = (&predefined.kind, &new.kind) else {
            return false;
        };
        match &self.macros.bodies[new.body.clone()] {
            [only] => matches!(only.kind(), PpKind::Number(text) if self.interner.text(text) == value.to_string()),
            _ => false,
        }
    }

    /// A macro may only be redefined in the same way.
    fn check_redefinition(&mut self, name: Symbol, new: &Macro) -> bool {
        let Some(id) = self.lookup(name) else { return true };
        let old = self.macros.get(id);
        let predefined = matches!(old.kind, MacroKind::Builtin(_));
        let overrides = predefined && self.inputs.last().is_some_and(|input| input.command_line);
        if overrides || self.macros.same(old, new) || self.says_value(old, new) || self.only_names(name, old, new) {
            return true;
        }
        let message = format!("the macro `{}` is defined again, differently", self.interner.text(name));
        let mut error = Diagnostic::error(Code::MACRO_REDEFINED, message).at(new.span, "second definition");
        error = if predefined { error.note("it is predefined") } else { error.with(old.span, "first definition") };
        self.diagnostics.push(error.note("an `#undef` in between allows it"));
        true
    }
}

/// A word of a body that names a parameter refers to it by its index.
fn with_parameter(kind: PpKind, of: &MacroKind) -> PpKind {
    let (PpKind::Word(word), MacroKind::Function(parameters)) = (kind, of) else { return kind };
    let index = parameters.iter().position(|parameter| *parameter == word);
    index.map_or(kind, |index| PpKind::Parameter(index as u32))
}

/// Returns true if a body has a parameter at an index.
fn has_parameter(body: &[PpToken], at: usize) -> bool {
    body.get(at).is_some_and(|token| matches!(token.kind(), PpKind::Parameter(_)))
}
