//! Brace initializers `{ a, { b, c } }` (GLSL 4.60 section 4.1.11): shaped by the type that they initialize.

use super::Sema;
use crate::diagnostic::Code;
use crate::glsl::ast::{ExprId, List};
use crate::glsl::types::counted;
use crate::ir::build::Builder;
use crate::ir::{ArrayLen, Type, TypeId, Value};

impl Sema<'_> {
    /// The value of `{ parts }` for a variable of type `ty`.
    pub fn aggregate(&mut self, b: &mut Builder<'_>, whole: ExprId, parts: List<ExprId>, ty: TypeId) -> Option<Value> {
        let count = parts.len() as u32;
        let span = self.ast[whole].span;
        if count == 0 && self.env.is_enabled("GL_EXT_null_initializer") && !self.is_unsized(b, ty) {
            return Some(b.zero(ty));
        }
        let Some(wanted) = part_count(b, ty, count) else {
            let name = self.type_name(b, ty);
            self.error(Code::BAD_INITIALIZER, span, format!("`{name}` takes no brace initializer"), "in braces");
            return None;
        };
        if wanted != count {
            let (parts, name) = (counted(wanted as usize, "part"), self.type_name(b, ty));
            let message = format!("`{name}` has {parts}, the initializer {count}");
            self.error(Code::BAD_INITIALIZER, span, message, "wrong number of parts");
            return None;
        }
        let mut values = Vec::with_capacity(parts.len());
        let ast = self.ast;
        for (index, part) in ast[parts].iter().enumerate() {
            let element = b.module.types.element(ty, index as u32)?;
            values.push(self.initializer(b, *part, element)?);
        }
        b.span = span;
        let ty = self.with_lengths_of(b, ty, &values);
        Some(b.construct(ty, &values))
    }

    /// Returns true if `{}` does not determine a value: for an array without a size, or an opaque type.
    fn is_unsized(&self, b: &Builder<'_>, ty: TypeId) -> bool {
        matches!(b.module.types.get(ty), Type::Array { len: ArrayLen::Runtime, .. }) || self.is_opaque(b, ty)
    }

    /// Fills empty brackets of an array type from the values of its elements.
    fn with_lengths_of(&mut self, b: &mut Builder<'_>, ty: TypeId, values: &[Value]) -> TypeId {
        match (b.module.types.get(ty), values.first()) {
            (Type::Array { len, .. }, Some(first)) => {
                let len = if len == ArrayLen::Runtime { ArrayLen::Fixed(values.len() as u32) } else { len };
                let element = b.type_of(*first);
                b.module.types.array(element, len)
            }
            _ => ty,
        }
    }
}

/// Parts of a composite; an array without a size has as many as its initializer.
fn part_count(b: &Builder<'_>, ty: TypeId, given: u32) -> Option<u32> {
    match b.module.types.get(ty) {
        Type::Vector { size, .. } => Some(u32::from(size)),
        Type::Matrix { columns, .. } => Some(u32::from(columns)),
        Type::Array { len: ArrayLen::Fixed(len), .. } => Some(len),
        Type::Array { len: ArrayLen::Runtime, .. } if given > 0 => Some(given),
        Type::Struct(id) => Some(b.module.types.structs[id].members.len() as u32),
        _ => None,
    }
}
