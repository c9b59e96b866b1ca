//! Implicit conversions (GLSL 4.60 section 4.1.10), and the better one of two (section 6.1).
//!
//! Used for operands, arguments, initializers and returned values. Constructors convert more than this and are handled
//! elsewhere, although they share [`numeric`].

use super::types::Basic;
use crate::ir::build::Builder;
use crate::ir::{Scalar, ScalarKind, TypeId, Types, Value};
use std::cmp::Ordering;

/// Returns true if a scalar type implicitly converts to another; for widths other than 32 see
/// GL_EXT_shader_explicit_arithmetic_types, section 4.1.10.
pub fn scalar_converts(from: Scalar, to: Scalar) -> bool {
    use ScalarKind::{Encoded, Float, Sint, Uint};
    match (from.kind, to.kind) {
        (Sint, Uint) => from.width <= to.width,
        (Sint, Sint) | (Uint, Uint) | (Uint, Sint) => from.width < to.width,
        (Sint | Uint, Float) => from.width <= to.width,
        (Float, Float) => from.width < to.width,
        // GL_EXT_bfloat16 and GL_EXT_float_e4m3, section 4.1.10.
        (Encoded(_), Float) | (Encoded(_), Encoded(_)) => from.width < to.width,
        _ => false,
    }
}

/// Returns true if a scalar, vector or matrix shape implicitly converts to another; true for equal shapes.
pub fn basic_converts(from: Basic, to: Basic) -> bool {
    let same_shape = (from.columns, from.rows) == (to.columns, to.rows);
    same_shape && (from.scalar == to.scalar || scalar_converts(from.scalar, to.scalar))
}

/// Returns true if a value of type `from` is accepted where `to` is expected. Languages without implicit conversions
/// (GLSL ES) compare types for equality instead.
pub fn converts(types: &Types, from: TypeId, to: TypeId) -> bool {
    from == to
        || match (Basic::of(types, from), Basic::of(types, to)) {
            (Some(from), Some(to)) => basic_converts(from, to),
            _ => false,
        }
}

/// The common scalar of an operator's operands; `None` if neither converts to the other.
pub fn common_scalar(a: Scalar, b: Scalar) -> Option<Scalar> {
    if a == b || scalar_converts(b, a) {
        return Some(a);
    }
    scalar_converts(a, b).then_some(b)
}

/// The conversion for passing an argument: from the argument to the parameter, or back for an `out` parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    pub from: Scalar,
    pub to: Scalar,
}

impl Conversion {
    /// Compares two conversions of one argument (GLSL 4.60 section 6.1): `Less` if this one is better.
    ///
    /// No conversion is better than any. Next come promotions: a float to the next wider one, an encoded float to
    /// `float`. All others follow. A conversion to `float` is better than one to `double`. If `explicit`, the rules are
    /// those of GL_EXT_shader_explicit_arithmetic_types (section 6.1): a narrow integer to `int` is a promotion too,
    /// and conversions between integers come directly after promotions.
    pub fn compare(self, other: Conversion, explicit: bool) -> Ordering {
        let narrower = |a: Conversion, b: Conversion| a.to == Scalar::F32 && b.to == Scalar::F64;
        match self.rank(explicit).cmp(&other.rank(explicit)) {
            Ordering::Equal if narrower(self, other) => Ordering::Less,
            Ordering::Equal if narrower(other, self) => Ordering::Greater,
            order => order,
        }
    }

    fn rank(self, explicit: bool) -> u8 {
        let Conversion { from, to } = self;
        match from.is_float() {
            _ if from == to => 0,
            true if to.width == 2 * from.width => 1,
            false if from.encoding().is_some() && to == Scalar::F32 => 1,
            false if explicit && from.is_int() && from.width < 32 && to == Scalar::I32 => 1,
            false if explicit && from.is_int() && to.is_int() => 2,
            _ => 3,
        }
    }
}

/// Finds the candidate that fits the arguments best (GLSL 4.60 section 6.1): compared with every other one, it is
/// better for some argument and worse for none.
///
/// `compare(a, b, argument)` is `Less` if candidate `a` is better for the argument.
///
/// # Errors
/// Returns two candidates if neither is better than the other.
pub fn best(
    candidates: usize,
    arguments: usize,
    mut compare: impl FnMut(usize, usize, usize) -> Ordering,
) -> Result<usize, (usize, usize)> {
    let mut beats = |a: usize, b: usize| {
        let mut orders = (0..arguments).map(|argument| compare(a, b, argument));
        let mut better = false;
        orders.all(|order| {
            better |= order == Ordering::Less;
            order != Ordering::Greater
        }) && better
    };
    let best = (1..candidates).fold(0, |best, next| if beats(best, next) { best } else { next });
    match (0..candidates).find(|other| *other != best && !beats(best, *other)) {
        Some(rival) => Err((best.min(rival), best.max(rival))),
        None => Ok(best),
    }
}

/// Converts a scalar, vector or matrix to the type `to` of the same shape, or returns the value itself if it already
/// has that type.
pub fn numeric(builder: &mut Builder<'_>, value: Value, to: TypeId) -> Value {
    if builder.type_of(value) == to {
        return value;
    }
    let target = Basic::of(&builder.module.types, to).filter(|basic| basic.is_matrix());
    let Some(matrix) = target else { return builder.convert(value, to) };
    let column_type = builder.module.types.vector(matrix.scalar, matrix.rows);
    let mut columns = [value; 4];
    for (index, column) in columns[..usize::from(matrix.columns)].iter_mut().enumerate() {
        let part = builder.extract(value, index as u32);
        *column = builder.convert(part, column_type);
    }
    builder.construct(to, &columns[..usize::from(matrix.columns)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    const I: Scalar = Scalar::I32;
    const U: Scalar = Scalar::U32;
    const F: Scalar = Scalar::F32;
    const D: Scalar = Scalar::F64;

    #[test]
    fn conversions_go_up_only() {
        for (from, to) in [(I, U), (I, F), (U, F), (I, D), (U, D), (F, D)] {
            assert!(scalar_converts(from, to), "{from:?} {to:?}");
            assert!(!scalar_converts(to, from), "{to:?} {from:?}");
        }
        assert!(!scalar_converts(Scalar::BOOL, I));
    }

    #[test]
    fn shapes_must_agree() {
        assert!(basic_converts(Basic::vector(I, 3), Basic::vector(F, 3)));
        assert!(!basic_converts(Basic::vector(I, 3), Basic::vector(F, 2)));
        assert!(basic_converts(Basic::matrix(F, 3, 2), Basic::matrix(D, 3, 2)));
    }

    #[test]
    fn operands_meet_at_the_wider_type() {
        assert_eq!(common_scalar(I, U), Some(U));
        assert_eq!(common_scalar(D, F), Some(D));
        assert_eq!(common_scalar(Scalar::BOOL, I), None);
    }

    fn compare(from: Scalar, a: Scalar, b: Scalar) -> Ordering {
        Conversion { from, to: a }.compare(Conversion { from, to: b }, false)
    }

    fn compare_explicit(from: Scalar, a: Scalar, b: Scalar) -> Ordering {
        Conversion { from, to: a }.compare(Conversion { from, to: b }, true)
    }

    #[test]
    fn better_conversions() {
        assert_eq!(compare(I, I, U), Ordering::Less);
        assert_eq!(compare(I, F, D), Ordering::Less);
        assert_eq!(compare(I, U, F), Ordering::Equal);
        assert_eq!(compare(I, U, D), Ordering::Equal);
    }

    #[test]
    fn promotions_are_better_than_conversions() {
        for narrow in [Scalar::I8, Scalar::U8, Scalar::I16, Scalar::U16] {
            for other in [U, Scalar::I64, F, D] {
                assert_eq!(compare_explicit(narrow, I, other), Ordering::Less, "{narrow:?} {other:?}");
                assert_eq!(compare(narrow, I, other), Ordering::Equal, "{narrow:?} {other:?}");
            }
        }
        assert_eq!(compare_explicit(Scalar::I8, I, Scalar::I16), Ordering::Less);
        assert_eq!(compare_explicit(Scalar::U8, U, F), Ordering::Less);
        assert_eq!(compare_explicit(Scalar::I16, U, F), Ordering::Less);
        assert_eq!(compare_explicit(Scalar::I16, U, Scalar::I64), Ordering::Equal);
        assert_eq!(compare(Scalar::F16, F, D), Ordering::Less);
    }

    #[test]
    fn the_best_candidate_wins_everywhere() {
        // max(int, uint) against (uint, uint), (float, float), (double, double).
        let args = [I, U];
        let candidates = [[U, U], [F, F], [D, D]];
        let order = |a: usize, b: usize, n: usize| compare(args[n], candidates[a][n], candidates[b][n]);
        assert_eq!(best(3, 2, order), Ok(0));
        // An int given to f(uint) and f(float) is ambiguous.
        assert_eq!(best(2, 1, |a, b, n| compare(I, candidates[a][n], candidates[b][n])), Err((0, 1)));
    }

    #[test]
    fn matrices_convert_by_columns() {
        let mut module = crate::ir::Module::new();
        let (from, to) = (module.types.matrix(F, 2, 3), module.types.matrix(D, 2, 3));
        let mut builder = Builder::new(&mut module, "main", Span::NONE, Vec::new(), Types::VOID);
        let local = builder.local("m", from, None);
        let value = builder.load(local);
        let converted = numeric(&mut builder, value, to);
        assert_eq!(builder.type_of(converted), to);
        assert_eq!(numeric(&mut builder, value, from), value);
    }
}
