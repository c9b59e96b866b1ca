//! Constants as expressions (WGSL 8.1, 8.5), and specialization constants as overrides.
//!
//! The language evaluates constant expressions at shader creation, and rejects infinities, NaNs and values that do not
//! fit. Such values are computed by a function.

use super::Wgsl;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::writer::Writer;
use crate::ir::constant::sign_extend;
use crate::ir::{ConstId, ConstValue, Scalar, ScalarKind, Type, TypeId, Types, print::scalar_name};

/// Returns true for a number with a literal in the language.
fn is_finite(scalar: Scalar, bits: u64) -> bool {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 16) => half::f16::from_bits(bits as u16).is_finite(),
        (ScalarKind::Float, _) => f32::from_bits(bits as u32).is_finite(),
        _ => true,
    }
}

impl Wgsl {
    /// A scalar by its bits.
    pub fn literal(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr {
        let _ = t.vector_name(scalar, 1);
        match scalar.kind {
            ScalarKind::Bool => Expr::primary(if bits == 0 { "false" } else { "true" }),
            ScalarKind::Float => self.float(t, scalar, bits),
            ScalarKind::Encoded(_) => t.stand_in(&format!("type {}", scalar_name(scalar))),
            ScalarKind::Uint => Expr::primary(format!("{}u", bits as u32)),
            ScalarKind::Sint => {
                let value = sign_extend(bits, scalar);
                let level = if value < 0 { Level::Unary } else { Level::Primary };
                Expr::new(value.to_string(), level)
            }
        }
    }

    fn float(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr {
        let (value, ending) = match scalar.width {
            16 => (half::f16::from_bits(bits as u16).to_f32(), "h"),
            _ => (f32::from_bits(bits as u32), ""),
        };
        if !value.is_finite() {
            let word = Expr::primary(format!("0x{:08x}u", value.to_bits()));
            let float = Expr::call(&self.help(t, "float_of", Types::F32), &[word]);
            return if scalar.width == 16 { Expr::call("f16", &[float]) } else { float };
        }
        let level = if value.is_sign_negative() { Level::Unary } else { Level::Primary };
        // Some compilers round the decimal form of the largest number up.
        let text = match value.abs() {
            f32::MAX if value < 0.0 => "-0x1.fffffep+127".to_string(),
            f32::MAX => "0x1.fffffep+127".to_string(),
            // Zeros of abstract numbers have no sign.
            0.0 if value.is_sign_negative() && ending.is_empty() => "-0.0f".to_string(),
            // The shortest text that denotes this number.
            _ => format!("{value:?}{ending}"),
        };
        Expr::new(text, level)
    }

    /// A float of any width.
    pub fn number(&self, t: &mut Writer, scalar: Scalar, value: f32) -> Expr {
        let bits = match scalar.width {
            16 => u64::from(half::f16::from_f32(value).to_bits()),
            _ => u64::from(value.to_bits()),
        };
        t.literal(scalar, bits)
    }

    /// Zero of any type that has values.
    pub fn zero(&self, t: &mut Writer, ty: TypeId) -> Expr {
        match t.types.get(ty) {
            Type::Scalar(scalar) => t.literal(scalar, 0),
            Type::Vector { .. } | Type::Matrix { .. } | Type::Struct(_) | Type::Array { .. } => {
                Expr::call(&t.type_name(ty), &[])
            }
            _ => t.stand_in("zeros of such types"),
        }
    }

    /// Returns true if all parts of a constant have literals.
    pub fn is_constant(&self, t: &Writer, id: ConstId) -> bool {
        let constant = t.module.constants.get(id);
        match (&constant.value, t.types.get(constant.ty)) {
            (ConstValue::Bits(bits), Type::Scalar(scalar)) => is_finite(scalar, *bits),
            (ConstValue::Zero | ConstValue::Undef, _) => true,
            (ConstValue::Composite(parts), _) => parts.iter().all(|part| self.is_constant(t, *part)),
            _ => false,
        }
    }

    /// The initial value of a variable.
    pub fn initial(&self, t: &mut Writer, id: ConstId) -> String {
        let constant = t.module.constants.get(id);
        match constant.value {
            ConstValue::Zero | ConstValue::Undef => t.zero(constant.ty).text,
            _ => t.spelled(id).text,
        }
    }

    pub fn specialization(&self, t: &mut Writer, name: &str, number: u32, scalar: Scalar, default: u64) {
        if number > u32::from(u16::MAX) {
            t.lacks("specialization constants with numbers above 65535");
        }
        if !is_finite(scalar, default) {
            t.unsupported("specialization constants without a literal");
        }
        let (ty, value) = (t.vector_name(scalar, 1), t.literal(scalar, default));
        t.specializations.push(format!("@id({number}) override {name}: {ty} = {};", value.text));
    }
}

/// A literal with the suffix of its type, unless it already has one.
pub(super) fn typed(value: &Expr, scalar: Scalar) -> Expr {
    let digits = value.text.strip_prefix('-').unwrap_or(&value.text);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || digits.contains([' ', '(']) {
        return value.clone();
    }
    let is_whole = digits.bytes().all(|c| c.is_ascii_digit());
    match scalar {
        // The magnitude of the minimum does not fit in a literal with a type.
        Scalar::I32 if value.text == "-2147483648" => Expr::primary("i32(-2147483648)"),
        Scalar::I32 if is_whole => Expr { text: format!("{}i", value.text), ..value.clone() },
        Scalar::F32 if !digits.ends_with('f') => Expr { text: format!("{}f", value.text), ..value.clone() },
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Options;
    use crate::ir::Module;
    use crate::profile::Profile;

    #[test]
    fn literals_have_the_type_of_the_number() {
        let module = Module::default();
        let options = Options::new(Profile::named("wgsl").unwrap());
        let mut t = Writer::new(&module, &options);
        let mut text = |scalar, bits| t.literal(scalar, bits).text;
        assert_eq!(text(Scalar::F32, 1.5f32.to_bits().into()), "1.5");
        assert_eq!(text(Scalar::F32, (-0.0f32).to_bits().into()), "-0.0f");
        assert_eq!(text(Scalar::F32, f32::MAX.to_bits().into()), "0x1.fffffep+127");
        assert_eq!(text(Scalar::F16, 0x3c00), "1.0h");
        assert_eq!(text(Scalar::F32, f32::NEG_INFINITY.to_bits().into()), "float_of(0xff800000u)");
        assert_eq!(text(Scalar::I32, 0x8000_0000), "-2147483648");
        assert_eq!(text(Scalar::U32, 5), "5u");
        assert_eq!(typed(&Expr::primary("1"), Scalar::I32).text, "1i");
        assert_eq!(typed(&Expr::primary("x1"), Scalar::I32).text, "x1");
        assert_eq!(typed(&Expr::primary("0.5"), Scalar::F32).text, "0.5f");
    }
}
