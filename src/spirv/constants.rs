//! Constants, specialization constants and the expressions of them.

use super::arithmetic;
use super::binary::Insn;
use super::composite;
use super::fault::Read;
use super::module::{Reader, identifier};
use crate::ir::{Builder, ConstId, ConstValue, Module, Scalar, Type, TypeId, Types, Value};
use rspirv::spirv::{Decoration, Op, Word};

impl Reader<'_> {
    pub fn constant(&self, insn: &Insn<'_>, id: Word) -> Read<ConstId> {
        self.constants.get(&id).copied().ok_or_else(|| insn.wrong(format!("%{id} is not a constant")))
    }

    /// The value of a constant integer that is known.
    pub fn known(&self, m: &Module, insn: &Insn<'_>, id: Word) -> Read<Word> {
        let constant = self.constant(insn, id)?;
        let known = m.constants.as_int(&m.types, constant).filter(|_| !m.constants.is_spec(constant));
        known
            .map(|known| known as Word)
            .ok_or_else(|| insn.unread(format!("%{id} is not known when the module is read")))
    }

    /// Reads the declaration of a constant; false for other instructions.
    pub fn declare_constant(&mut self, m: &mut Module, insn: &Insn<'_>) -> Read<bool> {
        let ty = match insn.op {
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => Types::BOOL,
            Op::Constant | Op::SpecConstant | Op::ConstantComposite | Op::SpecConstantComposite => {
                self.value_type(m, insn, insn.ty)?
            }
            Op::ConstantNull | Op::Undef | Op::SpecConstantOp => self.value_type(m, insn, insn.ty)?,
            Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT | Op::ConstantSampler => {
                return Err(insn.unread("constants of this kind are not read"));
            }
            _ => return Ok(false),
        };
        if matches!(m.types.get(ty), Type::Void | Type::Pointer { .. }) {
            return Err(insn.unread("constants of such types are not read"));
        }
        let made = match insn.op {
            Op::ConstantTrue | Op::SpecConstantTrue => self.scalar_constant(m, insn, ty, 1),
            Op::ConstantFalse | Op::SpecConstantFalse => self.scalar_constant(m, insn, ty, 0),
            Op::Constant | Op::SpecConstant => self.literal(m, insn, ty)?,
            Op::ConstantNull => null(m, ty),
            Op::Undef => m.constants.intern(ty, ConstValue::Undef),
            Op::SpecConstantOp => self.expression(m, insn, ty)?,
            _ => self.composite_constant(m, insn, ty)?,
        };
        match self.constants.insert(insn.id, made) {
            Some(_) => Err(insn.wrong(format!("%{} is there already", insn.id))),
            None => Ok(true),
        }
    }

    fn scalar_constant(&self, m: &mut Module, insn: &Insn<'_>, ty: TypeId, bits: u64) -> ConstId {
        let is_spec = matches!(insn.op, Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse);
        let number = self.number(insn.id, Decoration::SpecId).filter(|_| is_spec);
        let Some(id) = number else { return m.constants.intern(ty, ConstValue::Bits(bits)) };
        if let Some(name) = self.names.get(&insn.id).map(|name| identifier(name)).filter(|name| !name.is_empty())
            && m.spec_names.iter().all(|(known, _)| *known != id)
        {
            m.spec_names.push((id, name.into()));
        }
        m.constants.intern(ty, ConstValue::Spec { id, default: bits })
    }

    fn literal(&self, m: &mut Module, insn: &Insn<'_>, ty: TypeId) -> Read<ConstId> {
        let Type::Scalar(scalar) = m.types.get(ty) else { return Err(insn.wrong("its type is not a number")) };
        let low = u64::from(insn.arg(0)?);
        let bits = match scalar.width {
            64 => low | u64::from(insn.arg(1)?) << 32,
            width => low & ((1 << width) - 1),
        };
        if scalar.is_bool() {
            return Err(insn.wrong("its type is not a number"));
        }
        Ok(self.scalar_constant(m, insn, ty, bits))
    }

    fn composite_constant(&self, m: &mut Module, insn: &Insn<'_>, ty: TypeId) -> Read<ConstId> {
        if m.types.part_count(ty) != Some(insn.args.len() as u32) {
            return Err(insn.wrong("it does not have as many parts as its type"));
        }
        let mut parts = Vec::with_capacity(insn.args.len());
        for (index, id) in (0..).zip(insn.args) {
            let part = self.constant(insn, *id)?;
            if m.types.element(ty, index) != Some(m.constants.get(part).ty) {
                return Err(insn.wrong(format!("%{id} does not have the type of the part")));
            }
            parts.push(part);
        }
        Ok(m.constants.intern(ty, ConstValue::Composite(parts.into())))
    }

    /// `OpSpecConstantOp`: an instruction on constants. The builder keeps what depends on specialization constants as
    /// an expression.
    fn expression(&self, m: &mut Module, insn: &Insn<'_>, ty: TypeId) -> Read<ConstId> {
        let op = Op::from_u32(insn.arg(0)?).ok_or_else(|| insn.unread("it has an operation that is not known"))?;
        let rest = &insn.args[1..];
        let literals = match op {
            Op::CompositeExtract => 1,
            Op::CompositeInsert | Op::VectorShuffle => 2,
            _ => rest.len(),
        };
        let ids = &rest[..literals.min(rest.len())];
        let args: Vec<Value> = ids.iter().map(|id| self.constant(insn, *id).map(Value::Const)).collect::<Read<_>>()?;
        let numbers = &rest[ids.len()..];
        let b = &mut Builder::outside(m);
        let made = match op {
            Op::CompositeExtract => composite::extract(b, &args, numbers),
            Op::CompositeInsert => composite::insert(b, &args, numbers),
            Op::VectorShuffle => composite::shuffle(b, &args, numbers),
            _ => arithmetic::pure(b, op, ty, &args)
                .ok_or_else(|| insn.unread(format!("`Op{op:?}` on constants is not read")))?,
        };
        match made.map_err(|message| insn.wrong(message))? {
            Value::Const(id) if m.constants.get(id).ty == ty => Ok(id),
            Value::Const(_) => Err(insn.wrong("its result has another type")),
            _ => Err(insn.unread(format!("`Op{op:?}` on specialization constants of this type is not read"))),
        }
    }
}

fn null(m: &mut Module, ty: TypeId) -> ConstId {
    let value = match m.types.get(ty) {
        Type::Scalar(Scalar { .. }) => ConstValue::Bits(0),
        _ => ConstValue::Zero,
    };
    m.constants.intern(ty, value)
}
