//! Operations over the whole workgroup: each gets the number of its invocations, as the width of its segment if that is
//! a power of two.

use super::invocations;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::calls::callees_first;
use crate::ir::{EntryPoint, FuncId, InstId, Module, Op};
use crate::lane::{Group, LaneOp, Width};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A module in which the invocations of such operations are known.
pub struct Counted<'a> {
    pub module: Cow<'a, Module>,
    /// The invocations of each operation that was written for the workgroup.
    pub invocations: FxHashMap<(FuncId, InstId), u32>,
}

/// Counts the invocations of the operations over the workgroup.
///
/// # Errors
/// Reports operations in stages without workgroups, in workgroups whose size is not known or too large, and in functions
/// that entry points with different workgroups share.
pub fn counted(module: &Module) -> Result<Counted<'_>, Vec<Diagnostic>> {
    let (mut found, mut errors) = (FxHashMap::default(), Vec::new());
    for entry in &module.entry_points {
        for at in operations(module, entry) {
            match count(module, entry, found.get(&at).copied()) {
                Ok(invocations) => drop(found.insert(at, invocations)),
                Err(reason) => errors.push(refusal(module, at, reason)),
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut module = Cow::Borrowed(module);
    for ((id, inst), invocations) in &found {
        if let Op::Lane(op, args) = module.functions[*id].insts[*inst].op
            && let Some(op) = over_segment(op, *invocations)
        {
            module.to_mut().functions[*id].insts[*inst].op = Op::Lane(op, args);
        }
    }
    Ok(Counted { module, invocations: found })
}

/// The operations over the workgroup that an entry point reaches.
fn operations(module: &Module, entry: &EntryPoint) -> Vec<(FuncId, InstId)> {
    let functions = callees_first(module, [entry.function]).into_iter();
    let of_function = |id: FuncId| {
        let insts = module.functions[id].insts.iter();
        insts
            .filter(|(_, inst)| matches!(inst.op, Op::Lane(op, _) if is_over_workgroup(op)))
            .map(move |(at, _)| (id, at))
    };
    functions.flat_map(of_function).collect()
}

/// Returns true for an operation over all invocations of the workgroup.
pub fn is_over_workgroup(op: LaneOp) -> bool {
    op.signature().span.width() == Some(Width::WORKGROUP)
}

/// The invocations of an entry point's workgroup. `known` are those of another one that reaches the operation.
fn count(module: &Module, entry: &EntryPoint, known: Option<u32>) -> Result<u32, String> {
    if !entry.stage.has_workgroups() {
        return Err(format!("{} shaders have no workgroups", entry.stage.name()));
    }
    match invocations(module, entry) {
        None => Err("the size of the workgroup is a specialization constant".into()),
        Some(count) if count > Width::MOST => {
            Err(format!("the workgroup has {count} invocations, more than {}", Width::MOST))
        }
        Some(count) => match known.filter(|known| *known != count) {
            Some(known) => Err(format!("entry points with workgroups of {known} and {count} invocations reach it")),
            None => Ok(count),
        },
    }
}

fn refusal(module: &Module, (id, inst): (FuncId, InstId), reason: String) -> Diagnostic {
    let span = module.functions[id].insts[inst].span;
    Diagnostic::error(Code::TOO_WIDE, "this operation needs a workgroup of known size, with at most 1024 invocations")
        .at(span, reason)
}

/// The operation over a segment with all invocations of the workgroup; `None` if it has no such form.
fn over_segment(op: LaneOp, invocations: u32) -> Option<LaneOp> {
    let width = Width::new(invocations).filter(|_| invocations > 1)?;
    match op {
        LaneOp::BroadcastInWorkgroup => None,
        LaneOp::Vote { op, .. } => Some(LaneOp::Vote { op, group: Group::Segment(width) }),
        op => Some(op.with_width(width)),
    }
}
