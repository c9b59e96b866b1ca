//! GL_EXT_integer_dot_product, in the arithmetic that every target has.

use super::{Lower, Scalars};
use crate::ir::{MathFn, Scalar};
use crate::kernel::{BinOp, CmpOp, TernOp, Value};

impl Lower<'_> {
    /// The sum of the products in the type `to`; `types` are the types of the factors.
    pub fn int_dot(&mut self, function: MathFn, to: Scalar, types: &[Scalar], args: &[Scalars]) -> Value {
        let packed = matches!(function, MathFn::DotPacked | MathFn::DotPackedAccSat);
        let [left, right] = [0, 1].map(|at| match packed {
            true => self.bytes_of(types[at], args[at][0]),
            false => args[at].iter().map(|factor| self.widened(types[at], to.width, *factor)).collect(),
        });
        let mut products = left.iter().zip(&right);
        let first = products.next().map(|(a, b)| self.mul(to, *a, *b));
        let sum = products.fold(first, |sum, (a, b)| {
            let product = self.mul(to, *a, *b);
            sum.map(|sum| self.add(to, sum, product))
        });
        let sum = sum.unwrap_or_else(|| self.b.u32(0));
        match args.get(2) {
            Some(other) => self.add_saturating(to, sum, other[0]),
            None => sum,
        }
    }

    /// A factor in the width of the result, extended by its own sign.
    fn widened(&mut self, from: Scalar, width: u8, value: Value) -> Value {
        self.converted(from, Scalar { width, ..from }, value)
    }

    /// The four bytes of a word.
    fn bytes_of(&mut self, scalar: Scalar, word: Value) -> Scalars {
        let bits = self.b.u32(8);
        let byte = |at: u32| {
            let offset = self.b.u32(8 * at);
            self.b.tern(TernOp::BitExtract, scalar, [word, offset, bits])
        };
        (0..4).map(byte).collect()
    }

    /// The saturated sum.
    fn add_saturating(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        let sum = self.add(scalar, a, b);
        let all = u64::MAX >> (64 - u32::from(scalar.width));
        let ty = crate::kernel::Ty::of(scalar);
        if !scalar.is_signed() {
            let wrapped = self.less(scalar, sum, a);
            let most = self.b.constant(ty, all);
            return self.b.select(wrapped, most, sum);
        }
        // It overflows if both operands have the same sign and the sum has the other.
        let bits = crate::kernel::lower::arith::unsigned(scalar.width);
        let [from_a, from_b] = [a, b].map(|operand| self.b.bin(BinOp::Xor, bits, operand, sum));
        let differs = self.b.bin(BinOp::And, bits, from_a, from_b);
        let (zero, most, least) =
            (self.b.constant(ty, 0), self.b.constant(ty, all >> 1), self.b.constant(ty, (all >> 1) + 1));
        let overflows = self.b.cmp(CmpOp::Lt, scalar, differs, zero);
        let is_negative = self.b.cmp(CmpOp::Lt, scalar, b, zero);
        let end = self.b.select(is_negative, least, most);
        self.b.select(overflows, end, sum)
    }
}
