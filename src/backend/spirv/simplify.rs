//! Integer operators with constants, for `-O` and `-Os`: identities need no instruction. With `-O`, `(x + 1) + 2`
//! becomes `x + 3`.
//!
//! This happens during writing because variables are values here: the addresses in the copies of an unrolled loop
//! become equal instructions, which [`super::share`] writes once.

use super::function::Body;
use super::math::binary_opcode;
use crate::backend::Optimize;
use crate::ir::fold::identity;
use crate::ir::{BinaryOp, Scalar, Type, TypeId, fold};
use crate::lane::ReduceOp;
use rspirv::spirv::{Op, Word};

impl Body<'_, '_> {
    /// Returns true if [`Body::simplified`] handles an operator on operands of a type.
    pub fn can_simplify(&self, operand: TypeId, ty: TypeId) -> bool {
        self.shares && self.decorations == 0 && operand == ty && self.integer(ty).is_some()
    }

    fn integer(&self, ty: TypeId) -> Option<Scalar> {
        match self.m.module.types.get(ty) {
            Type::Scalar(scalar) if scalar.is_int() => Some(scalar),
            _ => None,
        }
    }

    /// An operator on two integers of the result's type.
    pub fn simplified(&mut self, op: BinaryOp, ty: TypeId, [mut a, mut b]: [Word; 2]) -> Word {
        let Some((scalar, opcode)) = self.integer(ty).and_then(|of| Some((of, binary_opcode(op, of.kind)?))) else {
            return self.m.internal("an operator on operands that it does not take");
        };
        if reduction(op).is_some() && self.m.constants.bits(a).is_some() {
            (a, b) = (b, a);
        }
        let Some(by) = self.m.constants.bits(b) else { return self.by_column(opcode, ty, &[a, b]) };
        if is_shift(op) {
            return self.by_constant(op, (ty, scalar), a, (b, by));
        }
        if let Some(known) = self.m.constants.bits(a).and_then(|a| fold::integers(op, scalar, a, by)) {
            return self.m.scalar_constant(scalar, known);
        }
        match self.joined(op, scalar, a, by) {
            Some((op, a, by)) => {
                let b = self.m.scalar_constant(scalar, by);
                self.by_constant(op, (ty, scalar), a, (b, by))
            }
            None => self.by_constant(op, (ty, scalar), a, (b, by)),
        }
    }

    /// An operator whose second operand is a constant.
    fn by_constant(&mut self, op: BinaryOp, (ty, scalar): (TypeId, Scalar), a: Word, (b, by): (Word, u64)) -> Word {
        if Some(by) == identity_of(op, scalar) {
            return a;
        }
        if Some(by) == absorbing(op, scalar) {
            return b;
        }
        let Some(opcode) = binary_opcode(op, scalar.kind) else {
            return self.m.internal("an operator on operands that it does not take");
        };
        let word = self.by_column(opcode, ty, &[a, b]);
        self.shared.note(opcode, word, &[a, b]);
        word
    }

    /// `(x op c) op by` as one operation on `x`; differences are sums. Not for size, because each step of `x++` would
    /// need a separate constant.
    fn joined(&self, op: BinaryOp, scalar: Scalar, a: Word, by: u64) -> Option<(BinaryOp, Word, u64)> {
        if self.m.options.manner.optimize != Optimize::Speed {
            return None;
        }
        let (inner, [x, c]) = self.shared.operands(a)?;
        let c = self.m.constants.bits(c)?;
        let negated = |bits: u64| fold::integers(BinaryOp::Sub, scalar, 0, bits);
        let summand = |is_difference: bool, bits: u64| if is_difference { negated(bits) } else { Some(bits) };
        let (op, c, by) = match (inner, op) {
            (Op::IAdd | Op::ISub, BinaryOp::Add | BinaryOp::Sub) => {
                (BinaryOp::Add, summand(inner == Op::ISub, c)?, summand(op == BinaryOp::Sub, by)?)
            }
            _ if reduction(op).is_some() && binary_opcode(op, scalar.kind) == Some(inner) => (op, c, by),
            _ => return None,
        };
        Some((op, x, fold::integers(op, scalar, c, by)?))
    }
}

/// The reduction that repeated use of an operator on integers computes, if their order does not matter.
const fn reduction(op: BinaryOp) -> Option<ReduceOp> {
    match op {
        BinaryOp::Add => Some(ReduceOp::Add),
        BinaryOp::Mul => Some(ReduceOp::Mul),
        BinaryOp::And => Some(ReduceOp::And),
        BinaryOp::Or => Some(ReduceOp::Or),
        BinaryOp::Xor => Some(ReduceOp::Xor),
        _ => None,
    }
}

const fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::Shr)
}

/// The second operand for which an operator returns its first one.
fn identity_of(op: BinaryOp, scalar: Scalar) -> Option<u64> {
    match op {
        BinaryOp::Sub | BinaryOp::Shl | BinaryOp::Shr => Some(0),
        BinaryOp::Div => Some(1),
        _ => reduction(op).map(|op| identity(op, scalar)),
    }
}

/// The second operand that is the result for each first one.
fn absorbing(op: BinaryOp, scalar: Scalar) -> Option<u64> {
    match op {
        BinaryOp::Mul | BinaryOp::And => Some(0),
        BinaryOp::Or => Some(identity(ReduceOp::And, scalar)),
        _ => None,
    }
}
