//! Finds the carriers of crosslane's built-ins in naga's module, and makes those of bools pass its validator.
//!
//! naga takes no bool in a subgroup shuffle. Once a carrier is found, what it carries is kept here by its result, and a
//! carrier of a bool becomes an emitted `!x`, which has the same type and place; the translator asks here first.

use super::builtin::Site;
use naga::{Block, Expression, Handle, Literal, Range, ScalarKind, Statement, SwitchCase, TypeInner, UnaryOperator};
use rustc_hash::{FxHashMap, FxHashSet};

type Id = Handle<Expression>;

/// A function of naga's module: one in its arena, or an entry point by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum FunctionKey {
    Function(Handle<naga::Function>),
    Entry(usize),
}

/// A call that a shuffle carries.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    /// Index in [`Carriers::sites`].
    pub site: usize,
    pub data: Id,
    /// The other arguments.
    pub rest: Vec<Id>,
}

/// The calls of crosslane's built-ins in one module.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    pub sites: Vec<Site>,
    stubs: FxHashSet<Handle<naga::Function>>,
    carried: FxHashMap<(FunctionKey, Id), Carried>,
}

impl Carriers {
    pub(super) fn is_stub(&self, function: Handle<naga::Function>) -> bool {
        self.stubs.contains(&function)
    }

    /// The call that an expression is the result of.
    pub(super) fn carried(&self, function: FunctionKey, result: Id) -> Option<&Carried> {
        self.carried.get(&(function, result))
    }

    /// Finds the carriers of `module`; stubs are the functions whose names start with `prefix`.
    pub(super) fn find(module: &mut naga::Module, sites: Vec<Site>, prefix: &str) -> Carriers {
        if sites.is_empty() {
            return Carriers::default();
        }
        let is_stub = |name: &Option<String>| name.as_deref().is_some_and(|name| name.starts_with(prefix));
        let stubs = module.functions.iter().filter(|(_, f)| is_stub(&f.name)).map(|(handle, _)| handle).collect();
        let mut carriers = Carriers { sites, stubs, carried: FxHashMap::default() };
        let types = &module.types;
        for (handle, function) in module.functions.iter_mut() {
            carriers.search(types, FunctionKey::Function(handle), function);
        }
        for (index, entry) in module.entry_points.iter_mut().enumerate() {
            carriers.search(types, FunctionKey::Entry(index), &mut entry.function);
        }
        carriers
    }

    fn search(&mut self, types: &naga::UniqueArena<naga::Type>, key: FunctionKey, function: &mut naga::Function) {
        let expressions = &mut function.expressions;
        let mut calls = FxHashMap::default();
        let mut search = Search { carriers: self, types, key, expressions, calls: &mut calls };
        search.block(&mut function.body);
    }
}

/// The number of a call: the first argument of its stub.
pub(super) fn site_number(expressions: &naga::Arena<Expression>, arguments: &[Id]) -> Option<usize> {
    match expressions[*arguments.first()?] {
        Expression::Literal(Literal::U32(number)) => Some(number as usize),
        _ => None,
    }
}

/// The search in one function.
struct Search<'a> {
    carriers: &'a mut Carriers,
    types: &'a naga::UniqueArena<naga::Type>,
    key: FunctionKey,
    expressions: &'a mut naga::Arena<Expression>,
    /// Results of stubs, with the call's number and its other arguments.
    calls: &'a mut FxHashMap<Id, (usize, Vec<Id>)>,
}

impl Search<'_> {
    fn block(&mut self, block: &mut Block) {
        for statement in block.iter_mut() {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        match statement {
            Statement::Block(block) => self.block(block),
            Statement::If { accept, reject, .. } => [accept, reject].into_iter().for_each(|block| self.block(block)),
            Statement::Loop { body, continuing, .. } => {
                [body, continuing].into_iter().for_each(|block| self.block(block));
            }
            Statement::Switch { cases, .. } => {
                cases.iter_mut().for_each(|SwitchCase { body, .. }| self.block(body));
            }
            Statement::Call { function, arguments, result: Some(result) } if self.carriers.stubs.contains(function) => {
                if let Some(number) = site_number(self.expressions, arguments) {
                    self.calls.insert(*result, (number, arguments[1..].to_vec()));
                }
            }
            Statement::SubgroupGather { mode, argument, result } => {
                let (mode, data, result) = (*mode, *argument, *result);
                if super::uses::gather_index(mode).is_some_and(|index| self.gather(index, data, result)) {
                    *statement = Statement::Emit(Range::new_from_bounds(result, result));
                }
            }
            _ => {}
        }
    }

    /// Keeps a carrier. Whether the validator must see something else in its place.
    fn gather(&mut self, index: Id, data: Id, result: Id) -> bool {
        let Some((site, rest)) = self.calls.remove(&index) else { return false };
        self.carriers.carried.insert((self.key, result), Carried { site, data, rest });
        let is_bool = self.is_bool(result);
        if is_bool {
            let stand_in = Expression::Unary { op: UnaryOperator::LogicalNot, expr: data };
            *self.expressions.get_mut(result) = stand_in;
        }
        is_bool
    }

    fn is_bool(&self, result: Id) -> bool {
        let Expression::SubgroupOperationResult { ty } = self.expressions[result] else { return false };
        match self.types[ty].inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } => scalar.kind == ScalarKind::Bool,
            _ => false,
        }
    }
}
