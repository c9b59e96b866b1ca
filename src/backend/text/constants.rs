//! Constants: scalars are literals, composites are constants without names, which the writers write where they are used.

use super::function::Body;
use super::translator::Translator;
use super::types::scalar_of;
use crate::ir::{ConstId, ConstValue, Scalar, ScalarKind, SpecOp, Type, TypeId};
use half::f16;
use naga::{Expression, Handle, Literal, Override};

/// A scalar with these bits; none for what no literal can say: infinities and what is not a number.
pub(super) fn literal(scalar: Scalar, bits: u64) -> Option<Literal> {
    Some(match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Literal::Bool(bits != 0),
        (ScalarKind::Sint, _) => Literal::I32(bits as i32),
        (ScalarKind::Uint, _) => Literal::U32(bits as u32),
        (ScalarKind::Float, 16) => Literal::F16(Some(f16::from_bits(bits as u16)).filter(|half| half.is_finite())?),
        (ScalarKind::Float, _) => Literal::F32(Some(f32::from_bits(bits as u32)).filter(|float| float.is_finite())?),
        (ScalarKind::Encoded(_), _) => return None,
    })
}

impl Translator<'_> {
    /// Number, name and initial value of a specialization constant; none for expressions of such.
    fn specialized(&mut self, id: ConstId) -> Option<(u32, String, Handle<Expression>)> {
        let constant = self.module.constants.get(id);
        let (ConstValue::Spec { id: number, default }, Type::Scalar(scalar)) =
            (&constant.value, self.types.get(constant.ty))
        else {
            return None;
        };
        let init = literal(scalar, *default)?;
        let here = self.here();
        let init = self.out.global_expressions.append(Expression::Literal(init), here);
        let name = self.module.spec_names.iter().find(|(named, _)| named == number);
        let name = name.map_or_else(|| format!("constant_{number}_"), |(_, name)| name.to_string());
        Some((*number, name, init))
    }

    /// The specialization constant as an override of the language; none for expressions of such.
    pub fn override_of(&mut self, id: ConstId) -> Option<Handle<Override>> {
        if let Some(known) = self.overrides.get(&id) {
            return Some(*known);
        }
        let constant = self.module.constants.get(id);
        let (number, name, init) = self.specialized(id)?;
        let Ok(number) = u16::try_from(number) else {
            self.lacks("specialization constants with numbers above 65535");
            return None;
        };
        let ty = self.value_type(constant.ty);
        let same = self.overrides.iter().find(|(_, made)| self.out.overrides[**made].id == Some(number));
        if let Some((other, made)) = same.map(|(other, made)| (*other, *made)) {
            if *self.module.constants.get(other) != *constant {
                self.lacks("two specialization constants of one number with different types or defaults");
            }
            self.overrides.insert(id, made);
            return Some(made);
        }
        let made = Override { name: Some(name), id: Some(number), ty, init: Some(init) };
        let here = self.here();
        let made = self.out.overrides.append(made, here);
        self.overrides.insert(id, made);
        Some(made)
    }

    /// The expression of a constant outside functions; none where there is no literal for a part of it or where it is
    /// made from specialization constants.
    pub fn global_constant(&mut self, id: ConstId) -> Option<Handle<Expression>> {
        let constant = self.module.constants.get(id).clone();
        let expression = match (&constant.value, self.types.get(constant.ty)) {
            (ConstValue::Bits(bits), Type::Scalar(scalar)) => Expression::Literal(literal(scalar, *bits)?),
            (ConstValue::Zero | ConstValue::Undef, _) => Expression::ZeroValue(self.value_type(constant.ty)),
            (ConstValue::Composite(parts), _) => {
                let components = parts.iter().map(|part| self.global_constant(*part)).collect::<Option<Vec<_>>>()?;
                Expression::Compose { ty: self.value_type(constant.ty), components }
            }
            _ => return None,
        };
        let here = self.here();
        Some(self.out.global_expressions.append(expression, here))
    }

    /// A constant without a name.
    fn nameless(&mut self, id: ConstId, ty: TypeId) -> Option<Handle<naga::Constant>> {
        if let Some(known) = self.constants.get(&id) {
            return Some(*known);
        }
        let init = self.global_constant(id)?;
        let constant = naga::Constant { name: None, ty: self.value_type(ty), init };
        let here = self.here();
        let made = self.out.constants.append(constant, here);
        self.constants.insert(id, made);
        Some(made)
    }
}

impl Body<'_, '_> {
    pub fn constant(&mut self, id: ConstId) -> Handle<Expression> {
        let constant = self.t.module.constants.get(id).clone();
        match (&constant.value, self.t.types.get(constant.ty)) {
            (ConstValue::Bits(bits), Type::Scalar(scalar)) => self.scalar_constant(scalar, *bits),
            (ConstValue::Zero | ConstValue::Undef, _) => {
                let ty = self.t.value_type(constant.ty);
                self.append(Expression::ZeroValue(ty))
            }
            (ConstValue::Composite(parts), _) => match self.t.nameless(id, constant.ty) {
                Some(known) => self.append(Expression::Constant(known)),
                None => {
                    let components = parts.iter().map(|part| self.constant(*part)).collect();
                    self.compose(constant.ty, components)
                }
            },
            (ConstValue::Spec { .. }, _) => match self.specialization(id) {
                Some(known) => known,
                None => self.nothing("specialization constants without a literal"),
            },
            (ConstValue::SpecOp { op, args }, _) => self.spec_op(*op, args, constant.ty),
            (ConstValue::MatrixLength(_), _) => self.nothing("cooperative matrices"),
            (ConstValue::Bits(_), _) => self.broken("bits of a composite"),
        }
    }

    fn specialization(&mut self, id: ConstId) -> Option<Handle<Expression>> {
        self.t.override_of(id).map(|known| self.append(Expression::Override(known)))
    }

    /// A scalar by its bits: infinities and NaN are read from a variable, as constant expressions cannot have them.
    pub fn scalar_constant(&mut self, scalar: Scalar, bits: u64) -> Handle<Expression> {
        if let Some(literal) = literal(scalar, bits) {
            return self.append(Expression::Literal(literal));
        }
        let wide = match scalar.width {
            16 => f16::from_bits(bits as u16).to_f32().to_bits(),
            _ => bits as u32,
        };
        let variable = self.t.bits_variable(wide);
        let pointer = self.append(Expression::GlobalVariable(variable));
        let word = self.emit(Expression::Load { pointer });
        let float = self.emit(Expression::As { expr: word, kind: naga::ScalarKind::Float, convert: None });
        match scalar.width {
            16 => self.emit(Expression::As { expr: float, kind: naga::ScalarKind::Float, convert: Some(2) }),
            _ => float,
        }
    }

    fn spec_op(&mut self, op: SpecOp, args: &[ConstId], ty: TypeId) -> Handle<Expression> {
        let from = self.t.module.constants.get(args[0]).ty;
        let values: Vec<_> = args.iter().map(|arg| self.constant(*arg)).collect();
        match op {
            SpecOp::Unary(op) => self.unary(op, values[0], from),
            SpecOp::Binary(op) => {
                let second = self.t.module.constants.get(args[1]).ty;
                self.binary(op, [values[0], values[1]], [from, second], ty)
            }
            SpecOp::Convert => self.convert(values[0], from, ty),
            SpecOp::Bitcast => self.bitcast(values[0], from, ty),
            SpecOp::Select => self.choose(values[0], (values[1], values[2])),
            SpecOp::Extract(index) => self.emit(Expression::AccessIndex { base: values[0], index }),
            SpecOp::Math(function) => {
                let types: Vec<TypeId> = args.iter().map(|arg| self.t.module.constants.get(*arg).ty).collect();
                self.math_of(function, &values, &types, ty)
            }
        }
    }

    /// A vector or scalar with this number in each component.
    pub fn splat_constant(&mut self, scalar: Scalar, size: u8, bits: u64) -> Handle<Expression> {
        let value = self.scalar_constant(scalar, bits);
        self.splat(value, size)
    }

    pub fn u32(&mut self, value: u32) -> Handle<Expression> {
        self.append(Expression::Literal(Literal::U32(value)))
    }

    /// Zero of a scalar or vector type.
    pub fn zero(&mut self, scalar: Scalar, size: u8) -> Handle<Expression> {
        if size == 1 {
            return self.scalar_constant(scalar, 0);
        }
        let ty = self.t.vector(scalar_of(scalar), size);
        self.append(Expression::ZeroValue(ty))
    }
}
