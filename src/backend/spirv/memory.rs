//! Memory: access chains, loads and stores, atomics, barriers (SPIR-V 1.6 sections 3.49.8, 3.49.18 and 3.49.20).
//!
//! Values have logical types; memory of buffers has laid-out types with `uint` for `bool`. A load or store between the
//! two converts: with `OpCopyLogical` if only the layout differs and the version has it (1.4), otherwise part by part.

use super::function::{Body, FEW};
use super::globals::spirv_built_in;
use super::model::Direction;
use crate::ir::constant::sign_extend;
use crate::ir::{
    self, Access, ArrayLen, AtomicOp, Inst, InstFlags, MemoryKinds, Order, Scalar, ScalarKind, Scope, Space, Type,
    TypeId, Value, Values,
};
use rspirv::spirv::{Capability, MemorySemantics, Op, Word};
use smallvec::{SmallVec, smallvec};

/// Maximum length of arrays to copy element by element.
const MOST_COPIED: u32 = 16384;

/// One part of a composite type.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// Its type in the IR; `None` for a matrix's columns.
    pub id: Option<TypeId>,
    /// Its value type.
    pub value: Word,
}

/// Maximum number of access chains to search for an equal one.
const CHAINS: usize = 16;

/// The target form of a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Value,
    Memory,
}

impl super::Emitter<'_> {
    /// The kinds of memory that an atomic operation with an order affects.
    fn all_memory(&self) -> MemorySemantics {
        let shared =
            if self.stage.has_workgroups() { MemorySemantics::WORKGROUP_MEMORY } else { MemorySemantics::empty() };
        MemorySemantics::UNIFORM_MEMORY | MemorySemantics::IMAGE_MEMORY | shared
    }
}

impl Body<'_, '_> {
    pub fn memory(&mut self, inst: &Inst) -> Word {
        match inst.op {
            ir::Op::Access { base, indices } => self.access(inst, base, indices),
            ir::Op::Load(pointer) => self.load(pointer, inst.ty, inst.flags),
            ir::Op::Store { pointer, value } => self.store(pointer, value, inst.flags),
            ir::Op::ArrayLength { block } => self.array_length(block),
            _ => self.m.internal("a memory operation that is none"),
        }
    }

    fn access(&mut self, inst: &Inst, base: Value, indices: Values) -> Word {
        if self.promoted_at(base).is_some() {
            return 0;
        }
        let ty = match self.m.module.types.pointee(inst.ty) {
            Some((space, pointee)) if self.is_laid_out(base) => {
                let class = self.m.class_of(space, pointee);
                let pointee = self.m.memory_type(pointee);
                self.m.pointer_to(class, pointee)
            }
            _ => self.m.value_type(inst.ty),
        };
        let mut operands: SmallVec<[Word; FEW]> = smallvec![self.value(base)];
        for index in self.f.values(indices) {
            let index = self.index(*index);
            operands.push(index);
        }
        match operands.as_slice() {
            [pointer] => *pointer,
            // Decorations apply to a single instruction.
            _ if self.shares || !inst.flags.is_empty() => self.emit(Op::AccessChain, ty, &operands),
            _ => self.chain(ty, &operands),
        }
    }

    /// An index of a chain. A signed constant may not be negative there (SPIR-V 1.6 section 2.16.1, logical
    /// addressing); the same bits as an unsigned constant are the same index.
    fn index(&mut self, index: Value) -> Word {
        let word = self.value(index);
        let scalar = self.shape_of(index).map(|(scalar, _)| scalar).filter(|scalar| scalar.is_signed());
        let (Some(scalar), Some(bits)) = (scalar, self.known_bits(index, word)) else { return word };
        if sign_extend(bits, scalar) >= 0 {
            return word;
        }
        self.m.scalar_constant(Scalar { kind: ScalarKind::Uint, ..scalar }, bits)
    }

    /// The bits of a constant operand, from the module or from its word.
    pub fn known_bits(&self, value: Value, word: Word) -> Option<u64> {
        match value {
            Value::Const(id) => self.m.module.constants.bits(id),
            _ => self.m.constants.bits(word),
        }
    }

    /// An access chain, shared with a recent one in the same block.
    fn chain(&mut self, ty: Word, operands: &[Word]) -> Word {
        let (code, length) = (self.code.as_slice(), 3 + operands.len());
        let written = self.chains.iter().rev().take(CHAINS).map(|start| &code[*start..]);
        let is_same = |inst: &&[Word]| inst[0] >> 16 == length as Word && inst[1] == ty && inst[3..length] == *operands;
        if let Some(known) = written.into_iter().find(is_same) {
            return known[2];
        }
        self.chains.push(self.code.as_slice().len());
        self.emit(Op::AccessChain, ty, operands)
    }

    fn load(&mut self, pointer: Value, ty: TypeId, flags: InstFlags) -> Word {
        if let Some(local) = self.promoted_at(pointer) {
            return self.load_promoted(local, pointer, ty);
        }
        let Some((space, pointee)) = self.pointee_of(pointer) else {
            return self.m.internal("a load from a value that is not a pointer");
        };
        let flags = flags | self.changing(pointer);
        let laid_out = self.is_laid_out(pointer);
        let ty = if laid_out { self.m.memory_type(pointee) } else { self.m.value_type(pointee) };
        let mut operands: SmallVec<[Word; FEW]> = smallvec![self.value(pointer)];
        self.access_operands(&mut operands, (space, pointer), flags, Direction::Reads);
        let raw = match self.shared_while(space, pointer, flags) {
            Some(epoch) => self.emit_once_in(epoch, Op::Load, ty, &operands),
            None => self.emit(Op::Load, ty, &operands),
        };
        if laid_out { self.relayout(raw, pointee, Form::Value) } else { raw }
    }

    /// The epoch in which equal loads return equal values, if any; 0 for always.
    fn shared_while(&self, space: Space, pointer: Value, flags: InstFlags) -> Option<Word> {
        if !self.shares || !flags.is_empty() {
            return None;
        }
        match self.is_constant(space, pointer) {
            true => Some(0),
            false => self.is_read_only(pointer).then_some(self.shared.epoch),
        }
    }

    /// Returns true if a pointer leads into a read-only buffer. SPIR-V's variables do not alias unless decorated so
    /// (SPIR-V 1.6 section 2.18.2), so no store of the invocation changes it.
    fn is_read_only(&self, pointer: Value) -> bool {
        let Some(global) = self.root_global(pointer).map(|id| &self.m.module.globals[id]) else { return false };
        let types = &self.m.module.types;
        let member = match (pointer, types.get(global.ty)) {
            (Value::Inst(id), Type::Struct(of)) => match self.f.insts[id].op {
                ir::Op::Access { indices, .. } => self
                    .f
                    .values(indices)
                    .first()
                    .and_then(|index| types.structs[of].members.get(self.m.module.known_u32(*index)? as usize)),
                _ => None,
            },
            _ => None,
        };
        let access = global.access | member.map_or(Access::empty(), |member| member.access);
        global.space == Space::Storage
            && access.contains(Access::READONLY)
            && !access.intersects(Access::COHERENT | Access::VOLATILE | Access::DEVICE)
    }

    /// Returns true if memory never changes.
    pub fn is_constant(&self, space: Space, pointer: Value) -> bool {
        let changes = |global: ir::GlobalId| {
            let binding = self.m.module.globals[global].binding;
            matches!(binding, ir::Binding::BuiltIn(ir::BuiltIn::HelperInvocation))
        };
        let is_input = space == Space::Input && !self.m.stage.is_of_rays();
        let is_constant =
            matches!(space, Space::Uniform | Space::PushConstant | Space::Handle | Space::Loose) || is_input;
        is_constant && !self.root_global(pointer).is_some_and(changes)
    }

    /// The flag for a load from a built-in input that changes, if loads need one.
    fn changing(&self, pointer: Value) -> InstFlags {
        match self.root_global(pointer).map(|id| self.m.module.globals[id].binding) {
            Some(ir::Binding::BuiltIn(of)) => self.m.flags_of_built_in(spirv_built_in(of)),
            _ => InstFlags::empty(),
        }
    }

    fn root_global(&self, pointer: Value) -> Option<ir::GlobalId> {
        match pointer {
            Value::Global(global) => Some(global),
            Value::Inst(id) => match self.f.insts[id].op {
                ir::Op::Access { base: Value::Global(global), .. } => Some(global),
                _ => None,
            },
            _ => None,
        }
    }

    fn store(&mut self, pointer: Value, value: Value, flags: InstFlags) -> Word {
        let Some((space, pointee)) = self.pointee_of(pointer) else {
            return self.m.internal("a store to a value that is not a pointer");
        };
        let mut value = self.value(value);
        if let Some(local) = self.promoted_at(pointer) {
            self.store_promoted(local, pointer, value);
            return 0;
        }
        if self.is_laid_out(pointer) {
            value = self.relayout(value, pointee, Form::Memory);
        }
        let mut operands: SmallVec<[Word; FEW]> = smallvec![self.value(pointer), value];
        self.access_operands(&mut operands, (space, pointer), flags, Direction::Writes);
        self.emit_void(Op::Store, &operands);
        0
    }

    /// Returns true if a pointer's target has a memory layout, with `uint` for `bool`.
    pub fn is_laid_out(&self, pointer: Value) -> bool {
        match pointer {
            Value::Global(id) => self.m.is_laid_out(&self.m.module.globals[id]),
            Value::Inst(id) => match self.f.insts[id].op {
                ir::Op::Access { base, .. } => self.is_laid_out(base),
                _ => self.type_of(pointer).is_some_and(|ty| self.m.module.types.referred(ty).is_some()),
            },
            _ => self.type_of(pointer).is_some_and(|ty| self.m.module.types.referred(ty).is_some()),
        }
    }

    /// Adds the memory operands of an access through a pointer into a space.
    pub fn access_operands(
        &mut self,
        operands: &mut SmallVec<[Word; FEW]>,
        (space, pointer): (Space, Value),
        flags: InstFlags,
        direction: Direction,
    ) {
        let alignment = (space == Space::Physical).then(|| self.alignment(pointer));
        self.m.memory_operands(operands, space, flags, alignment, direction);
    }

    /// Converts a value of type `ty` from one form to the other.
    fn relayout(&mut self, word: Word, ty: TypeId, to: Form) -> Word {
        let (value, memory) = (self.m.value_type(ty), self.m.memory_type(ty));
        if value == memory {
            return word;
        }
        let target = if to == Form::Value { value } else { memory };
        match self.m.module.types.get(ty) {
            Type::Scalar(_) | Type::Vector { .. } => self.convert_bool(word, ty, to),
            _ if self.m.version.has_1_4() && !self.m.has_bool(ty) => self.emit(Op::CopyLogical, target, &[word]),
            _ => self.relayout_parts(word, ty, to, target),
        }
    }

    fn relayout_parts(&mut self, word: Word, ty: TypeId, to: Form, target: Word) -> Word {
        let Some(parts) = self.parts_of(ty) else {
            return self.m.unsupported("copying such an array out of a buffer as a whole");
        };
        let converted: Vec<Word> = parts
            .iter()
            .enumerate()
            .map(|(index, part)| {
                let from = match (to, part.id) {
                    (Form::Value, Some(id)) => self.m.memory_type(id),
                    _ => part.value,
                };
                let extracted = self.emit(Op::CompositeExtract, from, &[word, index as Word]);
                part.id.map_or(extracted, |id| self.relayout(extracted, id, to))
            })
            .collect();
        self.emit(Op::CompositeConstruct, target, &converted)
    }

    fn convert_bool(&mut self, word: Word, ty: TypeId, to: Form) -> Word {
        let size = self.m.module.types.components(ty).unwrap_or(1);
        let zero = self.m.splat_constant(Scalar::U32, size, 0);
        if to == Form::Value {
            let ty = self.m.value_type(ty);
            return self.emit(Op::INotEqual, ty, &[word, zero]);
        }
        let (ty, one) = (self.m.memory_type(ty), self.m.splat_constant(Scalar::U32, size, 1));
        self.emit(Op::Select, ty, &[word, one, zero])
    }

    /// The parts of a matrix, struct, or array of known length.
    pub fn parts_of(&mut self, ty: TypeId) -> Option<Vec<Part>> {
        let module = self.m.module;
        let part = |m: &mut super::Emitter, id| Part { id: Some(id), value: m.value_type(id) };
        match module.types.get(ty) {
            Type::Matrix { scalar, columns, rows, .. } => {
                let value = self.m.vector_type(scalar, rows);
                Some(vec![Part { id: None, value }; usize::from(columns)])
            }
            Type::Array { element, len: ArrayLen::Fixed(count), .. } if count <= MOST_COPIED => {
                Some(vec![part(self.m, element); count as usize])
            }
            Type::Struct(of) => {
                Some(module.types.structs[of].members.iter().map(|member| part(self.m, member.ty)).collect())
            }
            _ => None,
        }
    }

    fn array_length(&mut self, block: Value) -> Word {
        let module = self.m.module;
        let Some((_, pointee)) = self.pointee_of(block) else {
            return self.m.internal("the length of a value that is not a pointer");
        };
        let Type::Struct(of) = module.types.get(pointee) else {
            return self.m.internal("the length of a value that is not a block");
        };
        let last = module.types.structs[of].members.len() as Word - 1;
        let (ty, block) = (self.m.scalar_type(Scalar::U32), self.value(block));
        self.emit(Op::ArrayLength, ty, &[block, last])
    }

    pub fn synchronize(&mut self, inst: &Inst) -> Word {
        match inst.op {
            ir::Op::Atomic { op, pointer, args, scope, order } => {
                self.atomic(inst.ty, op, pointer, args, (scope, order))
            }
            ir::Op::Barrier { execution, memory, kinds, order } => self.barrier(execution, memory, (kinds, order)),
            _ => self.m.internal("a synchronization that is none"),
        }
    }

    fn atomic(&mut self, ty: TypeId, op: AtomicOp, pointer: Value, args: Values, how: (Scope, Order)) -> Word {
        let Some((space, pointee)) = self.pointee_of(pointer) else {
            return self.m.internal("an atomic operation on a value that is not a pointer");
        };
        let Some(opcode) = self.atomic_opcode(op, pointee) else {
            return self.m.unsupported("this atomic operation on this type");
        };
        let memory = if how.1 == Order::Relaxed { memory_of(space) } else { self.m.all_memory() };
        let (scope, semantics) = self.scope_and_semantics(how.0, how.1, memory);
        let mut operands: SmallVec<[Word; FEW]> = smallvec![self.value(pointer), scope, semantics];
        if op == AtomicOp::CompareExchange {
            let unequal = unequal_order(how.1);
            operands.push(self.scope_and_semantics(how.0, unequal, memory_of(space)).1);
        }
        self.push_values(&mut operands, args);
        if op == AtomicOp::Store {
            self.emit_void(opcode, &operands);
            return 0;
        }
        let ty = self.m.value_type(ty);
        self.emit(opcode, ty, &operands)
    }

    /// An atomic operation on a texel.
    pub fn texel_atomic(
        &mut self,
        ty: TypeId,
        op: AtomicOp,
        how: (Scope, Order),
        texel: Word,
        of: (Scalar, u8),
        data: &[Word],
    ) -> Word {
        let Some(opcode) = self.atomic_opcode_of(op, of) else {
            return self.m.unsupported("this atomic operation on this kind of image");
        };
        let (scope, semantics) = self.scope_and_semantics(how.0, how.1, MemorySemantics::IMAGE_MEMORY);
        let mut operands: SmallVec<[Word; FEW]> = smallvec![texel, scope, semantics];
        if op == AtomicOp::CompareExchange {
            operands.push(semantics);
        }
        operands.extend_from_slice(data);
        if op == AtomicOp::Store {
            self.emit_void(opcode, &operands);
            return 0;
        }
        let ty = self.m.value_type(ty);
        self.emit(opcode, ty, &operands)
    }

    fn atomic_opcode(&mut self, op: AtomicOp, pointee: TypeId) -> Option<Op> {
        match self.m.module.types.get(pointee) {
            Type::Scalar(scalar) => self.atomic_opcode_of(op, (scalar, 1)),
            Type::Vector { scalar, size } => self.atomic_opcode_of(op, (scalar, size)),
            Type::AtomicCounter => self.atomic_opcode_of(op, (Scalar::U32, 1)),
            _ => None,
        }
    }

    fn atomic_opcode_of(&mut self, op: AtomicOp, (scalar, size): (Scalar, u8)) -> Option<Op> {
        if size > 1 {
            return self.vector_atomic(op, scalar);
        }
        if scalar.is_int() && scalar.width == 64 {
            self.m.needs.capability(Capability::Int64Atomics);
        }
        let swaps = matches!(op, AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange);
        if scalar.is_float() && !swaps {
            return self.float_atomic(op, scalar.width);
        }
        if scalar.is_bool() {
            return None;
        }
        Some(atomic_table(op, scalar.kind == ScalarKind::Sint))
    }

    /// Atomics on vectors of halves (SPV_NV_shader_atomic_fp16_vector).
    fn vector_atomic(&mut self, op: AtomicOp, scalar: Scalar) -> Option<Op> {
        let opcode = match op {
            AtomicOp::Add => Op::AtomicFAddEXT,
            AtomicOp::Min => Op::AtomicFMinEXT,
            AtomicOp::Max => Op::AtomicFMaxEXT,
            AtomicOp::Exchange => Op::AtomicExchange,
            _ => return None,
        };
        self.m.needs.capability(Capability::AtomicFloat16VectorNV);
        (scalar == Scalar::F16).then_some(opcode)
    }

    /// Float additions, minima and maxima (SPV_EXT_shader_atomic_float_add, SPV_EXT_shader_atomic_float_min_max).
    fn float_atomic(&mut self, op: AtomicOp, width: u8) -> Option<Op> {
        let (opcode, capabilities) = match op {
            AtomicOp::Add => (Op::AtomicFAddEXT, FLOAT_ADD),
            AtomicOp::Min => (Op::AtomicFMinEXT, FLOAT_MIN_MAX),
            AtomicOp::Max => (Op::AtomicFMaxEXT, FLOAT_MIN_MAX),
            _ => return None,
        };
        let (_, capability) = capabilities.into_iter().find(|(of, _)| *of == width)?;
        self.m.needs.capability(capability);
        Some(opcode)
    }

    /// A scope and memory semantics as constants for instructions.
    fn scope_and_semantics(&mut self, scope: Scope, order: Order, memory: MemorySemantics) -> (Word, Word) {
        let scope = self.m.memory_scope(scope);
        let scope = self.m.scope_number(scope);
        let scope = self.m.u32(scope);
        let order = match order {
            Order::Relaxed => return (scope, self.m.u32(0)),
            Order::Acquire => MemorySemantics::ACQUIRE,
            Order::Release => MemorySemantics::RELEASE,
            Order::AcquireRelease => MemorySemantics::ACQUIRE_RELEASE,
        };
        let whole = order | memory | self.m.availability(order);
        let bits = if memory.is_empty() { MemorySemantics::empty() } else { whole };
        (scope, self.m.u32(bits.bits()))
    }

    fn barrier(&mut self, execution: Option<Scope>, memory: Scope, (kinds, order): (MemoryKinds, Order)) -> Word {
        let counts = self.m.options.profile.client.row().has_default_block;
        let kinds = if counts { kinds } else { kinds.difference(MemoryKinds::ATOMIC_COUNTER) };
        let kinds = barrier_memory(kinds);
        // A barrier itself orders outputs (Vulkan 1.3, memory model), so semantics without other memory are relaxed.
        let order = if kinds.is_empty() { Order::Relaxed } else { order };
        let (scope, semantics) = self.scope_and_semantics(memory, order, kinds);
        match execution {
            Some(execution) => {
                let execution = self.m.scope_number(execution);
                let execution = self.m.u32(execution);
                self.emit_void(Op::ControlBarrier, &[execution, scope, semantics]);
            }
            // A memory barrier that orders nothing is omitted, because Vulkan forbids it
            // (VUID-StandaloneSpirv-OpMemoryBarrier-04733).
            None if kinds.is_empty() || order == Order::Relaxed => {}
            None => self.emit_void(Op::MemoryBarrier, &[scope, semantics]),
        }
        0
    }
}

/// Capabilities of sums of floats by their width.
const FLOAT_ADD: [(u8, Capability); 3] = [
    (16, Capability::AtomicFloat16AddEXT),
    (32, Capability::AtomicFloat32AddEXT),
    (64, Capability::AtomicFloat64AddEXT),
];

/// Capabilities of the smallest and largest of floats by their width.
const FLOAT_MIN_MAX: [(u8, Capability); 3] = [
    (16, Capability::AtomicFloat16MinMaxEXT),
    (32, Capability::AtomicFloat32MinMaxEXT),
    (64, Capability::AtomicFloat64MinMaxEXT),
];

/// The storage-class bits of an atomic operation's memory semantics.
const fn memory_of(space: Space) -> MemorySemantics {
    match space {
        Space::Workgroup | Space::TaskPayload => MemorySemantics::WORKGROUP_MEMORY,
        _ => MemorySemantics::UNIFORM_MEMORY,
    }
}

/// The storage-class bits of the kinds of memory that barriers order.
pub(super) const MEMORY_KINDS: [(MemoryKinds, MemorySemantics); 4] = [
    (MemoryKinds::BUFFER, MemorySemantics::UNIFORM_MEMORY),
    (MemoryKinds::SHARED, MemorySemantics::WORKGROUP_MEMORY),
    (MemoryKinds::IMAGE, MemorySemantics::IMAGE_MEMORY),
    (MemoryKinds::ATOMIC_COUNTER, MemorySemantics::ATOMIC_COUNTER_MEMORY),
];

/// Storage-class bits of a barrier. `OutputMemory` belongs to the Vulkan memory model.
fn barrier_memory(kinds: MemoryKinds) -> MemorySemantics {
    let chosen = MEMORY_KINDS.into_iter().filter(|(kind, _)| kinds.contains(*kind));
    chosen.fold(MemorySemantics::empty(), |all, (_, bit)| all | bit)
}

/// A failed comparison stores nothing, so it cannot release.
const fn unequal_order(order: Order) -> Order {
    match order {
        Order::Release => Order::Relaxed,
        Order::AcquireRelease => Order::Acquire,
        other => other,
    }
}

pub(super) const fn atomic_table(op: AtomicOp, signed: bool) -> Op {
    match op {
        AtomicOp::Load => Op::AtomicLoad,
        AtomicOp::Store => Op::AtomicStore,
        AtomicOp::Add => Op::AtomicIAdd,
        AtomicOp::Sub => Op::AtomicISub,
        AtomicOp::Min if signed => Op::AtomicSMin,
        AtomicOp::Min => Op::AtomicUMin,
        AtomicOp::Max if signed => Op::AtomicSMax,
        AtomicOp::Max => Op::AtomicUMax,
        AtomicOp::And => Op::AtomicAnd,
        AtomicOp::Or => Op::AtomicOr,
        AtomicOp::Xor => Op::AtomicXor,
        AtomicOp::Exchange => Op::AtomicExchange,
        AtomicOp::CompareExchange => Op::AtomicCompareExchange,
    }
}
