//! Joins an `If` with the previous one on the same condition.
//!
//! `if c { A } if c { B }` becomes `if c { A B }`: the second branch disappears, and no invocations wait between the
//! two. The same invocations run `B` as before. Pure instructions between the two that do not use results of the first
//! move before it. This handles conditions that [`if_convert`](super::if_convert) has left.

use crate::kernel::names::Names;
use crate::kernel::{BlockId, InstId, Kernel, Op, Ty, Value};

/// Joins neighbours. Returns true if anything changed.
pub fn run(kernel: &mut Kernel) -> bool {
    if kernel.is_straight() {
        return false;
    }
    let body = kernel.body;
    let mut threading = Threading { kernel, names: Names::default(), changed: false };
    threading.block(body);
    threading.changed
}

struct Threading<'k> {
    kernel: &'k mut Kernel,
    names: Names,
    changed: bool,
}

impl Threading<'_> {
    fn block(&mut self, block: BlockId) {
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        self.kernel.blocks[block].insts = self.threaded(insts, Vec::new());
    }

    /// `out` and then the instructions, with renamed operands.
    fn threaded(&mut self, insts: Vec<InstId>, mut out: Vec<InstId>) -> Vec<InstId> {
        for inst in insts {
            self.names.apply(self.kernel, inst);
            match self.kernel.insts[inst].op {
                Op::If { then, otherwise } => self.branch(inst, [then, otherwise], &mut out),
                _ => {
                    self.kernel.inner_blocks(inst).for_each(|inner| self.block(inner));
                    out.push(inst);
                }
            }
        }
        out
    }

    fn branch(&mut self, inst: InstId, mut arms: [BlockId; 2], out: &mut Vec<InstId>) {
        let (condition, is_inverse) = self.kernel.positive(self.kernel.args(inst)[0]);
        let Some(at) = self.neighbour(out, condition) else {
            arms.into_iter().for_each(|arm| self.block(arm));
            return out.push(inst);
        };
        let first = out.remove(at);
        if self.kernel.positive(self.kernel.args(first)[0]).1 != is_inverse {
            arms.reverse();
        }
        self.join(first, inst, arms);
        out.push(first);
        self.changed = true;
    }

    /// The position of an `If` near the end of `out` with this condition, if the instructions after it may move before
    /// it.
    fn neighbour(&self, out: &[InstId], condition: Value) -> Option<usize> {
        let kernel = &*self.kernel;
        let at = out.iter().rposition(|inst| !kernel.insts[*inst].op.is_pure())?;
        let first = out[at];
        let Op::If { then, otherwise } = kernel.insts[first].op else { return None };
        let is_same = kernel.positive(kernel.args(first)[0]).0 == condition;
        let reads = |inst: &InstId| kernel.args(*inst).iter().any(|arg| kernel.definition(*arg) == Some(first));
        let joins = is_same && kernel.completes(then) && kernel.completes(otherwise);
        (joins && !out[at + 1..].iter().any(reads)).then_some(at)
    }

    /// Appends the arms of the second `If` to the arms of the first, which then returns the results of both.
    fn join(&mut self, first: InstId, second: InstId, arms: [BlockId; 2]) {
        let kernel = &mut *self.kernel;
        let [before, after] = [first, second].map(|inst| kernel.results(inst).collect::<Vec<Value>>());
        let types: Vec<Ty> = before.iter().chain(&after).map(|value| kernel.ty(*value)).collect();
        for (target, arm) in kernel.inner_blocks(first).zip(arms) {
            self.append(target, arm, &before);
        }
        self.kernel.set_results(first, &types);
        self.names.replace_all(before.into_iter().chain(after), self.kernel.results(first));
    }

    /// Appends an arm to a block that yields the values of `results`.
    fn append(&mut self, target: BlockId, arm: BlockId, results: &[Value]) {
        let mut out = std::mem::take(&mut self.kernel.blocks[target].insts);
        let given = out.pop().map(|last| self.kernel.args(last).to_vec()).unwrap_or_default();
        self.names.replace_all(results.iter().copied(), given.iter().copied());
        let insts = std::mem::take(&mut self.kernel.blocks[arm].insts);
        let out = self.threaded(insts, out);
        results.iter().for_each(|result| self.names.restore(*result));
        if let Some(last) = out.last().copied()
            && self.kernel.insts[last].op == Op::Yield
        {
            let all = [&given[..], self.kernel.args(last)].concat();
            self.kernel.set_args(last, &all);
        }
        self.kernel.blocks[target].insts = out;
    }
}
