//! Integers, and bools as one-bit integers.

use super::{Answer, Folder, Simpler, evaluate};
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::{BinOp, Op, Ty, UnOp, Value};

impl Folder<'_> {
    pub fn int(&mut self, op: BinOp, scalar: Scalar) -> Answer {
        if self.known(0).is_some() && is_commutative(op) {
            return Some(Simpler::Op(self.op, vec![self.args[1], self.args[0]])).filter(|_| self.known(1).is_none());
        }
        if self.args[0] == self.args[1] {
            return self.with_itself(op, scalar);
        }
        if self.known(0) == Some(0) && op == BinOp::Sub {
            return Some(Simpler::Op(Op::Un(UnOp::Neg, scalar), vec![self.args[1]]));
        }
        if self.known(0) == Some(0) && matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Div | BinOp::Rem) {
            return self.number(Ty::of(scalar), 0);
        }
        if op == BinOp::Xor
            && let Some(other) = self.cancelled(scalar)
        {
            return self.is(other);
        }
        let by = self.known(1)?;
        self.with_constant(op, scalar, by)
            .or_else(|| self.negative_shifted(op, scalar, by))
            .or_else(|| self.by_power_of_two(op, scalar, by))
            .or_else(|| self.reassociated(op, scalar))
    }

    fn with_itself(&mut self, op: BinOp, scalar: Scalar) -> Answer {
        match op {
            BinOp::And | BinOp::Or | BinOp::Min | BinOp::Max => self.is(self.args[0]),
            BinOp::Xor | BinOp::Sub => self.number(Ty::of(scalar), 0),
            _ => None,
        }
    }

    /// `b` of `a ^ (a ^ b)`, in any order of the operands.
    fn cancelled(&self, scalar: Scalar) -> Option<Value> {
        [(0, 1), (1, 0)].into_iter().find_map(|(a, inner)| {
            let inst = self.kernel.definition(self.args[inner])?;
            let [left, right] = self.kernel.args(inst) else { return None };
            let is_xor = self.kernel.insts[inst].op == Op::Bin(BinOp::Xor, scalar);
            match self.args[a] {
                a if is_xor && a == *left => Some(*right),
                a if is_xor && a == *right => Some(*left),
                _ => None,
            }
        })
    }

    /// Neutral and dominant constants, also by the operand's range.
    fn with_constant(&mut self, op: BinOp, scalar: Scalar, by: u64) -> Answer {
        let (ty, range) = (Ty::of(scalar), self.range(0));
        let ones = u64::MAX >> (64 - ty.bits());
        let unsigned = !scalar.is_signed() || range.most <= ones >> 1 && by <= ones >> 1;
        let [least, greatest] = if scalar.is_signed() { [ones / 2 + 1, ones / 2] } else { [0, ones] };
        match op {
            BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr if by == 0 => {
                self.is(self.args[0])
            }
            BinOp::Mul | BinOp::And if by == 0 => self.number(ty, 0),
            BinOp::Mul | BinOp::Div if by == 1 => self.is(self.args[0]),
            BinOp::Mul if by == ones => Some(Simpler::Op(Op::Un(UnOp::Neg, scalar), vec![self.args[0]])),
            BinOp::Rem if by == 1 => self.number(ty, 0),
            BinOp::And if range.may & !by == 0 => self.is(self.args[0]),
            BinOp::And if range.may & by == 0 => self.number(ty, 0),
            BinOp::Or if by == ones => self.number(ty, ones),
            BinOp::Xor if by == ones => Some(Simpler::Op(Op::Un(UnOp::Not, scalar), vec![self.args[0]])),
            BinOp::Shr if unsigned && by < 64 && range.most >> by == 0 => self.number(ty, 0),
            BinOp::Rem if unsigned && range.most < by => self.is(self.args[0]),
            BinOp::Div if unsigned && range.most < by => self.number(ty, 0),
            BinOp::Min if by == greatest => self.is(self.args[0]),
            BinOp::Min if by == least => self.number(ty, least),
            BinOp::Max if by == least => self.is(self.args[0]),
            BinOp::Max if by == greatest => self.number(ty, greatest),
            BinOp::Min if unsigned && range.most <= by => self.is(self.args[0]),
            BinOp::Max if unsigned && range.most <= by => self.number(ty, by),
            _ => None,
        }
    }

    /// An arithmetic shift of a negative number becomes a logical one, of the inverse if that is available. NVIDIA's
    /// compiler assumes that the result of such a shift by 1 to 3 is positive when it compares it.
    fn negative_shifted(&mut self, op: BinOp, scalar: Scalar, by: u64) -> Answer {
        let ty = Ty::of(scalar);
        let is_negative = self.range(0).must >> (ty.bits() - 1) == 1;
        if op != BinOp::Shr || !scalar.is_signed() || !is_negative || by >= scalar.width.into() {
            return None;
        }
        let logical = Op::Bin(BinOp::Shr, Scalar { kind: ScalarKind::Uint, ..scalar });
        let inner = self.kernel.definition(self.args[0]);
        let inverse = inner.filter(|inner| matches!(self.kernel.insts[*inner].op, Op::Un(UnOp::Not, _)));
        Some(if let Some(inverse) = inverse {
            let new = (logical, vec![self.inner_arg(inverse, 0), self.args[1]]);
            Simpler::OfNew { op: Op::Un(UnOp::Not, scalar), new, rest: None }
        } else {
            let ones = u64::MAX >> (64 - ty.bits());
            let filled = self.kernel.constant(ty, ones & !(ones >> by));
            Simpler::OfNew { op: Op::Bin(BinOp::Or, scalar), new: (logical, self.args.to_vec()), rest: Some(filled) }
        })
    }

    /// Products, quotients and remainders by powers of two.
    fn by_power_of_two(&mut self, op: BinOp, scalar: Scalar, by: u64) -> Answer {
        let (ty, value) = (Ty::of(scalar), self.args[0]);
        let ones = u64::MAX >> (64 - ty.bits());
        let unsigned = !scalar.is_signed() || self.range(0).most <= ones >> 1 && by <= ones >> 1;
        // An 8-bit value is stored in 16 bits, but a shift by its own width is undefined.
        if !by.is_power_of_two() || by.trailing_zeros() >= scalar.width.into() {
            return None;
        }
        let amount = self.kernel.constant(Ty::B32, by.trailing_zeros().into());
        match op {
            BinOp::Mul => Some(Simpler::Op(Op::Bin(BinOp::Shl, scalar), vec![value, amount])),
            BinOp::Div if unsigned => {
                let logical = Scalar { kind: ScalarKind::Uint, ..scalar };
                Some(Simpler::Op(Op::Bin(BinOp::Shr, logical), vec![value, amount]))
            }
            BinOp::Rem if unsigned => {
                let mask = self.kernel.constant(ty, by - 1);
                Some(Simpler::Op(Op::Bin(BinOp::And, scalar), vec![value, mask]))
            }
            _ => None,
        }
    }

    /// `(x op c) op d` becomes `x op (c op d)`; `x - c` becomes `x + -c`, so that differences are included.
    fn reassociated(&mut self, op: BinOp, scalar: Scalar) -> Answer {
        let ty = Ty::of(scalar);
        if op == BinOp::Sub {
            let negated = evaluate(Op::Un(UnOp::Neg, scalar), &[self.known(1)?])?;
            let negated = self.kernel.constant(ty, negated);
            return Some(Simpler::Op(Op::Bin(BinOp::Add, scalar), vec![self.args[0], negated]));
        }
        let (value, inner, outer) = self.nested(op, scalar)?;
        let (both, ty) = match op {
            BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor => {
                (evaluate(Op::Bin(op, scalar), &[inner, outer])?, ty)
            }
            BinOp::Shl | BinOp::Shr if inner + outer < scalar.width.into() => (inner + outer, Ty::B32),
            _ => return None,
        };
        let both = self.kernel.constant(ty, both);
        Some(Simpler::Op(Op::Bin(op, scalar), vec![value, both]))
    }
}

/// Returns true if the operands may change places.
pub fn is_commutative(op: BinOp) -> bool {
    use BinOp as B;
    matches!(op, B::Add | B::Mul | B::MulHigh | B::And | B::Or | B::Xor | B::Min | B::Max)
}
