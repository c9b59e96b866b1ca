//! The form shared by the assembly targets and the simulator: SSA over typed scalars in structured control flow.
//!
//! A [`Kernel`] is one entry point with all its calls inlined, usually of a compute shader. Vectors, matrices, arrays
//! and structs are gone: values are scalars, memory is bytes. Control flow is nested blocks with parameters; values
//! leave an `If`, a `Loop` or a `Scope` as its results. Cross-lane operations are [`Op::Lane`] until a profile is known
//! and [`Op::Prim`] afterwards. The form is independent of language and target.

pub(crate) mod arith;
pub mod buffers_only;
pub mod build;
mod contract;
pub mod finish;
pub mod image;
pub mod lane_rows;
pub mod lanes;
pub mod lower;
mod names;
pub mod op;
pub mod pass;
pub mod print;
#[cfg(test)]
pub mod random;
pub mod stage;
pub mod trace;
pub mod tree;
pub mod uniform;
pub mod verify;

use crate::ir::arena::{Arena, Handle};
use crate::ir::{FragmentModes, InstFlags, Scalar};
use crate::limits;
use crate::source::Span;
pub use build::Builder;
pub use contract::{Demand, LaneContract, demands};
pub use finish::{Prepared, check_workgroup, finish, finish_by, simplified};
pub use image::{BindingPoint, Choices, Image};
pub use lanes::lower_lanes;
pub use lower::{Specializations, lower, no_entry, only_entry};
pub use op::{BinOp, CmpOp, MemoryAccess, MemorySpace, Op, TernOp, UnOp};
use rustc_hash::FxHashMap;
use serde::Deserialize;
pub use stage::{Input, Output, Site, Stage};

pub type Value = Handle<ValueData>;
pub type InstId = Handle<Inst>;
pub type BlockId = Handle<Block>;

/// Type of a value: only its size. The operation determines whether it is an integer or a float.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum Ty {
    Bool,
    B16,
    B32,
    B64,
    /// One bit per lane, for ballots.
    Mask,
}

impl Ty {
    /// The type for a scalar. 8-bit integers are stored in 16 bits, extended by their sign.
    pub const fn of(scalar: Scalar) -> Ty {
        match scalar.width {
            1 => Ty::Bool,
            8 | 16 => Ty::B16,
            32 => Ty::B32,
            _ => Ty::B64,
        }
    }

    /// Bits of a value; a mask counts the 64 lanes that there can be.
    pub const fn bits(self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::B16 => 16,
            Ty::B32 => 32,
            Ty::B64 | Ty::Mask => 64,
        }
    }
}

/// The definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Def {
    /// These bits; the bits above the type's size are zero.
    Const(u64),
    /// Undefined: any bits.
    Undef,
    /// Result `n` of an instruction.
    Inst(InstId, u32),
    /// Parameter `n` of a block.
    Param(BlockId, u32),
}

/// One value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueData {
    pub ty: Ty,
    pub def: Def,
}

/// A list of operands in a [`Kernel`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct List {
    start: u32,
    len: u32,
}

/// One instruction: its results are `count` consecutive values from `first` on.
#[derive(Clone, Debug)]
pub struct Inst {
    pub op: Op,
    pub args: List,
    first: u32,
    count: u32,
    pub flags: InstFlags,
    pub span: Span,
    pub origin: Origin,
}

/// The origin of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Origin {
    /// The shader's own code.
    #[default]
    Code,
    /// The cross-lane operation with this number, in text order.
    Operation(u32),
    /// Arithmetic of the shader, fused with a move of the operation with this number.
    Within(u32),
    /// The setup of this number, which several operations may share.
    SetUp(u32),
}

impl Origin {
    /// The origin of an instruction that also does the work of another.
    #[must_use]
    pub const fn with(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::Code, Origin::Operation(number)) => Origin::Within(number),
            (_, other) => other,
        }
    }
}

/// The number of a setup that back ends create for moves through workgroup memory: the address of the lane's own word.
pub const OWN_WORD: u32 = u32::MAX;

/// Instructions in execution order, the last one a terminator.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub params: Vec<Value>,
    pub insts: Vec<InstId>,
}

/// The descriptor type of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Deserialize)]
pub enum BufferKind {
    Uniform,
    Storage,
}

/// A buffer that the caller binds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    pub name: Box<str>,
    pub kind: BufferKind,
    pub set: u32,
    pub binding: u32,
    /// The index in an array of buffers; otherwise 0.
    pub element: u32,
    /// The minimum size in bytes: up to the end of the last member, with empty run-time arrays.
    pub bytes: u32,
    pub writes: BufferWrites,
    pub span: Span,
}

impl Buffer {
    /// Returns true if the kernel may write it through this variable.
    pub fn is_writable(&self) -> bool {
        self.writes == BufferWrites::Here
    }

    /// Returns true if nothing writes it while the kernel runs.
    pub fn is_constant(&self) -> bool {
        self.writes == BufferWrites::Never
    }
}

/// The writes that may change a buffer while the kernel runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BufferWrites {
    /// None: it is uniform, or `readonly` and `restrict`, so that no other variable refers to its memory.
    Never,
    /// Writes through other buffers, which may refer to the same memory.
    Elsewhere,
    /// Writes through this buffer too.
    Here,
}

/// A dynamically indexed variable in the invocation's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PrivateVariable {
    /// Its first byte. Variables that are never live at the same time may share bytes.
    pub start: u32,
    pub bytes: u32,
    /// The alignment of `start`, a power of two.
    pub align: u32,
}

impl PrivateVariable {
    /// The byte after the last one.
    pub const fn end(&self) -> u32 {
        self.start + self.bytes
    }
}

#[cfg(test)]
impl Buffer {
    /// A storage buffer that may be written, in set 0.
    pub fn storage(name: &str, binding: u32) -> Buffer {
        let (kind, writes, span) = (BufferKind::Storage, BufferWrites::Here, Span::NONE);
        Buffer { name: name.into(), kind, set: 0, binding, element: 0, bytes: 0, writes, span }
    }
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub name: Box<str>,
    /// Span of its entry function.
    pub span: Span,
    pub stage: Stage,
    /// Invocations of a workgroup in x, y, z; one in stages without workgroups.
    pub workgroup_size: [u32; 3],
    /// In the order of set and binding.
    pub buffers: Vec<Buffer>,
    /// Textures, then images, in the order of set and binding.
    pub images: Vec<Image>,
    /// Locations that are read, in their order; vertex and fragment shaders only.
    pub inputs: Vec<Input>,
    /// The outputs that are written, in the order of the sites; vertex and fragment shaders only.
    pub outputs: Vec<Output>,
    /// Fragment shaders only.
    pub fragment: FragmentModes,
    /// Bytes of push constants.
    pub push_bytes: u32,
    /// Bytes of workgroup memory.
    pub shared_bytes: u32,
    /// The requirements of its cross-lane operations on the workgroup; known from [`finish`](finish::finish) on.
    pub lanes: LaneContract,
    /// For each lowered cross-lane operation, the setups that it needs.
    pub set_ups: Vec<Vec<u32>>,
    /// Bytes of private memory per invocation.
    pub private_bytes: u32,
    /// The variables in it.
    pub private: Vec<PrivateVariable>,
    pub body: BlockId,
    pub values: Arena<ValueData>,
    pub insts: Arena<Inst>,
    pub blocks: Arena<Block>,
    operands: Vec<Value>,
    constants: FxHashMap<(Ty, u64), Value>,
}

impl Kernel {
    /// Size limit of a buffer in bytes: the last 64 KiB of the 32-bit addresses are free, so that an address shortly
    /// after a valid one does not wrap.
    pub const LARGEST_BUFFER: u64 = (1 << 32) - (1 << 16);

    /// A kernel with an empty body.
    pub fn new(name: &str, workgroup_size: [u32; 3]) -> Kernel {
        let mut blocks = Arena::new();
        let body = blocks.push(Block::default());
        Kernel {
            name: name.into(),
            span: Span::NONE,
            stage: Stage::Compute,
            workgroup_size,
            buffers: Vec::new(),
            images: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            fragment: FragmentModes::default(),
            push_bytes: 0,
            shared_bytes: 0,
            lanes: LaneContract::default(),
            set_ups: Vec::new(),
            private_bytes: 0,
            private: Vec::new(),
            body,
            values: Arena::new(),
            insts: Arena::new(),
            blocks,
            operands: Vec::new(),
            constants: FxHashMap::default(),
        }
    }

    /// Invocations of a workgroup.
    pub fn invocations(&self) -> u32 {
        self.workgroup_size.iter().product()
    }

    pub fn ty(&self, value: Value) -> Ty {
        self.values[value].ty
    }

    /// The operands of an instruction.
    pub fn args(&self, inst: InstId) -> &[Value] {
        self.list(self.insts[inst].args)
    }

    /// The operands of an instruction, to be replaced.
    pub fn args_mut(&mut self, inst: InstId) -> &mut [Value] {
        let List { start, len } = self.insts[inst].args;
        &mut self.operands[start as usize..(start + len) as usize]
    }

    /// The results of an instruction.
    pub fn results(&self, inst: InstId) -> impl ExactSizeIterator<Item = Value> + use<> {
        let Inst { first, count, .. } = self.insts[inst];
        (first..first + count).map(|index| Value::from_index(index as usize))
    }

    /// The only result of an instruction; `None` if it has none or several.
    pub fn result(&self, inst: InstId) -> Option<Value> {
        let mut results = self.results(inst);
        if results.len() == 1 { results.next() } else { None }
    }

    /// The values of a list.
    pub fn list(&self, list: List) -> &[Value] {
        &self.operands[list.start as usize..(list.start + list.len) as usize]
    }

    /// Adds a list of values.
    pub fn add_list(&mut self, values: &[Value]) -> List {
        limits::hold::<Value>(values.len());
        let start = self.operands.len() as u32;
        self.operands.extend_from_slice(values);
        List { start, len: values.len() as u32 }
    }

    /// The constant of this type with these bits; bits above the type's size are dropped.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        let bits = if ty.bits() == 64 { bits } else { bits & ((1 << ty.bits()) - 1) };
        let values = &mut self.values;
        *self.constants.entry((ty, bits)).or_insert_with(|| values.push(ValueData { ty, def: Def::Const(bits) }))
    }

    /// The bits of a constant.
    pub fn as_constant(&self, value: Value) -> Option<u64> {
        match self.values[value].def {
            Def::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// An undefined value.
    pub fn undefined(&mut self, ty: Ty) -> Value {
        self.values.push(ValueData { ty, def: Def::Undef })
    }

    /// The instruction that defines a value.
    pub fn definition(&self, value: Value) -> Option<InstId> {
        match self.values[value].def {
            Def::Inst(inst, _) => Some(inst),
            _ => None,
        }
    }

    /// A condition without its negations, and true if their number is odd.
    pub fn positive(&self, mut condition: Value) -> (Value, bool) {
        let mut is_inverse = false;
        while let Some(inst) = self.definition(condition)
            && self.insts[inst].op == Op::Un(UnOp::Not, Scalar::BOOL)
        {
            (condition, is_inverse) = (self.args(inst)[0], !is_inverse);
        }
        (condition, is_inverse)
    }

    /// Returns true if control reaches the end of a block.
    pub fn completes(&self, block: BlockId) -> bool {
        self.blocks[block].insts.last().is_some_and(|last| self.insts[*last].op == Op::Yield)
    }

    /// The value of an `If`'s condition in all invocations after it: known if one arm does not complete.
    pub fn truth_after(&self, then: BlockId, otherwise: BlockId) -> Option<bool> {
        match (self.completes(then), self.completes(otherwise)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// An empty block with parameters of these types.
    pub fn add_block(&mut self, params: &[Ty]) -> BlockId {
        let block = self.blocks.push(Block::default());
        params.iter().for_each(|ty| _ = self.add_param(block, *ty));
        block
    }

    /// An instruction that is not in a block yet.
    pub fn add_inst(&mut self, op: Op, args: &[Value], results: &[Ty], flags: InstFlags, span: Span) -> InstId {
        limits::spend(1);
        limits::hold::<Inst>(1);
        limits::hold::<ValueData>(results.len());
        let args = self.add_list(args);
        let first = self.values.len() as u32;
        let (count, origin) = (results.len() as u32, Origin::Code);
        let id = self.insts.push(Inst { op, args, first, count, flags, span, origin });
        for (n, ty) in results.iter().enumerate() {
            self.values.push(ValueData { ty: *ty, def: Def::Inst(id, n as u32) });
        }
        id
    }

    /// Gives an instruction other operands.
    pub fn set_args(&mut self, inst: InstId, args: &[Value]) {
        let list = self.add_list(args);
        self.insts[inst].args = list;
    }

    /// Gives an instruction new results of these types; the old ones no longer belong to it.
    pub fn set_results(&mut self, inst: InstId, types: &[Ty]) {
        let first = self.values.len() as u32;
        for (n, ty) in types.iter().enumerate() {
            self.values.push(ValueData { ty: *ty, def: Def::Inst(inst, n as u32) });
        }
        let inst = &mut self.insts[inst];
        (inst.first, inst.count) = (first, types.len() as u32);
    }

    /// Appends a parameter to a block.
    pub fn add_param(&mut self, block: BlockId, ty: Ty) -> Value {
        let n = self.blocks[block].params.len() as u32;
        let value = self.values.push(ValueData { ty, def: Def::Param(block, n) });
        self.blocks[block].params.push(value);
        value
    }

    /// Keeps some parameters of a block. Returns true if others were removed.
    pub fn retain_params(&mut self, block: BlockId, keep: impl Fn(&Value) -> bool) -> bool {
        let params = &mut self.blocks[block].params;
        let before = params.len();
        params.retain(keep);
        for (n, param) in params.iter().enumerate() {
            self.values[*param].def = Def::Param(block, n as u32);
        }
        params.len() != before
    }

    /// Returns true if it has no branches, so that its body is the only block.
    pub fn is_straight(&self) -> bool {
        !self.blocks[self.body].insts.iter().any(|inst| self.insts[*inst].op.is_structured())
    }

    /// The blocks inside an instruction.
    pub fn inner_blocks(&self, inst: InstId) -> impl Iterator<Item = BlockId> + use<> {
        let (first, second) = match self.insts[inst].op {
            Op::If { then, otherwise } => (Some(then), Some(otherwise)),
            Op::Loop { body, continuing } => (Some(body), Some(continuing)),
            Op::Scope { body } | Op::Whole { body } => (Some(body), None),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}
