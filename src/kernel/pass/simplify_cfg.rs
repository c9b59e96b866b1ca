//! Simplifies control flow.
//!
//! An `If` with a known condition becomes the block that runs. A `Scope` without early exits and a `Loop` that never
//! repeats become their bodies. Code after a construct that never ends is dropped.

use crate::kernel::names::Names;
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, InstId, Kernel, Op};

/// Simplifies control flow. Returns true if anything changed.
pub fn run(kernel: &mut Kernel) -> bool {
    if kernel.is_straight() {
        return false;
    }
    let tree = Tree::new(kernel);
    let mut simplify = Simplify::new(kernel, &tree);
    let body = simplify.kernel.body;
    simplify.block(body);
    simplify.changed
}

struct Simplify<'k> {
    kernel: &'k mut Kernel,
    names: Names,
    /// Terminators that leave each construct, and terminators that continue it.
    exits: Vec<u32>,
    continues: Vec<u32>,
    changed: bool,
}

impl<'k> Simplify<'k> {
    fn new(kernel: &'k mut Kernel, tree: &Tree) -> Simplify<'k> {
        let (mut exits, mut continues) = (vec![0; kernel.insts.len()], vec![0; kernel.insts.len()]);
        for inst in tree.insts(kernel) {
            match kernel.insts[inst].op {
                Op::Exit(target) => exits[target.index()] += 1,
                Op::Continue(target) => continues[target.index()] += 1,
                _ => {}
            }
        }
        Simplify { kernel, names: Names::default(), exits, continues, changed: false }
    }

    fn block(&mut self, block: BlockId) {
        let mut out = Vec::with_capacity(self.kernel.blocks[block].insts.len());
        self.splice(block, &mut out);
        self.kernel.blocks[block].insts = out;
    }

    /// Appends a block's instructions. The last one is the only terminator.
    fn splice(&mut self, block: BlockId, out: &mut Vec<InstId>) {
        for inst in std::mem::take(&mut self.kernel.blocks[block].insts) {
            self.names.apply(self.kernel, inst);
            let goes_on = match self.kernel.insts[inst].op {
                Op::If { then, otherwise } => self.branch(inst, then, otherwise, out),
                Op::Scope { body } => self.scope(inst, body, out),
                Op::Loop { body, continuing } => self.repetition(inst, body, continuing, out),
                Op::Whole { body } => {
                    self.block(body);
                    out.push(inst);
                    true
                }
                _ => {
                    out.push(inst);
                    true
                }
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Replaces a construct by one of its blocks. Returns true if control reaches the block's end.
    fn inline(&mut self, inst: InstId, block: BlockId, out: &mut Vec<InstId>) -> bool {
        self.changed = true;
        self.splice(block, out);
        let Some(last) = out.pop_if(|last| self.kernel.insts[*last].op == Op::Yield) else {
            return false;
        };
        self.names.replace_all(self.kernel.results(inst), self.kernel.args(last).iter().copied());
        true
    }

    /// Keeps a construct whose end is unreachable: the block ends there.
    fn end(&mut self, inst: InstId, out: &mut Vec<InstId>) -> bool {
        let (flags, span) = (self.kernel.insts[inst].flags, self.kernel.insts[inst].span);
        let end = self.kernel.add_inst(Op::Unreachable, &[], &[], flags, span);
        out.extend([inst, end]);
        false
    }

    fn branch(&mut self, inst: InstId, then: BlockId, otherwise: BlockId, out: &mut Vec<InstId>) -> bool {
        let condition = self.kernel.args(inst)[0];
        if let Some(bits) = self.kernel.as_constant(condition) {
            return self.inline(inst, if bits == 0 { otherwise } else { then }, out);
        }
        self.block(then);
        self.block(otherwise);
        if !self.kernel.completes(then) && !self.kernel.completes(otherwise) {
            return self.end(inst, out);
        }
        out.push(inst);
        true
    }

    fn scope(&mut self, inst: InstId, body: BlockId, out: &mut Vec<InstId>) -> bool {
        if self.exits[inst.index()] == 0 {
            return self.inline(inst, body, out);
        }
        self.block(body);
        self.leave_at_end(inst, body);
        out.push(inst);
        true
    }

    /// An `Exit` at the end of the block that it leaves is a `Yield`.
    fn leave_at_end(&mut self, inst: InstId, body: BlockId) {
        if let Some(last) = self.kernel.blocks[body].insts.last().copied()
            && self.kernel.insts[last].op == Op::Exit(inst)
        {
            self.kernel.insts[last].op = Op::Yield;
            self.changed = true;
        }
    }

    fn repetition(&mut self, inst: InstId, body: BlockId, continuing: BlockId, out: &mut Vec<InstId>) -> bool {
        if self.continues[inst.index()] == 0 {
            return self.once(inst, body, out);
        }
        self.block(body);
        self.block(continuing);
        if self.exits[inst.index()] == 0 && !ends_loop(self.kernel, continuing) {
            return self.end(inst, out);
        }
        out.push(inst);
        true
    }

    /// A loop that never starts a second iteration is a scope.
    fn once(&mut self, inst: InstId, body: BlockId, out: &mut Vec<InstId>) -> bool {
        self.changed = true;
        let params = std::mem::take(&mut self.kernel.blocks[body].params);
        self.names.replace_all(params, self.kernel.args(inst).iter().copied());
        self.kernel.set_args(inst, &[]);
        self.kernel.insts[inst].op = Op::Scope { body };
        self.scope(inst, body, out)
    }
}

/// Returns true if a loop can end after this continuing block.
pub fn ends_loop(kernel: &Kernel, continuing: BlockId) -> bool {
    let Some(last) = kernel.blocks[continuing].insts.last() else { return true };
    match (kernel.insts[*last].op, kernel.args(*last).first()) {
        (Op::Repeat, Some(leave)) => kernel.as_constant(*leave) != Some(0),
        _ => false,
    }
}
