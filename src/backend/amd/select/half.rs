//! 16-bit values in halves of registers: 16-bit float instructions, operands of V_FMA_MIX, and pairs.

use super::arithmetic::number;
use super::float::float;
use super::halves::{self, Half, is_mixable};
use super::pairs::Pair;
use super::{Selector, Words, arithmetic::one};
use crate::backend::amd::machine::{HalfSelect, Operand};
use crate::backend::amd::mnemonic::Operation;
use crate::ir::fold::f16_to_f64;
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::{BinOp, CmpOp, InstId, Op, Value};

/// An operand of V_FMA_MIX: a 32-bit float, or half of a register.
#[derive(Clone, Copy, Debug)]
struct Mixed {
    word: Operand,
    /// True for the upper half.
    half: Option<bool>,
    neg: bool,
}

impl Mixed {
    const ONE: Mixed = Mixed { word: float(1.0), half: None, neg: false };
    /// The neutral summand: it keeps the sign of a zero.
    const MINUS_ZERO: Mixed = Mixed { word: number(0), half: None, neg: true };

    const fn half(half: Half) -> Mixed {
        Mixed { word: half.word, half: Some(half.is_high), neg: false }
    }

    const fn negated(self) -> Mixed {
        Mixed { neg: !self.neg, ..self }
    }
}

/// The instruction on 16-bit floats, and the one on two of them. For a difference, the latter negates its second
/// operand.
fn float_operations(op: BinOp) -> Option<[Operation; 2]> {
    use Operation as O;
    Some(match op {
        BinOp::Add => [O::AddF16, O::PackedAddF16],
        BinOp::Sub => [O::SubF16, O::PackedAddF16],
        BinOp::Mul => [O::MulF16, O::PackedMulF16],
        BinOp::Min => [O::MinF16, O::PackedMinF16],
        BinOp::Max => [O::MaxF16, O::PackedMaxF16],
        _ => return None,
    })
}

/// The relation of a vector comparison of 16-bit floats.
fn relation(op: CmpOp) -> &'static str {
    ["eq_f16", "neq_f16", "lt_f16", "le_f16", "gt_f16", "ge_f16"][op as usize]
}

fn bits(flags: impl IntoIterator<Item = bool>) -> u8 {
    flags.into_iter().enumerate().fold(0, |bits, (n, flag)| bits | u8::from(flag) << n)
}

impl Selector<'_> {
    // Places of values.

    /// A 16-bit value in its current half.
    pub fn half(&mut self, value: Value) -> Half {
        match self.halves.held(value) {
            Some(half) => half.folded(),
            None => Half::clean(self.word(value)),
        }
    }

    /// Sets a value in half of a word, unchanged if nothing reads the other half.
    pub fn give_half(&mut self, value: Value, half: Half) {
        if self.halves.is_open(value) {
            self.halves.hold(value, half);
        } else {
            let word = self.cleaned(half);
            self.give(value, one(word));
        }
    }

    /// A value alone in a word.
    pub fn cleaned(&mut self, half: Half) -> Operand {
        match half.folded() {
            Half { word, is_clean: true, .. } => word,
            Half { word, is_high: true, .. } => self.word_binary(BinOp::Shr, Scalar::U32, [word, number(16)]),
            Half { word, .. } => self.word_binary(BinOp::And, Scalar::U32, [word, number(0xffff)]),
        }
    }

    /// A word with a value in its lower half.
    fn lowered(&mut self, half: Half) -> Operand {
        if half.is_high { self.cleaned(half) } else { half.word }
    }

    /// The result of a 16-bit instruction, with a clean upper half.
    pub fn low_result(&mut self, operation: Operation, word: Operand) -> Operand {
        if self.arch.zeroes_upper(operation) && self.is_vector(word) { word } else { self.cut_off(word) }
    }

    /// The lower half of a word. If nothing reads the other half, it stays.
    pub fn cut_off(&mut self, word: Operand) -> Operand {
        if self.result_is_open {
            self.left_open = true;
            return word;
        }
        self.word_binary(BinOp::And, Scalar::U32, [word, number(0xffff)])
    }

    /// Two values as the halves of a word.
    pub fn packed(&mut self, low: Half, high: Half) -> Operand {
        let (low, high) = (low.folded(), high.folded());
        let is_whole = low.word == high.word && !low.is_clean && !low.is_high && high.is_high;
        let constants = [low.word, high.word].map(|word| matches!(word, Operand::Constant(_)));
        match (low.word, high.word) {
            (Operand::Constant(low), Operand::Constant(high)) => number(low | high << 16),
            (word, _) if is_whole => word,
            _ if low.is_clean || constants[1] => self.joined(low, high),
            _ if !self.is_vector(low.word) && !self.is_vector(high.word) => self.joined(low, high),
            _ if low.is_high && !high.is_high => self.vector(Operation::AlignBits, &[high.word, low.word, number(16)]),
            _ if Operation::PermuteBytes.spelling(self.arch.generation).is_some() => {
                let bytes = |half: Half, first: u32| first + 0x202 * u32::from(half.is_high);
                let selector = bytes(low, 0x0100) | bytes(high, 0x0504) << 16;
                self.vector(Operation::PermuteBytes, &[high.word, low.word, number(selector)])
            }
            _ => self.joined(low, high),
        }
    }

    /// Joins two halves with logic instructions.
    fn joined(&mut self, low: Half, high: Half) -> Operand {
        let low = self.cleaned(low);
        let high = match high {
            Half { word: Operand::Constant(bits), .. } => number(bits << 16),
            Half { word, is_high: true, .. } => self.word_binary(BinOp::And, Scalar::U32, [word, number(0xffff_0000)]),
            Half { word, .. } => self.word_binary(BinOp::Shl, Scalar::U32, [word, number(16)]),
        };
        if low == number(0) || high == number(0) {
            return if low == number(0) { high } else { low };
        }
        self.word_binary(BinOp::Or, Scalar::U32, [low, high])
    }

    /// A value of 16 bits as 32 bits of the same kind.
    pub fn widen_half(&mut self, kind: ScalarKind, half: Half) -> Operand {
        match (kind, half.folded()) {
            (ScalarKind::Float, Half { word: Operand::Constant(bits), .. }) => float(f16_to_f64(bits as u16) as f32),
            // Otherwise the conversion reads the upper half directly (`combine::parts`).
            (ScalarKind::Float, half)
                if half.is_high && self.has_mix() && !self.arch.has_parts() && self.is_vector(half.word) =>
            {
                self.mixed_sum([Mixed::half(half), Mixed::ONE, Mixed::MINUS_ZERO])
            }
            (ScalarKind::Float, half) => {
                let word = self.lowered(half);
                self.cvt("f32_f16", word)
            }
            (ScalarKind::Sint, half) => {
                let first = if half.is_high { 16 } else { 0 };
                self.signed_field(half.word, first, 16)
            }
            (_, half) => self.cleaned(half),
        }
    }

    fn has_mix(&self) -> bool {
        self.arch.processor.has_fma_mix && self.exists(Operation::FmaMixF32)
    }

    // 32-bit float operations with some 16-bit operands.

    /// The conversion that an operation absorbs, from its operand or the negated operand.
    fn absorbed_conversion(&self, value: Value) -> Option<InstId> {
        let inst = self.kernel.definition(value)?;
        match self.kernel.insts[inst].op {
            Op::Convert(..) => self.halves.is_absorbed(inst).then_some(inst),
            Op::Un(..) if self.negated_factors[inst.index()] => self.absorbed_conversion(self.kernel.args(inst)[0]),
            _ => None,
        }
    }

    /// Returns true if an operand of an operation is converted by it.
    pub fn is_mixed(&self, op: Op, args: &[Value]) -> bool {
        is_mixable(op) && args.iter().any(|arg| self.absorbed_conversion(*arg).is_some())
    }

    /// Returns true for a negation of a conversion that its users absorb.
    pub fn negates_absorbed(&self, inst: InstId) -> bool {
        self.negated_factors[inst.index()]
            && self.kernel.result(inst).is_some_and(|result| self.absorbed_conversion(result).is_some())
    }

    fn mixed_operand(&mut self, value: Value) -> Mixed {
        let kernel = self.kernel;
        let is_negated = kernel.definition(value).is_some_and(|inst| self.negated_factors[inst.index()]);
        let operand = match self.absorbed_conversion(value) {
            Some(inst) => match self.half(kernel.args(inst)[0]) {
                // Such an operand reads 32-bit constants.
                Half { word: Operand::Constant(bits), .. } => {
                    Mixed { word: float(f16_to_f64(bits as u16) as f32), ..Mixed::ONE }
                }
                half => Mixed::half(half),
            },
            None => Mixed { word: self.word(value), ..Mixed::ONE },
        };
        if is_negated { operand.negated() } else { operand }
    }

    /// A sum, a product or both with V_FMA_MIX.
    pub fn mixed(&mut self, op: Op, args: &[Value]) -> Operand {
        let operands: Vec<Mixed> = args.iter().map(|arg| self.mixed_operand(*arg)).collect();
        let operands = match (op, &operands[..]) {
            (Op::Bin(BinOp::Mul, _), [a, b]) => [*a, *b, Mixed::MINUS_ZERO],
            (Op::Bin(BinOp::Sub, _), [a, b]) => [*a, Mixed::ONE, b.negated()],
            (Op::Bin(..), [a, b]) => [*a, Mixed::ONE, *b],
            (_, [a, b, c]) => [*a, *b, *c],
            _ => return self.refused("this operation on floats")[0],
        };
        self.mixed_sum(operands)
    }

    /// `a * b + c`.
    fn mixed_sum(&mut self, operands: [Mixed; 3]) -> Operand {
        let uses = operands.map(|operand| self.mixed_word(operand));
        let neg = bits(operands.map(|operand| operand.neg));
        let upper = bits(operands.map(|operand| operand.half.is_some()));
        let lower = bits(operands.map(|operand| operand.half == Some(true)));
        let to = self.vectors(1);
        let inst = self.vector_to(Operation::FmaMixF32, to, &uses);
        (inst.modifiers.neg, inst.modifiers.halves) = (neg, Some(HalfSelect { lower, upper }));
        to
    }

    /// A word for the instruction. Only the constant zero is the same in 16 and 32 bits.
    fn mixed_word(&mut self, operand: Mixed) -> Operand {
        match operand.word {
            Operand::Constant(bits) if bits != 0 => self.in_scalar(operand.word),
            word => word,
        }
    }

    // Floats of 16 bits.

    /// Sums, products and so on; operations without a 16-bit instruction are computed in 32.
    pub fn half_binary(&mut self, op: BinOp, scalar: Scalar, args: [Value; 2]) -> Words {
        let operations = float_operations(op).filter(|[single, _]| self.exists(*single));
        let halves = args.map(|arg| self.half(arg));
        if let Some(operations) = operations {
            return one(self.half_arithmetic(operations, &halves, 0));
        }
        let operands = halves.map(|half| self.widen_half(scalar.kind, half));
        let result = self.float_binary(op, operands);
        one(self.cut(scalar, result))
    }

    /// `a * b + c` rounded once; operands may be negated.
    pub fn half_fused(&mut self, args: [Value; 3], neg: u8) -> Words {
        if !self.exists(Operation::FmaF16) {
            return self.refused("a fused multiplication and addition of 16 bits");
        }
        let halves = args.map(|arg| self.half(arg));
        one(self.half_arithmetic([Operation::FmaF16, Operation::PackedFmaF16], &halves, neg))
    }

    /// An instruction on 16-bit floats. The packed form can read upper halves, and computes the same result twice.
    fn half_arithmetic(&mut self, [single, packed]: [Operation; 2], halves: &[Half], neg: u8) -> Operand {
        let to = self.vectors(1);
        if !halves.iter().any(|half| half.is_high) || !self.exists(packed) {
            let uses: Vec<Operand> = halves.iter().map(|half| self.lowered(*half)).collect();
            self.vector_to(single, to, &uses).modifiers.neg = neg;
            return self.low_result(single, to);
        }
        let neg = neg ^ if single == Operation::SubF16 { 2 } else { 0 };
        let uses: Vec<Operand> = halves.iter().map(|half| half.word).collect();
        let high = bits(halves.iter().map(|half| half.is_high));
        let inst = self.vector_to(packed, to, &uses);
        (inst.modifiers.neg, inst.modifiers.halves) = (neg, Some(HalfSelect { lower: high, upper: high }));
        self.cut_off(to)
    }

    /// Two operations as one instruction.
    pub fn pair(&mut self, pair: Pair) {
        let kernel = self.kernel;
        let [low, high] = pair.insts.map(|inst| kernel.args(inst));
        let (mut uses, mut select, mut neg) = (Vec::new(), HalfSelect::default(), 0);
        for (n, value) in low.iter().enumerate() {
            let other = high[if pair.swaps && n < 2 { 1 - n } else { n }];
            let halves = [self.half(*value), self.half(other)];
            let (word, [is_lower_high, is_upper_high]) = self.both(halves);
            let is_negated = kernel.definition(*value).is_some_and(|inst| self.negated_factors[inst.index()]);
            uses.push(word);
            select.lower |= u8::from(is_lower_high) << n;
            select.upper |= u8::from(is_upper_high) << n;
            neg |= u8::from(is_negated) << n;
        }
        let operation = match kernel.insts[pair.at].op {
            Op::Bin(op, _) => {
                neg ^= if op == BinOp::Sub { 2 } else { 0 };
                float_operations(op).map_or(Operation::PackedAddF16, |[_, packed]| packed)
            }
            _ => Operation::PackedFmaF16,
        };
        let to = self.vectors(1);
        let inst = self.vector_to(operation, to, &uses);
        (inst.modifiers.neg, inst.modifiers.halves) = (neg, Some(select));
        for (inst, is_high) in pair.insts.into_iter().zip([false, true]) {
            kernel.results(inst).for_each(|result| self.halves.hold(result, Half::of(to, is_high)));
        }
    }

    /// The word of two values, and for each true if it is in the upper half. Only the lower half of a constant is read.
    fn both(&mut self, [low, high]: [Half; 2]) -> (Operand, [bool; 2]) {
        match (low.word, high.word) {
            (Operand::Constant(a), Operand::Constant(b)) if a == b => (low.word, [false; 2]),
            (Operand::Constant(a), Operand::Constant(b)) => (self.in_scalar(number(a | b << 16)), [false, true]),
            (a, b) if a == b => (a, [low.is_high, high.is_high]),
            _ => (self.packed(low, high), [false, true]),
        }
    }

    pub fn half_compare(&mut self, op: CmpOp, scalar: Scalar, args: [Value; 2]) -> Operand {
        let halves = args.map(|arg| self.half(arg));
        if self.exists(Operation::AddF16) && halves.iter().all(|half| !half.is_high) {
            return self.compare_lanes(relation(op), halves[0].word, halves[1].word);
        }
        let [a, b] = halves.map(|half| self.widen_half(scalar.kind, half));
        self.compare_lanes(super::arithmetic::relation(op, Scalar { width: 32, ..scalar }), a, b)
    }

    // Conversions.

    /// Takes half of a word as a 16-bit integer, in place. Returns true if nothing is left to do.
    pub fn takes_half_of_word(&mut self, inst: InstId) -> bool {
        let kernel = self.kernel;
        let Some(result) = kernel.result(inst).filter(|result| self.halves.is_open(*result)) else { return false };
        let Some(word) = halves::upper_of(kernel, &self.halves, kernel.args(inst)[0]) else { return false };
        let word = self.word(word);
        self.halves.hold(result, Half::of(word, true));
        true
    }

    /// Passes on a 16-bit float whose negation is a modifier.
    pub fn pass_half(&mut self, inst: InstId) {
        let half = self.half(self.kernel.args(inst)[0]);
        if let Some(result) = self.kernel.result(inst) {
            self.give_half(result, half);
        }
    }

    /// The result words of an instruction that its users absorb.
    pub fn absorbed_words(&mut self, inst: InstId) -> Words {
        let arg = self.kernel.args(inst)[0];
        match self.kernel.insts[inst].op {
            Op::Convert(from, _) => {
                let half = self.half(arg);
                one(self.widen_half(from.kind, half))
            }
            _ => {
                let word = self.word(arg);
                one(self.word_binary(BinOp::Shr, Scalar::U32, [word, number(16)]))
            }
        }
    }
}
