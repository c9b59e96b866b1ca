//! Turns early exits into branches: if one block of an `If` leaves, the instructions after the `If` move into the other
//! block.
//!
//! A function that returns early becomes `scope { if c { exit a } … yield b }`. This pass turns it into
//! `scope { if c { yield a } else { … yield b } }`, where lanes still reconverge, and where other passes find
//! constants, selects and the end of the scope. Blocks are processed from their end, so that nothing moves twice. Each
//! move nests instructions one level deeper; exits beyond [`DEPTH_LIMIT`], which later passes rely on, stay.

use crate::ir::depth::DEPTH_LIMIT;
use crate::kernel::tree::{Nesting, Tree};
use crate::kernel::{BlockId, InstId, Kernel, Op, Ty, Value};

/// Turns exits at the end of their scopes into results of branches. Returns true if there were any.
pub fn run(kernel: &mut Kernel) -> bool {
    if kernel.is_straight() {
        return false;
    }
    let tree = Tree::new(kernel);
    let is_scope = |inst: &InstId| matches!(kernel.insts[*inst].op, Op::Scope { .. });
    let scopes: Vec<InstId> = tree.insts(kernel).into_iter().filter(is_scope).collect();
    let mut nesting = tree.nesting();
    let mut changed = false;
    // Inner scopes first: the enclosing scope grows later, and then counts the final contents.
    for scope in scopes.into_iter().rev() {
        if let Op::Scope { body } = kernel.insts[scope].op {
            changed |= settle(kernel, &mut nesting, scope, body);
        }
    }
    changed
}

/// Processes the end of a block after which control reaches the end of a scope.
fn settle(kernel: &mut Kernel, nesting: &mut Nesting, scope: InstId, block: BlockId) -> bool {
    let mut changed = turn_end(kernel, scope, block);
    // Nesting depth of the instructions after a position.
    let mut below = 0;
    // From the end: the last branch absorbs the rest of the block, and the branch before it absorbs that branch.
    let mut at = kernel.blocks[block].insts.len().saturating_sub(1);
    while at > 0 {
        at -= 1;
        let inst = kernel.blocks[block].insts[at];
        let deep = nesting.depth(block) + below + 1 >= DEPTH_LIMIT;
        if let Some(staying) = (!deep).then(|| sink(kernel, scope, block, at)).flatten() {
            nesting.add(staying, below);
            changed = true;
            below = 0;
        }
        below = kernel.inner_blocks(inst).map(|inner| nesting.height(inner) + 1).fold(below, usize::max);
    }
    nesting.add(block, below);
    changed
}

/// An `Exit` at the end of such a block is a `Yield`.
fn turn_end(kernel: &mut Kernel, scope: InstId, block: BlockId) -> bool {
    let Some(last) = kernel.blocks[block].insts.last().copied() else { return false };
    let leaves = kernel.insts[last].op == Op::Exit(scope);
    if leaves {
        kernel.insts[last].op = Op::Yield;
    }
    leaves
}

/// Moves the instructions after the branch at a position into the block that continues, if the other one leaves the
/// scope. Returns the block that they moved to.
fn sink(kernel: &mut Kernel, scope: InstId, block: BlockId, at: usize) -> Option<BlockId> {
    let inst = kernel.blocks[block].insts[at];
    let Op::If { then, otherwise } = kernel.insts[inst].op else { return None };
    let ends = [then, otherwise].map(|arm| end(kernel, arm));
    let (leaving, staying) = match ends {
        [Some(Op::Exit(target)), Some(Op::Yield)] if target == scope => (then, otherwise),
        [Some(Op::Yield), Some(Op::Exit(target))] if target == scope => (otherwise, then),
        _ => return None,
    };
    let ends_in_yield = end(kernel, block) == Some(Op::Yield);
    // The moved instructions could use results of the branch, so it must have none.
    if kernel.results(inst).len() > 0 || !ends_in_yield {
        return None;
    }
    let rest = kernel.blocks[block].insts.split_off(at + 1);
    kernel.blocks[staying].insts.pop();
    kernel.blocks[staying].insts.extend(rest);
    turn_end(kernel, scope, leaving);
    give_results(kernel, scope, inst, block);
    Some(staying)
}

fn end(kernel: &Kernel, block: BlockId) -> Option<Op> {
    kernel.blocks[block].insts.last().map(|last| kernel.insts[*last].op)
}

/// Makes a branch return its blocks' yielded values, and ends the enclosing block with them.
fn give_results(kernel: &mut Kernel, scope: InstId, inst: InstId, block: BlockId) {
    let types: Vec<Ty> = kernel.results(scope).map(|result| kernel.ty(result)).collect();
    kernel.set_results(inst, &types);
    let results: Vec<Value> = kernel.results(inst).collect();
    let (flags, span) = (kernel.insts[inst].flags, kernel.insts[inst].span);
    let end = kernel.add_inst(Op::Yield, &results, &[], flags, span);
    kernel.blocks[block].insts.push(end);
}
