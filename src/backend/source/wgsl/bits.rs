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

    /// Reinterprets the bits as another type.
    pub fn reinterpreted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        match (t.shape(from), t.shape(to)) {
            (Some(from), Some(to)) if from == to => value.clone(),
            (Some((a, n)), Some((b, m))) if n == m && a.is_int() && b.is_int() && a.width == b.width => {
                self.converted(t, value, from, to)
            }
            (Some((a, n)), Some((b, m))) => {
                let is_lacking = |scalar: Scalar| !scalar.is_bool() && !matches!(scalar.width, 16 | 32);
                if let Some((_, ty)) = [(a, from), (b, to)].into_iter().find(|(scalar, _)| is_lacking(*scalar)) {
                    return Expr::primary(t.type_name(ty));
                }
                if a.is_bool() || b.is_bool() || u32::from(a.width) * u32::from(n) != u32::from(b.width) * u32::from(m)
                {
                    return t.stand_in("bits as a type of another size");
                }
                let value = if n == 1 { typed(value, a) } else { value.clone() };
                match (a, b) {
                    (Scalar::F16, _) if a.width != b.width => self.words_of_halves(t, value, (from, n), to),
                    (_, Scalar::F16) if a.width != b.width => self.halves_of_words(t, &value, from, (to, m)),
                    _ => bitcast(t, value, to),
                }
            }
            _ => t.stand_in("bits as a type of another size"),
        }
    }

    /// The bits of two or four halves as one or two words. WGSL implementations without a `bitcast` between elements of
    /// different sizes, such as naga, have functions that pack and unpack halves (WGSL 17.10 and 17.11).
    fn words_of_halves(&self, t: &mut Writer, value: Expr, (from, halves): (TypeId, u8), to: TypeId) -> Expr {
        let words = if halves == 2 {
            Expr::call("pack2x16float", &[Expr::call("vec2f", &[value])])
        } else {
            Expr::call(&self.help(t, "words_of_halves", from), &[value])
        };
        if t.types.scalar_of(to) == Some(Scalar::U32) { words } else { bitcast(t, words, to) }
    }

    /// The bits of one or two words as two or four halves.
    fn halves_of_words(&self, t: &mut Writer, value: &Expr, from: TypeId, (to, halves): (TypeId, u8)) -> Expr {
        let words = t.types.vector(Scalar::U32, halves / 2);
        let value = if from == words { value.clone() } else { bitcast(t, value.clone(), words) };
        if halves == 2 {
            return Expr::call("vec2h", &[Expr::call("unpack2x16float", &[value])]);
        }
        Expr::call(&self.help(t, "halves_of_words", to), &[value])
    }
}

fn bitcast(t: &mut Writer, value: Expr, to: TypeId) -> Expr {
    Expr::call(&format!("bitcast<{}>", t.type_name(to)), &[value])
}
