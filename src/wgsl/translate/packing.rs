//! Four bytes in a word: packing, unpacking and dot products (WGSL 17.5.15, 17.9, 17.10), written with shifts.

use super::function::Body;
use crate::ir::{BinaryOp, MathFn, Scalar, TypeId, Value};
use naga::MathFunction;

impl Body<'_, '_, '_> {
    /// The function, if this file handles it.
    pub(super) fn packing(&mut self, function: MathFunction, args: &[Value]) -> Option<Value> {
        Some(match function {
            MathFunction::Pack4xI8 | MathFunction::Pack4xU8 => self.pack(args[0]),
            MathFunction::Pack4xI8Clamp => self.pack_clamped(args[0], -128i32 as u32, 127),
            MathFunction::Pack4xU8Clamp => self.pack_clamped(args[0], 0, 255),
            MathFunction::Unpack4xI8 => self.unpack(args[0], Scalar::I32),
            MathFunction::Unpack4xU8 => self.unpack(args[0], Scalar::U32),
            MathFunction::Dot4I8Packed => self.dot_bytes(args, Scalar::I32),
            MathFunction::Dot4U8Packed => self.dot_bytes(args, Scalar::U32),
            _ => return None,
        })
    }

    fn four(&mut self, scalar: Scalar) -> TypeId {
        self.b.module.types.vector(scalar, 4)
    }

    /// The low byte of each component, the first lowest.
    fn pack(&mut self, value: Value) -> Value {
        let ty = self.four(Scalar::U32);
        let words = self.b.bitcast(value, ty);
        let low = self.number(Scalar::U32, 0xFF, 4);
        let bytes = self.b.binary(BinaryOp::And, words, low);
        let shifts = [0, 8, 16, 24].map(|by| self.b.const_u32(by));
        let shifts = self.b.construct(ty, &shifts);
        let placed = self.b.binary(BinaryOp::Shl, bytes, shifts);
        let parts = [0, 1, 2, 3].map(|index| self.b.extract(placed, index));
        parts[1..].iter().fold(parts[0], |word, part| self.b.binary(BinaryOp::Or, word, *part))
    }

    fn pack_clamped(&mut self, value: Value, low: u32, high: u32) -> Value {
        let (_, scalar, size) = self.shape(value);
        let (low, high) = (self.number(scalar, low.into(), size), self.number(scalar, high.into(), size));
        let clamped = self.b.math(MathFn::Clamp, &[value, low, high]);
        self.pack(clamped)
    }

    /// The bytes of a word, sign-extended for a signed scalar.
    fn bytes(&mut self, word: Value, scalar: Scalar) -> [Value; 4] {
        let ty = self.b.module.types.scalar(scalar);
        let word = self.b.bitcast(word, ty);
        let eight = self.b.const_u32(8);
        [0, 8, 16, 24].map(|by| {
            let offset = self.b.const_u32(by);
            self.b.math(MathFn::BitfieldExtract, &[word, offset, eight])
        })
    }

    fn unpack(&mut self, word: Value, scalar: Scalar) -> Value {
        let bytes = self.bytes(word, scalar);
        let ty = self.four(scalar);
        self.b.construct(ty, &bytes)
    }

    fn dot_bytes(&mut self, words: &[Value], scalar: Scalar) -> Value {
        let (a, b) = (self.bytes(words[0], scalar), self.bytes(words[1], scalar));
        let products: Vec<Value> = a.into_iter().zip(b).map(|(x, y)| self.b.binary(BinaryOp::Mul, x, y)).collect();
        products[1..].iter().fold(products[0], |sum, next| self.b.binary(BinaryOp::Add, sum, *next))
    }
}
