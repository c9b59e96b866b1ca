//! Comparisons.

use super::{Answer, Folder, Simpler, evaluate};
use crate::ir::Scalar;
use crate::kernel::{BinOp, CmpOp, Op, Ty, UnOp};

impl Folder<'_> {
    pub fn compare(&mut self, op: CmpOp, scalar: Scalar) -> Answer {
        if self.known(0).is_some() && self.known(1).is_none() {
            return Some(Simpler::Op(Op::Cmp(mirrored(op), scalar), vec![self.args[1], self.args[0]]));
        }
        if scalar.is_float() {
            return None;
        }
        if self.args[0] == self.args[1] {
            return self.number(Ty::Bool, matches!(op, CmpOp::Eq | CmpOp::Le | CmpOp::Ge).into());
        }
        let with = self.known(1)?;
        if scalar.is_bool() {
            return self.with_bool(op, with);
        }
        self.by_range(op, scalar, with).or_else(|| self.through(op, scalar, with))
    }

    fn with_bool(&mut self, op: CmpOp, with: u64) -> Answer {
        match (op, with != 0) {
            (CmpOp::Eq, true) | (CmpOp::Ne, false) => self.is(self.args[0]),
            (CmpOp::Eq, false) | (CmpOp::Ne, true) => {
                Some(Simpler::Op(Op::Un(UnOp::Not, Scalar::BOOL), vec![self.args[0]]))
            }
            _ => None,
        }
    }

    /// The answer that the range of an operand decides.
    fn by_range(&mut self, op: CmpOp, scalar: Scalar, with: u64) -> Answer {
        let range = self.range(0);
        let ones = u64::MAX >> (64 - Ty::of(scalar).bits());
        if let Some(truth) = beyond_the_signed(op, scalar, with, ones >> 1) {
            return self.number(Ty::Bool, truth.into());
        }
        let sign = if scalar.is_signed() { ones / 2 + 1 } else { 0 };
        // True if the operand is negative and the constant is not; `None` if the signs are equal or unknown.
        let is_less = match (range.must & sign != 0, range.may & sign == 0, with & sign != 0) {
            (true, _, false) => Some(true),
            (_, true, true) => Some(false),
            _ => None,
        };
        let is_one_sign = if with & sign == 0 { range.may & sign == 0 } else { range.must & sign != 0 };
        let differs = range.most < with || with & !range.may != 0 || range.must & !with != 0;
        let truth = match op {
            CmpOp::Eq if differs => false,
            CmpOp::Ne if differs => true,
            CmpOp::Lt | CmpOp::Le if is_less.is_some() => is_less == Some(true),
            CmpOp::Gt | CmpOp::Ge if is_less.is_some() => is_less == Some(false),
            // Numbers of one sign are in the order of their bits.
            _ if !is_one_sign => return None,
            CmpOp::Lt if range.most < with => true,
            CmpOp::Lt if with <= range.must => false,
            CmpOp::Le if range.most <= with => true,
            CmpOp::Le if with < range.must => false,
            CmpOp::Gt if range.most <= with => false,
            CmpOp::Gt if with < range.must => true,
            CmpOp::Ge if range.most < with => false,
            CmpOp::Ge if with <= range.must => true,
            _ => return None,
        };
        self.number(Ty::Bool, truth.into())
    }

    /// Looks through an operation that keeps different values different.
    fn through(&mut self, op: CmpOp, scalar: Scalar, with: u64) -> Answer {
        if !matches!(op, CmpOp::Eq | CmpOp::Ne) {
            return None;
        }
        if let Some(answer) = self.through_bool(op, with) {
            return Some(answer);
        }
        for (inner, back) in [(BinOp::Add, BinOp::Sub), (BinOp::Xor, BinOp::Xor)] {
            if let Some((value, constant)) = self.made_by(self.args[0], inner, scalar) {
                let with = evaluate(Op::Bin(back, scalar), &[with, constant])?;
                let with = self.kernel.constant(Ty::of(scalar), with);
                return Some(Simpler::Op(self.op, vec![value, with]));
            }
        }
        None
    }

    /// A bool converted to a number is compared as a bool.
    fn through_bool(&mut self, op: CmpOp, with: u64) -> Answer {
        let inst = self.kernel.definition(self.args[0])?;
        match self.kernel.insts[inst].op {
            Op::Convert(Scalar::BOOL, to) if to.is_int() && with <= 1 => {
                let with = self.kernel.constant(Ty::Bool, with);
                Some(Simpler::Op(Op::Cmp(op, Scalar::BOOL), vec![self.inner_arg(inst, 0), with]))
            }
            _ => None,
        }
    }
}

/// The result of a signed comparison with the minimum or maximum, if it is the same for every number.
fn beyond_the_signed(op: CmpOp, scalar: Scalar, with: u64, greatest: u64) -> Option<bool> {
    match op {
        CmpOp::Lt | CmpOp::Ge if scalar.is_signed() && with == greatest + 1 => Some(op == CmpOp::Ge),
        CmpOp::Gt | CmpOp::Le if scalar.is_signed() && with == greatest => Some(op == CmpOp::Le),
        _ => None,
    }
}

/// The comparison with swapped operands.
fn mirrored(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Lt => CmpOp::Gt,
        CmpOp::Le => CmpOp::Ge,
        CmpOp::Gt => CmpOp::Lt,
        CmpOp::Ge => CmpOp::Le,
        op => op,
    }
}

/// The negated comparison; with possible NaNs, only equality has one.
pub fn opposite(op: CmpOp, scalar: Scalar) -> Option<CmpOp> {
    Some(match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        _ if scalar.is_float() => return None,
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Ge => CmpOp::Lt,
        CmpOp::Gt => CmpOp::Le,
        CmpOp::Le => CmpOp::Gt,
    })
}
