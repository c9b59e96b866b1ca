//! Constants as expressions, and specialization constants.

use super::expr::{Expr, Level};
use super::writer::Writer;
use crate::ir::constant::sign_extend;
use crate::ir::{ArrayLen, ConstId, ConstValue, Scalar, ScalarKind, SpecOp, Type, TypeId, print::scalar_name};

impl Writer<'_> {
    /// A constant where a value is wanted: arrays and structs have a name.
    pub fn constant(&mut self, id: ConstId) -> Expr {
        let constant = self.module.constants.get(id);
        let has_name = matches!(self.types.get(constant.ty), Type::Array { .. } | Type::Struct(_))
            && matches!(constant.value, ConstValue::Composite(_));
        if !has_name {
            return self.spelled(id);
        }
        if let Some(name) = self.constants.get(&id) {
            return Expr::primary(name.clone());
        }
        let ty = constant.ty;
        let value = self.spelled(id).text;
        let name = self.names.unique("table", None);
        let (ty, dims) = self.declared(ty);
        self.tables.push(format!("const {ty} {name}{dims} = {value};"));
        self.constants.insert(id, name.clone());
        Expr::primary(name)
    }

    /// The initial value of a variable.
    pub fn initial(&mut self, id: ConstId) -> String {
        let constant = self.module.constants.get(id);
        let is_zero = matches!(constant.value, ConstValue::Zero | ConstValue::Undef);
        if is_zero && self.dialect.is_vulkan && self.is_long(constant.ty) {
            self.need("GL_EXT_null_initializer");
            return "{ }".to_string();
        }
        self.spelled(id).text
    }

    /// Returns true if a type is an array of more elements than anyone reads.
    fn is_long(&self, ty: TypeId) -> bool {
        const LONG: u32 = 16;
        matches!(self.types.get(ty), Type::Array { len: ArrayLen::Fixed(len), .. } if len > LONG)
    }

    /// A constant as an expression of its parts.
    fn spelled(&mut self, id: ConstId) -> Expr {
        let constant = self.module.constants.get(id).clone();
        match (&constant.value, self.types.get(constant.ty)) {
            (ConstValue::Bits(bits), Type::Scalar(scalar)) => self.literal(scalar, *bits),
            (ConstValue::Zero | ConstValue::Undef, _) => self.zero(constant.ty),
            (ConstValue::Composite(parts), ty) => {
                let is_splat = matches!(ty, Type::Vector { .. }) && parts.iter().all(|part| *part == parts[0]);
                let parts = if is_splat { &parts[..1] } else { parts };
                let parts: Vec<Expr> = parts.iter().map(|part| self.spelled(*part)).collect();
                let name = self.type_name(constant.ty);
                Expr::call(&name, &parts)
            }
            (ConstValue::Spec { id: number, default }, Type::Scalar(scalar)) => {
                Expr::primary(self.specialization(*number, scalar, *default))
            }
            (ConstValue::SpecOp { op, args }, _) => self.spec_op(*op, args, constant.ty),
            (ConstValue::MatrixLength(_), _) => self.stand_in("lengths of cooperative matrices"),
            (ConstValue::Bits(_) | ConstValue::Spec { .. }, _) => {
                self.internal("bits of a composite");
                Expr::primary("0")
            }
        }
    }

    /// Zero of any type that has values.
    pub fn zero(&mut self, ty: TypeId) -> Expr {
        let parts = match self.types.get(ty) {
            Type::Scalar(scalar) => return self.literal(scalar, 0),
            Type::Vector { scalar, .. } | Type::Matrix { scalar, .. } => vec![self.literal(scalar, 0)],
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
                let part = self.zero(element);
                vec![part; len.min(MOST_PARTS) as usize]
            }
            Type::Struct(id) => {
                let members: Vec<TypeId> = self.types.structs[id].members.iter().map(|member| member.ty).collect();
                members.into_iter().map(|member| self.zero(member)).collect()
            }
            Type::BufferReference { .. } => {
                vec![self.literal(Scalar::U64, 0)]
            }
            _ => {
                self.unsupported("zeros of such types");
                Vec::new()
            }
        };
        if parts.len() as u32 >= MOST_PARTS {
            self.unsupported("zeros of arrays of so many elements");
        }
        let name = self.type_name(ty);
        Expr::call(&name, &parts)
    }

    /// The name of a specialization constant, which is declared where it is not yet.
    fn specialization(&mut self, number: u32, scalar: Scalar, default: u64) -> String {
        let name = match self.spec_names.get(&number) {
            Some(known) => known.clone(),
            None => self.names.unique(&format!("constant_{number}"), None),
        };
        self.spec_names.insert(number, name.clone());
        if !self.declared_constants.insert(number) {
            return name;
        }
        let ty = self.vector_name(scalar, 1);
        let value = self.literal(scalar, default).text;
        if self.dialect.is_vulkan {
            self.specializations.push(format!("layout(constant_id = {number}) const {ty} {name} = {value};"));
        } else {
            // Without Vulkan the compiler's caller defines the macro.
            let by = format!("CONSTANT_{number}");
            let lines = [format!("#ifndef {by}"), format!("#define {by} {value}"), "#endif".to_string()];
            self.specializations.extend(lines);
            self.specializations.push(format!("const {ty} {name} = {by};"));
        }
        name
    }

    fn spec_op(&mut self, op: SpecOp, args: &[ConstId], ty: TypeId) -> Expr {
        let of: Vec<TypeId> = args.iter().map(|arg| self.module.constants.get(*arg).ty).collect();
        let values: Vec<Expr> = args.iter().map(|arg| self.constant(*arg)).collect();
        match op {
            SpecOp::Unary(op) => self.unary(op, &values[0], of[0]),
            SpecOp::Binary(op) => match self.binary(op, [&values[0], &values[1]], [of[0], of[1]]) {
                Some(made) => made,
                // The remainder of integers, of operands that have no effects.
                None => {
                    let quotient = Expr::binary("/", Level::Product, &values[0], &values[1]);
                    let product = Expr::binary("*", Level::Product, &quotient, &values[1]);
                    Expr::binary("-", Level::Sum, &values[0], &product)
                }
            },
            SpecOp::Convert => self.converted(&values[0], of[0], ty),
            SpecOp::Bitcast => self.reinterpreted(&values[0], of[0], ty),
            SpecOp::Select => Expr::choice(&values[0], &values[1], &values[2]),
            SpecOp::Extract(index) => values[0].part(&component(index)),
            SpecOp::Math(function) => match self.function_of(function, &values, &of, ty) {
                Some(made) => made,
                None => self.stand_in("such expressions of specialization constants"),
            },
        }
    }

    /// A scalar by its bits.
    pub fn literal(&mut self, scalar: Scalar, bits: u64) -> Expr {
        match scalar.kind {
            ScalarKind::Bool => Expr::primary(if bits == 0 { "false" } else { "true" }),
            ScalarKind::Float => self.float(scalar, bits),
            ScalarKind::Encoded(_) => self.stand_in(&format!("type {}", scalar_name(scalar))),
            ScalarKind::Uint => {
                let name = self.vector_name(scalar, 1);
                match scalar.width {
                    32 => Expr::primary(format!("{bits}u")),
                    64 => Expr::primary(format!("{bits}ul")),
                    16 => Expr::primary(format!("{bits}us")),
                    _ => Expr::primary(format!("{name}({bits}u)")),
                }
            }
            ScalarKind::Sint => {
                let name = self.vector_name(scalar, 1);
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

    fn float(&mut self, scalar: Scalar, bits: u64) -> Expr {
        let name = self.vector_name(scalar, 1);
        let (value, suffix) = match scalar.width {
            16 => (f64::from(half::f16::from_bits(bits as u16).to_f32()), "hf"),
            32 => (f64::from(f32::from_bits(bits as u32)), ""),
            _ => (f64::from_bits(bits), "lf"),
        };
        if value.is_finite() {
            let digits = match scalar.width {
                64 => format!("{value:?}"),
                // The shortest text that means this number as a float.
                _ => format!("{:?}", value as f32),
            };
            let level = if digits.starts_with('-') { Level::Unary } else { Level::Primary };
            return Expr::new(format!("{digits}{suffix}"), level);
        }
        // The integer type of this width may need an extension: naming it enables the extension.
        self.vector_name(Scalar { kind: ScalarKind::Uint, ..scalar }, 1);
        match scalar.width {
            32 => Expr::primary(format!("uintBitsToFloat(0x{bits:08x}u)")),
            16 => Expr::primary(format!("uint16BitsToFloat16(uint16_t(0x{bits:04x}u))")),
            _ => Expr::primary(format!("{name}(uint64BitsToDouble(0x{bits:016x}ul))")),
        }
    }
}

/// Elements of zeros that are written one by one at most.
const MOST_PARTS: u32 = 256;

fn signed(value: i64, suffix: &str) -> Expr {
    let level = if value < 0 { Level::Unary } else { Level::Primary };
    Expr::new(format!("{value}{suffix}"), level)
}

/// A component of a vector, after its name.
pub(super) fn component(index: u32) -> String {
    const NAMES: [&str; 4] = [".x", ".y", ".z", ".w"];
    NAMES.get(index as usize).map_or_else(|| format!("[{index}]"), |name| (*name).to_string())
}
