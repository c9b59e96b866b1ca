//! Packing floats into integers: GLSL 4.60 section 8.4.

use super::super::arith::unsigned;
use super::{Lower, Scalars};
use crate::ir::{MathFn, Scalar};
use crate::kernel::{BinOp, Op, TernOp, Ty, UnOp, Value};

const F: Scalar = Scalar::F32;
const U: Scalar = Scalar::U32;
const HALF: Scalar = Scalar { kind: crate::ir::ScalarKind::Float, width: 16 };

/// The bits of a field, and the maximum of a normalized field (the negated minimum if signed).
struct Format {
    bits: u32,
    scale: f64,
    signed: bool,
}

/// `None` for halves, which are converted.
fn format(function: MathFn) -> Option<Format> {
    use MathFn::*;
    Some(match function {
        PackSnorm4x8 | UnpackSnorm4x8 => Format { bits: 8, scale: 127.0, signed: true },
        PackUnorm4x8 | UnpackUnorm4x8 => Format { bits: 8, scale: 255.0, signed: false },
        PackSnorm2x16 | UnpackSnorm2x16 => Format { bits: 16, scale: 32767.0, signed: true },
        PackUnorm2x16 | UnpackUnorm2x16 => Format { bits: 16, scale: 65535.0, signed: false },
        _ => return None,
    })
}

impl Lower<'_> {
    pub fn pack(&mut self, function: MathFn, values: &[Value]) -> Value {
        if function == MathFn::PackDouble2x32 {
            return self.b.value(Op::Join, values, Ty::B64);
        }
        let format = format(function);
        let bits = format.as_ref().map_or(16, |format| format.bits);
        let fields: Scalars = values.iter().map(|value| self.field(format.as_ref(), *value)).collect();
        let mut word = fields[0];
        for (at, field) in fields.iter().enumerate().skip(1) {
            let amount = self.b.u32(at as u32 * bits);
            let shifted = self.b.bin(BinOp::Shl, U, *field, amount);
            word = self.b.bin(BinOp::Or, U, word, shifted);
        }
        word
    }

    /// A float as the bits of a field, with the other bits zero.
    fn field(&mut self, format: Option<&Format>, value: Value) -> Value {
        let Some(format) = format else {
            let half = self.b.convert(F, HALF, value);
            return self.b.convert(unsigned(16), U, half);
        };
        let (low, high) = (self.real(F, if format.signed { -1.0 } else { 0.0 }), self.real(F, 1.0));
        let (inside, scale) = (self.clamp(F, value, low, high), self.real(F, format.scale));
        let scaled = self.mul(F, inside, scale);
        let rounded = self.b.un(UnOp::RoundEven, F, scaled);
        let number = self.b.convert(F, Scalar::I32, rounded);
        if format.signed { self.and(U, number, (1 << format.bits) - 1) } else { number }
    }

    pub fn unpack(&mut self, function: MathFn, word: Value) -> Scalars {
        if function == MathFn::UnpackDouble2x32 {
            return [Op::Low, Op::High].map(|op| self.b.value(op, &[word], Ty::B32)).into_iter().collect();
        }
        match format(function) {
            Some(format) => (0..32 / format.bits).map(|at| self.normalised(&format, word, at * format.bits)).collect(),
            None => (0..2).map(|at| self.half(word, at * 16)).collect(),
        }
    }

    fn normalised(&mut self, format: &Format, word: Value, first: u32) -> Value {
        let kind = if format.signed { Scalar::I32 } else { U };
        let (offset, bits) = (self.b.u32(first), self.b.u32(format.bits));
        let field = self.b.tern(TernOp::BitExtract, kind, [word, offset, bits]);
        let (number, scale) = (self.b.convert(kind, F, field), self.real(F, format.scale));
        let value = self.div(F, number, scale);
        if !format.signed {
            return value;
        }
        // The smallest integer is a little below -1.
        let least = self.real(F, -1.0);
        self.b.bin(BinOp::Max, F, value, least)
    }

    fn half(&mut self, word: Value, first: u32) -> Value {
        let amount = self.b.u32(first);
        let shifted = self.b.bin(BinOp::Shr, U, word, amount);
        let bits = self.b.convert(U, unsigned(16), shifted);
        self.b.convert(HALF, F, bits)
    }
}
