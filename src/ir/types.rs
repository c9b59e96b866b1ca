//! Types. Each structural type exists once, so equal types have equal handles; structs are nominal.
//!
//! A type is either *logical* (the type of values: no offsets, strides or matrix layouts) or *laid out* (the type of
//! memory with a defined layout: buffers, push constants, explicit workgroup blocks). [`Types::logical`] maps the
//! second to the first: loading from a laid-out pointer gives the logical type, and storing takes it. A `bool` inside a
//! laid-out type is stored as a 32-bit integer, nonzero for true.

use super::arena::Handle;
use super::{ConstId, CooperativeMatrix, StructId};
use crate::source::Span;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::Deserialize;

pub use crate::lane::encoding::{Encoding, Format};
pub use crate::lane::request::ScalarKind;

pub type TypeId = Handle<Type>;

/// A scalar type: kind and width in bits (8, 16, 32 or 64; `Bool` has width 1, and encoded floats the width of their
/// [`Encoding`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Scalar {
    pub kind: ScalarKind,
    pub width: u8,
}

impl Scalar {
    pub const BOOL: Scalar = Scalar { kind: ScalarKind::Bool, width: 1 };
    pub const I32: Scalar = Scalar { kind: ScalarKind::Sint, width: 32 };
    pub const U32: Scalar = Scalar { kind: ScalarKind::Uint, width: 32 };
    pub const F32: Scalar = Scalar { kind: ScalarKind::Float, width: 32 };
    pub const F64: Scalar = Scalar { kind: ScalarKind::Float, width: 64 };
    pub const F16: Scalar = Scalar { kind: ScalarKind::Float, width: 16 };
    pub const I8: Scalar = Scalar { kind: ScalarKind::Sint, width: 8 };
    pub const U8: Scalar = Scalar { kind: ScalarKind::Uint, width: 8 };
    pub const I16: Scalar = Scalar { kind: ScalarKind::Sint, width: 16 };
    pub const U16: Scalar = Scalar { kind: ScalarKind::Uint, width: 16 };
    pub const I64: Scalar = Scalar { kind: ScalarKind::Sint, width: 64 };
    pub const U64: Scalar = Scalar { kind: ScalarKind::Uint, width: 64 };
    pub const BF16: Scalar = Scalar::encoded(Encoding::BFloat16);
    pub const E4M3: Scalar = Scalar::encoded(Encoding::E4M3);
    pub const E5M2: Scalar = Scalar::encoded(Encoding::E5M2);
    pub const E2M1: Scalar = Scalar::encoded(Encoding::E2M1);

    pub const fn encoded(encoding: Encoding) -> Scalar {
        Scalar { kind: ScalarKind::Encoded(encoding), width: encoding.width() }
    }

    /// Bytes in memory; a `bool` takes four. Types smaller than a byte cannot be in memory with a layout.
    pub const fn bytes(self) -> u32 {
        match self.kind {
            ScalarKind::Bool => 4,
            _ => (self.width as u32).div_ceil(8),
        }
    }

    /// Returns true if it is a float with arithmetic.
    pub const fn is_float(self) -> bool {
        matches!(self.kind, ScalarKind::Float)
    }

    /// Returns true if it is too small for addressable memory.
    pub const fn is_below_byte(self) -> bool {
        self.width < 8 && !self.is_bool()
    }

    /// Returns true if it is an integer or a float with arithmetic.
    pub const fn is_number(self) -> bool {
        self.is_float() || self.is_int()
    }

    /// The encoding of a float without arithmetic.
    pub const fn encoding(self) -> Option<Encoding> {
        match self.kind {
            ScalarKind::Encoded(encoding) => Some(encoding),
            _ => None,
        }
    }

    /// The bits of the number 1, or of true.
    pub fn one_bits(self) -> u64 {
        match (self.kind, self.width) {
            (ScalarKind::Float, 16) => Format::HALF.encode(1.0),
            (ScalarKind::Float, 64) => 1f64.to_bits(),
            (ScalarKind::Float, _) => u64::from(1f32.to_bits()),
            (ScalarKind::Encoded(encoding), _) => encoding.format().encode(1.0),
            _ => 1,
        }
    }

    pub const fn is_int(self) -> bool {
        matches!(self.kind, ScalarKind::Sint | ScalarKind::Uint)
    }

    pub const fn is_signed(self) -> bool {
        matches!(self.kind, ScalarKind::Sint)
    }

    pub const fn is_bool(self) -> bool {
        matches!(self.kind, ScalarKind::Bool)
    }
}

/// The kind of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// Variables of one invocation in one call.
    Function,
    /// Variables of one invocation, module scope.
    Private,
    /// `shared` / `var<workgroup>`.
    Workgroup,
    /// Uniform buffers.
    Uniform,
    /// Storage buffers.
    Storage,
    PushConstant,
    /// The data that a workgroup of task shaders hands to the mesh shaders that it starts.
    TaskPayload,
    /// The payload of a ray, for the shader that traces it and the shaders that it hits.
    RayPayload,
    IncomingRayPayload,
    /// The attributes of a hit, which an intersection shader writes.
    HitAttribute,
    /// The argument of a callable shader, as its caller and as it sees it.
    CallableData,
    IncomingCallableData,
    /// The attributes of a hit for hit objects, in NVIDIA's form and in the EXT form.
    HitObjectAttributeNv,
    HitObjectAttribute,
    /// The data of the shader in the shader binding table.
    ShaderRecord,
    /// Stage inputs, built-in variables among them.
    Input,
    Output,
    /// Opaque resources: images, samplers, atomic counters.
    Handle,
    /// Uniforms outside of blocks.
    Loose,
    /// Memory after a buffer reference.
    Physical,
}

impl Space {
    /// Returns true if types in this space carry a layout.
    pub const fn is_laid_out(self) -> bool {
        matches!(self, Space::Uniform | Space::Storage | Space::PushConstant | Space::Physical | Space::ShaderRecord)
    }
}

/// Number of elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrayLen {
    Fixed(u32),
    /// Given by an integer specialization constant, or by an expression of specialization constants.
    Spec(ConstId),
    /// Known at run time only; the last member of a buffer block.
    Runtime,
}

/// How a laid-out matrix is in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MatrixLayout {
    /// Stride between columns (rows if `row_major`) in bytes.
    pub stride: u32,
    pub row_major: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum ImageDim {
    D1,
    D2,
    D3,
    Cube,
    Rect,
    Buffer,
    SubpassInput,
    /// The pixel's part of a color attachment.
    Tile,
}

impl ImageType {
    /// Returns true for images that a shader may write to: input attachments are read alone.
    pub fn is_writable(self) -> bool {
        self.storage && self.dim != ImageDim::SubpassInput
    }

    /// The unit that an atomic operation changes at once, a scalar and its count: the texel's only component, or halves
    /// of the formats Rgba16f and Rg16f (SPIR-V 1.6 section 3.11, SPV_NV_shader_atomic_fp16_vector).
    pub const fn atomic_texel(self) -> (Scalar, u8) {
        match self.format {
            2 => (Scalar::F16, 4),
            7 => (Scalar::F16, 2),
            _ => (self.sampled, 1),
        }
    }
}

/// An image type without its sampler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageType {
    /// Type of a texel's component.
    pub sampled: Scalar,
    pub dim: ImageDim,
    pub arrayed: bool,
    pub multisampled: bool,
    pub depth: bool,
    /// True for images that are read and written directly, false for sampled images.
    pub storage: bool,
    /// SPIR-V's number of the texel format (section 3.11, Image Format), 0 when unknown.
    pub format: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    Void,
    Scalar(Scalar),
    /// Two to four scalars.
    Vector {
        scalar: Scalar,
        size: u8,
    },
    /// `columns` column vectors of `rows` components.
    Matrix {
        scalar: Scalar,
        columns: u8,
        rows: u8,
        layout: Option<MatrixLayout>,
    },
    /// `stride` in bytes in a laid-out array.
    Array {
        element: TypeId,
        len: ArrayLen,
        stride: Option<u32>,
    },
    Struct(StructId),
    /// `pointee` has a layout exactly if the space does, or if an explicit workgroup block requires it.
    Pointer {
        space: Space,
        pointee: TypeId,
    },
    /// A buffer reference: a 64-bit address of a laid-out struct. The type is nominal, so that lists can refer to
    /// themselves. Its alignment is in [`Types::reference_align`], because a struct may be referred to before it is
    /// defined.
    BufferReference {
        pointee: StructId,
    },
    Image(ImageType),
    Sampler,
    /// An image and a sampler in one, GLSL's `sampler2D`.
    SampledImage(ImageType),
    AccelerationStructure,
    /// A counter with a separate kind of buffer, which only atomic operations read and write.
    AtomicCounter,
    /// A ray query: memory of a function or an invocation, never a value.
    RayQuery,
    /// A hit object of shader invocation reordering, in the NVIDIA or the EXT form: memory like [`Type::RayQuery`].
    HitObject {
        nvidia: bool,
    },
    CooperativeMatrix(CooperativeMatrix),
    /// A foreign SPIR-V type: its index in [`super::Foreign::types`].
    Foreign(u32),
}

bitflags::bitflags! {
    /// Memory qualifiers of a variable, a member or an access.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Access: u8 {
        const READONLY = 1;
        const WRITEONLY = 2;
        const COHERENT = 4;
        const VOLATILE = 8;
        const RESTRICT = 16;
        /// An output that every program computes to the same value from the same expressions: `invariant`.
        const INVARIANT = 32;
        /// Coherent for the whole device, not only for its queue family.
        const DEVICE = 64;
    }
}

/// One member of a struct.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: super::Name,
    /// Where it is declared.
    pub span: Span,
    pub ty: TypeId,
    /// Byte offset in a laid-out struct.
    pub offset: Option<u32>,
    pub access: Access,
    /// Interface of stage inputs and outputs; [`super::Binding::None`] elsewhere.
    pub binding: super::Binding,
}

/// A struct or an interface block.
#[derive(Clone, Debug)]
pub struct Struct {
    pub name: super::Name,
    /// Where it is declared.
    pub span: Span,
    pub members: Vec<Member>,
    /// True for the outermost struct of a buffer, push-constant or stage-interface block.
    pub block: bool,
    /// The logical struct that this one is a layout of; `None` for logical structs.
    pub logical: Option<StructId>,
}

/// Number of [`Space`]s.
const SPACES: usize = Space::Physical as usize + 1;

/// Initial capacity, in types.
const USUAL: usize = 96;

/// Scalar kinds times vector sizes.
const VECTOR_SLOTS: usize = 16;

/// The scalar of a scalar, a vector or a matrix.
fn scalar_in(ty: Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(scalar) | Type::Vector { scalar, .. } | Type::Matrix { scalar, .. } => Some(scalar),
        _ => None,
    }
}

/// The cache slot of a common vector type.
const fn vector_slot(scalar: Scalar, size: u8) -> Option<usize> {
    if matches!(scalar.width, 1 | 32) { Some(scalar.kind.column() * 4 + size as usize - 1) } else { None }
}

/// The types of a module.
#[derive(Clone, Debug)]
pub struct Types {
    list: Vec<Type>,
    interned: FxHashMap<Type, TypeId>,
    /// The vectors of one to four 32-bit scalars or bools by [`vector_slot`]; `VOID` if not created yet.
    vectors: [TypeId; VECTOR_SLOTS],
    /// The pointers to each type, one per space; missing or `VOID` if not created yet.
    pointers: Vec<TypeId>,
    pairs: FxHashMap<(TypeId, TypeId), TypeId>,
    reference_aligns: FxHashMap<StructId, u32>,
    pub structs: super::Arena<Struct>,
}

impl Default for Types {
    fn default() -> Self {
        Types::new()
    }
}

impl Types {
    pub const VOID: TypeId = TypeId::from_index(0);
    pub const BOOL: TypeId = TypeId::from_index(1);
    pub const I32: TypeId = TypeId::from_index(2);
    pub const U32: TypeId = TypeId::from_index(3);
    pub const F32: TypeId = TypeId::from_index(4);

    pub fn new() -> Types {
        let mut types = Types {
            list: Vec::with_capacity(USUAL),
            interned: FxHashMap::with_capacity_and_hasher(USUAL, FxBuildHasher),
            vectors: [Types::VOID; VECTOR_SLOTS],
            pointers: Vec::with_capacity(USUAL * SPACES),
            pairs: FxHashMap::default(),
            reference_aligns: FxHashMap::default(),
            structs: super::Arena::new(),
        };
        types.intern(Type::Void);
        for scalar in [Scalar::BOOL, Scalar::I32, Scalar::U32, Scalar::F32] {
            types.scalar(scalar);
        }
        types
    }

    /// The handle of a type; adds it when it is new.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        let list = &mut self.list;
        *self.interned.entry(ty).or_insert_with(|| {
            list.push(ty);
            TypeId::from_index(list.len() - 1)
        })
    }

    pub fn scalar(&mut self, scalar: Scalar) -> TypeId {
        self.vector(scalar, 1)
    }

    /// A vector of `size` components, or the scalar itself if `size` is 1.
    pub fn vector(&mut self, scalar: Scalar, size: u8) -> TypeId {
        match vector_slot(scalar, size) {
            Some(slot) if self.vectors[slot] != Types::VOID => self.vectors[slot],
            slot => self.make_vector(scalar, size, slot),
        }
    }

    fn make_vector(&mut self, scalar: Scalar, size: u8, slot: Option<usize>) -> TypeId {
        let id = self.intern(if size == 1 { Type::Scalar(scalar) } else { Type::Vector { scalar, size } });
        if let Some(slot) = slot {
            self.vectors[slot] = id;
        }
        id
    }

    /// A logical matrix.
    pub fn matrix(&mut self, scalar: Scalar, columns: u8, rows: u8) -> TypeId {
        self.intern(Type::Matrix { scalar, columns, rows, layout: None })
    }

    /// A logical array.
    pub fn array(&mut self, element: TypeId, len: ArrayLen) -> TypeId {
        self.intern(Type::Array { element, len, stride: None })
    }

    pub fn pointer(&mut self, space: Space, pointee: TypeId) -> TypeId {
        let slot = pointee.index() * SPACES + space as usize;
        if slot >= self.pointers.len() {
            self.pointers.resize(self.list.len() * SPACES, Types::VOID);
        }
        if self.pointers[slot] == Types::VOID {
            self.pointers[slot] = self.intern(Type::Pointer { space, pointee });
        }
        self.pointers[slot]
    }

    /// Adds a struct and returns its type.
    pub fn add_struct(&mut self, item: Struct) -> TypeId {
        let id = self.structs.push(item);
        self.intern(Type::Struct(id))
    }

    /// The struct for operations with two results; equal member types give the same struct.
    pub fn pair(&mut self, first: TypeId, second: TypeId) -> TypeId {
        if let Some(known) = self.pairs.get(&(first, second)) {
            return *known;
        }
        let member = |name: &str, ty| Member {
            name: name.into(),
            span: Span::NONE,
            ty,
            offset: None,
            access: Access::empty(),
            binding: super::Binding::None,
        };
        let members = vec![member("first", first), member("second", second)];
        let id =
            self.add_struct(Struct { name: "Pair".into(), span: Span::NONE, members, block: false, logical: None });
        self.pairs.insert((first, second), id);
        id
    }

    /// Known alignment of references to a struct in bytes: a power of two, 1 if nothing is known.
    pub fn reference_align(&self, pointee: StructId) -> u32 {
        self.reference_aligns.get(&pointee).copied().unwrap_or(1)
    }

    /// Promises that references to a struct are multiples of this many bytes.
    pub fn set_reference_align(&mut self, pointee: StructId, align: u32) {
        self.reference_aligns.insert(pointee, align);
    }

    /// The struct that a buffer reference points to.
    pub fn referred(&self, id: TypeId) -> Option<StructId> {
        match self.get(id) {
            Type::BufferReference { pointee } => Some(pointee),
            _ => None,
        }
    }

    /// The handle of an existing type.
    pub fn find(&self, ty: Type) -> Option<TypeId> {
        self.interned.get(&ty).copied()
    }

    pub fn get(&self, id: TypeId) -> Type {
        self.list[id.index()]
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (TypeId, Type)> + '_ {
        self.list.iter().enumerate().map(|(index, ty)| (TypeId::from_index(index), *ty))
    }

    /// The scalar of a scalar, vector or matrix.
    pub fn scalar_of(&self, id: TypeId) -> Option<Scalar> {
        scalar_in(self.get(id))
    }

    /// Components of a scalar (1) or vector.
    pub fn components(&self, id: TypeId) -> Option<u8> {
        match self.get(id) {
            Type::Scalar(_) => Some(1),
            Type::Vector { size, .. } => Some(size),
            _ => None,
        }
    }

    /// Returns true if a type is a ray query, a hit object or an atomic counter, or an array of them: memory that has
    /// no value.
    pub fn is_valueless(&self, id: TypeId) -> bool {
        match self.get(id) {
            Type::Array { element, .. } => self.is_valueless(element),
            other => matches!(other, Type::RayQuery | Type::HitObject { .. } | Type::AtomicCounter),
        }
    }

    /// Returns true if a type or a part of it satisfies a predicate; elements of cooperative matrices are excluded.
    pub fn holds(&self, id: TypeId, is_such: impl Fn(Type) -> bool + Copy) -> bool {
        let ty = self.get(id);
        is_such(ty)
            || match ty {
                Type::Array { element, .. } => self.holds(element, is_such),
                Type::Struct(of) => self.structs[of].members.iter().any(|member| self.holds(member.ty, is_such)),
                _ => false,
            }
    }

    /// Returns true if a type contains a scalar that satisfies a predicate; elements of cooperative matrices are
    /// excluded.
    pub fn holds_scalar(&self, id: TypeId, is_such: impl Fn(Scalar) -> bool + Copy) -> bool {
        self.holds(id, |ty| scalar_in(ty).is_some_and(is_such))
    }

    /// Pointee and space of a pointer.
    pub fn pointee(&self, id: TypeId) -> Option<(Space, TypeId)> {
        match self.get(id) {
            Type::Pointer { space, pointee } => Some((space, pointee)),
            _ => None,
        }
    }

    /// Type of a vector's components, a matrix's columns, the elements of an array or a cooperative matrix, or a
    /// struct's member `index`. A laid-out matrix has logical columns; the place of a row-major matrix's column depends
    /// on the whole access chain, so chains are flat ([`super::Op::Access`]).
    pub fn element(&mut self, id: TypeId, index: u32) -> Option<TypeId> {
        match self.get(id) {
            Type::Vector { scalar, .. } => Some(self.scalar(scalar)),
            Type::Matrix { scalar, rows, .. } => Some(self.vector(scalar, rows)),
            Type::Array { element, .. } | Type::CooperativeMatrix(CooperativeMatrix { element, .. }) => Some(element),
            Type::Struct(id) => self.structs[id].members.get(index as usize).map(|m| m.ty),
            _ => None,
        }
    }

    /// The number of parts of a composite; `None` if it is unknown, or the type is not a composite.
    pub fn part_count(&self, id: TypeId) -> Option<u32> {
        match self.get(id) {
            Type::Vector { size, .. } => Some(u32::from(size)),
            Type::Matrix { columns, .. } => Some(u32::from(columns)),
            Type::Array { len: ArrayLen::Fixed(count), .. } => Some(count),
            Type::Struct(id) => Some(self.structs[id].members.len() as u32),
            _ => None,
        }
    }

    /// The innermost element type of an array of arrays, or the type itself.
    pub fn innermost(&self, mut id: TypeId) -> TypeId {
        while let Type::Array { element, .. } = self.get(id) {
            id = element;
        }
        id
    }

    /// Locations that an input or output of a type takes (GLSL 4.60 section 4.4.1).
    pub fn locations(&self, id: TypeId) -> u32 {
        let column = |scalar: Scalar, rows: u8| if scalar.width == 64 && rows > 2 { 2 } else { 1 };
        match self.get(id) {
            Type::Vector { scalar, size } => column(scalar, size),
            Type::Matrix { scalar, columns, rows, .. } => u32::from(columns) * column(scalar, rows),
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => len.saturating_mul(self.locations(element)),
            Type::Struct(of) => {
                let members = self.structs[of].members.iter().map(|member| self.locations(member.ty));
                members.fold(0, u32::saturating_add)
            }
            _ => 1,
        }
    }

    /// The type that values loaded from memory of type `id` have.
    pub fn logical(&mut self, id: TypeId) -> TypeId {
        match self.get(id) {
            Type::Matrix { scalar, columns, rows, layout: Some(_) } => self.matrix(scalar, columns, rows),
            Type::Array { element, len, .. } => {
                let element = self.logical(element);
                self.array(element, len)
            }
            Type::Struct(of) => match self.structs[of].logical {
                Some(logical) => self.intern(Type::Struct(logical)),
                None => id,
            },
            _ => id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_types_have_equal_handles() {
        let mut types = Types::new();
        let a = types.vector(Scalar::F32, 4);
        assert_eq!(a, types.vector(Scalar::F32, 4));
        assert_eq!(types.vector(Scalar::U32, 1), Types::U32);
        assert_eq!(types.get(Types::BOOL), Type::Scalar(Scalar::BOOL));
    }

    #[test]
    fn logical_types_lose_strides() {
        let mut types = Types::new();
        let laid = types.intern(Type::Array { element: Types::F32, len: ArrayLen::Fixed(3), stride: Some(16) });
        assert_eq!(types.logical(laid), types.array(Types::F32, ArrayLen::Fixed(3)));
    }
}
