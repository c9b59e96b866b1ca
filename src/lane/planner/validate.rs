//! What a request must satisfy before any rule looks at it: operands that fit the operation, widths that fit the subgroup.

use crate::lane::op::{FoldOp, Group, LaneOp, Width};
use crate::lane::request::{Known, LaneType, Refusal, Request, ScalarKind};
use crate::profile::Profile;

/// The fewest lanes that the subgroup must have; an error where the request makes no sense or spans too many.
pub fn least_size(request: &Request, profile: &Profile) -> Result<u32, Refusal> {
    check_operands(request)?;
    let width = spanned(request)?;
    match profile.wave_size {
        Some(size) if width > size => Err(Refusal::TooWide { width, size }),
        _ => Ok(width),
    }
}

fn check_operands(request: &Request) -> Result<(), Refusal> {
    let count = request.inputs.len();
    let (least, most) = request.op.arity();
    if !(least..=most).contains(&count) {
        return Err(Refusal::BadOperand("wrong number of operands"));
    }
    let bad = match request.op {
        LaneOp::Fold { op, .. } | LaneOp::Segmented { op, .. } | LaneOp::Partitioned { op, .. } => {
            !folds(op, request.inputs[0].ty)
        }
        LaneOp::QuadAdd(_) => !folds(FoldOp::Add, request.inputs[0].ty),
        LaneOp::Sort { .. } => request.inputs.iter().any(|input| input.ty.components != 1),
        _ => false,
    };
    if bad { Err(Refusal::BadOperand("the operation does not take operands of this type")) } else { Ok(()) }
}

/// Whether values of a type can be folded so: logical operators take integers and bools, the others numbers.
fn folds(op: FoldOp, ty: LaneType) -> bool {
    match op {
        FoldOp::And | FoldOp::Or | FoldOp::Xor => ty.kind != ScalarKind::Float,
        FoldOp::Add | FoldOp::Mul | FoldOp::Min | FoldOp::Max => ty.kind != ScalarKind::Bool,
    }
}

/// Lanes that the operation's form spans, whatever the subgroup's size; 1 when it adapts itself.
fn spanned(request: &Request) -> Result<u32, Refusal> {
    let lanes = |width: Width| width.lanes().unwrap_or(1);
    Ok(match request.op {
        LaneOp::Quad { .. } | LaneOp::QuadAdd(_) | LaneOp::QuadBroadcast => 4,
        LaneOp::QuadPermute(_) | LaneOp::QuadPermuteZero(_) => 4,
        LaneOp::Butterfly(width) | LaneOp::Rotate(width) | LaneOp::SegmentLast(width) => lanes(width),
        LaneOp::Fold { width, .. } | LaneOp::Segmented { width, .. } | LaneOp::Sort { width } => lanes(width),
        LaneOp::Vote { group, .. } | LaneOp::LaneIndex(group) | LaneOp::LaneCount(group) => group_span(group),
        LaneOp::ShuffleNv(_) => nv_width(request.inputs[2].known)?,
        LaneOp::ShuffleNvValid(_) => nv_width(request.inputs[1].known)?,
        _ => 1,
    })
}

fn group_span(group: Group) -> u32 {
    match group {
        Group::Subgroup | Group::Warp => 1,
        Group::Quad => 4,
        Group::Segment(width) => width.lanes().unwrap_or(1),
    }
}

/// NV_shader_thread_shuffle: the width is 2, 4, 8, 16 or 32; one that is not constant is the shader's own business.
fn nv_width(width: Known) -> Result<u32, Refusal> {
    match width {
        Known::Constant(lanes) if lanes.is_power_of_two() && (2..=32).contains(&lanes) => Ok(lanes),
        Known::Constant(_) => Err(Refusal::BadOperand("the width must be 2, 4, 8, 16 or 32")),
        _ => Ok(1),
    }
}
