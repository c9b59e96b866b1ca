//! Inputs of geometry shaders that pass through to the next stage (GL_NV_geometry_shader_passthrough). Such a shader
//! emits one primitive like its input, and writes only per-primitive values.

use super::Sema;
use super::stage::PortLayout;
use crate::diagnostic::Code;
use crate::glsl::ast::{self, List, Qualifier};
use crate::grammar::{self, VariableSource};
use crate::ir::build::Builder;
use crate::ir::{BuiltIn, GlobalId, Module, PrimitiveMode as Mode, Space, Stage};
use crate::source::Span;

const EXTENSION: &str = "GL_NV_geometry_shader_passthrough";

/// The default output primitive for an input primitive.
const LIKE: [(Mode, Mode); 3] = [
    (Mode::InputPoints, Mode::OutputPoints),
    (Mode::InputLines, Mode::OutputLineStrip),
    (Mode::Triangles, Mode::OutputTriangleStrip),
];

/// The output primitives for pass-through inputs, and their number of vertices.
pub fn given_out(input: Mode) -> Option<(Mode, Mode)> {
    let (_, output) = LIKE.iter().find(|(taken, _)| *taken == input)?;
    Some((*output, Mode::OutputVertices(input.vertices()?)))
}

impl Sema<'_> {
    /// Returns true if a declaration has `layout(passthrough)`, so that it need not be an array.
    pub fn says_passthrough(&self, list: List<Qualifier>) -> bool {
        self.env.stage == Stage::Geometry
            && self.layout_ids(list).iter().any(|id| self.text(id.name.symbol) == "passthrough")
    }

    /// `passthrough` in a layout of the geometry stage.
    pub fn passthrough_id(&mut self, id: &ast::LayoutId) -> Option<Span> {
        self.without_value(id)?;
        if !self.env.is_enabled(EXTENSION) {
            self.needs_extension("this layout needs", EXTENSION, id.span);
        }
        Some(id.span)
    }

    /// Notes a variable that passes through.
    pub fn pass_through(&mut self, b: &mut Builder<'_>, id: GlobalId, layout: PortLayout) {
        let Some(span) = layout.passthrough else { return };
        match b.module.globals[id].space {
            Space::Input => b.module.passed.push(id),
            _ => self.error(Code::BAD_LAYOUT, span, "only inputs pass through", "not an input"),
        }
    }

    /// Members of a block pass through together with the block.
    pub fn refuse_passthrough(&mut self, member: PortLayout) {
        if let Some(span) = member.passthrough {
            self.error(Code::BAD_LAYOUT, span, "variables and blocks pass through as a whole", "a member");
        }
    }

    /// `layout(passthrough) in gl_PerVertex { vec4 gl_Position; };`, with the instance `gl_in[]` or without it.
    pub fn pass_per_vertex(&mut self, b: &mut Builder<'_>, block: &ast::Block, layout: PortLayout) -> Option<()> {
        let instance = grammar::variable("gl_in")?;
        let VariableSource::Blocks(blocks) = instance.source else { return None };
        let whole = self.builtin_blocks(b, instance, blocks);
        let ast = self.ast;
        for line in &ast[block.members] {
            let base = self.type_spec(b, line.ty)?;
            for declarator in &ast[line.declarators] {
                let is_member = self.redeclare_member(b, &whole, blocks, base, declarator).is_some();
                let variable = grammar::variable(self.text(declarator.name.symbol));
                let Some(variable) = variable.filter(|_| is_member) else { continue };
                let VariableSource::BuiltIn(builtin) = variable.source else { continue };
                let crowd = self.env.stage.crowd(Space::Input, Default::default());
                let id = self.builtin_global(b, variable, builtin, Space::Input, crowd);
                self.pass_through(b, id, layout);
                if block.instance.is_none() {
                    self.passed.push((builtin, declarator.name.span));
                }
            }
        }
        Some(())
    }

    /// A built-in variable that passes through without an instance can be named, but has no value for a single vertex.
    pub fn check_passed(&mut self, module: &Module) {
        for (builtin, span) in std::mem::take(&mut self.passed) {
            let output = self.builtins.get(&(builtin, Space::Output)).map(|id| &module.globals[*id].name);
            if let Some(name) = output {
                let message = format!("`{name}` passes through, and the shader reads or writes it");
                self.error(Code::BAD_LAYOUT, span, message, "name the block `gl_in[]` to read it");
            }
        }
    }
}

/// Built-in variables that pass through in a block without an instance, with the places of their declarations.
pub type Passed = Vec<(BuiltIn, Span)>;
