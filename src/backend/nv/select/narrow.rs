//! Arithmetic on values of 8 and 16 bits: widened to 32 bits, done there, and cut off again.
//!
//! For halves this gives IEEE rounding: a sum, product, quotient or square root that is rounded to 24 bits and then to
//! 11 equals the one that is rounded once.

use super::Selector;
use super::arithmetic::kind;
use crate::backend::nv::machine::{Kind, Operand, X_OR_Z};
use crate::ir::Scalar;
use crate::kernel::{BinOp, CmpOp, UnOp, Value};

const LOW_HALF: Operand = Operand::Constant(0xffff, Kind::Uint);

impl Selector<'_> {
    /// A value of 16 bits as 32 bits of the same kind.
    pub fn widen(&mut self, scalar: Scalar, value: Value) -> Operand {
        let word = self.uint(value);
        self.widen_word(scalar, word)
    }

    pub fn widen_word(&mut self, scalar: Scalar, word: Operand) -> Operand {
        match kind(scalar) {
            Kind::Uint => word,
            Kind::Sint => self.signed_field(word, 0, 16),
            Kind::Float => {
                let word = Operand::Reg(self.in_reg(word));
                self.word_in(X_OR_Z, "UP2H.F", &[word])
            }
        }
    }

    /// The low 16 bits of a word, or the half nearest to a float. 8-bit integers keep their sign.
    pub fn cut(&mut self, scalar: Scalar, word: Operand) -> Operand {
        let word = match (kind(scalar), scalar.width) {
            (Kind::Float, _) => {
                let word = Operand::Reg(self.in_reg(word));
                self.word("PK2H.F", &[word])
            }
            (Kind::Sint, 8) => self.signed_field(word, 0, 8),
            (_, 8) => return self.word("AND.U", &[word, Operand::Constant(0xff, Kind::Uint)]),
            _ => word,
        };
        self.word("AND.U", &[word, LOW_HALF])
    }

    pub fn narrow_unary(&mut self, op: UnOp, scalar: Scalar, a: Value) -> Operand {
        match op {
            UnOp::BitReverse | UnOp::BitCount | UnOp::FindMsb | UnOp::FindLsb | UnOp::Exp2 | UnOp::Log2 => {
                self.refused("this operation on 8-bit and 16-bit values")
            }
            _ => {
                let a = self.widen(scalar, a);
                let result = self.word_unary(op, kind(scalar), a);
                self.cut(scalar, result)
            }
        }
    }

    pub fn narrow_binary(&mut self, op: BinOp, scalar: Scalar, args: [Value; 2]) -> Operand {
        if op == BinOp::MulHigh {
            return self.refused("the high half of a product of 8-bit and 16-bit values");
        }
        let a = self.widen(scalar, args[0]);
        let shifts = matches!(op, BinOp::Shl | BinOp::Shr);
        let b = if shifts { self.uint(args[1]) } else { self.widen(scalar, args[1]) };
        let result = self.word_binary(op, kind(scalar), [a, b]);
        self.cut(scalar, result)
    }

    pub fn narrow_compare(&mut self, op: CmpOp, scalar: Scalar, args: [Value; 2]) -> Operand {
        let args = args.map(|arg| self.widen(scalar, arg));
        self.word_compare(op, kind(scalar), args)
    }
}
