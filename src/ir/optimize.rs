//! Passes over modules whose target's compiler does not need them, for speed or size: inlining, module variables made
//! local, constant propagation, unrolling. Hardware targets have the passes of [`crate::kernel::pass`] instead.

use super::calls::callees_first;
use super::inline::inline;
use super::private::private_to_local;
use super::propagate::propagate;
use super::unroll::Budget;
use super::{FuncId, Function, Module};

/// How far a module may grow.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Maximum size in instructions of functions that are always inlined.
    pub small: usize,
    /// Total instructions in the copies of all other functions that are called more than once.
    pub inlined: usize,
    pub unrolled: Budget,
}

impl Growth {
    /// For speed. A loop with an unroll attribute is fully unrolled up to some thousand instructions, because programs
    /// written for that need it: only then do their arrays become values.
    pub const SPEED: Growth =
        Growth { small: 16, inlined: 16_384, unrolled: Budget { asked: 16_384, other: 64, function: 65_536 } };
    /// For size: no loop is unrolled.
    pub const SIZE: Growth = Growth { small: 4, inlined: 0, unrolled: Budget { asked: 0, other: 0, function: 0 } };
}

/// Runs all passes.
pub fn optimize(module: &mut Module, growth: Growth) {
    inline(module, growth.small, growth.inlined);
    let roots: Vec<FuncId> = module.entry_points.iter().map(|entry| entry.function).collect();
    let reached = callees_first(module, roots);
    private_to_local(module, &reached);
    for id in reached {
        let stand_in = Function::bodiless(module.functions[id].ret);
        let mut function = std::mem::replace(&mut module.functions[id], stand_in);
        propagate(module, &mut function, growth.unrolled);
        module.functions[id] = function;
    }
}
