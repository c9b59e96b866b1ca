//! Floats of 32 and 64 bits.
//!
//! Negation and absolute value are done on bits, so that NaNs keep theirs. Quotients, roots and transcendental
//! functions of 32 bits have two forms. The short one is the hardware's instruction, whose error of one ULP and whose
//! zeros for subnormals Vulkan allows ("Precision of Core SPIR-V Instructions": 2.5 ULP for a quotient, 2 for an
//! inverse root, 3 for a logarithm, 3 + 2|x| for an exponential, 2^-11 for a sine of at most π). `precise` results use
//! the long one: operands are scaled into range and results back, by powers of two, and division follows LLVM's
//! expansion with DIV_SCALE, DIV_FMAS and DIV_FIXUP (`SITargetLowering::LowerFDIV32` and `LowerFDIV64`).

use super::arithmetic::number;
use super::emit::{FALSE, VCC, part};
use super::{Selector, Words};
use crate::backend::amd::arch::Addressing;
use crate::backend::amd::machine::{File, Operand};
use crate::backend::amd::mnemonic::{Generation, Operation};
use crate::ir::Scalar;
use crate::kernel::{BinOp, UnOp};

const SIGN: u32 = 0x8000_0000;
const ONE: Operand = float(1.0);

pub const fn float(value: f32) -> Operand {
    Operand::Constant(value.to_bits())
}

/// An instruction that flushes subnormal operands and results. In the long form, operands that are too small are
/// scaled, and the results scaled back.
struct Scaled {
    operation: Operation,
    /// The instructions that scale operands and results.
    by: [Operation; 2],
    below: f32,
    /// Factor, or summand, of the operand.
    before: f32,
    /// Factor, or summand, of the result.
    after: f32,
}

const TWO_POW_32: f32 = 4_294_967_296.0;
/// 2^-96: far above all subnormals.
const SMALL: f32 = 1.262_177_4e-29;
const SQRT: Scaled = Scaled {
    operation: Operation::SqrtF32,
    by: [Operation::MulF32; 2],
    below: SMALL,
    before: TWO_POW_32,
    after: 1.0 / 65536.0,
};
const INVERSE_SQRT: Scaled = Scaled { operation: Operation::RsqF32, after: 65536.0, ..SQRT };
const LOG: Scaled = Scaled {
    operation: Operation::LogF32,
    by: [Operation::MulF32, Operation::AddF32],
    below: f32::MIN_POSITIVE,
    before: TWO_POW_32,
    after: -32.0,
};
const EXP: Scaled = Scaled {
    operation: Operation::ExpF32,
    by: [Operation::AddF32, Operation::MulF32],
    below: -126.0,
    before: 64.0,
    after: 1.0 / (TWO_POW_32 * TWO_POW_32),
};

/// The scalar operation on one float.
const fn scalar_unary(op: UnOp) -> Option<Operation> {
    Some(match op {
        UnOp::Floor => Operation::ScalarFloorF32,
        UnOp::Ceil => Operation::ScalarCeilF32,
        UnOp::Trunc => Operation::ScalarTruncF32,
        UnOp::RoundEven => Operation::ScalarRoundF32,
        _ => return None,
    })
}

/// The scalar unit's operation on two floats.
const fn scalar_binary(op: BinOp) -> Option<Operation> {
    Some(match op {
        BinOp::Add => Operation::ScalarAddF32,
        BinOp::Sub => Operation::ScalarSubF32,
        BinOp::Mul => Operation::ScalarMulF32,
        BinOp::Min => Operation::ScalarMinF32,
        BinOp::Max => Operation::ScalarMaxF32,
        _ => return None,
    })
}

impl Selector<'_> {
    pub fn float_unary(&mut self, op: UnOp, a: Operand) -> Operand {
        use Operation as O;
        if self.is_for_scalar_unit(&[a])
            && let Some(operation) = scalar_unary(op)
        {
            return self.scalar(operation, &[a]);
        }
        match op {
            UnOp::Neg => self.word_binary(BinOp::Xor, Scalar::U32, [a, number(SIGN)]),
            UnOp::Abs => self.word_binary(BinOp::And, Scalar::U32, [a, number(!SIGN)]),
            UnOp::Floor => self.vector(O::FloorF32, &[a]),
            UnOp::Ceil => self.vector(O::CeilF32, &[a]),
            UnOp::Trunc => self.vector(O::TruncF32, &[a]),
            UnOp::RoundEven => self.vector(O::RoundF32, &[a]),
            UnOp::Sqrt => self.scaled(a, &SQRT),
            UnOp::InverseSqrt => self.scaled(a, &INVERSE_SQRT),
            UnOp::Log2 => self.scaled(a, &LOG),
            UnOp::Exp2 => self.scaled(a, &EXP),
            UnOp::Sin => self.turned(O::SinF32, a),
            UnOp::Cos => self.turned(O::CosF32, a),
            _ => self.refused("this operation on floats")[0],
        }
    }

    fn scaled(&mut self, a: Operand, function: &Scaled) -> Operand {
        let Scaled { operation, by: [before, after], .. } = *function;
        if !self.is_exact {
            return self.vector(operation, &[a]);
        }
        let neutral = |operation| if operation == Operation::AddF32 { FALSE } else { ONE };
        let a = self.in_vector(a);
        let is_small = self.compare_lanes("gt_f32", float(function.below), a);
        let scale = self.choose_number(is_small, float(function.before), neutral(before));
        let operand = self.vector(before, &[a, scale]);
        let result = self.vector(operation, &[operand]);
        let back = self.choose_number(is_small, float(function.after), neutral(after));
        self.vector(after, &[result, back])
    }

    /// A choice between two constants.
    fn choose_number(&mut self, mask: Operand, accept: Operand, reject: Operand) -> Operand {
        let accept = self.in_vector(accept);
        self.choose(mask, accept, reject)
    }

    /// The instructions take turns, near zero. In the long form the product with 1/(2π) has twice the bits, so that the
    /// fraction of a turn is right even for operands far from zero.
    fn turned(&mut self, operation: Operation, a: Operand) -> Operand {
        use Operation as O;
        const TURN: f64 = 0.159_154_943_091_895_35;
        let high = float(TURN as f32);
        let low = float((TURN - (TURN as f32) as f64) as f32);
        if !self.is_exact {
            let turns = self.vector(O::MulF32, &[high, a]);
            let turns = if self.arch.has_wide_sines() { turns } else { self.vector(O::FractF32, &[turns]) };
            return self.vector(operation, &[turns]);
        }
        let a = self.in_vector(a);
        let high = self.in_scalar(high);
        let turns = self.vector(O::MulF32, &[a, high]);
        let minus = self.float_unary(UnOp::Neg, turns);
        let rest = self.vector(O::FmaF32, &[a, high, minus]);
        let low = self.in_scalar(low);
        let rest = self.vector(O::FmaF32, &[a, low, rest]);
        let part = self.vector(O::FractF32, &[turns]);
        let sum = self.vector(O::AddF32, &[part, rest]);
        let part = self.vector(O::FractF32, &[sum]);
        self.vector(operation, &[part])
    }

    /// Returns true if the scalar unit computes with floats, and has these.
    pub fn is_for_scalar_unit(&self, floats: &[Operand]) -> bool {
        self.arch.processor.has_scalar_floats && !floats.iter().any(|float| self.is_vector(*float))
    }

    /// `a * b + c` by the scalar unit.
    pub fn scalar_fused(&mut self, [a, b, c]: [Operand; 3]) -> Operand {
        let to = self.scalars(1);
        self.move_to(to, c);
        self.scalar_to(Operation::ScalarFmacF32, to, &[a, b]).keeps = true;
        to
    }

    pub fn float_binary(&mut self, op: BinOp, operands: [Operand; 2]) -> Operand {
        if self.is_for_scalar_unit(&operands)
            && let Some(operation) = scalar_binary(op)
        {
            return self.scalar(operation, &operands);
        }
        let operation = match op {
            BinOp::Add => Operation::AddF32,
            BinOp::Sub => Operation::SubF32,
            BinOp::Mul => Operation::MulF32,
            BinOp::Min => Operation::MinF32,
            BinOp::Max => Operation::MaxF32,
            BinOp::Div if self.is_exact => return self.long_quotient(operands),
            BinOp::Div => return self.short_quotient(operands),
            _ => return self.refused("this operation on floats")[0],
        };
        self.vector(operation, &operands)
    }

    /// A product with a reciprocal, which is within 2.5 ULP for divisors from 2^-126 to 2^126.
    fn short_quotient(&mut self, [a, b]: [Operand; 2]) -> Operand {
        let inverse = match b {
            Operand::Constant(bits) if (1.0 / f32::from_bits(bits)).is_normal() => float(1.0 / f32::from_bits(bits)),
            _ => self.vector(Operation::RcpF32, &[b]),
        };
        if a == ONE { inverse } else { self.float_binary(BinOp::Mul, [a, inverse]) }
    }

    fn long_quotient(&mut self, operands: [Operand; 2]) -> Operand {
        use Operation as O;
        let [a, b] = operands.map(|operand| self.in_vector(operand));
        let scaled_b = self.vectors(1);
        self.raw(O::DivScaleF32, &[scaled_b, VCC], &[b, b, a]);
        let guess = self.vector(O::RcpF32, &[scaled_b]);
        let negative = |selector: &mut Self, operation, uses: [Operand; 3]| {
            let to = selector.vectors(1);
            selector.raw(operation, &[to], &uses).modifiers.neg = 1;
            to
        };
        let error = negative(self, O::FmaF32, [scaled_b, guess, ONE]);
        let guess = self.vector(O::FmaF32, &[error, guess, guess]);
        let scaled_a = self.vectors(1);
        self.raw(O::DivScaleF32, &[scaled_a, VCC], &[a, b, a]);
        let quotient = self.vector(O::MulF32, &[scaled_a, guess]);
        let error = negative(self, O::FmaF32, [scaled_b, quotient, scaled_a]);
        let quotient = self.vector(O::FmaF32, &[error, guess, quotient]);
        let error = negative(self, O::FmaF32, [scaled_b, quotient, scaled_a]);
        let quotient = self.vector(O::DivFmasF32, &[error, guess, quotient]);
        self.vector(O::DivFixupF32, &[quotient, b, a])
    }

    // Doubles.

    /// A double in a pair of vector registers, or an inline constant.
    pub fn double_operand(&mut self, words: &[Operand]) -> Operand {
        use crate::backend::amd::machine::INLINE_FLOATS;
        if let [Operand::Constant(low), Operand::Constant(high)] = words {
            let bits = u64::from(*low) | u64::from(*high) << 32;
            if bits == 0 {
                return FALSE;
            }
            if INLINE_FLOATS.contains(&f64::from_bits(bits).abs()) {
                return Operand::Double(bits);
            }
        }
        let is_scalar = words.iter().all(|word| !self.is_vector(*word));
        self.whole(words, if is_scalar { File::Scalar } else { File::Vector })
    }

    pub fn double_unary(&mut self, op: UnOp, a: &[Operand]) -> Words {
        use Operation as O;
        let on_high = |selector: &mut Self, op, mask| {
            [a[0], selector.word_binary(op, Scalar::U32, [a[1], number(mask)])].into_iter().collect()
        };
        let operation = match op {
            UnOp::Neg => return on_high(self, BinOp::Xor, SIGN),
            UnOp::Abs => return on_high(self, BinOp::And, !SIGN),
            UnOp::Sqrt => return self.double_root(a, false),
            UnOp::InverseSqrt => return self.double_root(a, true),
            UnOp::Floor => O::FloorF64,
            UnOp::Ceil => O::CeilF64,
            UnOp::Trunc => O::TruncF64,
            UnOp::RoundEven => O::RoundF64,
            _ => return self.refused("this function of a double"),
        };
        if self.arch.processor.addressing == Addressing::Buffer {
            return self.round_by_hand(op, a);
        }
        let a = self.double_operand(a);
        let result = self.vector_pair(operation, &[a]);
        self.words_of(result, 2)
    }

    /// gfx6 has no rounding of doubles. Beyond 2^52 all are integers; below, adding and subtracting 2^52 rounds to the
    /// nearest.
    fn round_by_hand(&mut self, op: UnOp, a: &[Operand]) -> Words {
        let value = self.whole(a, File::Vector);
        let large = self.whole(&[number(0), number(0x4330_0000)], File::Vector);
        let magnitude_words = self.double_unary(UnOp::Abs, &[part(value, 0), part(value, 1)]);
        let magnitude = self.whole(&magnitude_words, File::Vector);
        let is_small = self.compare_lanes("lt_f64", magnitude, large);
        let sum = self.vector_pair(Operation::AddF64, &[magnitude, large]);
        let nearest = self.double_difference(sum, large);
        let rounded = match op {
            UnOp::Trunc => self.less_one_where("gt_f64", nearest, magnitude),
            _ => nearest,
        };
        let signed = self.with_sign_of(rounded, value);
        let adjusted = match op {
            UnOp::Floor => self.less_one_where("gt_f64", signed, value),
            UnOp::Ceil => self.more_one_where("lt_f64", signed, value),
            _ => signed,
        };
        let adjusted = self.with_sign_of(adjusted, value);
        (0..2).map(|n| self.choose(is_small, part(adjusted, n), part(value, n))).collect()
    }

    fn with_sign_of(&mut self, value: Operand, sign: Operand) -> Operand {
        let mask = self.in_scalar(number(!SIGN));
        let high = self.vector(Operation::BfiB32, &[mask, part(value, 1), part(sign, 1)]);
        self.whole(&[part(value, 0), high], File::Vector)
    }

    fn double_difference(&mut self, a: Operand, b: Operand) -> Operand {
        let to = self.vectors(2);
        self.raw(Operation::AddF64, &[to], &[a, b]).modifiers.neg = 2;
        to
    }

    fn less_one_where(&mut self, relation: &'static str, value: Operand, than: Operand) -> Operand {
        self.moved_where(relation, value, than, (-1.0_f64).to_bits())
    }

    fn more_one_where(&mut self, relation: &'static str, value: Operand, than: Operand) -> Operand {
        self.moved_where(relation, value, than, 1.0_f64.to_bits())
    }

    /// A value plus a summand in lanes where a relation to another value holds.
    fn moved_where(&mut self, relation: &'static str, value: Operand, than: Operand, summand: u64) -> Operand {
        let mask = self.compare_lanes(relation, value, than);
        let moved = self.vector_pair(Operation::AddF64, &[value, Operand::Double(summand)]);
        let words: Words = (0..2).map(|n| self.choose(mask, part(moved, n), part(value, n))).collect();
        self.whole(&words, File::Vector)
    }

    pub fn double_binary(&mut self, op: BinOp, a: &[Operand], b: &[Operand]) -> Words {
        let operation = match op {
            BinOp::Add | BinOp::Sub => Operation::AddF64,
            BinOp::Mul => Operation::MulF64,
            BinOp::Min => Operation::MinF64,
            BinOp::Max => Operation::MaxF64,
            BinOp::Div => return self.double_quotient(a, b),
            _ => return self.refused("this operation on doubles"),
        };
        if op == BinOp::Sub {
            let (a, b) = (self.whole(a, File::Vector), self.whole(b, File::Vector));
            let difference = self.double_difference(a, b);
            return self.words_of(difference, 2);
        }
        let (a, b) = (self.double_operand(a), self.double_operand(b));
        let result = self.vector_pair(operation, &[a, b]);
        self.words_of(result, 2)
    }

    fn double_quotient(&mut self, a: &[Operand], b: &[Operand]) -> Words {
        use Operation as O;
        let (a, b) = (self.whole(a, File::Vector), self.whole(b, File::Vector));
        let one = Operand::Double(1.0_f64.to_bits());
        let scaled_b = self.vectors(2);
        self.raw(O::DivScaleF64, &[scaled_b, VCC], &[b, b, a]);
        let negative = |selector: &mut Self, uses: [Operand; 3]| {
            let to = selector.vectors(2);
            selector.raw(O::FmaF64, &[to], &uses).modifiers.neg = 1;
            to
        };
        let mut guess = self.vector_pair(O::RcpF64, &[scaled_b]);
        for _ in 0..2 {
            let error = negative(self, [scaled_b, guess, one]);
            guess = self.vector_pair(O::FmaF64, &[guess, error, guess]);
        }
        let scaled_a = self.vectors(2);
        self.raw(O::DivScaleF64, &[scaled_a, VCC], &[a, b, a]);
        let quotient = self.vector_pair(O::MulF64, &[scaled_a, guess]);
        let error = negative(self, [scaled_b, quotient, scaled_a]);
        if self.arch.processor.addressing == Addressing::Buffer {
            self.scaled_by_words(a, b, scaled_a, scaled_b);
        }
        let quotient = self.vector_pair(O::DivFmasF64, &[error, guess, quotient]);
        let result = self.vector_pair(O::DivFixupF64, &[quotient, b, a]);
        self.words_of(result, 2)
    }

    /// gfx6 does not report correctly whether DIV_SCALE has scaled: exactly one of the operands then has another high
    /// word (LLVM: `hasUsableDivScaleConditionOutput`).
    fn scaled_by_words(&mut self, a: Operand, b: Operand, scaled_a: Operand, scaled_b: Operand) {
        let same_b = self.compare_lanes("eq_u32", part(b, 1), part(scaled_b, 1));
        let same_a = self.compare_lanes("eq_u32", part(a, 1), part(scaled_a, 1));
        self.raw(Operation::ScalarXor64, &[VCC], &[same_a, same_b]);
    }

    /// A root or its inverse: V_RSQ_F64 and two iterations of Newton's method (LLVM: `lowerFSQRTF64`). Small operands
    /// are scaled by 2^256 and their roots back by 2^-128; zero and infinity are their own roots.
    fn double_root(&mut self, a: &[Operand], inverse: bool) -> Words {
        use Operation as O;
        let value = self.whole(a, File::Vector);
        let limit = self.whole(&[number(0), number(0x1000_0000)], File::Vector);
        let is_small = self.compare_lanes("lt_f64", value, limit);
        let up = self.choose_number(is_small, number(256), FALSE);
        let scaled = self.vector_pair(O::LdexpF64, &[value, up]);
        let guess = self.vector_pair(O::RsqF64, &[scaled]);
        let half = Operand::Double(0.5_f64.to_bits());
        let negative = |selector: &mut Self, uses: [Operand; 3]| {
            let to = selector.vectors(2);
            selector.raw(O::FmaF64, &[to], &uses).modifiers.neg = 1;
            to
        };
        let mut root = self.vector_pair(O::MulF64, &[scaled, guess]);
        let mut halved = self.vector_pair(O::MulF64, &[guess, half]);
        let error = negative(self, [halved, root, half]);
        root = self.vector_pair(O::FmaF64, &[root, error, root]);
        halved = self.vector_pair(O::FmaF64, &[halved, error, halved]);
        for _ in 0..2 {
            let error = negative(self, [root, root, scaled]);
            root = self.vector_pair(O::FmaF64, &[error, halved, root]);
        }
        let down = self.choose_number(is_small, number((-128_i32) as u32), FALSE);
        root = self.vector_pair(O::LdexpF64, &[root, down]);
        let is_own = self.compare_class(scaled, ZERO_OR_INFINITY);
        let root: Words = (0..2).map(|n| self.choose(is_own, part(scaled, n), part(root, n))).collect();
        if !inverse {
            return root;
        }
        self.double_quotient(&[number(0), number(0x3ff0_0000)], &root)
    }

    /// The lanes whose double is of one of these classes.
    fn compare_class(&mut self, value: Operand, classes: u32) -> Operand {
        let classes = self.in_vector(number(classes));
        self.compare_lanes("class_f64", value, classes)
    }

    /// The low 16 bits. gfx8 clears the upper half, later generations keep it.
    pub fn low_half(&mut self, word: Operand) -> Operand {
        if self.arch.generation == Generation::Gcn3 && self.is_vector(word) {
            return word;
        }
        self.word_binary(BinOp::And, Scalar::U32, [word, number(0xffff)])
    }
}

/// Classes of V_CMP_CLASS: both zeros, and infinity above (GCN 3 ISA, V_CMP_CLASS_F64).
const ZERO_OR_INFINITY: u32 = 0x20 | 0x40 | 0x200;
