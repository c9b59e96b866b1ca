//! Finds the declaration of a name: block scopes over one table indexed by symbol.
//!
//! Entering and leaving a scope costs only what was declared in it: each declaration remembers what it hid.

use super::lvalue::LValue;
use crate::glsl::token::Symbol;
use crate::ir::{TypeId, Value};
use crate::source::Span;
use crate::symbols::Use;
use std::cell::RefCell;

/// Index of a [`FunctionSet`] in the resolver's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SetId(pub u32);

/// The entity that a name refers to.
#[derive(Clone, Debug)]
pub enum Entity {
    /// Memory: a variable, a parameter, a block instance or a member of a block without instance name.
    LValue(LValue),
    /// A value that never changes: a constant, a specialization constant, a `const in` parameter.
    Value(Value),
    /// A struct.
    Type(TypeId),
    /// A struct with images or samplers in it, which nothing can be made of yet.
    OpaqueStruct,
    /// The instance of a block of buffer references that has no binding: the block is a type, the instance of no use.
    Unbound,
    /// A variable that shaders of this stage may declare and may not use.
    Idle,
    /// The user's functions of this name.
    Functions(SetId),
    /// Declared wrongly; uses of the name are not reported again.
    Error,
}

/// A declaration: its entity and its place.
#[derive(Clone, Debug)]
pub struct Declared {
    pub entity: Entity,
    pub span: Span,
    symbol: Symbol,
    depth: u32,
}

#[derive(Debug)]
struct Hidden {
    symbol: Symbol,
    before: Option<u32>,
}

/// All scopes that are open.
#[derive(Debug, Default)]
pub struct Scopes {
    /// Index into `declared` by symbol.
    current: Vec<Option<u32>>,
    declared: Vec<Declared>,
    hidden: Vec<Hidden>,
    marks: Vec<usize>,
    /// Declarations in front of the function that is read.
    before_function: usize,
    /// The uses of names, where a caller asks for them.
    uses: Option<RefCell<Vec<Use>>>,
}

impl Scopes {
    pub fn new(symbols: usize) -> Scopes {
        Scopes {
            current: vec![None; symbols],
            declared: Vec::with_capacity(symbols / 2),
            hidden: Vec::with_capacity(symbols / 2),
            ..Scopes::default()
        }
    }

    /// Records uses of names from now on.
    pub fn record_uses(&mut self) {
        self.uses = Some(RefCell::default());
    }

    /// The recorded uses.
    pub fn take_uses(&mut self) -> Vec<Use> {
        self.uses.take().map(RefCell::into_inner).unwrap_or_default()
    }

    /// Records a use of a name, if uses are recorded.
    #[inline]
    pub fn note(&self, at: Span, declared: Span) {
        if let Some(uses) = &self.uses {
            uses.borrow_mut().push(Use { at, declared });
        }
    }

    /// The declaration that a name refers to where it is used.
    #[inline]
    pub fn used(&self, symbol: Symbol, at: Span) -> Option<&Declared> {
        let declared = self.get(symbol)?;
        self.note(at, declared.span);
        Some(declared)
    }

    /// Depth of the innermost scope; 0 is the global one.
    pub fn depth(&self) -> u32 {
        self.marks.len() as u32
    }

    pub fn enter(&mut self) {
        if self.marks.is_empty() {
            self.before_function = self.declared.len();
        }
        self.marks.push(self.hidden.len());
    }

    pub fn leave(&mut self) {
        let mark = self.marks.pop().expect("every leave follows its enter");
        for hidden in self.hidden.drain(mark..).rev() {
            self.current[hidden.symbol.0 as usize] = hidden.before;
        }
    }

    /// The declaration that the name refers to here.
    pub fn get(&self, symbol: Symbol) -> Option<&Declared> {
        let index = *self.current.get(symbol.0 as usize)?;
        index.map(|index| &self.declared[index as usize])
    }

    /// The declaration of the name in the innermost scope, if it is there.
    pub fn get_innermost(&self, symbol: Symbol) -> Option<&Declared> {
        self.get(symbol).filter(|declared| declared.depth == self.depth())
    }

    /// Declares a name in the innermost scope, hiding its previous meaning.
    pub fn declare(&mut self, symbol: Symbol, entity: Entity, span: Span) {
        let index = symbol.0 as usize;
        if index >= self.current.len() {
            self.current.resize(index + 1, None);
        }
        self.hidden.push(Hidden { symbol, before: self.current[index] });
        self.current[index] = Some(self.declared.len() as u32);
        self.declared.push(Declared { entity, span, symbol, depth: self.depth() });
    }

    pub fn names_type(&self, symbol: Symbol) -> bool {
        self.get(symbol).is_some_and(|declared| matches!(declared.entity, Entity::Type(_)))
    }

    /// The last declaration of a name in this function, where the scope has ended. The name means nothing now.
    pub fn ended(&self, symbol: Symbol) -> Option<Span> {
        let in_function = self.declared.get(self.before_function..).filter(|_| self.depth() > 0)?;
        let is_it = |of: &&Declared| of.symbol == symbol && !matches!(of.entity, Entity::Error);
        in_function.iter().rev().find(is_it).map(|declared| declared.span)
    }

    /// Names that mean something here, for suggestions.
    pub fn visible(&self) -> impl Iterator<Item = Symbol> + '_ {
        let meant = |index: u32| !matches!(self.declared[index as usize].entity, Entity::Error);
        let live = self.current.iter().enumerate().filter(move |(_, index)| index.is_some_and(meant));
        live.map(|(symbol, _)| Symbol(symbol as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Types;

    #[test]
    fn leaving_a_scope_brings_back_what_it_hid() {
        let mut scopes = Scopes::new(2);
        let name = Symbol(1);
        scopes.declare(name, Entity::Type(Types::F32), Span::NONE);
        let type_of = |scopes: &Scopes| match scopes.get(name)?.entity {
            Entity::Type(ty) => Some(ty),
            _ => None,
        };
        scopes.enter();
        assert!(scopes.get_innermost(name).is_none());
        scopes.declare(name, Entity::Type(Types::U32), Span::NONE);
        assert_eq!(type_of(&scopes), Some(Types::U32));
        scopes.enter();
        let (inner, place) = (Symbol(0), Span::new(1, 2));
        scopes.declare(inner, Entity::Type(Types::U32), place);
        scopes.leave();
        assert_eq!((scopes.ended(inner), scopes.ended(name)), (Some(place), Some(Span::NONE)));
        scopes.leave();
        assert_eq!(scopes.ended(inner), None);
        assert_eq!(type_of(&scopes), Some(Types::F32));
    }
}
