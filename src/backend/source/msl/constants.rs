//! Constants as expressions (section 2.1, Scalar Data Types), and specialization constants as macros.

use super::Msl;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::writer::Writer;
use crate::ir::constant::sign_extend;
use crate::ir::{Scalar, ScalarKind, Type, TypeId, print::scalar_name};

impl Msl {
    /// A scalar by its bits.
    pub fn literal(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr {
        match scalar.kind {
            ScalarKind::Bool => Expr::primary(if bits == 0 { "false" } else { "true" }),
            ScalarKind::Float => self.float(t, scalar, bits),
            ScalarKind::Encoded(_) => t.stand_in(&format!("type {}", scalar_name(scalar))),
            ScalarKind::Uint => match scalar.width {
                32 => Expr::primary(format!("{bits}u")),
                64 => Expr::primary(format!("{bits}ul")),
                _ => Expr::primary(format!("{}({bits})", t.vector_name(scalar, 1))),
            },
            ScalarKind::Sint => {
                let value = sign_extend(bits, scalar);
                let level = if value < 0 { Level::Unary } else { Level::Primary };
                match scalar.width {
                    // The magnitude of the minimum does not fit in a signed literal.
                    32 if value == i64::from(i32::MIN) => Expr::primary("(-2147483647 - 1)"),
                    64 if value == i64::MIN => Expr::primary("(-9223372036854775807l - 1l)"),
                    32 => Expr::new(value.to_string(), level),
                    64 => Expr::new(format!("{value}l"), level),
                    _ => Expr::primary(format!("{}({value})", t.vector_name(scalar, 1))),
                }
            }
        }
    }

    fn float(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr {
        let (value, ending) = match scalar.width {
            16 => (half::f16::from_bits(bits as u16).to_f32(), "h"),
            32 => (f32::from_bits(bits as u32), ""),
            _ => return t.lacking("numbers of 64 bits with a fraction"),
        };
        let level = if value.is_sign_negative() { Level::Unary } else { Level::Primary };
        let is_word = scalar.width == 32;
        match value {
            // The shortest text that denotes this number.
            _ if value.is_finite() => Expr::new(format!("{value:?}{ending}"), level),
            _ if value.is_nan() && is_word => Expr::primary(format!("as_type<float>(0x{bits:08x}u)")),
            _ if value.is_nan() => Expr::primary(format!("as_type<half>(ushort(0x{bits:04x}))")),
            _ => {
                let sign = if value < 0.0 { "-" } else { "" };
                let infinity = Expr::new(format!("{sign}INFINITY"), level);
                if is_word { infinity } else { Expr::call("half", &[infinity]) }
            }
        }
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
            Type::Vector { scalar, .. } => {
                let zero = t.literal(scalar, 0);
                Expr::call(&t.type_name(ty), &[zero])
            }
            // The scalar of a matrix is its diagonal; all other elements are zero.
            Type::Matrix { scalar, .. } => {
                let zero = t.literal(scalar, 0);
                Expr::call(&t.type_name(ty), &[zero])
            }
            Type::Struct(_) | Type::Array { .. } => Expr::primary(format!("{} {{}}", t.type_name(ty))),
            Type::BufferReference { .. } => t.literal(Scalar::U64, 0),
            _ => t.stand_in("zeros of such types"),
        }
    }

    /// A constant from its parts: arrays and structs are allowed only as initial values.
    pub fn composite(&self, t: &mut Writer, ty: TypeId, parts: &[Expr]) -> Expr {
        match t.types.get(ty) {
            Type::Vector { .. } | Type::Matrix { .. } => Expr::call(&t.type_name(ty), parts),
            _ => {
                let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
                let list = texts.join(", ");
                let logical = t.types.logical(ty);
                // An array that is a value is a struct with the elements as its member.
                Expr::primary(if t.is_array_value(logical) {
                    format!("{{ {{ {list} }} }}")
                } else {
                    format!("{{ {list} }}")
                })
            }
        }
    }

    /// A vector with equal components.
    pub fn splat(&self, t: &mut Writer, ty: TypeId, part: &Expr) -> Expr {
        Expr::call(&t.type_name(ty), std::slice::from_ref(part))
    }

    pub fn specialization(&self, t: &mut Writer, name: &str, number: u32, scalar: Scalar, default: u64) {
        let ty = t.vector_name(scalar, 1);
        let value = t.literal(scalar, default).at(Level::Primary);
        let by = format!("CONSTANT_{number}");
        t.specializations.extend([format!("#ifndef {by}"), format!("#define {by} {value}"), "#endif".to_string()]);
        t.specializations.push(format!("constant {ty} {name} = {by};"));
    }
}

#[cfg(test)]
mod tests {
    use crate::backend::Options;
    use crate::backend::source::writer::Writer;
    use crate::ir::{Module, Scalar};
    use crate::profile::Profile;

    #[test]
    fn literals_have_the_type_of_the_number() {
        let module = Module::default();
        let options = Options::new(Profile::named("msl-3.0").unwrap());
        let mut t = Writer::new(&module, &options);
        let mut text = |scalar, bits| t.literal(scalar, bits).text;
        assert_eq!(text(Scalar::F32, 1.5f32.to_bits().into()), "1.5");
        assert_eq!(text(Scalar::F16, 0x3c00), "1.0h");
        assert_eq!(text(Scalar::F32, f32::NEG_INFINITY.to_bits().into()), "-INFINITY");
        assert_eq!(text(Scalar::F16, 0x7e00), "as_type<half>(ushort(0x7e00))");
        assert_eq!(text(Scalar::I32, 0x8000_0000), "(-2147483647 - 1)");
        assert_eq!(text(Scalar::U64, 5), "5ul");
        assert_eq!(text(Scalar::I16, 0xffff), "short(-1)");
    }
}
