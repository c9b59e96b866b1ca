//! The instructions to which lanes of a warp may come one after another.
//!
//! From Volta on, each lane has a program counter. Lanes that a branch has parted usually run together again where their ways
//! meet, but nothing promises it (CUDA C++ Programming Guide, "Independent Thread Scheduling"). So the lanes of a warp are
//! certainly together only until the first branch that they may take differently. This holds for older profiles too, since
//! newer hardware runs their programs.

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

    /// Returns true if lanes may come to an instruction one after another, although all of the warp come to it.
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

/// Returns true if an instruction becomes a branch that lanes may take differently.
fn branches(kernel: &Kernel, uniformity: &Uniformity, isa: Isa, inst: InstId) -> bool {
    match kernel.insts[inst].op {
        Op::If { .. } | Op::Repeat => !uniformity.is_uniform(kernel.args(inst)[0]),
        Op::Atomic { op, ty, .. } => atomic::tries_again(op, ty, isa),
        _ => false,
    }
}

/// A walk in the order of the text.
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
            // Lanes that part in a round of a loop are apart from the start of the next one on; those that go into different
            // arms are apart in both.
            let parts = self.parting[inst.index()];
            self.apart |= parts && !matches!(self.kernel.insts[*inst].op, Op::Scope { .. });
            self.kernel.inner_blocks(*inst).for_each(|inner| self.block(inner));
        }
    }
}
