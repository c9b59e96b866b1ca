//! Values of 8 and 16 bits, which are computed in 32.
//!
//! 16-bit float operations without an instruction are computed in 32 bits, which rounds sums, products, quotients and
//! roots as if they were rounded once (24 bits are more than twice 11 and two).

use super::Selector;
use super::arithmetic::{number, relation};
use crate::backend::amd::machine::Operand;
use crate::backend::amd::mnemonic::Operation;
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::{BinOp, CmpOp, UnOp, Value};

/// The 32-bit type of the same kind.
const fn wide(scalar: Scalar) -> Scalar {
    Scalar { width: 32, ..scalar }
}

impl Selector<'_> {
    /// A narrow integer as 32 bits of the same kind.
    pub fn widen(&mut self, scalar: Scalar, word: Operand) -> Operand {
        if scalar.kind == ScalarKind::Sint { self.signed_field(word, 0, 16) } else { word }
    }

    /// A bit field, extended by its sign.
    pub fn signed_field(&mut self, word: Operand, first: u32, bits: u32) -> Operand {
        if self.is_vector(word) {
            return self.extract(true, word, number(first), number(bits));
        }
        self.scalar(Operation::ScalarBfeI32, &[word, number(first | bits << 16)])
    }

    /// A result of 32 bits as a narrow value: integers lose their upper bits, floats are rounded.
    pub fn cut(&mut self, scalar: Scalar, word: Operand) -> Operand {
        let word = match (scalar.kind, scalar.width) {
            (ScalarKind::Float, _) => {
                let rounded = self.cvt("f16_f32", word);
                return self.low_result(Operation::Convert, rounded);
            }
            (ScalarKind::Sint, 8) => self.signed_field(word, 0, 8),
            (_, 8) => return self.word_binary(BinOp::And, Scalar::U32, [word, number(0xff)]),
            _ => word,
        };
        self.cut_off(word)
    }

    pub fn half_unary(&mut self, op: UnOp, scalar: Scalar, a: Value) -> Operand {
        let half = self.half(a);
        let a = self.widen_half(scalar.kind, half);
        let result = self.float_unary(op, a);
        self.cut(scalar, result)
    }

    pub fn narrow_unary(&mut self, op: UnOp, scalar: Scalar, a: Operand) -> Operand {
        if scalar.is_float() {
            let (op, mask) = if op == UnOp::Neg { (BinOp::Xor, 0x8000) } else { (BinOp::And, 0x7fff) };
            return self.word_binary(op, Scalar::U32, [a, number(mask)]);
        }
        let width = u32::from(scalar.width);
        let a = self.widen(scalar, a);
        let result = match op {
            UnOp::BitReverse => {
                let reversed = self.word_unary(op, Scalar::U32, a);
                self.word_binary(BinOp::Shr, Scalar::U32, [reversed, number(32 - width)])
            }
            UnOp::BitCount => {
                let own = self.word_binary(BinOp::And, Scalar::U32, [a, number((1 << width) - 1)]);
                self.word_unary(op, Scalar::U32, own)
            }
            _ => self.word_unary(op, wide(scalar), a),
        };
        self.cut(scalar, result)
    }

    pub fn narrow_binary(&mut self, op: BinOp, scalar: Scalar, [a, b]: [Operand; 2]) -> Operand {
        let a = self.widen(scalar, a);
        let b = if matches!(op, BinOp::Shl | BinOp::Shr) { b } else { self.widen(scalar, b) };
        let result = match op {
            BinOp::Mul => self.short_product(scalar.is_signed(), [a, b]),
            BinOp::MulHigh => {
                let product = self.short_product(scalar.is_signed(), [a, b]);
                self.word_binary(BinOp::Shr, wide(scalar), [product, number(scalar.width.into())])
            }
            _ => self.word_binary(op, wide(scalar), [a, b]),
        };
        self.cut(scalar, result)
    }

    pub fn narrow_compare(&mut self, op: CmpOp, scalar: Scalar, words: [Operand; 2]) -> Operand {
        let [a, b] = words.map(|word| self.widen(scalar, word));
        self.compare_lanes(relation(op, wide(scalar)), a, b)
    }

    pub fn narrow_extract(&mut self, scalar: Scalar, base: Operand, offset: Operand, bits: Operand) -> Operand {
        let field = self.extract(scalar.is_signed(), base, offset, bits);
        self.cut(scalar, field)
    }
}
