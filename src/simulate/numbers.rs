//! The numbers in a buffer, by the type that the shader declares.

use super::element::Element;
use crate::ir::{Module, Scalar, ScalarKind, Type, TypeId};

/// The scalar that begins at a byte of a type; `None` in padding and inside numbers.
pub fn scalar_at(module: &Module, ty: TypeId, at: usize) -> Option<Scalar> {
    let among = |scalar: Scalar, count: u8, at: usize| {
        let bytes = scalar.bytes() as usize;
        (at.is_multiple_of(bytes) && at / bytes < usize::from(count)).then_some(scalar)
    };
    match module.types.get(ty) {
        Type::Scalar(scalar) => among(scalar, 1, at),
        Type::Vector { scalar, size } => among(scalar, size, at),
        Type::Matrix { scalar, columns, rows, layout } => {
            let layout = layout?;
            let (vectors, size) = if layout.row_major { (rows, columns) } else { (columns, rows) };
            let (vector, at) = (at / layout.stride as usize, at % layout.stride as usize);
            (vector < usize::from(vectors)).then(|| among(scalar, size, at)).flatten()
        }
        Type::Array { element, stride, .. } => {
            scalar_at(module, element, at % stride.filter(|stride| *stride > 0)? as usize)
        }
        Type::Struct(id) => {
            let members = module.types.structs[id].members.iter().rev();
            let mut placed = members.filter_map(|member| Some((member.ty, member.offset? as usize)));
            let (ty, offset) = placed.find(|(_, offset)| *offset <= at)?;
            scalar_at(module, ty, at - offset)
        }
        _ => None,
    }
}

/// The numbers in the first bytes of a type: their offsets and their printed types. Bytes outside the type are words.
pub fn numbers(module: &Module, ty: TypeId, bytes: usize) -> Box<dyn Iterator<Item = (usize, Element)> + '_> {
    let mut places = places(module, ty, bytes).peekable();
    if places.peek().is_none() { Box::new(all(Element::U32, bytes)) } else { Box::new(places) }
}

fn places(module: &Module, ty: TypeId, bytes: usize) -> impl Iterator<Item = (usize, Element)> + '_ {
    let mut next = 0;
    std::iter::from_fn(move || {
        while next < bytes {
            let (at, found) = (next, scalar_at(module, ty, next).map(element));
            next += found.map_or(1, Element::bytes);
            if let Some(element) = found.filter(|_| next <= bytes) {
                return Some((at, element));
            }
        }
        None
    })
}

/// Consecutive numbers of one type.
pub fn all(element: Element, bytes: usize) -> impl Iterator<Item = (usize, Element)> {
    (0..bytes / element.bytes()).map(move |n| (n * element.bytes(), element))
}

/// The printed type of a scalar.
pub fn element(scalar: Scalar) -> Element {
    match (scalar.kind, scalar.bytes() as usize) {
        (ScalarKind::Float, bytes @ (2 | 4 | 8)) => Element::Float { bytes },
        (kind, bytes) => Element::Int { bytes, signed: kind == ScalarKind::Sint },
    }
}
