//! Memory: variables, chains of indices, loads and stores, atomic operations and barriers.

use super::arithmetic::typed;
use super::binary::Insn;
use super::body::Body;
use super::composite::is_index;
use super::fault::Read;
use super::module::Place;
use super::types::Shape;
use crate::backend::spirv::inverse::{atomic_of, memory_of};
use crate::ir::{ArrayLen, AtomicOp, InstFlags, Order, Scalar, Scope, Space, Type, TypeId, Types, Value};
use crate::lane::LaneOp;
use rspirv::spirv::{MemoryAccess, MemorySemantics, Op, Scope as SpirvScope, StorageClass, Word};

impl<'w> Body<'_, '_, 'w> {
    /// A variable of the function.
    pub fn variable(&mut self, insn: &Insn<'w>) -> Read<()> {
        let Shape::Pointer { class: StorageClass::Function, pointee } = self.r.ty(insn, insn.ty)?.shape else {
            return Err(insn.wrong("a variable in a function is not a pointer to the storage class `Function`"));
        };
        let ty = self.r.memory_type(self.b.module, insn, Space::Function, pointee)?;
        let is_value = self.b.module.types.components(ty).is_some() || self.b.module.types.part_count(ty).is_some();
        if !is_value && !matches!(self.b.module.types.get(ty), Type::BufferReference { .. } | Type::Array { .. }) {
            return Err(insn.unread("variables of such types are not read"));
        }
        let init = match insn.args.get(1) {
            Some(id) => Some(self.r.constant(insn, *id)?),
            None => None,
        };
        if init.is_some_and(|init| self.b.module.constants.get(init).ty != ty) {
            return Err(insn.wrong("the initial value has another type"));
        }
        let name = self.r.name(insn.id);
        let variable = self.b.local(&name, ty, init);
        self.define(insn, variable);
        Ok(())
    }

    /// The flags of an access: what its memory operands say.
    fn access_flags(&self, mask: Option<&Word>) -> InstFlags {
        let bits = MemoryAccess::from_bits_truncate(mask.copied().unwrap_or(0));
        let mut flags = self.b.flags & (InstFlags::RELAXED | InstFlags::NON_UNIFORM);
        flags.set(InstFlags::VOLATILE, bits.contains(MemoryAccess::VOLATILE));
        let coherent = bits.intersects(MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::MAKE_POINTER_VISIBLE);
        flags.set(InstFlags::COHERENT, coherent);
        flags
    }

    /// The pointer of an access, whose target is a value.
    fn target(&mut self, insn: &Insn<'w>, id: Word) -> Read<(Value, TypeId)> {
        let pointer = self.value(insn, id)?;
        let own = self.b.type_of(pointer);
        let (pointer, pointee) = match self.b.module.types.get(own) {
            Type::Pointer { pointee, .. } => (pointer, pointee),
            Type::BufferReference { .. } => {
                let whole = self.b.access(pointer, &[]);
                let ty = self.b.type_of(whole);
                match self.b.module.types.pointee(ty) {
                    Some((_, pointee)) => (whole, pointee),
                    None => return Err(insn.wrong(format!("%{id} is not a pointer"))),
                }
            }
            _ => return Err(insn.wrong(format!("%{id} is not a pointer"))),
        };
        match self.b.module.types.get(pointee) {
            Type::Array { len: ArrayLen::Runtime, .. } => Err(insn.wrong("an array of unknown length is not a value")),
            _ => Ok((pointer, self.b.module.types.logical(pointee))),
        }
    }

    pub fn load(&mut self, insn: &Insn<'w>) -> Read<()> {
        let id = insn.arg(0)?;
        if let Some((op, index)) = self.fact(insn, id)? {
            return self.load_fact(insn, op, index);
        }
        let ty = self.result_type(insn)?;
        let (pointer, pointee) = self.target(insn, id)?;
        self.b.flags = self.access_flags(insn.args.get(1));
        let value = self.b.load(pointer);
        if pointee != ty {
            return Err(insn.wrong("the pointer's target has another type than the result"));
        }
        self.define(insn, value);
        Ok(())
    }

    /// The cross-lane operation that a pointer is.
    fn fact(&mut self, insn: &Insn<'w>, id: Word) -> Read<Option<(LaneOp, Option<Value>)>> {
        if let Some(known) = self.facts.get(&id) {
            return Ok(Some(*known));
        }
        if !self.r.variables.contains_key(&id) {
            return Ok(None);
        }
        Ok(match self.r.place(self.b.module, insn, id)? {
            Place::Lane(op) => Some((op, None)),
            _ => None,
        })
    }

    fn load_fact(&mut self, insn: &Insn<'w>, op: LaneOp, index: Option<Value>) -> Read<()> {
        let ty = crate::ir::typing::lane(&mut self.b.module.types, op, &[]);
        let mut value = self.b.lane(op, ty, &[]);
        if let Some(index) = index {
            value = self.b.extract_dynamic(value, index);
        }
        self.deliver(insn, value)
    }

    pub fn store(&mut self, insn: &Insn<'w>) -> Read<()> {
        let (pointer, pointee) = self.target(insn, insn.arg(0)?)?;
        let value = self.value(insn, insn.arg(1)?)?;
        if self.b.type_of(value) != pointee {
            return Err(insn.wrong("the value has another type than the pointer's target"));
        }
        self.b.flags = self.access_flags(insn.args.get(2));
        self.b.store(pointer, value);
        Ok(())
    }

    pub fn copy_memory(&mut self, insn: &Insn<'w>) -> Read<()> {
        let (target, wanted) = self.target(insn, insn.arg(0)?)?;
        let (source, _) = self.target(insn, insn.arg(1)?)?;
        self.b.flags = self.access_flags(insn.args.get(2));
        let value = self.b.load(source);
        let value = super::composite::relabel(&mut self.b, value, wanted).map_err(|message| insn.wrong(message))?;
        self.b.store(target, value);
        Ok(())
    }

    pub fn access_chain(&mut self, insn: &Insn<'w>) -> Read<()> {
        let base = insn.arg(0)?;
        let indices = self.values(insn, &insn.args[1..])?;
        for index in &indices {
            if !is_index(&mut self.b, *index) {
                return Err(insn.wrong("an index is not an integer"));
            }
        }
        if let Some((op, None)) = self.fact(insn, base)? {
            let [index] = indices[..] else { return Err(insn.wrong("it needs one index")) };
            let is_mask = matches!(op, LaneOp::LaneMask(..));
            if !is_mask {
                return Err(insn.wrong("it leads into a scalar"));
            }
            self.facts.insert(insn.id, (op, Some(index)));
            return Ok(());
        }
        let (base, indices) = match self.members(insn, base, indices)? {
            Some(found) => found,
            None => return Ok(()),
        };
        self.check_chain(insn, base, &indices)?;
        let pointer = self.b.access(base, &indices);
        self.define(insn, pointer);
        Ok(())
    }

    /// The base of a chain and its indices. A chain into a block of built-in variables leads to the variable of the
    /// member; `None` if it does not reach one yet.
    fn members(&mut self, insn: &Insn<'w>, base: Word, indices: Vec<Value>) -> Read<Option<(Value, Vec<Value>)>> {
        let before = self.blocks_of_members.get(&base).cloned();
        let (root, mut all) = before.unwrap_or((base, Vec::new()));
        if !self.r.variables.contains_key(&root) {
            return Ok(Some((self.value(insn, base)?, indices)));
        }
        let Place::Members(list) = self.r.place(self.b.module, insn, root)? else {
            return Ok(Some((self.value(insn, base)?, indices)));
        };
        all.extend(indices);
        let around = usize::from(self.r.is_array(insn, root)?);
        let Some(member) = all.get(around).copied() else {
            self.blocks_of_members.insert(insn.id, (root, all));
            return Ok(None);
        };
        let number = self.b.module.known_u32(member).ok_or_else(|| insn.wrong("the member is not constant"))?;
        let global = *list.get(number as usize).ok_or_else(|| insn.wrong("there is no such member"))?;
        all.remove(around);
        Ok(Some((Value::Global(global), all)))
    }

    /// Checks that each index of a chain leads to a part.
    fn check_chain(&mut self, insn: &Insn<'w>, base: Value, indices: &[Value]) -> Read<()> {
        let own = self.b.type_of(base);
        let mut at = match self.b.module.types.get(own) {
            Type::Pointer { pointee, .. } => pointee,
            Type::BufferReference { pointee } => self.b.module.types.intern(Type::Struct(pointee)),
            _ => return Err(insn.wrong("its base is not a pointer")),
        };
        for index in indices {
            let known = match index {
                Value::Const(id) => self.b.module.constants.bits(*id),
                _ => None,
            };
            let types = &self.b.module.types;
            if matches!(types.get(at), Type::Struct(_)) && known.is_none() {
                return Err(insn.wrong("the index of a member is not constant"));
            }
            let beyond = known.zip(types.part_count(at)).is_some_and(|(index, count)| index >= u64::from(count));
            let part = self.b.module.types.element(at, known.unwrap_or(0) as u32).filter(|_| !beyond);
            at = part.ok_or_else(|| insn.wrong("an index leads to no part"))?;
        }
        Ok(())
    }

    pub fn array_length(&mut self, insn: &Insn<'w>) -> Read<()> {
        let block = self.value(insn, insn.arg(0)?)?;
        let own = self.b.type_of(block);
        let block = if self.b.module.types.referred(own).is_some() { self.b.access(block, &[]) } else { block };
        let own = self.b.type_of(block);
        let of = self.b.module.types.pointee(own).map(|(_, pointee)| self.b.module.types.get(pointee));
        let Some(Type::Struct(of)) = of else { return Err(insn.wrong("it is not of a block")) };
        let members = &self.b.module.types.structs[of].members;
        let is_last = insn.arg(1)? as usize + 1 == members.len();
        let open = members.last().map(|member| self.b.module.types.get(member.ty));
        if !is_last || !matches!(open, Some(Type::Array { len: ArrayLen::Runtime, .. })) {
            return Err(insn.wrong("it is not of an array of unknown length"));
        }
        let length = self.b.array_length(block);
        self.deliver(insn, length)
    }

    pub fn scope(&mut self, insn: &Insn<'w>, id: Word) -> Read<Scope> {
        let number = self.r.known(self.b.module, insn, id)?;
        Ok(match SpirvScope::from_u32(number) {
            Some(SpirvScope::Invocation) => Scope::Invocation,
            Some(SpirvScope::Subgroup) => Scope::Subgroup,
            Some(SpirvScope::Workgroup) => Scope::Workgroup,
            Some(SpirvScope::QueueFamily | SpirvScope::ShaderCallKHR) => Scope::QueueFamily,
            // Only Vulkan's memory model distinguishes the two.
            Some(SpirvScope::Device | SpirvScope::CrossDevice) if !self.r.uses_vulkan_memory => Scope::QueueFamily,
            Some(SpirvScope::Device | SpirvScope::CrossDevice) => Scope::Device,
            None => return Err(insn.wrong(format!("{number} is not a scope"))),
        })
    }

    pub fn semantics(&mut self, insn: &Insn<'w>, id: Word) -> Read<(Order, MemorySemantics)> {
        let bits = MemorySemantics::from_bits_truncate(self.r.known(self.b.module, insn, id)?);
        let both = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::SEQUENTIALLY_CONSISTENT;
        let order = match (bits.contains(MemorySemantics::ACQUIRE), bits.contains(MemorySemantics::RELEASE)) {
            _ if bits.intersects(both) => Order::AcquireRelease,
            (true, true) => Order::AcquireRelease,
            (true, false) => Order::Acquire,
            (false, true) => Order::Release,
            (false, false) => Order::Relaxed,
        };
        Ok((order, bits))
    }

    pub fn barrier(&mut self, insn: &Insn<'w>) -> Read<()> {
        let waits = insn.op == Op::ControlBarrier;
        let execution = if waits { Some(self.scope(insn, insn.arg(0)?)?) } else { None };
        let at = usize::from(waits);
        let memory = self.scope(insn, insn.arg(at)?)?;
        let (order, bits) = self.semantics(insn, insn.arg(at + 1)?)?;
        match execution {
            None | Some(Scope::Workgroup | Scope::Subgroup) => {}
            Some(_) => {
                return Err(insn
                    .unread("waiting for other invocations than those of the subgroup or the workgroup is not read"));
            }
        }
        self.b.barrier(execution, memory, memory_of(bits), order);
        Ok(())
    }

    pub fn atomic(&mut self, insn: &Insn<'w>) -> Read<()> {
        let id = insn.arg(0)?;
        if let Some(texel) = self.texels.get(&id) {
            return self.texel_atomic(insn, *texel);
        }
        let (pointer, ty) = self.target(insn, id)?;
        let scope = self.scope(insn, insn.arg(1)?)?;
        let (order, _) = self.semantics(insn, insn.arg(2)?)?;
        let scalar = match self.b.module.types.get(ty) {
            Type::Scalar(scalar) => scalar,
            _ => return Err(insn.unread("atomic operations on memory of this type are not read")),
        };
        let (op, signed, first) = operation(insn).ok_or_else(|| insn.unread("it is not read"))?;
        if signed.is_some_and(|signed| signed != scalar.is_signed()) && matches!(op, AtomicOp::Min | AtomicOp::Max) {
            return Err(insn.unread("a minimum or maximum of numbers of the other sign than the memory's is not read"));
        }
        let space = self.b.type_of(pointer);
        let space = self.b.module.types.pointee(space).map(|(space, _)| space);
        let of_memory = matches!(space, Some(Space::Storage | Space::Workgroup | Space::Physical | Space::TaskPayload));
        let computes = !matches!(
            op,
            AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange | AtomicOp::Add | AtomicOp::Min | AtomicOp::Max
        );
        if !of_memory || !scalar.is_number() || computes && !scalar.is_int() {
            return Err(insn.wrong("it is not of memory that it can change"));
        }
        let mut args = Vec::new();
        for id in insn.args.get(first..).unwrap_or_default() {
            let value = self.value(insn, *id)?;
            args.push(typed(&mut self.b, value, ty).map_err(|message| insn.wrong(message))?);
        }
        if matches!(insn.op, Op::AtomicIIncrement | Op::AtomicIDecrement) {
            let one = Scalar::one_bits(scalar);
            args.push(Value::Const(self.b.module.constants.intern(ty, crate::ir::ConstValue::Bits(one))));
        }
        let count = match op {
            AtomicOp::Load => 0,
            AtomicOp::CompareExchange => 2,
            _ => 1,
        };
        if args.len() != count {
            return Err(insn.wrong("it does not have as many operands as it needs"));
        }
        let value = self.b.atomic(op, pointer, &args, scope, order);
        match self.b.type_of(value) == Types::VOID {
            true => Ok(()),
            false => self.deliver(insn, value),
        }
    }
}

/// The operation of an atomic instruction, whether it is of signed numbers, and its first operand after the semantics.
pub fn operation(insn: &Insn<'_>) -> Option<(AtomicOp, Option<bool>, usize)> {
    Some(match insn.op {
        Op::AtomicIIncrement => (AtomicOp::Add, None, 3),
        Op::AtomicIDecrement => (AtomicOp::Sub, None, 3),
        Op::AtomicFAddEXT => (AtomicOp::Add, None, 3),
        Op::AtomicFMinEXT => (AtomicOp::Min, None, 3),
        Op::AtomicFMaxEXT => (AtomicOp::Max, None, 3),
        Op::AtomicCompareExchange => (AtomicOp::CompareExchange, None, 4),
        op => {
            let (op, signed) = atomic_of(op)?;
            (op, Some(signed), 3)
        }
    })
}
