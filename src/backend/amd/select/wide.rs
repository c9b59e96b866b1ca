//! Arithmetic on 64-bit integers: by pairs of 32-bit instructions, except for shifts and comparisons.

use super::arithmetic::{number, relation, shifts_backward};
use super::emit::{FALSE, VCC, part};
use super::{Selector, Words};
use crate::backend::amd::machine::{File, Operand};
use crate::backend::amd::mnemonic::Operation;
use crate::ir::Scalar;
use crate::kernel::{BinOp, CmpOp, UnOp};
use smallvec::smallvec;

impl Selector<'_> {
    fn all_scalar(&self, lists: &[&[Operand]]) -> bool {
        lists.iter().all(|words| words.iter().all(|word| !self.is_vector(*word)))
    }

    pub fn long_unary(&mut self, op: UnOp, scalar: Scalar, a: &[Operand]) -> Words {
        let signed = Scalar { width: 32, ..scalar };
        match op {
            UnOp::Neg => self.long_binary(BinOp::Sub, scalar, &[FALSE, FALSE], a),
            UnOp::Not => a.iter().map(|word| self.word_unary(UnOp::Not, Scalar::U32, *word)).collect(),
            UnOp::Abs if !scalar.is_signed() => a.into(),
            UnOp::Abs => {
                // `(a ^ sign) - sign`.
                let sign = self.word_binary(BinOp::Shr, Scalar::I32, [a[1], number(31)]);
                let flipped: Words =
                    a.iter().map(|word| self.word_binary(BinOp::Xor, Scalar::U32, [*word, sign])).collect();
                self.long_binary(BinOp::Sub, scalar, &flipped, &[sign, sign])
            }
            UnOp::BitCount => {
                let counts = [a[0], a[1]].map(|word| self.word_unary(UnOp::BitCount, Scalar::U32, word));
                smallvec![self.word_binary(BinOp::Add, Scalar::U32, counts), FALSE]
            }
            UnOp::BitReverse => {
                a.iter().rev().map(|word| self.word_unary(UnOp::BitReverse, Scalar::U32, *word)).collect()
            }
            UnOp::FindLsb => self.long_find(UnOp::FindLsb, signed, [a[0], a[1]], [0, 32]),
            UnOp::FindMsb => self.long_find_msb(signed, a),
            _ => self.refused("this operation on 64-bit integers"),
        }
    }

    /// The bit in the first nonzero word; a 64-bit -1 if there is none.
    fn long_find(&mut self, op: UnOp, scalar: Scalar, words: [Operand; 2], places: [u32; 2]) -> Words {
        let mut found = words.map(|word| {
            let bit = self.word_unary(op, scalar, word);
            self.in_vector(bit)
        });
        for (bit, place) in found.iter_mut().zip(places) {
            // -1 has all these bits.
            *bit = if place > 0 { self.vector(Operation::OrB32, &[number(place), *bit]) } else { *bit };
        }
        let has_first = self.compare_lanes("ne_u32", number(u32::MAX), found[0]);
        let low = self.choose(has_first, found[0], found[1]);
        let high = self.vector(Operation::AshrI32, &[number(31), low]);
        smallvec![low, high]
    }

    /// A negative number's highest clear bit is the highest set bit of its complement.
    fn long_find_msb(&mut self, scalar: Scalar, a: &[Operand]) -> Words {
        let mut words = [a[1], a[0]];
        if scalar.is_signed() {
            let sign = self.word_binary(BinOp::Shr, Scalar::I32, [a[1], number(31)]);
            words = words.map(|word| self.word_binary(BinOp::Xor, Scalar::U32, [word, sign]));
        }
        self.long_find(UnOp::FindMsb, Scalar::U32, words, [32, 0])
    }

    pub fn long_binary(&mut self, op: BinOp, scalar: Scalar, a: &[Operand], b: &[Operand]) -> Words {
        match op {
            BinOp::Add => self.long_sum(false, a, b),
            BinOp::Sub => self.long_sum(true, a, b),
            BinOp::And | BinOp::Or | BinOp::Xor => {
                a.iter().zip(b).map(|(a, b)| self.word_binary(op, Scalar::U32, [*a, *b])).collect()
            }
            BinOp::Mul => self.long_product(a, b),
            BinOp::MulHigh => self.long_high_product(scalar.is_signed(), a, b),
            BinOp::Min | BinOp::Max => self.long_pick(op, scalar, a, b),
            BinOp::Shl | BinOp::Shr => self.long_shifted(op, scalar.is_signed(), a, b[0]),
            BinOp::Div | BinOp::Rem => self.long_divide(op, scalar.is_signed(), a, b),
        }
    }

    /// Sums and differences with a carry between the words.
    pub fn long_sum(&mut self, subtracts: bool, a: &[Operand], b: &[Operand]) -> Words {
        use Operation as O;
        if self.all_scalar(&[a, b]) {
            let (low, high) = match subtracts {
                false => (O::ScalarAddCarryOut, O::ScalarAddCarryIn),
                true => (O::ScalarSubCarryOut, O::ScalarSubCarryIn),
            };
            // Moves do not change the condition code.
            let low = self.scalar(low, &[a[0], b[0]]);
            let high = self.scalar(high, &[a[1], b[1]]);
            return smallvec![low, high];
        }
        let (low, high) = match subtracts {
            false => (O::AddWithCarryOut, O::AddWithCarryIn),
            true => (O::SubWithCarryOut, O::SubWithCarryIn),
        };
        let low = self.vector(low, &[a[0], b[0]]);
        let high = self.vector(high, &[a[1], b[1], VCC]);
        smallvec![low, high]
    }

    /// `low * low`, with both cross products added to its upper half.
    fn long_product(&mut self, a: &[Operand], b: &[Operand]) -> Words {
        let product = |selector: &mut Self, op, a, b| selector.word_binary(op, Scalar::U32, [a, b]);
        let low = product(self, BinOp::Mul, a[0], b[0]);
        let mut high = product(self, BinOp::MulHigh, a[0], b[0]);
        for (x, y) in [(a[0], b[1]), (a[1], b[0])] {
            let across = product(self, BinOp::Mul, x, y);
            high = product(self, BinOp::Add, high, across);
        }
        smallvec![low, high]
    }

    /// The upper 64 of 128 bits; for signed numbers, minus each operand if the other is negative.
    fn long_high_product(&mut self, is_signed: bool, a: &[Operand], b: &[Operand]) -> Words {
        let zero = [FALSE, FALSE];
        let word = |selector: &mut Self, op, a, b| selector.word_binary(op, Scalar::U32, [a, b]);
        let lowest = word(self, BinOp::MulHigh, a[0], b[0]);
        let mut middle: Words = smallvec![lowest, FALSE];
        let mut carried: Words = zero.into_iter().collect();
        for (x, y) in [(a[0], b[1]), (a[1], b[0])] {
            let product = [word(self, BinOp::Mul, x, y), word(self, BinOp::MulHigh, x, y)];
            middle = self.long_sum(false, &[middle[0], FALSE], &product);
            carried = self.long_sum(false, &carried, &[middle[1], FALSE]);
        }
        let top = [word(self, BinOp::Mul, a[1], b[1]), word(self, BinOp::MulHigh, a[1], b[1])];
        let mut high = self.long_sum(false, &top, &carried);
        if is_signed {
            for (x, y) in [(a, b), (b, a)] {
                let sign = self.word_binary(BinOp::Shr, Scalar::I32, [x[1], number(31)]);
                let less: Words = y.iter().map(|y| word(self, BinOp::And, *y, sign)).collect();
                high = self.long_sum(true, &high, &less);
            }
        }
        high
    }

    fn long_pick(&mut self, op: BinOp, scalar: Scalar, a: &[Operand], b: &[Operand]) -> Words {
        let wanted = if op == BinOp::Min { CmpOp::Lt } else { CmpOp::Gt };
        let (first, second) = (self.whole(a, File::Vector), self.whole(b, File::Vector));
        let mask = self.compare_lanes(relation(wanted, scalar), first, second);
        (0..2).map(|n| self.choose(mask, part(first, n), part(second, n))).collect()
    }

    fn long_shifted(&mut self, op: BinOp, is_signed: bool, a: &[Operand], amount: Operand) -> Words {
        use Operation as O;
        if self.all_scalar(&[a, &[amount]]) {
            let operation = match (op, is_signed) {
                (BinOp::Shl, _) => O::ScalarShl64,
                (_, false) => O::ScalarShr64,
                (_, true) => O::ScalarAshr64,
            };
            let pair = self.whole(a, File::Scalar);
            let shifted = self.scalar_pair(operation, &[pair, amount]);
            return self.words_of(shifted, 2);
        }
        let pair = self.whole(a, File::Vector);
        let shifted = self.long_shift(op, is_signed, pair, amount);
        self.words_of(shifted, 2)
    }

    /// A shift of a pair of vector registers.
    pub fn long_shift(&mut self, op: BinOp, is_signed: bool, pair: Operand, amount: Operand) -> Operand {
        use Operation as O;
        let operation = match (op, is_signed) {
            (BinOp::Shl, _) => O::ShlB64,
            (_, false) => O::ShrB64,
            (_, true) => O::AshrI64,
        };
        match shifts_backward(self.arch.generation) {
            true => self.vector_pair(operation, &[pair, amount]),
            false => self.vector_pair(operation, &[amount, pair]),
        }
    }

    /// The field at the bottom: shifted up to the top and down again.
    pub fn long_extract(&mut self, scalar: Scalar, a: &[Operand], offset: Operand, bits: Operand) -> Words {
        let [up, down] = self.field_shifts(offset, bits);
        let base = self.whole(a, File::Vector);
        let top = self.long_shift(BinOp::Shl, false, base, up);
        let field = self.long_shift(BinOp::Shr, scalar.is_signed(), top, down);
        let has_bits = match bits {
            Operand::Constant(0) => return smallvec![FALSE, FALSE],
            Operand::Constant(_) => return self.words_of(field, 2),
            bits => {
                let bits = self.in_vector(bits);
                self.compare_lanes("ne_u32", FALSE, bits)
            }
        };
        (0..2).map(|n| self.choose(has_bits, part(field, n), FALSE)).collect()
    }

    /// `64 - offset - bits` and `64 - bits`.
    fn field_shifts(&mut self, offset: Operand, bits: Operand) -> [Operand; 2] {
        let down = self.word_binary(BinOp::Sub, Scalar::U32, [number(64), bits]);
        let up = self.word_binary(BinOp::Sub, Scalar::U32, [down, offset]);
        [up, down]
    }

    pub fn long_insert(&mut self, base: &[Operand], insert: &[Operand], offset: Operand, bits: Operand) -> Words {
        let [_, down] = self.field_shifts(offset, bits);
        let ones = self.whole(&[number(u32::MAX), number(u32::MAX)], File::Vector);
        let ones = self.long_shift(BinOp::Shr, false, ones, down);
        let mask = self.long_shift(BinOp::Shl, false, ones, offset);
        let insert = self.whole(insert, File::Vector);
        let moved = self.long_shift(BinOp::Shl, false, insert, offset);
        let merged: Words = (0..2)
            .map(|n| self.vector(Operation::BfiB32, &[part(mask, n), part(moved, n), base[usize::from(n)]]))
            .collect();
        match bits {
            Operand::Constant(0) => base.into(),
            Operand::Constant(_) => merged,
            bits => {
                // A shift by 64 is one by 0.
                let bits = self.in_vector(bits);
                let has_bits = self.compare_lanes("ne_u32", FALSE, bits);
                merged.iter().zip(base).map(|(merged, base)| self.choose(has_bits, *merged, *base)).collect()
            }
        }
    }
}
