//! Conversions: of numbers, and of bits (WGSL 17.1 and 17.2).

use super::Wgsl;
use super::constants::typed;
use crate::backend::source::expr::Expr;
use crate::backend::source::writer::Writer;
use crate::ir::{Scalar, TypeId};

impl Wgsl {
    /// A number as another type, component by component.
    pub fn converted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        if from == to {
            return value.clone();
        }
        if let (Some(inner), Some((Scalar::U32, _))) = (&value.unsigned, t.shape(to)) {
            return (**inner).clone();
        }
        let value = match t.shape(from) {
            Some((scalar, 1)) => typed(value, scalar),
            _ => value.clone(),
        };
        // A whole number of the source.
        match (value.text.strip_suffix(['u', 'i']).and_then(|digits| digits.parse::<i32>().ok()), t.shape(to)) {
            (Some(number), Some((Scalar::I32, 1))) => return Expr::primary(number.to_string()),
            (Some(number @ 0..), Some((Scalar::U32, 1))) => return Expr::primary(format!("{number}u")),
            _ => {}
        }
        Expr::call(&t.type_name(to), &[value])
    }

    /// The same bits as another type.
    pub fn reinterpreted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        match (t.shape(from), t.shape(to)) {
            (Some(from), Some(to)) if from == to => value.clone(),
            (Some((a, n)), Some((b, m))) if n == m && a.is_int() && b.is_int() && a.width == b.width => {
                self.converted(t, value, from, to)
            }
            (Some((a, n)), Some((b, m))) => {
                let is_known = !a.is_bool() && !b.is_bool() && matches!(a.width, 16 | 32) && matches!(b.width, 16 | 32);
                if !is_known || u32::from(a.width) * u32::from(n) != u32::from(b.width) * u32::from(m) {
                    return t.stand_in("bits as a type of another size");
                }
                let value = if n == 1 { typed(value, a) } else { value.clone() };
                Expr::call(&format!("bitcast<{}>", t.type_name(to)), &[value])
            }
            _ => t.stand_in("bits as a type of another size"),
        }
    }
}
