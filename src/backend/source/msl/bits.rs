//! Conversions: of numbers, and of bits (section 2.19, Type Conversions and Re-interpreting Data).

use super::Msl;
use super::math::{as_signed, as_unsigned};
use crate::backend::source::expr::Expr;
use crate::backend::source::writer::Writer;
use crate::ir::{Scalar, ScalarKind, TypeId};

impl Msl {
    /// A number as another type, component by component.
    pub fn converted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        if from == to {
            return value.clone();
        }
        match (t.shape(from), t.shape(to)) {
            (Some(of), Some(wanted)) if is_opposite(of, wanted) => match of.0.is_signed() {
                true => as_unsigned(t, value, of),
                false => as_signed(t, value.clone(), wanted),
            },
            _ => Expr::call(&t.type_name(to), std::slice::from_ref(value)),
        }
    }

    /// Reinterprets the bits as another type.
    pub fn reinterpreted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        let [from, to] = [from, to].map(|ty| match t.types.referred(ty) {
            Some(_) => t.types.scalar(Scalar::U64),
            None => ty,
        });
        let (Some(of), Some(wanted)) = (t.shape(from), t.shape(to)) else {
            return t.stand_in("bits of such types as others");
        };
        if of == wanted || is_opposite(of, wanted) {
            return t.converted(value, from, to);
        }
        if of.0.is_bool() || wanted.0.is_bool() {
            return t.broken("bits of bools");
        }
        Expr::call(&format!("as_type<{}>", t.type_name(to)), std::slice::from_ref(value))
    }
}

/// Returns true if the types are integers of the same shape that differ in signedness.
fn is_opposite((a, n): (Scalar, u8), (b, m): (Scalar, u8)) -> bool {
    a.is_int() && b.is_int() && a.width == b.width && a.kind != b.kind && n == m
}

/// The unsigned integer as wide.
pub(super) fn unsigned(scalar: Scalar) -> Scalar {
    Scalar { kind: ScalarKind::Uint, ..scalar }
}
