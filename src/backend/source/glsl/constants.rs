//! Constants as expressions, and specialization constants.

use super::Dialect;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::writer::Writer;
use crate::ir::constant::sign_extend;
use crate::ir::{ArrayLen, ConstId, ConstValue, Scalar, ScalarKind, Type, TypeId, print::scalar_name};

/// The macro with the value of a specialization constant.
pub(super) fn macro_of(number: u32) -> String {
    format!("CONSTANT_{number}")
}

impl Dialect {
    /// The initial value of a variable.
    pub fn initial(&self, t: &mut Writer, id: ConstId) -> String {
        let constant = t.module.constants.get(id);
        let is_zero = matches!(constant.value, ConstValue::Zero | ConstValue::Undef);
        if is_zero && self.is_vulkan && self.is_long(t, constant.ty) {
            t.need("GL_EXT_null_initializer");
            return "{ }".to_string();
        }
        t.spelled(id).text
    }

    /// Returns true if a type is an array with too many elements to read.
    fn is_long(&self, t: &Writer, ty: TypeId) -> bool {
        const LONG: u32 = 16;
        matches!(t.types.get(ty), Type::Array { len: ArrayLen::Fixed(len), .. } if len > LONG)
    }

    /// Zero of any type that has values.
    pub fn zero(&self, t: &mut Writer, ty: TypeId) -> Expr {
        let parts = match t.types.get(ty) {
            Type::Scalar(scalar) => return t.literal(scalar, 0),
            Type::Vector { scalar, .. } | Type::Matrix { scalar, .. } => vec![t.literal(scalar, 0)],
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
                let part = t.zero(element);
                vec![part; len.min(MOST_PARTS) as usize]
            }
            Type::Struct(id) => {
                let members: Vec<TypeId> = t.types.structs[id].members.iter().map(|member| member.ty).collect();
                members.into_iter().map(|member| t.zero(member)).collect()
            }
            Type::BufferReference { .. } => {
                vec![t.literal(Scalar::U64, 0)]
            }
            _ => {
                t.unsupported("zeros of such types");
                Vec::new()
            }
        };
        if parts.len() as u32 >= MOST_PARTS {
            t.unsupported("zeros of arrays of so many elements");
        }
        let name = t.type_name(ty);
        Expr::call(&name, &parts)
    }

    pub fn specialization(&self, t: &mut Writer, name: &str, number: u32, scalar: Scalar, default: u64) {
        let ty = t.vector_name(scalar, 1);
        let value = t.literal(scalar, default).text;
        if self.is_vulkan {
            t.specializations.push(format!("layout(constant_id = {number}) const {ty} {name} = {value};"));
        } else {
            // Without Vulkan the compiler's caller defines the macro.
            let by = macro_of(number);
            let lines = [format!("#ifndef {by}"), format!("#define {by} {value}"), "#endif".to_string()];
            t.specializations.extend(lines);
            t.specializations.push(format!("const {ty} {name} = {by};"));
        }
    }

    /// A scalar by its bits.
    pub fn literal(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr {
        match scalar.kind {
            ScalarKind::Bool => Expr::primary(if bits == 0 { "false" } else { "true" }),
            ScalarKind::Float => self.float(t, scalar, bits),
            ScalarKind::Encoded(_) => t.stand_in(&format!("type {}", scalar_name(scalar))),
            ScalarKind::Uint => {
                let name = t.vector_name(scalar, 1);
                match scalar.width {
                    32 => Expr::primary(format!("{bits}u")),
                    64 => Expr::primary(format!("{bits}ul")),
                    16 => Expr::primary(format!("{bits}us")),
                    _ => Expr::primary(format!("{name}({bits}u)")),
                }
            }
            ScalarKind::Sint => {
                let name = t.vector_name(scalar, 1);
                let value = sign_extend(bits, scalar);
                let least = -1i64 << (scalar.width - 1).min(63);
                match scalar.width {
                    // The magnitude of the minimum does not fit in a signed literal.
                    32 if value == least => Expr::primary("int(0x80000000u)"),
                    64 if value == least => Expr::primary("int64_t(0x8000000000000000ul)"),
                    32 => signed(value, ""),
                    64 => signed(value, "l"),
                    _ => Expr::primary(format!("{name}({value})")),
                }
            }
        }
    }

    fn float(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr {
        let name = t.vector_name(scalar, 1);
        let (value, suffix) = match scalar.width {
            16 => (f64::from(half::f16::from_bits(bits as u16).to_f32()), "hf"),
            32 => (f64::from(f32::from_bits(bits as u32)), ""),
            _ => (f64::from_bits(bits), "lf"),
        };
        if value.is_finite() {
            let digits = match scalar.width {
                64 => format!("{value:?}"),
                // The shortest text that denotes this number as a float.
                _ => format!("{:?}", value as f32),
            };
            let level = if digits.starts_with('-') { Level::Unary } else { Level::Primary };
            return Expr::new(format!("{digits}{suffix}"), level);
        }
        // The integer type of this width may need an extension: naming it enables the extension.
        t.vector_name(Scalar { kind: ScalarKind::Uint, ..scalar }, 1);
        match scalar.width {
            32 => Expr::primary(format!("uintBitsToFloat(0x{bits:08x}u)")),
            16 => Expr::primary(format!("uint16BitsToFloat16(uint16_t(0x{bits:04x}u))")),
            _ => Expr::primary(format!("{name}(uint64BitsToDouble(0x{bits:016x}ul))")),
        }
    }
}

/// Maximum number of zero elements written one by one.
const MOST_PARTS: u32 = 256;

fn signed(value: i64, suffix: &str) -> Expr {
    let level = if value < 0 { Level::Unary } else { Level::Primary };
    Expr::new(format!("{value}{suffix}"), level)
}
