//! Conversions: of numbers, and of bits.

use super::Hlsl;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::writer::Writer;
use crate::ir::{Scalar, ScalarKind, TypeId};

impl Hlsl {
    /// Reinterprets the bits as another type.
    pub fn reinterpreted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        if from == to {
            return value.clone();
        }
        // Naming the types enables their requirements.
        [from, to].into_iter().for_each(|ty| drop(t.type_name(ty)));
        let (Some((a, n)), Some((b, m))) = (t.shape(from), t.shape(to)) else {
            return t.stand_in("bits of such types as others");
        };
        if n == m {
            return self.same_width(t, value, (a, b), n);
        }
        let unsigned = |scalar: Scalar| Scalar { kind: ScalarKind::Uint, ..scalar };
        let name = match (a.width, n, b.width, m) {
            (64, 1, 32, 2) if a.is_float() => "unpack_double",
            (32, 2, 64, 1) if b.is_float() => {
                let words = self.same_width(t, value, (a, Scalar::U32), n);
                return Expr::call("asdouble", &super::constants::parts_of(&words, 2));
            }
            (64, 1, 32, 2) => "unpack_uint64",
            (32, 2, 64, 1) => "pack_uint64",
            (32, 1, 16, 2) => "unpack_uint32",
            (16, 2, 32, 1) => "pack_uint32",
            _ => return t.stand_in("bits of such types as others"),
        };
        let given =
            if name == "unpack_double" { value.clone() } else { self.same_width(t, value, (a, unsigned(a)), n) };
        let ty = t.types.vector(unsigned(a), n);
        let packed = self.helped(t, name, &[given], ty);
        self.same_width(t, &packed, (unsigned(b), b), m)
    }

    /// Reinterprets the bits as another kind of number of the same width.
    fn same_width(&self, t: &mut Writer, value: &Expr, (from, to): (Scalar, Scalar), size: u8) -> Expr {
        use ScalarKind::{Float, Sint, Uint};
        if from == to {
            return value.clone();
        }
        let name = match (from.kind, to.kind, from.width) {
            (Float, Sint, 32) => "asint",
            (Float, Uint, 32) => "asuint",
            (Sint | Uint, Float, 32) => "asfloat",
            (Float, Sint, 16) => "asint16",
            (Float, Uint, 16) => "asuint16",
            (Sint | Uint, Float, 16) => "asfloat16",
            (Float, _, 64) if size == 1 => {
                let double = t.types.vector(Scalar::F64, 1);
                let words = self.helped(t, "unpack_double", std::slice::from_ref(value), double);
                let pair = t.types.vector(Scalar::U32, 2);
                let whole = self.helped(t, "pack_uint64", &[words], pair);
                return self.same_width(t, &whole, (Scalar::U64, to), 1);
            }
            (_, Float, 64) if size == 1 => {
                let whole = self.same_width(t, value, (from, Scalar::U64), 1);
                let [low, high] = [whole.clone(), Expr::binary(">>", Level::Shift, &whole, &Expr::primary("32"))];
                return Expr::call("asdouble", &[Expr::call("uint", &[low]), Expr::call("uint", &[high])]);
            }
            (Float, _, 64) | (_, Float, 64) => return t.stand_in("bits of vectors of doubles"),
            _ => {
                let name = t.vector_name(to, size);
                return Expr::call(&name, std::slice::from_ref(value));
            }
        };
        Expr::call(name, std::slice::from_ref(value))
    }
}
