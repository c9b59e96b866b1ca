//! Inputs and outputs that shaders declare (GLSL 4.60 sections 4.3.4, 4.3.6, 4.4.1 and 4.4.2): variables and blocks.
//! [`super::primitives`] determines which of them are arrays over vertices, [`super::locations`] which overlap.

use super::Sema;
use super::feedback::{FeedbackLayout, captured_size};
use super::lvalue::LValue;
use super::qualifiers::Qualifiers;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Decl, Declarator, List};
use crate::ir::build::Builder;
use crate::ir::{
    Access, ArrayLen, Binding, Crowd, Global, GlobalId, Interpolation, Member, Scalar, Space, Stage, Struct, Type,
    TypeId, Value,
};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// Blocks of built-in variables.
const BUILT_IN_BLOCKS: [&str; 5] =
    ["gl_PerVertex", "gl_MeshPerVertexEXT", "gl_MeshPerPrimitiveEXT", "gl_MeshPerVertexNV", "gl_MeshPerPrimitiveNV"];

/// The `layout(…)` of an input or output.
#[derive(Clone, Copy, Default)]
pub struct PortLayout {
    location: Option<u32>,
    component: u32,
    index: u32,
    /// Span of the index.
    index_at: Option<Span>,
    pub feedback: FeedbackLayout,
    /// The vertex stream of a geometry shader.
    pub stream: Option<(u32, Span)>,
    /// Span of `passthrough`.
    pub passthrough: Option<Span>,
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
        if let Some(span) = qualifiers.task {
            self.error(Code::BAD_QUALIFIER, span, "task memory is a block", "a variable outside a block");
            return None;
        }
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        let space = self.port_space(qualifiers, decl.qualifiers)?;
        let is_single = declarator.dimensions.is_empty() && self.says_passthrough(decl.qualifiers);
        let ty = if is_single { ty } else { self.crowded(b, ty, space, qualifiers.interpolation, declarator.span)? };
        self.check_interpolation(qualifiers);
        let mut layout = self.port_layout(b, decl.qualifiers)?;
        self.check_source(&layout, space);
        let placed = layout.location.is_some();
        if !placed {
            let taken = b.module.types.locations(ty);
            layout.location = self.automatic_location(space, taken);
        }
        if layout.location.is_none() && !self.says_decoration(decl.qualifiers) {
            self.needs_location(declarator.name);
            return None;
        }
        let own = self.without_crowd(b, ty, space, qualifiers.interpolation);
        let is_placed = placed && layout.feedback == FeedbackLayout::default();
        let is_open = own == ty && is_placed && self.may_stay_open(b, ty);
        let checked = if is_open { b.module.types.element(ty, 0)? } else { own };
        self.check_port(b, checked, qualifiers, declarator.span)?;
        let binding = port_binding(layout, qualifiers);
        let port = self.port(b, declarator.name, space, ty, binding, qualifiers);
        if is_open {
            self.leave_open(b, &port);
        }
        if let (Space::Output, Entity::LValue(LValue { root: Value::Global(id), .. })) = (space, &port) {
            self.feedback_stride(layout.feedback, layout.feedback);
            self.capture(b, (*id, None), ty, layout.feedback, declarator.span);
        }
        if let Entity::LValue(place) = &port {
            self.put_in_stream(b, place, layout);
            if let Value::Global(id) = place.root {
                self.pass_through(b, id, layout);
            }
        }
        Some(port)
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
        let mutability = self.port_mutability(space, qualifiers.interpolation);
        Entity::LValue(LValue { mutability, ..LValue::new(Value::Global(id), space, ty) })
    }

    /// Some stages have only built-in inputs and outputs; a decoration by number may create one.
    fn port_space(&mut self, qualifiers: &Qualifiers, list: List<ast::Qualifier>) -> Option<Space> {
        let span = qualifiers.input.or(qualifiers.output).unwrap_or(Span::NONE);
        let space = qualifiers.port_space();
        if self.env.stage.has_ports(space) || self.env.stage.is_of_rays() && self.says_decoration(list) {
            return Some(space);
        }
        let what = match self.env.stage.has_ports(Space::Output) {
            true => "inputs",
            false => "inputs and outputs",
        };
        let message = format!("{} shaders have no {what} of their own", self.env.stage.name());
        self.error(Code::BAD_QUALIFIER, span, message, "not here");
        None
    }

    pub fn needs_location(&mut self, name: ast::Name) {
        let message = format!("`{}` needs a location", self.text(name.symbol));
        let note = "write `layout(location = N)` in front of it";
        self.report(Diagnostic::error(Code::BAD_LAYOUT, message).at(name.span, "no location").note(note));
    }

    /// The location of an input or output. glslang's limit, which no device reaches, applies here too.
    fn port_location(&mut self, b: &mut Builder<'_>, id: &ast::LayoutId) -> Option<u32> {
        const LOCATIONS: u32 = 4095;
        let at = self.layout_value(b, id)?;
        if at >= LOCATIONS {
            self.error(Code::BAD_LAYOUT, id.span, format!("`location` cannot be {at}"), "out of range");
            return None;
        }
        Some(at)
    }

    fn port_layout(&mut self, b: &mut Builder<'_>, list: List<ast::Qualifier>) -> Option<PortLayout> {
        let mut layout = PortLayout::default();
        for id in &self.layout_ids(list) {
            match self.text(id.name.symbol) {
                "location" => layout.location = Some(self.port_location(b, id)?),
                "component" => layout.component = self.layout_value(b, id)?,
                "index" => {
                    layout.index = self.layout_value(b, id)?;
                    layout.index_at = Some(id.span);
                }
                "passthrough" if self.env.stage == Stage::Geometry => {
                    layout.passthrough = Some(self.passthrough_id(id)?);
                }
                "stream" if self.env.stage == Stage::Geometry => {
                    layout.stream = Some((self.stream_number(b, id)?, id.span));
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

    /// Checks the type of a variable between stages: numbers, and in fragment inputs integers and doubles only flat.
    fn check_port(&mut self, b: &Builder<'_>, ty: TypeId, qualifiers: &Qualifiers, span: Span) -> Option<()> {
        let inner = innermost(b, ty);
        let scalar = b.module.types.scalar_of(inner);
        let fragment_input = self.env.stage == Stage::Fragment && qualifiers.input.is_some();
        let complaint = match b.module.types.get(ty) {
            _ if scalar.is_some_and(Scalar::is_bool) => "a `bool` cannot pass between stages",
            Type::Void | Type::Array { len: ArrayLen::Runtime, .. } => "an input or output needs a size",
            _ if b.module.types.holds_scalar(ty, |scalar| scalar.encoding().is_some()) => {
                "floats that are only stored and converted cannot pass between stages"
            }
            _ if b.module.types.holds_cooperative(ty) => "a cooperative matrix cannot pass between stages",
            Type::BufferReference { .. } => "a buffer reference cannot pass between stages",
            Type::RayQuery => "a ray query cannot pass between stages",
            Type::HitObject { .. } => "a hit object cannot pass between stages",
            Type::Image(_) | Type::Sampler | Type::SampledImage(_) | Type::AccelerationStructure => {
                "an image or sampler cannot pass between stages"
            }
            _ if fragment_input && scalar.is_some_and(stays) && !is_whole(qualifiers.interpolation) => {
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
        let space = self.port_space(&qualifiers, decl.qualifiers)?;
        self.check_interpolation(&qualifiers);
        let layout = self.port_layout(b, decl.qualifiers)?;
        self.check_source(&layout, space);
        if BUILT_IN_BLOCKS.contains(&self.text(block.name.symbol)) {
            return match layout.passthrough {
                Some(_) if space == Space::Input => self.pass_per_vertex(b, block, layout),
                _ => self.redeclare_per_vertex(b, block, space, layout),
            };
        }
        self.check_block_stage(space, block.name.span)?;
        let (members, names) = self.stage_members(b, block, &qualifiers, layout)?;
        let name = self.text(block.name.symbol).into();
        let dimensions = block.instance.as_ref().map_or(List::EMPTY, |instance| instance.dimensions);
        let crowd = self.env.stage.crowd(space, qualifiers.interpolation).filter(|crowd| *crowd != Crowd::Corners);
        if let Some(array) = block.instance.as_ref().filter(|_| dimensions.len() > usize::from(crowd.is_some())) {
            return self.stage_block_array(b, block, array, members, &qualifiers, layout);
        }
        let ty = b.module.types.add_struct(Struct { name, span: block.name.span, members, block: true, logical: None });
        let ty = self.with_dimensions(b, ty, dimensions)?;
        let instance = block.instance.as_ref().map_or(block.name, |instance| instance.name);
        let is_single = dimensions.is_empty() && layout.passthrough.is_some();
        let ty = if is_single { ty } else { self.crowded(b, ty, space, qualifiers.interpolation, instance.span)? };
        let binding = port_binding(PortLayout::default(), &of_block(qualifiers.interpolation));
        let Entity::LValue(whole) = self.port(b, instance, space, ty, binding, &qualifiers) else { return None };
        self.put_in_stream(b, &whole, layout);
        if let Value::Global(id) = whole.root {
            self.pass_through(b, id, layout);
        }
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

    /// Blocks pass between stages: the vertex stage has none as inputs, the fragment stage none as outputs (GLSL 4.60
    /// section 4.3.9).
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
        let ty = b.module.types.add_struct(Struct { name, span: block.name.span, members, block: true, logical: None });
        let ty = self.with_dimensions(b, ty, array.dimensions)?;
        let space = qualifiers.port_space();
        let ty = self.crowded(b, ty, space, qualifiers.interpolation, array.span)?;
        if matches!(b.module.types.get(ty), Type::Array { len: ArrayLen::Runtime, .. }) {
            self.error(Code::BAD_TYPE, array.span, "an array of blocks needs a size", "declared here");
            return None;
        }
        let own = of_block(qualifiers.interpolation);
        let entity = self.port(b, array.name, space, ty, port_binding(layout, &own), qualifiers);
        if let Entity::LValue(place) = &entity {
            self.put_in_stream(b, place, layout);
        }
        self.declare(array.name, entity);
        Some(())
    }

    /// Members with consecutive locations: the location of the array determines them all.
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
        let space = outer.port_space();
        let mut next = whole.location;
        let (mut members, mut names): (Vec<Member>, Vec<ast::Name>) = (Vec::new(), Vec::new());
        let mut different = FxHashSet::default();
        for line in &ast[block.members] {
            let mut inner = self.qualifiers(line.qualifiers);
            if inner.interpolation == Interpolation::Perspective {
                inner.interpolation = outer.interpolation;
            }
            (inner.input, inner.output) = (outer.input, outer.output);
            let layout = self.port_layout(b, line.qualifiers)?;
            self.check_member_stream(layout, whole);
            self.refuse_passthrough(layout);
            let base = self.type_spec(b, line.ty)?;
            for declarator in &ast[line.declarators] {
                let ty = self.with_dimensions(b, base, declarator.dimensions)?;
                let inner = self.implicitly_flat(b, ty, inner);
                self.check_port(b, ty, &inner, declarator.span)?;
                let taken = b.module.types.locations(ty);
                let automatic = |sema: &mut Self| sema.automatic_location(space, taken);
                let Some(location) = layout.location.or(next).or_else(|| automatic(self)) else {
                    self.needs_location(declarator.name);
                    return None;
                };
                next = (layout.location.or(next)).map(|_| location.saturating_add(taken));
                let layout = PortLayout { location: Some(location), ..layout };
                let name = self.text(declarator.name.symbol);
                self.check_new_member(&mut different, declarator.name);
                let access = if inner.invariant { Access::INVARIANT } else { Access::empty() };
                let binding = port_binding(layout, &inner);
                let span = declarator.name.span;
                members.push(Member { name: name.into(), span, ty, offset: None, access, binding });
                names.push(declarator.name);
            }
        }
        Some((members, names))
    }

    /// Integers and doubles in a fragment shader's input blocks are flat without a qualifier, which variables need.
    fn implicitly_flat(&self, b: &Builder<'_>, ty: TypeId, member: Qualifiers) -> Qualifiers {
        let is_input = self.env.stage == Stage::Fragment && member.input.is_some();
        let interpolation = match member.interpolation {
            Interpolation::Perspective if is_input && b.module.types.scalar_of(innermost(b, ty)).is_some_and(stays) => {
                Interpolation::Flat
            }
            said => said,
        };
        Qualifiers { interpolation, ..member }
    }

    /// Members with an offset in a buffer, or after one that has an offset.
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

pub fn innermost(b: &Builder<'_>, mut ty: TypeId) -> TypeId {
    while let Type::Array { element, .. } = b.module.types.get(ty) {
        ty = element;
    }
    ty
}

/// Returns true if a scalar cannot be interpolated.
fn stays(scalar: Scalar) -> bool {
    scalar.is_int() || scalar.width == 64
}

/// Returns true if an input is a vertex value that is not interpolated.
const fn is_whole(interpolation: Interpolation) -> bool {
    !matches!(interpolation, Interpolation::Perspective | Interpolation::Linear)
}

/// The qualifiers of a block, or an array of blocks, itself: its members are interpolated separately.
fn of_block(interpolation: Interpolation) -> Qualifiers {
    let interpolation = match interpolation {
        Interpolation::PerVertex | Interpolation::Patch => interpolation,
        _ => Interpolation::Perspective,
    };
    Qualifiers { interpolation, ..Qualifiers::default() }
}

fn port_binding(layout: PortLayout, qualifiers: &Qualifiers) -> Binding {
    let PortLayout { location, component, index, .. } = layout;
    let (interpolation, sampling) = (qualifiers.interpolation, qualifiers.sampling());
    Binding::Location { location, component, index, interpolation, sampling }
}
