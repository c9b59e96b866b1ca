//! Instructions added to an entry point after it was built.

use super::{BlockId, Function, Inst, InstFlags, InstId, Op, TypeId, Value};
use crate::source::Span;

/// Instructions that are not in a block yet.
pub struct Splice<'a> {
    pub f: &'a mut Function,
    insts: Vec<InstId>,
}

impl<'a> Splice<'a> {
    pub fn new(f: &'a mut Function) -> Splice<'a> {
        Splice { f, insts: Vec::new() }
    }

    pub fn add(&mut self, op: Op, ty: TypeId) -> Value {
        let id = self.f.insts.push(Inst { op, ty, span: Span::NONE, flags: InstFlags::empty() });
        self.insts.push(id);
        Value::Inst(id)
    }

    /// Inserts them before all others.
    pub fn at_start(self) {
        let body = self.f.body;
        self.f.blocks[body].insts.insert_many(0, self.insts);
    }

    /// Inserts them at the end of a block, before its terminator.
    pub fn at_end(self, block: BlockId) {
        let list = &self.f.blocks[block].insts;
        let is_terminated = list.last().is_some_and(|id| self.f.insts[*id].op.is_terminator());
        let place = list.len() - usize::from(is_terminated);
        self.f.blocks[block].insts.insert_many(place, self.insts);
    }
}

/// The blocks in which a function returns.
pub fn ends(f: &Function) -> Vec<BlockId> {
    let last = |block: BlockId| f.blocks[block].insts.last().map(|id| f.insts[*id].op);
    let returns = |block: &BlockId| matches!(last(*block), Some(Op::Return(_)));
    let falls = last(f.body).is_none_or(|op| !op.is_terminator());
    f.blocks.handles().filter(returns).chain(falls.then_some(f.body)).collect()
}
