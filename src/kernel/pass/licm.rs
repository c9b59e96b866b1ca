//! Loop-invariant code motion: moves operations out of loops that are the same in every iteration.
//!
//! Arithmetic moves from anywhere in the loop, because running it needlessly is harmless. A load moves only if it runs
//! in the first iteration anyway, before anything can leave the iteration, and nothing in the loop writes its memory.
//! Cross-lane operations stay.

use super::memory::{Kinds, is_stable, written_inside};
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, InstId, Kernel, Op};

/// Moves invariant instructions out of loops. Returns true if there were some.
pub fn run(kernel: &mut Kernel) -> bool {
    let tree = Tree::new(kernel);
    let mut hoist = Hoist {
        depth: vec![0; kernel.values.len()],
        leaving: tree.leaving(kernel),
        written: written_inside(kernel, &tree),
        loops: Vec::new(),
        moved: Vec::new(),
        kernel,
    };
    hoist.block(hoist.kernel.body, false);
    !hoist.moved.is_empty() && hoist.settle()
}

struct Hoist<'k> {
    kernel: &'k mut Kernel,
    /// Number of loops around the definition of each value, after the pass.
    depth: Vec<u32>,
    leaving: Vec<bool>,
    /// Memory written inside each instruction.
    written: Vec<Kinds>,
    /// The enclosing loops.
    loops: Vec<InstId>,
    /// Instructions to move before a loop, with that loop, in text order.
    moved: Vec<(InstId, InstId)>,
}

impl Hoist<'_> {
    /// Walks a block; `surely` is true if each iteration of the innermost loop runs it from its start.
    fn block(&mut self, block: BlockId, mut surely: bool) {
        let depth = self.loops.len() as u32;
        let params = self.kernel.blocks[block].params.clone();
        params.iter().for_each(|param| self.depth[param.index()] = depth);
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let op = self.kernel.insts[inst].op;
            let to = self.target(inst, &op, surely);
            self.kernel.results(inst).for_each(|result| self.depth[result.index()] = to);
            match self.loops.get(to as usize) {
                Some(before) => self.moved.push((inst, *before)),
                None => out.push(inst),
            }
            self.construct(inst, op, surely);
            surely &= !self.leaving[inst.index()];
        }
        self.kernel.blocks[block].insts = out;
    }

    fn construct(&mut self, inst: InstId, op: Op, surely: bool) {
        match op {
            Op::Loop { body, continuing } => {
                self.loops.push(inst);
                self.block(body, true);
                self.block(continuing, false);
                self.loops.pop();
            }
            Op::If { then, otherwise } => {
                self.block(then, false);
                self.block(otherwise, false);
            }
            Op::Scope { body } => self.block(body, surely),
            _ => {}
        }
    }

    /// The number of loops that remain around an instruction.
    fn target(&self, inst: InstId, op: &Op, surely: bool) -> u32 {
        let here = self.loops.len() as u32;
        let needs = || self.kernel.args(inst).iter().map(|arg| self.depth[arg.index()]).max().unwrap_or(0);
        match op {
            // Only one level is certain: the enclosing loop may not run.
            Op::Load(access) if surely && here > 0 => {
                let written = self.written[self.loops[here as usize - 1].index()];
                if is_stable(self.kernel, *access, written) { needs().max(here - 1) } else { here }
            }
            op if op.is_pure() => needs(),
            _ => here,
        }
    }

    /// Inserts the moved instructions before their loops.
    fn settle(&mut self) -> bool {
        let mut before = vec![Vec::new(); self.kernel.insts.len()];
        self.moved.iter().for_each(|(inst, target)| before[target.index()].push(*inst));
        for block in Tree::new(self.kernel).blocks {
            let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
            let mut out = Vec::with_capacity(insts.len());
            for inst in insts {
                out.append(&mut before[inst.index()]);
                out.push(inst);
            }
            self.kernel.blocks[block].insts = out;
        }
        true
    }
}
