//! Types: each has a logical form for values, and laid-out forms for memory whose layout the decorations give.

use super::binary::Insn;
use super::fault::Read;
use super::module::{Reader, has, identifier, number};
use super::variables::refuse;
use crate::backend::spirv::inverse::built_in_of;
use crate::ir::layout::DEPTH_LIMIT;
use crate::ir::{
    Access, ArrayLen, Binding, Encoding, Interpolation, MatrixLayout, Member, Module, Name, Sampling, Scalar,
    ScalarKind, Space, Struct, Type, TypeId, Types,
};
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass, Word};

/// The longest arrays of arrays, and the deepest structs, that the passes over types follow.
const DEEPEST: u32 = DEPTH_LIMIT / 2;

/// A type of the module.
#[derive(Clone, Debug)]
pub struct Ty {
    pub shape: Shape,
    /// The type of its values; `VOID` for pointers and functions.
    pub logical: TypeId,
    depth: u32,
}

/// What a type is made of.
#[derive(Clone, Debug)]
pub enum Shape {
    /// It has no layout of its own: a scalar, a vector, an image and the like.
    Plain,
    Matrix {
        scalar: Scalar,
        columns: u8,
        rows: u8,
    },
    Array {
        element: Word,
        len: ArrayLen,
    },
    Struct {
        members: Vec<Word>,
    },
    Pointer {
        class: StorageClass,
        pointee: Word,
    },
    Function {
        ret: Word,
        params: Vec<Word>,
    },
}

/// What makes two logical structs one: name, members, and whether it is a block.
pub type Key = (Name, Vec<(Name, TypeId)>, bool);

impl Reader<'_> {
    pub fn ty(&self, insn: &Insn<'_>, id: Word) -> Read<&Ty> {
        self.types.get(&id).ok_or_else(|| insn.wrong(format!("%{id} is not a type")))
    }

    /// The type of values of a type; pointers into buffers by address are values, too.
    pub fn value_type(&mut self, m: &mut Module, insn: &Insn<'_>, id: Word) -> Read<TypeId> {
        let ty = self.ty(insn, id)?;
        match ty.shape {
            Shape::Pointer { class, pointee } => self.pointer_type(m, insn, class, pointee),
            Shape::Function { .. } => Err(insn.wrong(format!("%{id} is the type of functions"))),
            _ => Ok(ty.logical),
        }
    }

    /// The type of pointers of a storage class to a type.
    pub fn pointer_type(
        &mut self,
        m: &mut Module,
        insn: &Insn<'_>,
        class: StorageClass,
        pointee: Word,
    ) -> Read<TypeId> {
        let space = self.space_of(insn, class, pointee)?;
        let target = self.memory_type(m, insn, space, pointee)?;
        match (space, m.types.get(target)) {
            (Space::Physical, Type::Struct(of)) => Ok(m.types.intern(Type::BufferReference { pointee: of })),
            _ => Ok(m.types.pointer(space, target)),
        }
    }

    /// The struct in arrays of arrays.
    pub fn innermost(&self, mut id: Word) -> Word {
        while let Some(Ty { shape: Shape::Array { element, .. }, .. }) = self.types.get(&id) {
            id = *element;
        }
        id
    }

    /// The kind of memory that a storage class is for variables of a type.
    pub fn space_of(&self, insn: &Insn<'_>, class: StorageClass, pointee: Word) -> Read<Space> {
        Ok(match class {
            StorageClass::Function => Space::Function,
            StorageClass::Private => Space::Private,
            StorageClass::Workgroup => Space::Workgroup,
            StorageClass::Uniform if self.has(self.innermost(pointee), Decoration::BufferBlock) => Space::Storage,
            StorageClass::Uniform => Space::Uniform,
            StorageClass::StorageBuffer => Space::Storage,
            StorageClass::PushConstant => Space::PushConstant,
            StorageClass::Input => Space::Input,
            StorageClass::Output => Space::Output,
            StorageClass::UniformConstant => Space::Handle,
            StorageClass::PhysicalStorageBuffer => Space::Physical,
            _ => return Err(insn.unread(format!("the storage class `{class:?}` is not read"))),
        })
    }

    /// The type of memory of a type in a space.
    pub fn memory_type(&mut self, m: &mut Module, insn: &Insn<'_>, space: Space, id: Word) -> Read<TypeId> {
        let is_block = space == Space::Workgroup && self.has(self.innermost(id), Decoration::Block);
        match space.is_laid_out() || is_block {
            true => self.lay_out(m, insn, id, None),
            false => match &self.ty(insn, id)?.shape {
                Shape::Pointer { class: StorageClass::PhysicalStorageBuffer, .. } => self.value_type(m, insn, id),
                Shape::Pointer { .. } => Err(insn.unread("pointers in memory are not read")),
                Shape::Function { .. } => Err(insn.wrong("a function in memory")),
                _ => Ok(self.ty(insn, id)?.logical),
            },
        }
    }

    /// The form of a type with the layout that the decorations give; `matrix` is the layout of matrices in it.
    fn lay_out(&mut self, m: &mut Module, insn: &Insn<'_>, id: Word, matrix: Option<MatrixLayout>) -> Read<TypeId> {
        if let Some(known) = self.laid.get(&(id, matrix)) {
            return Ok(*known);
        }
        let Ty { shape, logical, .. } = self.ty(insn, id)?.clone();
        let laid = match shape {
            Shape::Plain if m.types.components(logical).is_none() => {
                return Err(insn.unread(format!("%{id} cannot lie in memory with a layout")));
            }
            Shape::Plain => logical,
            Shape::Matrix { scalar, columns, rows } => {
                let layout = matrix.ok_or_else(|| insn.wrong(format!("the matrix %{id} in memory has no stride")))?;
                m.types.intern(Type::Matrix { scalar, columns, rows, layout: Some(layout) })
            }
            Shape::Array { element, len } => {
                let inner = self.lay_out(m, insn, element, matrix)?;
                let is_block =
                    matches!(m.types.get(m.types.innermost(inner)), Type::Struct(of) if m.types.structs[of].block);
                let stride = self.number(id, Decoration::ArrayStride);
                if stride.is_none() && !is_block {
                    return Err(insn.wrong(format!("the array %{id} in memory has no `ArrayStride`")));
                }
                m.types.intern(Type::Array { element: inner, len, stride })
            }
            Shape::Struct { members } => self.lay_out_struct(m, insn, id, &members)?,
            Shape::Pointer { class: StorageClass::PhysicalStorageBuffer, .. } => self.value_type(m, insn, id)?,
            Shape::Pointer { .. } | Shape::Function { .. } => {
                return Err(insn.unread("pointers in buffers are not read"));
            }
        };
        self.laid.insert((id, matrix), laid);
        Ok(laid)
    }

    fn lay_out_struct(&mut self, m: &mut Module, insn: &Insn<'_>, id: Word, members: &[Word]) -> Read<TypeId> {
        let logical = self.ty(insn, id)?.logical;
        let Type::Struct(plain) = m.types.get(logical) else { return Err(insn.wrong("a struct without members")) };
        let mut twin = m.types.structs[plain].clone();
        twin.logical = Some(plain);
        twin.block = has(self.decorations(id), Decoration::Block) || self.has(id, Decoration::BufferBlock);
        for (index, (member, ty)) in twin.members.iter_mut().zip(members).enumerate() {
            let list = self.member_decorations(id, index as Word);
            let offset = number(list, Decoration::Offset);
            let offset =
                offset.ok_or_else(|| insn.wrong(format!("member {index} of %{id} in memory has no `Offset`")))?;
            let (row_major, stride) = (has(list, Decoration::RowMajor), number(list, Decoration::MatrixStride));
            member.access = access_of(list);
            member.offset = Some(offset);
            member.ty = self.lay_out(m, insn, *ty, stride.map(|stride| MatrixLayout { stride, row_major }))?;
        }
        Ok(m.types.add_struct(twin))
    }

    /// Reads the declaration of a type; false for other instructions.
    pub fn declare_type(&mut self, m: &mut Module, insn: &Insn<'_>) -> Read<bool> {
        let plain = |logical| Ty { shape: Shape::Plain, logical, depth: 0 };
        let ty = match insn.op {
            Op::TypeVoid => plain(Types::VOID),
            Op::TypeBool => plain(Types::BOOL),
            Op::TypeInt => plain(m.types.scalar(int_type(insn)?)),
            Op::TypeFloat => plain(m.types.scalar(float_type(insn)?)),
            Op::TypeVector => {
                let scalar = self.scalar(m, insn, insn.arg(0)?)?;
                plain(m.types.vector(scalar, self.count(insn, insn.arg(1)?)?))
            }
            Op::TypeMatrix => self.matrix_type(m, insn)?,
            Op::TypeArray | Op::TypeRuntimeArray => self.array_type(m, insn)?,
            Op::TypeStruct => self.struct_type(m, insn)?,
            Op::TypeImage => plain(self.image_type(m, insn)?),
            Op::TypeSampler => plain(m.types.intern(Type::Sampler)),
            Op::TypeSampledImage => match m.types.get(self.ty(insn, insn.arg(0)?)?.logical) {
                Type::Image(image) => plain(m.types.intern(Type::SampledImage(image))),
                _ => return Err(insn.wrong("its operand is not an image type")),
            },
            Op::TypePointer => {
                let class = StorageClass::from_u32(insn.arg(0)?).ok_or_else(|| insn.wrong("no such storage class"))?;
                let shape = Shape::Pointer { class, pointee: insn.arg(1)? };
                Ty { shape, logical: Types::VOID, depth: 0 }
            }
            Op::TypeFunction => {
                let shape = Shape::Function { ret: insn.arg(0)?, params: insn.args[1..].to_vec() };
                Ty { shape, logical: Types::VOID, depth: 0 }
            }
            Op::TypeForwardPointer => return Err(insn.unread("pointers to types that come later are not read")),
            _ if insn.declares_type() => return Err(insn.unread("types of this kind are not read")),
            _ => return Ok(false),
        };
        match self.types.insert(insn.id, ty) {
            Some(_) => Err(insn.wrong(format!("%{} is there already", insn.id))),
            None => Ok(true),
        }
    }

    fn scalar(&self, m: &Module, insn: &Insn<'_>, id: Word) -> Read<Scalar> {
        match m.types.get(self.ty(insn, id)?.logical) {
            Type::Scalar(scalar) => Ok(scalar),
            _ => Err(insn.wrong(format!("%{id} is not a scalar type"))),
        }
    }

    fn count(&self, insn: &Insn<'_>, count: Word) -> Read<u8> {
        match count {
            2..=4 => Ok(count as u8),
            _ => Err(insn.unread("vectors and matrices have two to four components and columns")),
        }
    }

    fn matrix_type(&self, m: &mut Module, insn: &Insn<'_>) -> Read<Ty> {
        let Type::Vector { scalar, size: rows } = m.types.get(self.ty(insn, insn.arg(0)?)?.logical) else {
            return Err(insn.wrong("its columns are not vectors"));
        };
        if !scalar.is_float() {
            return Err(insn.wrong("its columns are not vectors of floats"));
        }
        let columns = self.count(insn, insn.arg(1)?)?;
        let logical = m.types.matrix(scalar, columns, rows);
        Ok(Ty { shape: Shape::Matrix { scalar, columns, rows }, logical, depth: 0 })
    }

    /// The type of an element or a member, and its depth.
    fn part(&mut self, m: &mut Module, insn: &Insn<'_>, id: Word) -> Read<(TypeId, u32)> {
        let Ty { shape, logical, depth } = self.ty(insn, id)?;
        let (logical, depth) = (*logical, *depth);
        match shape {
            Shape::Pointer { class: StorageClass::PhysicalStorageBuffer, .. } => Ok((self.value_type(m, insn, id)?, 0)),
            Shape::Pointer { .. } => Err(insn.unread("pointers as parts of other types are not read")),
            Shape::Function { .. } => Err(insn.wrong(format!("%{id} is the type of functions"))),
            _ if logical == Types::VOID => Err(insn.wrong(format!("%{id} has no values"))),
            _ if depth > DEEPEST => Err(insn.unread(format!("types are nested deeper than {DEEPEST}"))),
            _ => Ok((logical, depth + 1)),
        }
    }

    fn array_type(&mut self, m: &mut Module, insn: &Insn<'_>) -> Read<Ty> {
        let element = insn.arg(0)?;
        let (inner, depth) = self.part(m, insn, element)?;
        let len = match insn.op {
            Op::TypeRuntimeArray => ArrayLen::Runtime,
            _ => self.length(m, insn, insn.arg(1)?)?,
        };
        Ok(Ty { shape: Shape::Array { element, len }, logical: m.types.array(inner, len), depth })
    }

    fn length(&self, m: &Module, insn: &Insn<'_>, id: Word) -> Read<ArrayLen> {
        let known = self.constants.get(&id).ok_or_else(|| insn.wrong(format!("%{id} is not a constant")))?;
        if m.constants.is_spec(*known) {
            return Ok(ArrayLen::Spec(*known));
        }
        let count = m.constants.as_int(&m.types, *known).and_then(|count| u32::try_from(count).ok());
        match count {
            Some(count) if count > 0 => Ok(ArrayLen::Fixed(count)),
            _ => Err(insn.wrong(format!("%{id} is not the length of an array"))),
        }
    }

    fn struct_type(&mut self, m: &mut Module, insn: &Insn<'_>) -> Read<Ty> {
        let mut members = Vec::with_capacity(insn.args.len());
        let mut depth = 0;
        for (index, id) in (0..).zip(insn.args) {
            let (ty, inner) = self.part(m, insn, *id)?;
            depth = depth.max(inner);
            members.push(self.member(insn, index, ty)?);
        }
        let block = self.has(insn.id, Decoration::Block) || self.has(insn.id, Decoration::BufferBlock);
        let named = Some(self.name(insn.id)).filter(|name| !name.is_empty());
        let (name, span) = (Name::from(named.unwrap_or_else(|| format!("type_{}", insn.id))), self.span(insn.line));
        let key = (name.clone(), members.iter().map(|member| (member.name.clone(), member.ty)).collect(), block);
        let is_port = members.iter().any(|member| member.binding != Binding::None);
        let logical = match self.structs.get(&key).filter(|_| !is_port) {
            Some(known) => *known,
            None => {
                let made = m.types.add_struct(Struct { name, span, members, block, logical: None });
                self.structs.insert(key, made);
                made
            }
        };
        Ok(Ty { shape: Shape::Struct { members: insn.args.to_vec() }, logical, depth })
    }

    fn member(&self, insn: &Insn<'_>, index: Word, ty: TypeId) -> Read<Member> {
        let list = self.member_decorations(insn.id, index);
        refuse(insn, list)?;
        let named =
            self.member_names.get(&(insn.id, index)).map(|name| identifier(name)).filter(|name| !name.is_empty());
        let binding = match number(list, Decoration::BuiltIn) {
            Some(built_in) => {
                let known = BuiltIn::from_u32(built_in).and_then(built_in_of);
                Binding::BuiltIn(
                    known.ok_or_else(|| insn.unread(format!("the built-in variable {built_in} is not read")))?,
                )
            }
            None => match location_of(list) {
                Binding::Location {
                    location: None,
                    interpolation: Interpolation::Perspective,
                    sampling: Sampling::Center,
                    ..
                } => Binding::None,
                binding => binding,
            },
        };
        Ok(Member {
            name: named.unwrap_or_else(|| format!("member_{index}")).into(),
            span: self.span(insn.line),
            ty,
            offset: None,
            access: access_of(list) & Access::INVARIANT,
            binding,
        })
    }
}

/// How an input or output, or a member of a block of them, is passed.
pub fn location_of(list: &[(Decoration, &[Word])]) -> Binding {
    let interpolation = list.iter().find_map(|(decoration, _)| {
        Some(match decoration {
            Decoration::NoPerspective => Interpolation::Linear,
            Decoration::Flat => Interpolation::Flat,
            Decoration::Patch => Interpolation::Patch,
            Decoration::PerVertexKHR => Interpolation::PerVertex,
            Decoration::ExplicitInterpAMD => Interpolation::Explicit,
            Decoration::PerPrimitiveEXT => Interpolation::PerPrimitive { nvidia: false },
            _ => return None,
        })
    });
    let sampling = match (has(list, Decoration::Centroid), has(list, Decoration::Sample)) {
        (true, _) => Sampling::Centroid,
        (_, true) => Sampling::Sample,
        _ => Sampling::Center,
    };
    Binding::Location {
        location: number(list, Decoration::Location),
        component: number(list, Decoration::Component).unwrap_or(0),
        index: number(list, Decoration::Index).unwrap_or(0),
        interpolation: interpolation.unwrap_or_default(),
        sampling,
    }
}

/// The memory qualifiers among decorations.
pub fn access_of(list: &[(Decoration, &[Word])]) -> Access {
    let flags = list.iter().map(|(decoration, _)| match decoration {
        Decoration::NonWritable => Access::READONLY,
        Decoration::NonReadable => Access::WRITEONLY,
        Decoration::Coherent => Access::COHERENT,
        Decoration::Volatile => Access::VOLATILE,
        Decoration::Restrict => Access::RESTRICT,
        Decoration::Invariant => Access::INVARIANT,
        _ => Access::empty(),
    });
    flags.fold(Access::empty(), |all, flag| all | flag)
}

fn int_type(insn: &Insn<'_>) -> Read<Scalar> {
    let kind = if insn.arg(1)? == 0 { ScalarKind::Uint } else { ScalarKind::Sint };
    match insn.arg(0)? {
        width @ (8 | 16 | 32 | 64) => Ok(Scalar { kind, width: width as u8 }),
        width => Err(insn.unread(format!("integers of {width} bits are not read"))),
    }
}

fn float_type(insn: &Insn<'_>) -> Read<Scalar> {
    match (insn.arg(0)?, insn.args.get(1)) {
        (width @ (16 | 32 | 64), None) => Ok(Scalar { kind: ScalarKind::Float, width: width as u8 }),
        (16, Some(0)) => Ok(Scalar::encoded(Encoding::BFloat16)),
        _ => Err(insn.unread("floats of this kind are not read")),
    }
}
