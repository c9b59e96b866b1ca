//! Pointers. Every pointer is resolved at compile time, to a variable's slots or to an address in a memory.

use super::image::Resource;
use super::shape::Held;
use super::{Lower, Scalars};
use crate::diagnostic::Code;
use crate::ir::{self, BuiltIn, GlobalId, Scalar, StructId, Type, TypeId, Types};
use crate::kernel::stage::{belongs, built_in_input};
use crate::kernel::{BinOp, MemorySpace, Ty, Value};

/// The target of a pointer.
#[derive(Clone, Debug)]
pub enum Pointer {
    /// Nothing: the target was refused, or the part does not exist.
    None,
    /// A part of a variable in SSA form.
    Slots {
        first: u32,
        ty: TypeId,
    },
    /// Component number `index` of a vector in SSA form.
    Component {
        first: u32,
        count: u32,
        index: Value,
    },
    Memory(MemoryRef),
    BuiltIn {
        name: BuiltIn,
        ty: TypeId,
    },
    /// A component of a built-in vector.
    BuiltInComponent {
        name: BuiltIn,
        index: Index,
    },
    /// An image, a texture, a sampler, or an array of them.
    Resource(Resource),
    /// A texture and its sampler.
    Combined {
        image: Resource,
        sampler: Resource,
    },
    /// An array of buffers, starting with this one.
    Buffers {
        first: u32,
        global: GlobalId,
        ty: TypeId,
    },
}

/// An address in a memory, and its contents.
#[derive(Clone, Copy, Debug)]
pub struct MemoryRef {
    pub space: MemorySpace,
    /// The run-time part of the address, in bytes.
    pub address: Option<Value>,
    /// Bytes added to it.
    pub offset: u32,
    /// The known alignment of the address without the offset.
    pub align: u32,
    pub held: Held,
}

/// An index of an access.
#[derive(Clone, Copy, Debug)]
pub enum Index {
    Known(u32),
    /// 32 bits.
    Computed(Value),
}

/// The known alignment of the start of every memory, in bytes.
const BASE_ALIGN: u32 = 16;

impl MemoryRef {
    /// The beginning of a memory, and a constant offset from there.
    pub fn new(space: MemorySpace, offset: u32, ty: TypeId) -> MemoryRef {
        MemoryRef { space, address: None, offset, align: BASE_ALIGN, held: Held::Type(ty) }
    }
}

/// The largest power of two that divides a number.
pub fn power_of_two(number: u32) -> u32 {
    if number == 0 { 1 << 31 } else { 1 << number.trailing_zeros() }
}

impl Lower<'_> {
    /// The pointer for an operand.
    pub fn pointer(&mut self, value: ir::Value) -> Pointer {
        match value {
            ir::Value::Global(id) => self.global(id),
            ir::Value::Local(id) => self.frame().locals[id.index()].clone(),
            ir::Value::Param(_) | ir::Value::Inst(_) => self.operand(value).pointer(),
            ir::Value::Const(_) => Pointer::None,
        }
    }

    /// A part of a pointer's target.
    pub fn access(&mut self, base: ir::Value, indices: &[ir::Value]) -> Pointer {
        let block = self.type_of(base).and_then(|ty| self.shapes.types.referred(ty));
        if let Some(block) = block {
            return self.access_physical(base, block, indices);
        }
        let mut pointer = self.pointer(base);
        for index in indices {
            let index = self.index(*index);
            pointer = self.step(pointer, index);
        }
        pointer
    }

    /// An operand as an index. A constant without a value, which specialization can cause, is beyond every part.
    pub fn index(&mut self, index: ir::Value) -> Index {
        match index {
            ir::Value::Const(id) => Index::Known(self.shapes.number(id).unwrap_or(u32::MAX)),
            _ => Index::Computed(self.word(index)),
        }
    }

    /// An integer operand as 32 bits.
    pub fn word(&mut self, value: ir::Value) -> Value {
        let scalar = self.scalar_of(value);
        let number = self.scalar(value);
        if scalar.width == 32 { number } else { self.b.convert(scalar, Scalar { width: 32, ..scalar }, number) }
    }

    fn step(&mut self, pointer: Pointer, index: Index) -> Pointer {
        match pointer {
            Pointer::Slots { first, ty } => self.step_in_slots(first, ty, index),
            Pointer::Memory(memory) => self.step_in_memory(memory, index),
            Pointer::BuiltIn { name, .. } => Pointer::BuiltInComponent { name, index },
            Pointer::Buffers { first, global, ty } => self.pick_buffer(first, global, ty, index),
            Pointer::Resource(resource) => self.step_in_resource(resource, index),
            Pointer::None | Pointer::Component { .. } | Pointer::BuiltInComponent { .. } => Pointer::None,
            Pointer::Combined { .. } => Pointer::None,
        }
    }

    fn step_in_slots(&mut self, first: u32, ty: TypeId, index: Index) -> Pointer {
        match (index, self.shapes.types.get(ty)) {
            (Index::Known(index), _) => match self.shapes.value_part(ty, index) {
                Some((ty, part)) => Pointer::Slots { first: first + part, ty },
                None => Pointer::None,
            },
            (Index::Computed(index), Type::Vector { size, .. }) => {
                Pointer::Component { first, count: size.into(), index }
            }
            (Index::Computed(_), _) => {
                self.refuse(Code::INTERNAL, "a variable that is indexed at run time is not memory");
                Pointer::None
            }
        }
    }

    pub fn step_in_memory(&mut self, memory: MemoryRef, index: Index) -> Pointer {
        let number = if let Index::Known(number) = index { number } else { 0 };
        let Some(part) = self.shapes.part(memory.held, number) else { return Pointer::None };
        let memory = MemoryRef { held: part.held, ..memory };
        let memory = match index {
            Index::Known(_) => match memory.offset.checked_add(part.offset) {
                Some(offset) => MemoryRef { offset, ..memory },
                None => return Pointer::None,
            },
            Index::Computed(index) => self.move_by(memory, index, part.stride),
        };
        Pointer::Memory(memory)
    }

    /// The place `index` times `stride` bytes later.
    fn move_by(&mut self, memory: MemoryRef, index: Value, stride: u32) -> MemoryRef {
        let distance = match stride {
            1 => index,
            _ => {
                let stride = self.b.u32(stride);
                self.b.bin(BinOp::Mul, Scalar::U32, index, stride)
            }
        };
        let address = match memory.address {
            Some(address) => self.b.bin(BinOp::Add, Scalar::U32, address, distance),
            None => distance,
        };
        MemoryRef { address: Some(address), align: memory.align.min(power_of_two(stride)), ..memory }
    }

    /// A part of the block that a buffer reference points to.
    fn access_physical(&mut self, base: ir::Value, block: StructId, indices: &[ir::Value]) -> Pointer {
        let (ty, align) = (self.shapes.types.intern(Type::Struct(block)), self.shapes.types.reference_align(block));
        let address = Some(self.scalar(base));
        let whole = MemoryRef { space: MemorySpace::Physical, address, offset: 0, align, held: Held::Type(ty) };
        let part = indices.iter().try_fold(whole, |memory, index| self.step_in_physical(memory, *index));
        part.map_or(Pointer::None, Pointer::Memory)
    }

    /// A part at a 64-bit address; offsets stay below 2 GiB, because hardware may treat them as signed.
    fn step_in_physical(&mut self, memory: MemoryRef, index: ir::Value) -> Option<MemoryRef> {
        let known = if let ir::Value::Const(id) = index { self.shapes.number(id) } else { None };
        let near = known.and_then(|number| self.shapes.part(memory.held, number)).and_then(|part| {
            let offset = memory.offset.checked_add(part.offset).filter(|offset| i32::try_from(*offset).is_ok())?;
            Some(MemoryRef { held: part.held, offset, ..memory })
        });
        near.or_else(|| self.step_far(memory, index))
    }

    fn step_far(&mut self, memory: MemoryRef, index: ir::Value) -> Option<MemoryRef> {
        let part = self.shapes.part(memory.held, 0).filter(|part| part.stride != 0)?;
        let scalar = self.scalar_of(index);
        let number = self.scalar(index);
        let number = self.converted(scalar, Scalar { width: 64, ..scalar }, number);
        let stride = self.b.constant(Ty::B64, part.stride.into());
        let distance = self.b.bin(BinOp::Mul, Scalar::U64, number, stride);
        let address = self.b.bin(BinOp::Add, Scalar::U64, memory.address?, distance);
        Some(MemoryRef {
            address: Some(address),
            align: memory.align.min(power_of_two(part.stride)),
            held: part.held,
            ..memory
        })
    }

    fn pick_buffer(&mut self, first: u32, global: GlobalId, ty: TypeId, index: Index) -> Pointer {
        let Index::Known(index) = index else {
            self.not_yet("indices of arrays of buffers that are not constant");
            return Pointer::None;
        };
        let Some((element, _)) = self.array_element(ty).filter(|(_, count)| index < *count) else {
            return Pointer::None;
        };
        let each = self.buffers_of(element);
        let first = first + index * each;
        self.buffer_pointer(first, global, element)
    }

    /// A pointer to a buffer, or to an array of buffers.
    pub fn buffer_pointer(&mut self, first: u32, global: GlobalId, ty: TypeId) -> Pointer {
        if self.array_element(ty).is_some() {
            return Pointer::Buffers { first, global, ty };
        }
        Pointer::Memory(MemoryRef::new(MemorySpace::Buffer(first), 0, ty))
    }

    /// Element and length of an array of buffers, which is an array without a stride. Without a length, it counts as
    /// infinite.
    pub fn array_element(&mut self, ty: TypeId) -> Option<(TypeId, u32)> {
        match self.shapes.types.get(ty) {
            Type::Array { element, len, stride: None } => Some((element, self.shapes.length(len).unwrap_or(u32::MAX))),
            _ => None,
        }
    }

    /// How many buffers a resource is.
    pub fn buffers_of(&mut self, ty: TypeId) -> u32 {
        match self.array_element(ty) {
            Some((element, count)) => count.saturating_mul(self.buffers_of(element)),
            None => 1,
        }
    }

    /// A component of a built-in vector.
    pub fn built_in_component(&mut self, name: BuiltIn, index: Index) -> Value {
        let last = components_of(name) - 1;
        match index {
            Index::Known(index) => self.built_in(name, index.min(last.into()) as u8),
            Index::Computed(index) => {
                let all: Scalars = (0..=last).map(|at| self.built_in(name, at)).collect();
                self.pick(&all, index)
            }
        }
    }

    /// The values of a built-in variable.
    pub fn built_ins(&mut self, name: BuiltIn, ty: TypeId) -> Scalars {
        let count = self.shapes.count(ty).unwrap_or(0);
        (0..count).map(|at| self.built_in(name, at as u8)).collect()
    }

    /// A component of a built-in variable; scalars have one.
    fn built_in(&mut self, name: BuiltIn, component: u8) -> Value {
        use BuiltIn as N;
        match name {
            N::GlobalInvocationId => self.global_invocation(component),
            N::DeviceIndex => self.b.u32(0),
            _ if belongs(name, self.b.kernel.stage) && built_in_input(name).is_some() => {
                self.built_in_op(name, component)
            }
            _ => {
                self.not_yet(&format!("built-in values like {name:?}"));
                self.b.u32(0)
            }
        }
    }

    fn built_in_op(&mut self, name: BuiltIn, component: u8) -> Value {
        let ty = built_in_input(name).map_or(Ty::B32, |(ty, _)| ty);
        self.b.value(crate::kernel::Op::BuiltIn(name, component), &[], ty)
    }

    /// `WorkgroupId * size + LocalInvocationId`.
    fn global_invocation(&mut self, component: u8) -> Value {
        let size = self.b.kernel.workgroup_size[usize::from(component)];
        let group = self.built_in_op(BuiltIn::WorkgroupId, component);
        let size = self.b.u32(size);
        let first = self.b.bin(BinOp::Mul, Scalar::U32, group, size);
        let local = self.built_in_op(BuiltIn::LocalInvocationId, component);
        self.b.bin(BinOp::Add, Scalar::U32, first, local)
    }

    /// Type of an operand that is not a variable.
    pub fn type_of(&mut self, value: ir::Value) -> Option<TypeId> {
        let function = self.frame().function;
        match value {
            ir::Value::Inst(id) => Some(function.insts[id].ty),
            ir::Value::Const(id) => Some(self.shapes.constants.get(id).ty),
            ir::Value::Param(index) => function.params.get(index as usize).map(|param| param.ty),
            ir::Value::Global(_) | ir::Value::Local(_) => None,
        }
    }

    /// The scalar of an operand; `u32` for composites, which have no single scalar.
    pub fn scalar_of(&mut self, value: ir::Value) -> Scalar {
        let ty = self.type_of(value).unwrap_or(Types::U32);
        self.scalar_of_type(ty).unwrap_or(Scalar::U32)
    }

    /// The scalar of a type; for a buffer reference, its address.
    pub fn scalar_of_type(&self, ty: TypeId) -> Option<Scalar> {
        let address = self.shapes.types.referred(ty).map(|_| Scalar::U64);
        address.or_else(|| self.shapes.types.scalar_of(ty))
    }
}

/// Components of a built-in input.
fn components_of(name: BuiltIn) -> u8 {
    match name {
        BuiltIn::GlobalInvocationId => 3,
        _ => built_in_input(name).map_or(1, |(_, count)| count),
    }
}
