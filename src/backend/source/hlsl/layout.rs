//! Where the language puts members of constant buffers and of structured buffers, and members that pad where a block has them
//! elsewhere (Microsoft's reference, "Packing Rules for Constant Variables"; DirectX Shader Compiler, "Buffer Packing").

use crate::backend::source::writer::Writer;
use crate::ir::{ArrayLen, Scalar, StructId, Type, TypeId};

/// The rules of a kind of buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Packing {
    /// Rows of 16 bytes, which nothing crosses; arrays and structs begin one.
    Rows,
    /// As in C: each at a multiple of its scalar's size.
    Scalars,
}

/// Bytes of a row of a constant buffer.
const ROW: u32 = 16;

/// Size of a type without what follows it, and the multiple that it begins at.
#[derive(Clone, Copy, Debug)]
struct Extent {
    size: u32,
    align: u32,
}

/// A member, or what comes before one.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Member(usize),
    /// So many words from an offset on.
    Pad {
        offset: u32,
        words: u32,
    },
}

/// A struct as the language lays it out.
#[derive(Debug)]
pub(super) struct Laid {
    /// Its members with what pads them.
    pub parts: Vec<Part>,
    extent: Extent,
}

/// A laid-out struct, `stride` bytes long where it is an array's element; none where the language cannot put a member where
/// it is.
pub(super) fn lay_out(t: &Writer, id: StructId, packing: Packing, stride: Option<u32>) -> Option<Laid> {
    let mut parts = Vec::new();
    let (mut end, mut align) = (0, if packing == Packing::Rows { ROW } else { 1 });
    for (index, member) in t.types.structs[id].members.iter().enumerate() {
        let wanted = member.offset?;
        let own = extent(t, member.ty, packing)?;
        let natural = |at: u32| match packing {
            Packing::Rows if at % ROW + own.size > ROW => at.next_multiple_of(ROW.max(own.align)),
            _ => at.next_multiple_of(own.align),
        };
        if natural(end) != wanted {
            parts.push(pad(end, wanted)?);
            end = wanted;
            if natural(end) != wanted {
                return None;
            }
        }
        parts.push(Part::Member(index));
        end = wanted.checked_add(own.size)?;
        align = align.max(own.align);
    }
    if let Some(stride) = stride
        && end.next_multiple_of(align) != stride
    {
        parts.push(pad(end, stride)?);
        end = stride;
    }
    let size = if packing == Packing::Scalars { end.next_multiple_of(align) } else { end };
    Some(Laid { parts, extent: Extent { size, align } })
}

fn pad(from: u32, to: u32) -> Option<Part> {
    let is_whole = from.is_multiple_of(4) && to.is_multiple_of(4) && from < to;
    is_whole.then(|| Part::Pad { offset: from, words: (to - from) / 4 })
}

/// Bytes of a scalar in memory: bools are words.
pub(super) const fn bytes(scalar: Scalar) -> u32 {
    if scalar.is_bool() { 4 } else { scalar.width as u32 / 8 }
}

/// Size and alignment that the language gives a laid-out type, where these are the type's own.
fn extent(t: &Writer, ty: TypeId, packing: Packing) -> Option<Extent> {
    Some(match t.types.get(ty) {
        Type::Scalar(scalar) => Extent { size: bytes(scalar), align: bytes(scalar) },
        Type::Vector { scalar, size } => Extent { size: bytes(scalar) * u32::from(size), align: bytes(scalar) },
        Type::Matrix { scalar, columns, rows, layout } => {
            let layout = layout?;
            let (count, each) = if layout.row_major { (rows, columns) } else { (columns, rows) };
            let line = bytes(scalar) * u32::from(each);
            let natural = if packing == Packing::Rows { line.next_multiple_of(ROW) } else { line };
            if layout.stride != natural {
                return None;
            }
            let align = if packing == Packing::Rows { ROW } else { bytes(scalar) };
            Extent { size: natural * (u32::from(count) - 1) + line, align }
        }
        Type::Array { element, len, stride } => {
            let (of, stride) = (element_extent(t, element, packing, stride?)?, stride?);
            let natural = match packing {
                Packing::Rows => of.size.next_multiple_of(ROW),
                Packing::Scalars => of.size.next_multiple_of(of.align),
            };
            if natural != stride {
                return None;
            }
            let count = if let ArrayLen::Fixed(count) = len { count } else { 1 };
            let align = if packing == Packing::Rows { ROW } else { of.align };
            Extent { size: stride.checked_mul(count - 1)? + of.size, align }
        }
        Type::Struct(id) => lay_out(t, id, packing, None)?.extent,
        _ => return None,
    })
}

/// The extent of an array's element, which members that pad may make as long as the stride.
fn element_extent(t: &Writer, ty: TypeId, packing: Packing, stride: u32) -> Option<Extent> {
    match t.types.get(ty) {
        Type::Struct(id) => Some(lay_out(t, id, packing, Some(stride))?.extent),
        _ => extent(t, ty, packing),
    }
}

/// Returns true if the language lays an array's elements out as they are.
pub(super) fn lies_alike(t: &Writer, element: TypeId, packing: Packing, stride: u32) -> bool {
    element_extent(t, element, packing, stride).is_some_and(|of| of.size.next_multiple_of(of.align) == stride)
}
