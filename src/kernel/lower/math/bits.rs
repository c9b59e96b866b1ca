//! Functions of integers: GLSL 4.60 sections 8.3 and 8.8, and WGSL's bit counts.

use super::super::arith::unsigned;
use super::Lower;
use crate::ir::{MathFn, Scalar, ScalarKind};
use crate::kernel::{BinOp, CmpOp, Op, TernOp, Ty, UnOp, Value};

impl Lower<'_> {
    /// A function of integers of the types `types`, with a result of type `to`.
    pub fn integer(&mut self, function: MathFn, types: &[Scalar], to: Scalar, args: &[Value]) -> Value {
        let scalar = types[0];
        match (function, args) {
            (MathFn::BitfieldExtract, [base, offset, bits]) => {
                let (offset, bits) = (self.resized(types[1], 32, *offset), self.resized(types[2], 32, *bits));
                self.b.tern(TernOp::BitExtract, scalar, [*base, offset, bits])
            }
            (MathFn::BitfieldInsert, [base, insert, offset, bits]) => {
                let (offset, bits) = (self.resized(types[2], 32, *offset), self.resized(types[3], 32, *bits));
                self.b.value(Op::BitInsert(scalar), &[*base, *insert, offset, bits], Ty::of(scalar))
            }
            (MathFn::Clamp, [x, low, high]) => self.clamp(scalar, *x, *low, *high),
            (MathFn::Min, [x, y]) => self.b.bin(BinOp::Min, scalar, *x, *y),
            (MathFn::Max, [x, y]) => self.b.bin(BinOp::Max, scalar, *x, *y),
            (MathFn::Mod, [x, y]) => self.modulo(scalar, *x, *y),
            _ => self.integer1(function, scalar, to, args[0]),
        }
    }

    fn integer1(&mut self, function: MathFn, scalar: Scalar, to: Scalar, x: Value) -> Value {
        match function {
            MathFn::Abs if !scalar.is_signed() => x,
            MathFn::Abs => self.b.un(UnOp::Abs, scalar, x),
            MathFn::Sign => self.integer_sign(scalar, x),
            MathFn::BitfieldReverse => self.b.un(UnOp::BitReverse, scalar, x),
            MathFn::BitCount => self.counted(UnOp::BitCount, scalar, to, x),
            MathFn::FindLsb => self.counted(UnOp::FindLsb, scalar, to, x),
            MathFn::FindMsb => self.counted(UnOp::FindMsb, scalar, to, x),
            MathFn::CountLeadingZeros => self.leading_zeros(scalar, to, x),
            _ => self.trailing_zeros(scalar, to, x),
        }
    }

    /// A count, which may be -1, in the result's type.
    fn counted(&mut self, op: UnOp, scalar: Scalar, to: Scalar, x: Value) -> Value {
        let count = self.b.un(op, scalar, x);
        let signed = |scalar: Scalar| Scalar { kind: ScalarKind::Sint, ..scalar };
        // An unsigned byte is zero-extended, a count of -1 included.
        let count = self.converted(scalar, signed(scalar), count);
        self.converted(signed(scalar), to, count)
    }

    fn integer_sign(&mut self, scalar: Scalar, x: Value) -> Value {
        let ty = Ty::of(scalar);
        let one = self.b.constant(ty, 1);
        let least = if scalar.is_signed() { self.b.constant(ty, u64::MAX) } else { self.b.constant(ty, 0) };
        self.clamp(scalar, x, least, one)
    }

    /// `width - 1 - FindMsb`, with the bits as unsigned.
    fn leading_zeros(&mut self, scalar: Scalar, to: Scalar, x: Value) -> Value {
        let bits = unsigned(scalar.width);
        let x = self.converted(scalar, bits, x);
        let highest = self.counted(UnOp::FindMsb, bits, to, x);
        let last = self.b.constant(Ty::of(to), u64::from(scalar.width) - 1);
        self.sub(to, last, highest)
    }

    /// `FindLsb`, or the width if no bit is set: -1 is the largest unsigned number.
    fn trailing_zeros(&mut self, scalar: Scalar, to: Scalar, x: Value) -> Value {
        let bits = unsigned(to.width);
        let lowest = self.counted(UnOp::FindLsb, scalar, bits, x);
        let width = self.b.constant(Ty::of(to), scalar.width.into());
        let count = self.b.bin(BinOp::Min, bits, lowest, width);
        self.converted(bits, to, count)
    }

    /// The remainder with the sign of the divisor.
    fn modulo(&mut self, scalar: Scalar, x: Value, y: Value) -> Value {
        let rest = self.b.bin(BinOp::Rem, scalar, x, y);
        if !scalar.is_signed() {
            return rest;
        }
        let zero = self.b.constant(Ty::of(scalar), 0);
        let signs = self.b.bin(BinOp::Xor, scalar, rest, y);
        let (differ, some) = (self.less(scalar, signs, zero), self.b.cmp(CmpOp::Ne, scalar, rest, zero));
        let wrong = self.b.bin(BinOp::And, Scalar::BOOL, differ, some);
        let moved = self.add(scalar, rest, y);
        self.b.select(wrong, moved, rest)
    }
}
