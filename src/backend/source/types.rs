//! Types: their names, and the declarations of structs.

use super::writer::Writer;
use crate::ir::{ArrayLen, ConstId, Scalar, StructId, Type, TypeId};
use crate::source::Span;
use std::rc::Rc;

impl Writer<'_> {
    /// The type at the start of a declaration, and the text after the name: array lengths.
    pub fn declared(&mut self, id: TypeId) -> (String, String) {
        let mut dims = String::new();
        let mut ty = id;
        while let Type::Array { element, len, .. } = self.types.get(ty) {
            let language = self.language;
            if let Some(name) = language.array_name(self, ty) {
                return (name, dims);
            }
            if !dims.is_empty() {
                language.nest_arrays(self);
            }
            dims.push_str(&format!("[{}]", self.length(len)));
            ty = element;
        }
        (self.base_name(ty), dims)
    }

    /// A type as a name: for constructors and results.
    pub fn type_name(&mut self, id: TypeId) -> String {
        let (base, dims) = self.declared(id);
        base + &dims
    }

    pub fn length(&mut self, len: ArrayLen) -> String {
        match len {
            ArrayLen::Fixed(len) => len.to_string(),
            ArrayLen::Runtime => self.language.open_length().to_string(),
            ArrayLen::Spec(id) => {
                let language = self.language;
                language.length_text(self, id).unwrap_or_else(|| self.named_length(id))
            }
        }
    }

    /// The name of a length from specialization constants: compilers treat arrays with different length expressions as
    /// different types, even if they are equal.
    fn named_length(&mut self, id: ConstId) -> String {
        let text = self.constant(id).text;
        if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return text;
        }
        if let Some(known) = self.lengths.get(&id) {
            return known.clone();
        }
        let name = self.names.unique("array_length", None);
        let ty = self.type_name(self.module.constants.get(id).ty);
        self.specializations.push(self.language.constant_line([&ty, &name, "", &text]));
        self.lengths.insert(id, name.clone());
        name
    }

    fn base_name(&mut self, id: TypeId) -> String {
        match self.types.get(id) {
            Type::Void => "void".to_string(),
            Type::Scalar(scalar) => self.vector_name(scalar, 1),
            Type::Vector { scalar, size } => self.vector_name(scalar, size),
            Type::Matrix { scalar, columns, rows, .. } => self.matrix_name(scalar, columns, rows),
            Type::Struct(of) => self.struct_name(of),
            Type::Pointer { pointee, .. } => self.base_name(pointee),
            Type::Array { .. } => String::new(),
            handle => self.handle_name(handle),
        }
    }

    pub fn vector_name(&mut self, scalar: Scalar, size: u8) -> String {
        let language = self.language;
        language.vector_name(self, scalar, size)
    }

    fn matrix_name(&mut self, scalar: Scalar, columns: u8, rows: u8) -> String {
        let language = self.language;
        language.matrix_name(self, scalar, columns, rows)
    }

    /// A type of resources or references.
    pub fn handle_name(&mut self, ty: Type) -> String {
        let language = self.language;
        language.handle_name(self, ty)
    }

    /// Reports a type that is not written yet.
    pub fn not_yet(&mut self, construct: &str) -> String {
        self.unsupported(construct);
        String::new()
    }

    /// The struct that represents itself and all of its layouts.
    pub fn logical(&self, id: StructId) -> StructId {
        self.types.structs[id].logical.unwrap_or(id)
    }

    /// The name of a struct, declared if it is not yet.
    pub fn struct_name(&mut self, id: StructId) -> String {
        let id = self.logical(id);
        let name = match self.struct_names.get(&id) {
            Some(known) => known.clone(),
            // Structs of operations with two results.
            None => {
                let name = self.types.structs[id].name.clone();
                self.names.unique(&name, None)
            }
        };
        self.struct_names.insert(id, name.clone());
        if !self.declared_structs.insert(id) {
            return name;
        }
        let item = self.types.structs[id].clone();
        let members = self.member_names(id);
        let mut lines = Vec::new();
        for (member, named) in item.members.iter().zip(members.iter()) {
            let (ty, dims) = self.declared(member.ty);
            let words = self.language.member_words(self, member.ty);
            let line = self.language.member_line(&format!("{words}{ty}"), named, &dims);
            self.push_member(&mut lines, member.span, line);
        }
        self.declare_struct_of(&name, lines, item.span);
        name
    }

    /// Like [`Self::declare_struct`], with the comments of a struct of the source.
    pub fn declare_struct_of(&mut self, name: &str, members: Vec<String>, span: Span) {
        let first = self.structs.len() + usize::from(self.language.parts_structs() && !self.structs.is_empty());
        self.declare_struct(name, members);
        let beside = self.remarks_at(&[span]);
        beside.put(&mut self.structs[first]);
    }

    pub fn declare_struct(&mut self, name: &str, members: Vec<String>) {
        if self.language.parts_structs() && !self.structs.is_empty() {
            self.structs.push(String::new());
        }
        self.structs.push(format!("struct {name} {{"));
        self.structs.extend(members);
        self.structs.push(self.language.struct_end().to_string());
    }

    /// Returns true if an array is assigned, passed or returned whole, and the language has another type for array
    /// values.
    pub fn is_array_value(&self, id: TypeId) -> bool {
        self.array_values.contains(&id)
    }

    /// The names of a struct's members.
    pub fn member_names(&mut self, id: StructId) -> Rc<[String]> {
        let id = self.logical(id);
        if let Some(known) = self.members.get(&id) {
            return known.clone();
        }
        let mut names = super::names::Names::new(self.language);
        let item = &self.types.structs[id];
        let made: Rc<[String]> = item.members.iter().map(|member| names.unique(&member.name, None)).collect();
        self.members.insert(id, made.clone());
        made
    }

    /// Scalar and number of components of a scalar or vector.
    pub fn shape(&self, id: TypeId) -> Option<(Scalar, u8)> {
        Some((self.types.scalar_of(id)?, self.types.components(id)?))
    }
}
