//! Built-in variables that the shader redeclares, and arrays of distances whose size comes from that or from their
//! indices (GLSL 4.60 sections 7.1 and 7.1.7).

use super::Sema;
use super::builtin_variables::interpolation_of;
use super::feedback::FeedbackLayout;
use super::lvalue::LValue;
use super::qualifiers::Qualifiers;
use super::stage::{PortLayout, innermost};
use crate::diagnostic::Code;
use crate::glsl::ast::{self, Declarator, LayoutId, List};
use crate::grammar::{self, Blocks, VariableSource};
use crate::ir::build::Builder;
use crate::ir::{Access, ArrayLen, DepthPromise, Space, Stage, Type, TypeId, Types, Value};

impl Sema<'_> {
    /// `out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[2]; };`, and `in gl_PerVertex { … } gl_in[];`
    pub fn redeclare_per_vertex(
        &mut self,
        b: &mut Builder<'_>,
        block: &ast::Block,
        space: Space,
        whole: PortLayout,
    ) -> Option<()> {
        if let Some(instance) = &block.instance {
            return self.redeclare_blocks(b, block, instance, space);
        }
        if self.env.stage == Stage::Mesh {
            let message = "the built-in outputs of mesh shaders are arrays of blocks";
            self.error(Code::BAD_DECLARATION, block.name.span, message, "no instance");
            return None;
        }
        let (ast, feedback) = (self.ast, whole.feedback);
        let mut next = feedback.offset;
        for line in &ast[block.members] {
            let qualifiers = self.qualifiers(line.qualifiers);
            let base = self.type_spec(b, line.ty)?;
            for declarator in &ast[line.declarators] {
                let own = self.redeclare_builtin(b, line.qualifiers, &qualifiers, base, declarator, false);
                next = self.capture_builtin(b, declarator, own.unwrap_or_default(), feedback, next)?;
                self.redeclare_in_stream(b, declarator, space, whole);
            }
        }
        Some(())
    }

    /// A built-in output that is of another vertex stream than the first.
    fn redeclare_in_stream(&mut self, b: &mut Builder<'_>, declarator: &Declarator, space: Space, whole: PortLayout) {
        let Some(variable) = grammar::variable(self.text(declarator.name.symbol)) else { return };
        let VariableSource::BuiltIn(builtin) = variable.source else { return };
        if self.stream_of(whole, space) != 0 {
            let lvalue = self.builtin_lvalue(b, variable, builtin);
            self.put_in_stream(b, &lvalue, whole);
        }
    }

    /// Redeclares the arrays of blocks `gl_in` and `gl_out`, which sizes arrays of distances.
    fn redeclare_blocks(
        &mut self,
        b: &mut Builder<'_>,
        block: &ast::Block,
        instance: &Declarator,
        space: Space,
    ) -> Option<()> {
        let (ast, name) = (self.ast, self.text(instance.name.symbol));
        let known = grammar::variable(name).filter(|variable| {
            let is_of_space = (space == Space::Output) == variable.output.contains(self.env.stage);
            self.env.has_stage(variable.stages) && is_of_space
        });
        let known = known.map(|variable| (variable, variable.source));
        let of_name = self.text(block.name.symbol);
        let Some((variable, blocks)) = known.and_then(|(variable, source)| match source {
            VariableSource::Blocks(blocks) if blocks.name == of_name => Some((variable, blocks)),
            _ => None,
        }) else {
            let message = format!("`{name}` is not an instance of `{of_name}` here");
            self.error(Code::BAD_DECLARATION, instance.span, message, instances_of(of_name));
            return None;
        };
        let whole = self.builtin_blocks(b, variable, blocks);
        let given = self.with_dimensions(b, Types::F32, instance.dimensions)?;
        self.crowded(b, given, space, interpolation_of(blocks), instance.span)?;
        for line in &ast[block.members] {
            let base = self.type_spec(b, line.ty)?;
            for declarator in &ast[line.declarators] {
                self.redeclare_member(b, &whole, blocks, base, declarator)?;
            }
        }
        Some(())
    }

    pub fn redeclare_member(
        &mut self,
        b: &mut Builder<'_>,
        whole: &LValue,
        blocks: &Blocks,
        base: TypeId,
        declarator: &Declarator,
    ) -> Option<()> {
        let name = self.text(declarator.name.symbol);
        let Some(variable) = grammar::variable(name).filter(|_| blocks.members.contains(&name)) else {
            let message = format!("`{}` has no member `{name}`", blocks.name);
            self.error(Code::BAD_DECLARATION, declarator.name.span, message, "no such member");
            return None;
        };
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        self.check_redeclared(b, variable, ty, declarator)?;
        if let (Type::Array { len: ArrayLen::Fixed(_), .. }, VariableSource::BuiltIn(builtin)) =
            (b.module.types.get(ty), variable.source)
        {
            let crowd = self.env.stage.crowd(whole.space, interpolation_of(blocks));
            let id = self.builtin_global(b, variable, builtin, whole.space, crowd);
            let Type::Array { len, .. } = b.module.types.get(b.module.globals[id].ty) else { return None };
            b.module.globals[id].ty = b.module.types.array(ty, len);
            self.open_arrays.retain(|open| open.global != id);
        }
        Some(())
    }

    /// A built-in output whose declaration captures it in a buffer. Returns the first byte after it.
    pub fn capture_builtin(
        &mut self,
        b: &mut Builder<'_>,
        declarator: &Declarator,
        own: FeedbackLayout,
        whole: FeedbackLayout,
        next: Option<u32>,
    ) -> Option<Option<u32>> {
        self.feedback_stride(whole, whole);
        self.feedback_stride(own, whole);
        let Some(offset) = own.offset.or(next) else { return Some(None) };
        let variable = grammar::variable(self.text(declarator.name.symbol))?;
        let VariableSource::BuiltIn(builtin) = variable.source else { return Some(next) };
        let lvalue = self.builtin_lvalue(b, variable, builtin);
        let Value::Global(id) = lvalue.root else { return Some(next) };
        let layout = FeedbackLayout { buffer: own.buffer.or(whole.buffer), stride: None, offset: Some(offset) };
        let end = self.capture(b, (id, None), lvalue.ty, layout, declarator.span);
        Some(whole.offset.and(end))
    }

    /// A redeclaration of a built-in variable: it sets an array size or a promise, and creates no new variable. A
    /// built-in that is only listed is created on first use.
    pub fn redeclare_builtin(
        &mut self,
        b: &mut Builder<'_>,
        list: List<ast::Qualifier>,
        qualifiers: &Qualifiers,
        base: TypeId,
        declarator: &Declarator,
        alone: bool,
    ) -> Option<FeedbackLayout> {
        let name = self.text(declarator.name.symbol);
        let Some(variable) = grammar::variable(name) else {
            self.unknown_name(declarator.name.symbol, declarator.name.span);
            return None;
        };
        let VariableSource::BuiltIn(builtin) = variable.source else {
            self.error(Code::BAD_DECLARATION, declarator.span, format!("`{name}` cannot be declared again"), "here");
            return None;
        };
        let usable = crate::glsl::builtin::check_variable(&self.env, variable, declarator.name.span);
        self.check(usable)?;
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        self.check_redeclared(b, variable, ty, declarator)?;
        let mut feedback = FeedbackLayout::default();
        for id in &self.layout_ids(list) {
            match self.text(id.name.symbol).starts_with("xfb_") {
                true => self.feedback_id(b, id, &mut feedback)?,
                false => self.redeclaration_layout(b, name, id),
            }
        }
        if let Some(crowd) = builtin.crowd() {
            self.crowd_of(b, ty, crowd, declarator.span)?;
            self.note_indices(variable, declarator.name.span);
        }
        let length = match b.module.types.get(ty) {
            Type::Array { len: ArrayLen::Fixed(length), .. } if variable.array == Some(0) => Some(length),
            _ => None,
        };
        if !(alone || length.is_some() || qualifiers.invariant) {
            return Some(feedback);
        }
        let lvalue = self.builtin_lvalue(b, variable, builtin);
        let Value::Global(id) = lvalue.root else { return None };
        if qualifiers.invariant {
            b.module.globals[id].access |= Access::INVARIANT;
        }
        if length.is_some() {
            b.module.globals[id].ty = ty;
            self.open_arrays.retain(|open| open.global != id);
        }
        Some(feedback)
    }

    fn check_redeclared(
        &mut self,
        b: &mut Builder<'_>,
        variable: &grammar::Variable,
        ty: TypeId,
        declarator: &Declarator,
    ) -> Option<()> {
        let wanted = variable.ty.intern(&mut b.module.types);
        let is_array = matches!(b.module.types.get(ty), Type::Array { .. });
        let is_crowd = matches!(variable.source, VariableSource::BuiltIn(builtin) if builtin.crowd().is_some());
        if innermost(b, ty) == wanted && is_array == (variable.array.is_some() || is_crowd) {
            return Some(());
        }
        let message = format!("`{}` is declared with another type", variable.name);
        let expected = self.type_name(b, wanted);
        self.error(Code::REDECLARED, declarator.span, message, format!("it is made of `{expected}`"));
        None
    }

    /// Returns true if the extension for a layout of `gl_Layer` is enabled.
    fn may_place_layers(&mut self, extension: &str, id: &LayoutId) -> bool {
        if !self.env.is_enabled(extension) {
            self.needs_extension("this layout needs", extension, id.span);
        }
        self.env.stage == Stage::Vertex
    }

    fn redeclaration_layout(&mut self, b: &mut Builder<'_>, name: &str, id: &LayoutId) {
        match (name, self.text(id.name.symbol)) {
            ("gl_FragDepth", "depth_any") => self.promise_depth(DepthPromise::Any, id),
            ("gl_FragDepth", "depth_greater") => self.promise_depth(DepthPromise::Greater, id),
            ("gl_FragDepth", "depth_less") => self.promise_depth(DepthPromise::Less, id),
            ("gl_FragDepth", "depth_unchanged") => self.promise_depth(DepthPromise::Unchanged, id),
            ("gl_FragCoord", "origin_upper_left") => self.fragment.lower_left_origin = false,
            ("gl_FragCoord", "pixel_center_integer") => self.has_integer_centers = true,
            ("gl_SampleMask", "override_coverage") => self.override_coverage(id),
            ("gl_Layer", "viewport_relative") if self.may_place_layers("GL_NV_viewport_array2", id) => {
                self.layer.viewport_relative = true;
            }
            ("gl_Layer", "secondary_view_offset") if self.may_place_layers("GL_NV_stereo_view_rendering", id) => {
                self.layer.secondary_offset = self.layout_value(b, id);
            }
            _ => self.unknown_layout_id(id),
        }
    }

    fn override_coverage(&mut self, id: &LayoutId) {
        const EXTENSION: &str = "GL_NV_sample_mask_override_coverage";
        self.fragment.override_coverage = true;
        if !self.env.is_enabled(EXTENSION) {
            self.needs_extension("this layout needs", EXTENSION, id.span);
        }
    }

    /// All declarations of `gl_FragDepth` must make the same promise (GLSL 4.60 section 4.4.2.2).
    fn promise_depth(&mut self, promise: DepthPromise, id: &LayoutId) {
        let before = self.fragment.depth;
        self.fragment.depth = promise;
        if before != DepthPromise::default() && before != promise {
            let message = "`gl_FragDepth` is declared with two promises";
            self.error(Code::BAD_LAYOUT, id.span, message, "another one than before");
        }
    }
}

/// The names that instances of blocks of built-in variables have.
fn instances_of(blocks: &str) -> String {
    let of_blocks = |source| matches!(source, VariableSource::Blocks(known) if known.name == blocks);
    let instances = grammar::VARIABLES.iter().filter(|variable| of_blocks(variable.source));
    let names: Vec<String> = instances.map(|variable| format!("`{}`", variable.name)).collect();
    format!("{} {}", names.join(" and "), if names.len() == 1 { "is" } else { "are" })
}
