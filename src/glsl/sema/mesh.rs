//! Task and mesh shaders (GL_EXT_mesh_shader, GL_NV_mesh_shader): the payload from one to the other. Their outputs are
//! in [`super::primitives`] and [`super::stage`].

use super::Sema;
use super::lvalue::{LValue, Mutability};
use super::qualifiers::Qualifiers;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Declarator};
use crate::ir::build::Builder;
use crate::ir::{Access, Space, Stage, TypeId};
use crate::source::Span;

const MESH_SHADER: &str = "GL_EXT_mesh_shader";

impl Sema<'_> {
    /// `taskPayloadSharedEXT Payload payload;`: task shaders write it, mesh shaders read it.
    pub fn task_payload(
        &mut self,
        b: &mut Builder<'_>,
        decl: &ast::Decl,
        base: TypeId,
        declarator: &Declarator,
        span: Span,
    ) -> Option<Entity> {
        if !self.env.is_enabled(MESH_SHADER) {
            self.needs_extension("this qualifier needs", MESH_SHADER, span);
            return None;
        }
        let mutability = self.payload_mutability(span)?;
        if let Some(id) = self.layout_ids(decl.qualifiers).first() {
            self.unknown_layout_id(id);
        }
        if let Some(init) = declarator.init {
            let message = "a payload has no initial value";
            self.error(Code::BAD_INITIALIZER, self.ast[init].span, message, "not allowed");
        }
        self.only_payload(b, "taskPayloadSharedEXT", declarator.name.span)?;
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        let ty = self.usable(b, ty, declarator.span)?;
        let ty = self.sized(b, ty, declarator)?;
        self.refuse_valueless(b, ty, declarator.span)?;
        self.refuse_private(b, ty, declarator.span)?;
        let made = self.new_global(b, Space::TaskPayload, Access::empty(), ty, declarator, None);
        match made {
            Entity::LValue(place) => Some(Entity::LValue(LValue { mutability, ..place })),
            other => Some(other),
        }
    }

    /// Task shaders write a payload, mesh shaders read it.
    pub fn payload_mutability(&mut self, span: Span) -> Option<Mutability> {
        match self.env.stage {
            Stage::Task => Some(Mutability::Writable),
            Stage::Mesh => Some(Mutability::Input),
            _ => {
                let message = "payloads pass from task to mesh shaders";
                self.error(Code::BAD_QUALIFIER, span, message, "not in this stage");
                None
            }
        }
    }

    /// `taskNV out` of task shaders, `taskNV in` of mesh shaders.
    pub fn check_task_memory(&mut self, qualifiers: &Qualifiers, span: Span) {
        const EXTENSION: &str = "GL_NV_mesh_shader";
        if !self.env.is_enabled(EXTENSION) {
            return self.needs_extension("this qualifier needs", EXTENSION, span);
        }
        let fits = match self.env.stage {
            Stage::Task => qualifiers.output.is_some(),
            Stage::Mesh => qualifiers.input.is_some(),
            _ => false,
        };
        if !fits {
            let message = "`taskNV` is for outputs of task and inputs of mesh shaders";
            self.error(Code::BAD_QUALIFIER, span, message, "not here");
        }
    }

    /// A shader has one payload (SPV_EXT_mesh_shader, OpEntryPoint; GL_NV_mesh_shader, sections 4.3.4 and 4.3.6).
    pub fn only_payload(&mut self, b: &Builder<'_>, word: &str, span: Span) -> Option<()> {
        let mut globals = b.module.globals.iter();
        let Some((_, first)) = globals.find(|(_, global)| global.space == Space::TaskPayload) else { return Some(()) };
        let diagnostic = Diagnostic::error(Code::BAD_DECLARATION, format!("a shader has one `{word}` variable"));
        let diagnostic = diagnostic.at(span, "the second one").with(first.span, "the first one");
        self.report(diagnostic);
        None
    }
}
