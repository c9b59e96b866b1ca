//! Quotients and remainders of integers, for which no generation has an instruction.
//!
//! 32 bits: a floating-point reciprocal, made exact by two corrections (LLVM: `AMDGPUCodeGenPrepare::expandDivRem32`).
//! 64 bits: one bit per iteration.

use super::arithmetic::number;
use super::emit::{FALSE, VCC};
use super::float::float;
use super::{Selector, Words};
use crate::backend::amd::machine::Operand;
use crate::backend::amd::mnemonic::Operation;
use crate::ir::Scalar;
use crate::kernel::BinOp;
use smallvec::smallvec;

/// Slightly below 2^32, so that the reciprocal is never too large.
const SCALE: f32 = f32::from_bits(0x4f7f_fffe);

/// Limit of the cached parts of divisions: each occupies registers as long as it may be reused.
const KEPT: usize = 4;

/// Cached parts of a block's divisions, for others with the same divisor or the same operands.
#[derive(Debug, Default)]
pub struct Divided {
    /// Divisors, each with its reciprocal.
    inverses: Vec<(Operand, Operand)>,
    estimates: Vec<Estimate>,
    magnitudes: Vec<Magnitude>,
}

impl Divided {
    /// Clears the cache when registers or active lanes change.
    pub fn clear(&mut self) {
        self.inverses.clear();
        self.estimates.clear();
        self.magnitudes.clear();
    }
}

/// A first estimate of the quotient.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    /// Dividend and divisor.
    of: [Operand; 2],
    quotient: Operand,
    /// The remainder for this quotient, and the remainder after one correction.
    rests: [Operand; 2],
}

/// A signed number as its absolute value and its sign, which is all ones or zero.
#[derive(Debug, Clone, Copy)]
struct Magnitude {
    of: Operand,
    sign: Operand,
    word: Operand,
}

/// Adds an entry in place of the oldest one.
pub fn keep<T>(entries: &mut Vec<T>, entry: T) {
    if entries.len() == KEPT {
        entries.remove(0);
    }
    entries.push(entry);
}

impl Selector<'_> {
    /// `BinOp::Div` or `BinOp::Rem` of 32 bits.
    pub fn divide(&mut self, op: BinOp, is_signed: bool, operands: [Operand; 2]) -> Operand {
        if !is_signed {
            return self.divide_unsigned(op, operands);
        }
        let [x, y] = operands.map(|operand| self.magnitude(operand));
        let result = self.divide_unsigned(op, [x.word, y.word]);
        let sign = match op {
            BinOp::Div => self.word_binary(BinOp::Xor, Scalar::U32, [x.sign, y.sign]),
            _ => x.sign,
        };
        self.flipped(result, sign)
    }

    /// The absolute value and the sign of a number.
    fn magnitude(&mut self, of: Operand) -> Magnitude {
        if let Some(known) = self.divided.magnitudes.iter().find(|known| known.of == of) {
            return *known;
        }
        let sign = self.word_binary(BinOp::Shr, Scalar::I32, [of, number(31)]);
        let magnitude = Magnitude { of, sign, word: self.flipped(of, sign) };
        keep(&mut self.divided.magnitudes, magnitude);
        magnitude
    }

    /// `(word ^ sign) - sign`: the negation if the sign is all ones.
    fn flipped(&mut self, word: Operand, sign: Operand) -> Operand {
        let flipped = self.word_binary(BinOp::Xor, Scalar::U32, [word, sign]);
        self.word_binary(BinOp::Sub, Scalar::U32, [flipped, sign])
    }

    fn divide_unsigned(&mut self, op: BinOp, operands: [Operand; 2]) -> Operand {
        let estimate = self.estimate(operands);
        match op {
            BinOp::Div => self.corrected(estimate),
            _ => self.reduced(estimate.rests[1], operands[1]),
        }
    }

    /// A quotient that is at most 2 too small, and its remainder.
    fn estimate(&mut self, operands: [Operand; 2]) -> Estimate {
        if let Some(known) = self.divided.estimates.iter().find(|known| known.of == operands) {
            return *known;
        }
        let [a, b] = operands;
        let inverse = self.inverse(b);
        let quotient = self.word_binary(BinOp::MulHigh, Scalar::U32, [a, inverse]);
        let product = self.word_binary(BinOp::Mul, Scalar::U32, [quotient, b]);
        let rest = self.word_binary(BinOp::Sub, Scalar::U32, [a, product]);
        let estimate = Estimate { of: operands, quotient, rests: [rest, self.reduced(rest, b)] };
        keep(&mut self.divided.estimates, estimate);
        estimate
    }

    /// Subtracts the divisor once more if it fits; otherwise the difference wraps and is larger than the remainder.
    fn reduced(&mut self, rest: Operand, divisor: Operand) -> Operand {
        let less = self.word_binary(BinOp::Sub, Scalar::U32, [rest, divisor]);
        self.word_binary(BinOp::Min, Scalar::U32, [rest, less])
    }

    /// The quotient, incremented each time that the divisor can be subtracted.
    fn corrected(&mut self, estimate: Estimate) -> Operand {
        let divisor = estimate.of[1];
        let mut quotient = estimate.quotient;
        for rest in estimate.rests {
            quotient = self.one_more_if_left(quotient, rest, divisor);
        }
        quotient
    }

    fn one_more_if_left(&mut self, quotient: Operand, rest: Operand, divisor: Operand) -> Operand {
        if ![quotient, rest, divisor].iter().any(|word| self.is_vector(*word)) {
            self.compare_scalars("ge_u32", rest, divisor);
            return self.scalar(Operation::ScalarAddCarryIn, &[quotient, FALSE]);
        }
        let is_left = self.compare_lanes("ge_u32", rest, divisor);
        let next = self.vector(Operation::AddU32, &[number(1), quotient]);
        self.choose(is_left, next, quotient)
    }

    /// About 2^32 / b, never more, and at most 2 less than needed. The vector unit estimates it with floats; for a
    /// scalar, the scalar unit refines the estimate if it has the products for that.
    fn inverse(&mut self, b: Operand) -> Operand {
        use Operation as O;
        if let Some((_, known)) = self.divided.inverses.iter().find(|(of, _)| *of == b) {
            return *known;
        }
        let as_float = self.cvt("f32_u32", b);
        let guess = self.vector(O::RcpF32, &[as_float]);
        let scaled = self.vector(O::MulF32, &[float(SCALE), guess]);
        let guess = self.cvt("u32_f32", scaled);
        let is_scalar = !self.is_vector(b) && O::ScalarMulHiU32.spelling(self.arch.generation).is_some();
        let guess = if is_scalar { self.in_scalar(guess) } else { guess };
        let minus = self.word_binary(BinOp::Sub, Scalar::U32, [FALSE, b]);
        let error = self.word_binary(BinOp::Mul, Scalar::U32, [minus, guess]);
        let more = self.word_binary(BinOp::MulHigh, Scalar::U32, [guess, error]);
        let inverse = self.word_binary(BinOp::Add, Scalar::U32, [guess, more]);
        keep(&mut self.divided.inverses, (b, inverse));
        inverse
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

    /// In each of 64 iterations the dividend's highest bit moves to the remainder, and the quotient's next bit replaces
    /// it.
    fn long_divide_unsigned(&mut self, op: BinOp, a: &[Operand], b: &[Operand]) -> Words {
        let divisor: Words = b.iter().map(|word| self.in_vector(*word)).collect();
        let quotient: Words = a.iter().map(|word| self.copy_of(*word)).collect();
        let rest: Words = (0..2).map(|_| self.copy_of(FALSE)).collect();
        let rounds = self.scalars(1);
        self.raw(Operation::ScalarMove, &[rounds], &[number(64)]);
        self.repeat_while(rounds, |selector| selector.division_round(&quotient, &rest, &divisor));
        if op == BinOp::Div { quotient } else { rest }
    }

    /// A copy in a new vector register.
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
