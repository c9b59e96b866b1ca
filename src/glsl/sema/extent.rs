//! The size and depth of types. They are limited at declarations, because later passes recurse over composites and take
//! some of them apart part by part.

use super::Sema;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::extended::{self, Allowed, Family};
use crate::ir::build::Builder;
use crate::ir::layout::DEPTH_LIMIT;
use crate::ir::{ArrayLen, Type, TypeId};
use crate::source::Span;

/// Bytes of the largest type; offsets in it have 32 bits.
const LARGEST: u64 = u32::MAX as u64;

/// Scalars and vectors of the largest composite that is compared part by part.
const COMPARED: u64 = 1 << 16;

/// Members of the largest struct, nested structs included: copies between layouts name each.
const MEMBERS: u32 = 1 << 14;

/// The extent of a type.
#[derive(Clone, Copy, Debug)]
struct Extent {
    bytes: u64,
    /// Scalars, vectors and matrices in it.
    parts: u64,
    /// The number of parts if an array counts as one element.
    members: u32,
    /// Number of structs and arrays around the innermost one.
    depth: u32,
    /// The families of its scalars that extensions provide ([`Family::bit`]).
    extended: u8,
}

const NOTHING: Extent = Extent { bytes: 0, parts: 0, members: 0, depth: 0, extended: 0 };

/// Extents by the index of their type.
#[derive(Debug, Default)]
pub struct Extents(Vec<Option<Extent>>);

impl Extents {
    /// Recurses only into types that have not been measured: declarations are measured from the inside out.
    fn of(&mut self, b: &Builder<'_>, ty: TypeId) -> Extent {
        if let Some(known) = self.0.get(ty.index()).copied().flatten() {
            return known;
        }
        let extent = self.measure(b, ty);
        if self.0.len() <= ty.index() {
            self.0.resize((ty.index() + 1).next_power_of_two().max(32), None);
        }
        self.0[ty.index()] = Some(extent);
        extent
    }

    fn measure(&mut self, b: &Builder<'_>, ty: TypeId) -> Extent {
        let types = &b.module.types;
        let extended = types.scalar_of(ty).and_then(extended::family).map_or(0, Family::bit);
        let leaf = |count: u32, bytes: u32| {
            let bytes = u64::from(count * bytes);
            Extent { bytes, parts: 1, members: 1, depth: 0, extended }
        };
        match types.get(ty) {
            Type::Scalar(scalar) => leaf(1, scalar.bytes()),
            Type::Vector { scalar, size } => leaf(u32::from(size), scalar.bytes()),
            Type::Matrix { scalar, columns, rows, .. } => leaf(u32::from(columns) * u32::from(rows), scalar.bytes()),
            Type::Array { element, len, .. } => {
                let count = if let ArrayLen::Fixed(count) = len { u64::from(count) } else { 1 };
                let one = self.of(b, element);
                let (bytes, parts) = (one.bytes.saturating_mul(count), one.parts.saturating_mul(count));
                Extent { bytes, parts, depth: one.depth + 1, ..one }
            }
            Type::Struct(id) => {
                let all = types.structs[id].members.iter().map(|member| self.of(b, member.ty)).fold(NOTHING, beside);
                Extent { depth: all.depth + 1, ..all }
            }
            Type::BufferReference { .. } => leaf(1, 8),
            _ => leaf(1, 1),
        }
    }
}

/// The extent of two types side by side.
fn beside(a: Extent, b: Extent) -> Extent {
    Extent {
        bytes: a.bytes.saturating_add(b.bytes),
        parts: a.parts.saturating_add(b.parts),
        members: a.members.saturating_add(b.members),
        depth: a.depth.max(b.depth),
        extended: a.extended | b.extended,
    }
}

impl Sema<'_> {
    /// The type, unless it is too large or too deep.
    pub fn bounded(&mut self, b: &Builder<'_>, ty: TypeId, span: Span) -> Option<TypeId> {
        let Extent { bytes, members, depth, .. } = self.extents.of(b, ty);
        let complaint = if depth >= DEPTH_LIMIT {
            Diagnostic::error(Code::TOO_DEEP, format!("structs and arrays are nested deeper than {DEPTH_LIMIT} levels"))
        } else if bytes > LARGEST {
            Diagnostic::error(Code::BAD_TYPE, "a type cannot be larger than 4 GiB")
        } else if members > MEMBERS {
            Diagnostic::error(Code::BAD_TYPE, format!("a struct cannot have more than {MEMBERS} members in all"))
        } else {
            return Some(ty);
        };
        self.report(complaint.at(span, "this type"));
        None
    }

    /// The type, unless only blocks may contain a part of it with the enabled extensions.
    pub fn usable(&mut self, b: &Builder<'_>, ty: TypeId, span: Span) -> Option<TypeId> {
        let bits = self.extents.of(b, ty).extended;
        let Some(family) = extended::families(bits).find(|family| family.allowed(&self.env) != Allowed::Everything)
        else {
            return Some(ty);
        };
        let name = self.type_name(b, ty);
        let message = format!("`{name}` outside blocks needs the extension {}", family.extension());
        let note = format!("add `#extension {} : require`", family.extension());
        self.report(Diagnostic::error(Code::MISSING_EXTENSION, message).at(span, "only blocks may hold it").note(note));
        None
    }

    /// Checks that values of the type can be compared, which takes an operation per part.
    pub fn check_comparable(&mut self, b: &Builder<'_>, ty: TypeId, whole: Span) -> Option<()> {
        let parts = self.extents.of(b, ty).parts;
        if parts <= COMPARED {
            return Some(());
        }
        let message = format!("comparing these takes {parts} operations");
        self.error(Code::BAD_OPERANDS, whole, message, format!("more than {COMPARED}; write a loop"));
        None
    }
}
