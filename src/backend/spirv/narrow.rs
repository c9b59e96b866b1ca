//! The capabilities of 8- and 16-bit scalars: storage capabilities alone allow them in buffers and in conversions of
//! the same kind; everything else needs `Int8`, `Int16` or `Float16` (SPIR-V 1.6 section 3.31 and
//! SPV_KHR_16bit_storage, SPV_KHR_8bit_storage).

use super::Emitter;
use super::function::Body;
use crate::ir::{Inst, Op, Scalar, Space, Type, TypeId, Types, Value};

/// Returns true if a scalar is smaller than 32 bits and has arithmetic.
pub(super) const fn is_narrow(scalar: Scalar) -> bool {
    matches!(scalar.width, 8 | 16) && scalar.encoding().is_none()
}

/// Returns true if a module contains such a scalar, so that its instructions must be examined.
pub(super) fn any(types: &Types) -> bool {
    types.iter().any(|(id, _)| types.scalar_of(id).is_some_and(is_narrow))
}

impl Body<'_, '_> {
    /// Requests the capabilities of an instruction in addition to storage of narrow scalars.
    pub fn need_narrow(&mut self, inst: &Inst) {
        let f = self.f;
        match inst.op {
            Op::Access { indices, .. } => f.values(indices).iter().for_each(|index| self.need_narrow_value(*index)),
            Op::ArrayLength { .. } => {}
            Op::Load(pointer) | Op::Store { pointer, .. } => self.need_narrow_access(pointer),
            Op::Convert(value) if self.is_mere_resizing(value, inst.ty) => {}
            op => {
                self.need_narrow_type(inst.ty);
                op.each_operand(f, |value| self.need_narrow_value(value));
            }
        }
    }

    /// Storage capabilities allow scalars and vectors in buffers; other memory, and whole composites, need the type's
    /// own capability.
    fn need_narrow_access(&mut self, pointer: Value) {
        let Some((space, pointee)) = self.pointee_of(pointer) else { return };
        let storage = self.is_laid_out(pointer) || matches!(space, Space::Input | Space::Output);
        let single = self.m.module.types.components(pointee).is_some();
        if !(storage && single) {
            self.need_narrow_type(pointee);
        }
    }

    /// Float to float, or integer to integer where no reinterpretation of a narrow one follows.
    fn is_mere_resizing(&self, value: Value, to: TypeId) -> bool {
        let types = &self.m.module.types;
        let from = self.type_of(value).and_then(|from| types.scalar_of(from));
        let (Some(from), Some(to)) = (from, types.scalar_of(to)) else { return false };
        from.width != to.width && (from.kind == to.kind || from.is_int() && to.is_int() && !is_narrow(to))
    }

    fn need_narrow_value(&mut self, value: Value) {
        if let Some(ty) = self.type_of(value) {
            self.need_narrow_type(ty);
        }
    }

    fn need_narrow_type(&mut self, ty: TypeId) {
        self.m.need_narrow_type(ty);
    }
}

impl Emitter<'_> {
    /// Asks for computing with the narrow scalars of a type, wherever they are in it.
    pub fn need_narrow_type(&mut self, ty: TypeId) {
        let types = &self.module.types;
        match types.get(ty) {
            Type::Array { element, .. } => self.need_narrow_type(element),
            Type::Struct(of) => types.structs[of].members.iter().for_each(|member| self.need_narrow_type(member.ty)),
            _ => {
                if let Some(scalar) = types.scalar_of(ty).filter(|scalar| is_narrow(*scalar)) {
                    self.needs.scalar(scalar);
                }
            }
        }
    }
}
