//! The memory layout of structs in a language, and padding members for blocks with other offsets.
//!
//! Sources: Microsoft's reference, "Packing Rules for Constant Variables"; DirectX Shader Compiler, "Buffer Packing";
//! Metal Shading Language Specification 2.2 and 2.3 (size and alignment of vectors, packed vectors and matrices); WGSL
//! 14.4.1 (Alignment and Size).

use super::writer::Writer;
use crate::ir::{ArrayLen, MatrixLayout, Scalar, StructId, Type, TypeId};
use std::rc::Rc;

/// The rules of a kind of buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Packing {
    /// Rows of 16 bytes that no member crosses; arrays and structs start a new row.
    Rows,
    /// C's rules: each at a multiple of its scalar's size.
    Scalars,
    /// C++'s rules: vectors are aligned to their size, three components as four, unless they are packed.
    Vectors,
    /// C++'s rules, but vectors of three components end after the third, and larger sizes of members move the following
    /// ones.
    Sized,
    /// The language's free choice, for memory that only the shader sees.
    Free,
}

impl Packing {
    /// Returns true if vectors have their own alignment.
    const fn aligns_vectors(self) -> bool {
        matches!(self, Packing::Vectors | Packing::Sized | Packing::Free)
    }

    /// Returns true if explicit sizes of members replace padding.
    pub const fn is_sized(self) -> bool {
        matches!(self, Packing::Sized | Packing::Free)
    }
}

/// How a struct is in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct How {
    pub packing: Packing,
    /// Stride in bytes, if it is an array's element.
    pub stride: Option<u32>,
    /// Alignment of all of its addresses, at most [`MOST_ALIGN`].
    align: u32,
}

/// The largest alignment of any type.
const MOST_ALIGN: u32 = 16;

impl How {
    /// A block, or the whole content of a buffer.
    pub const fn of(packing: Packing) -> How {
        How { packing, stride: None, align: MOST_ALIGN }
    }

    /// A member this many bytes from the start.
    fn member(self, offset: u32) -> How {
        How { stride: None, align: self.aligned(offset), ..self }
    }

    /// An element of an array with this stride.
    pub fn element(self, stride: u32) -> How {
        How { stride: Some(stride), align: self.aligned(stride), ..self }
    }

    /// The layout without a stride.
    pub const fn alone(self) -> How {
        How { stride: None, ..self }
    }

    /// The alignment at this byte offset, which decides how vectors are written.
    const fn aligned(self, bytes: u32) -> u32 {
        let other = multiple_of(bytes);
        if self.packing.is_sized() || self.align < other { self.align } else { other }
    }
}

/// The largest alignment that divides a number of bytes.
const fn multiple_of(bytes: u32) -> u32 {
    if bytes.is_multiple_of(MOST_ALIGN) { MOST_ALIGN } else { 1 << bytes.trailing_zeros() }
}

/// Bytes of a buffer reference.
const ADDRESS: u32 = 8;

/// Bytes of a row of a constant buffer.
const ROW: u32 = 16;

/// Size of a type without trailing padding, and its alignment.
#[derive(Clone, Copy, Debug)]
struct Extent {
    size: u32,
    align: u32,
}

/// A member, or padding before one.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Member(usize),
    /// This many bytes from an offset on.
    Pad {
        offset: u32,
        bytes: u32,
    },
}

/// A struct as the language lays it out.
#[derive(Debug)]
pub(super) struct Laid {
    /// Its members and padding.
    pub parts: Vec<Part>,
    /// For each member, the layout of structs in it, and true if its vectors are packed.
    pub members: Vec<(How, bool)>,
    extent: Extent,
}

/// How a scalar or vector in memory is spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fit {
    /// Its own type.
    Own,
    /// A packed vector.
    Packed,
    /// The first components of a vector of this length.
    First(u8),
    /// The member of a struct with the size of the stride.
    Wrapped,
}

/// A struct with its layout; `None` if the language cannot give a member its offset.
pub(super) fn lay_out(t: &mut Writer, id: StructId, how: How) -> Option<Rc<Laid>> {
    if let Some(known) = t.laid.get(&(id, how)) {
        return known.clone();
    }
    let made = laid(t, id, how).map(Rc::new);
    t.laid.insert((id, how), made.clone());
    made
}

fn laid(t: &mut Writer, id: StructId, how: How) -> Option<Laid> {
    let packing = how.packing;
    let items = t.types.structs[id].members.clone();
    let (mut parts, mut members) = (Vec::new(), Vec::new());
    let (mut end, mut align) = (0, if packing == Packing::Rows { ROW } else { 1 });
    for (index, member) in items.iter().enumerate() {
        let Some(wanted) = member.offset else {
            // Memory without a layout.
            (packing == Packing::Free).then_some(())?;
            parts.push(Part::Member(index));
            members.push((How::of(packing), false));
            continue;
        };
        let next = items.get(index + 1).map_or(how.stride, |next| next.offset);
        let room = next.and_then(|next| next.checked_sub(wanted));
        let (own, is_packed) = member_extent(t, member.ty, how.member(wanted), room)?;
        let natural = |at: u32| match packing {
            Packing::Rows if at % ROW + own.size > ROW => at.next_multiple_of(ROW.max(own.align)),
            _ => at.next_multiple_of(own.align),
        };
        if natural(end) != wanted {
            parts.push(pad(packing, end, wanted)?);
            end = wanted;
            if natural(end) != wanted {
                return None;
            }
        }
        parts.push(Part::Member(index));
        members.push((how.member(wanted), is_packed));
        end = wanted.checked_add(own.size)?;
        align = align.max(own.align);
    }
    if let Some(stride) = how.stride
        && end.next_multiple_of(align) != stride
    {
        parts.push(pad(packing, end, stride)?);
        end = stride;
    }
    let size = if packing == Packing::Rows { end } else { end.next_multiple_of(align) };
    (size == end || how.stride.is_none_or(|stride| size == stride)).then_some(())?;
    Some(Laid { parts, members, extent: Extent { size, align } })
}

fn pad(packing: Packing, from: u32, to: u32) -> Option<Part> {
    let is_whole = packing.aligns_vectors() || from.is_multiple_of(4) && to.is_multiple_of(4);
    (is_whole && from < to).then(|| Part::Pad { offset: from, bytes: to - from })
}

/// The extent of a member, and true if its vectors must be packed. Without a next member, the space after it is
/// unlimited.
fn member_extent(t: &mut Writer, ty: TypeId, how: How, room: Option<u32>) -> Option<(Extent, bool)> {
    let is_in = |of: &Extent, t: &Writer| {
        let most = room.unwrap_or_else(|| least_size(t, ty).unwrap_or(of.size));
        of.align <= how.align && of.size <= most
    };
    if let Some(own) = extent(t, ty, how, false).filter(|of| how.packing != Packing::Vectors || is_in(of, t)) {
        return Some((own, false));
    }
    let packed = (how.packing == Packing::Vectors).then(|| extent(t, ty, how, true)).flatten();
    packed.filter(|of| of.align <= how.align).map(|of| (of, true))
}

/// The minimum size of a vector in bytes.
fn least_size(t: &Writer, ty: TypeId) -> Option<u32> {
    let (scalar, size) = t.shape(ty)?;
    Some(bytes(scalar) * u32::from(size))
}

/// Size of a scalar in memory; bools are words.
pub(super) const fn bytes(scalar: Scalar) -> u32 {
    if scalar.is_bool() { 4 } else { scalar.width as u32 / 8 }
}

/// The language's size and alignment of a laid-out type, if its layout is the same.
fn extent(t: &mut Writer, ty: TypeId, how: How, is_packed: bool) -> Option<Extent> {
    let packing = how.packing;
    Some(match t.types.get(ty) {
        Type::Scalar(scalar) => Extent { size: bytes(scalar), align: bytes(scalar) },
        Type::Vector { scalar, size } => vector_extent(packing, (scalar, size), is_packed),
        Type::Matrix { scalar, columns, rows, layout } if packing.is_sized() => {
            let layout = layout?;
            let (count, each) = if layout.row_major { (rows, columns) } else { (columns, rows) };
            let part = t.types.vector(scalar, each);
            let align = element_extent(t, part, how.element(layout.stride), false)?.align;
            Extent { size: layout.stride.checked_mul(count.into())?, align }
        }
        Type::Matrix { scalar, columns, rows, layout } => {
            let layout = layout?;
            let (count, each) = if layout.row_major { (rows, columns) } else { (columns, rows) };
            let of = vector_extent(packing, (scalar, each), false);
            let natural = if packing == Packing::Rows { of.size.next_multiple_of(ROW) } else { of.size };
            let has_order = packing != Packing::Vectors || !layout.row_major && !scalar.is_bool();
            if layout.stride != natural || !has_order {
                return None;
            }
            let align = if packing == Packing::Rows { ROW } else { of.align };
            Extent { size: natural * (u32::from(count) - 1) + of.size, align }
        }
        Type::Array { element, len, stride } => {
            let stride = stride?;
            let of = element_extent(t, element, how.element(stride), is_packed)?;
            let natural = match packing {
                Packing::Rows => of.size.next_multiple_of(ROW),
                _ => of.size.next_multiple_of(of.align),
            };
            if natural != stride {
                return None;
            }
            let count = if let ArrayLen::Fixed(count) = len { count } else { 1 };
            let align = if packing == Packing::Rows { ROW } else { of.align };
            let last = if packing.is_sized() { stride } else { of.size };
            Extent { size: stride.checked_mul(count - 1)?.checked_add(last)?, align }
        }
        Type::BufferReference { .. } => Extent { size: ADDRESS, align: ADDRESS },
        Type::Struct(id) => lay_out(t, id, how)?.extent,
        _ => return None,
    })
}

/// Returns true if a language that pads by sizes lays out a matrix so.
pub(super) const fn is_natural(scalar: Scalar, rows: u8, layout: MatrixLayout) -> bool {
    !layout.row_major && layout.stride == bytes(scalar) * (rows as u32).next_power_of_two()
}

fn vector_extent(packing: Packing, (scalar, size): (Scalar, u8), is_packed: bool) -> Extent {
    let each = bytes(scalar);
    let (own, whole) = (each * u32::from(size), each * u32::from(size).next_power_of_two());
    match packing {
        Packing::Vectors if !is_packed => Extent { size: whole, align: whole },
        Packing::Sized | Packing::Free => Extent { size: own, align: whole },
        _ => Extent { size: own, align: each },
    }
}

/// The extent of an array's element; padding members may extend it to the stride.
fn element_extent(t: &mut Writer, ty: TypeId, how: How, is_packed: bool) -> Option<Extent> {
    let (true, Some(shape), Some(stride)) = (how.packing.aligns_vectors(), t.shape(ty), how.stride) else {
        return extent(t, ty, how, is_packed);
    };
    match fit(t, ty, how, is_packed)? {
        Fit::First(size) => Some(vector_extent(how.packing, (shape.0, size), false)),
        Fit::Wrapped => Some(Extent { size: stride, ..vector_extent(how.packing, shape, false) }),
        _ => extent(t, ty, how, is_packed),
    }
}

/// The spelling of a scalar or vector, in an array or alone; `None` if it is impossible.
pub(super) fn fit(t: &Writer, ty: TypeId, how: How, is_packed: bool) -> Option<Fit> {
    let (scalar, size) = t.shape(ty)?;
    let of = vector_extent(Packing::Vectors, (scalar, size), is_packed);
    let own = of.size;
    let fits = if is_packed && size > 1 { Fit::Packed } else { Fit::Own };
    match how.stride {
        None => Some(fits),
        Some(stride) if stride == own => Some(fits),
        Some(_) if is_packed => None,
        Some(stride) => {
            let count = (stride / bytes(scalar)) as u8;
            let is_whole = stride.is_multiple_of(bytes(scalar)) && matches!(count, 2 | 4) && count > size;
            let is_wrapped = how.packing.is_sized() && stride > own && stride.is_multiple_of(of.align);
            is_whole.then_some(Fit::First(count)).or(is_wrapped.then_some(Fit::Wrapped))
        }
    }
}

/// The layout of the elements of a whole buffer, and true if they are packed, if the language's layout matches.
pub(super) fn elements(t: &mut Writer, element: TypeId, packing: Packing, stride: u32) -> Option<bool> {
    let how = How::of(packing).element(stride);
    let is_it = |of: Extent| of.size.next_multiple_of(of.align) == stride && of.align <= how.align;
    let lies = |t: &mut Writer, is_packed| element_extent(t, element, how, is_packed).is_some_and(is_it);
    if lies(t, false) {
        return Some(false);
    }
    (packing == Packing::Vectors && lies(t, true)).then_some(true)
}

/// Bytes of a laid-out struct.
pub(super) fn size_of(t: &Writer, of: StructId) -> u32 {
    let ends = t.types.structs[of].members.iter().map(|member| member.offset.unwrap_or(0) + size(t, member.ty));
    ends.max().unwrap_or(0)
}

fn size(t: &Writer, ty: TypeId) -> u32 {
    match t.types.get(ty) {
        Type::Matrix { columns, rows, layout: Some(layout), .. } => {
            layout.stride * u32::from(if layout.row_major { rows } else { columns })
        }
        Type::Array { len: ArrayLen::Fixed(len), stride: Some(stride), .. } => stride.saturating_mul(len),
        Type::BufferReference { .. } => ADDRESS,
        Type::Struct(of) => size_of(t, of),
        _ => {
            let each = t.types.scalar_of(ty).map_or(4, bytes);
            u32::from(t.types.components(ty).unwrap_or(1)) * each
        }
    }
}
