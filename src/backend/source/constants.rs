//! Constants as expressions, and specialization constants.

use super::expr::{Expr, Level};
use super::writer::Writer;
use crate::ir::{ConstId, ConstValue, Scalar, SpecOp, Type, TypeId};

impl Writer<'_> {
    /// A constant as an expression: arrays and structs get a name.
    pub fn constant(&mut self, id: ConstId) -> Expr {
        let constant = self.module.constants.get(id);
        let has_name = matches!(self.types.get(constant.ty), Type::Array { .. } | Type::Struct(_))
            && matches!(constant.value, ConstValue::Composite(_))
            && self.language.names_constant(self, id);
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
        self.tables.push(self.language.constant_line([&ty, &name, &dims, &value]));
        self.constants.insert(id, name.clone());
        Expr::primary(name)
    }

    /// A constant as an expression of its parts.
    pub fn spelled(&mut self, id: ConstId) -> Expr {
        let constant = self.module.constants.get(id).clone();
        match (&constant.value, self.types.get(constant.ty)) {
            (ConstValue::Bits(bits), Type::Scalar(scalar)) => self.literal(scalar, *bits),
            (ConstValue::Zero | ConstValue::Undef, _) => self.zero(constant.ty),
            (ConstValue::Composite(parts), ty) => {
                let is_splat = matches!(ty, Type::Vector { .. }) && parts.iter().all(|part| *part == parts[0]);
                let parts = if is_splat { &parts[..1] } else { parts };
                let parts: Vec<Expr> = parts.iter().map(|part| self.spelled(*part)).collect();
                let language = self.language;
                let whole = language.composite(self, constant.ty, &parts);
                let component = is_splat.then(|| Box::new(parts[0].clone()));
                Expr { component, ..whole }
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

    /// The name of a specialization constant, which is declared on first use.
    fn specialization(&mut self, number: u32, scalar: Scalar, default: u64) -> String {
        let name = match self.spec_names.get(&number) {
            Some(known) => known.clone(),
            None => self.names.unique(&format!("constant_{number}"), None),
        };
        self.spec_names.insert(number, name.clone());
        if self.declared_constants.insert(number) {
            let language = self.language;
            language.specialization(self, &name, number, scalar, default);
        }
        name
    }

    /// A scalar by its bits.
    pub fn literal(&mut self, scalar: Scalar, bits: u64) -> Expr {
        let language = self.language;
        language.literal(self, scalar, bits)
    }

    /// Zero of any type that has values.
    pub fn zero(&mut self, ty: TypeId) -> Expr {
        let language = self.language;
        language.zero(self, ty)
    }

    /// The initial value of a variable.
    pub fn initial(&mut self, id: ConstId) -> String {
        let language = self.language;
        language.initial(self, id)
    }

    fn spec_op(&mut self, op: SpecOp, args: &[ConstId], ty: TypeId) -> Expr {
        let of: Vec<TypeId> = args.iter().map(|arg| self.module.constants.get(*arg).ty).collect();
        let values: Vec<Expr> = args.iter().map(|arg| self.constant(*arg)).collect();
        match op {
            SpecOp::Unary(op) => self.unary(op, &values[0], of[0]),
            SpecOp::Binary(op) => match self.binary(op, [&values[0], &values[1]], [of[0], of[1]]) {
                Some(made) => made,
                // The integer remainder of operands without effects.
                None => {
                    let quotient = Expr::binary("/", Level::Product, &values[0], &values[1]);
                    let product = Expr::binary("*", Level::Product, &quotient, &values[1]);
                    Expr::binary("-", Level::Sum, &values[0], &product)
                }
            },
            SpecOp::Convert => self.converted(&values[0], of[0], ty),
            SpecOp::Bitcast => self.reinterpreted(&values[0], of[0], ty),
            SpecOp::Select => self.language.picked([0, 1, 2].map(|n| values[n].clone())),
            SpecOp::Extract(index) => values[0].part(&component(index)),
            SpecOp::Math(function) => match self.function_of(function, &values, &of, ty) {
                Some(made) => made,
                None => self.stand_in("such expressions of specialization constants"),
            },
        }
    }
}

/// A component of a vector, after its name.
pub(super) fn component(index: u32) -> String {
    const NAMES: [&str; 4] = [".x", ".y", ".z", ".w"];
    NAMES.get(index as usize).map_or_else(|| format!("[{index}]"), |name| (*name).to_string())
}
