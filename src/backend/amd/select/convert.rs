//! Conversions between scalar types, as `ir::Op::Convert` defines them.

use super::arithmetic::{by_code, number, one};
use super::emit::{FALSE, part};
use super::{Selector, Words};
use crate::backend::amd::machine::{File, Operand};
use crate::backend::amd::mnemonic::Operation;
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::{BinOp, UnOp, Value};
use smallvec::smallvec;

impl Selector<'_> {
    /// `v_cvt`: `name` has the types of result and operand.
    pub fn cvt(&mut self, name: &'static str, a: Operand) -> Operand {
        let has_scalar_form = matches!(name, "f32_u32" | "f32_i32" | "u32_f32" | "i32_f32");
        if has_scalar_form && self.is_for_scalar_unit(&[a]) {
            let to = self.scalars(1);
            self.raw(Operation::ScalarConvert, &[to], &[a]).modifiers.suffix = name;
            return to;
        }
        let to = self.vectors(if name.starts_with("f64") { 2 } else { 1 });
        self.raw(Operation::Convert, &[to], &[a]).modifiers.suffix = name;
        to
    }

    pub fn convert(&mut self, from: Scalar, to: Scalar, value: Value) -> Words {
        if from.is_bool() {
            return self.bool_to_number(to, value);
        }
        if from.width == 16 && !to.is_bool() {
            let half = self.half(value);
            let word = self.widen_half(from.kind, half);
            return self.convert_word(Scalar { width: 32, ..from }, to, word);
        }
        let words = self.words(value);
        if to.is_bool() {
            let mask = self.number_to_bool(from, &words);
            return self.words_of(mask, self.arch.mask_width());
        }
        match (from.width, to.width) {
            (64, 64) => self.between_longs(from, to, &words),
            (64, _) => one(self.shortened(from, to, &words)),
            _ => {
                let word = if from.width < 32 { self.widen(from, words[0]) } else { words[0] };
                self.convert_word(from, to, word)
            }
        }
    }

    /// From a word that contains the value in 32 bits.
    fn convert_word(&mut self, from: Scalar, to: Scalar, word: Operand) -> Words {
        if to.width == 64 {
            return self.widened(from, to, word);
        }
        let word = self.between_words(from, to, word);
        one(if to.width < 32 { self.cut(to, word) } else { word })
    }

    fn bool_to_number(&mut self, to: Scalar, value: Value) -> Words {
        let bits: u64 = match (to.kind, to.width) {
            (ScalarKind::Float, 16) => 0x3c00,
            (ScalarKind::Float, 32) => 1.0_f32.to_bits().into(),
            (ScalarKind::Float, _) => 1.0_f64.to_bits(),
            _ => 1,
        };
        if to.is_bool() {
            return self.words(value);
        }
        let words: Words = (0..if to.width == 64 { 2 } else { 1 }).map(|n| number((bits >> (32 * n)) as u32)).collect();
        if self.is_uniform(value) {
            let is_set = self.condition(value);
            let chosen = words.iter().map(|word| by_code(is_set, [*word, FALSE]));
            return chosen.map(|pair| self.scalar(Operation::ScalarSelect, &pair)).collect();
        }
        let mask = self.mask(value);
        let chosen = |selector: &mut Self, word: &Operand| match word {
            Operand::Constant(0) => FALSE,
            word => selector.choose(mask, *word, FALSE),
        };
        words.iter().map(|word| chosen(self, word)).collect()
    }

    fn number_to_bool(&mut self, from: Scalar, words: &[Operand]) -> Operand {
        if from.is_float() {
            return match from.width {
                64 => {
                    let value = self.whole(words, File::Vector);
                    self.compare_lanes("neq_f64", FALSE, value)
                }
                16 => {
                    let magnitude = self.word_binary(BinOp::And, Scalar::U32, [words[0], number(0x7fff)]);
                    self.compare_lanes("ne_u32", FALSE, magnitude)
                }
                _ => self.compare_lanes("neq_f32", FALSE, words[0]),
            };
        }
        let any = match words {
            [low, high] => self.word_binary(BinOp::Or, Scalar::U32, [*low, *high]),
            _ => words[0],
        };
        if self.is_vector(any) {
            return self.compare_lanes("ne_u32", FALSE, any);
        }
        self.compare_scalars("lg_u32", any, FALSE);
        self.mask_of_condition()
    }

    /// From 32 bits to 32 bits.
    fn between_words(&mut self, from: Scalar, to: Scalar, word: Operand) -> Operand {
        use ScalarKind::{Float, Sint};
        match (from.kind, to.kind) {
            (Float, Float) => word,
            (Float, Sint) => self.cvt("i32_f32", word),
            (Float, _) => self.cvt("u32_f32", word),
            (Sint, Float) => self.cvt("f32_i32", word),
            (_, Float) => self.cvt("f32_u32", word),
            _ => word,
        }
    }

    fn between_longs(&mut self, from: Scalar, to: Scalar, words: &[Operand]) -> Words {
        match (from.is_float(), to.is_float()) {
            (true, false) => self.double_to_long(to, words),
            (false, true) => self.long_to_double(from, words),
            _ => words.into(),
        }
    }

    fn widened(&mut self, from: Scalar, to: Scalar, word: Operand) -> Words {
        let double = |selector: &mut Self, name| {
            let double = selector.cvt(name, word);
            selector.words_of(double, 2)
        };
        match (from.kind, to.is_float()) {
            (ScalarKind::Float, true) => double(self, "f64_f32"),
            (ScalarKind::Sint, true) => double(self, "f64_i32"),
            (_, true) => double(self, "f64_u32"),
            (ScalarKind::Float, false) => {
                let words = double(self, "f64_f32");
                self.double_to_long(to, &words)
            }
            (ScalarKind::Sint, false) => smallvec![word, self.word_binary(BinOp::Shr, Scalar::I32, [word, number(31)])],
            _ => smallvec![word, FALSE],
        }
    }

    fn shortened(&mut self, from: Scalar, to: Scalar, words: &[Operand]) -> Operand {
        match (from.is_float(), to.is_float()) {
            (true, true) if to.width == 16 => self.double_to_half(words),
            (true, true) => self.cvt_double("f32_f64", words),
            (true, false) => {
                let word = self.cvt_double(if to.is_signed() { "i32_f64" } else { "u32_f64" }, words);
                if to.width < 32 { self.cut(to, word) } else { word }
            }
            (false, true) => {
                let word = self.long_to_float(from, words);
                if to.width < 32 { self.cut(to, word) } else { word }
            }
            (false, false) if to.width < 32 => self.cut(to, words[0]),
            (false, false) => words[0],
        }
    }

    fn cvt_double(&mut self, name: &'static str, words: &[Operand]) -> Operand {
        let value = self.whole(words, File::Vector);
        self.cvt(name, value)
    }

    /// Rounds once: to a 32-bit float toward zero, with a sticky lowest bit, and then to 16.
    fn double_to_half(&mut self, words: &[Operand]) -> Operand {
        let value = self.whole(words, File::Vector);
        let rounded = self.cvt("f32_f64", value);
        let back = self.cvt("f64_f32", rounded);
        let mask = self.mask_register();
        let compare = self.raw(Operation::Compare, &[mask], &[back, value]);
        (compare.modifiers.suffix, compare.modifiers.abs) = ("gt_f64", 3);
        let less = self.vector(Operation::SubU32, &[rounded, number(1)]);
        let cut = self.choose(mask, less, rounded);
        let is_inexact = self.compare_lanes("neq_f64", back, value);
        let odd = self.vector(Operation::OrB32, &[number(1), cut]);
        let odd = self.choose(is_inexact, odd, cut);
        self.cut(Scalar { kind: ScalarKind::Float, width: 16 }, odd)
    }

    /// Both words of the remaining fraction: `high = floor(x / 2^32)`, `low = x - high * 2^32`.
    fn double_to_long(&mut self, to: Scalar, words: &[Operand]) -> Words {
        let whole = self.double_unary(UnOp::Trunc, words);
        let whole = self.whole(&whole, File::Vector);
        let scaled = self.vector_pair(Operation::LdexpF64, &[whole, number((-32_i32) as u32)]);
        let high = self.double_unary(UnOp::Floor, &[part(scaled, 0), part(scaled, 1)]);
        let high = self.whole(&high, File::Vector);
        // -2^32.
        let factor = self.whole(&[number(0), number(0xc1f0_0000)], File::Vector);
        let low = self.vector_pair(Operation::FmaF64, &[high, factor, whole]);
        smallvec![self.cvt("u32_f64", low), self.cvt(if to.is_signed() { "i32_f64" } else { "u32_f64" }, high)]
    }

    /// `high * 2^32 + low`, where only the sum rounds.
    fn long_to_double(&mut self, from: Scalar, words: &[Operand]) -> Words {
        let high = self.cvt(if from.is_signed() { "f64_i32" } else { "f64_u32" }, words[1]);
        let high = self.vector_pair(Operation::LdexpF64, &[high, number(32)]);
        let low = self.cvt("f64_u32", words[0]);
        let sum = self.vector_pair(Operation::AddF64, &[high, low]);
        self.words_of(sum, 2)
    }

    /// The magnitude is shifted until its upper word is full; the bits below that only affect rounding.
    fn long_to_float(&mut self, from: Scalar, words: &[Operand]) -> Operand {
        use Operation as O;
        let sign = from.is_signed().then(|| self.word_binary(BinOp::And, Scalar::U32, [words[1], number(1 << 31)]));
        let magnitude: Words = if sign.is_some() { self.long_unary(UnOp::Abs, from, words) } else { words.into() };
        let high = self.in_vector(magnitude[1]);
        // A zero word counts as -1, so at most 32 places then.
        let zeros = self.vector(O::LeadingZeros, &[high]);
        let zeros = self.vector(O::MinU32, &[number(32), zeros]);
        let pair = self.whole(&magnitude, File::Vector);
        let shifted = self.long_shift(BinOp::Shl, false, pair, zeros);
        let lost = self.vector(O::MinU32, &[number(1), part(shifted, 0)]);
        let top = self.vector(O::OrB32, &[lost, part(shifted, 1)]);
        let rounded = self.cvt("f32_u32", top);
        let exponent = self.vector(O::SubU32, &[number(32), zeros]);
        let scaled = self.vector(O::LdexpF32, &[rounded, exponent]);
        match sign {
            Some(sign) => self.word_binary(BinOp::Or, Scalar::U32, [scaled, sign]),
            None => scaled,
        }
    }
}
