//! Operators, with the results that WGSL defines where `ir` leaves them undefined.
//!
//! WGSL 8.7: integer division by zero gives the dividend, and its remainder zero; the overflow of the minimum divided
//! by -1 gives the same. WGSL 8.9: shift amounts are modulo the width.

use super::Outcome;
use super::function::Body;
use crate::ir::{BinaryOp, ConstId, Scalar, ScalarKind, Type, TypeId, UnaryOp, Value};
use naga::{BinaryOperator, Expression, Handle, UnaryOperator};

/// The operator if neither its operands' shapes nor their kinds matter.
fn plain(op: BinaryOperator) -> BinaryOp {
    match op {
        BinaryOperator::Add => BinaryOp::Add,
        BinaryOperator::Subtract => BinaryOp::Sub,
        BinaryOperator::Multiply => BinaryOp::Mul,
        BinaryOperator::Divide => BinaryOp::Div,
        BinaryOperator::Modulo => BinaryOp::Rem,
        BinaryOperator::Equal => BinaryOp::Eq,
        BinaryOperator::NotEqual => BinaryOp::Ne,
        BinaryOperator::Less => BinaryOp::Lt,
        BinaryOperator::LessEqual => BinaryOp::Le,
        BinaryOperator::Greater => BinaryOp::Gt,
        BinaryOperator::GreaterEqual => BinaryOp::Ge,
        BinaryOperator::And => BinaryOp::And,
        BinaryOperator::ExclusiveOr => BinaryOp::Xor,
        BinaryOperator::InclusiveOr => BinaryOp::Or,
        BinaryOperator::LogicalAnd => BinaryOp::LogicalAnd,
        BinaryOperator::LogicalOr => BinaryOp::LogicalOr,
        BinaryOperator::ShiftLeft => BinaryOp::Shl,
        BinaryOperator::ShiftRight => BinaryOp::Shr,
    }
}

/// Bits of the smallest number of a signed scalar.
fn least(scalar: Scalar) -> u64 {
    1 << (scalar.width - 1)
}

impl Body<'_, '_, '_> {
    /// Type, scalar and components of a scalar or vector value.
    pub(super) fn shape(&mut self, of: Value) -> (TypeId, Scalar, u8) {
        let ty = self.b.type_of(of);
        let types = &self.b.module.types;
        (ty, types.scalar_of(ty).unwrap_or(Scalar::BOOL), types.components(ty).unwrap_or(1))
    }

    /// A scalar of the given bits, repeated to `size` components.
    pub(super) fn number(&mut self, scalar: Scalar, bits: u64, size: u8) -> Value {
        let ty = self.b.module.types.scalar(scalar);
        let value = self.b.module.constants.intern(ty, crate::ir::ConstValue::Bits(bits));
        self.b.splat(Value::Const(value), size)
    }

    pub(super) fn unary(&mut self, op: UnaryOperator, of: Handle<Expression>) -> Outcome<Value> {
        let value = self.value(of)?;
        let op = match op {
            UnaryOperator::Negate => UnaryOp::Neg,
            UnaryOperator::LogicalNot => UnaryOp::LogicalNot,
            UnaryOperator::BitwiseNot => UnaryOp::Not,
        };
        Ok(match self.matrix_columns(value) {
            Some(columns) => {
                let columns: Vec<Value> = columns.into_iter().map(|column| self.b.unary(op, column)).collect();
                let ty = self.b.type_of(value);
                self.b.construct(ty, &columns)
            }
            None => self.b.unary(op, value),
        })
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Outcome<Value> {
        let (a, b) = (self.value(left)?, self.value(right)?);
        let (_, scalar, _) = self.shape(a);
        Ok(match op {
            BinaryOperator::Multiply => self.multiply(a, b),
            BinaryOperator::Divide | BinaryOperator::Modulo if scalar.is_int() => self.divide(plain(op), a, b),
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => self.shift(plain(op), a, b),
            BinaryOperator::And if scalar.is_bool() => self.b.binary(BinaryOp::LogicalAnd, a, b),
            BinaryOperator::InclusiveOr if scalar.is_bool() => self.b.binary(BinaryOp::LogicalOr, a, b),
            BinaryOperator::ExclusiveOr if scalar.is_bool() => self.b.binary(BinaryOp::Ne, a, b),
            _ => self.by_columns(plain(op), a, b),
        })
    }

    /// The columns of a matrix value.
    pub(super) fn matrix_columns(&mut self, value: Value) -> Option<Vec<Value>> {
        let ty = self.b.type_of(value);
        let Type::Matrix { columns, .. } = self.b.module.types.get(ty) else { return None };
        Some((0..u32::from(columns)).map(|index| self.b.extract(value, index)).collect())
    }

    /// Sums and differences of matrices go column by column.
    fn by_columns(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        match (self.matrix_columns(a), self.matrix_columns(b)) {
            (Some(left), Some(right)) => {
                let columns: Vec<Value> = left.into_iter().zip(right).map(|(x, y)| self.b.binary(op, x, y)).collect();
                let ty = self.b.type_of(a);
                self.b.construct(ty, &columns)
            }
            _ => self.b.binary(op, a, b),
        }
    }

    fn multiply(&mut self, a: Value, b: Value) -> Value {
        let (left, right) = (self.b.type_of(a), self.b.type_of(b));
        let types = &self.b.module.types;
        let op = match (types.get(left), types.get(right)) {
            (Type::Matrix { .. }, Type::Matrix { .. }) => BinaryOp::MatrixTimesMatrix,
            (Type::Matrix { .. }, Type::Vector { .. }) => BinaryOp::MatrixTimesVector,
            (Type::Vector { .. }, Type::Matrix { .. }) => BinaryOp::VectorTimesMatrix,
            (Type::Matrix { .. }, Type::Scalar(_)) => BinaryOp::TimesScalar,
            (Type::Scalar(_), Type::Matrix { .. }) => return self.b.binary(BinaryOp::TimesScalar, b, a),
            (Type::Vector { .. }, Type::Scalar(_)) => return self.times_scalar(a, b),
            (Type::Scalar(_), Type::Vector { .. }) => return self.times_scalar(b, a),
            _ => BinaryOp::Mul,
        };
        self.b.binary(op, a, b)
    }

    fn times_scalar(&mut self, vector: Value, scalar: Value) -> Value {
        let (_, kind, size) = self.shape(vector);
        if kind.is_float() {
            return self.b.binary(BinaryOp::TimesScalar, vector, scalar);
        }
        let scalar = self.b.splat(scalar, size);
        self.b.binary(BinaryOp::Mul, vector, scalar)
    }

    /// Integer division and remainder: an invalid divisor becomes 1, which gives the result that WGSL requires.
    fn divide(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let (_, scalar, size) = self.shape(b);
        if self.is_safe_divisor(b, scalar) {
            return self.b.binary(op, a, b);
        }
        let (zero, one) = (self.number(scalar, 0, size), self.number(scalar, 1, size));
        let mut wrong = self.b.binary(BinaryOp::Eq, b, zero);
        if scalar.is_signed() {
            let (minus, least) = (self.number(scalar, mask(scalar), size), self.number(scalar, least(scalar), size));
            let (by_minus, of_least) = (self.b.binary(BinaryOp::Eq, b, minus), self.b.binary(BinaryOp::Eq, a, least));
            let overflow = self.b.binary(BinaryOp::LogicalAnd, by_minus, of_least);
            wrong = self.b.binary(BinaryOp::LogicalOr, wrong, overflow);
        }
        let divisor = self.b.select(wrong, one, b);
        self.b.binary(op, a, divisor)
    }

    fn is_safe_divisor(&self, divisor: Value, scalar: Scalar) -> bool {
        let minus = mask(scalar);
        self.all_bits(divisor, |bits| bits != 0 && !(scalar.kind == ScalarKind::Sint && bits == minus))
    }

    /// Returns true if a value is a constant whose components all satisfy a predicate.
    pub(super) fn all_bits(&self, value: Value, passes: impl Fn(u64) -> bool + Copy) -> bool {
        match value {
            Value::Const(id) => self.const_bits(id, passes),
            _ => false,
        }
    }

    fn const_bits(&self, id: ConstId, passes: impl Fn(u64) -> bool + Copy) -> bool {
        let constants = &self.b.module.constants;
        match &constants.get(id).value {
            crate::ir::ConstValue::Composite(parts) => parts.iter().all(|part| self.const_bits(*part, passes)),
            _ => constants.bits(id).is_some_and(passes),
        }
    }

    fn shift(&mut self, op: BinaryOp, a: Value, amount: Value) -> Value {
        let (_, shifted, _) = self.shape(a);
        let width = u64::from(shifted.width);
        if self.all_bits(amount, |bits| bits < width) {
            return self.b.binary(op, a, amount);
        }
        let (_, scalar, size) = self.shape(amount);
        let limit = self.number(scalar, width - 1, size);
        let amount = self.b.binary(BinaryOp::And, amount, limit);
        self.b.binary(op, a, amount)
    }
}

/// All bits of a scalar's width set.
fn mask(scalar: Scalar) -> u64 {
    u64::MAX >> (64 - u32::from(scalar.width))
}
