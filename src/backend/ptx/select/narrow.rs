//! Arithmetic on values of 8 and 16 bits. Integers of 8 bits are computed in 16 and extended again.
//!
//! Half operations that the hardware lacks are widened to 32 bits and rounded: a sum, product, quotient or square root
//! that is rounded to 24 bits and then to 11 equals the one that is rounded once.

use super::arithmetic::binary_name;
use super::{Class, Reg, Selector};
use crate::ir::Scalar;
use crate::kernel::{BinOp, UnOp, Value};

impl Selector<'_> {
    /// A value of 16 bits as 32 bits of the same kind.
    pub fn widened(&mut self, scalar: Scalar, value: Value) -> Reg {
        let half = self.arg(value);
        let name = match (scalar.is_float(), scalar.is_signed()) {
            (true, _) => "cvt.f32.f16",
            (false, true) => "cvt.s32.s16",
            (false, false) => "cvt.u32.u16",
        };
        self.word(name, half)
    }

    /// A word in the form of 8- and 16-bit values.
    pub fn cut(&mut self, scalar: Scalar, word: Reg) -> Reg {
        if scalar.is_float() {
            return self.inst(Class::Half, "cvt.rn.f16.f32", word);
        }
        let half = self.inst(Class::Half, "cvt.u16.u32", word);
        self.extended(scalar, half)
    }

    /// The low bits of 16, extended as the type needs.
    pub fn extended(&mut self, scalar: Scalar, half: Reg) -> Reg {
        match (scalar.width, scalar.is_signed()) {
            (8, true) => self.inst(Class::Half, "cvt.s16.s8", half),
            (8, false) => self.inst(Class::Half, "and.b16", format_args!("{half}, 255")),
            _ => half,
        }
    }

    pub fn narrow_unary(&mut self, op: UnOp, scalar: Scalar, a: Value) -> Reg {
        if scalar.is_float() {
            if matches!(op, UnOp::Neg | UnOp::Abs) {
                let a = self.arg(a);
                return self.float_unary(op, scalar, a);
            }
            let a = self.widened(scalar, a);
            let result = self.float_unary(op, Scalar::F32, a);
            return self.cut(scalar, result);
        }
        match op {
            UnOp::Neg | UnOp::Not | UnOp::Abs => {
                let a = self.arg(a);
                let result = self.int_unary(op, Scalar { width: 16, ..scalar }, a);
                self.extended(scalar, result)
            }
            UnOp::BitReverse => {
                let a = self.widened(scalar, a);
                let turned = self.word("brev.b32", a);
                let low = self.word("shr.u32", format_args!("{turned}, {}", 32 - scalar.width));
                self.cut(scalar, low)
            }
            UnOp::BitCount => {
                let a = self.widened(scalar, a);
                let own = self.word("and.b32", format_args!("{a}, {}", (1_u32 << scalar.width) - 1));
                let count = self.word("popc.b32", own);
                self.cut(scalar, count)
            }
            _ => {
                let a = self.widened(scalar, a);
                let at = self.int_unary(op, Scalar { width: 32, ..scalar }, a);
                self.cut(scalar, at)
            }
        }
    }

    pub fn narrow_binary(&mut self, op: BinOp, scalar: Scalar, args: [Value; 2]) -> Reg {
        if scalar.is_float() {
            return self.half_binary(op, args);
        }
        let (a, b) = (self.operand(args[0]), self.operand(args[1]));
        let operands = format!("{a}, {b}");
        if op == BinOp::MulHigh && scalar.width == 8 {
            let product = self.inst(Class::Half, "mul.lo.s16", operands);
            let shift = if scalar.is_signed() { "shr.s16" } else { "shr.u16" };
            let high = self.inst(Class::Half, shift, format_args!("{product}, 8"));
            return self.extended(scalar, high);
        }
        let Some(name) = binary_name(op, scalar) else {
            return self.refused("this operation", Class::Half);
        };
        let result = self.inst(Class::Half, name, operands);
        self.extended(scalar, result)
    }

    fn half_binary(&mut self, op: BinOp, args: [Value; 2]) -> Reg {
        let is_native = match op {
            BinOp::Min | BinOp::Max => self.isa.has_half_extremes(),
            BinOp::Div => false,
            _ => self.isa.has_halves(),
        };
        let scalar = if is_native { Scalar::F16 } else { Scalar::F32 };
        let name = binary_name(op, scalar).unwrap_or_default();
        if is_native {
            let [a, b] = args.map(|arg| self.arg(arg));
            return self.inst(Class::Half, name, format_args!("{a}, {b}"));
        }
        let [a, b] = args.map(|arg| self.widened(Scalar::F16, arg));
        let wide = self.word(name, format_args!("{a}, {b}"));
        self.cut(Scalar::F16, wide)
    }
}
