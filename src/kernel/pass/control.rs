//! Takes control flow away that decides nothing.
//!
//! An `If` whose condition is known becomes the block that runs; one with small arithmetic in both blocks becomes
//! `Select`s; a `Scope` that nothing leaves early, and a `Loop` that never goes round, become what is in them. What stands
//! behind a construct that never ends is dropped.

use crate::kernel::names::Names;
use crate::kernel::tree::Tree;
use crate::kernel::{BinOp, BlockId, InstId, Kernel, Op, UnOp, Value};

/// Instructions of both blocks of an `If` that may run whatever its condition.
const SMALL: usize = 6;

/// Simplifies control flow. Gives whether something changed.
pub fn run(kernel: &mut Kernel) -> bool {
    if kernel.is_straight() {
        return false;
    }
    let tree = Tree::new(kernel);
    let mut control = Control::new(kernel, &tree);
    let body = control.kernel.body;
    control.block(body);
    control.changed
}

struct Control<'k> {
    kernel: &'k mut Kernel,
    names: Names,
    /// Terminators that leave each construct, and that continue it.
    exits: Vec<u32>,
    continues: Vec<u32>,
    changed: bool,
}

impl<'k> Control<'k> {
    fn new(kernel: &'k mut Kernel, tree: &Tree) -> Control<'k> {
        let (mut exits, mut continues) = (vec![0; kernel.insts.len()], vec![0; kernel.insts.len()]);
        for inst in tree.insts(kernel) {
            match kernel.insts[inst].op {
                Op::Exit(target) => exits[target.index()] += 1,
                Op::Continue(target) => continues[target.index()] += 1,
                _ => {}
            }
        }
        Control { kernel, names: Names::default(), exits, continues, changed: false }
    }

    fn block(&mut self, block: BlockId) {
        let mut out = Vec::with_capacity(self.kernel.blocks[block].insts.len());
        self.splice(block, &mut out);
        self.kernel.blocks[block].insts = out;
    }

    /// Appends what a block does. The last instruction is a terminator, and the only one.
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

    /// Puts a block in the place of the construct that it is in. Gives whether control comes out of it.
    fn inline(&mut self, inst: InstId, block: BlockId, out: &mut Vec<InstId>) -> bool {
        self.changed = true;
        self.splice(block, out);
        let Some(last) = out.pop_if(|last| self.kernel.insts[*last].op == Op::Yield) else {
            return false;
        };
        self.names.replace_all(self.kernel.results(inst), self.kernel.args(last).iter().copied());
        true
    }

    /// Keeps a construct behind which nothing runs: the block ends there.
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
        if !self.yields(then) && !self.yields(otherwise) {
            return self.end(inst, out);
        }
        match (self.small(then), self.small(otherwise)) {
            (Some(a), Some(b)) if a + b <= SMALL && self.kernel.results(inst).len() > 0 => {
                self.select(inst, condition, [then, otherwise], out);
            }
            _ => out.push(inst),
        }
        true
    }

    /// Whether control comes out of the end of a block.
    fn yields(&self, block: BlockId) -> bool {
        self.last(block) == Some(Op::Yield)
    }

    fn last(&self, block: BlockId) -> Option<Op> {
        self.kernel.blocks[block].insts.last().map(|last| self.kernel.insts[*last].op)
    }

    /// Instructions of a block that only computes and yields; none if it does more.
    fn small(&self, block: BlockId) -> Option<usize> {
        let (last, insts) = self.kernel.blocks[block].insts.split_last()?;
        let is_small = insts.len() <= SMALL && insts.iter().all(|inst| is_cheap(&self.kernel.insts[*inst].op));
        (is_small && self.kernel.insts[*last].op == Op::Yield).then_some(insts.len())
    }

    /// Runs both blocks and chooses between what they yield.
    fn select(&mut self, inst: InstId, condition: Value, arms: [BlockId; 2], out: &mut Vec<InstId>) {
        self.changed = true;
        let [accept, reject] = arms.map(|arm| {
            out.append(&mut self.kernel.blocks[arm].insts);
            let last = out.pop().expect("it yields");
            self.kernel.args(last).to_vec()
        });
        let (flags, span) = (self.kernel.insts[inst].flags, self.kernel.insts[inst].span);
        for ((result, accept), reject) in self.kernel.results(inst).zip(accept).zip(reject) {
            if accept == reject {
                self.names.replace(result, accept);
                continue;
            }
            let ty = self.kernel.ty(result);
            let select = self.kernel.add_inst(Op::Select, &[condition, accept, reject], &[ty], flags, span);
            out.push(select);
            self.names.replace_all([result], self.kernel.results(select));
        }
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

    /// A loop that never goes round is a scope.
    fn once(&mut self, inst: InstId, body: BlockId, out: &mut Vec<InstId>) -> bool {
        self.changed = true;
        let params = std::mem::take(&mut self.kernel.blocks[body].params);
        self.names.replace_all(params, self.kernel.args(inst).iter().copied());
        self.kernel.set_args(inst, &[]);
        self.kernel.insts[inst].op = Op::Scope { body };
        self.scope(inst, body, out)
    }
}

/// Whether a loop can end after this continuing block.
pub fn ends_loop(kernel: &Kernel, continuing: BlockId) -> bool {
    let Some(last) = kernel.blocks[continuing].insts.last() else { return true };
    match (kernel.insts[*last].op, kernel.args(*last).first()) {
        (Op::Repeat, Some(leave)) => kernel.as_constant(*leave) != Some(0),
        _ => false,
    }
}

/// Whether an operation is quick enough to run for nothing.
pub fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Bin(BinOp::Div | BinOp::Rem, _) => false,
        Op::Un(UnOp::Sqrt | UnOp::InverseSqrt | UnOp::Exp2 | UnOp::Log2 | UnOp::Sin | UnOp::Cos, _) => false,
        op => op.is_pure(),
    }
}
