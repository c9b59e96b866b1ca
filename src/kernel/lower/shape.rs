//! Types in the kernel form: the scalars of a value, and the bytes of memory.
//!
//! Laid-out types have the positions of their parts. Memory of other types (private and workgroup variables) is laid
//! out here: scalars, and vectors of two and of four, at multiples of their size; vectors of three like their scalars;
//! members one after the other.

use super::Scalars;
use crate::ir::constant::{ConstValue, sign_extend};
use crate::ir::fold::Specializer;
use crate::ir::{ArrayLen, ConstId, Constants, MatrixLayout, Module, Scalar, StructId, Type, TypeId, Types};
use crate::kernel::{Kernel, Ty, Value};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Scalars that a value may have.
pub const SCALAR_LIMIT: u32 = 1 << 16;

/// Size and alignment of memory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    pub size: u32,
    pub align: u32,
}

impl Extent {
    /// Stride of an array in bytes.
    fn stride(self) -> Option<u32> {
        self.size.checked_next_multiple_of(self.align)
    }
}

/// The values held by memory at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    Type(TypeId),
    /// A column of a matrix that is in rows.
    Column {
        scalar: Scalar,
        rows: u32,
        stride: u32,
    },
}

/// A part of memory contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    pub held: Held,
    /// Bytes from the whole to this part.
    pub offset: u32,
    /// Bytes from this part to the next; 0 for members of structs.
    pub stride: u32,
    /// Number of parts; `None` if it is known only at run time.
    pub count: Option<u32>,
}

/// The types and constants of a module, with values for its specialization constants.
pub struct Shapes {
    pub types: Types,
    pub constants: Constants,
    specializer: Specializer,
    given: FxHashMap<u32, u64>,
    scalars: FxHashMap<TypeId, Rc<[Scalar]>>,
    counts: FxHashMap<TypeId, Option<u32>>,
    extents: FxHashMap<TypeId, Option<Extent>>,
    /// Offset of each member, for structs without a layout.
    offsets: FxHashMap<StructId, Rc<[u32]>>,
    /// The first scalar of each member.
    firsts: FxHashMap<StructId, Rc<[u32]>>,
    values: FxHashMap<ConstId, Scalars>,
}

impl Shapes {
    pub fn new(module: &Module, given: Vec<(u32, u64)>) -> Shapes {
        Shapes {
            types: module.types.clone(),
            constants: module.constants.clone(),
            specializer: Specializer::new(),
            given: given.into_iter().collect(),
            scalars: FxHashMap::default(),
            counts: FxHashMap::default(),
            extents: FxHashMap::default(),
            offsets: FxHashMap::default(),
            firsts: FxHashMap::default(),
            values: FxHashMap::default(),
        }
    }

    // Constants.

    /// A constant without specialization constants; `None` if an operation in it is undefined.
    pub fn constant(&mut self, id: ConstId) -> Option<ConstId> {
        let Shapes { types, constants, specializer, given, .. } = self;
        specializer.get(types, constants, id, |number| given.get(&number).copied())
    }

    /// Value of an integer constant that counts something.
    pub fn number(&mut self, id: ConstId) -> Option<u32> {
        let known = self.constant(id)?;
        u32::try_from(self.constants.as_int(&self.types, known)?).ok()
    }

    /// Elements of an array; `None` if they are known only at run time, or the size is impossible.
    pub fn length(&mut self, len: ArrayLen) -> Option<u32> {
        match len {
            ArrayLen::Fixed(count) => Some(count),
            ArrayLen::Spec(id) => self.number(id),
            ArrayLen::Runtime => None,
        }
    }

    /// The scalars of a constant.
    pub fn values(&mut self, kernel: &mut Kernel, id: ConstId) -> Scalars {
        if let Some(known) = self.values.get(&id) {
            return known.clone();
        }
        let values = match self.constant(id) {
            Some(known) => self.known_values(kernel, known),
            None => self.uniform_values(kernel, id, |kernel, scalar| kernel.undefined(Ty::of(scalar))),
        };
        self.values.insert(id, values.clone());
        values
    }

    fn known_values(&mut self, kernel: &mut Kernel, id: ConstId) -> Scalars {
        let constant = self.constants.get(id);
        match constant.value.clone() {
            ConstValue::Bits(bits) => {
                let scalar = self.types.scalar_of(constant.ty).unwrap_or(Scalar::U32);
                Scalars::from_elem(kernel.constant(Ty::of(scalar), register_bits(scalar, bits)), 1)
            }
            ConstValue::Composite(parts) => parts.iter().flat_map(|part| self.values(kernel, *part)).collect(),
            ConstValue::Zero => self.uniform_values(kernel, id, |kernel, scalar| kernel.constant(Ty::of(scalar), 0)),
            _ => self.uniform_values(kernel, id, |kernel, scalar| kernel.undefined(Ty::of(scalar))),
        }
    }

    fn uniform_values(&mut self, kernel: &mut Kernel, id: ConstId, value: fn(&mut Kernel, Scalar) -> Value) -> Scalars {
        let ty = self.constants.get(id).ty;
        let scalars = self.scalars(ty);
        scalars.iter().map(|scalar| value(kernel, *scalar)).collect()
    }

    // Values.

    /// The scalars of a value of a type, at most [`SCALAR_LIMIT`]; an array without a size has none.
    pub fn scalars(&mut self, ty: TypeId) -> Rc<[Scalar]> {
        if let Some(known) = self.scalars.get(&ty) {
            return known.clone();
        }
        let mut list = Vec::new();
        if self.count(ty).is_some_and(|count| count <= SCALAR_LIMIT) {
            self.collect_scalars(ty, &mut list);
        }
        let list: Rc<[Scalar]> = list.into();
        self.scalars.insert(ty, list.clone());
        list
    }

    fn collect_scalars(&mut self, ty: TypeId, into: &mut Vec<Scalar>) {
        match self.types.get(ty) {
            Type::Scalar(scalar) => into.push(scalar),
            Type::BufferReference { .. } => into.push(Scalar { kind: crate::ir::ScalarKind::Uint, width: 64 }),
            Type::Vector { scalar, size } => into.extend(std::iter::repeat_n(scalar, size.into())),
            Type::Matrix { scalar, columns, rows, .. } => {
                into.extend(std::iter::repeat_n(scalar, usize::from(columns) * usize::from(rows)));
            }
            Type::Array { element, len, .. } => {
                let element = self.scalars(element);
                let count = self.length(len).unwrap_or(0);
                (0..count).for_each(|_| into.extend_from_slice(&element));
            }
            Type::Struct(id) => {
                let members = self.members(id);
                members.into_iter().for_each(|member| into.extend_from_slice(&self.scalars(member)));
            }
            _ => {}
        }
    }

    fn members(&self, id: StructId) -> Vec<TypeId> {
        self.types.structs[id].members.iter().map(|member| member.ty).collect()
    }

    /// Number of scalars in a value of a type; `None` if it is unknown or exceeds the numbers.
    pub fn count(&mut self, ty: TypeId) -> Option<u32> {
        if let Some(known) = self.counts.get(&ty) {
            return *known;
        }
        let count = match self.types.get(ty) {
            Type::Void => Some(0),
            Type::Scalar(_) | Type::BufferReference { .. } => Some(1),
            Type::Vector { size, .. } => Some(size.into()),
            Type::Matrix { columns, rows, .. } => Some(u32::from(columns) * u32::from(rows)),
            Type::Array { element, len, .. } => {
                let element = self.count(element);
                self.length(len).zip(element).and_then(|(len, element)| len.checked_mul(element))
            }
            Type::Struct(id) => {
                let members = self.members(id);
                members.into_iter().try_fold(0u32, |sum, member| sum.checked_add(self.count(member)?))
            }
            _ => None,
        };
        self.counts.insert(ty, count);
        count
    }

    /// The part of a type that only SPIR-V supports.
    pub fn lacks(&self, ty: TypeId) -> Option<&'static str> {
        match self.types.get(ty) {
            Type::CooperativeMatrix(_) => Some("cooperative matrices"),
            Type::Foreign(_) => Some("types of SPIR-V by number"),
            Type::Array { element, .. } => self.lacks(element),
            Type::Struct(id) => self.types.structs[id].members.iter().find_map(|member| self.lacks(member.ty)),
            _ => None,
        }
    }

    /// Parts of a composite; `None` for scalars and run-time arrays.
    pub fn part_count(&mut self, ty: TypeId) -> Option<u32> {
        match self.types.get(ty) {
            Type::Vector { size, .. } => Some(size.into()),
            Type::Matrix { columns, .. } => Some(columns.into()),
            Type::Array { len, .. } => self.length(len),
            Type::Struct(id) => Some(self.types.structs[id].members.len() as u32),
            _ => None,
        }
    }

    /// Type of a part of a value, and its first scalar; `None` if there is no such part.
    pub fn value_part(&mut self, ty: TypeId, index: u32) -> Option<(TypeId, u32)> {
        if index >= self.part_count(ty)? {
            return None;
        }
        let part = self.types.element(ty, index)?;
        let first = match self.types.get(ty) {
            Type::Struct(id) => self.first_scalars(id).get(index as usize).copied()?,
            _ => index.checked_mul(self.count(part)?)?,
        };
        Some((part, first))
    }

    fn first_scalars(&mut self, id: StructId) -> Rc<[u32]> {
        if let Some(known) = self.firsts.get(&id) {
            return known.clone();
        }
        let mut next = 0u32;
        let mut firsts = Vec::new();
        for member in self.members(id) {
            firsts.push(next);
            next = next.saturating_add(self.count(member).unwrap_or(0));
        }
        let firsts: Rc<[u32]> = firsts.into();
        self.firsts.insert(id, firsts.clone());
        firsts
    }

    // Memory.

    /// Size of a type in memory, with empty runtime-sized arrays; `None` if it has no size or more than 4 GiB.
    pub fn extent(&mut self, ty: TypeId) -> Option<Extent> {
        if let Some(known) = self.extents.get(&ty) {
            return *known;
        }
        let extent = match self.types.get(ty) {
            Type::Scalar(scalar) => Some(Extent { size: scalar.bytes(), align: scalar.bytes() }),
            Type::BufferReference { .. } => Some(Extent { size: 8, align: 8 }),
            Type::Vector { scalar, size } => Some(vector_extent(scalar, size)),
            Type::Matrix { scalar, columns, rows, layout } => matrix_extent(scalar, (columns, rows), layout),
            Type::Array { element, len: ArrayLen::Runtime, .. } => {
                self.extent(element).map(|element| Extent { size: 0, ..element })
            }
            Type::Array { element, len, stride } => self.array_extent(element, len, stride),
            Type::Struct(id) => self.struct_extent(id),
            _ => None,
        };
        self.extents.insert(ty, extent);
        extent
    }

    fn array_extent(&mut self, element: TypeId, len: ArrayLen, stride: Option<u32>) -> Option<Extent> {
        let (element, count) = (self.extent(element)?, self.length(len)?);
        let Some(last) = count.checked_sub(1) else { return Some(Extent { size: 0, ..element }) };
        let stride = stride.or(element.stride())?;
        let size = stride.checked_mul(last)?.checked_add(element.size)?;
        Some(Extent { size, align: element.align })
    }

    fn struct_extent(&mut self, id: StructId) -> Option<Extent> {
        let offsets = self.member_offsets(id)?;
        let mut whole = Extent { size: 0, align: 1 };
        for (member, offset) in self.members(id).into_iter().zip(offsets.iter()) {
            let part = self.extent(member)?;
            let end = offset.checked_add(part.size)?;
            whole = Extent { size: whole.size.max(end), align: whole.align.max(part.align) };
        }
        Some(whole)
    }

    /// The offsets of the members of a struct, explicit or consecutive.
    fn member_offsets(&mut self, id: StructId) -> Option<Rc<[u32]>> {
        if let Some(known) = self.offsets.get(&id) {
            return Some(known.clone());
        }
        let stated: Option<Vec<u32>> = self.types.structs[id].members.iter().map(|member| member.offset).collect();
        let offsets: Rc<[u32]> = match stated {
            Some(offsets) => offsets.into(),
            None => self.placed_offsets(id)?.into(),
        };
        self.offsets.insert(id, offsets.clone());
        Some(offsets)
    }

    fn placed_offsets(&mut self, id: StructId) -> Option<Vec<u32>> {
        let mut next = 0u32;
        let mut offsets = Vec::new();
        for member in self.members(id) {
            let part = self.extent(member)?;
            let offset = next.checked_next_multiple_of(part.align)?;
            offsets.push(offset);
            next = offset.checked_add(part.size)?;
        }
        Some(offsets)
    }

    /// Part `index` of memory contents; for arrays the first part represents all.
    pub fn part(&mut self, held: Held, index: u32) -> Option<Part> {
        let ty = match held {
            Held::Column { scalar, rows, stride } => {
                let held = Held::Type(self.types.scalar(scalar));
                return Some(Part { held, offset: index.checked_mul(stride)?, stride, count: Some(rows) });
            }
            Held::Type(ty) => ty,
        };
        let count = self.part_count(ty);
        if let Type::Struct(id) = self.types.get(ty) {
            let offset = *self.member_offsets(id)?.get(index as usize)?;
            return Some(Part { held: Held::Type(self.types.element(ty, index)?), offset, stride: 0, count });
        }
        let (held, stride) = self.element(ty)?;
        Some(Part { held, offset: index.checked_mul(stride)?, stride, count })
    }

    /// The element of an array, matrix or vector in memory, and the bytes to the next.
    fn element(&mut self, ty: TypeId) -> Option<(Held, u32)> {
        let element = self.types.element(ty, 0)?;
        Some(match self.types.get(ty) {
            Type::Vector { scalar, .. } => (Held::Type(element), scalar.bytes()),
            Type::Matrix { scalar, rows, layout: Some(MatrixLayout { stride, row_major: true }), .. } => {
                (Held::Column { scalar, rows: rows.into(), stride }, scalar.bytes())
            }
            Type::Matrix { layout: Some(layout), .. } => (Held::Type(element), layout.stride),
            Type::Array { stride: Some(stride), .. } => (Held::Type(element), stride),
            _ => (Held::Type(element), self.extent(element)?.stride()?),
        })
    }
}

/// The bits of a constant as a value of the kernel form: 8-bit integers are sign-extended.
pub fn register_bits(scalar: Scalar, bits: u64) -> u64 {
    if scalar.is_signed() && scalar.width == 8 { sign_extend(bits, scalar) as u64 } else { bits }
}

fn vector_extent(scalar: Scalar, size: u8) -> Extent {
    let bytes = u32::from(size) * scalar.bytes();
    Extent { size: bytes, align: if size == 3 { scalar.bytes() } else { bytes } }
}

fn matrix_extent(scalar: Scalar, (columns, rows): (u8, u8), layout: Option<MatrixLayout>) -> Option<Extent> {
    let column = vector_extent(scalar, rows);
    let Some(layout) = layout else {
        let stride = column.stride()?;
        return Some(Extent { size: stride * u32::from(columns), align: column.align });
    };
    let (count, length) = if layout.row_major { (rows, columns) } else { (columns, rows) };
    let size = layout.stride.checked_mul(u32::from(count) - 1)?.checked_add(u32::from(length) * scalar.bytes())?;
    Some(Extent { size, align: scalar.bytes() })
}
