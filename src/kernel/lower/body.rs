//! Function bodies: blocks, operands, and the dispatch of operations to the parts of this module.

use super::control::OpenConstruct;
use super::pointer::Pointer;
use super::shape::SCALAR_LIMIT;
use super::{DEPTH_LIMIT, INSTRUCTION_LIMIT, Lower, NOT_YET, Scalars};
use crate::diagnostic::Code;
use crate::ir::{self, BlockId, Function, InstId, Op as IrOp, Type, TypeId, Values};
use crate::kernel::{Op, Value};
use std::rc::Rc;

/// The form of an operand.
#[derive(Clone, Debug)]
pub enum Operand {
    Values(Scalars),
    Pointer(Pointer),
}

impl Operand {
    pub fn values(self) -> Scalars {
        match self {
            Operand::Values(values) => values,
            Operand::Pointer(_) => Scalars::new(),
        }
    }

    pub fn pointer(self) -> Pointer {
        match self {
            Operand::Values(_) => Pointer::None,
            Operand::Pointer(pointer) => pointer,
        }
    }
}

/// A function that is being inlined.
pub struct InlineFrame<'m> {
    pub function: &'m Function,
    pub facts: Rc<super::analyze::FunctionFacts>,
    pub params: Vec<Operand>,
    pub locals: Vec<Pointer>,
    /// The results of instructions, by their numbers.
    pub results: Vec<Option<Operand>>,
    /// Slots of the return value: the first one, and their number.
    pub result: (u32, usize),
    /// The mark and the ends of the scope that an early `return` leaves; `None` if every `return` is at the end or ends
    /// the invocation.
    pub scope: Option<super::control::OpenScope>,
    /// True if this is the entry point.
    pub outermost: bool,
    /// The constructs that `Break` and `Continue` leave, innermost last.
    pub open: Vec<OpenConstruct>,
    /// The values of the last `Yield`.
    pub yielded: Scalars,
}

impl<'m> Lower<'m> {
    /// Lowers a block of the function at the end of the kernel's current block. Returns false if control does not reach
    /// its end.
    pub fn block(&mut self, id: BlockId) -> bool {
        if self.depth == DEPTH_LIMIT {
            self.stop("control flow is nested too deeply for a kernel, functions that are called included");
        }
        self.depth += 1;
        let function = self.frame().function;
        let falls = self.instructions(&function.blocks[id].insts);
        self.depth -= 1;
        falls
    }

    /// Lowers instructions up to the first one that control does not continue after.
    fn instructions(&mut self, insts: &[InstId]) -> bool {
        for (at, inst) in insts.iter().enumerate() {
            if self.is_copied(*inst, &insts[at + 1..]) {
                self.frame().results[inst.index()] = None;
                continue;
            }
            if !self.instruction(*inst) {
                return false;
            }
            if self.frame().facts.is_dead_end(*inst) {
                return true;
            }
        }
        true
    }

    /// Returns true if the next action is to store the result of this load, so that the two are one copy.
    fn is_copied(&mut self, id: InstId, behind: &[InstId]) -> bool {
        let function = self.frame().function;
        let is_access = |inst: &&InstId| matches!(function.insts[**inst].op, IrOp::Access { .. });
        let next = behind.iter().find(|inst| !is_access(inst)).map(|inst| function.insts[*inst].op);
        let stores = matches!(next, Some(IrOp::Store { value: ir::Value::Inst(stored), .. }) if stored == id);
        stores && matches!(function.insts[id].op, IrOp::Load(_))
    }

    /// Lowers a store of a value that was not loaded yet.
    fn copied(&mut self, pointer: ir::Value, load: InstId) {
        let inst = self.frame().function.insts[load];
        let IrOp::Load(from) = inst.op else { return };
        self.check_size(inst.ty);
        let (to, from) = (self.pointer(pointer), self.pointer(from));
        let values = self.copy(&to, &from, &inst);
        self.give(load, Operand::Values(values));
    }

    /// Lowers an instruction. Returns false if control does not continue after it.
    fn instruction(&mut self, id: InstId) -> bool {
        let inst = self.frame().function.insts[id];
        if self.b.kernel.insts.len() > INSTRUCTION_LIMIT {
            self.stop("the shader is too large for a kernel once its functions are inlined");
        }
        if self.stopped {
            return false;
        }
        (self.b.span, self.b.flags) = (inst.span, inst.flags);
        match inst.op {
            IrOp::If { condition, then, otherwise, .. } => self.if_(id, condition, then, otherwise),
            IrOp::Loop { body, continuing, break_if, hint } => self.loop_(id, (body, continuing), break_if, hint),
            IrOp::Switch { selector, cases, .. } => self.switch(id, selector, cases),
            IrOp::Break => self.break_(),
            IrOp::Continue => self.continue_(),
            IrOp::Return(value) => self.return_(value),
            IrOp::Yield(value) => {
                self.frame().yielded = self.operand(value).values();
                true
            }
            IrOp::Discard => {
                self.kill(true);
                false
            }
            IrOp::Unreachable => {
                self.b.effect(Op::Unreachable, &[]);
                false
            }
            IrOp::Call(callee, args) => self.call(id, callee, args),
            _ => {
                self.check_size(inst.ty);
                let result = self.operation(&inst);
                self.give(id, result);
                true
            }
        }
    }

    /// Stops if a value has more scalars than a kernel supports, or none because it is not a value there.
    pub fn check_size(&mut self, ty: TypeId) {
        if matches!(self.shapes.types.get(ty), Type::Pointer { .. }) {
            return;
        }
        match self.shapes.count(ty) {
            Some(count) if count <= SCALAR_LIMIT => {}
            Some(_) => self.stop("a value of more than 65536 scalars is too large for a kernel"),
            None if self.is_resource(ty) => {}
            None => self.stop_without(self.shapes.lacks(ty).unwrap_or("values of this type")),
        }
    }

    /// Returns true if values of a type are images or samplers.
    fn is_resource(&self, ty: TypeId) -> bool {
        matches!(self.shapes.types.get(ty), Type::Image(_) | Type::Sampler | Type::SampledImage(_))
    }

    /// Records the result of an instruction.
    pub fn give(&mut self, id: InstId, result: Operand) {
        self.frame().results[id.index()] = Some(result);
    }

    /// An operation that control flows through.
    fn operation(&mut self, inst: &ir::Inst) -> Operand {
        if let IrOp::Access { base, indices } = inst.op {
            let indices = self.list(indices);
            return Operand::Pointer(self.access(base, indices));
        }
        if let IrOp::Image { .. } = inst.op {
            return self.image(inst);
        }
        let values = match inst.op {
            IrOp::Load(pointer) => match self.pointer(pointer) {
                pointer @ Pointer::Resource(_) => return Operand::Pointer(pointer),
                pointer => self.load(&pointer, inst.ty),
            },
            IrOp::Store { pointer, value: ir::Value::Inst(load) } if self.frame().results[load.index()].is_none() => {
                self.copied(pointer, load);
                Scalars::new()
            }
            IrOp::Store { pointer, value } => {
                let values = self.operand(value).values();
                let pointer = self.pointer(pointer);
                self.store(&pointer, &values);
                Scalars::new()
            }
            IrOp::ArrayLength { block } => Scalars::from_elem(self.array_length(block), 1),
            IrOp::Atomic { .. } => self.atomic(inst),
            IrOp::Barrier { execution, memory, kinds, order } => {
                self.b.effect(Op::Barrier { execution, memory, kinds, order }, &[]);
                Scalars::new()
            }
            IrOp::Lane(op, args) => self.lane(op, inst.ty, args),
            IrOp::Demote => {
                self.kill(false);
                Scalars::new()
            }
            IrOp::Math(function, args) if function.is_derivative() => self.derivative(function, args),
            IrOp::Interpolate { at, pointer, args } => self.interpolate(at, pointer, args, inst.ty),
            IrOp::PixelDepth | IrOp::PixelStencil => {
                self.not_yet("reads of attachments");
                self.stand_in(inst.ty)
            }
            IrOp::Ray { .. } => {
                self.not_yet("ray queries");
                self.stand_in(inst.ty)
            }
            IrOp::Interlock { .. } => {
                self.not_yet("critical sections of fragment shaders");
                Scalars::new()
            }
            IrOp::Print { .. } => {
                self.refuse(Code::NOT_IN_KERNELS, format!("`debugPrintfEXT` is {NOT_YET}"));
                Scalars::new()
            }
            IrOp::Cooperative(..) => {
                self.not_yet("cooperative matrices");
                self.stand_in(inst.ty)
            }
            IrOp::Foreign(..) => {
                self.not_yet("instructions that only SPIR-V has");
                self.stand_in(inst.ty)
            }
            _ => self.pure(inst),
        };
        Operand::Values(values)
    }

    /// A placeholder for the result of a rejected instruction; no kernel is produced then.
    pub fn stand_in(&mut self, ty: TypeId) -> Scalars {
        let zero = self.b.u32(0);
        Scalars::from_elem(zero, self.shapes.count(ty).unwrap_or(0) as usize)
    }

    /// The form of an operand.
    pub fn operand(&mut self, value: ir::Value) -> Operand {
        match value {
            ir::Value::Const(id) => {
                self.check_size(self.shapes.constants.get(id).ty);
                Operand::Values(self.shapes.values(&mut self.b.kernel, id))
            }
            ir::Value::Param(index) => self.frame().params[index as usize].clone(),
            ir::Value::Global(_) | ir::Value::Local(_) => Operand::Pointer(self.pointer(value)),
            // A refused instruction has no result.
            ir::Value::Inst(id) => self.frame().results[id.index()].clone().unwrap_or(Operand::Values(Scalars::new())),
        }
    }

    /// The scalars of an operand.
    pub fn values(&mut self, value: ir::Value) -> Scalars {
        self.operand(value).values()
    }

    /// The only scalar of an operand.
    pub fn scalar(&mut self, value: ir::Value) -> Value {
        let values = self.values(value);
        match values.first() {
            Some(value) => *value,
            None => self.b.u32(0),
        }
    }

    /// A list of operands.
    pub fn list(&mut self, list: Values) -> &'m [ir::Value] {
        self.frame().function.values(list)
    }
}
