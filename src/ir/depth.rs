//! The limit on nested blocks. Passes over functions recurse into blocks; this check, which runs first, does not.

use super::{Function, Module};
use crate::source::Span;

/// Blocks that may be nested in each other. Every pass fits on a stack of 2 MB at this depth.
pub const DEPTH_LIMIT: usize = 512;

/// The first construct found that nests blocks deeper than [`DEPTH_LIMIT`].
pub fn too_deep(module: &Module) -> Option<Span> {
    module.functions.iter().find_map(|(_, function)| in_function(function))
}

fn in_function(function: &Function) -> Option<Span> {
    // The depth cannot exceed the number of blocks.
    if function.blocks.len() <= DEPTH_LIMIT {
        return None;
    }
    let mut open = vec![(function.body, 1)];
    while let Some((block, depth)) = open.pop() {
        for inst in &function.blocks[block].insts {
            let inst = &function.insts[*inst];
            let inner = function.inner_blocks(inst.op);
            if depth == DEPTH_LIMIT && !inner.is_empty() {
                return Some(inst.span);
            }
            open.extend(inner.into_iter().map(|block| (block, depth + 1)));
        }
    }
    None
}
