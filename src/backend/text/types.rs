//! Types: naga's writers place members and elements by the rules of WGSL (14.4, Memory Layout), so what lies elsewhere is
//! made to lie there by members that pad.

use super::memory::Hop;
use super::translator::Translator;
use crate::diagnostic::Code;
use crate::ir::{self, ArrayLen, ImageType, MatrixLayout, Scalar, ScalarKind, StructId, TypeId, Types};
use naga::{ArraySize, Handle, StorageAccess, StructMember, Type, TypeInner, VectorSize};
use std::num::NonZeroU32;

/// Members that pad one gap at most.
const MOST_PADS: u32 = 64;

/// Paths from a variable to the parts that atomic operations reach.
pub(super) type Paths<'p> = Vec<&'p [Hop]>;

/// The size of a vector.
pub(super) const fn size_of(components: u8) -> VectorSize {
    match components {
        2 => VectorSize::Bi,
        3 => VectorSize::Tri,
        _ => VectorSize::Quad,
    }
}

/// A scalar as naga has it.
pub(super) const fn scalar_of(scalar: Scalar) -> naga::Scalar {
    let kind = match scalar.kind {
        ScalarKind::Bool => return naga::Scalar::BOOL,
        ScalarKind::Sint => naga::ScalarKind::Sint,
        ScalarKind::Uint => naga::ScalarKind::Uint,
        ScalarKind::Float | ScalarKind::Encoded(_) => naga::ScalarKind::Float,
    };
    naga::Scalar { kind, width: scalar.width / 8 }
}

/// The paths that go on after a hop.
fn after<'p>(paths: &Paths<'p>, hop: Hop) -> Paths<'p> {
    paths
        .iter()
        .filter_map(|path| path.split_first())
        .filter(|(first, _)| **first == hop)
        .map(|(_, rest)| rest)
        .collect()
}

/// Returns true if the language lays out a matrix so.
pub(super) const fn is_natural(scalar: Scalar, rows: u8, layout: MatrixLayout) -> bool {
    let natural = scalar.bytes() * if rows == 3 { 4 } else { rows as u32 };
    !layout.row_major && layout.stride == natural
}

impl Translator<'_> {
    /// The type of values.
    pub fn value_type(&mut self, id: TypeId) -> Handle<Type> {
        self.memory_type(id, false)
    }

    /// The type of memory without atomics.
    pub fn memory_type(&mut self, id: TypeId, is_laid_out: bool) -> Handle<Type> {
        self.make(id, is_laid_out, &Paths::new())
    }

    /// The type of memory of which atomic operations reach the parts at the end of the paths.
    pub fn make(&mut self, id: TypeId, is_laid_out: bool, atomics: &Paths) -> Handle<Type> {
        if let Some(known) = self.made_types.get(&(id, is_laid_out)).filter(|_| atomics.is_empty()) {
            return *known;
        }
        let made = match self.types.get(id) {
            ir::Type::Struct(id) => self.structure(id, 0, is_laid_out, atomics),
            ir::Type::Array { element, len, stride } => self.array(element, len, stride, is_laid_out, atomics),
            ir::Type::Matrix { scalar, columns, rows, layout: Some(layout) } if !is_natural(scalar, rows, layout) => {
                self.matrix_as_array(scalar, (columns, rows), layout)
            }
            other => {
                let inner = self.plain(other, is_laid_out, atomics);
                self.add(None, inner)
            }
        };
        if atomics.is_empty() {
            self.made_types.insert((id, is_laid_out), made);
        }
        made
    }

    fn plain(&mut self, ty: ir::Type, is_laid_out: bool, atomics: &Paths) -> TypeInner {
        match ty {
            ir::Type::Scalar(scalar) => {
                let scalar = self.scalar(scalar, is_laid_out);
                if atomics.is_empty() { TypeInner::Scalar(scalar) } else { TypeInner::Atomic(scalar) }
            }
            ir::Type::Vector { scalar, size } => {
                TypeInner::Vector { scalar: self.scalar(scalar, is_laid_out), size: size_of(size) }
            }
            ir::Type::Matrix { scalar, columns, rows, .. } => {
                let scalar = self.scalar(scalar, false);
                TypeInner::Matrix { columns: size_of(columns), rows: size_of(rows), scalar }
            }
            ir::Type::Image(image) => self.image(image),
            ir::Type::Sampler => TypeInner::Sampler { comparison: false },
            ir::Type::SampledImage(_) => self.refused("images that have a sampler of their own"),
            ir::Type::BufferReference { .. } => self.refused("buffer references"),
            ir::Type::AccelerationStructure | ir::Type::RayQuery => self.refused("ray queries"),
            ir::Type::AtomicCounter => self.refused("atomic counters"),
            ir::Type::HitObject { .. } => self.refused("hit objects"),
            ir::Type::CooperativeMatrix(_) => self.refused("cooperative matrices"),
            ir::Type::Foreign(_) => self.refused("types of SPIR-V's own"),
            ir::Type::Pointer { .. } | ir::Type::Void | ir::Type::Array { .. } | ir::Type::Struct(_) => {
                self.internal("such a type of a value");
                TypeInner::Scalar(naga::Scalar::U32)
            }
        }
    }

    fn refused(&mut self, construct: &str) -> TypeInner {
        self.unsupported(construct);
        TypeInner::Scalar(naga::Scalar::U32)
    }

    fn scalar(&mut self, scalar: Scalar, is_laid_out: bool) -> naga::Scalar {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Bool, _) if is_laid_out => naga::Scalar::U32,
            (kind, bits) if kind == ScalarKind::Bool || self.target().has_width(scalar.is_float(), bits) => {
                scalar_of(scalar)
            }
            _ => {
                let profile = &self.options.profile;
                let name = ir::print::scalar_name(scalar);
                self.fail(Code::NOT_SUPPORTED, profile.lacks_type(&name, scalar.is_float(), scalar.width));
                naga::Scalar::U32
            }
        }
    }

    /// A matrix in memory that the language would lay out otherwise: an array of its columns, or of its rows.
    fn matrix_as_array(&mut self, scalar: Scalar, (columns, rows): (u8, u8), layout: MatrixLayout) -> Handle<Type> {
        let (count, size) = if layout.row_major { (rows, columns) } else { (columns, rows) };
        let part = self.types.vector(scalar, size);
        self.array(part, ArrayLen::Fixed(count.into()), Some(layout.stride), true, &Paths::new())
    }

    fn image(&mut self, image: ImageType) -> TypeInner {
        match self.texture(image, StorageAccess::STORE).filter(|_| !image.storage) {
            Some(inner) => inner,
            None => self.refused("textures of this kind as parameters"),
        }
    }

    /// Adds a type and computes its layout.
    pub fn add(&mut self, name: Option<String>, inner: TypeInner) -> Handle<Type> {
        let here = self.here();
        let made = self.out.types.insert(Type { name, inner }, here);
        // Types that have no layout are never members of others.
        let _ = self.layouter.update(self.out.to_ctx());
        made
    }

    pub fn vector(&mut self, scalar: naga::Scalar, components: u8) -> Handle<Type> {
        let inner = match components {
            1 => TypeInner::Scalar(scalar),
            _ => TypeInner::Vector { size: size_of(components), scalar },
        };
        self.add(None, inner)
    }

    fn array(
        &mut self,
        element: TypeId,
        len: ArrayLen,
        stride: Option<u32>,
        is_laid_out: bool,
        atomics: &Paths,
    ) -> Handle<Type> {
        let size = self.length(len);
        self.array_of(element, size, stride, is_laid_out, atomics)
    }

    fn array_of(
        &mut self,
        element: TypeId,
        size: ArraySize,
        stride: Option<u32>,
        is_laid_out: bool,
        atomics: &Paths,
    ) -> Handle<Type> {
        let base = self.element(element, stride, is_laid_out, &after(atomics, Hop::Element));
        let stride = self.layouter[base].to_stride();
        self.add(None, TypeInner::Array { base, size, stride })
    }

    /// Only a variable in workgroup memory can be an array as long as a specialization constant says, and its elements cannot
    /// (WGSL 6.2.9).
    pub fn workgroup_type(&mut self, id: TypeId, atomics: &Paths) -> Handle<Type> {
        let ir::Type::Array { element, len: ArrayLen::Spec(len), stride } = self.types.get(id) else {
            return self.make(id, false, atomics);
        };
        let size = self.specialized_length(len);
        self.array_of(element, size, stride, false, atomics)
    }

    fn length(&mut self, len: ArrayLen) -> ArraySize {
        match len {
            ArrayLen::Runtime => ArraySize::Dynamic,
            ArrayLen::Fixed(len) => ArraySize::Constant(NonZeroU32::new(len).unwrap_or(NonZeroU32::MIN)),
            ArrayLen::Spec(_) => {
                self.lacks("arrays with a specialization constant as their length, except in workgroup memory");
                ArraySize::Constant(NonZeroU32::MIN)
            }
        }
    }

    /// The element of an array, with what pads it to the stride.
    fn element(&mut self, id: TypeId, stride: Option<u32>, is_laid_out: bool, atomics: &Paths) -> Handle<Type> {
        let base = self.make(id, is_laid_out, atomics);
        let natural = self.layouter[base].to_stride();
        match stride {
            Some(stride) if stride < natural => {
                self.layout_refused();
                base
            }
            Some(stride) if stride > natural => match self.types.get(id) {
                ir::Type::Struct(id) => self.structure(id, stride, is_laid_out, atomics),
                _ => self.wrapper(base, stride),
            },
            _ => base,
        }
    }

    fn layout_refused(&mut self) {
        self.lacks("layout with members or elements as close to each other as here");
    }

    fn wrapper(&mut self, base: Handle<Type>, stride: u32) -> Handle<Type> {
        let mut members = vec![StructMember { name: Some("value".into()), ty: base, binding: None, offset: 0 }];
        let end = self.layouter[base].size;
        self.pad(&mut members, end, stride);
        let made = self.add(Some("Strided".into()), TypeInner::Struct { members, span: stride });
        self.wrappers.insert(made);
        made
    }

    /// Adds members that fill the bytes from `offset` to `end`.
    fn pad(&mut self, members: &mut Vec<StructMember>, offset: u32, end: u32) {
        let ty = self.vector(naga::Scalar::U32, 1);
        let first = offset.next_multiple_of(4);
        if end.saturating_sub(first) / 4 > MOST_PADS || !end.is_multiple_of(4) {
            self.unsupported("gaps of so many bytes between members");
            return;
        }
        for offset in (first..end).step_by(4) {
            let name = Some(format!("pad_{offset}_"));
            members.push(StructMember { name, ty, binding: None, offset });
        }
    }

    /// A struct of at least so many bytes.
    fn structure(&mut self, id: StructId, least: u32, is_laid_out: bool, atomics: &Paths) -> Handle<Type> {
        let types = self.types.clone_struct(id);
        let (mut members, mut places) = (Vec::new(), Vec::new());
        let (mut end, mut align) = (0, naga::proc::Alignment::ONE);
        for (index, member) in (0..).zip(&types.members) {
            let is_laid_out = is_laid_out || member.offset.is_some();
            let ty = self.make(member.ty, is_laid_out, &after(atomics, Hop::Member(index)));
            let layout = self.layouter[ty];
            let natural = layout.alignment.round_up(end);
            let offset = member.offset.unwrap_or(natural);
            if offset < natural || !layout.alignment.is_aligned(offset) {
                self.layout_refused();
            } else if offset > natural {
                self.pad(&mut members, end, offset);
            }
            places.push(members.len() as u32);
            members.push(StructMember { name: Some(member.name.to_string()), ty, binding: None, offset });
            end = offset + layout.size;
            align = align.max(layout.alignment);
        }
        if least > align.round_up(end) {
            self.pad(&mut members, end, least);
            end = least;
        }
        let span = align.round_up(end);
        let made = self.add(Some(types.name.to_string()), TypeInner::Struct { members, span });
        self.members.insert(made, places);
        made
    }

    /// The scalar and the number of components of a scalar or vector.
    pub fn shape(&self, id: TypeId) -> Option<(Scalar, u8)> {
        Some((self.types.scalar_of(id)?, self.types.components(id)?))
    }
}

impl Types {
    /// A struct's description, to look at while types are added.
    fn clone_struct(&self, id: StructId) -> ir::Struct {
        self.structs[id].clone()
    }
}
