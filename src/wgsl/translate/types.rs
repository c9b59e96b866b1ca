//! Types: every naga type gets a logical `ir` type and, if a buffer contains it, a version with a layout.
//!
//! Layout (offsets, array strides) comes from naga, which follows WGSL 14.4.1 "Memory Layout"; matrix strides follow
//! from the column type. In uniform buffers, matrices whose columns are too close for Vulkan are structs of columns:
//! see [`super::columns`]. Acceleration structures and cooperative matrices are refused.

use super::{Outcome, Shader};
use crate::ir::{
    self, Access, ArrayLen, ImageDim, ImageType, MatrixLayout, Member, Scalar, ScalarKind, Space, Struct, Type, TypeId,
    Types,
};
use crate::source::Span;
use naga::{ArraySize, Handle, ImageClass, StorageFormat, TypeInner};
use rustc_hash::FxHashMap;

/// The types met so far.
#[derive(Default)]
pub(super) struct TypeMap {
    logical: FxHashMap<Handle<naga::Type>, TypeId>,
    laid_out: FxHashMap<(Handle<naga::Type>, Layout), TypeId>,
    /// True for the types that contain matrices with columns of less than 16 bytes.
    pub(super) narrow: FxHashMap<Handle<naga::Type>, bool>,
}

/// The memory layout of a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// The outermost struct of a buffer.
    pub block: bool,
    /// Matrices with narrow columns are structs of columns.
    pub split: bool,
}

impl Layout {
    const fn inner(self) -> Layout {
        Layout { block: false, ..self }
    }
}

/// naga's scalar in `ir`; `None` for abstract numbers, which do not exist at run time.
pub(super) fn scalar(of: naga::Scalar) -> Option<Scalar> {
    let kind = match of.kind {
        naga::ScalarKind::Sint => ScalarKind::Sint,
        naga::ScalarKind::Uint => ScalarKind::Uint,
        naga::ScalarKind::Float => ScalarKind::Float,
        naga::ScalarKind::Bool => return Some(Scalar::BOOL),
        naga::ScalarKind::AbstractInt | naga::ScalarKind::AbstractFloat => return None,
    };
    Some(Scalar { kind, width: of.width * 8 })
}

/// A texture type in `ir`; `None` for formats that SPIR-V lacks. An external texture is a texture of its colors.
pub(super) fn image_type(dim: naga::ImageDimension, arrayed: bool, class: ImageClass) -> Option<ImageType> {
    let dim = match dim {
        naga::ImageDimension::D1 => ImageDim::D1,
        naga::ImageDimension::D2 => ImageDim::D2,
        naga::ImageDimension::D3 => ImageDim::D3,
        naga::ImageDimension::Cube => ImageDim::Cube,
    };
    let plain =
        ImageType { sampled: Scalar::F32, dim, arrayed, multisampled: false, depth: false, storage: false, format: 0 };
    Some(match class {
        ImageClass::Sampled { kind, multi } => {
            let sampled = scalar(naga::Scalar { kind, width: 4 })?;
            ImageType { sampled, multisampled: multi, ..plain }
        }
        ImageClass::Depth { multi } => ImageType { multisampled: multi, depth: true, ..plain },
        ImageClass::External => plain,
        ImageClass::Storage { format, .. } => {
            ImageType { sampled: scalar(format.into())?, storage: true, format: format_number(format)?, ..plain }
        }
    })
}

/// SPIR-V's number of a format (section 3.11).
fn format_number(of: StorageFormat) -> Option<u8> {
    use StorageFormat as F;
    Some(match of {
        F::Rgba32Float => 1,
        F::Rgba16Float => 2,
        F::R32Float => 3,
        F::Rgba8Unorm => 4,
        F::Rgba8Snorm => 5,
        F::Rg32Float => 6,
        F::Rg16Float => 7,
        F::Rg11b10Ufloat => 8,
        F::R16Float => 9,
        F::Rgba16Unorm => 10,
        F::Rgb10a2Unorm => 11,
        F::Rg16Unorm => 12,
        F::Rg8Unorm => 13,
        F::R16Unorm => 14,
        F::R8Unorm => 15,
        F::Rgba16Snorm => 16,
        F::Rg16Snorm => 17,
        F::Rg8Snorm => 18,
        F::R16Snorm => 19,
        F::R8Snorm => 20,
        F::Rgba32Sint => 21,
        F::Rgba16Sint => 22,
        F::Rgba8Sint => 23,
        F::R32Sint => 24,
        F::Rg32Sint => 25,
        F::Rg16Sint => 26,
        F::Rg8Sint => 27,
        F::R16Sint => 28,
        F::R8Sint => 29,
        F::Rgba32Uint => 30,
        F::Rgba16Uint => 31,
        F::Rgba8Uint => 32,
        F::R32Uint => 33,
        F::Rgb10a2Uint => 34,
        F::Rg32Uint => 35,
        F::Rg16Uint => 36,
        F::Rg8Uint => 37,
        F::R16Uint => 38,
        F::R8Uint => 39,
        F::R64Uint => 40,
        F::Bgra8Unorm => return None,
    })
}

/// The `ir` space of naga's address space; `None` for ray and mesh stages.
pub(super) fn space(of: naga::AddressSpace) -> Option<Space> {
    Some(match of {
        naga::AddressSpace::Function => Space::Function,
        naga::AddressSpace::Private => Space::Private,
        naga::AddressSpace::WorkGroup => Space::Workgroup,
        naga::AddressSpace::Uniform => Space::Uniform,
        naga::AddressSpace::Storage { .. } => Space::Storage,
        naga::AddressSpace::Immediate => Space::PushConstant,
        naga::AddressSpace::Handle => Space::Handle,
        _ => return None,
    })
}

/// Bytes between the columns of a matrix with `rows` rows (WGSL 14.4.1: the column's size rounded to its alignment).
pub(super) fn column_stride(scalar: Scalar, rows: u8) -> u32 {
    let components = if rows == 3 { 4 } else { u32::from(rows) };
    components * scalar.bytes()
}

/// A struct with a layout, and the logical struct of its members.
fn with_twin(out: &mut ir::Module, name: ir::Name, members: Vec<Member>, block: bool) -> TypeId {
    let plain = members.iter().map(|laid| member(&laid.name, out.types.logical(laid.ty), None)).collect();
    let logical = out.types.add_struct(Struct {
        name: name.clone(),
        span: Span::NONE,
        members: plain,
        block: false,
        logical: None,
    });
    let logical = struct_of(&out.types, logical);
    out.types.add_struct(Struct { name, span: Span::NONE, members, block, logical })
}

/// The columns of a matrix as members of a struct.
fn split_columns(
    out: &mut ir::Module,
    name: &str,
    scalar: Scalar,
    (columns, rows): (u8, u8),
    offset: u32,
) -> Vec<Member> {
    let column = out.types.vector(scalar, rows);
    let stride = column_stride(scalar, rows);
    let columns = 0..u32::from(columns);
    columns.map(|at| member(&format!("{name}_{at}"), column, Some(offset + at * stride))).collect()
}

fn member(name: &str, ty: TypeId, offset: Option<u32>) -> Member {
    Member { name: name.into(), span: Span::NONE, ty, offset, access: Access::empty(), binding: ir::Binding::None }
}

impl Shader<'_> {
    /// The type that values of a naga type have.
    pub(super) fn logical(&mut self, out: &mut ir::Module, ty: Handle<naga::Type>) -> Outcome<TypeId> {
        if let Some(known) = self.types.logical.get(&ty) {
            return Ok(*known);
        }
        let naga = self.naga;
        let id = match &naga.types[ty].inner {
            TypeInner::Struct { members, .. } => self.logical_struct(out, ty, members)?,
            inner => self.logical_inner(out, inner, naga.types.get_span(ty))?,
        };
        self.types.logical.insert(ty, id);
        Ok(id)
    }

    /// The logical form of a type that may be missing from naga's arena. Structs are always in it.
    pub(super) fn logical_inner(&mut self, out: &mut ir::Module, of: &TypeInner, at: naga::Span) -> Outcome<TypeId> {
        match *of {
            TypeInner::Scalar(of) | TypeInner::Atomic(of) => {
                let of = self.scalar(of, at)?;
                Ok(out.types.scalar(of))
            }
            TypeInner::Vector { size, scalar } => {
                let scalar = self.scalar(scalar, at)?;
                Ok(out.types.vector(scalar, size as u8))
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let scalar = self.scalar(scalar, at)?;
                Ok(out.types.matrix(scalar, columns as u8, rows as u8))
            }
            TypeInner::Array { base, size, .. } => {
                let element = self.logical(out, base)?;
                let len = self.array_len(out, size)?;
                Ok(out.types.array(element, len))
            }
            TypeInner::Pointer { base, space } => {
                let pointee = self.logical(out, base)?;
                let space = self.space(space, at)?;
                Ok(out.types.pointer(space, pointee))
            }
            TypeInner::Image { dim, arrayed, class } => match image_type(dim, arrayed, class) {
                Some(image) => Ok(out.types.intern(Type::Image(image))),
                None => Err(self.type_unsupported(of, at)),
            },
            TypeInner::Sampler { .. } => Ok(out.types.intern(Type::Sampler)),
            _ => Err(self.type_unsupported(of, at)),
        }
    }

    fn logical_struct(
        &mut self,
        out: &mut ir::Module,
        ty: Handle<naga::Type>,
        members: &[naga::StructMember],
    ) -> Outcome<TypeId> {
        if self.naga.special_types.predeclared_types.values().any(|known| *known == ty) {
            let first = self.logical(out, members[0].ty)?;
            let second = self.logical(out, members[1].ty)?;
            return Ok(out.types.pair(first, second));
        }
        let mut list = Vec::with_capacity(members.len());
        for m in members {
            list.push(member(m.name.as_deref().unwrap_or(""), self.logical(out, m.ty)?, None));
        }
        let name = self.struct_name(ty);
        Ok(out.types.add_struct(Struct { name, span: Span::NONE, members: list, block: false, logical: None }))
    }

    fn struct_name(&self, ty: Handle<naga::Type>) -> ir::Name {
        self.naga.types[ty].name.as_deref().unwrap_or("Struct").into()
    }

    /// The type that memory of a buffer has.
    pub(super) fn laid_out(&mut self, out: &mut ir::Module, ty: Handle<naga::Type>, layout: Layout) -> Outcome<TypeId> {
        // A type without such matrices has one form for all buffers.
        let layout = Layout { split: layout.split && self.has_narrow_columns(ty), ..layout };
        if let Some(known) = self.types.laid_out.get(&(ty, layout)) {
            return Ok(*known);
        }
        let naga = self.naga;
        let id = match &naga.types[ty].inner {
            TypeInner::Struct { members, .. } => self.laid_out_struct(out, ty, members, layout)?,
            TypeInner::Matrix { columns, rows, scalar } => {
                let scalar = self.scalar(*scalar, naga.types.get_span(ty))?;
                let (columns, rows, stride) = (*columns as u8, *rows as u8, column_stride(scalar, *rows as u8));
                match layout.split {
                    true => {
                        let members = split_columns(out, "column", scalar, (columns, rows), 0);
                        with_twin(out, "Columns".into(), members, false)
                    }
                    false => {
                        let layout = Some(MatrixLayout { stride, row_major: false });
                        out.types.intern(Type::Matrix { scalar, columns, rows, layout })
                    }
                }
            }
            TypeInner::Array { base, size, stride } => {
                let element = self.laid_out(out, *base, layout.inner())?;
                let len = self.array_len(out, *size)?;
                out.types.intern(Type::Array { element, len, stride: Some(*stride) })
            }
            _ => self.logical(out, ty)?,
        };
        self.types.laid_out.insert((ty, layout), id);
        Ok(id)
    }

    fn laid_out_struct(
        &mut self,
        out: &mut ir::Module,
        ty: Handle<naga::Type>,
        members: &[naga::StructMember],
        layout: Layout,
    ) -> Outcome<TypeId> {
        let mut list = Vec::with_capacity(members.len());
        for m in members {
            let name = m.name.as_deref().unwrap_or("");
            match self.naga.types[m.ty].inner {
                TypeInner::Matrix { columns, rows, scalar } if layout.split && self.has_narrow_columns(m.ty) => {
                    let scalar = self.scalar(scalar, self.naga.types.get_span(m.ty))?;
                    list.extend(split_columns(out, name, scalar, (columns as u8, rows as u8), m.offset));
                }
                _ => {
                    let laid = self.laid_out(out, m.ty, layout.inner())?;
                    list.push(member(name, laid, Some(m.offset)));
                }
            }
        }
        let name = self.struct_name(ty);
        if layout.split {
            return Ok(with_twin(out, name, list, layout.block));
        }
        let logical = self.logical(out, ty)?;
        let logical = struct_of(&out.types, logical);
        Ok(out.types.add_struct(Struct { name, span: Span::NONE, members: list, block: layout.block, logical }))
    }

    /// A block with one member at offset 0, for buffers that are not structs.
    pub(super) fn wrapped(
        &mut self,
        out: &mut ir::Module,
        ty: Handle<naga::Type>,
        name: &str,
        split: bool,
    ) -> Outcome<TypeId> {
        let block_name = format!("{name}_block").into();
        if let TypeInner::Matrix { columns, rows, scalar } = self.naga.types[ty].inner
            && split
            && self.has_narrow_columns(ty)
        {
            let scalar = self.scalar(scalar, self.naga.types.get_span(ty))?;
            let members = split_columns(out, name, scalar, (columns as u8, rows as u8), 0);
            return Ok(with_twin(out, block_name, members, true));
        }
        let laid = self.laid_out(out, ty, Layout { block: false, split })?;
        Ok(with_twin(out, block_name, vec![member(name, laid, Some(0))], true))
    }

    fn array_len(&mut self, out: &mut ir::Module, size: ArraySize) -> Outcome<ArrayLen> {
        Ok(match size {
            ArraySize::Constant(len) => ArrayLen::Fixed(len.get()),
            ArraySize::Pending(by) => ArrayLen::Spec(self.override_const(out, by)?),
            ArraySize::Dynamic => ArrayLen::Runtime,
        })
    }

    pub(super) fn scalar(&self, of: naga::Scalar, at: naga::Span) -> Outcome<Scalar> {
        scalar(of).ok_or_else(|| self.unsupported("an abstract number outside constant expressions", at))
    }

    pub(super) fn space(&self, of: naga::AddressSpace, at: naga::Span) -> Outcome<Space> {
        space(of).ok_or_else(|| self.unsupported("this address space", at))
    }

    fn type_unsupported(&self, of: &TypeInner, at: naga::Span) -> super::Failure {
        let what = match of {
            TypeInner::Image { .. } => "this kind of texture",
            TypeInner::AccelerationStructure { .. } | TypeInner::RayQuery { .. } => "ray queries",
            TypeInner::BindingArray { .. } => "an array of bindings",
            TypeInner::CooperativeMatrix { .. } => "a cooperative matrix",
            _ => "this type",
        };
        self.unsupported(what, at)
    }
}

fn struct_of(types: &Types, ty: TypeId) -> Option<ir::StructId> {
    match types.get(ty) {
        Type::Struct(id) => Some(id),
        _ => None,
    }
}
