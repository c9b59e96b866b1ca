//! IR types as SPIR-V types, each emitted once, on first use.
//!
//! There are two maps: *value* types are for values and memory without layout; *memory* types have offsets and strides
//! and store a `bool` as `uint` (SPIR-V 1.6 section 2.16.1 allows no booleans in shader interfaces). For types without
//! layout and without bools both return the same id. Buffer references are in `physical`, images in `image`.

use super::Emitter;
use super::globals::access_decorations;
use crate::ir::{
    ArrayLen, Encoding, ImageDim, ImageType, MatrixLayout, Member, Scalar, ScalarKind, Space, Stage, StructId, Type,
    TypeId, Types,
};
use rspirv::spirv::{Capability, Decoration, Op, StorageClass, Word};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

/// A type by structure: SPIR-V needs each non-aggregate type declared once (section 2.8).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    Void,
    Vector(Scalar, u8),
    Matrix(Scalar, u8, u8),
    /// Length 0 is not an id: a run-time array. Stride 0: no layout.
    Array {
        element: Word,
        len: Word,
        stride: u32,
    },
    Pointer(StorageClass, Word),
    /// Element, scope, rows, columns and use, which is 0 if the type has none.
    Cooperative([Word; 5]),
    /// Components, and how many.
    CooperativeVector([Word; 2]),
}

/// Type ids assigned so far; 0 marks an unused type.
#[derive(Debug, Default)]
pub(super) struct TypeMap {
    value: Vec<Word>,
    memory: Vec<Word>,
    /// Value types of structs: a struct and its layouts share one.
    structs: Vec<Word>,
    keys: FxHashMap<Key, Word>,
    /// Buffer references by target.
    pub references: FxHashMap<StructId, Word>,
    /// Scalar types by [`scalar_slot`].
    scalars: [Word; SCALAR_SLOTS],
    functions: FxHashMap<SmallVec<[Word; 6]>, Word>,
    /// Images; a module has few kinds.
    pub images: Vec<(ImageType, Word)>,
    /// Structs decorated as blocks of stage inputs and outputs.
    pub blocks: Vec<Word>,
    /// Samplers and sampled images, by opcode and operand type.
    pub wrapped: Vec<((Op, Word), Word)>,
}

impl TypeMap {
    pub fn new(types: &Types) -> TypeMap {
        let empty = vec![0; types.len()];
        let keys = FxHashMap::with_capacity_and_hasher(types.len(), FxBuildHasher);
        TypeMap {
            value: empty.clone(),
            memory: empty,
            structs: vec![0; types.structs.len()],
            keys,
            ..TypeMap::default()
        }
    }
}

/// Kinds times widths of scalars, and encodings.
const SCALAR_SLOTS: usize = 4 * 4 + Encoding::ALL.len();

/// The index of a scalar type's id: by kind, and by width from 8 bits on.
const fn scalar_slot(scalar: Scalar) -> usize {
    let width = scalar.width.trailing_zeros() as usize;
    let offset = match scalar.kind {
        ScalarKind::Encoded(encoding) => encoding as usize,
        _ => width.saturating_sub(3),
    };
    scalar.kind.column() * 4 + offset
}

/// The storage class of a space.
pub(super) const fn storage_class(space: Space) -> StorageClass {
    match space {
        Space::Function => StorageClass::Function,
        Space::Private => StorageClass::Private,
        Space::Workgroup => StorageClass::Workgroup,
        Space::Uniform => StorageClass::Uniform,
        Space::Storage => StorageClass::StorageBuffer,
        Space::PushConstant => StorageClass::PushConstant,
        Space::TaskPayload => StorageClass::TaskPayloadWorkgroupEXT,
        Space::RayPayload => StorageClass::RayPayloadKHR,
        Space::IncomingRayPayload => StorageClass::IncomingRayPayloadKHR,
        Space::HitAttribute => StorageClass::HitAttributeKHR,
        Space::HitObjectAttributeNv => StorageClass::HitObjectAttributeNV,
        Space::HitObjectAttribute => StorageClass::HitObjectAttributeEXT,
        Space::CallableData => StorageClass::CallableDataKHR,
        Space::IncomingCallableData => StorageClass::IncomingCallableDataKHR,
        Space::ShaderRecord => StorageClass::ShaderRecordBufferKHR,
        Space::Input => StorageClass::Input,
        Space::Output => StorageClass::Output,
        Space::Handle | Space::Loose => StorageClass::UniformConstant,
        Space::Physical => StorageClass::PhysicalStorageBuffer,
    }
}

impl Emitter<'_> {
    /// The storage class of a variable of type `ty`, or a part of one: color attachments have a separate one.
    pub fn class_of(&self, space: Space, ty: TypeId) -> StorageClass {
        match self.module.types.get(ty) {
            Type::Array { element, .. } if space == Space::Handle => self.class_of(space, element),
            Type::AtomicCounter => StorageClass::AtomicCounter,
            Type::Image(ImageType { dim: ImageDim::Tile, .. }) => StorageClass::TileImageEXT,
            _ if space == Space::TaskPayload && self.module.nvidia_meshes => match self.stage {
                Stage::Task => StorageClass::Output,
                _ => StorageClass::Input,
            },
            _ if space == Space::Storage && self.buffer_blocks.is_some() => StorageClass::Uniform,
            _ => storage_class(space),
        }
    }

    /// The type that values of `id` have; layouts are dropped.
    #[inline(always)]
    pub fn value_type(&mut self, id: TypeId) -> Word {
        match self.types.value[id.index()] {
            0 => self.declare_value_type(id),
            known => known,
        }
    }

    fn declare_value_type(&mut self, id: TypeId) -> Word {
        let word = match self.module.types.get(id) {
            Type::Array { element, len, .. } => {
                let element = self.value_type(element);
                self.array_type(element, len, None)
            }
            Type::Struct(of) => self.value_struct(of),
            ty => self.plain_type(ty),
        };
        self.types.value[id.index()] = word;
        word
    }

    /// The type of memory that `id` describes, with layout and without bools.
    pub fn memory_type(&mut self, id: TypeId) -> Word {
        if self.types.memory[id.index()] != 0 {
            return self.types.memory[id.index()];
        }
        let word = match self.module.types.get(id) {
            Type::Scalar(scalar) => self.scalar_type(in_memory(scalar)),
            Type::Vector { scalar, size } => self.vector_type(in_memory(scalar), size),
            Type::Array { element, len, stride } => {
                let element = self.memory_type(element);
                self.array_type(element, len, stride)
            }
            Type::Struct(of) => self.memory_struct(of),
            _ => self.value_type(id),
        };
        self.types.memory[id.index()] = word;
        word
    }

    /// The type of memory that `id` describes in `space`.
    pub fn type_in(&mut self, space: Space, id: TypeId) -> Word {
        if space.is_laid_out() { self.memory_type(id) } else { self.value_type(id) }
    }

    pub fn pointer_type(&mut self, space: Space, pointee: TypeId) -> Word {
        let class = self.class_of(space, pointee);
        let pointee = self.type_in(space, pointee);
        self.pointer_to(class, pointee)
    }

    pub fn pointer_to(&mut self, class: StorageClass, pointee: Word) -> Word {
        self.keyed(Key::Pointer(class, pointee), |m, id| {
            m.need_class(class);
            m.out.globals.named(Op::TypePointer, id, &[class as Word, pointee]);
        })
    }

    /// Asks for the extension of a storage class that older versions lack.
    fn need_class(&mut self, class: StorageClass) {
        if class == StorageClass::StorageBuffer && !self.version.has_1_3() {
            self.needs.extension("SPV_KHR_storage_buffer_storage_class");
        }
    }

    pub fn void_type(&mut self) -> Word {
        self.keyed(Key::Void, |m, id| m.out.globals.named(Op::TypeVoid, id, &[]))
    }

    pub fn scalar_type(&mut self, scalar: Scalar) -> Word {
        let slot = scalar_slot(scalar);
        if self.types.scalars[slot] == 0 {
            self.types.scalars[slot] = self.declare_scalar_type(scalar);
        }
        self.types.scalars[slot]
    }

    fn declare_scalar_type(&mut self, scalar: Scalar) -> Word {
        let (id, width) = (self.id(), Word::from(scalar.width));
        self.needs.declared(scalar);
        match scalar.kind {
            ScalarKind::Bool => self.out.globals.named(Op::TypeBool, id, &[]),
            ScalarKind::Float => self.out.globals.named(Op::TypeFloat, id, &[width]),
            ScalarKind::Encoded(of) => self.out.globals.named(Op::TypeFloat, id, &[width, super::encoded::number(of)]),
            kind => self.out.globals.named(Op::TypeInt, id, &[width, Word::from(kind == ScalarKind::Sint)]),
        }
        id
    }

    /// A vector, or the scalar itself when `size` is 1.
    pub fn vector_type(&mut self, scalar: Scalar, size: u8) -> Word {
        let component = self.scalar_type(scalar);
        if size == 1 {
            return component;
        }
        self.keyed(Key::Vector(scalar, size), |m, id| {
            m.out.globals.named(Op::TypeVector, id, &[component, Word::from(size)]);
        })
    }

    pub fn matrix_type(&mut self, scalar: Scalar, columns: u8, rows: u8) -> Word {
        let column = self.vector_type(scalar, rows);
        self.keyed(Key::Matrix(scalar, columns, rows), |m, id| {
            m.out.globals.named(Op::TypeMatrix, id, &[column, Word::from(columns)]);
        })
    }

    /// The type of functions with these parameters.
    pub fn function_type(&mut self, signature: &[Word]) -> Word {
        if let Some(id) = self.types.functions.get(signature) {
            return *id;
        }
        let id = self.id();
        self.out.globals.named(Op::TypeFunction, id, signature);
        self.types.functions.insert(SmallVec::from_slice(signature), id);
        id
    }

    /// Returns true if a type contains a `bool`, so that its memory form is more than a layout of it.
    pub fn has_bool(&self, id: TypeId) -> bool {
        match self.module.types.get(id) {
            Type::Array { element, .. } => self.has_bool(element),
            Type::Struct(of) => self.module.types.structs[of].members.iter().any(|m| self.has_bool(m.ty)),
            _ => self.module.types.scalar_of(id).is_some_and(Scalar::is_bool),
        }
    }

    /// Registers a type declared under a previously assigned id.
    pub fn pointer_is(&mut self, class: StorageClass, pointee: Word, id: Word) {
        self.types.keys.insert(Key::Pointer(class, pointee), id);
    }

    pub fn keyed(&mut self, key: Key, declare: impl FnOnce(&mut Self, Word)) -> Word {
        if let Some(id) = self.types.keys.get(&key) {
            return *id;
        }
        let id = self.id();
        declare(self, id);
        self.types.keys.insert(key, id);
        id
    }

    fn plain_type(&mut self, ty: Type) -> Word {
        match ty {
            Type::Void => self.void_type(),
            Type::Scalar(scalar) => self.scalar_type(scalar),
            Type::Vector { scalar, size } => self.vector_type(scalar, size),
            Type::Matrix { scalar, columns, rows, .. } => self.matrix_type(scalar, columns, rows),
            Type::Pointer { space, pointee } => self.pointer_type(space, pointee),
            Type::BufferReference { pointee } => self.reference_type(pointee),
            Type::Image(image) => self.image_type(image),
            Type::SampledImage(image) => self.sampled_image_type(image),
            Type::Sampler => self.sampler_type(),
            Type::AtomicCounter => {
                self.needs.capability(Capability::AtomicStorage);
                self.scalar_type(Scalar::U32)
            }
            Type::AccelerationStructure => {
                let is_traced = self.module.entry_points.iter().any(|entry| entry.stage.is_of_rays());
                self.needs.capability(if is_traced { self.of_rays() } else { Capability::RayQueryKHR });
                self.wrapped_type(Op::TypeAccelerationStructureKHR, 0)
            }
            Type::RayQuery => {
                self.needs.capability(Capability::RayQueryKHR);
                self.wrapped_type(Op::TypeRayQueryKHR, 0)
            }
            Type::HitObject { nvidia: true } => {
                self.needs.capability(Capability::ShaderInvocationReorderNV);
                self.wrapped_type(Op::TypeHitObjectNV, 0)
            }
            Type::HitObject { nvidia: false } => {
                self.needs.capability(Capability::ShaderInvocationReorderEXT);
                self.wrapped_type(Op::TypeHitObjectEXT, 0)
            }
            Type::Foreign(index) => self.foreign_type(index),
            Type::CooperativeMatrix(matrix) => self.cooperative_type(matrix),
            Type::Array { .. } | Type::Struct(_) => self.internal("an aggregate where none can be"),
        }
    }

    fn array_type(&mut self, element: Word, len: ArrayLen, stride: Option<u32>) -> Word {
        let len = match len {
            ArrayLen::Fixed(count) => self.u32(count),
            ArrayLen::Spec(count) => self.constant(count),
            ArrayLen::Runtime => 0,
        };
        let stride = stride.unwrap_or(0);
        self.keyed(Key::Array { element, len, stride }, |m, id| {
            match len {
                0 => m.out.globals.named(Op::TypeRuntimeArray, id, &[element]),
                _ => m.out.globals.named(Op::TypeArray, id, &[element, len]),
            }
            if stride != 0 {
                m.decorate(id, Decoration::ArrayStride, &[stride]);
            }
        })
    }

    fn value_struct(&mut self, of: StructId) -> Word {
        let module = self.module;
        let of = module.types.structs[of].logical.unwrap_or(of);
        if self.types.structs[of.index()] != 0 {
            return self.types.structs[of.index()];
        }
        let members: SmallVec<[Word; 8]> =
            module.types.structs[of].members.iter().map(|m| self.value_type(m.ty)).collect();
        let id = self.declare_struct(of, &members);
        self.types.structs[of.index()] = id;
        id
    }

    fn memory_struct(&mut self, of: StructId) -> Word {
        let module = self.module;
        let item = &module.types.structs[of];
        let members: SmallVec<[Word; 8]> = item.members.iter().map(|m| self.memory_type(m.ty)).collect();
        let id = self.declare_struct(of, &members);
        if item.block {
            let is_buffer = self.buffer_blocks.as_ref().is_some_and(|buffers| buffers.contains(&of));
            self.decorate(id, if is_buffer { Decoration::BufferBlock } else { Decoration::Block }, &[]);
        }
        for (index, member) in item.members.iter().enumerate() {
            self.lay_out_member(id, index as Word, member);
        }
        id
    }

    fn declare_struct(&mut self, of: StructId, members: &[Word]) -> Word {
        let id = self.id();
        self.out.globals.named(Op::TypeStruct, id, members);
        self.name_struct(id, &self.module.types.structs[of]);
        id
    }

    fn lay_out_member(&mut self, id: Word, index: Word, member: &Member) {
        if let Some(offset) = member.offset {
            self.decorate_member(id, index, Decoration::Offset, &[offset]);
        }
        if let Some(MatrixLayout { stride, row_major }) = matrix_layout(&self.module.types, member.ty) {
            let major = if row_major { Decoration::RowMajor } else { Decoration::ColMajor };
            self.decorate_member(id, index, major, &[]);
            self.decorate_member(id, index, Decoration::MatrixStride, &[stride]);
        }
        for decoration in access_decorations(member.access) {
            if !self.is_of_accesses(decoration) {
                self.decorate_member(id, index, decoration, &[]);
            }
        }
    }

    /// Requests the capabilities for small scalars in a buffer of this space (SPIR-V 1.6 section 3.31, 8- and 16-bit
    /// access). For an encoded float, its type's capability is enough. If there is no capability for memory alone, the
    /// type's own is used.
    pub fn need_storage_of(&mut self, space: Space, id: TypeId) {
        match self.module.types.get(id) {
            Type::Array { element, .. } => self.need_storage_of(space, element),
            Type::Struct(of) => {
                let module = self.module;
                module.types.structs[of].members.iter().for_each(|m| self.need_storage_of(space, m.ty));
            }
            _ => {
                let scalar = self.module.types.scalar_of(id).filter(|scalar| scalar.encoding().is_none());
                let class = self.class_of(space, id);
                match scalar.and_then(|scalar| storage_capability((space, class), scalar.width)) {
                    Some(capability) => self.needs.capability(capability),
                    None => self.need_narrow_type(id),
                }
            }
        }
    }
}

const fn storage_capability((space, class): (Space, StorageClass), width: u8) -> Option<Capability> {
    Some(match (space, width) {
        (Space::Storage, 8) if matches!(class, StorageClass::Uniform) => Capability::UniformAndStorageBuffer8BitAccess,
        (Space::Storage | Space::Physical, 8) => Capability::StorageBuffer8BitAccess,
        (Space::Uniform, 8) => Capability::UniformAndStorageBuffer8BitAccess,
        (Space::PushConstant, 8) => Capability::StoragePushConstant8,
        (Space::Storage | Space::Physical, 16) => Capability::StorageBuffer16BitAccess,
        (Space::Uniform, 16) => Capability::UniformAndStorageBuffer16BitAccess,
        (Space::PushConstant, 16) => Capability::StoragePushConstant16,
        (Space::Workgroup, 8) => Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
        (Space::Workgroup, 16) => Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
        (Space::Input | Space::Output, 16) => Capability::StorageInputOutput16,
        _ => return None,
    })
}

const fn in_memory(scalar: Scalar) -> Scalar {
    if scalar.is_bool() { Scalar::U32 } else { scalar }
}

/// The layout of a matrix member, or of the matrices in an array member.
fn matrix_layout(types: &Types, id: TypeId) -> Option<MatrixLayout> {
    match types.get(id) {
        Type::Matrix { layout, .. } => layout,
        Type::Array { element, .. } => matrix_layout(types, element),
        _ => None,
    }
}
