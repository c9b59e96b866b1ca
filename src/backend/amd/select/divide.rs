//! Quotients and remainders of integers, which no generation divides.
//!
//! 32 bits: a reciprocal by the float unit, made exact by two corrections (LLVM: `AMDGPUCodeGenPrepare::expandDivRem32`).
//! 64 bits: one bit per round.

use super::arithmetic::number;
use super::emit::{FALSE, VCC};
use super::float::float;
use super::{Selector, Words};
use crate::backend::amd::machine::Operand;
use crate::backend::amd::mnemonic::Operation;
use crate::ir::Scalar;
use crate::kernel::BinOp;
use smallvec::smallvec;

/// A little below 2^32, so that the reciprocal is never too large.
const SCALE: f32 = f32::from_bits(0x4f7f_fffe);

impl Selector<'_> {
    /// `BinOp::Div` or `BinOp::Rem` of 32 bits.
    pub fn divide(&mut self, op: BinOp, is_signed: bool, operands: [Operand; 2]) -> Operand {
        let [a, b] = operands.map(|operand| self.in_vector(operand));
        if !is_signed {
            return self.divide_unsigned(op, a, b);
        }
        let signs = [a, b].map(|word| self.vector(Operation::AshrI32, &[number(31), word]));
        let [x, y] = [(a, signs[0]), (b, signs[1])].map(|(word, sign)| self.flipped(word, sign));
        let result = self.divide_unsigned(op, x, y);
        let sign = match op {
            BinOp::Div => self.vector(Operation::XorB32, &signs),
            _ => signs[0],
        };
        self.flipped(result, sign)
    }

    /// `(word ^ sign) - sign`: the negative where the sign is all ones.
    fn flipped(&mut self, word: Operand, sign: Operand) -> Operand {
        let flipped = self.vector(Operation::XorB32, &[word, sign]);
        self.vector(Operation::SubU32, &[flipped, sign])
    }

    fn divide_unsigned(&mut self, op: BinOp, a: Operand, b: Operand) -> Operand {
        use Operation as O;
        let inverse = self.inverse(b);
        let quotient = self.vector(O::MulHiU32, &[a, inverse]);
        let product = self.vector(O::MulLoU32, &[quotient, b]);
        let mut rest = self.vector(O::SubU32, &[a, product]);
        if op == BinOp::Div {
            let first = self.one_more_where_not_less(quotient, rest, b);
            rest = self.corrected_rest(rest, b);
            return self.one_more_where_not_less(first, rest, b);
        }
        for _ in 0..2 {
            rest = self.corrected_rest(rest, b);
        }
        rest
    }

    fn one_more_where_not_less(&mut self, quotient: Operand, rest: Operand, b: Operand) -> Operand {
        let is_more = self.compare_lanes("ge_u32", rest, b);
        let next = self.vector(Operation::AddU32, &[number(1), quotient]);
        self.choose(is_more, next, quotient)
    }

    /// `rest - b` where that is not negative: a difference below zero is a large number.
    fn corrected_rest(&mut self, rest: Operand, b: Operand) -> Operand {
        let less = self.vector(Operation::SubU32, &[rest, b]);
        self.vector(Operation::MinU32, &[rest, less])
    }

    /// About 2^32 / b, never more, and at most 2 less than needed.
    fn inverse(&mut self, b: Operand) -> Operand {
        use Operation as O;
        let as_float = self.cvt("f32_u32", b);
        let guess = self.vector(O::RcpF32, &[as_float]);
        let scaled = self.vector(O::MulF32, &[float(SCALE), guess]);
        let guess = self.cvt("u32_f32", scaled);
        let minus = self.vector(O::SubU32, &[FALSE, b]);
        let error = self.vector(O::MulLoU32, &[minus, guess]);
        let more = self.vector(O::MulHiU32, &[guess, error]);
        self.vector(O::AddU32, &[guess, more])
    }

    /// `BinOp::Div` or `BinOp::Rem` of 64 bits.
    pub fn long_divide(&mut self, op: BinOp, is_signed: bool, a: &[Operand], b: &[Operand]) -> Words {
        if !is_signed {
            return self.long_divide_unsigned(op, a, b);
        }
        let signs = [a[1], b[1]].map(|word| self.word_binary(BinOp::Shr, Scalar::I32, [word, number(31)]));
        let x = self.long_flipped(a, signs[0]);
        let y = self.long_flipped(b, signs[1]);
        let result = self.long_divide_unsigned(op, &x, &y);
        let sign = match op {
            BinOp::Div => self.word_binary(BinOp::Xor, Scalar::U32, signs),
            _ => signs[0],
        };
        self.long_flipped(&result, sign)
    }

    fn long_flipped(&mut self, a: &[Operand], sign: Operand) -> Words {
        let flipped: Words = a.iter().map(|word| self.word_binary(BinOp::Xor, Scalar::U32, [*word, sign])).collect();
        self.long_sum(true, &flipped, &[sign, sign])
    }

    /// In each of 64 rounds the dividend's highest bit moves to the remainder, and the quotient's next bit takes its place.
    fn long_divide_unsigned(&mut self, op: BinOp, a: &[Operand], b: &[Operand]) -> Words {
        let divisor: Words = b.iter().map(|word| self.in_vector(*word)).collect();
        let quotient: Words = a.iter().map(|word| self.copy_of(*word)).collect();
        let rest: Words = (0..2).map(|_| self.copy_of(FALSE)).collect();
        let rounds = self.scalars(1);
        self.raw(Operation::ScalarMove, &[rounds], &[number(64)]);
        self.repeat_while(rounds, |selector| selector.division_round(&quotient, &rest, &divisor));
        if op == BinOp::Div { quotient } else { rest }
    }

    /// A vector register of its own.
    fn copy_of(&mut self, word: Operand) -> Operand {
        let to = self.vectors(1);
        self.move_to(to, word);
        to
    }

    fn division_round(&mut self, quotient: &[Operand], rest: &[Operand], divisor: &[Operand]) {
        use Operation as O;
        let up = number(31);
        self.raw(O::AlignBits, &[rest[1]], &[rest[1], rest[0], up]);
        self.raw(O::AlignBits, &[rest[0]], &[rest[0], quotient[1], up]);
        self.raw(O::AlignBits, &[quotient[1]], &[quotient[1], quotient[0], up]);
        self.raw(O::ShlB32, &[quotient[0]], &[number(1), quotient[0]]);
        let less: Words = smallvec![
            self.vector(O::SubWithCarryOut, &[rest[0], divisor[0]]),
            self.vector(O::SubWithCarryIn, &[rest[1], divisor[1], VCC])
        ];
        for (rest, less) in rest.iter().zip(less) {
            self.raw(O::Select, &[*rest], &[less, *rest, VCC]);
        }
        let bit = self.vectors(1);
        self.raw(O::Select, &[bit], &[number(1), FALSE, VCC]);
        self.raw(O::OrB32, &[quotient[0]], &[quotient[0], bit]);
    }
}
