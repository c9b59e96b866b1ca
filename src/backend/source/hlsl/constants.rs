//! Constants as expressions, and specialization constants as macros.

use super::Hlsl;
use crate::backend::source::constants::component;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::writer::Writer;
use crate::ir::constant::sign_extend;
use crate::ir::{ConstId, ConstValue, Scalar, ScalarKind, Type, TypeId, Value, print::scalar_name};

impl Hlsl {
    /// A constant as an operand: a local variable if it holds arrays with vectors in their elements. DXC replaces static
    /// variables by the constants of the module that are assigned to them, and crashes if these hold such arrays.
    pub fn constant(&self, b: &mut Body, id: ConstId) -> Expr {
        if !is_local(b.t, id) {
            return b.t.constant(id);
        }
        let list = b.t.spelled(id);
        b.name("made", b.t.module.constants.get(id).ty, &list)
    }

    /// The initial value of a local variable.
    pub fn first_value(&self, b: &mut Body, value: Value) -> String {
        match value {
            Value::Const(id) if is_local(b.t, id) => b.t.spelled(id).text,
            _ => b.value(value).text,
        }
    }

    /// A scalar by its bits.
    pub fn literal(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr {
        match scalar.kind {
            ScalarKind::Bool => Expr::primary(if bits == 0 { "false" } else { "true" }),
            ScalarKind::Float => self.float(t, scalar, bits),
            ScalarKind::Encoded(_) => t.stand_in(&format!("type {}", scalar_name(scalar))),
            ScalarKind::Uint => match scalar.width {
                32 => Expr::primary(format!("{bits}u")),
                64 => Expr::primary(format!("{bits}ull")),
                _ => Expr::primary(format!("{}({bits}u)", t.vector_name(scalar, 1))),
            },
            ScalarKind::Sint => {
                let value = sign_extend(bits, scalar);
                let level = if value < 0 { Level::Unary } else { Level::Primary };
                match scalar.width {
                    // The magnitude of the minimum does not fit in a signed literal.
                    32 if value == i64::from(i32::MIN) => Expr::primary("int(0x80000000u)"),
                    64 if value == i64::MIN => Expr::primary("int64_t(0x8000000000000000ull)"),
                    32 => untyped(value.to_string(), level),
                    64 => Expr::new(format!("{value}ll"), level),
                    _ => Expr::primary(format!("{}({value})", t.vector_name(scalar, 1))),
                }
            }
        }
    }

    fn float(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr {
        let name = t.vector_name(scalar, 1);
        let value = match scalar.width {
            16 => f64::from(half::f16::from_bits(bits as u16).to_f32()),
            32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        };
        if !value.is_finite() {
            return match scalar.width {
                32 => Expr::primary(format!("asfloat(0x{bits:08x}u)")),
                // Not every compiler can reinterpret bits as halves.
                16 => Expr::primary(format!("{name}(asfloat(0x{:08x}u))", (value as f32).to_bits())),
                _ => Expr::primary(format!("asdouble(0x{:08x}u, 0x{:08x}u)", bits as u32, bits >> 32)),
            };
        }
        let digits = match scalar.width {
            64 => format!("{value:?}L"),
            // The shortest text that denotes this number as a float.
            _ => format!("{:?}", value as f32),
        };
        let level = if digits.starts_with('-') { Level::Unary } else { Level::Primary };
        match scalar.width {
            16 => Expr::primary(format!("{name}({digits})")),
            32 => untyped(digits, level),
            _ => Expr::new(digits, level),
        }
    }

    /// Zero of any type that has values.
    pub fn zero(&self, t: &mut Writer, ty: TypeId) -> Expr {
        match t.types.get(ty) {
            Type::Scalar(scalar) => t.literal(scalar, 0),
            Type::Vector { .. } | Type::Matrix { .. } | Type::Struct(_) => {
                Expr::new(format!("({})0", t.type_name(ty)), Level::Unary)
            }
            Type::Array { .. } => {
                let (base, dims) = t.declared(ty);
                Expr::new(format!("({base}{dims})0"), Level::Unary)
            }
            _ => t.stand_in("zeros of such types"),
        }
    }

    /// A constant from its parts: arrays and structs are allowed only as initial values.
    pub fn composite(&self, t: &mut Writer, ty: TypeId, parts: &[Expr]) -> Expr {
        match t.types.get(ty) {
            Type::Vector { .. } if parts.len() == 1 => self.splat(t, ty, &parts[0]),
            Type::Vector { .. } | Type::Matrix { .. } => Expr::call(&t.type_name(ty), parts),
            _ => {
                let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
                Expr::primary(format!("{{ {} }}", texts.join(", ")))
            }
        }
    }

    /// A vector with equal components.
    pub fn splat(&self, t: &mut Writer, ty: TypeId, part: &Expr) -> Expr {
        let size = usize::from(t.types.components(ty).unwrap_or(1));
        let name = t.type_name(ty);
        match part.is_plain() && part.text.len() < 12 {
            true => Expr::call(&name, &vec![part.clone(); size]),
            false => Expr::new(format!("({name}){}", part.at(Level::Primary)), Level::Unary).reading(&part.reads),
        }
    }

    pub fn specialization(&self, t: &mut Writer, name: &str, number: u32, scalar: Scalar, default: u64) {
        let ty = t.vector_name(scalar, 1);
        let value = t.literal(scalar, default).text;
        let by = format!("CONSTANT_{number}");
        t.specializations.extend([format!("#ifndef {by}"), format!("#define {by} {value}"), "#endif".to_string()]);
        t.specializations.push(format!("static const {ty} {name} = {by};"));
    }
}

/// Returns true if a constant is a list in the functions that use it.
fn is_local(t: &Writer, id: ConstId) -> bool {
    let constant = t.module.constants.get(id);
    let is_vector = |ty| matches!(ty, Type::Vector { .. });
    let is_list = matches!(constant.value, ConstValue::Composite(_));
    let is_array = |ty| matches!(ty, Type::Array { element, .. } if t.types.holds(element, is_vector));
    is_list && t.types.holds(constant.ty, is_array)
}

fn untyped(digits: String, level: Level) -> Expr {
    Expr { is_untyped: true, ..Expr::new(digits, level) }
}

/// The value with an explicit type if it has only literals, because compilers then compute with 64 bits.
pub(super) fn typed(t: &mut Writer, value: &Expr, ty: TypeId) -> Expr {
    match value.is_untyped {
        true => Expr::call(&t.type_name(ty), std::slice::from_ref(value)),
        false => value.clone(),
    }
}

/// The operands. If all consist of literals and one is more than a single literal, the first gets an explicit type.
pub(super) fn first_typed(t: &mut Writer, values: &[Expr], ty: TypeId) -> Vec<Expr> {
    let mut values = values.to_vec();
    if values.iter().all(|value| value.is_untyped) && values.iter().any(|value| value.level > Level::Unary) {
        values[0] = typed(t, &values[0], ty);
    }
    values
}

/// The components of a vector one by one; for a scalar, the scalar itself.
pub(super) fn parts_of(value: &Expr, size: u8) -> Vec<Expr> {
    match size {
        1 => vec![value.clone()],
        _ => (0..u32::from(size)).map(|n| value.part(&component(n))).collect(),
    }
}
