//! Negations of floats that can be modifiers of their users.

use crate::kernel::tree::Tree;
use crate::kernel::{Kernel, Op, TernOp, UnOp};

/// Marks the negations of floats of at least this many bits whose results are only used by fused multiply-adds: there
/// the bits of a NaN do not matter.
pub fn of_fused(kernel: &Kernel, tree: &Tree, least: u8) -> Vec<bool> {
    let is_negation = |op| matches!(op, Op::Un(UnOp::Neg, ty) if ty.is_float() && ty.width >= least);
    let mut found = vec![false; kernel.insts.len()];
    let insts = tree.insts(kernel);
    insts.iter().for_each(|inst| found[inst.index()] = is_negation(kernel.insts[*inst].op));
    let others = insts.iter().filter(|inst| !matches!(kernel.insts[**inst].op, Op::Tern(TernOp::Fma, _)));
    let taken = others.flat_map(|inst| kernel.args(*inst)).filter_map(|arg| kernel.definition(*arg));
    taken.for_each(|inst| found[inst.index()] = false);
    found
}
