//! Unary and binary operations and selection.

use super::number::{Num, mask, round_to};
use super::{Folder, Vector};
use crate::ir::{BinaryOp, ConstId, Scalar, Type, TypeId, UnaryOp};

impl Folder<'_> {
    pub fn unary(&mut self, op: UnaryOp, ty: TypeId, a: ConstId) -> Option<ConstId> {
        let a = self.vector(a)?;
        self.lanes(ty, |index| unary(op, a.lane(index)))
    }

    pub fn binary(&mut self, op: BinaryOp, ty: TypeId, a: ConstId, b: ConstId) -> Option<ConstId> {
        match op {
            BinaryOp::TimesScalar => self.times_scalar(ty, a, b),
            BinaryOp::MatrixTimesVector => self.matrix_times_vector(ty, a, b),
            BinaryOp::VectorTimesMatrix => self.vector_times_matrix(ty, a, b),
            BinaryOp::MatrixTimesMatrix => self.matrix_times_matrix(ty, a, b),
            BinaryOp::OuterProduct => self.outer_product(ty, a, b),
            _ => self.binary_lanes(op, ty, a, b),
        }
    }

    fn binary_lanes(&mut self, op: BinaryOp, ty: TypeId, a: ConstId, b: ConstId) -> Option<ConstId> {
        let (a, b) = (self.vector(a)?, self.vector(b)?);
        self.lanes(ty, |index| binary(op, a.scalar, a.lane(index), b.lane(index)))
    }

    fn times_scalar(&mut self, ty: TypeId, a: ConstId, b: ConstId) -> Option<ConstId> {
        if !matches!(self.types.get(ty), Type::Matrix { .. }) {
            return self.binary_lanes(BinaryOp::Mul, ty, a, b);
        }
        let (columns, by) = (self.matrix(a)?, self.vector(b)?);
        let scaled: Option<Vec<Vector>> = columns.iter().map(|column| column.zip(&by, BinaryOp::Mul)).collect();
        self.matrix_of(ty, &scaled?)
    }

    /// Picks a whole constant, or component by component.
    pub fn select(&mut self, ty: TypeId, condition: ConstId, accept: ConstId, reject: ConstId) -> Option<ConstId> {
        let condition = self.vector(condition)?;
        if condition.size == 1 {
            return Some(if condition.lane(0).bool()? { accept } else { reject });
        }
        let (accept, reject) = (self.components(accept)?, self.components(reject)?);
        let mut parts = Vec::with_capacity(condition.size);
        for (index, flag) in condition.lanes().iter().enumerate() {
            parts.push(*if flag.bool()? { &accept } else { &reject }.get(index)?);
        }
        Some(self.composite(ty, parts))
    }
}

impl Vector {
    /// A component-wise operation with the result type of `self`.
    pub fn zip(&self, other: &Vector, op: BinaryOp) -> Option<Vector> {
        let size = self.size.max(other.size);
        let mut lanes = [Num::Int(0); 4];
        for (index, lane) in lanes.iter_mut().enumerate().take(size) {
            *lane = binary(op, self.scalar, self.lane(index), other.lane(index))?.rounded(self.scalar);
        }
        Some(Vector { scalar: self.scalar, size, lanes })
    }
}

fn unary(op: UnaryOp, a: Num) -> Option<Num> {
    Some(match (op, a) {
        (UnaryOp::Neg, Num::Int(a)) => Num::Int(-a),
        (UnaryOp::Neg, Num::Float(a)) => Num::Float(-a),
        (UnaryOp::Not, Num::Int(a)) => Num::Int(!a),
        (UnaryOp::LogicalNot, Num::Bool(a)) => Num::Bool(!a),
        _ => return None,
    })
}

/// One component of a component-wise operation on operands of type `scalar`.
pub fn binary(op: BinaryOp, scalar: Scalar, a: Num, b: Num) -> Option<Num> {
    match (a, b) {
        (Num::Bool(a), Num::Bool(b)) => on_bools(op, a, b),
        (Num::Int(a), Num::Int(b)) => on_ints(op, scalar, a, b),
        (Num::Float(a), Num::Float(b)) => on_floats(op, scalar, a, b),
        _ => None,
    }
}

fn on_bools(op: BinaryOp, a: bool, b: bool) -> Option<Num> {
    Some(Num::Bool(match op {
        BinaryOp::LogicalAnd | BinaryOp::And => a && b,
        BinaryOp::LogicalOr | BinaryOp::Or => a || b,
        BinaryOp::Eq => a == b,
        BinaryOp::Ne | BinaryOp::Xor => a != b,
        _ => return None,
    }))
}

fn on_ints(op: BinaryOp, scalar: Scalar, a: i128, b: i128) -> Option<Num> {
    Some(Num::Int(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div => divide(scalar, a, b)?,
        BinaryOp::Rem => a - divide(scalar, a, b)? * b,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a << shift_amount(scalar, b)?,
        BinaryOp::Shr => a >> shift_amount(scalar, b)?,
        _ => return compare(op, &a, &b),
    }))
}

/// The truncated quotient; `None` if the divisor is zero or the quotient does not fit.
fn divide(scalar: Scalar, a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    let largest = i128::from(mask(scalar.width - u8::from(scalar.is_signed())));
    (quotient <= largest).then_some(quotient)
}

/// A shift amount below the width; the shifted value then fits an `i128`.
fn shift_amount(scalar: Scalar, amount: i128) -> Option<u32> {
    u32::try_from(amount).ok().filter(|amount| *amount < u32::from(scalar.width))
}

fn on_floats(op: BinaryOp, scalar: Scalar, a: f64, b: f64) -> Option<Num> {
    let exact = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        _ => return compare(op, &a, &b),
    };
    Some(Num::Float(round_to(scalar.width, exact)))
}

fn compare<T: PartialOrd>(op: BinaryOp, a: &T, b: &T) -> Option<Num> {
    Some(Num::Bool(match op {
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Ge => a >= b,
        _ => return None,
    }))
}
