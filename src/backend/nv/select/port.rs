//! The names of a program's built-in inputs and results, as tables: a name, and the `OPTION` that it needs.
//!
//! Inputs that need more than a name, such as the instance index, are computed in `stage`, which refuses all others.

use crate::ir::BuiltIn;
use crate::kernel::Stage;
use crate::kernel::stage::DISTANCES;

/// The letters of components.
pub const LETTERS: [char; 4] = ['x', 'y', 'z', 'w'];

/// How a name is formed from a component's number.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// The letter follows it.
    Vector(&'static str),
    /// It has a single component.
    Scalar(&'static str),
    /// A clip plane.
    Planes(&'static str),
    /// A plane counted down from the last one: clip and cull planes share their numbers, and neither stage knows how
    /// many of both the other one declares.
    PlanesFromLast(&'static str),
}

impl Form {
    fn name(self, component: u8) -> Option<String> {
        Some(match self {
            Form::Vector(name) => format!("{name}.{}", LETTERS[usize::from(component) & 3]),
            Form::Scalar(name) if component == 0 => name.to_owned(),
            Form::Scalar(_) => return None,
            Form::Planes(name) => format!("{name}[{component}].x"),
            Form::PlanesFromLast(name) => format!("{name}[{}].x", (DISTANCES - 1).checked_sub(component)?),
        })
    }
}

/// A name in a program, and the option that it needs.
pub type Named = (String, Option<&'static str>);

/// Inputs (NV_compute_program5, NV_vertex_program4, NV_fragment_program4, NV_gpu_program5).
static INPUTS: &[(BuiltIn, Form, Option<&str>)] = &[
    (BuiltIn::WorkgroupId, Form::Vector("invocation.groupid"), None),
    (BuiltIn::NumWorkgroups, Form::Vector("invocation.groupcount"), None),
    (BuiltIn::LocalInvocationId, Form::Vector("invocation.localid"), None),
    (BuiltIn::LocalInvocationIndex, Form::Scalar("invocation.localindex.x"), None),
    (BuiltIn::VertexIndex, Form::Scalar("vertex.id.x"), None),
    (BuiltIn::FragCoord, Form::Vector("fragment.position"), None),
    (BuiltIn::PointCoord, Form::Vector("fragment.pointcoord"), None),
    (BuiltIn::SampleId, Form::Scalar("fragment.sampleid.x"), None),
    (BuiltIn::SampleMask, Form::Scalar("fragment.samplemask.x"), None),
    (BuiltIn::PrimitiveId, Form::Scalar("primitive.id.x"), None),
    (BuiltIn::Layer, Form::Scalar("fragment.layer.x"), Some("ARB_fragment_layer_viewport")),
    (BuiltIn::ViewportIndex, Form::Scalar("fragment.viewport.x"), Some("ARB_fragment_layer_viewport")),
    (BuiltIn::ClipDistance, Form::Planes("fragment.clip"), None),
    (BuiltIn::CullDistance, Form::PlanesFromLast("fragment.cull"), Some("ARB_cull_distance")),
];

/// Results by their stage (NV_vertex_program4, NV_fragment_program4, NV_gpu_program5).
static RESULTS: &[(Stage, BuiltIn, Form, Option<&str>)] = &[
    (Stage::Vertex, BuiltIn::Position, Form::Vector("result.position"), None),
    (Stage::Vertex, BuiltIn::PointSize, Form::Scalar("result.pointsize.x"), None),
    (Stage::Vertex, BuiltIn::ClipDistance, Form::Planes("result.clip"), None),
    (Stage::Vertex, BuiltIn::CullDistance, Form::PlanesFromLast("result.cull"), Some("ARB_cull_distance")),
    (Stage::Vertex, BuiltIn::Layer, Form::Scalar("result.layer.x"), Some("NV_viewport_array2")),
    (Stage::Vertex, BuiltIn::ViewportIndex, Form::Scalar("result.viewport.x"), Some("NV_viewport_array2")),
    (Stage::Fragment, BuiltIn::FragDepth, Form::Scalar("result.depth.z"), None),
    (Stage::Fragment, BuiltIn::SampleMask, Form::Scalar("result.samplemask.x"), None),
];

/// A component of a built-in input.
pub fn input(built_in: BuiltIn, component: u8) -> Option<Named> {
    let (_, form, option) = INPUTS.iter().find(|(known, ..)| *known == built_in)?;
    Some((form.name(component)?, *option))
}

/// A component of a built-in result.
pub fn result(stage: Stage, built_in: BuiltIn, component: u8) -> Option<Named> {
    let (.., form, option) = RESULTS.iter().find(|(at, known, ..)| (*at, *known) == (stage, built_in))?;
    Some((form.name(component)?, *option))
}
