//! Derivatives in compute shaders (GL_KHR_compute_shader_derivatives and GL_NV_compute_shader_derivatives): the
//! invocations that form quads. The declaration may follow the first function that needs it, so it is searched for
//! first.

use super::Sema;
use crate::diagnostic::Code;
use crate::glsl::ast::{Ast, LayoutId, QualifierKind};
use crate::glsl::token::Interner;
use crate::ir::{ConstId, DerivativeGroup, Module, Stage};

/// Layouts with the extension that each needs.
const LAYOUTS: [(&str, &str, DerivativeGroup); 4] = [
    ("derivative_group_quadsKHR", "GL_KHR_compute_shader_derivatives", DerivativeGroup::Quads),
    ("derivative_group_linearKHR", "GL_KHR_compute_shader_derivatives", DerivativeGroup::Linear),
    ("derivative_group_quadsNV", "GL_NV_compute_shader_derivatives", DerivativeGroup::Quads),
    ("derivative_group_linearNV", "GL_NV_compute_shader_derivatives", DerivativeGroup::Linear),
];

/// The group of a layout, and its extension.
pub fn group(name: &str) -> Option<(&'static str, DerivativeGroup)> {
    LAYOUTS.into_iter().find(|(known, ..)| *known == name).map(|(_, extension, group)| (extension, group))
}

/// The group that some declaration of the shader names.
pub fn named(ast: &Ast, words: &Interner) -> Option<DerivativeGroup> {
    let qualifiers = ast.decls.iter().flat_map(|(_, decl)| &ast[decl.qualifiers]);
    let ids = qualifiers.filter_map(|qualifier| match qualifier.kind {
        QualifierKind::Layout(layout) => Some(&ast[layout]),
        _ => None,
    });
    ids.flatten().find_map(|id| group(words.text(id.name.symbol))).map(|(_, group)| group)
}

impl Sema<'_> {
    /// `layout(derivative_group_quadsKHR) in;`
    pub fn derivative_layout(&mut self, id: &LayoutId) {
        let Some((extension, group)) = group(self.text(id.name.symbol)) else { return };
        if !self.env.is_enabled(extension) {
            self.needs_extension("this layout needs", extension, id.span);
        }
        if self.env.derivatives != Some(group) {
            let message = "a shader has one kind of derivative group";
            self.error(Code::BAD_LAYOUT, id.span, message, "another kind is declared elsewhere");
        }
        self.derivatives_at = id.span;
    }

    /// Checks that quads are complete: the workgroup's width and height are even, or its size is a multiple of four.
    pub fn check_derivative_group(&mut self, module: &Module, size: [ConstId; 3]) {
        let known = size.map(|id| module.constants.as_int(&module.types, id).filter(|_| !module.constants.is_spec(id)));
        let ([Some(x), Some(y), Some(z)], Some(group)) = (known, self.env.derivatives) else { return };
        let (whole, message) = match group {
            DerivativeGroup::Quads => {
                (x % 2 == 0 && y % 2 == 0, "quads want an even width and height of the workgroup")
            }
            DerivativeGroup::Linear => (x * y * z % 4 == 0, "quads want a workgroup of a multiple of four invocations"),
        };
        if !whole && self.env.stage == Stage::Compute {
            self.error(Code::BAD_LAYOUT, self.derivatives_at, message, format!("the workgroup is {x} x {y} x {z}"));
        }
    }
}
