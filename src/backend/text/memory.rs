//! Memory: chains of accesses, loads, stores and atomic operations.
//!
//! Bools in laid-out memory are words. Composites of which memory and values have different types go part by part.

use super::function::Body;
use crate::ir::{self, ArrayLen, AtomicOp, FuncId, GlobalId, Module, ScalarKind, Space, Type, TypeId, Value, Values};
use crate::limits;
use naga::{AtomicFunction, Expression, Handle, PredeclaredType, Statement, TypeInner};
use rustc_hash::FxHashMap;

/// Parts that a composite in memory may have where it is read or written part by part.
const MOST_PARTS: u32 = 64;

/// One step from a composite to its part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hop {
    Member(u32),
    /// Any element.
    Element,
}

/// For each variable the paths to the parts that atomic operations reach.
pub(super) fn atomics(module: &Module, functions: &[FuncId]) -> FxHashMap<GlobalId, Vec<Vec<Hop>>> {
    let mut found: FxHashMap<GlobalId, Vec<Vec<Hop>>> = FxHashMap::default();
    for id in functions {
        let f = &module.functions[*id];
        for (_, inst) in f.insts.iter() {
            let ir::Op::Atomic { pointer, .. } = inst.op else { continue };
            let (base, indices) = match pointer {
                Value::Inst(id) => match f.insts[id].op {
                    ir::Op::Access { base, indices } => (base, f.values(indices)),
                    _ => continue,
                },
                other => (other, [].as_slice()),
            };
            let Value::Global(global) = base else { continue };
            let path = path(module, module.globals[global].ty, indices);
            let paths = found.entry(global).or_default();
            limits::spend(paths.len());
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    found
}

/// Returns true if some function writes to a variable.
pub(super) fn is_written(module: &Module, id: GlobalId) -> bool {
    let is_part = |f: &ir::Function, pointer| match pointer {
        Value::Inst(at) => matches!(f.insts[at].op, ir::Op::Access { base, .. } if base == Value::Global(id)),
        other => other == Value::Global(id),
    };
    module.functions.iter().any(|(_, f)| {
        limits::spend(f.insts.len());
        f.insts.iter().any(|(_, inst)| match inst.op {
            ir::Op::Store { pointer, .. } | ir::Op::Atomic { pointer, .. } => is_part(f, pointer),
            _ => false,
        })
    })
}

fn path(module: &Module, ty: TypeId, indices: &[Value]) -> Vec<Hop> {
    let mut ty = ty;
    let mut path = Vec::new();
    for index in indices {
        match module.types.get(ty) {
            Type::Struct(id) => {
                let member = member(module, *index);
                path.push(Hop::Member(member));
                ty = module.types.structs[id].members[member as usize].ty;
            }
            Type::Array { element, .. } => {
                path.push(Hop::Element);
                ty = element;
            }
            _ => {}
        }
    }
    path
}

fn member(module: &Module, index: Value) -> u32 {
    match index {
        Value::Const(id) => module.constants.bits(id).unwrap_or(0) as u32,
        _ => 0,
    }
}

impl Body<'_, '_> {
    /// Space and pointee of an operand that points.
    pub fn pointee_of(&self, value: Value) -> Option<(Space, TypeId)> {
        self.t.module.pointee_of(self.f, &self.t.types, value)
    }

    /// A pointer to a part.
    pub fn access(&mut self, base: Value, indices: Values) -> Handle<Expression> {
        let f = self.f;
        let Some((_, ty)) = self.pointee_of(base) else { return self.nothing("buffer references") };
        let mut ty = ty;
        let mut place = self.value(base);
        let is_direct = self.direct.contains(&place);
        let mut indices = f.values(indices);
        while let Some((index, rest)) = indices.split_first() {
            if self.is_in_rows(ty) {
                return self.access_rows(place, *index, rest.first().copied());
            }
            indices = rest;
            place = self.step_into(place, ty, *index);
            match self.t.types.element(ty, self.t.module.known_u32(*index).unwrap_or(0)) {
                Some(part) => ty = part,
                None => return self.broken("an access to a part that is not there"),
            }
        }
        if is_direct {
            self.direct.insert(place);
        }
        place
    }

    fn step_into(&mut self, base: Handle<Expression>, ty: TypeId, index: Value) -> Handle<Expression> {
        let known = self.t.module.known_u32(index);
        match (self.t.types.get(ty), known) {
            (Type::Struct(_), Some(index)) => {
                let index = self.member_place(base, index);
                self.emit(Expression::AccessIndex { base, index })
            }
            (other, known) => {
                let part = match known {
                    Some(index) => self.emit(Expression::AccessIndex { base, index }),
                    None => {
                        let index = self.value(index);
                        self.emit(Expression::Access { base, index })
                    }
                };
                match other {
                    Type::Array { stride: Some(_), .. } | Type::Matrix { layout: Some(_), .. } => self.unwrapped(part),
                    _ => part,
                }
            }
        }
    }

    /// The value in an element that is wrapped to reach the next.
    fn unwrapped(&mut self, part: Handle<Expression>) -> Handle<Expression> {
        match self.made_pointee(part) {
            Some(made) if self.t.wrappers.contains(&made) => {
                self.emit(Expression::AccessIndex { base: part, index: 0 })
            }
            _ => part,
        }
    }

    /// Returns true if a matrix in memory lies row by row.
    fn is_in_rows(&self, ty: TypeId) -> bool {
        matches!(self.t.types.get(ty), Type::Matrix { layout: Some(layout), .. } if layout.row_major)
    }

    /// A component of a matrix that lies row by row; or one of its columns, which no pointer can name: the pointer to its
    /// rows stands for it.
    fn access_rows(&mut self, matrix: Handle<Expression>, column: Value, row: Option<Value>) -> Handle<Expression> {
        let Some(row) = row else {
            // A pointer of its own, which nothing else is.
            let whole = self.out.expressions[matrix].clone();
            let place = self.copy_of(whole);
            self.columns.insert(place, (matrix, column));
            return place;
        };
        let row = self.part_at(matrix, row);
        let row = self.unwrapped(row);
        self.part_at(row, column)
    }

    /// The same place once more.
    fn copy_of(&mut self, place: Expression) -> Handle<Expression> {
        match place {
            Expression::Access { .. } | Expression::AccessIndex { .. } => self.emit(place),
            other => self.append(other),
        }
    }

    fn part_at(&mut self, base: Handle<Expression>, index: Value) -> Handle<Expression> {
        match self.t.module.known_u32(index) {
            Some(index) => self.emit(Expression::AccessIndex { base, index }),
            None => {
                let index = self.value(index);
                self.emit(Expression::Access { base, index })
            }
        }
    }

    /// The places of the components of a column.
    fn column_places(&mut self, (matrix, column): (Handle<Expression>, Value), ty: TypeId) -> Vec<Handle<Expression>> {
        let rows = self.t.types.components(ty).unwrap_or(1);
        let place = |body: &mut Self, index| {
            let row = body.emit(Expression::AccessIndex { base: matrix, index });
            let row = body.unwrapped(row);
            body.part_at(row, column)
        };
        (0..rows.into()).map(|index| place(self, index)).collect()
    }

    fn member_place(&mut self, base: Handle<Expression>, index: u32) -> u32 {
        let made = self.made_pointee(base);
        let places = made.and_then(|made| self.t.members.get(&made));
        places.and_then(|places| places.get(index as usize)).copied().unwrap_or(index)
    }

    /// The made type that a place has.
    fn made_pointee(&self, place: Handle<Expression>) -> Option<Handle<naga::Type>> {
        let types = &self.t.out.types;
        match self.out.expressions[place] {
            Expression::GlobalVariable(id) => Some(self.t.out.global_variables[id].ty),
            Expression::LocalVariable(id) => Some(self.out.local_variables[id].ty),
            Expression::FunctionArgument(index) => {
                let ty = self.out.arguments.get(index as usize)?.ty;
                match types[ty].inner {
                    TypeInner::Pointer { base, .. } => Some(base),
                    _ => Some(ty),
                }
            }
            Expression::Access { base, .. } => match types[self.made_pointee(base)?].inner {
                TypeInner::Array { base, .. } => Some(base),
                _ => None,
            },
            Expression::AccessIndex { base, index } => match &types[self.made_pointee(base)?].inner {
                TypeInner::Array { base, .. } => Some(*base),
                TypeInner::Struct { members, .. } => Some(members.get(index as usize)?.ty),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn load(&mut self, pointer: Value) -> Handle<Expression> {
        let Some((space, ty)) = self.pointee_of(pointer) else { return self.nothing("buffer references") };
        let place = self.value(pointer);
        if self.direct.contains(&place) || space == Space::Handle {
            return place;
        }
        self.load_of(place, ty, space.is_laid_out())
    }

    /// The value in memory of a type.
    fn load_of(&mut self, pointer: Handle<Expression>, ty: TypeId, is_laid_out: bool) -> Handle<Expression> {
        let logical = self.t.types.logical(ty);
        if let Some(column) = self.columns.get(&pointer).copied() {
            let places = self.column_places(column, logical);
            let parts = places.into_iter().map(|pointer| self.emit(Expression::Load { pointer })).collect();
            return self.compose(logical, parts);
        }
        if let Some((scalar, size)) = self.t.shape(logical) {
            let value = self.emit(Expression::Load { pointer });
            return if scalar.is_bool() && is_laid_out { self.is_set(value, size) } else { value };
        }
        let wanted = self.t.value_type(logical);
        if self.made_pointee(pointer).is_none_or(|made| made == wanted) {
            return self.emit(Expression::Load { pointer });
        }
        if self.is_in_rows(ty) {
            return self.load_rows(pointer, logical);
        }
        let parts = self.parts_of(ty);
        let parts = parts.into_iter().map(|(index, part)| {
            let place = self.part(pointer, ty, index);
            self.load_of(place, part, is_laid_out)
        });
        let parts = parts.collect();
        self.compose(logical, parts)
    }

    /// A matrix that lies row by row.
    fn load_rows(&mut self, pointer: Handle<Expression>, ty: TypeId) -> Handle<Expression> {
        let Type::Matrix { scalar, columns, rows, .. } = self.t.types.get(ty) else {
            return self.broken("rows of no matrix");
        };
        let transposed = self.t.types.matrix(scalar, rows, columns);
        let parts = (0..rows.into()).map(|index| {
            let row = self.emit(Expression::AccessIndex { base: pointer, index });
            let row = self.unwrapped(row);
            self.emit(Expression::Load { pointer: row })
        });
        let parts = parts.collect();
        let matrix = self.compose(transposed, parts);
        let fun = naga::MathFunction::Transpose;
        self.emit(Expression::Math { fun, arg: matrix, arg1: None, arg2: None, arg3: None })
    }

    /// True if words are not zero, component by component.
    pub fn is_set(&mut self, value: Handle<Expression>, size: u8) -> Handle<Expression> {
        let zero = self.zero(ir::Scalar::U32, size);
        self.emit(Expression::Binary { op: naga::BinaryOperator::NotEqual, left: value, right: zero })
    }

    /// Bools as words that are 0 or 1.
    pub fn as_words(&mut self, value: Handle<Expression>, size: u8) -> Handle<Expression> {
        let (one, zero) = (self.splat_constant(ir::Scalar::U32, size, 1), self.zero(ir::Scalar::U32, size));
        self.choose(value, (one, zero))
    }

    /// The parts of a composite in memory with their numbers.
    fn parts_of(&mut self, ty: TypeId) -> Vec<(u32, TypeId)> {
        match self.t.types.get(ty) {
            Type::Struct(id) => (0..).zip(self.t.types.structs[id].members.iter().map(|member| member.ty)).collect(),
            Type::Array { element, len: ArrayLen::Fixed(len), .. } if len <= MOST_PARTS => {
                (0..len).map(|index| (index, element)).collect()
            }
            Type::Matrix { scalar, columns, rows, .. } => {
                let column = self.t.types.vector(scalar, rows);
                (0..columns.into()).map(|index| (index, column)).collect()
            }
            _ => {
                self.t.unsupported("copies of such composites between memory of different layouts");
                Vec::new()
            }
        }
    }

    fn part(&mut self, base: Handle<Expression>, ty: TypeId, index: u32) -> Handle<Expression> {
        match self.t.types.get(ty) {
            Type::Struct(_) => {
                let index = self.member_place(base, index);
                self.emit(Expression::AccessIndex { base, index })
            }
            _ => {
                let part = self.emit(Expression::AccessIndex { base, index });
                self.unwrapped(part)
            }
        }
    }

    pub fn store(&mut self, pointer: Value, value: Value) {
        let Some((space, ty)) = self.pointee_of(pointer) else {
            self.nothing("buffer references");
            return;
        };
        let (place, value) = (self.value(pointer), self.value(value));
        self.store_to(place, value, ty, space.is_laid_out());
    }

    fn store_to(&mut self, pointer: Handle<Expression>, value: Handle<Expression>, ty: TypeId, is_laid_out: bool) {
        let logical = self.t.types.logical(ty);
        if let Some(column) = self.columns.get(&pointer).copied() {
            for (index, pointer) in (0..).zip(self.column_places(column, logical)) {
                let part = self.emit(Expression::AccessIndex { base: value, index });
                self.statement(Statement::Store { pointer, value: part });
            }
            return;
        }
        if let Some((scalar, size)) = self.t.shape(logical) {
            let value = if scalar.is_bool() && is_laid_out { self.as_words(value, size) } else { value };
            return self.statement(Statement::Store { pointer, value });
        }
        let given = self.t.value_type(logical);
        if self.made_pointee(pointer).is_none_or(|made| made == given) {
            return self.statement(Statement::Store { pointer, value });
        }
        if self.is_in_rows(ty) {
            return self.store_rows(pointer, value, logical);
        }
        for (index, part) in self.parts_of(ty) {
            let place = self.part(pointer, ty, index);
            let at = self.t.members.get(&given).and_then(|places| places.get(index as usize)).copied();
            let value = self.emit(Expression::AccessIndex { base: value, index: at.unwrap_or(index) });
            self.store_to(place, value, part, is_laid_out);
        }
    }

    fn store_rows(&mut self, pointer: Handle<Expression>, value: Handle<Expression>, ty: TypeId) {
        let Type::Matrix { rows, .. } = self.t.types.get(ty) else { return self.t.internal("rows of no matrix") };
        let fun = naga::MathFunction::Transpose;
        let transposed = self.emit(Expression::Math { fun, arg: value, arg1: None, arg2: None, arg3: None });
        for index in 0..rows.into() {
            let row = self.emit(Expression::AccessIndex { base: pointer, index });
            let row = self.unwrapped(row);
            let value = self.emit(Expression::AccessIndex { base: transposed, index });
            self.statement(Statement::Store { pointer: row, value });
        }
    }

    /// The elements of the array at the end of a block.
    pub fn array_length(&mut self, block: Value) -> Handle<Expression> {
        let Some((_, ty)) = self.pointee_of(block) else { return self.nothing("buffer references") };
        let base = self.value(block);
        let last = match self.t.types.get(ty) {
            Type::Struct(id) => self.t.types.structs[id].members.len() as u32 - 1,
            _ => return self.broken("the length of something else than a block"),
        };
        let index = self.member_place(base, last);
        let array = self.emit(Expression::AccessIndex { base, index });
        self.emit(Expression::ArrayLength(array))
    }

    pub fn atomic(&mut self, op: AtomicOp, pointer: Value, args: Values, ty: TypeId) -> Option<Handle<Expression>> {
        let values = self.list(args);
        let place = self.value(pointer);
        let (_, pointee) = self.pointee_of(pointer)?;
        if self.t.shape(pointee).is_none_or(|(scalar, size)| !scalar.is_int() || scalar.width != 32 || size != 1) {
            return Some(self.lacking("atomic operations on such values"));
        }
        let fun = match op {
            AtomicOp::Load => return Some(self.emit(Expression::Load { pointer: place })),
            AtomicOp::Store => {
                self.statement(Statement::Store { pointer: place, value: values[0] });
                return None;
            }
            AtomicOp::CompareExchange => return Some(self.compare_exchange(place, &values, pointee)),
            AtomicOp::Add => AtomicFunction::Add,
            AtomicOp::Sub => AtomicFunction::Subtract,
            AtomicOp::Min => AtomicFunction::Min,
            AtomicOp::Max => AtomicFunction::Max,
            AtomicOp::And => AtomicFunction::And,
            AtomicOp::Or => AtomicFunction::InclusiveOr,
            AtomicOp::Xor => AtomicFunction::ExclusiveOr,
            AtomicOp::Exchange => AtomicFunction::Exchange { compare: None },
        };
        let ty = self.t.value_type(if ty == ir::Types::VOID { pointee } else { ty });
        let result = self.append(Expression::AtomicResult { ty, comparison: false });
        self.statement(Statement::Atomic { pointer: place, fun, value: values[0], result: Some(result) });
        Some(result)
    }

    /// The language's exchange may fail for no reason: it is tried until it did not.
    fn compare_exchange(
        &mut self,
        pointer: Handle<Expression>,
        values: &[Handle<Expression>],
        ty: TypeId,
    ) -> Handle<Expression> {
        let scalar = match self.t.shape(ty) {
            Some((scalar, _)) if scalar.kind == ScalarKind::Sint => naga::Scalar::I32,
            _ => naga::Scalar::U32,
        };
        let made = self.t.out.generate_predeclared_type(PredeclaredType::AtomicCompareExchangeWeakResult(scalar));
        let _ = self.t.layouter.update(self.t.out.to_ctx());
        let old = self.variable("old", ty);
        let fun = AtomicFunction::Exchange { compare: Some(values[1]) };
        let compared = values[1];
        let value = values[0];
        let body = self.within(|inner| {
            let result = inner.append(Expression::AtomicResult { ty: made, comparison: true });
            inner.statement(Statement::Atomic { pointer, fun, value, result: Some(result) });
            let seen = inner.emit(Expression::AccessIndex { base: result, index: 0 });
            let done = inner.emit(Expression::AccessIndex { base: result, index: 1 });
            inner.statement(Statement::Store { pointer: old, value: seen });
            let differs = naga::BinaryOperator::NotEqual;
            let other = inner.emit(Expression::Binary { op: differs, left: seen, right: compared });
            let or = naga::BinaryOperator::LogicalOr;
            let condition = inner.emit(Expression::Binary { op: or, left: done, right: other });
            let accept = inner.within(|arm| arm.statement(Statement::Break));
            inner.statement(Statement::If { condition, accept, reject: naga::Block::new() });
        });
        self.statement(Statement::Loop { body, continuing: naga::Block::new(), break_if: None });
        self.emit(Expression::Load { pointer: old })
    }
}
