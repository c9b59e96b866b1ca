//! Arithmetic on 32-bit values and bools.
//!
//! Float multiplications and additions that must not be contracted have `.PREC`; the driver contracts others. Negation
//! and absolute value of floats are done on their bits, because a move of a float may change a NaN or flush a
//! subnormal.

use super::convert::ONE;
use super::{Selector, is_word};
use crate::backend::nv::machine::{Class, Kind, Operand};
use crate::backend::nv::mnemonic;
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::{BinOp, CmpOp, Op, TernOp, UnOp, Value};

/// How constants of a type are written.
pub const fn kind(scalar: Scalar) -> Kind {
    match scalar.kind {
        ScalarKind::Sint => Kind::Sint,
        ScalarKind::Float => Kind::Float,
        ScalarKind::Uint | ScalarKind::Bool | ScalarKind::Encoded(_) => Kind::Uint,
    }
}

/// Instruction names for one operand and a result of its type; `None` if there is no single instruction.
fn unary_name(op: UnOp, kind: Kind) -> Option<&'static str> {
    use Kind::{Float, Sint, Uint};
    Some(match (op, kind) {
        (UnOp::Not, Uint | Sint) => "NOT.U",
        (UnOp::Abs, Sint) => "ABS.S",
        (UnOp::Abs, Uint) => "MOV.U",
        (UnOp::Floor, Float) => "FLR.F32",
        (UnOp::Ceil, Float) => "CEIL.F32",
        (UnOp::Trunc, Float) => "TRUNC.F32",
        (UnOp::RoundEven, Float) => "ROUND.F32",
        (UnOp::InverseSqrt, Float) => "RSQ.F32",
        (UnOp::Exp2, Float) => "EX2.F32",
        (UnOp::Log2, Float) => "LG2.F32",
        (UnOp::Sin, Float) => "SIN.F32",
        (UnOp::Cos, Float) => "COS.F32",
        (UnOp::BitCount, Uint | Sint) => "BTC.U",
        (UnOp::BitReverse, Uint | Sint) => "BFR.U",
        (UnOp::FindLsb, Uint | Sint) => "BTFL.U",
        (UnOp::FindMsb, Uint) => "BTFM.U",
        (UnOp::FindMsb, Sint) => "BTFM.S",
        _ => return None,
    })
}

/// Instruction names for two operands and a result of one type; `None` if there is no single instruction.
fn binary_name(op: BinOp, kind: Kind, is_exact: bool) -> Option<&'static str> {
    use Kind::{Float, Sint, Uint};
    Some(match (op, kind) {
        (BinOp::Add, Float) if is_exact => "ADD.F32.PREC",
        (BinOp::Add, Float) => "ADD.F32",
        (BinOp::Add, _) => "ADD.U",
        (BinOp::Sub, Float) if is_exact => "SUB.F32.PREC",
        (BinOp::Sub, Float) => "SUB.F32",
        (BinOp::Sub, _) => "SUB.U",
        (BinOp::Mul, Float) if is_exact => "MUL.F32.PREC",
        (BinOp::Mul, Float) => "MUL.F32",
        (BinOp::Mul, _) => "MUL.U",
        (BinOp::MulHigh, Uint) => "MUL.HI.U",
        (BinOp::MulHigh, Sint) => "MUL.HI.S",
        (BinOp::Div, Float) => "DIV.F32",
        (BinOp::Div, Uint) => "DIV.U",
        (BinOp::Div, Sint) => "DIV.S",
        // MOD is undefined below zero (NV_gpu_program4, section 2.X.8.Z).
        (BinOp::Rem, Uint) => "MOD.U",
        (BinOp::Min, Float) => "MIN.F32",
        (BinOp::Min, Uint) => "MIN.U",
        (BinOp::Min, Sint) => "MIN.S",
        (BinOp::Max, Float) => "MAX.F32",
        (BinOp::Max, Uint) => "MAX.U",
        (BinOp::Max, Sint) => "MAX.S",
        (BinOp::And, Uint | Sint) => "AND.U",
        (BinOp::Or, Uint | Sint) => "OR.U",
        (BinOp::Xor, Uint | Sint) => "XOR.U",
        (BinOp::Shl, Uint | Sint) => "SHL.U",
        (BinOp::Shr, Uint) => "SHR.U",
        (BinOp::Shr, Sint) => "SHR.S",
        _ => return None,
    })
}

/// The comparison, which returns -1 and 0, or 1.0 and 0.0 for floats.
pub fn comparison(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "SEQ",
        CmpOp::Ne => "SNE",
        CmpOp::Lt => "SLT",
        CmpOp::Le => "SLE",
        CmpOp::Gt => "SGT",
        CmpOp::Ge => "SGE",
    }
}

const SIGN: Operand = Operand::Constant(0x8000_0000, Kind::Uint);
const MAGNITUDE: Operand = Operand::Constant(0x7fff_ffff, Kind::Uint);
const ZERO: Operand = Operand::Constant(0, Kind::Sint);

impl Selector<'_> {
    pub fn unary(&mut self, op: UnOp, scalar: Scalar, a: Value) -> Operand {
        match scalar.width {
            64 => self.long_unary(op, scalar, a),
            8 | 16 => self.narrow_unary(op, scalar, a),
            1 if op == UnOp::Not => {
                let a = self.arg(a, Kind::Sint);
                self.word(mnemonic::INVERT, &[a, ZERO])
            }
            _ => {
                let a = self.arg(a, kind(scalar));
                self.word_unary(op, kind(scalar), a)
            }
        }
    }

    pub fn word_unary(&mut self, op: UnOp, kind: Kind, a: Operand) -> Operand {
        match (op, kind) {
            (UnOp::Neg, Kind::Float) => self.word("XOR.U", &[as_bits(a), SIGN]),
            (UnOp::Neg, _) => self.opposite(a),
            (UnOp::Abs, Kind::Float) => self.word("AND.U", &[as_bits(a), MAGNITUDE]),
            (UnOp::Sqrt, Kind::Float) => {
                let inverse = self.word("RSQ.F32", &[a]);
                self.word("RCP.F32", &[inverse])
            }
            _ => match unary_name(op, kind) {
                Some(name) => self.word(name, &[a]),
                None => self.refused("this operation on 32-bit values"),
            },
        }
    }

    /// The complement plus 1. NVIDIA's compiler combines two minima or maxima into one operation, and there loses the
    /// sign of an operand that is a difference from 0 (docs/verified/nv-flow.md).
    fn opposite(&mut self, a: Operand) -> Operand {
        let inverse = self.word("NOT.U", &[as_bits(a)]);
        self.word("ADD.U", &[inverse, ONE])
    }

    pub fn binary(&mut self, op: BinOp, scalar: Scalar, args: [Value; 2]) -> Operand {
        if (op, scalar.width) == (BinOp::Xor, 32)
            && let Some(chosen) = self.chosen_inverse(args)
        {
            return chosen;
        }
        match scalar.width {
            64 => self.long_binary(op, scalar, args),
            8 | 16 => self.narrow_binary(op, scalar, args),
            _ => {
                let second = if matches!(op, BinOp::Shl | BinOp::Shr) { Kind::Uint } else { kind(scalar) };
                let args = [self.arg(args[0], kind(scalar)), self.arg(args[1], second)];
                self.word_binary(op, kind(scalar), args)
            }
        }
    }

    /// `y ^ (c ? -1 : 0)` as a select between `y` and its complement. If `y` is a negation, NVIDIA's compiler turns the
    /// exclusive or `-x ^ -1` into `x + 1`, while it equals `x - 1` (docs/verified/nv-flow.md).
    fn chosen_inverse(&mut self, args: [Value; 2]) -> Option<Operand> {
        let kernel = self.kernel;
        let mask = |value: Value| {
            let inst = kernel.definition(value).filter(|inst| kernel.insts[*inst].op == Op::Select)?;
            let [condition, accept, reject] = *kernel.args(inst) else { return None };
            let words = [accept, reject].map(|value| kernel.as_constant(value).map(|bits| bits as u32));
            matches!(words, [Some(0), Some(u32::MAX)] | [Some(u32::MAX), Some(0)])
                .then_some((condition, words[0] == Some(0)))
        };
        let [a, b] = args;
        let ((condition, keeps), value) = mask(a).map(|mask| (mask, b)).or_else(|| Some((mask(b)?, a)))?;
        let value = self.arg(value, Kind::Sint);
        let inverse = match value {
            Operand::Constant(bits, kind) => Operand::Constant(!bits, kind),
            _ => self.word("NOT.U", std::slice::from_ref(&value)),
        };
        let condition = self.uint(condition);
        let condition = Operand::Reg(self.in_reg(condition));
        let (accept, reject) = if keeps { (value, inverse) } else { (inverse, value) };
        Some(self.word("CMP.S", &[condition, accept, reject]))
    }

    pub fn word_binary(&mut self, op: BinOp, kind: Kind, args: [Operand; 2]) -> Operand {
        if op == BinOp::Rem && kind == Kind::Sint {
            return self.signed_remainder(args);
        }
        match binary_name(op, kind, self.is_exact) {
            Some(name) => {
                let args = if name.contains(".U") { args.map(as_bits) } else { args };
                self.word(name, &args)
            }
            None => self.refused("this operation on 32-bit values"),
        }
    }

    /// `a - a / b * b`, with the sign of `a`.
    fn signed_remainder(&mut self, [a, b]: [Operand; 2]) -> Operand {
        let quotient = self.word("DIV.S", &[a.clone(), b.clone()]);
        let whole = self.word("MUL.U", &[quotient, as_bits(b)]);
        self.word("SUB.U", &[as_bits(a), whole])
    }

    pub fn compare(&mut self, op: CmpOp, scalar: Scalar, args: [Value; 2]) -> Operand {
        match scalar.width {
            64 => self.long_compare(op, scalar, args),
            8 | 16 => self.narrow_compare(op, scalar, args),
            _ => {
                let kind = kind(scalar);
                let args = args.map(|arg| self.arg(arg, kind));
                self.word_compare(op, kind, args)
            }
        }
    }

    pub fn word_compare(&mut self, op: CmpOp, kind: Kind, args: [Operand; 2]) -> Operand {
        let suffix = match kind {
            Kind::Uint => "U",
            Kind::Sint => "S",
            Kind::Float => "F32",
        };
        let result = self.word(format!("{}.{suffix}", comparison(op)), &args);
        // As integers, the bits of 1.0 are not zero, and the bits of 0.0 are zero.
        if kind == Kind::Float { self.is_not_zero(result) } else { result }
    }

    /// A bool that is true if a word has bits set.
    pub fn is_not_zero(&mut self, word: Operand) -> Operand {
        self.word("SNE.S", &[word, ZERO])
    }

    pub fn ternary(&mut self, op: TernOp, scalar: Scalar, args: [Value; 3]) -> Operand {
        match op {
            TernOp::Fma if is_word(scalar) => {
                let args = args.map(|arg| self.arg(arg, Kind::Float));
                self.word("MAD.F32", &args)
            }
            TernOp::Fma if scalar.width == 64 => {
                let args = args.map(|arg| self.long_arg(arg));
                self.long("MAD.F64", &args)
            }
            TernOp::BitExtract if is_word(scalar) => self.bit_extract(scalar, args),
            _ => self.refused("this operation on values of this size"),
        }
    }

    fn bit_extract(&mut self, scalar: Scalar, [base, offset, bits]: [Value; 3]) -> Operand {
        let word = self.arg(base, kind(scalar));
        if !scalar.is_signed() {
            let field = self.field(offset, bits);
            return self.word("BFE.U", &[field, word]);
        }
        match (self.known(offset), self.known(bits)) {
            (Some(offset), Some(bits @ 1..=32)) if offset <= 32 - bits => self.signed_field(word, offset, bits),
            _ if !self.floats_unsigned => {
                let field = self.field(offset, bits);
                self.word("BFE.S", &[field, word])
            }
            _ => self.computed_signed_field(&as_bits(word), offset, bits),
        }
    }

    /// A signed field without `BFE.S`: flips the field's highest bit and subtracts it.
    fn computed_signed_field(&mut self, word: &Operand, offset: Value, bits: Value) -> Operand {
        let field = self.field(offset, bits);
        let field = self.word("BFE.U", &[field, word.clone()]);
        // For an empty field any bit will do.
        let highest = match self.known(bits) {
            Some(bits) => Operand::Constant(1 << (bits.wrapping_sub(1) & 31), Kind::Uint),
            None => {
                let bits = self.uint(bits);
                let last = self.word("SUB.U", &[bits, ONE]);
                let last = self.word("AND.U", &[last, Operand::Constant(31, Kind::Uint)]);
                self.word("SHL.U", &[ONE, last])
            }
        };
        let turned = self.word("XOR.U", &[field, highest.clone()]);
        self.word("SUB.U", &[turned, highest])
    }

    /// The low bits of a word, sign-extended. `BFE.S` does it at once. But if its result is treated as unsigned and
    /// converted to a float, as in a division, NVIDIA's compiler keeps the sign, even in its own GLSL. Shifts are not
    /// affected.
    pub fn signed_field(&mut self, word: Operand, offset: u32, bits: u32) -> Operand {
        let above = 32 - offset - bits;
        if let Operand::Constant(value, _) = word {
            return Operand::Constant(((value << above) as i32 >> (32 - bits)) as u32, Kind::Sint);
        }
        if !self.floats_unsigned {
            return self.word("BFE.S", &[Operand::Constants([bits, offset, 0, 0]), word]);
        }
        let count = |bits: u32| Operand::Constant(bits, Kind::Uint);
        let word = if above > 0 { self.word("SHL.U", &[as_bits(word), count(above)]) } else { word };
        self.word("SHR.S", &[word, count(32 - bits)])
    }

    pub fn bit_insert(&mut self, scalar: Scalar, args: &[Value]) -> Operand {
        if !is_word(scalar) {
            return self.refused("bit fields of values of this size");
        }
        let field = self.field(args[2], args[3]);
        let (base, insert) = (self.uint(args[0]), self.uint(args[1]));
        self.word("BFI.U", &[field, insert, base])
    }

    /// Bit count and offset, in the order of `BFE` and `BFI`.
    fn field(&mut self, offset: Value, bits: Value) -> Operand {
        let parts = [self.uint(bits), self.uint(offset)];
        self.vector(&parts, Class::Word)
    }
}

/// The operand for an instruction on unsigned integers.
pub fn as_bits(operand: Operand) -> Operand {
    match operand {
        Operand::Constant(bits, _) => Operand::Constant(bits, Kind::Uint),
        other => other,
    }
}
