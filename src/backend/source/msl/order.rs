//! Critical sections of fragment shaders: the resources that they access are in a raster order group (section 5.2.1.2),
//! whose accesses are in the order of the fragments of a pixel. This orders more than the section, never less: a
//! fragment waits from its first access to the group until earlier fragments have made their last.

use super::Msl;
use crate::backend::source::globals::access_of;
use crate::backend::source::writer::Writer;
use crate::ir::{Access, BlockId, EntryPoint, FuncId, Function, GlobalId, Op, Space, Type, Value};
use std::collections::BTreeSet;

/// The resources that critical sections touch.
#[derive(Default)]
struct Touched {
    globals: BTreeSet<GlobalId>,
    functions: BTreeSet<FuncId>,
    /// True if some place is unknown, so that all of them count.
    is_open: bool,
    /// True if memory at an address is touched.
    has_addresses: bool,
}

impl Msl {
    /// Finds the resources of the raster order group.
    pub fn find_ordered(&self, t: &mut Writer, entry: &EntryPoint) {
        let module = t.module;
        if entry.fragment.interlock.is_none() {
            return;
        }
        let mut touched = Touched::default();
        for (_, f) in module.functions.iter() {
            for block in f.blocks.handles() {
                section(t, f, block, &mut touched);
            }
        }
        if touched.has_addresses {
            t.lacks("order of the accesses to buffer references in critical sections");
        }
        let found: Vec<GlobalId> = match touched.is_open {
            true => module.globals.handles().collect(),
            false => touched.globals.into_iter().collect(),
        };
        t.msl.ordered = found.into_iter().filter(|id| is_written(t, *id)).collect();
    }

    /// The attribute of an argument, with its raster order group.
    pub fn ordered_attribute(&self, t: &Writer, id: Option<GlobalId>, attribute: String) -> String {
        let is_ordered = id.is_some_and(|id| t.msl.ordered.contains(&id));
        if is_ordered { format!("{attribute}, raster_order_group(0)") } else { attribute }
    }
}

/// Returns true for memory that fragments may write.
fn is_written(t: &Writer, id: GlobalId) -> bool {
    let global = &t.module.globals[id];
    let is_memory = match (global.space, t.types.get(t.innermost(global.ty))) {
        (Space::Storage, Type::Struct(of)) => !access_of(t, global, of).contains(Access::READONLY),
        (Space::Handle, Type::Image(image)) => image.is_writable(),
        _ => false,
    };
    is_memory && !global.access.contains(Access::READONLY)
}

/// Sees the instructions of a block that are in a critical section.
fn section(t: &Writer, f: &Function, block: BlockId, touched: &mut Touched) {
    let mut is_inside = false;
    for id in &f.blocks[block].insts {
        match f.insts[*id].op {
            Op::Interlock { begin } => {
                // A section that begins or ends in another block is not followed.
                touched.is_open |= begin == is_inside;
                is_inside = begin;
            }
            op if is_inside => see(t, f, op, touched),
            _ => {}
        }
    }
    touched.is_open |= is_inside;
}

fn see(t: &Writer, f: &Function, op: Op, touched: &mut Touched) {
    crate::limits::spend(1);
    op.each_operand(f, |value| root(t, f, value, touched));
    if let Op::Call(callee, _) = op
        && touched.functions.insert(callee)
    {
        let f = &t.module.functions[callee];
        f.insts.iter().for_each(|(_, inst)| see(t, f, inst.op, touched));
    }
    for inner in f.inner_blocks(op) {
        f.blocks[inner].insts.iter().for_each(|id| see(t, f, f.insts[*id].op, touched));
    }
}

/// Records the resource that a value is, points into or was read from.
fn root(t: &Writer, f: &Function, value: Value, touched: &mut Touched) {
    match value {
        Value::Global(id) => drop(touched.globals.insert(id)),
        Value::Param(index) => {
            let ty = f.params[index as usize].ty;
            touched.is_open |= t.types.pointee(ty).is_some() || t.types.scalar_of(t.innermost(ty)).is_none();
        }
        Value::Inst(id) => {
            touched.has_addresses |= t.types.referred(f.insts[id].ty).is_some();
            match f.insts[id].op {
                Op::Access { base, .. } => root(t, f, base, touched),
                Op::Load(pointer) if t.types.scalar_of(f.insts[id].ty).is_none() => root(t, f, pointer, touched),
                _ => {}
            }
        }
        _ => {}
    }
}
