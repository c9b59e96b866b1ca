//! Inputs and outputs of a stage: their attributes (section 5.2, Attributes for Functions and Variables).

use super::crowds::is_of_vertices;
use super::dialect::Part;
use super::host::is_from_host;
use super::tessellation::is_level;
use super::{Extra, Msl};
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::ports::Given;
use crate::backend::source::writer::Writer;
use crate::ir::{
    Binding, BuiltIn, DepthPromise, EntryPoint, GlobalId, Interpolation, Sampling, Scalar, Space, Stage, Types,
};

/// A built-in value in the language.
pub(super) struct Attribute {
    pub text: &'static str,
    pub scalar: Scalar,
    /// The part of the language that it belongs to, if not every version has it.
    part: Option<Part>,
}

const fn value(text: &'static str, scalar: Scalar) -> Option<Attribute> {
    Some(Attribute { text, scalar, part: None })
}

const fn part(text: &'static str, scalar: Scalar, part: Part) -> Option<Attribute> {
    Some(Attribute { text, scalar, part: Some(part) })
}

/// The attribute of a built-in value in a stage: tables 5.2 to 5.9.
pub(super) const fn attribute(stage: Option<Stage>, of: BuiltIn, depth: DepthPromise) -> Option<Attribute> {
    match (stage, of) {
        (Some(Stage::TessEvaluation), BuiltIn::PrimitiveId) => value("patch_id", Scalar::U32),
        (Some(Stage::TessEvaluation), BuiltIn::TessCoord) => value("position_in_patch", Scalar::F32),
        // A workgroup is a patch.
        (Some(Stage::TessControl), BuiltIn::PrimitiveId) => value("threadgroup_position_in_grid", Scalar::U32),
        (Some(Stage::TessControl), BuiltIn::InvocationId) => value("thread_index_in_threadgroup", Scalar::U32),
        (Some(Stage::Mesh), BuiltIn::CullPrimitive) => value("primitive_culled", Scalar::BOOL),
        _ => usual_attribute(of, depth),
    }
}

const fn usual_attribute(of: BuiltIn, depth: DepthPromise) -> Option<Attribute> {
    match of {
        BuiltIn::WorkgroupId => value("threadgroup_position_in_grid", Scalar::U32),
        BuiltIn::LocalInvocationId => value("thread_position_in_threadgroup", Scalar::U32),
        BuiltIn::GlobalInvocationId => value("thread_position_in_grid", Scalar::U32),
        BuiltIn::LocalInvocationIndex => value("thread_index_in_threadgroup", Scalar::U32),
        BuiltIn::NumWorkgroups => value("threadgroups_per_grid", Scalar::U32),
        BuiltIn::SubgroupId => value("simdgroup_index_in_threadgroup", Scalar::U32),
        BuiltIn::NumSubgroups => value("simdgroups_per_threadgroup", Scalar::U32),
        BuiltIn::Position | BuiltIn::FragCoord => value("position", Scalar::F32),
        BuiltIn::PointSize => value("point_size", Scalar::F32),
        BuiltIn::PointCoord => value("point_coord", Scalar::F32),
        BuiltIn::VertexIndex => value("vertex_id", Scalar::U32),
        BuiltIn::InstanceIndex => value("instance_id", Scalar::U32),
        BuiltIn::BaseVertex => value("base_vertex", Scalar::U32),
        BuiltIn::BaseInstance => value("base_instance", Scalar::U32),
        BuiltIn::FrontFacing => value("front_facing", Scalar::BOOL),
        BuiltIn::SampleId => value("sample_id", Scalar::U32),
        BuiltIn::ViewIndex => part("amplification_id", Scalar::U32, Part::Views),
        BuiltIn::SampleMask => value("sample_mask", Scalar::U32),
        BuiltIn::FragDepth => value(
            match depth {
                DepthPromise::Greater => "depth(greater)",
                DepthPromise::Less => "depth(less)",
                DepthPromise::Any | DepthPromise::Unchanged => "depth(any)",
            },
            Scalar::F32,
        ),
        BuiltIn::FragStencilRef => value("stencil", Scalar::U32),
        BuiltIn::PrimitiveId => part("primitive_id", Scalar::U32, Part::PrimitiveId),
        BuiltIn::Layer => value("render_target_array_index", Scalar::U32),
        BuiltIn::ViewportIndex => value("viewport_array_index", Scalar::U32),
        BuiltIn::BaryCoord => part("barycentric_coord", Scalar::F32, Part::BarycentricCoord),
        BuiltIn::BaryCoordNoPerspective => {
            part("barycentric_coord, center_no_perspective", Scalar::F32, Part::BarycentricCoordNoPerspective)
        }
        BuiltIn::ClipDistance => value("clip_distance", Scalar::F32),
        _ => None,
    }
}

/// The language's scalar type for a built-in value.
pub(super) fn given(stage: Option<Stage>, of: BuiltIn) -> Option<Scalar> {
    match of {
        BuiltIn::PatchVertices => return Some(Scalar::U32),
        _ if is_from_host(of) => return Some(Scalar::I32),
        _ => {}
    }
    Some(attribute(stage, of, DepthPromise::Any)?.scalar)
}

/// Built-in values without a counterpart in the language.
const fn is_missing(of: BuiltIn) -> bool {
    matches!(
        of,
        BuiltIn::CullDistance
            | BuiltIn::DeviceIndex
            | BuiltIn::ShadingRate
            | BuiltIn::PrimitiveShadingRate
            | BuiltIn::FragSize
            | BuiltIn::FragInvocationCount
    )
}

/// Built-in values that are arrays in the source: variables of the entry point represent them.
pub(super) const fn is_array(of: BuiltIn) -> bool {
    matches!(of, BuiltIn::SampleMask | BuiltIn::ClipDistance | BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner)
}

impl Msl {
    /// Refuses stages and modes that are not written.
    pub fn check_stage(&self, t: &mut Writer, entry: &EntryPoint) {
        const WRITTEN: [Stage; 7] = [
            Stage::Compute,
            Stage::Vertex,
            Stage::Fragment,
            Stage::TessControl,
            Stage::TessEvaluation,
            Stage::Mesh,
            Stage::Task,
        ];
        const LACKING: [Stage; 5] =
            [Stage::Geometry, Stage::RayGeneration, Stage::ClosestHit, Stage::Miss, Stage::Callable];
        if LACKING.contains(&entry.stage) {
            let stage = entry.stage.name();
            t.lacks(&format!("{stage} shaders (Metal Shading Language Specification, section 5.1, Functions)"));
        } else if !WRITTEN.contains(&entry.stage) {
            t.unsupported(&format!("{} shaders", entry.stage.name()));
        }
        let modes = entry.fragment;
        let rows = [
            (modes.override_coverage, "coverage that a fragment shader may add to"),
            (modes.early_and_late_tests, "tests both before and after fragment shaders"),
        ];
        rows.into_iter().filter(|(is_asked, _)| *is_asked).for_each(|(_, mode)| t.lacks(mode));
        if modes.post_depth_coverage {
            self.needs(t, Part::CoverageAfterTests);
        }
        if modes.full_quads || modes.quad_derivatives || !modes.non_coherent.is_empty() {
            t.unsupported("full quads, derivatives of whole quads and incoherent reads of pixels");
        }
        if entry.derivatives.is_some() {
            t.unsupported("derivatives of compute shaders");
        }
        for given in t.ports.built_in.clone() {
            let outside = std::mem::replace(&mut t.span, given.span);
            self.check_built_in(t, &given);
            t.span = outside;
        }
    }

    /// Adds the built-in values that others are computed from: a sample's index for its position, and the fragment's
    /// position for the attachments that it reads.
    pub fn note_positions(&self, t: &mut Writer) {
        if t.ports.find(BuiltIn::SamplePosition, Space::Input).is_some() {
            t.note_built_in(BuiltIn::SampleId, "sample_index", Types::I32);
        }
    }

    /// Returns true for values that have no attribute in a tessellation stage.
    fn is_in_memory(&self, t: &Writer, of: BuiltIn, space: Space) -> bool {
        let is_of_patch = of == BuiltIn::PatchVertices || is_level(of);
        match t.stage() {
            Some(Stage::TessControl) => is_of_patch || is_of_vertices(of),
            Some(Stage::Mesh) => of.crowd().is_some(),
            Some(Stage::TessEvaluation) => is_of_patch || space == Space::Input && is_of_vertices(of),
            _ => false,
        }
    }

    /// Rejects built-in values that the language lacks.
    fn check_built_in(&self, t: &mut Writer, Given { of, space, .. }: &Given) {
        match attribute(t.stage(), *of, t.ports.depth) {
            _ if self.is_in_memory(t, *of, *space) || is_from_host(*of) => {}
            _ if *of == BuiltIn::HelperInvocation => {
                self.needs(t, Part::HelperThreads);
            }
            _ if *of == BuiltIn::SamplePosition => {}
            _ if *of == BuiltIn::SampleMask && *space == Space::Output => {}
            Some(of_language) => {
                if let Some(part) = of_language.part {
                    self.needs(t, part);
                }
            }
            None if is_missing(*of) => {
                t.lacks(&format!("built-in value {of:?}"));
            }
            None => t.unsupported(&format!("built-in value {of:?}")),
        }
    }

    /// The number of the lane's thread in its SIMD-group.
    pub fn lane_index(&self, b: &mut Body) -> Expr {
        self.check_lanes(b.t);
        b.t.msl.used.insert(Extra::Lane);
        Expr::primary(b.t.msl.names.lane.clone())
    }

    /// Refuses lane indices in functions without attributes for them (section 5.2.3).
    fn check_lanes(&self, t: &mut Writer) {
        match t.stage() {
            Some(Stage::Fragment) => drop(self.needs(t, Part::LanesInFragments)),
            Some(Stage::Vertex | Stage::TessEvaluation) if t.msl.capture.is_none() => {
                t.lacks("numbers of lanes in vertex functions");
            }
            _ => {}
        }
    }

    /// The threads of a SIMD-group.
    pub fn lane_count(&self, b: &mut Body) -> Expr {
        self.check_lanes(b.t);
        b.t.msl.used.insert(Extra::Lanes);
        Expr::primary(b.t.msl.names.lanes.clone())
    }

    /// The variable for a built-in value.
    pub fn built_in(&self, b: &mut Body, of: BuiltIn, space: Space) -> Option<Expr> {
        let at = b.t.ports.built_in.iter().position(|given| given.of == of && given.space == space)?;
        b.t.msl.used.insert(Extra::BuiltIn(at));
        let name = b.t.ports.built_in[at].name.clone();
        let is_member = b.entry.is_some() && space == Space::Output && !is_array(of);
        Some(Expr::primary(if is_member { format!("{}.{name}", b.t.ports.output) } else { name }))
    }

    /// The language's scalar type for a built-in value.
    pub fn given_scalar(&self, t: &mut Writer, id: GlobalId) -> Option<Scalar> {
        let global = &t.module.globals[id];
        let Binding::BuiltIn(of) = global.binding else { return None };
        if is_array(of) {
            t.types.scalar_of(global.ty)
        } else {
            given(t.stage(), of).or_else(|| t.types.scalar_of(global.ty))
        }
    }

    /// An input or output at its use.
    pub fn port(&self, b: &mut Body, id: GlobalId) -> Expr {
        let global = &b.t.module.globals[id];
        if let Some(owner) = self.owner_of(b.t, id) {
            return self.owned_port(b, id, owner);
        }
        if let Binding::BuiltIn(of) = global.binding {
            return self.built_in(b, of, global.space).unwrap_or_else(|| Expr::primary(""));
        }
        b.t.msl.used.insert(Extra::Global(id));
        let name = self.port_name(b.t, id);
        if b.entry.is_none() || !self.is_member(b.t, global) {
            return Expr::primary(name);
        }
        let whole = if global.space == Space::Input { &b.t.ports.input } else { &b.t.ports.output };
        Expr::primary(format!("{whole}.{name}"))
    }

    pub fn port_name(&self, t: &Writer, id: GlobalId) -> String {
        t.global_names.get(&id).cloned().unwrap_or_default()
    }

    /// The attributes of a scalar or vector at a location.
    pub fn location(&self, t: &mut Writer, binding: Binding, scalar: Scalar, space: Space) -> String {
        let Binding::Location { location: Some(location), index, interpolation, sampling, .. } = binding else {
            t.unsupported("inputs and outputs without a location");
            return String::new();
        };
        match (t.stage(), space) {
            (Some(Stage::Vertex), Space::Input) => format!("attribute({location})"),
            (Some(Stage::Fragment), Space::Output) if index > 0 => format!("color({location}), index({index})"),
            (Some(Stage::Fragment), Space::Output) => format!("color({location})"),
            (Some(stage), _) if stage.passes(space) && stage == Stage::Fragment => {
                if self.is_pulled(t, binding, space) {
                    return format!("user(locn{location})");
                }
                let how = self.interpolation(t, interpolation, sampling, scalar);
                format!("user(locn{location}){how}")
            }
            (Some(Stage::Mesh), _) if matches!(interpolation, Interpolation::PerPrimitive { .. }) => {
                format!("user(locn{location}), flat")
            }
            _ => format!("user(locn{location})"),
        }
    }

    fn interpolation(&self, t: &mut Writer, of: Interpolation, sampling: Sampling, scalar: Scalar) -> &'static str {
        match (of, sampling) {
            _ if !scalar.is_float() => ", flat",
            (Interpolation::Flat | Interpolation::PerPrimitive { .. }, _) => ", flat",
            (Interpolation::Perspective, Sampling::Center) => "",
            (Interpolation::Perspective, Sampling::Centroid) => ", centroid_perspective",
            (Interpolation::Perspective, Sampling::Sample) => ", sample_perspective",
            (Interpolation::Linear, Sampling::Center) => ", center_no_perspective",
            (Interpolation::Linear, Sampling::Centroid) => ", centroid_no_perspective",
            (Interpolation::Linear, Sampling::Sample) => ", sample_no_perspective",
            (Interpolation::PerVertex, _) => {
                t.lacks("inputs of each vertex in fragment shaders");
                ""
            }
            _ => {
                t.unsupported("inputs that are interpolated so");
                ""
            }
        }
    }
}
