//! Conditions that NVIDIA's compiler treats as uniform in the warp although they are not.
//!
//! A vote has the same result in all participating invocations. The compiler stores such a value, and a select between
//! such values, once for the warp, even where only some invocations participate and others get another result: a branch
//! on it is then wrong (seen on an H100, driver 580.159). A per-lane condition avoids the bug.

use crate::kernel::tree::{Flows, Tree};
use crate::kernel::uniform::{Extent, Uniformity};
use crate::kernel::{InstId, Kernel, Op, Value};
use crate::lane::primitive::NvOp;
use crate::lane::{Primitive, ShuffleMode};

/// Lanes of a warp.
const LANES: u32 = 32;

/// How NVIDIA's compiler sees a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum View {
    /// Uniform in the warp, and not derived from votes.
    Plain,
    /// Made of votes and of values that are the same in the warp.
    Vote,
    Varying,
}

/// The facts about a kernel's conditions.
#[derive(Debug)]
pub struct Votes {
    uniformity: Uniformity,
    views: Vec<View>,
}

impl Votes {
    /// Analyses a kernel with cross-lane operations.
    pub fn new(kernel: &Kernel, tree: &Tree) -> Votes {
        let uniformity = Uniformity::new(kernel, LANES);
        let views = vec![View::Plain; kernel.values.len()];
        let mut votes = Votes { uniformity, views };
        let (insts, flows) = (tree.insts(kernel), Flows::new(kernel, tree));
        while votes.walk(kernel, tree, &insts, &flows) {}
        votes
    }

    /// Returns true if the condition of an instruction is seen as the same in the warp and may differ there.
    pub fn mislead(&self, inst: InstId, condition: Value) -> bool {
        let is_same = self.uniformity.flow(inst) >= Extent::Wave && self.uniformity.is_uniform(condition);
        self.views[condition.index()] == View::Vote && !is_same
    }

    /// One walk over all instructions. Returns true if a view changed.
    fn walk(&mut self, kernel: &Kernel, tree: &Tree, insts: &[InstId], flows: &Flows) -> bool {
        let mut changed = false;
        for inst in insts {
            let op = kernel.insts[*inst].op;
            let view = (!op.is_structured()).then(|| self.result(kernel, *inst, op));
            for value in kernel.results(*inst) {
                changed |= self.raise(value, view.unwrap_or_else(|| self.flow(flows, value)));
            }
        }
        for param in tree.blocks.iter().flat_map(|block| &kernel.blocks[*block].params) {
            changed |= self.raise(*param, self.flow(flows, *param));
        }
        changed
    }

    fn raise(&mut self, value: Value, view: View) -> bool {
        let known = &mut self.views[value.index()];
        let changed = view > *known;
        *known = view.max(*known);
        changed
    }

    fn flow(&self, flows: &Flows, value: Value) -> View {
        flows.sources(value).iter().map(|source| self.views[source.index()]).max().unwrap_or(View::Plain)
    }

    fn result(&self, kernel: &Kernel, inst: InstId, op: Op) -> View {
        let args = kernel.args(inst);
        let all = args.iter().map(|arg| self.views[arg.index()]).max();
        match op {
            Op::Prim { primitive: Primitive::Nv(NvOp::Vote(_) | NvOp::Ballot), .. } => View::Vote,
            Op::Prim { primitive: Primitive::Nv(NvOp::Shuffle(ShuffleMode::Index)), .. } => self.views[args[1].index()],
            Op::Prim { .. } | Op::CombineMoved { .. } | Op::Atomic { .. } => View::Varying,
            _ => all.unwrap_or_else(|| {
                let is_uniform = kernel.results(inst).all(|result| self.uniformity.is_uniform(result));
                if is_uniform { View::Plain } else { View::Varying }
            }),
        }
    }
}
