//! Evaluation of pure operations on constants, with the meaning that [`super::op`] defines.
//!
//! [`fold`] returns a constant, or `None` if the value is unknown (an operand is `Undef`) or undefined (an integer
//! division by zero); the caller then emits an instruction or reports an error. If an operand depends on a
//! specialization constant, the result is a [`super::ConstValue::SpecOp`], provided that SPIR-V can compute it at
//! pipeline creation.
//!
//! Floats are computed in their own width, with each operation rounded. Transcendental functions are computed in 64
//! bits and rounded once.

mod arith;
mod bits;
mod composite;
mod convert;
mod math;
mod matrix;
mod number;
mod pack;
mod spec;
#[cfg(test)]
mod tests;
mod vector;

use super::{BinaryOp, ConstId, ConstValue, Constants, MathFn, Scalar, Type, TypeId, Types, UnaryOp};
use number::Num;
pub use number::{f16_to_f64, f64_to_f16, identity, neutral};
pub use spec::{Specializer, fix};

/// A pure operation without its operands; they are listed in the order of [`super::Op`]'s fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expr {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Math(MathFn),
    Convert,
    Bitcast,
    Select,
    Construct,
    Splat,
    Extract(u32),
    ExtractDynamic,
    Insert(u32),
    InsertDynamic,
    Shuffle([u8; 4]),
}

/// The types and constants of a module, which folding adds to.
pub(crate) struct Folder<'a> {
    pub types: &'a mut Types,
    pub constants: &'a mut Constants,
}

/// A scalar (one lane) or vector with a known value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Vector {
    pub scalar: Scalar,
    pub size: usize,
    lanes: [Num; 4],
}

impl Vector {
    /// A vector of `size` lanes from `lane`, normalized by encoding and decoding in the scalar type.
    fn new(scalar: Scalar, size: usize, mut lane: impl FnMut(usize) -> Num) -> Vector {
        let mut lanes = [Num::Int(0); 4];
        for (index, place) in lanes.iter_mut().enumerate().take(size) {
            *place = lane(index).rounded(scalar);
        }
        Vector { scalar, size, lanes }
    }

    /// Lane `index`; a scalar has the same value in all lanes.
    fn lane(&self, index: usize) -> Num {
        if self.size == 1 { self.lanes[0] } else { self.lanes[index] }
    }

    fn lanes(&self) -> &[Num] {
        &self.lanes[..self.size]
    }
}

/// The result bits of an integer operator; `None` for a comparison and for undefined results.
pub(crate) fn integers(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Option<u64> {
    let [a, b] = [a, b].map(|bits| Num::decode(scalar, bits));
    let result = arith::binary(op, scalar, a, b).filter(|result| result.int().is_some());
    result.map(|result| result.encode(scalar))
}

/// The constant value of `expr` with type `ty`.
pub fn fold(types: &mut Types, constants: &mut Constants, expr: Expr, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
    let mut folder = Folder { types, constants };
    if let Some(known) = folder.evaluate(expr, ty, args) {
        return Some(known);
    }
    folder.open_expression(expr, ty, args)
}

impl Folder<'_> {
    fn evaluate(&mut self, expr: Expr, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        match (expr, args) {
            (Expr::Construct, parts) => self.construct(ty, parts),
            // The implementation decides how an intermediate result is rounded.
            (Expr::Math(_), args) if args.iter().any(|arg| self.is_encoded(*arg)) => None,
            (Expr::Math(function), args) => self.math(function, ty, args),
            (Expr::Unary(op), [a]) => self.unary(op, ty, *a),
            (Expr::Binary(op), [a, b]) => self.binary(op, ty, *a, *b),
            (Expr::Convert, [a]) => self.convert(ty, *a),
            (Expr::Bitcast, [a]) => self.bitcast(ty, *a),
            (Expr::Select, [condition, accept, reject]) => self.select(ty, *condition, *accept, *reject),
            (Expr::Splat, [a]) => self.splat(ty, *a),
            (Expr::Extract(index), [a]) => self.extract(*a, index),
            (Expr::ExtractDynamic, [a, index]) => {
                let index = self.index(*index)?;
                self.extract(*a, index)
            }
            (Expr::Insert(index), [a, part]) => self.insert(*a, index, *part),
            (Expr::InsertDynamic, [a, index, part]) => {
                let index = self.index(*index)?;
                self.insert(*a, index, *part)
            }
            (Expr::Shuffle(mask), [a, b]) => self.shuffle(ty, *a, *b, mask),
            _ => None,
        }
    }

    /// Returns true if it consists of floats without arithmetic.
    fn is_encoded(&self, id: ConstId) -> bool {
        let scalar = self.types.scalar_of(self.constants.get(id).ty);
        scalar.is_some_and(|scalar| scalar.encoding().is_some())
    }

    /// Scalar type and size of a scalar or vector type.
    fn shape(&self, ty: TypeId) -> Option<(Scalar, usize)> {
        match self.types.get(ty) {
            Type::Scalar(scalar) => Some((scalar, 1)),
            Type::Vector { scalar, size } => Some((scalar, usize::from(size))),
            _ => None,
        }
    }

    /// The value of a scalar or vector constant, if known.
    fn vector(&self, id: ConstId) -> Option<Vector> {
        let constant = self.constants.get(id);
        let (scalar, size) = self.shape(constant.ty)?;
        let mut bits = [0; 4];
        match &constant.value {
            ConstValue::Bits(value) => bits[0] = *value,
            ConstValue::Zero => {}
            ConstValue::Composite(parts) => {
                for (bits, part) in bits.iter_mut().zip(parts) {
                    *bits = self.constants.bits(*part)?;
                }
            }
            ConstValue::Undef | ConstValue::Spec { .. } | ConstValue::SpecOp { .. } | ConstValue::MatrixLength(_) => {
                return None;
            }
        }
        Some(Vector { scalar, size, lanes: bits.map(|bits| Num::decode(scalar, bits)) })
    }

    /// The constant of type `ty` with lanes from `lane`.
    fn lanes(&mut self, ty: TypeId, mut lane: impl FnMut(usize) -> Option<Num>) -> Option<ConstId> {
        let (scalar, size) = self.shape(ty)?;
        if size == 1 {
            return Some(self.constants.intern(ty, ConstValue::Bits(lane(0)?.encode(scalar))));
        }
        let part = self.types.scalar(scalar);
        let mut parts = Vec::with_capacity(size);
        for index in 0..size {
            parts.push(self.constants.intern(part, ConstValue::Bits(lane(index)?.encode(scalar))));
        }
        Some(self.composite(ty, parts))
    }

    /// The constant of type `ty` with the value of `vector`.
    fn vector_of(&mut self, ty: TypeId, vector: &Vector) -> Option<ConstId> {
        self.lanes(ty, |index| Some(vector.lane(index)))
    }
}
