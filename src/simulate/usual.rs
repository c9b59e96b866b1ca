//! Default buffer contents: numbers of the buffer's type, as many as the invocations reach.

use super::Shader;
use super::element::Element;
use crate::ir::{ArrayLen, Module, ScalarKind, Type, TypeId};
use crate::kernel::Buffer;

/// A content as [`super::fill::bytes`] reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usual {
    pub element: Element,
    pub fill: String,
}

/// The contents of a buffer for this many invocations: the numbers from 0 on, or zeros for a written buffer if others
/// are read.
pub fn usual(shader: &Shader, buffer: &Buffer, invocations: u32) -> Usual {
    let ty = shader.ty(buffer);
    let element = element(&shader.module, ty).unwrap_or(Element::U32);
    let open = stride(&shader.module, ty).unwrap_or(0) as usize * invocations as usize;
    let count = (buffer.bytes as usize + open).div_ceil(element.bytes());
    let is_input = !buffer.is_writable() || shader.kernel.buffers.iter().all(Buffer::is_writable);
    let kind = if is_input { "iota" } else { "zeros" };
    Usual { element, fill: format!("{kind}:{}:{count}", element.name()) }
}

/// The scalar type at the end of a type: the element of its runtime array if there is one, otherwise the first member's
/// scalar.
fn element(module: &Module, ty: TypeId) -> Option<Element> {
    match module.types.get(ty) {
        Type::Scalar(scalar) | Type::Vector { scalar, .. } | Type::Matrix { scalar, .. } => {
            let bytes = if scalar.kind == ScalarKind::Bool { 4 } else { usize::from(scalar.width) / 8 };
            Some(match scalar.kind {
                ScalarKind::Float => Element::Float { bytes },
                kind => Element::Int { bytes, signed: kind == ScalarKind::Sint },
            })
        }
        Type::Array { element: of, .. } => element(module, of),
        Type::Struct(id) => {
            let members = &module.types.structs[id].members;
            let last = members.last().filter(|member| stride(module, member.ty).is_some());
            last.into_iter().chain(members).find_map(|member| element(module, member.ty))
        }
        _ => None,
    }
}

/// Bytes from an element of an open array to the next.
fn stride(module: &Module, ty: TypeId) -> Option<u32> {
    match module.types.get(ty) {
        Type::Array { len: ArrayLen::Runtime, stride, .. } => stride,
        Type::Struct(id) => stride(module, module.types.structs[id].members.last()?.ty),
        _ => None,
    }
}
