//! Ray queries (sections 2.17.8 and 6.18.5, Intersection Query Functions).

use super::Msl;
use super::dialect::Part;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::writer::Writer;
use crate::ir::{RayOp, RayOperand, Stage, Types, Value, Values};

/// The names of the types.
pub(super) const QUERY: &str = "raytracing::intersection_query<raytracing::instancing, raytracing::triangle_data>";
pub(super) const STRUCTURE: &str = "raytracing::acceleration_structure<raytracing::instancing>";

/// The functions of a query without operands.
const METHODS: [(RayOp, &str); 8] = [
    (RayOp::Proceed, "next"),
    (RayOp::Terminate, "abort"),
    (RayOp::ConfirmIntersection, "commit_triangle_intersection"),
    (RayOp::GenerateIntersection, "commit_bounding_box_intersection"),
    (RayOp::RayTMin, "get_ray_min_distance"),
    (RayOp::WorldRayDirection, "get_world_space_ray_direction"),
    (RayOp::WorldRayOrigin, "get_world_space_ray_origin"),
    (RayOp::CandidateAabbOpaque, "is_candidate_non_opaque_bounding_box"),
];

/// The functions for a property of an intersection: of the candidate, and of the committed intersection.
const PROPERTIES: [(RayOp, &str, &str); 12] = [
    (RayOp::IntersectionType, "get_candidate_intersection_type", "get_committed_intersection_type"),
    (RayOp::IntersectionT, "get_candidate_triangle_distance", "get_committed_distance"),
    (RayOp::InstanceCustomIndex, "get_candidate_user_instance_id", "get_committed_user_instance_id"),
    (RayOp::InstanceId, "get_candidate_instance_id", "get_committed_instance_id"),
    (RayOp::GeometryIndex, "get_candidate_geometry_id", "get_committed_geometry_id"),
    (RayOp::PrimitiveIndex, "get_candidate_primitive_id", "get_committed_primitive_id"),
    (RayOp::Barycentrics, "get_candidate_triangle_barycentric_coord", "get_committed_triangle_barycentric_coord"),
    (RayOp::FrontFace, "is_candidate_triangle_front_facing", "is_committed_triangle_front_facing"),
    (RayOp::ObjectRayDirection, "get_candidate_ray_direction", "get_committed_ray_direction"),
    (RayOp::ObjectRayOrigin, "get_candidate_ray_origin", "get_committed_ray_origin"),
    (RayOp::ObjectToWorld, "get_candidate_object_to_world_transform", "get_committed_object_to_world_transform"),
    (RayOp::WorldToObject, "get_candidate_world_to_object_transform", "get_committed_world_to_object_transform"),
];

/// The flags of a ray as the parameters of a query. The flag that skips closest-hit shaders has no effect here.
pub(super) const PARAMETERS: &[&str] = &[
    "raytracing::intersection_params ray_parameters(uint flags) {",
    "    raytracing::intersection_params parameters;",
    "    if ((flags & 1u) != 0u) parameters.force_opacity(raytracing::forced_opacity::opaque);",
    "    if ((flags & 2u) != 0u) parameters.force_opacity(raytracing::forced_opacity::non_opaque);",
    "    if ((flags & 4u) != 0u) parameters.accept_any_intersection(true);",
    "    if ((flags & 16u) != 0u) parameters.set_triangle_cull_mode(raytracing::triangle_cull_mode::back);",
    "    if ((flags & 32u) != 0u) parameters.set_triangle_cull_mode(raytracing::triangle_cull_mode::front);",
    "    if ((flags & 64u) != 0u) parameters.set_opacity_cull_mode(raytracing::opacity_cull_mode::opaque);",
    "    if ((flags & 128u) != 0u) parameters.set_opacity_cull_mode(raytracing::opacity_cull_mode::non_opaque);",
    "    if ((flags & 256u) != 0u) parameters.set_geometry_cull_mode(raytracing::geometry_cull_mode::triangle);",
    "    if ((flags & 512u) != 0u) parameters.set_geometry_cull_mode(raytracing::geometry_cull_mode::bounding_box);",
    "    return parameters;",
    "}",
];

impl Msl {
    /// A type of ray queries.
    pub fn ray_type(&self, t: &mut Writer, name: &'static str) -> String {
        self.needs(t, Part::RayQueries);
        if matches!(t.stage(), Some(Stage::Mesh | Stage::Task | Stage::TessEvaluation)) {
            t.lacks("ray queries in this stage (Metal Shading Language Specification, section 2.17)");
        }
        t.msl.has_rays = true;
        name.to_string()
    }

    /// An operation on a ray query; `None` if it has no result.
    pub fn ray(&self, b: &mut Body, op: RayOp, on: Value, args: Values, ty: crate::ir::TypeId) -> Option<Expr> {
        if op == RayOp::Structure {
            return Some(b.t.lacking("acceleration structures at addresses"));
        }
        let query = b.value(on);
        let mut list = b.list(args);
        if op == RayOp::Initialize {
            self.reset(b, &query, &list);
            return None;
        }
        let (method, is_committed) = match op.operands() {
            [RayOperand::Which] => {
                let is_committed = list.remove(0).text != "0";
                let row = PROPERTIES.iter().find(|(of, ..)| *of == op);
                (row.map(|row| if is_committed { row.2 } else { row.1 }), is_committed)
            }
            _ => (METHODS.iter().find(|(of, _)| *of == op).map(|(_, method)| *method), false),
        };
        let Some(method) = method else {
            return Some(b.t.lacking(&format!(
                "counterpart of {op:?} of ray queries (Metal Shading Language Specification, section 6.18.5)"
            )));
        };
        let call = Expr::call(&format!("{}.{method}", query.text), &list).reading_memory(true);
        match op {
            _ if ty == Types::VOID => {
                b.line(call.text);
                None
            }
            RayOp::CandidateAabbOpaque => Some(call.not()),
            // Candidates are counted from triangles on, committed intersections from none on.
            RayOp::IntersectionType if !is_committed => {
                let number = Expr::call("uint", &[call]);
                Some(Expr::binary("-", Level::Sum, &number, &Expr::primary("1u")))
            }
            RayOp::IntersectionType => Some(Expr::call("uint", &[call])),
            _ if ty == Types::I32 => Some(Expr::call("int", &[call])),
            _ => Some(call),
        }
    }

    /// Starts a query: structure, flags, mask, origin, least distance, direction, largest distance.
    fn reset(&self, b: &mut Body, query: &Expr, list: &[Expr]) {
        let [structure, flags, mask, origin, least, direction, most] = list else {
            return b.t.internal("a ray query without its operands");
        };
        let ray = [origin, direction, least, most].map(Expr::clone);
        let mut args = vec![Expr::call("raytracing::ray", &ray), structure.clone(), mask.clone()];
        if !matches!(flags.text.as_str(), "0" | "0u") {
            b.t.msl.has_ray_parameters = true;
            args.push(Expr::call("ray_parameters", std::slice::from_ref(flags)));
        }
        b.line(Expr::call(&format!("{}.reset", query.text), &args).text);
    }
}
