//! The conditions on a request that are checked before any rule: the operands fit the operation, and the widths fit the
//! subgroup.

use crate::lane::request::{Input, Known, LaneType, Refusal, Request, ScalarKind};
use crate::lane::signature::Role;
use crate::profile::Profile;

/// The minimum number of lanes of the subgroup; an error if the request makes no sense or spans too many.
pub fn least_size(request: &Request, profile: &Profile) -> Result<u32, Refusal> {
    check_operands(request)?;
    check_types(request, profile)?;
    let width = spanned(request)?;
    match profile.wave_size {
        Some(size) if width > size => Err(Refusal::TooWide { width, size }),
        _ => Ok(width),
    }
}

fn check_operands(request: &Request) -> Result<(), Refusal> {
    let (count, signature) = (request.inputs.len(), request.op.signature());
    let (least, most) = signature.arity();
    if !(least..=most).contains(&count) {
        return Err(Refusal::BadOperand("wrong number of operands"));
    }
    let bad = request.inputs.iter().zip(signature.params).any(|(input, param)| !takes(param.role, input.ty));
    if bad { Err(Refusal::BadOperand("the operation does not take operands of this type")) } else { Ok(()) }
}

fn check_types(request: &Request, profile: &Profile) -> Result<(), Refusal> {
    let is_there = |ty: LaneType| ty.kind == ScalarKind::Bool || profile.has_width(ty.is_float(), ty.width);
    match request.inputs.iter().find(|input| !is_there(input.ty)) {
        Some(Input { ty, .. }) => {
            let why = profile.lacks_type(&ty.kind.name(ty.width), ty.is_float(), ty.width);
            Err(Refusal::NoType { ty: *ty, why: why.into() })
        }
        None => Ok(()),
    }
}

/// Returns true if an operand of a role may have the type: bits are integers and bools, keys single numbers.
fn takes(role: Role, ty: LaneType) -> bool {
    match role {
        Role::Bits => ty.kind != ScalarKind::Float,
        Role::Number | Role::SameNumber => ty.kind != ScalarKind::Bool,
        Role::Key | Role::Rider => ty.components == 1,
        _ => true,
    }
}

/// Lanes that the operation spans regardless of the subgroup's size; 1 if it adapts to the size.
fn spanned(request: &Request) -> Result<u32, Refusal> {
    let signature = request.op.signature();
    match signature.position(Role::NvWidth) {
        Some(width) => nv_width(request.inputs[width].known),
        None => Ok(signature.span.lanes()),
    }
}

/// NV_shader_thread_shuffle: a constant width must be 2, 4, 8, 16 or 32; others are the shader's responsibility.
fn nv_width(width: Known) -> Result<u32, Refusal> {
    match width {
        Known::Constant(lanes) if lanes.is_power_of_two() && (2..=32).contains(&lanes) => Ok(lanes),
        Known::Constant(_) => Err(Refusal::BadOperand("the width must be 2, 4, 8, 16 or 32")),
        _ => Ok(1),
    }
}
