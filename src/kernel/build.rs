//! Builds a kernel's blocks: one short method per operation, which appends to the current block.
//!
//! Instructions after a terminator are dropped, so callers need not check for it. The builder does not check or
//! simplify anything.

use super::{BinOp, BlockId, CmpOp, InstId, Kernel, MemoryAccess, Op, TernOp, Ty, UnOp, Value};
use crate::ir::{InstFlags, Scalar};
use crate::source::Span;

/// Builds one kernel.
pub struct Builder {
    pub kernel: Kernel,
    /// The source position of the next instructions.
    pub span: Span,
    /// The flags of the next instructions.
    pub flags: InstFlags,
    block: BlockId,
}

impl Builder {
    /// Continues a kernel at the end of its body.
    pub fn new(kernel: Kernel) -> Builder {
        let block = kernel.body;
        Builder { kernel, span: Span::NONE, flags: InstFlags::empty(), block }
    }

    /// The current block.
    pub fn block(&self) -> BlockId {
        self.block
    }

    /// Switches to another block and returns the previous one.
    pub fn switch_to(&mut self, block: BlockId) -> BlockId {
        std::mem::replace(&mut self.block, block)
    }

    /// Returns true if the current block has its terminator.
    pub fn is_terminated(&self) -> bool {
        let last = self.kernel.blocks[self.block].insts.last();
        last.is_some_and(|inst| self.kernel.insts[*inst].op.is_terminator())
    }

    /// Adds an instruction.
    pub fn inst(&mut self, op: Op, args: &[Value], results: &[Ty]) -> InstId {
        let dropped = self.is_terminated();
        let inst = self.kernel.add_inst(op, args, results, self.flags, self.span);
        if !dropped {
            self.kernel.blocks[self.block].insts.push(inst);
        }
        inst
    }

    /// Adds an instruction with one result.
    pub fn value(&mut self, op: Op, args: &[Value], ty: Ty) -> Value {
        let inst = self.inst(op, args, &[ty]);
        self.kernel.results(inst).next().expect("it was made with one result")
    }

    /// Adds an instruction without results.
    pub fn effect(&mut self, op: Op, args: &[Value]) -> InstId {
        self.inst(op, args, &[])
    }

    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        self.kernel.constant(ty, bits)
    }

    /// A 32-bit constant.
    pub fn u32(&mut self, value: u32) -> Value {
        self.constant(Ty::B32, value.into())
    }

    pub fn f32(&mut self, value: f32) -> Value {
        self.u32(value.to_bits())
    }

    pub fn bool(&mut self, value: bool) -> Value {
        self.constant(Ty::Bool, value.into())
    }

    pub fn un(&mut self, op: UnOp, scalar: Scalar, a: Value) -> Value {
        self.value(Op::Un(op, scalar), &[a], Ty::of(scalar))
    }

    pub fn bin(&mut self, op: BinOp, scalar: Scalar, a: Value, b: Value) -> Value {
        self.value(Op::Bin(op, scalar), &[a, b], Ty::of(scalar))
    }

    pub fn cmp(&mut self, op: CmpOp, scalar: Scalar, a: Value, b: Value) -> Value {
        self.value(Op::Cmp(op, scalar), &[a, b], Ty::Bool)
    }

    pub fn tern(&mut self, op: TernOp, scalar: Scalar, args: [Value; 3]) -> Value {
        self.value(Op::Tern(op, scalar), &args, Ty::of(scalar))
    }

    pub fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Value {
        let ty = self.kernel.ty(accept);
        self.value(Op::Select, &[condition, accept, reject], ty)
    }

    pub fn convert(&mut self, from: Scalar, to: Scalar, a: Value) -> Value {
        self.value(Op::Convert(from, to), &[a], Ty::of(to))
    }

    /// The components at an address.
    pub fn load(&mut self, access: MemoryAccess, address: Value) -> Vec<Value> {
        let ty = access.component();
        let inst = self.inst(Op::Load(access), &[address], &vec![ty; access.components.into()]);
        self.kernel.results(inst).collect()
    }

    pub fn store(&mut self, access: MemoryAccess, address: Value, values: &[Value]) {
        let args: Vec<Value> = [address].iter().chain(values).copied().collect();
        self.effect(Op::Store(access), &args);
    }
}
