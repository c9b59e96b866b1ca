//! Conversions and reinterpretations.
//!
//! WGSL 15.7.6: a float outside the integer type's range becomes the nearest value of that type, so it is clamped to
//! the extreme floats that fit before the conversion.

use super::Outcome;
use super::function::Body;
use crate::ir::{MathFn, Scalar, ScalarKind, Type, TypeId, Value};
use naga::{Expression, Handle};

/// The smallest and the largest float of `width` bits whose conversion to `to` is defined, as bits.
fn float_range(width: u8, to: Scalar) -> (u64, u64) {
    let digits = match width {
        16 => 11,
        32 => 24,
        _ => 53,
    };
    let magnitude = u32::from(to.width) - u32::from(to.is_signed());
    let low = if to.is_signed() { -(2f64.powi(magnitude as i32)) } else { 0.0 };
    // The largest float below 2^magnitude, or the largest integer itself if the float can represent it.
    let unit = 2f64.powi(magnitude.saturating_sub(digits) as i32);
    let high = 2f64.powi(magnitude as i32) - unit;
    (float_bits(width, low), float_bits(width, high))
}

/// Bits of a number that the format represents exactly, or of the format's extreme finite number.
fn float_bits(width: u8, value: f64) -> u64 {
    match width {
        16 if value.abs() >= 65504.0 => 0x7BFF | u64::from(value < 0.0) << 15,
        16 => half_bits(value),
        32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// Half-precision bits of zero or a normal number with at most eleven significant bits.
fn half_bits(value: f64) -> u64 {
    if value == 0.0 {
        return 0;
    }
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7FF) + 15 - 1023;
    (bits >> 63) << 15 | exponent << 10 | (bits >> 42) & 0x3FF
}

impl Body<'_, '_, '_> {
    /// `T(e)` if `width` is given, otherwise `bitcast<T>(e)`.
    pub(super) fn cast(
        &mut self,
        of: Handle<Expression>,
        kind: naga::ScalarKind,
        width: Option<naga::Bytes>,
        at: Handle<Expression>,
    ) -> Outcome<Value> {
        let value = self.value(of)?;
        let (_, from, _) = self.shape(value);
        let width = width.unwrap_or((from.width / 8).max(1));
        let to = self.shader.scalar(naga::Scalar { kind, width }, self.expression_span(at))?;
        match self.convert_matrix(value, to) {
            Some(matrix) => Ok(matrix),
            None if self.is_conversion(at) => Ok(self.convert(value, to)),
            None => {
                let ty = self.same_shape(value, to);
                Ok(self.b.bitcast(value, ty))
            }
        }
    }

    fn is_conversion(&self, at: Handle<Expression>) -> bool {
        matches!(self.expressions[at], Expression::As { convert: Some(_), .. })
    }

    fn convert_matrix(&mut self, value: Value, to: Scalar) -> Option<Value> {
        let columns = self.matrix_columns(value)?;
        let ty = self.b.type_of(value);
        let Type::Matrix { columns: count, rows, .. } = self.b.module.types.get(ty) else { return None };
        let ty = self.b.module.types.matrix(to, count, rows);
        let columns: Vec<Value> = columns.into_iter().map(|column| self.convert(column, to)).collect();
        Some(self.b.construct(ty, &columns))
    }

    /// The value's type with `scalar` as its scalar.
    fn same_shape(&mut self, value: Value, scalar: Scalar) -> TypeId {
        let size = self.b.components_of(value);
        self.b.module.types.vector(scalar, size)
    }

    /// A numeric conversion with WGSL's result for every operand.
    pub(super) fn convert(&mut self, value: Value, to: Scalar) -> Value {
        let (_, from, size) = self.shape(value);
        let ty = self.same_shape(value, to);
        if !(from.kind == ScalarKind::Float && to.is_int()) {
            return self.b.convert(value, ty);
        }
        let (low, high) = float_range(from.width, to);
        let (low, high) = (self.number(from, low, size), self.number(from, high, size));
        let clamped = self.b.math(MathFn::Clamp, &[value, low, high]);
        self.b.convert(clamped, ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outermost_floats_fit_the_integer() {
        assert_eq!(
            float_range(32, Scalar::I32),
            (f32::to_bits(-2147483648.0).into(), f32::to_bits(2147483520.0).into())
        );
        assert_eq!(float_range(32, Scalar::U32), (0, f32::to_bits(4294967040.0).into()));
        assert_eq!(float_range(64, Scalar::I32).1, f64::to_bits(2147483647.0));
        assert_eq!(float_range(16, Scalar::I32), (0xFBFF, 0x7BFF));
        let short = Scalar { kind: ScalarKind::Sint, width: 16 };
        assert_eq!(float_range(16, short).0, 0xF800);
        assert_eq!(float_range(16, short).1, 0x77FF);
    }
}
