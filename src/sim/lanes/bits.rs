//! Lane values as bits: the numbers that the reference and the primitives compute with in the simulator.

use crate::ir::Scalar;
use crate::kernel::arith;
use crate::kernel::{BinOp, CmpOp};
use crate::lane::value::{Domain, LaneValue};
use crate::lane::{InvertibleOp, ReduceOp};

/// The bits of a value and the number of its operand, which determines its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datum {
    pub bits: u64,
    pub input: u8,
}

/// Arithmetic on the values of one operation.
pub struct Bits {
    /// Types of its first and its second operand.
    types: [Scalar; 2],
}

impl Bits {
    pub fn new(types: [Scalar; 2]) -> Bits {
        Bits { types }
    }

    fn compare(&self, op: CmpOp, a: Datum, b: Datum) -> bool {
        let ty = self.types[usize::from(a.input).min(1)];
        let mut out = [0];
        arith::cmp(op, ty, &mut out, &[a.bits], &[b.bits]);
        out[0] != 0
    }
}

/// One reduction step of two values.
pub fn fold(op: ReduceOp, ty: Scalar, a: u64, b: u64) -> u64 {
    let mut out = [0];
    // Every reduction operator is defined for all values.
    arith::bin(arith::fold_op(op), ty, &mut out, &[a], &[b]);
    out[0]
}

impl Domain for Bits {
    type Data = Datum;

    fn combine(&mut self, op: ReduceOp, a: Datum, b: Datum) -> Datum {
        Datum { bits: fold(op, self.types[0], a.bits, b.bits), input: a.input }
    }

    fn combine_unordered(&mut self, op: ReduceOp, values: &[Datum]) -> Datum {
        let first_two = values.iter().copied().reduce(|a, b| self.combine(op, a, b));
        first_two.unwrap_or_else(|| self.identity(op))
    }

    fn remove(&mut self, op: InvertibleOp, total: Datum, part: Datum) -> Option<Datum> {
        let mut out = [0];
        let op = match op {
            InvertibleOp::Add => BinOp::Sub,
            InvertibleOp::Xor => BinOp::Xor,
        };
        arith::bin(op, self.types[0], &mut out, &[total.bits], &[part.bits]);
        Some(Datum { bits: out[0], input: total.input })
    }

    fn identity(&mut self, op: ReduceOp) -> Datum {
        Datum { bits: arith::identity(op, self.types[0]), input: 0 }
    }

    fn neutral(&mut self, op: ReduceOp) -> Datum {
        Datum { bits: arith::neutral(op, self.types[0]), input: 0 }
    }

    fn zero(&mut self) -> Datum {
        Datum { bits: 0, input: 0 }
    }

    fn equal(&self, a: Datum, b: Datum) -> bool {
        self.compare(CmpOp::Eq, a, b)
    }

    fn same(&self, a: Datum, b: Datum) -> bool {
        a.bits == b.bits
    }

    fn less(&self, a: Datum, b: Datum) -> bool {
        self.compare(CmpOp::Lt, a, b)
    }
}

/// The bits of a result, or `None` if it is undefined.
pub fn of(value: LaneValue<Datum>) -> Option<u64> {
    match value {
        LaneValue::Poison => None,
        LaneValue::Data(datum) => Some(datum.bits),
        LaneValue::Index(index) => Some(index.into()),
        LaneValue::Bool(value) => Some(value.into()),
        // The simulator has no lanes beyond 64.
        LaneValue::Ballot(ballot) => Some(ballot as u64),
    }
}
