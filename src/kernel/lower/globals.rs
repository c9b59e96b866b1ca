//! Module-scope variables: buffers by set and binding, push constants, workgroup and private memory.

use super::analyze::{is_large, is_promotable};
use super::image::Resource;
use super::pointer::{Index, MemoryRef, Pointer};
use super::{Lower, Scalars};
use crate::diagnostic::Code;
use crate::ir::{
    self, Access, ArrayLen, Binding, BuiltIn, ConstId, Global, GlobalId, MemoryKinds, Module, Order, Scalar, Scope,
    Space, Type, TypeId,
};
use crate::kernel::{BinOp, Buffer, BufferKind, BufferWrites, CmpOp, MemoryAccess, MemorySpace, Op, Ty, Value};

/// Limit of workgroup memory in bytes, above the size of any hardware.
const SHARED_LIMIT: u32 = 1 << 20;

/// Alignment of a block in workgroup memory, in bytes.
const BLOCK_ALIGN: u32 = 16;

/// Buffers that an entry point may have.
const BUFFER_LIMIT: u32 = 1 << 12;

/// Maximum number of unrolled iterations that clear workgroup memory.
const UNROLLED_ROUNDS: u32 = 8;

/// A resource and its binding point.
type Bound = ((u32, u32), GlobalId);

impl Lower<'_> {
    /// Assigns memory to every used variable.
    pub fn declare_globals(&mut self) {
        let mut bound: Vec<Bound> = Vec::new();
        let module = self.module;
        let used: Vec<GlobalId> = module.globals.handles().filter(|id| self.facts.is_used(*id)).collect();
        for id in &used {
            let global = &module.globals[*id];
            self.b.span = global.span;
            match (global.space, global.binding) {
                (Space::Uniform | Space::Storage, Binding::Resource { set, binding }) => {
                    bound.push(((set, binding), *id))
                }
                (Space::Workgroup, _) => {}
                _ => self.globals[id.index()] = self.global_variable(*id, global),
            }
        }
        bound.sort_by_key(|(place, _)| *place);
        bound.into_iter().for_each(|(place, id)| self.buffers(place, id));
        self.workgroup_memory(&used);
        self.declare_tables();
    }

    fn global_variable(&mut self, id: GlobalId, global: &Global) -> Pointer {
        match (global.space, global.binding) {
            (Space::Private, _) if !self.facts.is_memory(id) && !is_large(&mut self.shapes, global.ty) => {
                self.slots(global.ty, global.init)
            }
            (Space::Private, _) => self.private(global.ty).map_or(Pointer::None, Pointer::Memory),
            (Space::PushConstant, _) => self.push_constants(global.ty),
            (Space::Input, Binding::BuiltIn(name)) => Pointer::BuiltIn { name, ty: global.ty },
            (Space::Input | Space::Output, _) => self.interface_variable(id, global),
            (Space::Handle, _) if self.shapes.types.get(global.ty) == ir::Type::AccelerationStructure => {
                self.without("ray queries")
            }
            (Space::Handle, Binding::Counter { .. }) => self.without("atomic counters"),
            (Space::Loose, _) => self.without("uniforms outside of blocks"),
            (Space::Handle, _) => Pointer::Resource(Resource { global: id, element: 0, choice: None, ty: global.ty }),
            _ => self.without("variables like this one"),
        }
    }

    fn without(&mut self, what: &str) -> Pointer {
        self.not_yet(what);
        Pointer::None
    }

    fn push_constants(&mut self, ty: TypeId) -> Pointer {
        let Some(extent) = self.shapes.extent(ty) else { return self.without("push constants of this type") };
        self.b.kernel.push_bytes = self.b.kernel.push_bytes.max(extent.size);
        Pointer::Memory(MemoryRef::new(MemorySpace::Push, 0, ty))
    }

    // Buffers.

    /// Adds the buffers of a resource; blocks at the same binding are views of the same buffer.
    fn buffers(&mut self, (set, binding): (u32, u32), id: GlobalId) {
        let global = &self.module.globals[id];
        self.b.span = global.span;
        let ty = self.buffer_type(global.ty);
        let Some(extent) = self.known_extent(ty) else { return };
        let name = name_of(self.module, global, ty);
        let list = &self.b.kernel.buffers;
        let first = list.iter().position(|other| (other.set, other.binding) == (set, binding)).unwrap_or(list.len());
        let Some(count) = self.bound_buffers(global.ty, first) else { return };
        let list = &mut self.b.kernel.buffers;
        for element in 0..count {
            let buffer = described(global, name, (set, binding), element, extent.size);
            match list.get_mut(first + element as usize) {
                Some(known) => merge(known, &buffer),
                None => list.push(buffer),
            }
        }
        self.globals[id.index()] = self.buffer_pointer(first as u32, id, global.ty);
    }

    /// The number of buffers of a resource that follow `others`; `None` if there are too many.
    fn bound_buffers(&mut self, ty: TypeId, others: usize) -> Option<u32> {
        if matches!(self.shapes.types.get(ty), Type::Array { len: ArrayLen::Runtime, .. }) {
            self.not_yet("arrays of buffers without a size");
            return None;
        }
        let count = self.buffers_of(ty);
        let total = others as u64 + u64::from(count);
        if total > BUFFER_LIMIT.into() {
            let message = format!("this entry point needs {total} buffers; a kernel has at most {BUFFER_LIMIT}");
            self.refuse(Code::NOT_IN_KERNELS, message);
            return None;
        }
        Some(count)
    }

    /// The block that a resource, or each of an array of resources, is.
    fn buffer_type(&mut self, ty: TypeId) -> TypeId {
        match self.array_element(ty) {
            Some((element, _)) => self.buffer_type(element),
            None => ty,
        }
    }

    // Workgroup memory.

    /// Zero-initialised variables come first, so that one range is cleared. Blocks, which come last, share their
    /// memory, as GL_EXT_shared_memory_block requires.
    fn workgroup_memory(&mut self, used: &[GlobalId]) {
        let module = self.module;
        let shared = used.iter().filter(|id| module.globals[**id].space == Space::Workgroup);
        let (cleared, others): (Vec<GlobalId>, Vec<GlobalId>) =
            shared.partition(|id| module.globals[**id].init.is_some());
        let mut top = 0;
        for id in &cleared {
            top = self.place_shared(*id, top);
        }
        let clear = top.next_multiple_of(4);
        top = clear;
        let (blocks, others): (Vec<GlobalId>, Vec<GlobalId>) =
            others.into_iter().partition(|id| self.is_block(module.globals[*id].ty));
        for id in others.iter().chain(&blocks) {
            top = self.place_shared(*id, top);
        }
        self.b.kernel.shared_bytes = self.b.kernel.shared_bytes.max(top);
        self.cleared = clear / 4;
    }

    /// Places a variable after `top`; returns the first byte after it.
    fn place_shared(&mut self, id: GlobalId, top: u32) -> u32 {
        let global = &self.module.globals[id];
        self.b.span = global.span;
        let is_block = self.is_block(global.ty);
        let Some(extent) = self.known_extent(global.ty) else { return top };
        let start = top.checked_next_multiple_of(if is_block { BLOCK_ALIGN } else { extent.align });
        let end = start.and_then(|start| start.checked_add(extent.size));
        let Some((start, end)) = start.zip(end).filter(|(_, end)| *end <= SHARED_LIMIT) else {
            self.refuse(Code::NOT_IN_KERNELS, "the variables of a workgroup need too much memory");
            return top;
        };
        self.globals[id.index()] = Pointer::Memory(MemoryRef::new(MemorySpace::Shared, start, global.ty));
        if is_block {
            self.b.kernel.shared_bytes = self.b.kernel.shared_bytes.max(end);
            return top;
        }
        end
    }

    fn is_block(&self, ty: TypeId) -> bool {
        match self.shapes.types.get(ty) {
            Type::Struct(id) => self.shapes.types.structs[id].block,
            _ => false,
        }
    }

    /// Clears the first `words` words of workgroup memory: the invocations share the words, then all wait.
    fn clear_shared(&mut self, words: u32) {
        if words == 0 {
            return;
        }
        let invocations = self.b.kernel.invocations();
        let own = self.b.value(Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
        let rounds = words.div_ceil(invocations);
        if rounds <= UNROLLED_ROUNDS {
            (0..rounds).for_each(|round| self.clear_round(own, round * invocations, words));
        } else {
            self.clear_in_loop(own, invocations, words);
        }
        let kinds = MemoryKinds::SHARED;
        let (execution, memory, order) = (Some(Scope::Workgroup), Scope::Workgroup, Order::AcquireRelease);
        self.b.effect(Op::Barrier { execution, memory, kinds, order }, &[]);
    }

    /// Clears word `first + own`, if it is below `words`.
    fn clear_round(&mut self, own: Value, first: u32, words: u32) {
        if first + self.b.kernel.invocations() <= words {
            return self.clear_word(own, first);
        }
        let left = self.b.u32(words - first);
        let inside = self.b.cmp(CmpOp::Lt, Scalar::U32, own, left);
        self.guarded(inside, |lower| lower.clear_word(own, first));
    }

    fn clear_word(&mut self, own: Value, first: u32) {
        let (four, zero) = (self.b.u32(4), self.b.u32(0));
        let address = self.b.bin(BinOp::Mul, Scalar::U32, own, four);
        let access = MemoryAccess::words(MemorySpace::Shared, first * 4, 1);
        self.b.store(access, address, &[zero]);
    }

    /// `for (at = own; at < words; at += invocations)`.
    fn clear_in_loop(&mut self, own: Value, invocations: u32, words: u32) {
        let (body, continuing) = (self.b.kernel.add_block(&[Ty::B32]), self.b.kernel.add_block(&[Ty::B32]));
        let (at, next) = (self.b.kernel.blocks[body].params[0], self.b.kernel.blocks[continuing].params[0]);
        let inst = self.b.inst(Op::Loop { body, continuing }, &[own], &[]);
        let outer = self.b.switch_to(body);
        self.clear_word(at, 0);
        let step = self.b.u32(invocations);
        let after = self.b.bin(BinOp::Add, Scalar::U32, at, step);
        self.b.effect(Op::Continue(inst), &[after]);
        self.b.switch_to(continuing);
        let words = self.b.u32(words);
        let leave = self.b.cmp(CmpOp::Ge, Scalar::U32, next, words);
        self.b.effect(Op::Repeat, &[leave, next]);
        self.b.switch_to(outer);
    }

    // The start of an invocation.

    /// Clears workgroup memory; writes the initial values of variables in private memory, and the tables.
    pub fn initialize(&mut self) {
        let module = self.module;
        self.clear_shared(self.cleared);
        for (id, global) in module.globals.iter() {
            let Pointer::Memory(memory) = self.global(id) else { continue };
            if let Some(init) = global.init.filter(|_| is_promotable(global.space)) {
                self.b.span = global.span;
                let values = self.shapes.values(&mut self.b.kernel, init);
                self.store_memory(memory, &values);
            }
        }
        for (id, memory) in self.tables.clone() {
            let values = self.shapes.values(&mut self.b.kernel, id);
            self.store_memory(memory, &values);
        }
    }

    /// Assigns memory to the dynamically indexed constant arrays.
    fn declare_tables(&mut self) {
        for id in self.facts.tables.clone() {
            let ty = self.shapes.constants.get(id).ty;
            if self.is_small(ty) {
                continue;
            }
            if let Some(memory) = self.private(ty) {
                self.tables.push((id, memory));
            }
        }
    }

    /// The element of a composite value by a run-time index: selected from a few scalars, otherwise loaded from memory.
    pub fn extract_dynamic(&mut self, composite: ir::Value, index: Value) -> Scalars {
        let Some(ty) = self.type_of(composite) else { return Scalars::new() };
        let values = self.values(composite);
        if self.is_small(ty) {
            let parts = self.shapes.part_count(ty).unwrap_or(1).max(1) as usize;
            return self.pick_part(&values, parts, index);
        }
        let top = self.private_top;
        let memory = match composite {
            ir::Value::Const(id) => self.table(id),
            _ => self.spilled(ty, &values),
        };
        self.private_top = top;
        let Some(memory) = memory else { return Scalars::new() };
        let element = self.step_in_memory(memory, Index::Computed(index));
        self.load(&element, ty)
    }

    fn is_small(&mut self, ty: TypeId) -> bool {
        self.shapes.part_count(ty).is_none_or(|count| count <= 4)
    }

    fn table(&mut self, id: ConstId) -> Option<MemoryRef> {
        // Tables were declared in ascending order.
        let at = self.tables.binary_search_by_key(&id, |(table, _)| *table).ok()?;
        Some(self.tables[at].1)
    }

    /// A value written to private memory.
    fn spilled(&mut self, ty: TypeId, values: &[Value]) -> Option<MemoryRef> {
        let memory = self.private(ty)?;
        self.store_memory(memory, values);
        Some(memory)
    }
}

/// The name of a buffer for users: the variable's, or the block's if the variable has none.
fn name_of<'m>(module: &'m Module, global: &'m Global, block: TypeId) -> &'m str {
    match module.types.get(block) {
        Type::Struct(id) if global.name.is_empty() => &module.types.structs[id].name,
        _ => &global.name,
    }
}

/// The description of a buffer for the program that binds it.
fn described(global: &Global, name: &str, (set, binding): (u32, u32), element: u32, bytes: u32) -> Buffer {
    let kind = if global.space == Space::Uniform { BufferKind::Uniform } else { BufferKind::Storage };
    Buffer {
        name: name.into(),
        kind,
        set,
        binding,
        element,
        bytes,
        writes: writes(kind, global.access),
        span: global.span,
    }
}

/// The writes that a variable's kind and qualifiers allow (GLSL 4.60 section 4.10, "Memory Qualifiers").
fn writes(kind: BufferKind, access: Access) -> BufferWrites {
    let is_watched = access.intersects(Access::COHERENT | Access::VOLATILE);
    let is_constant = access.contains(Access::READONLY | Access::RESTRICT) && !is_watched;
    match kind {
        BufferKind::Uniform => BufferWrites::Never,
        BufferKind::Storage if is_constant => BufferWrites::Never,
        BufferKind::Storage if access.contains(Access::READONLY) => BufferWrites::Elsewhere,
        BufferKind::Storage => BufferWrites::Here,
    }
}

/// Merges two views of the same buffer.
fn merge(known: &mut Buffer, other: &Buffer) {
    known.bytes = known.bytes.max(other.bytes);
    known.writes = known.writes.max(other.writes);
    if other.kind == BufferKind::Storage {
        known.kind = BufferKind::Storage;
    }
}
