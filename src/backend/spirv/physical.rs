//! Buffer references: pointers into physical memory, the alignment of their accesses, and the decorations of variables
//! that contain them (SPV_KHR_physical_storage_buffer, in 1.5).

use super::Emitter;
use super::function::Body;
use crate::ir::{self, MatrixLayout, Space, StructId, Type, TypeId, Value};
use rspirv::spirv::{Capability, Decoration, Op, StorageClass, Word};

const CLASS: StorageClass = StorageClass::PhysicalStorageBuffer;

impl Emitter<'_> {
    /// The pointer to a block. It is forward-declared, because the block may contain such pointers, and because
    /// otherwise the validator looks for narrow scalars through the pointers of other memory.
    pub fn reference_type(&mut self, pointee: StructId) -> Word {
        if let Some(known) = self.types.references.get(&pointee) {
            return *known;
        }
        let Some(ty) = self.module.types.find(Type::Struct(pointee)) else {
            return self.internal("a reference to a struct that is not a type");
        };
        self.needs.capability(Capability::PhysicalStorageBufferAddresses);
        let id = self.id();
        self.types.references.insert(pointee, id);
        self.out.globals.op(Op::TypeForwardPointer, &[id, CLASS as Word]);
        let block = self.memory_type(ty);
        self.out.globals.named(Op::TypePointer, id, &[CLASS as Word, block]);
        self.pointer_is(CLASS, block, id);
        self.need_storage_of(Space::Physical, ty);
        id
    }

    /// Decorates a variable or parameter with references as restrict or aliased.
    pub fn decorate_references(&mut self, id: Word, ty: TypeId, restrict: bool) {
        let types = &self.module.types;
        let decoration = match types.get(ty) {
            Type::BufferReference { .. } if restrict => Decoration::RestrictPointer,
            _ if holds_references(types, ty) => Decoration::AliasedPointer,
            _ => return,
        };
        self.decorate(id, decoration, &[]);
    }

    /// Decorates a parameter, which may itself be a reference.
    pub fn decorate_parameter(&mut self, id: Word, ty: TypeId) {
        match self.module.types.get(ty) {
            Type::BufferReference { .. } => self.decorate(id, Decoration::Aliased, &[]),
            Type::Pointer { pointee, .. } => self.decorate_references(id, pointee, false),
            _ => {}
        }
    }
}

impl Body<'_, '_> {
    /// The known alignment of an address in physical memory, in bytes.
    pub fn alignment(&self, pointer: Value) -> u32 {
        let types = &self.m.module.types;
        let Value::Inst(id) = pointer else { return 1 };
        let ir::Op::Access { base, indices } = self.f.insts[id].op else { return 1 };
        let Some(block) = self.type_of(base).and_then(|ty| types.referred(ty)) else { return 1 };
        let mut align = types.reference_align(block);
        let mut at = types.find(Type::Struct(block));
        for index in self.f.values(indices) {
            let Some(ty) = at else { break };
            let number = self.m.module.known_u32(*index);
            let (offset, part) = self.part_at(ty, number);
            align = align.min(power_of_two(offset));
            at = part;
        }
        // A scalar is always aligned to its size (VUID-StandaloneSpirv-PhysicalStorageBuffer64-06314).
        let least = self.pointee_of(pointer).and_then(|(_, ty)| ir::layout::align_of(types, ty));
        align.max(least.unwrap_or(1))
    }

    /// The byte offset of a part, or for a run-time index a factor of the offset.
    fn part_at(&self, ty: TypeId, index: Option<u32>) -> (u32, Option<TypeId>) {
        let types = &self.m.module.types;
        let times = |stride: u32| stride.wrapping_mul(index.unwrap_or(1));
        match types.get(ty) {
            Type::Struct(of) => match types.structs[of].members.get(index.unwrap_or(0) as usize) {
                Some(member) => (member.offset.unwrap_or(1), Some(member.ty)),
                None => (1, None),
            },
            Type::Array { element, stride, .. } => (times(stride.unwrap_or(1)), Some(element)),
            // The components of a row-major matrix's column are separate: only the scalars are aligned.
            Type::Matrix { scalar, layout: Some(MatrixLayout { row_major: true, .. }), .. } => (scalar.bytes(), None),
            Type::Matrix { scalar, rows, layout, .. } => {
                (times(layout.map_or(1, |layout| layout.stride)), types.find(Type::Vector { scalar, size: rows }))
            }
            Type::Vector { scalar, .. } => (times(scalar.bytes()), None),
            _ => (1, None),
        }
    }
}

/// The largest power of two that divides a number.
const fn power_of_two(number: u32) -> u32 {
    if number == 0 { 1 << 31 } else { 1 << number.trailing_zeros() }
}

/// Returns true if a type is a reference or an array of references.
fn holds_references(types: &ir::Types, mut ty: TypeId) -> bool {
    while let Type::Array { element, .. } = types.get(ty) {
        ty = element;
    }
    types.referred(ty).is_some()
}
