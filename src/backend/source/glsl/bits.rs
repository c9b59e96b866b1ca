//! Conversions: of numbers, and of bits (GLSL 4.60 sections 5.4.1 and 8.3, GL_EXT_shader_explicit_arithmetic_types).

use super::Dialect;
use crate::backend::source::expr::Expr;
use crate::backend::source::writer::Writer;
use crate::ir::{Scalar, ScalarKind, Type, TypeId};

impl Dialect {
    /// Reinterprets the bits as another type.
    pub fn reinterpreted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        if from == to {
            return value.clone();
        }
        let is_reference = |ty| matches!(t.types.get(ty), Type::BufferReference { .. });
        if is_reference(from) || is_reference(to) {
            if t.shape(from).or(t.shape(to)).is_some_and(|(_, size)| size == 2) {
                t.need("GL_EXT_buffer_reference_uvec2");
            }
            let name = t.type_name(to);
            return Expr::call(&name, std::slice::from_ref(value));
        }
        let (Some((a, n)), Some((b, m))) = (t.shape(from), t.shape(to)) else {
            return t.stand_in("bits of such types as others");
        };
        if n == m {
            return self.same_width(t, value, a, b, n);
        }
        if (a, n, b, m) == (Scalar::F64, 1, Scalar::U32, 2) {
            return Expr::call("unpackDouble2x32", std::slice::from_ref(value));
        }
        if (a, n, b, m) == (Scalar::U32, 2, Scalar::F64, 1) {
            return Expr::call("packDouble2x32", std::slice::from_ref(value));
        }
        let unsigned = |scalar: Scalar| Scalar { kind: ScalarKind::Uint, ..scalar };
        let words = self.same_width(t, value, a, unsigned(a), n);
        let Some(function) = repacking(a.width, n, b.width, m) else {
            return t.stand_in("bits of such types as others");
        };
        for width in [a.width, b.width] {
            t.vector_name(Scalar { kind: ScalarKind::Uint, width }, 1);
        }
        let packed = Expr::call(function, &[words]);
        self.same_width(t, &packed, unsigned(b), b, m)
    }

    /// Reinterprets the bits as another kind of number of the same width.
    fn same_width(&self, t: &mut Writer, value: &Expr, from: Scalar, to: Scalar, size: u8) -> Expr {
        use ScalarKind::{Float, Sint, Uint};
        if from == to {
            return value.clone();
        }
        let name = match (from.kind, to.kind, from.width) {
            (Float, Sint, 32) => "floatBitsToInt",
            (Float, Uint, 32) => "floatBitsToUint",
            (Sint, Float, 32) => "intBitsToFloat",
            (Uint, Float, 32) => "uintBitsToFloat",
            (Float, Sint, 16) => "float16BitsToInt16",
            (Float, Uint, 16) => "float16BitsToUint16",
            (Sint, Float, 16) => "int16BitsToFloat16",
            (Uint, Float, 16) => "uint16BitsToFloat16",
            (Float, Sint, 64) => "doubleBitsToInt64",
            (Float, Uint, 64) => "doubleBitsToUint64",
            (Sint, Float, 64) => "int64BitsToDouble",
            (Uint, Float, 64) => "uint64BitsToDouble",
            _ => {
                let name = t.vector_name(to, size);
                return Expr::call(&name, std::slice::from_ref(value));
            }
        };
        for scalar in [from, to] {
            t.vector_name(scalar, size);
        }
        Expr::call(name, std::slice::from_ref(value))
    }
}

/// The function that repacks `n` unsigned integers into `m` others.
const fn repacking(from: u8, n: u8, to: u8, m: u8) -> Option<&'static str> {
    Some(match (from, n, to, m) {
        (32, 2, 64, 1) => "packUint2x32",
        (64, 1, 32, 2) => "unpackUint2x32",
        (16, 2, 32, 1) => "packUint2x16",
        (32, 1, 16, 2) => "unpackUint2x16",
        (16, 4, 64, 1) => "packUint4x16",
        (64, 1, 16, 4) => "unpackUint4x16",
        (8, 4, 32, 1) => "pack32",
        (8, 2, 16, 1) => "pack16",
        (32, 1, 8, 4) | (16, 1, 8, 2) => "unpack8",
        _ => return None,
    })
}
