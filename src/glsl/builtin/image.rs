//! Calls of texture and image functions: splits `P` into coordinates, divisor and depth reference (GLSL 4.60 section
//! 8.9), and puts the operands in the intermediate form's order.

use super::emit::{Operation, Parts, operand};
use super::scopes;
use crate::grammar::{ImageRole, Opaque, OpaqueClass};
use crate::ir::build::Builder;
use crate::ir::{ImageOp, ImageParts, Scalar, Types, Value};
use smallvec::SmallVec;

/// A part with one operand; each of the two gradients is a separate part here.
type Part = (ImageParts, Value);

/// Emits the operation; its row describes the result.
pub(super) fn emit(builder: &mut Builder<'_>, call: &Operation<'_>, op: ImageOp, roles: &[ImageRole]) -> Parts {
    let image = call.args[0];
    let Some((opaque, _)) = Opaque::of(&builder.module.types, image.ty) else { return Parts::None };
    let mut parts: SmallVec<[Part; 8]> = SmallVec::new();
    let mut how: SmallVec<[Value; 5]> = SmallVec::new();
    for (index, role) in roles.iter().enumerate().skip(1) {
        if *role == ImageRole::Texel {
            continue;
        }
        let value = operand(builder, call.chosen, index, call.args[index].value);
        match part_of(*role) {
            None => how.push(value),
            Some(ImageParts::COORDINATE) => split(builder, op, opaque, value, &mut parts),
            Some(part) => parts.push((part, value)),
        }
    }
    let op = with_scope(builder, op, &how);
    if opaque.class == OpaqueClass::Subpass {
        let ty = builder.module.types.vector(Scalar::I32, 2);
        let zero = builder.const_i32(0);
        let here = builder.construct(ty, &[zero, zero]);
        parts.push((ImageParts::COORDINATE, here));
    }
    choose_level(builder, call.has_quads, op, &mut parts);
    // A separate depth reference replaces the component of P, because there is only one.
    parts.sort_by_key(|(part, _)| part.bits());
    let mask = parts.iter().fold(ImageParts::empty(), |all, (part, _)| all | *part);
    let operands: SmallVec<[Value; 8]> = std::iter::once(image.value).chain(parts.iter().map(|(_, v)| *v)).collect();
    if let Some(texel) = roles.iter().position(|role| *role == ImageRole::Texel) {
        let texel = call.chosen.param(texel).intern(&mut builder.module.types);
        let pair = builder.module.types.pair(Types::I32, texel);
        let both = builder.image(op, mask, &operands, pair);
        return Parts::Two(builder.extract(both, 0), builder.extract(both, 1));
    }
    let value = builder.image(op, mask, &operands, call.ty);
    if call.ty == Types::VOID { Parts::None } else { Parts::One(value) }
}

/// An atomic operation with its constant arguments.
fn with_scope(builder: &Builder<'_>, op: ImageOp, how: &[Value]) -> ImageOp {
    match op {
        ImageOp::Atomic(op, ..) => {
            let (scope, order) = scopes::of_atomic(builder, how);
            ImageOp::Atomic(op, scope, order)
        }
        _ => op,
    }
}

/// The part of an argument; `None` if it is a memory order.
const fn part_of(role: ImageRole) -> Option<ImageParts> {
    Some(match role {
        ImageRole::Image | ImageRole::Coordinate => ImageParts::COORDINATE,
        ImageRole::Bias => ImageParts::BIAS,
        ImageRole::Lod => ImageParts::LOD,
        ImageRole::GradientX | ImageRole::GradientY => ImageParts::GRADIENTS,
        ImageRole::Offset => ImageParts::OFFSET,
        ImageRole::Offsets => ImageParts::OFFSETS,
        ImageRole::Component => ImageParts::COMPONENT,
        ImageRole::Reference => ImageParts::REFERENCE,
        ImageRole::Sample => ImageParts::SAMPLE,
        ImageRole::Compared => ImageParts::COMPARED,
        ImageRole::Data => ImageParts::DATA,
        ImageRole::Other => ImageParts::OTHER,
        ImageRole::OtherCoordinate => ImageParts::OTHER_COORDINATE,
        ImageRole::Extent => ImageParts::EXTENT,
        ImageRole::MinLod => ImageParts::MIN_LOD,
        ImageRole::How | ImageRole::Texel => return None,
    })
}

/// Only invocations in quads know the size of a pixel in a texture; the others use the base level (section 8.9).
fn choose_level(builder: &mut Builder<'_>, has_quads: bool, op: ImageOp, parts: &mut SmallVec<[Part; 8]>) {
    let samples = matches!(op, ImageOp::Sample | ImageOp::SampleProjected);
    let explicit = parts.iter().any(|(part, _)| part.intersects(ImageParts::LOD | ImageParts::GRADIENTS));
    if samples && !explicit && !has_quads {
        parts.push((ImageParts::LOD, builder.const_f32(0.0)));
    }
}

/// Splits `P`.
fn split(builder: &mut Builder<'_>, op: ImageOp, opaque: Opaque, p: Value, parts: &mut SmallVec<[Part; 8]>) {
    let given = builder.components_of(p);
    let wanted = match op {
        ImageOp::SampleProjected | ImageOp::QueryLod => opaque.dimensions(),
        _ => opaque.coordinates(),
    };
    let compares = matches!(op, ImageOp::Sample | ImageOp::SampleProjected) && opaque.shadow;
    let reference = wanted.max(2);
    if compares && reference < given {
        parts.push((ImageParts::REFERENCE, component(builder, p, reference)));
    }
    let mut picked: SmallVec<[u8; 4]> = (0..wanted.min(given)).collect();
    if op == ImageOp::SampleProjected {
        picked.push(given - 1);
    }
    let coordinate = match picked.len() {
        len if len == usize::from(given) => p,
        1 => component(builder, p, 0),
        _ => builder.swizzle(p, &picked),
    };
    parts.push((ImageParts::COORDINATE, coordinate));
}

fn component(builder: &mut Builder<'_>, vector: Value, index: u8) -> Value {
    builder.extract(vector, u32::from(index))
}
