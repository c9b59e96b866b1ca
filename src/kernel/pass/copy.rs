//! Copies blocks, with replacements for values from outside.

use crate::kernel::{BlockId, Def, InstId, Kernel, Op, Value};
use rustc_hash::FxHashMap;

/// The replacements in a copy.
#[derive(Default)]
pub struct Copier {
    values: FxHashMap<Value, Value>,
    /// New targets of terminators that leave or continue a construct outside the copy.
    turns: FxHashMap<Op, Op>,
    constructs: FxHashMap<InstId, InstId>,
}

impl Copier {
    /// Replaces a value by `by`.
    pub fn set(&mut self, value: Value, by: Value) {
        self.values.insert(value, by);
    }

    /// Replaces the first value of each pair by the second.
    pub fn set_all(&mut self, values: &[Value], by: &[Value]) {
        self.values.extend(values.iter().copied().zip(by.iter().copied()));
    }

    /// Replaces one terminator by another.
    pub fn turn(&mut self, op: Op, into: Op) {
        self.turns.insert(op, into);
    }

    pub fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// The copy of a construct.
    pub fn construct(&self, inst: InstId) -> Option<InstId> {
        self.constructs.get(&inst).copied()
    }

    /// The operands of an instruction in the copy.
    pub fn args(&self, kernel: &Kernel, inst: InstId) -> Vec<Value> {
        kernel.args(inst).iter().map(|arg| self.value(*arg)).collect()
    }

    /// Appends copies of a block's instructions to another block.
    pub fn append(&mut self, kernel: &mut Kernel, from: BlockId, to: BlockId) {
        for inst in kernel.blocks[from].insts.clone() {
            let copy = self.copy(kernel, inst);
            kernel.blocks[to].insts.push(copy);
        }
    }

    /// A copy of an instruction, not in a block yet.
    pub fn copy(&mut self, kernel: &mut Kernel, inst: InstId) -> InstId {
        let args = self.args(kernel, inst);
        let results: Vec<_> = kernel.results(inst).map(|result| kernel.ty(result)).collect();
        let (op, flags, span) = (kernel.insts[inst].op, kernel.insts[inst].flags, kernel.insts[inst].span);
        let copy = kernel.add_inst(self.leads(op), &args, &results, flags, span);
        kernel.insts[copy].origin = kernel.insts[inst].origin;
        for (result, by) in kernel.results(inst).zip(kernel.results(copy)) {
            self.set(result, by);
        }
        if op.is_structured() {
            self.constructs.insert(inst, copy);
            kernel.insts[copy].op = self.inner(kernel, op);
        }
        copy
    }

    /// The target of a terminator in the copy.
    fn leads(&self, op: Op) -> Op {
        let within = |target: InstId| self.constructs.get(&target).copied();
        match op {
            _ if self.turns.contains_key(&op) => self.turns[&op],
            Op::Exit(target) => Op::Exit(within(target).unwrap_or(target)),
            Op::Continue(target) => Op::Continue(within(target).unwrap_or(target)),
            op => op,
        }
    }

    /// A construct with copies of its blocks.
    fn inner(&mut self, kernel: &mut Kernel, op: Op) -> Op {
        match op {
            Op::If { then, otherwise } => {
                Op::If { then: self.block(kernel, then), otherwise: self.block(kernel, otherwise) }
            }
            Op::Loop { body, continuing } => {
                Op::Loop { body: self.block(kernel, body), continuing: self.block(kernel, continuing) }
            }
            Op::Scope { body } => Op::Scope { body: self.block(kernel, body) },
            Op::Whole { body } => Op::Whole { body: self.block(kernel, body) },
            op => op,
        }
    }

    fn block(&mut self, kernel: &mut Kernel, block: BlockId) -> BlockId {
        let params = kernel.blocks[block].params.clone();
        let types: Vec<_> = params.iter().map(|param| kernel.ty(*param)).collect();
        let copy = kernel.add_block(&types);
        debug_assert!(params.iter().all(|param| matches!(kernel.values[*param].def, Def::Param(..))));
        let by = kernel.blocks[copy].params.clone();
        self.set_all(&params, &by);
        self.append(kernel, block, copy);
        copy
    }
}
