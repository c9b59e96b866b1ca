//! Finds the carriers of crosslane's built-in functions in naga's module, and replaces the parts that naga's validator
//! rejects.
//!
//! In a subgroup shuffle naga accepts no bool, struct or array, no lane of type `i32`, and only numbers as an index.
//! This module records the value that each call carries, by the call's result, and rewrites the call:
//! - A carrier of a bool, and an argument that is passed through, becomes an emitted `!x` in the same place, which has
//!   the same type. Bools of naga's own subgroup functions are carried in the same way.
//! - The result of a carrier of a struct, array or matrix becomes a zero of its type, and the operation happens at the
//!   call of its stub, directly before.
//! - A lane of type `i32` is converted.
//!
//! The translator looks up each expression here before it translates it.

use super::builtin::Site;
use super::uses::{Hidden, blocks, blocks_mut, gather_index, gather_index_mut};
use naga::front::Typifier;
use naga::proc::ResolveContext;
use naga::{
    Arena, Block, Expression, GatherMode, Handle, Literal, Range, ScalarKind, Statement, SubgroupOperation, TypeInner,
    UnaryOperator,
};
use rustc_hash::{FxHashMap, FxHashSet};

type Id = Handle<Expression>;

/// The number in the calls of the stub that hands an argument through.
pub(super) const THROUGH: u32 = u32::MAX;

/// A function of naga's module: one in its arena, or an entry point by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum FunctionKey {
    Function(Handle<naga::Function>),
    Entry(usize),
}

/// An operation that the translator emits instead of a carrier.
#[derive(Clone, Debug)]
pub(super) enum Carried {
    /// A call of a crosslane built-in.
    Call(Call),
    /// A naga subgroup function on bools.
    Native(Statement),
}

/// A call that a shuffle carries.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Index in [`Carriers::sites`].
    pub site: usize,
    pub data: Id,
    /// The other arguments.
    pub rest: Vec<Id>,
    /// The expression that represents the result.
    pub result: Id,
}

/// The calls of crosslane's built-ins in one module.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    pub sites: Vec<Site>,
    stubs: FxHashSet<Handle<naga::Function>>,
    carried: FxHashMap<(FunctionKey, Id), Carried>,
    /// Calls with structs, arrays and matrices by the results of their stubs.
    wholes: FxHashMap<(FunctionKey, Id), Call>,
    /// Arguments that are passed through, by the expressions that represent them.
    through: FxHashMap<(FunctionKey, Id), Id>,
}

impl Carriers {
    pub(super) fn is_stub(&self, function: Handle<naga::Function>) -> bool {
        self.stubs.contains(&function)
    }

    /// The operation whose result an expression is.
    pub(super) fn carried(&self, function: FunctionKey, result: Id) -> Option<&Carried> {
        self.carried.get(&(function, result))
    }

    /// The call on a struct, array or matrix that happens at this result of a stub.
    pub(super) fn whole(&self, function: FunctionKey, stub: Id) -> Option<&Call> {
        self.wholes.get(&(function, stub))
    }

    /// The argument that an expression hands through.
    pub(super) fn through(&self, function: FunctionKey, of: Id) -> Option<Id> {
        self.through.get(&(function, of)).copied()
    }

    /// Finds the carriers of `module`. Stubs are the functions whose names start with `prefix`. `native` is true if
    /// naga's own subgroup functions are called.
    pub(super) fn find(module: &mut naga::Module, sites: Vec<Site>, prefix: &str, native: bool) -> Carriers {
        if sites.is_empty() && !native {
            return Carriers::default();
        }
        let is_stub = |name: &Option<String>| name.as_deref().is_some_and(|name| name.starts_with(prefix));
        let stubs = module.functions.iter().filter(|(_, f)| is_stub(&f.name)).map(|(handle, _)| handle).collect();
        let mut carriers = Carriers { sites, stubs, ..Carriers::default() };
        let lanes = if native { signed_lanes(module) } else { FxHashSet::default() };
        let types = &module.types;
        for (handle, function) in module.functions.iter_mut() {
            carriers.search(types, &lanes, FunctionKey::Function(handle), function);
        }
        for (index, entry) in module.entry_points.iter_mut().enumerate() {
            carriers.search(types, &lanes, FunctionKey::Entry(index), &mut entry.function);
        }
        carriers
    }

    fn search(
        &mut self,
        types: &naga::UniqueArena<naga::Type>,
        lanes: &Lanes,
        key: FunctionKey,
        function: &mut naga::Function,
    ) {
        let expressions = &mut function.expressions;
        let mut search = Search { carriers: self, types, lanes, key, expressions, calls: FxHashMap::default() };
        search.block(&mut function.body);
    }
}

/// The carriers of one function.
pub(super) struct Within<'a> {
    pub carriers: &'a Carriers,
    pub function: FunctionKey,
}

impl Hidden for Within<'_> {
    fn behind(&self, of: Id) -> Option<Id> {
        let Within { carriers, function } = self;
        carriers.through(*function, of).or_else(|| carriers.whole(*function, of).map(|call| call.data))
    }

    fn made_with(&self, result: Id) -> Option<Id> {
        self.carriers.whole(self.function, result).map(|call| call.result)
    }
}

/// The number of a call: the first argument of its stub.
pub(super) fn site_number(expressions: &Arena<Expression>, arguments: &[Id]) -> Option<u32> {
    match expressions[*arguments.first()?] {
        Expression::Literal(Literal::U32(number)) => Some(number),
        _ => None,
    }
}

/// Indices of gathers that are `i32`.
type Lanes = FxHashSet<(FunctionKey, Id)>;

/// Lanes of type `i32`, which WGSL accepts and naga does not (WGSL 17.12).
fn signed_lanes(module: &naga::Module) -> Lanes {
    let functions = module.functions.iter().map(|(handle, function)| (FunctionKey::Function(handle), function));
    let entries = module.entry_points.iter().enumerate().map(|(n, entry)| (FunctionKey::Entry(n), &entry.function));
    let mut found = Lanes::default();
    for (key, function) in functions.chain(entries) {
        let mut indices = Vec::new();
        gathers(&function.body, &mut indices);
        let mut typifier = Typifier::new();
        let context = ResolveContext::with_locals(module, &function.local_variables, &function.arguments);
        for index in indices {
            let known = typifier.grow(index, &function.expressions, &context).is_ok();
            if known && *typifier.get(index, &module.types) == TypeInner::Scalar(naga::Scalar::I32) {
                found.insert((key, index));
            }
        }
    }
    found
}

/// The indices of all gathers of a block.
fn gathers(block: &Block, into: &mut Vec<Id>) {
    for statement in block {
        match statement {
            Statement::SubgroupGather { mode, .. } => into.extend(gather_index(*mode)),
            _ => blocks(statement).into_iter().for_each(|block| gathers(block, into)),
        }
    }
}

/// The search in one function.
struct Search<'a> {
    carriers: &'a mut Carriers,
    types: &'a naga::UniqueArena<naga::Type>,
    lanes: &'a Lanes,
    key: FunctionKey,
    expressions: &'a mut Arena<Expression>,
    /// Results of stubs, with the call's number and its other arguments.
    calls: FxHashMap<Id, (u32, Vec<Id>)>,
}

/// The change to a statement.
enum Change {
    None,
    /// Replace it by another statement.
    Instead(Statement),
    /// Put another statement before it.
    Before(Statement),
}

impl Search<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut added = Vec::new();
        for (at, statement) in block.iter_mut().enumerate() {
            match self.statement(statement) {
                Change::None => {}
                Change::Instead(other) => *statement = other,
                Change::Before(other) => added.push((at, other)),
            }
        }
        for (at, statement) in added.into_iter().rev() {
            block.splice(at..at, Block::from_vec(vec![statement]));
        }
    }

    fn statement(&mut self, statement: &mut Statement) -> Change {
        match statement {
            Statement::Call { function, arguments, result: Some(result) } if self.carriers.stubs.contains(function) => {
                if let Some(number) = site_number(self.expressions, arguments) {
                    self.calls.insert(*result, (number, arguments[1..].to_vec()));
                }
                Change::None
            }
            Statement::SubgroupGather { mode, argument, result } => self.gather(mode, *argument, *result),
            Statement::SubgroupCollectiveOperation { op: SubgroupOperation::All | SubgroupOperation::Any, .. } => {
                Change::None
            }
            Statement::SubgroupCollectiveOperation { argument, result, .. } => {
                let (argument, result) = (*argument, *result);
                self.native(statement.clone(), argument, result)
            }
            _ => {
                blocks_mut(statement).into_iter().for_each(|block| self.block(block));
                Change::None
            }
        }
    }

    fn gather(&mut self, mode: &mut GatherMode, argument: Id, result: Id) -> Change {
        let native = Statement::SubgroupGather { mode: *mode, argument, result };
        let Some(index) = gather_index_mut(mode) else { return self.native(native, argument, result) };
        if self.calls.get(&argument).is_some_and(|(number, _)| *number == THROUGH) {
            self.carriers.through.insert((self.key, result), *index);
            return self.stand_in(result, argument, UnaryOperator::BitwiseNot);
        }
        if let Some((site, rest)) = self.calls.remove(index) {
            return self.carry(Call { site: site as usize, data: argument, rest, result }, *index);
        }
        match self.native(native.clone(), argument, result) {
            Change::None if self.lanes.contains(&(self.key, *index)) => self.unsigned(native, index),
            change => change,
        }
    }

    /// Keeps a call of a built-in; `stub` is the result of its stub.
    fn carry(&mut self, call: Call, stub: Id) -> Change {
        let (data, result) = (call.data, call.result);
        let Expression::SubgroupOperationResult { ty } = self.expressions[result] else { return Change::None };
        match self.types[ty].inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } => {
                self.carriers.carried.insert((self.key, result), Carried::Call(call));
                match scalar.kind {
                    ScalarKind::Bool => self.stand_in(result, data, UnaryOperator::LogicalNot),
                    _ => Change::None,
                }
            }
            _ => {
                self.carriers.wholes.insert((self.key, stub), call);
                *self.expressions.get_mut(result) = Expression::ZeroValue(ty);
                Change::Instead(Statement::Block(Block::new()))
            }
        }
    }

    /// Keeps a subgroup function of naga's if it works on bools.
    fn native(&mut self, statement: Statement, argument: Id, result: Id) -> Change {
        let Expression::SubgroupOperationResult { ty } = self.expressions[result] else { return Change::None };
        match self.types[ty].inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } if scalar.kind == ScalarKind::Bool => {
                self.carriers.carried.insert((self.key, result), Carried::Native(statement));
                self.stand_in(result, argument, UnaryOperator::LogicalNot)
            }
            _ => Change::None,
        }
    }

    /// Lets the validator see an operation on a value of the same type.
    fn stand_in(&mut self, result: Id, of: Id, op: UnaryOperator) -> Change {
        *self.expressions.get_mut(result) = Expression::Unary { op, expr: of };
        Change::Instead(Statement::Emit(Range::new_from_bounds(result, result)))
    }

    /// Makes an `i32` index unsigned where WGSL accepts one: as a lane. A distance or mask may only be a number without
    /// a suffix, which naga has made `i32`.
    fn unsigned(&mut self, gather: Statement, index: &mut Id) -> Change {
        let literal = match self.expressions[*index] {
            Expression::Literal(Literal::I32(value @ 0..)) => Some(Expression::Literal(Literal::U32(value as u32))),
            _ => None,
        };
        let is_lane = matches!(
            gather,
            Statement::SubgroupGather {
                mode: GatherMode::Shuffle(_) | GatherMode::Broadcast(_) | GatherMode::QuadBroadcast(_),
                ..
            }
        );
        if literal.is_none() && !is_lane {
            return Change::None;
        }
        let (emitted, span) = (literal.is_none(), self.expressions.get_span(*index));
        let cast = Expression::As { expr: *index, kind: ScalarKind::Uint, convert: Some(4) };
        *index = self.expressions.append(literal.unwrap_or(cast), span);
        match emitted {
            true => Change::Before(Statement::Emit(Range::new_from_bounds(*index, *index))),
            false => Change::None,
        }
    }
}
