//! Matrices with columns of less than 16 bytes in uniform buffers.
//!
//! WGSL places the columns of a `mat2x2<f32>` 8 bytes apart (WGSL 14.4.1). In uniform buffers Vulkan requires multiples
//! of 16 (15.8.4, Offset and Stride Assignment), and aligns structs to 16. So the columns of such a matrix become
//! members of the enclosing struct, or of a separate struct in an array, and each read assembles the matrix. The path
//! of the matrix is the path of its first column. Uniform memory does not change, so a dynamic index reads a column
//! from a copy of the matrix.

use super::function::Body;
use super::memory::PointerPath;
use super::types::column_stride;
use super::{Outcome, Shader};
use crate::ir::{BinaryOp, ControlHint, Types, Value};
use naga::{AddressSpace, Expression, Handle, StructMember, TypeInner};

/// The smallest distance of array elements and matrix columns in a uniform buffer.
const UNIFORM_STRIDE: u32 = 16;

impl Shader<'_> {
    /// Returns true if a type contains a matrix whose columns are closer together than uniform buffers allow.
    pub(super) fn has_narrow_columns(&mut self, ty: Handle<naga::Type>) -> bool {
        if let Some(known) = self.types.narrow.get(&ty) {
            return *known;
        }
        let naga = self.naga;
        let narrow = match &naga.types[ty].inner {
            TypeInner::Matrix { rows, scalar, .. } => {
                let scalar = super::types::scalar(*scalar);
                scalar.is_some_and(|scalar| column_stride(scalar, *rows as u8) < UNIFORM_STRIDE)
            }
            TypeInner::Array { base, .. } => self.has_narrow_columns(*base),
            TypeInner::Struct { members, .. } => members.iter().any(|member| self.has_narrow_columns(member.ty)),
            _ => false,
        };
        self.types.narrow.insert(ty, narrow);
        narrow
    }

    /// The columns of a type that is a matrix with narrow columns.
    pub(super) fn narrow_columns(&mut self, ty: Handle<naga::Type>) -> Option<u32> {
        match self.naga.types[ty].inner {
            TypeInner::Matrix { columns, .. } => self.has_narrow_columns(ty).then_some(columns as u32),
            _ => None,
        }
    }
}

impl Body<'_, '_, '_> {
    /// The target type of a pointer into a uniform buffer, if it contains split matrices.
    pub(super) fn split_in_memory(&mut self, pointer: Handle<Expression>) -> Option<Handle<naga::Type>> {
        let origin = self.origin?;
        match *origin.info[pointer].ty.inner_with(&self.shader.naga.types) {
            TypeInner::Pointer { base, space: AddressSpace::Uniform } => {
                self.shader.has_narrow_columns(base).then_some(base)
            }
            _ => None,
        }
    }

    /// Loads a value of a type with split matrices.
    pub(super) fn load_split(&mut self, path: &PointerPath, ty: Handle<naga::Type>) -> Outcome<Value> {
        if !self.shader.has_narrow_columns(ty) {
            return Ok(self.load_path(path));
        }
        let naga = self.shader.naga;
        let parts = match &naga.types[ty].inner {
            TypeInner::Array { base, size: naga::ArraySize::Constant(len), .. } => {
                return self.load_elements(path, ty, *base, len.get());
            }
            TypeInner::Struct { members, .. } => {
                let load = |at: usize| {
                    let part = self.split_member(path.clone(), members, at);
                    self.load_split(&part, members[at].ty)
                };
                (0..members.len()).map(load).collect::<Outcome<Vec<Value>>>()?
            }
            TypeInner::Matrix { columns, .. } => {
                let load = |at| {
                    let part = self.split_column(path.clone(), at);
                    self.load_path(&part)
                };
                (0..*columns as u32).map(load).collect()
            }
            _ => return Err(self.unexpected("such a type in a uniform buffer", naga.types.get_span(ty))),
        };
        let ty = self.shader.logical(self.b.module, ty)?;
        Ok(self.b.construct(ty, &parts))
    }

    /// An array goes through a variable, one element at a time.
    fn load_elements(
        &mut self,
        path: &PointerPath,
        ty: Handle<naga::Type>,
        element: Handle<naga::Type>,
        len: u32,
    ) -> Outcome<Value> {
        let ty = self.shader.logical(self.b.module, ty)?;
        let (copy, counter) = (self.b.local("", ty, None), self.b.local("", Types::U32, None));
        let (zero, one, len) = (self.b.const_u32(0), self.b.const_u32(1), self.b.const_u32(len));
        self.b.store(counter, zero);
        self.b.push_block();
        let at = self.b.load(counter);
        let part = self.split_element(path.clone(), element, at);
        let value = self.load_split(&part, element)?;
        let to = self.b.access(copy, &[at]);
        self.b.store(to, value);
        let body = self.b.pop_block();
        self.b.push_block();
        let at = self.b.load(counter);
        let next = self.b.binary(BinaryOp::Add, at, one);
        self.b.store(counter, next);
        let done = self.b.binary(BinaryOp::Ge, next, len);
        let continuing = self.b.pop_block();
        self.b.loop_(body, continuing, Some(done), ControlHint::None);
        Ok(self.b.load(copy))
    }

    /// The path to a part of the target of a pointer into a uniform buffer, if it contains split matrices.
    pub(super) fn split_part(&mut self, of: Handle<Expression>, index: Value) -> Outcome<Option<PointerPath>> {
        let Some(ty) = self.split_in_memory(of) else { return Ok(None) };
        let path = self.path(of)?;
        let known = match index {
            Value::Const(id) => self.b.module.constants.bits(id),
            _ => None,
        };
        let naga = self.shader.naga;
        Ok(Some(match (&naga.types[ty].inner, known) {
            (TypeInner::Struct { members, .. }, Some(at)) => self.split_member(path, members, at as usize),
            (TypeInner::Array { base, .. }, _) => self.split_element(path, *base, index),
            (_, Some(at)) => self.split_column(path, at as u32),
            (_, None) => {
                let copy = self.copy_of_matrix(&path, ty)?;
                self.element(copy, index)
            }
        }))
    }

    fn split_member(&mut self, path: PointerPath, members: &[StructMember], at: usize) -> PointerPath {
        let before = members[..at].iter().map(|member| self.shader.narrow_columns(member.ty).unwrap_or(1)).sum();
        path.then(self.b.const_u32(before))
    }

    fn split_element(&mut self, path: PointerPath, element: Handle<naga::Type>, index: Value) -> PointerPath {
        let path = self.element(path, index);
        match self.shader.narrow_columns(element) {
            Some(_) => path.then(self.b.const_u32(0)),
            None => path,
        }
    }

    /// Column numbers are relative to the first column, which the matrix's path leads to.
    fn split_column(&mut self, mut path: PointerPath, at: u32) -> PointerPath {
        let first = match path.indices.pop() {
            Some(Value::Const(id)) => self.b.module.constants.bits(id).unwrap_or(0) as u32,
            _ => 0,
        };
        path.then(self.b.const_u32(first + at))
    }

    fn copy_of_matrix(&mut self, path: &PointerPath, ty: Handle<naga::Type>) -> Outcome<PointerPath> {
        let value = self.load_split(path, ty)?;
        let ty = self.b.type_of(value);
        let copy = self.b.local("", ty, None);
        self.b.store(copy, value);
        Ok(PointerPath::of(copy))
    }
}
