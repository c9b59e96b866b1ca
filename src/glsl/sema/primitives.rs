//! The primitives of geometry and tessellation shaders (GLSL 4.60 sections 4.4.1 and 4.4.2), and the inputs and outputs
//! that are arrays with one element per vertex (sections 4.3.4 and 4.3.6).
//!
//! Such an array may precede the layout that sets its length. The shader is then resolved twice, as for
//! [`super::lengths`]: the first time finds the number, the second time uses it.

use super::Sema;
use super::lvalue::{LValue, Mutability};
use super::passthrough;
use super::stage::PortLayout;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::LayoutId;
use crate::grammar::{self, VariableSource};
use crate::ir::build::Builder;
use crate::ir::{
    ArrayLen, BuiltIn, Crowd, Interpolation, Module, Op, PrimitiveMode as Mode, Space, Stage, Type, TypeId, Value,
};
use crate::source::Span;

/// The subject of a layout: a shader has at most one layout for each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Subject {
    Input,
    Invocations,
    Output,
    MaxVertices,
    MaxPrimitives,
    Vertices,
    Domain,
    Spacing,
    Order,
    Points,
}

/// The value of a layout's name.
#[derive(Clone, Copy)]
enum Says {
    Mode(Mode),
    /// A number from 1 to the built-in constant.
    Number(fn(u32) -> Mode, Option<&'static str>),
}

/// The name of a layout, the stage and the direction in which it has a meaning, and the meaning.
type Layout = (&'static str, Stage, Space, Subject, Says);

#[rustfmt::skip]
const LAYOUTS: &[Layout] = &[
    ("points", Stage::Geometry, Space::Input, Subject::Input, Says::Mode(Mode::InputPoints)),
    ("lines", Stage::Geometry, Space::Input, Subject::Input, Says::Mode(Mode::InputLines)),
    ("lines_adjacency", Stage::Geometry, Space::Input, Subject::Input, Says::Mode(Mode::InputLinesAdjacency)),
    ("triangles", Stage::Geometry, Space::Input, Subject::Input, Says::Mode(Mode::Triangles)),
    ("triangles_adjacency", Stage::Geometry, Space::Input, Subject::Input, Says::Mode(Mode::InputTrianglesAdjacency)),
    ("invocations", Stage::Geometry, Space::Input, Subject::Invocations, Says::Number(Mode::Invocations, None)),
    ("points", Stage::Geometry, Space::Output, Subject::Output, Says::Mode(Mode::OutputPoints)),
    ("line_strip", Stage::Geometry, Space::Output, Subject::Output, Says::Mode(Mode::OutputLineStrip)),
    ("triangle_strip", Stage::Geometry, Space::Output, Subject::Output, Says::Mode(Mode::OutputTriangleStrip)),
    ("max_vertices", Stage::Geometry, Space::Output, Subject::MaxVertices, Says::Number(Mode::OutputVertices, Some("gl_MaxGeometryOutputVertices"))),
    ("points", Stage::Mesh, Space::Output, Subject::Output, Says::Mode(Mode::OutputPoints)),
    ("lines", Stage::Mesh, Space::Output, Subject::Output, Says::Mode(Mode::OutputLines)),
    ("triangles", Stage::Mesh, Space::Output, Subject::Output, Says::Mode(Mode::OutputTriangles)),
    ("max_vertices", Stage::Mesh, Space::Output, Subject::MaxVertices, Says::Number(Mode::OutputVertices, Some("gl_MaxMeshOutputVerticesEXT"))),
    ("max_primitives", Stage::Mesh, Space::Output, Subject::MaxPrimitives, Says::Number(Mode::OutputPrimitives, Some("gl_MaxMeshOutputPrimitivesEXT"))),
    ("vertices", Stage::TessControl, Space::Output, Subject::Vertices, Says::Number(Mode::OutputVertices, Some("gl_MaxPatchVertices"))),
    ("triangles", Stage::TessEvaluation, Space::Input, Subject::Domain, Says::Mode(Mode::Triangles)),
    ("quads", Stage::TessEvaluation, Space::Input, Subject::Domain, Says::Mode(Mode::Quads)),
    ("isolines", Stage::TessEvaluation, Space::Input, Subject::Domain, Says::Mode(Mode::Isolines)),
    ("equal_spacing", Stage::TessEvaluation, Space::Input, Subject::Spacing, Says::Mode(Mode::SpacingEqual)),
    ("fractional_even_spacing", Stage::TessEvaluation, Space::Input, Subject::Spacing, Says::Mode(Mode::SpacingFractionalEven)),
    ("fractional_odd_spacing", Stage::TessEvaluation, Space::Input, Subject::Spacing, Says::Mode(Mode::SpacingFractionalOdd)),
    ("cw", Stage::TessEvaluation, Space::Input, Subject::Order, Says::Mode(Mode::VertexOrderCw)),
    ("ccw", Stage::TessEvaluation, Space::Input, Subject::Order, Says::Mode(Mode::VertexOrderCcw)),
    ("point_mode", Stage::TessEvaluation, Space::Input, Subject::Points, Says::Mode(Mode::PointMode)),
];

/// The name of the layout for a mode in a stage, its direction, and its value if it has one.
pub fn primitive_word(stage: Stage, mode: Mode) -> Option<(&'static str, Space, Option<u32>)> {
    let number = match mode {
        Mode::Invocations(number) | Mode::OutputVertices(number) | Mode::OutputPrimitives(number) => Some(number),
        _ => None,
    };
    let says_it = |says: &Says| match (says, number) {
        (Says::Mode(known), _) => *known == mode,
        (Says::Number(make, _), Some(number)) => make(number) == mode,
        _ => false,
    };
    let row = LAYOUTS.iter().find(|(_, of, _, _, says)| *of == stage && says_it(says))?;
    Some((row.0, row.2, number))
}

/// Returns true if a mode is the default of a stage.
pub fn is_usual(stage: Stage, mode: Mode) -> bool {
    USUAL.iter().any(|(of, _, usual)| (*of, *usual) == (stage, mode))
}

/// The layouts that a stage requires: the missing fact, and how it is written.
const REQUIRED: &[(Stage, Subject, &str, &str)] = &[
    (Stage::Geometry, Subject::Input, "what primitives it takes in", "layout(triangles) in;"),
    (Stage::Geometry, Subject::Output, "what primitives it gives out", "layout(triangle_strip) out;"),
    (Stage::Geometry, Subject::MaxVertices, "how many vertices it gives out at most", "layout(max_vertices = N) out;"),
    (Stage::Mesh, Subject::Output, "what primitives it gives out", "layout(triangles) out;"),
    (Stage::Mesh, Subject::MaxVertices, "how many vertices it gives out at most", "layout(max_vertices = N) out;"),
    (
        Stage::Mesh,
        Subject::MaxPrimitives,
        "how many primitives it gives out at most",
        "layout(max_primitives = N) out;",
    ),
    (Stage::TessControl, Subject::Vertices, "how many vertices a patch has", "layout(vertices = N) out;"),
    (Stage::TessEvaluation, Subject::Domain, "what the tessellator divides", "layout(triangles) in;"),
];

/// The defaults of a stage's layouts.
const USUAL: &[(Stage, Subject, Mode)] = &[
    (Stage::Geometry, Subject::Invocations, Mode::Invocations(1)),
    (Stage::TessEvaluation, Subject::Spacing, Mode::SpacingEqual),
    (Stage::TessEvaluation, Subject::Order, Mode::VertexOrderCcw),
];

/// The lengths of arrays over vertices.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    input: Option<u32>,
    output: Option<u32>,
    primitives: Option<u32>,
}

/// The declarations so far.
#[derive(Default, Debug)]
pub struct Primitives {
    modes: Vec<(Subject, Mode, Span)>,
    pub counts: Counts,
    /// True if an array was declared before its length was known.
    pub early: bool,
    /// The default vertex stream of outputs.
    stream: u32,
    /// Lists of vertex indices that the shader names, with their places.
    indices: Vec<(&'static str, BuiltIn, Span)>,
}

impl Primitives {
    fn said(&self, subject: Subject) -> Option<(Mode, Span)> {
        self.modes.iter().find(|(of, ..)| *of == subject).map(|(_, mode, span)| (*mode, *span))
    }
}

/// The names of the owners of a stage's rows, or of all rows if the stage has none.
fn owners<'r>(rows: impl Iterator<Item = &'r Layout> + Clone, stage: Stage) -> String {
    let is_of_stage = rows.clone().any(|(_, of, ..)| *of == stage);
    let rows = rows.filter(|(_, of, ..)| !is_of_stage || *of == stage);
    let owner = |(_, of, space, ..): &Layout| {
        let direction = if *space == Space::Input { "inputs" } else { "outputs" };
        format!("the {direction} of {} shaders", of.name())
    };
    rows.map(owner).collect::<Vec<_>>().join(" and ")
}

/// Maximum number of vertices in a patch.
fn patch_vertices() -> u32 {
    limit("gl_MaxPatchVertices")
}

fn limit(name: &str) -> u32 {
    grammar::constant(name).map_or(u32::MAX, |constant| constant.value[0].cast_unsigned())
}

impl Sema<'_> {
    /// An identifier of `layout(…) in;` or `layout(…) out;`, if it is about primitives.
    pub fn primitive_layout(&mut self, b: &mut Builder<'_>, id: &LayoutId, space: Space) -> bool {
        let (name, stage) = (self.text(id.name.symbol), self.env.stage);
        let mut rows = LAYOUTS.iter().filter(|(known, ..)| *known == name);
        let all = rows.clone();
        if all.clone().next().is_none() {
            return false;
        }
        let Some((.., subject, says)) = rows.find(|(_, of, there, ..)| (*of, *there) == (stage, space)) else {
            let message = format!("`{name}` is a layout of {}", owners(all, stage));
            self.error(Code::BAD_LAYOUT, id.span, message, "not here");
            return true;
        };
        let mode = match says {
            Says::Mode(mode) => self.without_value(id).map(|()| *mode),
            Says::Number(make, most) => {
                let most = most.map(|name| self.env.mesh_limit(name));
                self.primitive_number(b, id, most.as_deref().map(|name| (name, limit(name)))).map(make)
            }
        };
        if let Some(mode) = mode {
            self.say_mode(*subject, mode, id.span);
        }
        true
    }

    pub fn without_value(&mut self, id: &LayoutId) -> Option<()> {
        let Some(value) = id.value else { return Some(()) };
        let message = format!("`{}` has no value", self.text(id.name.symbol));
        self.error(Code::BAD_LAYOUT, self.ast[value].span, message, "not here");
        None
    }

    fn primitive_number(&mut self, b: &mut Builder<'_>, id: &LayoutId, most: Option<(&str, u32)>) -> Option<u32> {
        let value = self.layout_value(b, id)?;
        if value > 0 && most.is_none_or(|(_, most)| value <= most) {
            return Some(value);
        }
        let message = format!("`{}` cannot be {value}", self.text(id.name.symbol));
        let diagnostic = Diagnostic::error(Code::BAD_LAYOUT, message).at(id.span, "out of range");
        self.report(match most {
            Some((name, most)) => diagnostic.note(format!("`{name}` is {most}")),
            None => diagnostic,
        });
        None
    }

    fn say_mode(&mut self, subject: Subject, mode: Mode, span: Span) {
        match self.primitives.said(subject) {
            None => self.primitives.modes.push((subject, mode, span)),
            Some((before, _)) if before == mode => {}
            Some((_, first)) => {
                let message = "this contradicts an earlier layout";
                let diagnostic = Diagnostic::error(Code::BAD_LAYOUT, message).at(span, "the second declaration");
                self.report(diagnostic.with(first, "the first one"));
            }
        }
        let counts = &mut self.primitives.counts;
        match (subject, mode) {
            (Subject::Input, _) => counts.input = mode.vertices(),
            (Subject::Vertices | Subject::MaxVertices, Mode::OutputVertices(count)) => counts.output = Some(count),
            (Subject::MaxPrimitives, Mode::OutputPrimitives(count)) => counts.primitives = Some(count),
            _ => {}
        }
    }

    /// All primitive declarations of the shader. `span` is the entry point's.
    pub fn primitive_modes(&mut self, module: &Module, span: Span) -> Vec<Mode> {
        let stage = self.env.stage;
        if !module.passed.is_empty() {
            self.give_out_alike();
        }
        for (_, subject, what, how) in REQUIRED.iter().filter(|(of, ..)| *of == stage) {
            if self.primitives.said(*subject).is_none() {
                let message = format!("a {} shader must declare {what}", stage.name());
                let diagnostic = Diagnostic::error(Code::BAD_LAYOUT, message).at(span, "this one does not");
                self.report(diagnostic.note(format!("write `{how}`")));
            }
        }
        self.check_indices();
        for (_, subject, mode) in USUAL.iter().filter(|(of, ..)| *of == stage) {
            if self.primitives.said(*subject).is_none() {
                self.primitives.modes.push((*subject, *mode, Span::NONE));
            }
        }
        self.primitives.modes.sort_by_key(|(subject, ..)| *subject);
        self.primitives.modes.iter().map(|(_, mode, _)| *mode).collect()
    }

    /// With pass-through inputs, the output primitive equals the input primitive, unless the shader declares another.
    fn give_out_alike(&mut self) {
        let alike = self.primitives.said(Subject::Input).and_then(|(input, _)| passthrough::given_out(input));
        let Some((output, count)) = alike else { return };
        for (subject, mode) in [(Subject::Output, output), (Subject::MaxVertices, count)] {
            if self.primitives.said(subject).is_none() {
                self.primitives.modes.push((subject, mode, Span::NONE));
            }
        }
    }

    /// Notes the use of a list of vertex numbers.
    pub fn note_indices(&mut self, variable: &'static grammar::Variable, span: Span) {
        if let VariableSource::BuiltIn(builtin) = variable.source
            && builtin.crowd() == Some(Crowd::OutputPrimitives)
        {
            self.primitives.indices.push((variable.name, builtin, span));
        }
    }

    /// The index array must match the output primitive (GL_EXT_mesh_shader).
    fn check_indices(&mut self) {
        let wanted = match self.primitives.said(Subject::Output) {
            Some((Mode::OutputPoints, _)) => BuiltIn::PrimitivePointIndices,
            Some((Mode::OutputLines, _)) => BuiltIn::PrimitiveLineIndices,
            Some((Mode::OutputTriangles, _)) => BuiltIn::PrimitiveTriangleIndices,
            _ => return,
        };
        let wrong = self.primitives.indices.iter().find(|(_, builtin, _)| *builtin != wanted);
        if let Some((name, _, span)) = wrong.copied() {
            let message = format!("`{name}` is not about the primitives that the shader gives out");
            self.error(Code::BAD_LAYOUT, span, message, "of other primitives");
        }
    }

    // Arrays over vertices.

    /// The type of an input or output, with its length if it has an element for each vertex.
    pub fn crowded(
        &mut self,
        b: &mut Builder<'_>,
        ty: TypeId,
        space: Space,
        interpolation: Interpolation,
        span: Span,
    ) -> Option<TypeId> {
        let Some(crowd) = self.env.stage.crowd(space, interpolation) else { return Some(ty) };
        self.crowd_of(b, ty, crowd, span)
    }

    /// The type of an input or output with a known owner.
    pub fn crowd_of(&mut self, b: &mut Builder<'_>, ty: TypeId, crowd: Crowd, span: Span) -> Option<TypeId> {
        let Type::Array { element, len, .. } = b.module.types.get(ty) else {
            self.error(Code::BAD_TYPE, span, not_an_array(crowd), "another type");
            return None;
        };
        let Some(count) = self.crowd_size(crowd) else { return Some(ty) };
        if len == ArrayLen::Runtime || len == ArrayLen::Fixed(count) {
            return Some(b.module.types.array(element, ArrayLen::Fixed(count)));
        }
        self.error(Code::BAD_TYPE, span, not_an_array(crowd), format!("its length is {count}"));
        None
    }

    /// The type per vertex of an input or output of this type.
    pub fn without_crowd(&self, b: &Builder<'_>, ty: TypeId, space: Space, interpolation: Interpolation) -> TypeId {
        let crowd = self.env.stage.crowd(space, interpolation).filter(|crowd| *crowd != Crowd::Corners);
        match b.module.types.get(ty) {
            Type::Array { element, .. } if crowd.is_some() => element,
            _ => ty,
        }
    }

    /// Elements of an array over vertices; `None` until the shader declares the number.
    fn crowd_size(&mut self, crowd: Crowd) -> Option<u32> {
        let size = match crowd {
            Crowd::Corners => Some(3),
            Crowd::PatchVertices => Some(patch_vertices()),
            Crowd::InputVertices => self.primitives.counts.input,
            Crowd::OutputVertices | Crowd::MeshVertices => self.primitives.counts.output,
            Crowd::OutputPrimitives => self.primitives.counts.primitives,
            Crowd::PrimitiveVertices => self.primitive_vertices(),
        };
        self.primitives.early |= size.is_none();
        size
    }

    /// Maximum number of vertices of all primitives that a mesh shader assigns.
    fn primitive_vertices(&self) -> Option<u32> {
        let (mode, _) = self.primitives.said(Subject::Output)?;
        Some(self.primitives.counts.primitives? * mode.vertices()?)
    }

    /// The length of an array that was declared before the layout with its length.
    pub fn length_by_now(&mut self, b: &Builder<'_>, lvalue: &LValue) -> Option<u32> {
        let Value::Global(id) = lvalue.root else { return None };
        let interpolation = b.module.globals[id].binding.interpolation();
        let crowd = self.env.stage.crowd(lvalue.space, interpolation).filter(|_| lvalue.path.is_empty())?;
        self.crowd_size(crowd)
    }

    /// The number of owners as the length of an array.
    pub fn crowd_length(&mut self, crowd: Crowd) -> ArrayLen {
        self.crowd_size(crowd).map_or(ArrayLen::Runtime, ArrayLen::Fixed)
    }

    // In tessellation control shaders, each invocation only writes its own vertex's outputs.

    pub fn port_mutability(&self, space: Space, interpolation: Interpolation) -> Mutability {
        let is_shared = self.env.stage == Stage::TessControl && interpolation != Interpolation::Patch;
        match space {
            Space::Input => Mutability::Input,
            _ if is_shared => Mutability::OwnVertex,
            _ => Mutability::Writable,
        }
    }

    /// The mutability of an lvalue's element at this index.
    pub fn element_mutability(&self, b: &Builder<'_>, lvalue: &LValue, at: Value) -> Mutability {
        let number = self.builtins.get(&(BuiltIn::InvocationId, Space::Input)).copied();
        let is_own = match at {
            Value::Inst(id) => matches!(b.function.insts[id].op, Op::Load(Value::Global(of)) if Some(of) == number),
            _ => false,
        };
        match lvalue.mutability {
            Mutability::OwnVertex if lvalue.path.is_empty() && is_own => Mutability::Writable,
            other => other,
        }
    }

    // Vertex streams.

    /// `stream = 1` in a layout.
    pub fn stream_number(&mut self, b: &mut Builder<'_>, id: &LayoutId) -> Option<u32> {
        let number = self.layout_value(b, id)?;
        if number > 3 {
            self.error(Code::BAD_LAYOUT, id.span, "there are the vertex streams 0 to 3", "no such stream");
            return None;
        }
        Some(number)
    }

    /// `layout(stream = 1) out;`
    pub fn usual_stream(&mut self, b: &mut Builder<'_>, id: &LayoutId) {
        if let Some(number) = self.stream_number(b, id) {
            self.primitives.stream = number;
        }
    }

    pub fn stream_of(&self, layout: PortLayout, space: Space) -> u32 {
        match layout.stream {
            _ if space != Space::Output => 0,
            Some((number, _)) => number,
            None => self.primitives.stream,
        }
    }

    /// Notes the stream of an output.
    pub fn put_in_stream(&mut self, b: &mut Builder<'_>, lvalue: &LValue, layout: PortLayout) {
        if let (Some((_, span)), Space::Input) = (layout.stream, lvalue.space) {
            self.error(Code::BAD_LAYOUT, span, "only outputs are of a vertex stream", "an input");
        }
        let number = self.stream_of(layout, lvalue.space);
        if let (1.., Value::Global(id)) = (number, lvalue.root) {
            b.module.streams.push((id, number));
        }
    }

    pub fn check_member_stream(&mut self, member: PortLayout, block: PortLayout) {
        let Some((number, span)) = member.stream else { return };
        if number != self.stream_of(block, Space::Output) {
            self.error(Code::BAD_LAYOUT, span, "a member is of the vertex stream of its block", "another stream");
        }
    }
}

/// The error about an input or output that is not an array, or has the wrong length.
const fn not_an_array(crowd: Crowd) -> &'static str {
    match crowd {
        Crowd::Corners => "an input of each vertex is an array of three",
        Crowd::InputVertices => {
            "an input of a geometry shader is an array with an element for each vertex of the primitive"
        }
        Crowd::PatchVertices => {
            "an input of each vertex is an array of `gl_MaxPatchVertices` elements; what is the patch's is `patch in`"
        }
        Crowd::MeshVertices => {
            "an output of a mesh shader is an array with an element for each vertex; what is the primitive's is `perprimitiveEXT out`"
        }
        Crowd::PrimitiveVertices => "vertex numbers are an array with an element for each vertex of each primitive",
        Crowd::OutputPrimitives => "an output of each primitive is an array with an element for each primitive",
        Crowd::OutputVertices => {
            "an output of each vertex is an array with an element for each vertex; what is the patch's is `patch out`"
        }
    }
}
