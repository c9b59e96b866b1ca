//! The instructions that lanes of a warp may reach separately.
//!
//! From Volta on, each lane has a program counter. Diverged lanes usually reconverge where their paths meet, but
//! nothing guarantees it (CUDA C++ Programming Guide, "Independent Thread Scheduling"). So the lanes of a warp are
//! certainly together only until the first branch that may diverge. This holds for older profiles too, because newer
//! hardware runs their programs.

use super::atomic;
use crate::backend::ptx::isa::Isa;
use crate::kernel::tree::Tree;
use crate::kernel::uniform::Uniformity;
use crate::kernel::{BlockId, InstId, Kernel, Op};

/// The instructions that lanes may reach separately.
pub struct Apart {
    insts: Vec<bool>,
}

impl Apart {
    pub fn of(kernel: &Kernel, tree: &Tree, uniformity: &Uniformity, isa: Isa) -> Apart {
        let mut walk =
            Walk { kernel, parting: parting(kernel, tree, uniformity, isa), apart: false, insts: Vec::new() };
        walk.insts.resize(kernel.insts.len(), false);
        walk.block(kernel.body);
        Apart { insts: walk.insts }
    }

    /// Returns true if lanes may reach an instruction separately, although all lanes of the warp reach it.
    pub fn at(&self, inst: InstId) -> bool {
        self.insts[inst.index()]
    }
}

/// For each instruction, true if lanes may diverge in it or in something nested in it.
fn parting(kernel: &Kernel, tree: &Tree, uniformity: &Uniformity, isa: Isa) -> Vec<bool> {
    let mut parting = vec![false; kernel.insts.len()];
    for block in tree.blocks.iter().rev() {
        for inst in &kernel.blocks[*block].insts {
            parting[inst.index()] |= branches(kernel, uniformity, isa, *inst);
            if let Some(owner) = tree.owner(*block) {
                parting[owner.index()] |= parting[inst.index()];
            }
        }
    }
    parting
}

/// Returns true if an instruction becomes a branch that may diverge.
fn branches(kernel: &Kernel, uniformity: &Uniformity, isa: Isa, inst: InstId) -> bool {
    match kernel.insts[inst].op {
        Op::If { .. } | Op::Repeat => !uniformity.is_uniform(kernel.args(inst)[0]),
        Op::Atomic { op, ty, .. } => atomic::tries_again(op, ty, isa),
        _ => false,
    }
}

/// A walk in text order.
struct Walk<'k> {
    kernel: &'k Kernel,
    parting: Vec<bool>,
    /// True if lanes may have parted so far.
    apart: bool,
    insts: Vec<bool>,
}

impl Walk<'_> {
    fn block(&mut self, block: BlockId) {
        for inst in &self.kernel.blocks[block].insts {
            self.insts[inst.index()] = self.apart;
            // Lanes that diverge in an iteration of a loop are separate from the start of the next one on; lanes in
            // different arms are separate in both.
            let parts = self.parting[inst.index()];
            self.apart |= parts && !matches!(self.kernel.insts[*inst].op, Op::Scope { .. });
            self.kernel.inner_blocks(*inst).for_each(|inner| self.block(inner));
        }
    }
}
