//! Operations in divergent control flow, where WGSL rejects a barrier, and derivatives unless a diagnostic is turned off,
//! and where in MSL a barrier cannot replace a fence.

use super::globals::access_of;
use super::image::Root;
use super::writer::Writer;
use crate::ir::uniform::{self, is_written};
use crate::ir::{Access, FuncId, Function, GlobalId, ImageOp, ImageParts, InstId, Op, Space, Stage};
use rustc_hash::FxHashSet;

/// The instructions that `asks` selects and that a part of the workgroup may not reach, in the order of discovery.
pub(super) fn parted(t: &mut Writer, asks: fn(&Op) -> bool) -> Vec<(FuncId, InstId)> {
    let module = t.module;
    let is_asked = |f: &Function| f.insts.iter().any(|(_, inst)| asks(&inst.op));
    if !module.functions.iter().any(|(_, f)| is_asked(f)) {
        return Vec::new();
    }
    let same: FxHashSet<GlobalId> = module.globals.handles().filter(|id| is_constant(t, *id)).collect();
    uniform::parted(module, same, asks)
}

/// Returns true for a variable that no invocation changes.
fn is_constant(t: &mut Writer, id: GlobalId) -> bool {
    let module = t.module;
    let global = &module.globals[id];
    match global.space {
        Space::Uniform | Space::PushConstant => true,
        Space::Handle => {
            let of = t.image_use(Root::Global(id));
            !of.writes || global.access.contains(Access::READONLY)
        }
        Space::Storage => {
            let block = t.block_of(global.ty);
            let is_read = block.is_some_and(|of| access_of(t, global, of).contains(Access::READONLY));
            let has_vertices = module.entry_points.iter().any(|entry| entry.stage == Stage::Vertex);
            is_read || has_vertices && !is_written(module, id)
        }
        _ => false,
    }
}

/// Returns true for an operation that depends on derivatives in the quad.
pub(super) fn takes_derivatives(op: &Op) -> bool {
    match op {
        Op::Math(function, _) => function.is_derivative(),
        Op::Image { op: ImageOp::Sample | ImageOp::SampleProjected, parts, .. } => {
            !parts.intersects(ImageParts::LOD | ImageParts::GRADIENTS)
        }
        _ => false,
    }
}
