//! Rewrites one operation into something simpler with the same result: a constant, an operand, or a cheaper operation.
//!
//! Exact rules only. Integers wrap, so they may be re-associated with constants. For floats, every rounding, sign of
//! zero and NaN is preserved: `x + 0` is not `x`, `x * 0` is not 0.

mod compare;
mod float;
mod int;
mod other;

pub use int::is_commutative;

use super::range::{Range, Ranges};
use crate::ir::Scalar;
use crate::kernel::arith::compute;
use crate::kernel::{BinOp, Kernel, Op, Ty, UnOp, Value};

/// The simpler form of an operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Simpler {
    /// A value that is there.
    Is(Value),
    /// Another operation, to be examined again.
    Op(Op, Vec<Value>),
    /// An operation on the result of a new one, which has the same type, and on another value.
    OfNew { op: Op, new: (Op, Vec<Value>), rest: Option<Value> },
}

/// The result of a rule; `None` if it does not apply.
type Answer = Option<Simpler>;

/// The operation under its eyes.
struct Folder<'k> {
    kernel: &'k mut Kernel,
    ranges: &'k Ranges,
    op: Op,
    args: &'k [Value],
}

/// A simpler equivalent of a pure operation with one result, if there is one.
pub fn fold(kernel: &mut Kernel, ranges: &Ranges, op: Op, args: &[Value], ty: Ty) -> Answer {
    let mut folder = Folder { kernel, ranges, op, args };
    folder.constant(ty).map(Simpler::Is).or_else(|| folder.rules())
}

/// The result of an operation on constants; `None` if it is undefined or not arithmetic.
pub fn evaluate(op: Op, args: &[u64]) -> Option<u64> {
    let is_constant = matches!(
        op,
        Op::Un(..) | Op::Bin(..) | Op::Cmp(..) | Op::Tern(..) | Op::BitInsert(_) | Op::Convert(..) | Op::Join
    ) || matches!(op, Op::Low | Op::High);
    let mut out = [0];
    let undefined = is_constant.then(|| compute(op, &mut out, |n| std::slice::from_ref(&args[n])))?;
    (undefined & 1 == 0).then_some(out[0])
}

impl Folder<'_> {
    fn constant(&mut self, ty: Ty) -> Option<Value> {
        let args: Option<Vec<u64>> = self.args.iter().map(|arg| self.kernel.as_constant(*arg)).collect();
        let bits = evaluate(self.op, &args?)?;
        Some(self.kernel.constant(ty, bits))
    }

    fn rules(&mut self) -> Answer {
        match self.op {
            Op::Bin(op, scalar) if scalar.is_float() => self.float(op, scalar),
            Op::Bin(op, scalar) => self.int(op, scalar),
            Op::Un(op, scalar) => self.unary(op, scalar),
            Op::Cmp(op, scalar) => self.compare(op, scalar),
            _ => self.other(),
        }
    }

    /// Two negations cancel.
    fn unary(&mut self, op: UnOp, scalar: Scalar) -> Answer {
        let inner = self.kernel.definition(self.args[0])?;
        match (op, self.kernel.insts[inner].op) {
            (UnOp::Neg | UnOp::Not, Op::Un(before, of)) if before == op && of == scalar => {
                self.is(self.inner_arg(inner, 0))
            }
            (UnOp::Not, Op::Cmp(compare, of)) if scalar.is_bool() => {
                let opposite = compare::opposite(compare, of)?;
                Some(Simpler::Op(Op::Cmp(opposite, of), self.kernel.args(inner).to_vec()))
            }
            _ => None,
        }
    }

    fn inner_arg(&self, inst: crate::kernel::InstId, n: usize) -> Value {
        self.kernel.args(inst)[n]
    }

    #[expect(clippy::unnecessary_wraps, reason = "it is a rule's answer")]
    fn is(&self, value: Value) -> Answer {
        Some(Simpler::Is(value))
    }

    /// A constant of the operation's type.
    fn number(&mut self, ty: Ty, bits: u64) -> Answer {
        Some(Simpler::Is(self.kernel.constant(ty, bits)))
    }

    fn known(&self, n: usize) -> Option<u64> {
        self.kernel.as_constant(self.args[n])
    }

    fn range(&self, n: usize) -> Range {
        self.ranges.of(self.kernel, self.args[n])
    }

    /// `args op constant` of the same kind as `op`, if the first operand is such an operation: its first operand and
    /// both constants.
    fn nested(&self, op: BinOp, scalar: Scalar) -> Option<(Value, u64, u64)> {
        let outer = self.known(1)?;
        let (inner, constant) = self.made_by(self.args[0], op, scalar)?;
        Some((inner, constant, outer))
    }

    /// The operands of the operation with a constant that defines a value.
    fn made_by(&self, value: Value, op: BinOp, scalar: Scalar) -> Option<(Value, u64)> {
        let inst = self.kernel.definition(value)?;
        let same = self.kernel.insts[inst].op == Op::Bin(op, scalar);
        let [a, b] = self.kernel.args(inst) else { return None };
        same.then_some(())?;
        Some((*a, self.kernel.as_constant(*b)?))
    }
}

#[cfg(test)]
mod tests;
