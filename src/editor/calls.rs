//! Calls between functions, and the types of names.

use super::Analysis;
use crate::source::Span;
use crate::symbols::{Declaration, Kind};
use std::collections::BTreeMap;

/// A function: the span of its name and of its whole declaration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Function {
    pub name: Span,
    pub whole: Span,
}

/// Functions, each with the spans of the calls.
pub type Calls = Vec<(Function, Vec<Span>)>;

impl Analysis {
    /// The function that a position names.
    pub fn function_at(&self, position: u32) -> Option<Function> {
        let declaration = self.declaration_at(position).filter(|declaration| declaration.kind == Kind::Function)?;
        Some(self.defined(declaration))
    }

    /// The declaration with the body, if there is one.
    fn defined(&self, declaration: &Declaration) -> Function {
        let defined = self.definition(declaration.name.lo);
        let found = defined.first().and_then(|name| self.known().by_name.get(name));
        let Declaration { name, whole, .. } = found.map_or(declaration, |index| &self.known().declarations[*index]);
        Function { name: *name, whole: *whole }
    }

    /// The functions that call the one at a position.
    pub fn callers(&self, position: u32) -> Calls {
        let mut calls: BTreeMap<Function, Vec<Span>> = BTreeMap::new();
        for at in self.references(position) {
            let around = |caller: &&Declaration| {
                caller.has_body && caller.whole.lo <= at.lo && at.hi <= caller.whole.hi && caller.name != at
            };
            if let Some(caller) = self.known().declarations.iter().find(around) {
                calls.entry(self.defined(caller)).or_default().push(at);
            }
        }
        calls.into_iter().collect()
    }

    /// The functions that the one at a position calls.
    pub fn callees(&self, position: u32) -> Calls {
        let Some(Function { name, whole }) = self.function_at(position) else { return Vec::new() };
        let known = self.known();
        let mut calls: BTreeMap<Function, Vec<Span>> = BTreeMap::new();
        let inside = |at: Span| whole.lo <= at.lo && at.hi <= whole.hi && at != name;
        for use_ in known.uses.iter().filter(|use_| inside(use_.at)) {
            let called = known.by_name.get(&use_.declared).map(|index| &known.declarations[*index]);
            if let Some(called) = called.filter(|called| called.kind == Kind::Function) {
                calls.entry(self.defined(called)).or_default().push(use_.at);
            }
        }
        calls.into_iter().collect()
    }

    /// Where the type of the name at a position is declared; `None` for built-in types.
    pub fn type_definition(&self, position: u32) -> Option<Span> {
        let declaration = self.declaration_at(position)?;
        if matches!(declaration.kind, Kind::Struct | Kind::Block) {
            return Some(declaration.name);
        }
        self.owner(declaration.ty?)
    }
}
