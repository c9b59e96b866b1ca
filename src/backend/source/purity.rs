//! Functions whose calls may be written wherever their results are used.

use super::uses::local_of;
use super::writer::Writer;
use crate::ir::{FuncId, Function, ImageOp, Module, Op, Space, calls};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The functions that only compute a result: they write no shared memory, do not wait, and do not end the invocation.
pub(super) type Pure = FxHashSet<FuncId>;

fn pure_functions(module: &Module) -> Pure {
    let mut pure = Pure::default();
    for id in calls::callees_first(module, module.entry_points.iter().map(|entry| entry.function)) {
        if is_pure(module, &module.functions[id], &pure) {
            pure.insert(id);
        }
    }
    pure
}

fn is_pure(module: &Module, f: &Function, pure: &Pure) -> bool {
    crate::limits::spend(f.insts.len());
    let writes =
        |param: &crate::ir::Param| module.types.pointee(param.ty).is_some_and(|(space, _)| space != Space::Handle);
    !f.params.iter().any(writes) && f.insts.iter().all(|(_, inst)| does_nothing_else(f, inst.op, pure))
}

/// Returns true for operations that only compute a result, or belong to a function's own control flow and variables.
fn does_nothing_else(f: &Function, op: Op, pure: &Pure) -> bool {
    match op {
        Op::Store { pointer, .. } => local_of(f, pointer).is_some(),
        Op::Call(callee, _) => pure.contains(&callee),
        Op::Image { op, .. } => {
            op.is_lookup()
                || matches!(
                    op,
                    ImageOp::Size | ImageOp::Levels | ImageOp::Samples | ImageOp::QueryLod | ImageOp::Combine
                )
        }
        Op::Load(_) | Op::Access { .. } | Op::ArrayLength { .. } | Op::If { .. } | Op::Loop { .. } => true,
        Op::Switch { .. } | Op::Break | Op::Continue | Op::Return(_) | Op::Yield(_) => true,
        op => op.is_arithmetic(),
    }
}

impl Writer<'_> {
    /// The pure functions of the module.
    pub fn pure(&mut self) -> Rc<Pure> {
        let module = self.module;
        self.pure.get_or_insert_with(|| Rc::new(pure_functions(module))).clone()
    }
}
