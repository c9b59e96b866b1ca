//! Finds the loads before which the kernel neither writes nor orders memory, so that they read its initial contents.
//!
//! Memory that another invocation writes at the same time without synchronisation has no defined value for such a load,
//! and synchronisation needs an atomic, a fence or a barrier, which count as writes here. So the scalar unit, whose
//! cache does not see the vector unit's stores, may execute these loads.

use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, InstId, Kernel, MemorySpace, Op};

/// True for each load that no write precedes.
#[derive(Debug)]
pub struct QuietLoads(Vec<bool>);

impl QuietLoads {
    pub fn of(kernel: &Kernel, tree: &Tree) -> QuietLoads {
        let writing = tree.holding(kernel, writes);
        let mut walk = Walk { kernel, writing, quiet: vec![false; kernel.insts.len()] };
        walk.block(kernel.body, false);
        QuietLoads(walk.quiet)
    }

    /// Returns true if no write precedes this load, in any iteration of its loops.
    pub fn contains(&self, load: InstId) -> bool {
        self.0[load.index()]
    }
}

struct Walk<'k> {
    kernel: &'k Kernel,
    /// True for each instruction that writes or orders memory, or contains one that does.
    writing: Vec<bool>,
    quiet: Vec<bool>,
}

impl Walk<'_> {
    /// Marks the loads of a block that is entered after a write or before all. Returns true if a write precedes its
    /// end.
    fn block(&mut self, block: BlockId, mut after_write: bool) -> bool {
        for inst in &self.kernel.blocks[block].insts {
            let op = self.kernel.insts[*inst].op;
            let writes = self.writing[inst.index()];
            match op {
                Op::Load(_) => self.quiet[inst.index()] = !after_write,
                // An iteration comes after the writes of earlier ones.
                Op::Loop { .. } => after_write |= writes,
                _ => {}
            }
            for inner in self.kernel.inner_blocks(*inst) {
                self.block(inner, after_write);
            }
            after_write |= writes;
        }
        after_write
    }
}

/// Returns true if an instruction writes memory that may be in buffers, or orders accesses to it. A load that can
/// observe others' writes orders the loads after it if the shader relies on it.
fn writes(op: Op) -> bool {
    let is_far = |space| matches!(space, MemorySpace::Buffer(_) | MemorySpace::Physical);
    match op {
        Op::Store(access) => is_far(access.space),
        Op::Load(access) => access.coherent || access.volatile,
        Op::Atomic { .. } | Op::Barrier { .. } | Op::Image { .. } => true,
        _ => false,
    }
}
