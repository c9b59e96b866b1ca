//! Inputs and outputs of the vertex and fragment stages (GLSL 4.60 sections 4.3.4, 4.3.6, 4.4.1 and 4.4.2): variables, blocks,
//! redeclared built-in variables, and what a fragment shader says of its tests. [`super::locations`] says which share a place.

use super::Sema;
use super::feedback::{FeedbackLayout, captured_size};
use super::lvalue::{LValue, Mutability};
use super::qualifiers::Qualifiers;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Decl, Declarator, LayoutId, List};
use crate::grammar::{self, VariableSource};
use crate::ir::build::Builder;
use crate::ir::{
    Access, ArrayLen, Binding, DepthPromise, FragmentModes, Global, GlobalId, Interlock, Interpolation, Member, Module,
    PixelParts, Scalar, Space, Stage, Struct, Type, TypeId, Value,
};
use crate::source::Span;

const INTERLOCK: &[&str] = &["GL_ARB_fragment_shader_interlock", "GL_NV_fragment_shader_interlock"];

const TILE_IMAGE: &[&str] = &["GL_EXT_shader_tile_image"];

/// What `layout(…) in;` says in a fragment shader: its name, the extensions of which it needs one, and what it sets.
type FragmentLayout = (&'static str, &'static [&'static str], fn(&mut FragmentModes));

#[rustfmt::skip]
const FRAGMENT_LAYOUTS: &[FragmentLayout] = &[
    ("early_fragment_tests", &[], |modes| modes.early_tests = true),
    ("full_quads", &["GL_EXT_shader_quad_control"], |modes| modes.full_quads = true),
    ("quad_derivatives", &["GL_EXT_shader_quad_control"], |modes| modes.quad_derivatives = true),
    ("post_depth_coverage", &["GL_EXT_post_depth_coverage", "GL_ARB_post_depth_coverage"], |modes| (modes.post_depth_coverage, modes.early_tests) = (true, true)),
    ("early_and_late_fragment_tests_amd", &["GL_AMD_shader_early_and_late_fragment_tests"], |modes| modes.early_and_late_tests = true),
    ("pixel_interlock_ordered", INTERLOCK, |modes| modes.interlock = Some(Interlock { of_sample: false, ordered: true })),
    ("pixel_interlock_unordered", INTERLOCK, |modes| modes.interlock = Some(Interlock { of_sample: false, ordered: false })),
    ("sample_interlock_ordered", INTERLOCK, |modes| modes.interlock = Some(Interlock { of_sample: true, ordered: true })),
    ("non_coherent_color_attachment_readEXT", TILE_IMAGE, |modes| modes.non_coherent |= PixelParts::COLOR),
    ("non_coherent_depth_attachment_readEXT", TILE_IMAGE, |modes| modes.non_coherent |= PixelParts::DEPTH),
    ("non_coherent_stencil_attachment_readEXT", TILE_IMAGE, |modes| modes.non_coherent |= PixelParts::STENCIL),
    ("sample_interlock_unordered", INTERLOCK, |modes| modes.interlock = Some(Interlock { of_sample: true, ordered: false })),
];

/// What the `layout(…)` of an input or output says.
#[derive(Clone, Copy, Default)]
struct PortLayout {
    location: Option<u32>,
    component: u32,
    index: u32,
    /// Where the index is written.
    index_at: Option<Span>,
    feedback: FeedbackLayout,
}

impl Sema<'_> {
    /// `layout(location = 0) in vec3 name;`
    pub fn stage_variable(
        &mut self,
        b: &mut Builder<'_>,
        decl: &Decl,
        qualifiers: &Qualifiers,
        base: TypeId,
        declarator: &Declarator,
    ) -> Option<Entity> {
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        let ty = self.of_vertices(b, ty, qualifiers, declarator.span)?;
        let space = self.port_space(qualifiers)?;
        self.check_interpolation(qualifiers);
        let mut layout = self.port_layout(b, decl.qualifiers)?;
        self.check_source(&layout, space);
        if layout.location.is_none() {
            let taken = self.locations_of(b, ty);
            layout.location = self.automatic_location(space, taken);
        }
        if layout.location.is_none() && !self.says_decoration(decl.qualifiers) {
            self.needs_location(declarator.name);
            return None;
        }
        self.check_port(b, ty, qualifiers, declarator.span)?;
        let binding = port_binding(layout, qualifiers);
        let port = self.port(b, declarator.name, space, ty, binding, qualifiers);
        if let (Space::Output, Entity::LValue(LValue { root: Value::Global(id), .. })) = (space, &port) {
            self.feedback_stride(layout.feedback, layout.feedback);
            self.capture(b, (*id, None), ty, layout.feedback, declarator.span);
        }
        Some(port)
    }

    /// The values of a primitive's three vertices are an array, which need not say its size.
    fn of_vertices(&mut self, b: &mut Builder<'_>, ty: TypeId, qualifiers: &Qualifiers, span: Span) -> Option<TypeId> {
        if qualifiers.interpolation != Interpolation::PerVertex {
            return Some(ty);
        }
        match b.module.types.get(ty) {
            Type::Array { element, len: ArrayLen::Runtime | ArrayLen::Fixed(3), .. } => {
                Some(b.module.types.array(element, ArrayLen::Fixed(3)))
            }
            _ => {
                let message = "an input of each vertex is an array of three";
                self.error(Code::BAD_TYPE, span, message, "another type");
                None
            }
        }
    }

    fn port(
        &mut self,
        b: &mut Builder<'_>,
        name: ast::Name,
        space: Space,
        ty: TypeId,
        binding: Binding,
        qualifiers: &Qualifiers,
    ) -> Entity {
        let access = if qualifiers.invariant { Access::INVARIANT } else { Access::empty() };
        let (text, span) = (self.text(name.symbol).into(), name.span);
        let id = b.module.globals.push(Global { name: text, span, space, ty, binding, access, init: None });
        let mutability = if space == Space::Input { Mutability::Input } else { Mutability::Writable };
        Entity::LValue(LValue { mutability, ..LValue::new(Value::Global(id), space, ty) })
    }

    /// Compute shaders have no inputs and outputs but the built-in ones.
    fn port_space(&mut self, qualifiers: &Qualifiers) -> Option<Space> {
        let span = qualifiers.input.or(qualifiers.output).unwrap_or(Span::NONE);
        if self.env.stage == Stage::Compute {
            self.error(
                Code::BAD_QUALIFIER,
                span,
                "compute shaders have no inputs and outputs of their own",
                "not here",
            );
            return None;
        }
        Some(if qualifiers.input.is_some() { Space::Input } else { Space::Output })
    }

    pub fn needs_location(&mut self, name: ast::Name) {
        let message = format!("`{}` needs a location", self.text(name.symbol));
        let note = "write `layout(location = N)` in front of it";
        self.report(Diagnostic::error(Code::BAD_LAYOUT, message).at(name.span, "no location").note(note));
    }

    fn port_layout(&mut self, b: &mut Builder<'_>, list: List<ast::Qualifier>) -> Option<PortLayout> {
        let mut layout = PortLayout::default();
        for id in &self.layout_ids(list) {
            match self.text(id.name.symbol) {
                "location" => layout.location = Some(self.layout_value(b, id)?),
                "component" => layout.component = self.layout_value(b, id)?,
                "index" => {
                    layout.index = self.layout_value(b, id)?;
                    layout.index_at = Some(id.span);
                }
                name if name.starts_with("xfb_") => self.feedback_id(b, id, &mut layout.feedback)?,
                _ => self.unknown_layout_id(id),
            }
        }
        if layout.component > 3 {
            self.error(Code::BAD_LAYOUT, self.ast[list][0].span, "a location has the components 0 to 3", "beyond them");
        }
        Some(layout)
    }

    /// The two sources of blending are outputs of fragment shaders (GLSL 4.60 section 4.4.2).
    fn check_source(&mut self, layout: &PortLayout, space: Space) {
        let Some(span) = layout.index_at else { return };
        if self.env.stage != Stage::Fragment || space != Space::Output {
            let message = "`index` belongs to outputs of fragment shaders";
            self.error(Code::BAD_LAYOUT, span, message, "not here");
        } else if layout.index > 1 {
            self.error(Code::BAD_LAYOUT, span, "`index` is 0 or 1", "there are two sources");
        } else if self.env.is_es() && !self.env.is_enabled("GL_EXT_blend_func_extended") {
            self.needs_extension("this layout needs", "GL_EXT_blend_func_extended", span);
        }
    }

    /// What may pass between stages: numbers, and in fragment inputs integers and doubles only flat.
    fn check_port(&mut self, b: &Builder<'_>, ty: TypeId, qualifiers: &Qualifiers, span: Span) -> Option<()> {
        let inner = innermost(b, ty);
        let scalar = b.module.types.scalar_of(inner);
        let fragment_input = self.env.stage == Stage::Fragment && qualifiers.input.is_some();
        let stays = scalar.is_some_and(|scalar| scalar.is_int() || scalar.width == 64);
        let complaint = match b.module.types.get(ty) {
            _ if scalar.is_some_and(Scalar::is_bool) => "a `bool` cannot pass between stages",
            Type::Void | Type::Array { len: ArrayLen::Runtime, .. } => "an input or output needs a size",
            _ if b.module.types.holds_cooperative(ty) => "a cooperative matrix cannot pass between stages",
            Type::BufferReference { .. } => "a buffer reference cannot pass between stages",
            Type::RayQuery => "a ray query cannot pass between stages",
            Type::Image(_) | Type::Sampler | Type::SampledImage(_) | Type::AccelerationStructure => {
                "an image or sampler cannot pass between stages"
            }
            _ if fragment_input && stays && !is_whole(qualifiers.interpolation) => {
                "integers and doubles cannot be interpolated: write `flat`"
            }
            _ => return Some(()),
        };
        self.error(Code::BAD_TYPE, span, complaint, "declared here");
        None
    }

    // Blocks.

    /// `in Name { … } instance;`
    pub fn stage_block(&mut self, b: &mut Builder<'_>, decl: &Decl, block: &ast::Block) -> Option<()> {
        let qualifiers = self.qualifiers(decl.qualifiers);
        let space = self.port_space(&qualifiers)?;
        self.check_interpolation(&qualifiers);
        let layout = self.port_layout(b, decl.qualifiers)?;
        self.check_source(&layout, space);
        if self.text(block.name.symbol) == "gl_PerVertex" {
            return self.redeclare_per_vertex(b, block, layout.feedback);
        }
        self.check_block_stage(space, block.name.span)?;
        let (members, names) = self.stage_members(b, block, &qualifiers, layout)?;
        let name = self.text(block.name.symbol).into();
        if let Some(array) = block.instance.as_ref().filter(|declarator| !declarator.dimensions.is_empty()) {
            return self.stage_block_array(b, block, array, members, &qualifiers, layout);
        }
        let ty = b.module.types.add_struct(Struct { name, members, block: true, logical: None });
        let binding = port_binding(PortLayout::default(), &Qualifiers::default());
        let instance = block.instance.as_ref().map_or(block.name, |instance| instance.name);
        let Entity::LValue(whole) = self.port(b, instance, space, ty, binding, &qualifiers) else { return None };
        if let (Space::Output, Value::Global(id)) = (space, whole.root) {
            self.capture_members(b, id, block, layout.feedback)?;
        }
        if block.instance.is_some() {
            self.declare(instance, Entity::LValue(whole));
            return Some(());
        }
        for (index, name) in names.into_iter().enumerate() {
            let part = b.module.types.element(ty, index as u32)?;
            let lvalue = whole.clone().part(b.const_u32(index as u32), part);
            self.declare(name, Entity::LValue(lvalue));
        }
        Some(())
    }

    /// Blocks pass between stages: the vertex stage takes none in, the fragment stage gives none out (GLSL 4.60 section
    /// 4.3.9).
    fn check_block_stage(&mut self, space: Space, span: Span) -> Option<()> {
        let message = match (self.env.stage, space) {
            (Stage::Vertex, Space::Input) => "a vertex shader has no input blocks",
            (Stage::Fragment, Space::Output) => "a fragment shader has no output blocks",
            _ => return Some(()),
        };
        self.error(Code::BAD_DECLARATION, span, message, "declare variables instead");
        None
    }

    /// `in Name { … } instance[2];`: the array has the location, and its blocks follow each other.
    fn stage_block_array(
        &mut self,
        b: &mut Builder<'_>,
        block: &ast::Block,
        array: &Declarator,
        mut members: Vec<Member>,
        qualifiers: &Qualifiers,
        layout: PortLayout,
    ) -> Option<()> {
        if layout.location.is_none() {
            self.needs_location(block.name);
            return None;
        }
        if layout.feedback.buffer.or(layout.feedback.offset).is_some() {
            self.unsupported(array.span, "transform feedback of arrays of blocks is");
            return None;
        }
        self.plain_member_locations(b, block, &mut members)?;
        let name = self.text(block.name.symbol).into();
        let ty = b.module.types.add_struct(Struct { name, members, block: true, logical: None });
        let ty = self.with_dimensions(b, ty, array.dimensions)?;
        let ty = self.of_vertices(b, ty, qualifiers, array.span)?;
        if matches!(b.module.types.get(ty), Type::Array { len: ArrayLen::Runtime, .. }) {
            self.error(Code::BAD_TYPE, array.span, "an array of blocks needs a size", "declared here");
            return None;
        }
        let own = Qualifiers { interpolation: vertex_only(qualifiers.interpolation), ..Qualifiers::default() };
        let space = self.port_space(qualifiers)?;
        let entity = self.port(b, array.name, space, ty, port_binding(layout, &own), qualifiers);
        self.declare(array.name, entity);
        Some(())
    }

    /// Members whose locations follow each other: the location of the array says them all.
    fn plain_member_locations(
        &mut self,
        b: &mut Builder<'_>,
        block: &ast::Block,
        members: &mut [Member],
    ) -> Option<()> {
        let ast = self.ast;
        for line in &ast[block.members] {
            let layout = self.port_layout(b, line.qualifiers)?;
            if layout.location.is_some() || layout.component != 0 {
                let span = ast[line.qualifiers].first().map_or(Span::NONE, |qualifier| qualifier.span);
                self.unsupported(span, "locations of members in arrays of blocks are");
                return None;
            }
        }
        for member in members {
            if let Binding::Location { location, interpolation, .. } = &mut member.binding {
                *location = None;
                if *interpolation == Interpolation::PerVertex {
                    *interpolation = Interpolation::Perspective;
                }
            }
        }
        Some(())
    }

    fn stage_members(
        &mut self,
        b: &mut Builder<'_>,
        block: &ast::Block,
        outer: &Qualifiers,
        whole: PortLayout,
    ) -> Option<(Vec<Member>, Vec<ast::Name>)> {
        let ast = self.ast;
        let space = self.port_space(outer)?;
        let mut next = whole.location;
        let (mut members, mut names): (Vec<Member>, Vec<ast::Name>) = (Vec::new(), Vec::new());
        for line in &ast[block.members] {
            let mut inner = self.qualifiers(line.qualifiers);
            if inner.interpolation == Interpolation::Perspective {
                inner.interpolation = outer.interpolation;
            }
            (inner.input, inner.output) = (outer.input, outer.output);
            let layout = self.port_layout(b, line.qualifiers)?;
            let base = self.type_spec(b, line.ty)?;
            for declarator in &ast[line.declarators] {
                let ty = self.with_dimensions(b, base, declarator.dimensions)?;
                self.check_port(b, ty, &inner, declarator.span)?;
                let taken = self.locations_of(b, ty);
                let automatic = |sema: &mut Self| sema.automatic_location(space, taken);
                let Some(location) = layout.location.or(next).or_else(|| automatic(self)) else {
                    self.needs_location(declarator.name);
                    return None;
                };
                next = (layout.location.or(next)).map(|_| location.saturating_add(taken));
                let layout = PortLayout { location: Some(location), ..layout };
                let name = self.text(declarator.name.symbol);
                self.check_new_member(&members, name, declarator.name.span);
                let access = if inner.invariant { Access::INVARIANT } else { Access::empty() };
                let binding = port_binding(layout, &inner);
                members.push(Member { name: name.into(), ty, offset: None, access, binding });
                names.push(declarator.name);
            }
        }
        Some((members, names))
    }

    /// Members that have an offset in a buffer, or come behind one that has.
    fn capture_members(
        &mut self,
        b: &mut Builder<'_>,
        global: GlobalId,
        block: &ast::Block,
        whole: FeedbackLayout,
    ) -> Option<()> {
        let (ast, mut next, mut index) = (self.ast, whole.offset, 0);
        self.feedback_stride(whole, whole);
        for line in &ast[block.members] {
            let own = self.port_layout(b, line.qualifiers)?.feedback;
            self.feedback_stride(own, whole);
            for declarator in &ast[line.declarators] {
                let ty = b.module.types.element(b.module.globals[global].ty, index)?;
                let (_, align) = captured_size(b, ty);
                let offset =
                    own.offset.or(next.filter(|_| whole.offset.is_some()).map(|at| at.next_multiple_of(align)));
                let layout = FeedbackLayout { buffer: own.buffer.or(whole.buffer), stride: None, offset };
                next = self.capture(b, (global, Some(index)), ty, layout, declarator.span).or(next);
                index += 1;
            }
        }
        Some(())
    }

    /// Locations that an input or output takes (GLSL 4.60 section 4.4.1).
    fn locations_of(&self, b: &Builder<'_>, ty: TypeId) -> u32 {
        let types = &b.module.types;
        let column = |scalar: Scalar, rows: u8| if scalar.width == 64 && rows > 2 { 2 } else { 1 };
        match types.get(ty) {
            Type::Vector { scalar, size } => column(scalar, size),
            Type::Matrix { scalar, columns, rows, .. } => u32::from(columns) * column(scalar, rows),
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => len.saturating_mul(self.locations_of(b, element)),
            Type::Struct(of) => {
                let members = types.structs[of].members.iter().map(|member| self.locations_of(b, member.ty));
                members.fold(0, u32::saturating_add)
            }
            _ => 1,
        }
    }

    // Built-in variables that the shader declares again.

    /// `out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[2]; };`
    fn redeclare_per_vertex(&mut self, b: &mut Builder<'_>, block: &ast::Block, whole: FeedbackLayout) -> Option<()> {
        if let Some(instance) = &block.instance {
            self.unsupported(instance.span, "`gl_PerVertex` with a name of its own is");
            return None;
        }
        let ast = self.ast;
        let mut next = whole.offset;
        for line in &ast[block.members] {
            let qualifiers = self.qualifiers(line.qualifiers);
            let base = self.type_spec(b, line.ty)?;
            for declarator in &ast[line.declarators] {
                let own = self.redeclare_builtin(b, line.qualifiers, &qualifiers, base, declarator, false);
                next = self.capture_builtin(b, declarator, own.unwrap_or_default(), whole, next)?;
            }
        }
        Some(())
    }

    /// A built-in output whose declaration puts it into a buffer. Gives the first byte behind it.
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

    /// A declaration of a built-in variable: it sizes an array, promises something, and makes no new variable.
    /// One that is only listed is not made before its first use.
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
            self.open_arrays.retain(|(open, _)| *open != id);
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
        if innermost(b, ty) == wanted && is_array == variable.array.is_some() {
            return Some(());
        }
        let message = format!("`{}` is declared with another type", variable.name);
        let expected = self.type_name(b, wanted);
        self.error(Code::REDECLARED, declarator.span, message, format!("it is made of `{expected}`"));
        None
    }

    /// Whether the extension for a layout of `gl_Layer` is on.
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
            ("gl_FragCoord", "origin_upper_left") => {}
            ("gl_FragCoord", "pixel_center_integer") => self.fragment.integer_centers = true,
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

    /// All declarations of `gl_FragDepth` promise the same (GLSL 4.60 section 4.4.2.2).
    fn promise_depth(&mut self, promise: DepthPromise, id: &LayoutId) {
        let before = self.fragment.depth;
        self.fragment.depth = promise;
        if before != DepthPromise::default() && before != promise {
            let message = "`gl_FragDepth` is declared with two promises";
            self.error(Code::BAD_LAYOUT, id.span, message, "another one than before");
        }
    }

    /// `layout(early_fragment_tests) in;`
    pub fn fragment_input_layout(&mut self, id: &LayoutId) {
        let name = self.text(id.name.symbol);
        let Some((_, extensions, set)) = FRAGMENT_LAYOUTS.iter().find(|(known, ..)| *known == name) else {
            self.unknown_layout_id(id);
            return;
        };
        if !(extensions.is_empty() || extensions.iter().any(|extension| self.env.is_enabled(extension))) {
            self.needs_extension("this layout needs", extensions[0], id.span);
        }
        set(&mut self.fragment);
    }

    // Arrays of distances without a size.

    /// A constant index into an array whose length is still open makes it that long.
    pub fn note_index(&mut self, b: &mut Builder<'_>, lvalue: &LValue, at: Value, span: Span) {
        self.note_member_index(b, lvalue, at, span);
        let Value::Global(id) = lvalue.root else { return };
        let Some(slot) = self.open_arrays.iter().position(|(open, _)| *open == id && lvalue.path.is_empty()) else {
            return;
        };
        let known = match at {
            Value::Const(id) => b.module.constants.as_int(&b.module.types, id),
            _ => None,
        };
        match known {
            Some(at) => self.open_arrays[slot].1 = self.open_arrays[slot].1.max((at as u32).saturating_add(1)),
            None => {
                let Global { name, ty, .. } = &b.module.globals[id];
                let element = innermost(b, *ty);
                let message = format!("`{name}` needs a size before it is indexed at run time");
                let note = format!("declare it again with one: `{}[N] {name};`", self.type_name(b, element));
                self.report(Diagnostic::error(Code::BAD_TYPE, message).at(span, "not constant").note(note));
            }
        }
    }

    /// Gives the arrays that are still open the length that their indices ask for.
    pub fn close_arrays(&mut self, module: &mut Module) {
        for (id, length) in std::mem::take(&mut self.open_arrays) {
            let ty = module.globals[id].ty;
            if let Type::Array { element, .. } = module.types.get(ty) {
                module.globals[id].ty = module.types.array(element, ArrayLen::Fixed(length.max(1)));
            }
        }
    }

    /// Makes an output `invariant` after its declaration.
    pub fn make_invariant(&mut self, b: &mut Builder<'_>, lvalue: &LValue, span: Span) {
        match lvalue.root {
            Value::Global(id) if lvalue.space == Space::Output => self.set_invariant(b, id),
            Value::Global(_) if lvalue.space == Space::Input => {}
            _ => self.error(Code::BAD_QUALIFIER, span, "only outputs are `invariant`", "not an output"),
        }
    }

    fn set_invariant(&mut self, b: &mut Builder<'_>, id: GlobalId) {
        b.module.globals[id].access |= Access::INVARIANT;
    }
}

fn innermost(b: &Builder<'_>, mut ty: TypeId) -> TypeId {
    while let Type::Array { element, .. } = b.module.types.get(ty) {
        ty = element;
    }
    ty
}

/// Whether an input is what a vertex or a mesh shader gave, and never a mixture.
const fn is_whole(interpolation: Interpolation) -> bool {
    !matches!(interpolation, Interpolation::Perspective | Interpolation::Linear)
}

/// What an array of blocks has itself: its members are interpolated each for itself.
const fn vertex_only(interpolation: Interpolation) -> Interpolation {
    match interpolation {
        Interpolation::PerVertex => Interpolation::PerVertex,
        _ => Interpolation::Perspective,
    }
}

fn port_binding(layout: PortLayout, qualifiers: &Qualifiers) -> Binding {
    let PortLayout { location, component, index, .. } = layout;
    let (interpolation, sampling) = (qualifiers.interpolation, qualifiers.sampling());
    Binding::Location { location, component, index, interpolation, sampling }
}
