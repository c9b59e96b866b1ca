//! Treatment of indices out of range, as [`BoundsChecks`] requires.
//!
//! An index that is known to be in range costs nothing. If an access must not happen, its [`PointerPath`] carries the
//! condition under which it may, so that a check costs nothing before memory is touched and can be passed into
//! functions.

use super::function::Body;
use super::memory::PointerPath;
use super::texture::Located;
use crate::ir::{ArrayLen, BinaryOp, ImageOp, ImageType, MathFn, Scalar, Type, TypeId, Types, Value};
use crate::wgsl::BoundsChecks;

impl Body<'_, '_, '_> {
    /// The path to an element of the value at a path.
    pub(super) fn element(&mut self, path: PointerPath, index: Value) -> PointerPath {
        let policy = self.shader.bounds_checks;
        if policy == BoundsChecks::Unchecked {
            return path.then(index);
        }
        let ty = self.type_at(&path);
        let Some(length) = self.length_at(&path, ty).filter(|length| !self.is_below(index, *length)) else {
            return path.then(index);
        };
        if policy == BoundsChecks::Restrict {
            let index = self.restricted(index, length);
            return path.then(index);
        }
        let is_inside = self.is_inside(index, length);
        path.then(index).only_if(is_inside, self)
    }

    /// A component or element of a value.
    pub(super) fn element_of_value(&mut self, composite: Value, index: Value) -> Value {
        let policy = self.shader.bounds_checks;
        let ty = self.b.type_of(composite);
        let length = self.length_of(ty).filter(|_| policy != BoundsChecks::Unchecked);
        let Some(length) = length.filter(|length| !self.is_below(index, *length)) else {
            return self.b.extract_dynamic(composite, index);
        };
        if policy == BoundsChecks::Restrict {
            let index = self.restricted(index, length);
            return self.b.extract_dynamic(composite, index);
        }
        let is_inside = self.is_inside(index, length);
        self.value_if(Some(is_inside), |body| body.b.extract_dynamic(composite, index))
    }

    /// The result of an access if it may happen, otherwise zero.
    pub(super) fn value_if(&mut self, condition: Option<Value>, access: impl FnOnce(&mut Self) -> Value) -> Value {
        let Some(condition) = condition else { return access(self) };
        self.b.push_block();
        let value = access(self);
        let ty = self.b.type_of(value);
        self.b.yield_(value);
        let then = self.b.pop_block();
        let otherwise = self.b.block(|b| {
            let zero = b.zero(ty);
            b.yield_(zero);
        });
        self.b.if_value(condition, then, otherwise, ty)
    }

    /// Does something if an access may happen.
    pub(super) fn do_if(&mut self, condition: Option<Value>, access: impl FnOnce(&mut Self)) {
        match condition {
            Some(condition) => self.when(condition, access),
            None => access(self),
        }
    }

    /// The type of the value at a path.
    fn type_at(&mut self, path: &PointerPath) -> TypeId {
        let mut ty = self.b.pointee_type(path.root);
        for index in &path.indices {
            let number = self.known_index(*index).unwrap_or(0);
            ty = self.b.module.types.element(ty, number as u32).unwrap_or(Types::VOID);
        }
        ty
    }

    /// The number of elements at a path; `None` for a struct.
    fn length_at(&mut self, path: &PointerPath, ty: TypeId) -> Option<Value> {
        if let Type::Array { len: ArrayLen::Runtime, .. } = self.b.module.types.get(ty) {
            let mut block = path.clone();
            block.indices.pop();
            let block = self.pointer(&block);
            return Some(self.b.array_length(block));
        }
        self.length_of(ty)
    }

    fn length_of(&mut self, ty: TypeId) -> Option<Value> {
        Some(match self.b.module.types.get(ty) {
            Type::Array { len, .. } => super::entry::length(&mut self.b, len),
            Type::Vector { size, .. } => self.b.const_u32(u32::from(size)),
            Type::Matrix { columns, .. } => self.b.const_u32(u32::from(columns)),
            _ => return None,
        })
    }

    /// The bits of an index that is a plain number.
    fn known_index(&self, index: Value) -> Option<u64> {
        match index {
            Value::Const(id) => self.b.module.constants.bits(id),
            _ => None,
        }
    }

    fn is_below(&self, index: Value, length: Value) -> bool {
        matches!((self.known_index(index), self.known_index(length)), (Some(index), Some(length)) if index < length)
    }

    /// An unsigned index, and a length of the same type. Negative indices become too large.
    fn as_unsigned(&mut self, index: Value, length: Value) -> (Value, Value) {
        let ty = self.b.type_of(index);
        let wide = matches!(self.b.module.types.scalar_of(ty), Some(scalar) if scalar.width == 64);
        let unsigned = self.b.module.types.scalar(if wide { Scalar::U64 } else { Scalar::U32 });
        (self.b.bitcast(index, unsigned), self.b.convert(length, unsigned))
    }

    /// The index, limited to the last element.
    fn restricted(&mut self, index: Value, length: Value) -> Value {
        let (index, length) = self.as_unsigned(index, length);
        let one = self.number_like(length, 1);
        let last = self.b.binary(BinaryOp::Sub, length, one);
        self.b.math(MathFn::Min, &[index, last])
    }

    fn is_inside(&mut self, index: Value, length: Value) -> Value {
        let (index, length) = self.as_unsigned(index, length);
        self.b.binary(BinaryOp::Lt, index, length)
    }

    fn number_like(&mut self, like: Value, number: u64) -> Value {
        let (_, scalar, size) = self.shape(like);
        self.number(scalar, number, size)
    }

    /// The coordinates of a texel, and the condition under which it is read.
    pub(super) fn texel_in_range(&mut self, image: Value, kind: ImageType, at: Located) -> (Located, Option<Value>) {
        let policy = self.shader.bounds_checks;
        if policy == BoundsChecks::Unchecked {
            return (at, None);
        }
        let (mut to, mut conditions) = (at, Vec::new());
        for (op, number) in [(ImageOp::Levels, &mut to.level), (ImageOp::Samples, &mut to.sample)] {
            if let Some(given) = number {
                let count = self.count(op, image);
                if policy == BoundsChecks::Zero {
                    conditions.push(self.is_inside(*given, count));
                }
                *given = self.restricted(*given, count);
            }
        }
        let size = self.sizes(image, kind, to.level);
        let (_, _, components) = self.shape(at.coordinate);
        let unsigned = self.b.module.types.vector(Scalar::U32, components);
        let coordinate = self.b.bitcast(at.coordinate, unsigned);
        if policy == BoundsChecks::Restrict {
            let one = self.number_like(size, 1);
            let last = self.b.binary(BinaryOp::Sub, size, one);
            to.coordinate = self.b.math(MathFn::Min, &[coordinate, last]);
            return (to, None);
        }
        let inside = self.b.binary(BinaryOp::Lt, coordinate, size);
        conditions.push(if components > 1 { self.b.math(MathFn::All, &[inside]) } else { inside });
        let all = conditions.into_iter().reduce(|all, one| self.b.binary(BinaryOp::And, all, one));
        (to, all)
    }
}

impl PointerPath {
    /// The path, for accesses under a further condition.
    fn only_if(mut self, condition: Value, body: &mut Body<'_, '_, '_>) -> PointerPath {
        self.only_if = Some(match self.only_if {
            Some(before) => body.b.binary(BinaryOp::And, before, condition),
            None => condition,
        });
        self
    }
}
