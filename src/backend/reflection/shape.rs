//! The types in a shader's interface: arrays, matrices and structs with their offsets and strides.

use super::interface::{InterfacePlace, place};
use crate::ir::layout::size_of;
use crate::ir::print::type_name;
use crate::ir::{Access, ArrayLen, Module, Stage, StructId, Type, TypeId};
use serde::Serialize;

/// A type.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Shape {
    /// The element type of arrays: `f32`, `vec3<u32>`, `mat4x3<f32>`, the name of a struct.
    #[serde(rename = "type")]
    pub ty: String,
    /// The index of the struct, or of a buffer reference's target.
    #[serde(rename = "struct", skip_serializing_if = "Option::is_none")]
    pub structure: Option<usize>,
    /// Lengths from the outermost array on; 0 if it is known only at run time, the default for specialization
    /// constants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub array: Vec<u32>,
    /// Strides in bytes, from the outermost array on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub array_strides: Vec<u32>,
    /// Stride of columns or rows in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix_stride: Option<u32>,
    #[serde(skip_serializing_if = "is_false")]
    pub row_major: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A struct, with its layout at its uses.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Structure {
    pub name: String,
    /// Size in bytes up to the end of the last member, without a run-time array; `None` without a layout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    pub members: Vec<Member>,
}

/// A member of a struct.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Member {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    #[serde(flatten)]
    pub place: InterfacePlace,
    #[serde(flatten)]
    pub shape: Shape,
    #[serde(skip_serializing_if = "is_false")]
    pub readonly: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub writeonly: bool,
}

/// Describes types; structs are numbered in the order in which they are found.
pub(super) struct Fields<'m> {
    pub module: &'m Module,
    pub stage: Stage,
    met: Vec<StructId>,
}

impl<'m> Fields<'m> {
    pub fn new(module: &'m Module, stage: Stage) -> Self {
        Fields { module, stage, met: Vec::new() }
    }

    /// Size in bytes of a type with a layout; 0 without one.
    pub fn bytes(&self, ty: TypeId) -> u32 {
        size_of(&self.module.types, &self.module.constants, ty).unwrap_or(0)
    }

    pub fn shape(&mut self, mut ty: TypeId) -> Shape {
        let mut shape = Shape::default();
        while let Type::Array { element, len, stride } = self.module.types.get(ty) {
            shape.array.push(self.length(len));
            shape.array_strides.extend(stride);
            ty = element;
        }
        let types = &self.module.types;
        shape.ty = match types.get(ty) {
            Type::Matrix { scalar, columns, rows, layout } => {
                shape.matrix_stride = layout.map(|layout| layout.stride);
                shape.row_major = layout.is_some_and(|layout| layout.row_major);
                format!("mat{columns}x{rows}<{}>", crate::ir::print::scalar_name(scalar))
            }
            _ => type_name(types, ty),
        };
        shape.structure = match types.get(ty) {
            Type::Struct(id) | Type::BufferReference { pointee: id } => Some(self.number(id)),
            _ => None,
        };
        shape
    }

    fn length(&self, len: ArrayLen) -> u32 {
        match len {
            ArrayLen::Fixed(count) => count,
            ArrayLen::Runtime => 0,
            ArrayLen::Spec(id) => self.module.constants.bits(id).and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0),
        }
    }

    fn number(&mut self, id: StructId) -> usize {
        let at = self.met.iter().position(|met| *met == id);
        at.unwrap_or_else(|| {
            self.met.push(id);
            self.met.len() - 1
        })
    }

    /// The collected structs, including nested ones.
    pub fn finish(mut self) -> Vec<Structure> {
        let mut all = Vec::new();
        while let Some(id) = self.met.get(all.len()) {
            let item = &self.module.types.structs[*id];
            let bytes = item.members.iter().map(|member| Some(member.offset? + self.bytes(member.ty)));
            let bytes = bytes.collect::<Option<Vec<u32>>>().and_then(|ends| ends.into_iter().max());
            let members = item.members.iter().map(|member| self.member(member)).collect();
            all.push(Structure { name: item.name.to_string(), bytes, members });
        }
        all
    }

    fn member(&mut self, member: &crate::ir::Member) -> Member {
        Member {
            name: member.name.to_string(),
            offset: member.offset,
            place: place(self.module, member.binding, member.ty, false),
            shape: self.shape(member.ty),
            readonly: member.access.contains(Access::READONLY),
            writeonly: member.access.contains(Access::WRITEONLY),
        }
    }
}
