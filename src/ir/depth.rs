//! The limit on nested blocks. The passes over functions recurse into blocks; this check, which runs first, does not.

use super::{BlockId, Function, Module, Op};
use crate::source::Span;

/// Blocks that may be nested in each other. Every pass fits on a stack of 2 MB at this depth.
pub const DEPTH_LIMIT: usize = 512;

/// The first construct found that nests blocks deeper than [`DEPTH_LIMIT`].
pub fn too_deep(module: &Module) -> Option<Span> {
    module.functions.iter().find_map(|(_, function)| in_function(function))
}

fn in_function(function: &Function) -> Option<Span> {
    // No block can be deeper than there are blocks.
    if function.blocks.len() <= DEPTH_LIMIT {
        return None;
    }
    let mut open = vec![(function.body, 1)];
    let mut inner = Vec::new();
    while let Some((block, depth)) = open.pop() {
        for inst in &function.blocks[block].insts {
            let inst = &function.insts[*inst];
            inner_blocks(function, inst.op, &mut inner);
            if depth == DEPTH_LIMIT && !inner.is_empty() {
                return Some(inst.span);
            }
            open.extend(inner.drain(..).map(|block| (block, depth + 1)));
        }
    }
    None
}

fn inner_blocks(function: &Function, op: Op, inner: &mut Vec<BlockId>) {
    match op {
        Op::If { then, otherwise, .. } => inner.extend([then, otherwise]),
        Op::Loop { body, continuing, .. } => inner.extend([body, continuing]),
        Op::Switch { cases, .. } => inner.extend(function.arms(cases).iter().map(|arm| arm.body)),
        _ => {}
    }
}
