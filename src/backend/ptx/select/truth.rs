//! Keeps -1 and 1.0 apart if a kernel moves both: see [`crate::backend::truth`].

use super::Selector;
use crate::backend::ptx::mnemonic;
use crate::backend::truth::{ONE, Truths};
use crate::kernel::{Def, Kernel, Op, Ty};
use crate::lane::MaskOp;

/// Returns true for operations that only move values.
const fn moves(op: &Op) -> bool {
    matches!(op, Op::Select | Op::Store(_) | Op::Prim { .. } | Op::Join) || op.is_terminator()
}

/// Returns true if both words are moved.
fn are_mixed(kernel: &Kernel) -> bool {
    let mut moved = Truths::default();
    for (id, _) in kernel.insts.iter().filter(|(_, inst)| moves(&inst.op)) {
        for arg in kernel.args(id) {
            if let (Def::Const(bits), Ty::B32) = (&kernel.values[*arg].def, kernel.ty(*arg)) {
                moved.hold(*bits as u32);
            }
        }
    }
    moved.are_mixed()
}

impl Selector<'_> {
    /// Creates a register with 1.0, if the kernel needs one: no lane is both below this lane and this lane itself.
    pub fn part_truths(&mut self) {
        if !are_mixed(self.kernel) {
            return;
        }
        let [below, own] = [MaskOp::Lt, MaskOp::Eq].map(|mask| self.special(mnemonic::lane_mask(mask)));
        let zero = self.word("and.b32", format_args!("{below}, {own}"));
        self.hidden_one = Some(self.word("or.b32", format_args!("{zero}, {ONE}")));
    }
}
