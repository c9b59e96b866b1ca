//! Memory: places, loads, stores, atomics, barriers, array lengths.
//!
//! Atomics are relaxed (WGSL 17.8); their scope is the device in storage buffers, otherwise the workgroup.

use super::Outcome;
use super::function::{Body, Slot};
use crate::ir::{AtomicOp, BinaryOp, MemoryKinds, Order, Scope, Space, TypeId, Value};
use naga::{AtomicFunction, Barrier, Expression, Handle, TypeInner};

/// The variable or parameter that a pointer points into, and the indices.
#[derive(Clone)]
pub(super) struct PointerPath {
    pub root: Value,
    pub indices: Vec<Value>,
    /// The condition under which it may be accessed; `None` for always.
    pub only_if: Option<Value>,
}

impl PointerPath {
    pub(super) fn of(root: Value) -> PointerPath {
        PointerPath { root, indices: Vec::new(), only_if: None }
    }

    pub(super) fn then(mut self, index: Value) -> PointerPath {
        self.indices.push(index);
        self
    }
}

impl Body<'_, '_, '_> {
    /// The pointer for a path, as an instruction.
    pub(super) fn pointer(&mut self, path: &PointerPath) -> Value {
        self.b.access(path.root, &path.indices)
    }

    fn scope_of(&mut self, pointer: Value) -> Scope {
        let ty = self.b.type_of(pointer);
        match self.b.module.types.pointee(ty) {
            Some((Space::Workgroup, _)) => Scope::Workgroup,
            _ => Scope::Device,
        }
    }

    /// Returns true if a pointer expression points to an atomic.
    fn is_atomic(&self, pointer: Handle<Expression>) -> bool {
        let Some(origin) = self.origin else { return false };
        match origin.info[pointer].ty.inner_with(&self.shader.naga.types) {
            TypeInner::Pointer { base, .. } => matches!(self.shader.naga.types[*base].inner, TypeInner::Atomic(_)),
            _ => false,
        }
    }

    pub(super) fn load(&mut self, from: Handle<Expression>) -> Outcome<Value> {
        let path = self.path(from)?;
        if let Some(ty) = self.split_in_memory(from) {
            return self.load_split(&path, ty);
        }
        let is_atomic = self.is_atomic(from);
        Ok(self.value_if(path.only_if, |body| {
            let pointer = body.pointer(&path);
            if !is_atomic {
                return body.b.load(pointer);
            }
            let scope = body.scope_of(pointer);
            body.b.atomic(AtomicOp::Load, pointer, &[], scope, Order::Relaxed)
        }))
    }

    /// The value of a plain variable, or of a part of one.
    pub(super) fn load_path(&mut self, path: &PointerPath) -> Value {
        self.value_if(path.only_if, |body| {
            let pointer = body.pointer(path);
            body.b.load(pointer)
        })
    }

    pub(super) fn store_path(&mut self, path: &PointerPath, value: Value) {
        self.do_if(path.only_if, |body| {
            let pointer = body.pointer(path);
            body.b.store(pointer, value);
        });
    }

    pub(super) fn store(&mut self, to: Handle<Expression>, value: Handle<Expression>) -> Outcome<()> {
        let (path, value) = (self.path(to)?, self.value(value)?);
        if !self.is_atomic(to) {
            self.store_path(&path, value);
            return Ok(());
        }
        self.do_if(path.only_if, |body| {
            let pointer = body.pointer(&path);
            let scope = body.scope_of(pointer);
            body.b.atomic(AtomicOp::Store, pointer, &[value], scope, Order::Relaxed);
        });
        Ok(())
    }

    pub(super) fn atomic(
        &mut self,
        pointer: Handle<Expression>,
        function: AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Outcome<()> {
        let (path, value) = (self.path(pointer)?, self.value(value)?);
        let compare = match function {
            AtomicFunction::Exchange { compare: Some(compare) } => Some(self.value(compare)?),
            _ => None,
        };
        let old = self.value_if(path.only_if, |body| {
            let pointer = body.pointer(&path);
            let scope = body.scope_of(pointer);
            if let Some(compare) = compare {
                return body.compare_exchange(pointer, value, compare, scope);
            }
            let op = atomic_op(function).unwrap_or(AtomicOp::Exchange);
            body.b.atomic(op, pointer, &[value], scope, Order::Relaxed)
        });
        if let Some(result) = result {
            self.set(result, Slot::Value(old));
        }
        Ok(())
    }

    /// The old value, and whether it equals the compared one. It never fails spuriously, although WGSL would allow
    /// that.
    fn compare_exchange(&mut self, pointer: Value, value: Value, compare: Value, scope: Scope) -> Value {
        let args = [value, compare];
        let old = self.b.atomic(AtomicOp::CompareExchange, pointer, &args, scope, Order::Relaxed);
        let exchanged = self.b.binary(BinaryOp::Eq, old, compare);
        let (first, second) = (self.b.type_of(old), self.b.type_of(exchanged));
        let pair = self.b.module.types.pair(first, second);
        self.b.construct(pair, &[old, exchanged])
    }

    /// Elements of the run-time array that an expression points to: the whole buffer, or its last member.
    pub(super) fn array_length(&mut self, array: Handle<Expression>) -> Outcome<Value> {
        let mut path = self.path(array)?;
        if path.indices.pop().is_none() {
            return Err(self.unexpected("a run-time array outside a block", self.expression_span(array)));
        }
        let block = self.pointer(&path);
        Ok(self.b.array_length(block))
    }

    /// `workgroupBarrier`, `storageBarrier`, `subgroupBarrier` and their unions.
    pub(super) fn control_barrier(&mut self, of: Barrier) {
        if of.contains(Barrier::SUB_GROUP) {
            let kinds = MemoryKinds::BUFFER | MemoryKinds::SHARED;
            self.b.barrier(Some(Scope::Subgroup), Scope::Subgroup, kinds, Order::AcquireRelease);
        }
        let mut kinds = MemoryKinds::empty();
        kinds.set(MemoryKinds::SHARED, of.contains(Barrier::WORK_GROUP));
        kinds.set(MemoryKinds::BUFFER, of.contains(Barrier::STORAGE));
        kinds.set(MemoryKinds::IMAGE, of.contains(Barrier::TEXTURE));
        if !kinds.is_empty() {
            self.b.barrier(Some(Scope::Workgroup), barrier_scope(kinds), kinds, Order::AcquireRelease);
        }
    }

    pub(super) fn workgroup_barrier(&mut self) {
        self.b.barrier(Some(Scope::Workgroup), Scope::Workgroup, MemoryKinds::SHARED, Order::AcquireRelease);
    }

    /// A load between two barriers: every invocation gets the same value (WGSL 17.11).
    pub(super) fn uniform_load(&mut self, from: Handle<Expression>, result: Handle<Expression>) -> Outcome<()> {
        self.workgroup_barrier();
        let value = self.load(from)?;
        self.workgroup_barrier();
        self.set(result, Slot::Value(value));
        Ok(())
    }

    /// Zeroes workgroup memory: the invocations share the elements of an array, and the first invocation does
    /// everything else.
    pub(super) fn zero_memory(&mut self, path: &PointerPath, ty: TypeId, turns: &super::entry::Turns) {
        match self.b.module.types.get(ty) {
            crate::ir::Type::Array { element, len, .. } => {
                let len = super::entry::length(&mut self.b, len);
                self.by_turns(turns, len, |body, index| {
                    let pointer = body.pointer(&path.clone().then(index));
                    let zero = body.b.zero(element);
                    body.b.store(pointer, zero);
                });
            }
            _ => self.by_the_first(turns, |body| {
                let (pointer, zero) = (body.pointer(path), body.b.zero(ty));
                body.b.store(pointer, zero);
            }),
        }
    }
}

/// Buffers and textures are ordered for the whole device, as other invocations may read them by atomics' order.
fn barrier_scope(kinds: MemoryKinds) -> Scope {
    if kinds.intersects(MemoryKinds::BUFFER | MemoryKinds::IMAGE) { Scope::Device } else { Scope::Workgroup }
}

/// The operations with one argument.
pub(super) fn atomic_op(function: AtomicFunction) -> Option<AtomicOp> {
    Some(match function {
        AtomicFunction::Add => AtomicOp::Add,
        AtomicFunction::Subtract => AtomicOp::Sub,
        AtomicFunction::And => AtomicOp::And,
        AtomicFunction::ExclusiveOr => AtomicOp::Xor,
        AtomicFunction::InclusiveOr => AtomicOp::Or,
        AtomicFunction::Min => AtomicOp::Min,
        AtomicFunction::Max => AtomicOp::Max,
        AtomicFunction::Exchange { .. } => return None,
    })
}
