//! Floats: only rewrites that change no bit of any result, for any operand.

use super::{Answer, Folder, Simpler};
use crate::ir::Scalar;
use crate::kernel::arith;
use crate::kernel::{BinOp, Op, Ty};

impl Folder<'_> {
    pub fn float(&mut self, op: BinOp, scalar: Scalar) -> Answer {
        let is_first = self.known(0).is_some() && self.known(1).is_none();
        if is_first && matches!(op, BinOp::Add | BinOp::Mul) {
            return Some(Simpler::Op(self.op, vec![self.args[1], self.args[0]]));
        }
        let by = self.known(1)?;
        let sign = 1 << (scalar.width - 1);
        match op {
            // -0 is neutral: -0 + -0 is -0, and 0 + -0 is 0.
            BinOp::Add if by == sign => self.is(self.args[0]),
            BinOp::Sub if by == 0 => self.is(self.args[0]),
            BinOp::Mul | BinOp::Div if by == one(scalar) => self.is(self.args[0]),
            BinOp::Div => self.reciprocal(scalar, by),
            _ => None,
        }
    }

    /// A quotient by a power of two is the product with its reciprocal, if both are normal.
    fn reciprocal(&mut self, scalar: Scalar, by: u64) -> Answer {
        let (fraction, bias) = match scalar.width {
            16 => (10, 15),
            32 => (23, 127),
            _ => (52, 1023),
        };
        let exponent = (by & !(1 << (scalar.width - 1))) >> fraction;
        if by & ((1 << fraction) - 1) != 0 || exponent == 0 || exponent >= 2 * bias {
            return None;
        }
        let sign = by >> (scalar.width - 1) << (scalar.width - 1);
        let reciprocal = self.kernel.constant(Ty::of(scalar), sign | (2 * bias - exponent) << fraction);
        Some(Simpler::Op(Op::Bin(BinOp::Mul, scalar), vec![self.args[0], reciprocal]))
    }
}

/// The bits of 1.
fn one(scalar: Scalar) -> u64 {
    arith::identity(crate::lane::ReduceOp::Mul, scalar)
}
