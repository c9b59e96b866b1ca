//! Passes over modules whose target's own compiler takes them as they come: calls inlined, variables of the module made local,
//! constants propagated. Hardware targets have the passes of [`crate::kernel::pass`] instead.

use super::calls::callees_first;
use super::inline::inline;
use super::private::private_to_local;
use super::propagate::propagate;
use super::{FuncId, Function, Module};

/// Runs all passes; functions of at most `small` instructions are inlined wherever they are called.
pub fn optimize(module: &mut Module, small: usize) {
    inline(module, small);
    let roots: Vec<FuncId> = module.entry_points.iter().map(|entry| entry.function).collect();
    let reached = callees_first(module, roots);
    private_to_local(module, &reached);
    for id in reached {
        let stand_in = Function::bodiless(module.functions[id].ret);
        let mut function = std::mem::replace(&mut module.functions[id], stand_in);
        propagate(module, &mut function);
        module.functions[id] = function;
    }
}
