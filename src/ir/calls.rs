//! The call graph of a module, walked without recursion, because call chains can be arbitrarily long.

use super::{FuncId, Function, Module};
use crate::source::Span;

/// The functions that a function calls, with the places of the calls, in the order of its instructions.
pub fn callees(function: &Function) -> impl Iterator<Item = (FuncId, Span)> {
    function
        .insts
        .iter()
        .filter(|(_, inst)| inst.op.calls())
        .flat_map(|(_, inst)| inst.op.callees().into_iter().flatten().map(|callee| (callee, inst.span)))
}

/// The functions that calls from `roots` reach, including the roots, each once and after all its callees.
pub fn callees_first(module: &Module, roots: impl IntoIterator<Item = FuncId>) -> Vec<FuncId> {
    let mut seen = vec![false; module.functions.len()];
    let mut order = Vec::new();
    let mut open: Vec<(FuncId, bool)> = roots.into_iter().map(|root| (root, false)).collect();
    while let Some((id, is_done)) = open.pop() {
        if is_done {
            order.push(id);
        } else if !std::mem::replace(&mut seen[id.index()], true) {
            open.push((id, true));
            open.extend(callees(&module.functions[id]).map(|(callee, _)| (callee, false)));
        }
    }
    order
}
