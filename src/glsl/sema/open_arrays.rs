//! Variables that are arrays without a size: their constant indices determine their length, or a later declaration does
//! (GLSL 4.60 section 4.1.9).

use super::Sema;
use super::lvalue::LValue;
use super::qualifiers::Qualifiers;
use super::scope::Entity;
use super::stage::innermost;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::Declarator;
use crate::ir::build::Builder;
use crate::ir::{ArrayLen, Global, GlobalId, Module, Space, Type, TypeId, Value};
use crate::source::Span;

/// A variable whose length is not known yet, and its minimum length.
#[derive(Debug)]
pub struct OpenArray {
    pub global: GlobalId,
    length: u32,
    /// True for a built-in array of distances, which may be in an array over vertices.
    built_in: bool,
}

impl OpenArray {
    pub const fn built_in(global: GlobalId) -> OpenArray {
        OpenArray { global, length: 0, built_in: true }
    }
}

impl Sema<'_> {
    /// Returns true if a variable of the type may get its length later. GLSL ES needs sizes (GLSL ES 3.20 section
    /// 4.1.9).
    pub fn may_stay_open(&self, b: &Builder<'_>, ty: TypeId) -> bool {
        !self.env.is_es() && unsized_element(b, ty).is_some()
    }

    /// Remembers a variable of the shader's that is an array without a size.
    pub fn leave_open(&mut self, b: &Builder<'_>, entity: &Entity) {
        if let Entity::LValue(LValue { root: Value::Global(global), ty, .. }) = entity
            && unsized_element(b, *ty).is_some()
        {
            self.open_arrays.push(OpenArray { global: *global, length: 0, built_in: false });
        }
    }

    /// The array without a size that a place denotes as a whole.
    fn open_array(&self, b: &Builder<'_>, lvalue: &LValue) -> Option<usize> {
        let Value::Global(id) = lvalue.root else { return None };
        let slot = self.open_arrays.iter().position(|open| open.global == id)?;
        let depth = usize::from(self.open_arrays[slot].built_in && is_nested(b, b.module.globals[id].ty));
        (lvalue.path.len() == depth).then_some(slot)
    }

    /// Extends an array of open length to include a constant index.
    pub fn note_index(&mut self, b: &mut Builder<'_>, lvalue: &LValue, at: Value, span: Span) {
        self.note_member_index(b, lvalue, at, span);
        let (Some(slot), Value::Global(id)) = (self.open_array(b, lvalue), lvalue.root) else { return };
        let Global { name, ty, span: declared, .. } = &b.module.globals[id];
        let (ty, declared) = (*ty, *declared);
        if let Some(at) = super::lengths::known(b, at) {
            let open = &mut self.open_arrays[slot];
            open.length = open.length.max(at.saturating_add(1));
            let (length, built_in) = (open.length, open.built_in);
            if let (Some(element), false) = (unsized_element(b, ty), built_in) {
                let grown = b.module.types.array(element, ArrayLen::Fixed(length));
                self.bounded(b, grown, declared);
            }
            return;
        }
        let message = format!("`{name}` needs a size before it is indexed at run time");
        let note = format!("declare it again with one: `{}[N] {name};`", self.type_name(b, innermost(b, ty)));
        self.report(Diagnostic::error(Code::BAD_TYPE, message).at(span, "not constant").note(note));
    }

    /// An array without a size cannot be used as a whole.
    pub fn check_whole(&self, b: &Builder<'_>, lvalue: &LValue, span: Span) -> Result<(), Diagnostic> {
        if unsized_element(b, lvalue.ty).is_none() {
            return Ok(());
        }
        let message = "an array without a size has no value as a whole";
        let diagnostic = Diagnostic::error(Code::BAD_TYPE, message).at(span, "only its elements can be read");
        Err(match self.open_array(b, lvalue).map(|slot| &self.open_arrays[slot]) {
            Some(open) if !open.built_in => diagnostic.with(b.module.globals[open.global].span, "no size"),
            _ => diagnostic,
        })
    }

    /// Returns true if a variable without a size is declared again in its scope, with or without a size.
    pub fn array_again(
        &mut self,
        b: &mut Builder<'_>,
        qualifiers: &Qualifiers,
        base: TypeId,
        declarator: &Declarator,
    ) -> bool {
        let Some(before) = self.scopes.get_innermost(declarator.name.symbol) else { return false };
        let Entity::LValue(lvalue) = before.entity.clone() else { return false };
        let (Some(slot), Value::Global(id)) = (self.open_array(b, &lvalue), lvalue.root) else { return false };
        let space = if qualifiers.shared.is_some() { Space::Workgroup } else { Space::Private };
        let is_plain = qualifiers.storage().is_none_or(|span| qualifiers.shared == Some(span));
        if b.module.globals[id].space != space || !is_plain || declarator.init.is_some() {
            return false;
        }
        let Some(ty) = self.with_dimensions(b, base, declarator.dimensions) else { return true };
        let Type::Array { element, len, .. } = b.module.types.get(ty) else { return false };
        if unsized_element(b, lvalue.ty) != Some(element) {
            return false;
        }
        if let ArrayLen::Fixed(length) = len
            && length < self.open_arrays[slot].length
        {
            let message = format!("this array has an element {} already", self.open_arrays[slot].length - 1);
            let diagnostic = Diagnostic::error(Code::BAD_TYPE, message).at(declarator.span, "shorter than that");
            self.report(diagnostic.with(b.module.globals[id].span, "the first declaration"));
        }
        if len != ArrayLen::Runtime {
            self.open_arrays.remove(slot);
            b.module.globals[id].ty = ty;
            self.scopes.declare(declarator.name.symbol, Entity::LValue(LValue { ty, ..lvalue }), declarator.name.span);
        }
        true
    }

    /// Gives arrays that are still open the length that their indices require.
    pub fn close_arrays(&mut self, module: &mut Module) {
        for open in std::mem::take(&mut self.open_arrays) {
            let ty = module.globals[open.global].ty;
            let Type::Array { element, len, .. } = module.types.get(ty) else { continue };
            let length = ArrayLen::Fixed(open.length.max(1));
            module.globals[open.global].ty = match module.types.get(element) {
                Type::Array { element: inner, .. } if open.built_in => {
                    let each = module.types.array(inner, length);
                    module.types.array(each, len)
                }
                _ => module.types.array(element, length),
            };
        }
    }
}

/// The element of an array without a size.
fn unsized_element(b: &Builder<'_>, ty: TypeId) -> Option<TypeId> {
    match b.module.types.get(ty) {
        Type::Array { element, len: ArrayLen::Runtime, .. } => Some(element),
        _ => None,
    }
}

/// Returns true if a type is an array of arrays.
fn is_nested(b: &Builder<'_>, ty: TypeId) -> bool {
    let types = &b.module.types;
    matches!(types.get(ty), Type::Array { element, .. } if matches!(types.get(element), Type::Array { .. }))
}
