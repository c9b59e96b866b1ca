//! Ray queries (GL_EXT_ray_query). A query is a variable or an element of an array. It becomes a module variable
//! wherever it is declared, because it has no value; parameters represent variables (`crate::ir::by_name`). This module
//! also has the extensions' functions that query intersections and fetch from acceleration structures.

use super::Sema;
use super::expressions::Lowered;
use super::lvalue::LValue;
use super::memory;
use super::operators::Operand;
use super::ray_tracing::{RAY_TRACING, RAY_TRACING_NV};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{ExprId, LayoutId, List, Name};
use crate::ir::build::Builder;
use crate::ir::{RayModes, RayOp, RayOperand, RaySubject, Scalar, Stage, Type, TypeId, Types, Value};
use crate::source::Span;
use smallvec::SmallVec;

const RAY_QUERY: &str = "GL_EXT_ray_query";
const POSITION_FETCH: &str = "GL_EXT_ray_tracing_position_fetch";
const CLUSTERS: &str = "GL_NV_cluster_acceleration_structure";
const SWEPT: &str = "GL_NV_linear_swept_spheres";
const DISPLACEMENT: &str = "GL_NV_displacement_micromap";

/// A function: its name, its operation, and its extension.
type Function = (&'static str, RayOp, &'static str);

#[rustfmt::skip]
const FUNCTIONS: &[Function] = &[
    ("rayQueryInitializeEXT", RayOp::Initialize, RAY_QUERY),
    ("rayQueryTerminateEXT", RayOp::Terminate, RAY_QUERY),
    ("rayQueryGenerateIntersectionEXT", RayOp::GenerateIntersection, RAY_QUERY),
    ("rayQueryConfirmIntersectionEXT", RayOp::ConfirmIntersection, RAY_QUERY),
    ("rayQueryProceedEXT", RayOp::Proceed, RAY_QUERY),
    ("rayQueryGetRayTMinEXT", RayOp::RayTMin, RAY_QUERY),
    ("rayQueryGetRayFlagsEXT", RayOp::RayFlags, RAY_QUERY),
    ("rayQueryGetWorldRayDirectionEXT", RayOp::WorldRayDirection, RAY_QUERY),
    ("rayQueryGetWorldRayOriginEXT", RayOp::WorldRayOrigin, RAY_QUERY),
    ("rayQueryGetIntersectionCandidateAABBOpaqueEXT", RayOp::CandidateAabbOpaque, RAY_QUERY),
    ("rayQueryGetIntersectionTypeEXT", RayOp::IntersectionType, RAY_QUERY),
    ("rayQueryGetIntersectionTEXT", RayOp::IntersectionT, RAY_QUERY),
    ("rayQueryGetIntersectionInstanceCustomIndexEXT", RayOp::InstanceCustomIndex, RAY_QUERY),
    ("rayQueryGetIntersectionInstanceIdEXT", RayOp::InstanceId, RAY_QUERY),
    ("rayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetEXT", RayOp::RecordOffset, RAY_QUERY),
    ("rayQueryGetIntersectionGeometryIndexEXT", RayOp::GeometryIndex, RAY_QUERY),
    ("rayQueryGetIntersectionPrimitiveIndexEXT", RayOp::PrimitiveIndex, RAY_QUERY),
    ("rayQueryGetIntersectionBarycentricsEXT", RayOp::Barycentrics, RAY_QUERY),
    ("rayQueryGetIntersectionFrontFaceEXT", RayOp::FrontFace, RAY_QUERY),
    ("rayQueryGetIntersectionObjectRayDirectionEXT", RayOp::ObjectRayDirection, RAY_QUERY),
    ("rayQueryGetIntersectionObjectRayOriginEXT", RayOp::ObjectRayOrigin, RAY_QUERY),
    ("rayQueryGetIntersectionObjectToWorldEXT", RayOp::ObjectToWorld, RAY_QUERY),
    ("rayQueryGetIntersectionWorldToObjectEXT", RayOp::WorldToObject, RAY_QUERY),
    ("rayQueryGetIntersectionTriangleVertexPositionsEXT", RayOp::TrianglePositions, POSITION_FETCH),
    ("rayQueryGetIntersectionClusterIdNV", RayOp::ClusterId, CLUSTERS),
    ("rayQueryGetIntersectionSpherePositionNV", RayOp::SpherePosition, SWEPT),
    ("rayQueryGetIntersectionSphereRadiusNV", RayOp::SphereRadius, SWEPT),
    ("rayQueryIsSphereHitNV", RayOp::IsSphereHit, SWEPT),
    ("rayQueryGetIntersectionLSSPositionsNV", RayOp::SweptPositions, SWEPT),
    ("rayQueryGetIntersectionLSSRadiiNV", RayOp::SweptRadii, SWEPT),
    ("rayQueryGetIntersectionLSSHitValueNV", RayOp::SweptHitValue, SWEPT),
    ("rayQueryIsLSSHitNV", RayOp::IsSweptHit, SWEPT),
    ("fetchMicroTriangleVertexPositionNV", RayOp::MicroVertexPosition, DISPLACEMENT),
    ("fetchMicroTriangleVertexBarycentricNV", RayOp::MicroVertexBarycentrics, DISPLACEMENT),
];

/// Constants whose use affects all rays of the shader.
const FLAGS: &[(&str, RayModes)] = &[("gl_RayFlagsForceOpacityMicromap2StateEXT", RayModes::OPACITY_MICROMAPS)];

/// The function called `name`.
pub fn function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|(known, ..)| *known == name)
}

/// The function for an operation, and its extension; `None` for [`RayOp::Structure`], which has a constructor.
pub fn ray_query_call(op: RayOp) -> Option<(&'static str, &'static str)> {
    FUNCTIONS.iter().find(|(_, of, _)| *of == op).map(|(name, _, extension)| (*name, *extension))
}

/// The modes for all rays that follow from the name of a constant.
pub fn modes_of_flag(name: &str) -> RayModes {
    FLAGS.iter().find(|(known, _)| *known == name).map_or(RayModes::empty(), |(_, modes)| *modes)
}

impl Sema<'_> {
    /// A call of one of these functions.
    pub fn ray_function(
        &mut self,
        b: &mut Builder<'_>,
        function: &Function,
        callee: Name,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Lowered> {
        let (name, op, extension) = *function;
        self.check_ray_function(op, extension, callee.span)?;
        let (ast, wanted) = (self.ast, op.operands());
        let given = &ast[args];
        let result = op.result(&mut b.module.types);
        let written = matches!(b.module.types.get(result), Type::Array { .. });
        let count = 1 + wanted.len() + usize::from(written);
        if given.len() != count {
            self.wrong_count(name, count, whole);
            return None;
        }
        let subject = self.subject(b, op, given[0])?;
        let mut operands: SmallVec<[Value; 7]> = SmallVec::new();
        for (arg, operand) in given[1..].iter().zip(wanted) {
            operands.push(self.ray_operand(b, *arg, *operand)?);
        }
        let array = if written { Some(self.array_target(b, given[count - 1], result)?) } else { None };
        b.span = whole;
        let value = b.ray(op, subject, &operands);
        if let Some(array) = array {
            self.write(b, &array, value, ast[given[count - 1]].span, whole)?;
        }
        Some(if written || result == Types::VOID { Lowered::Void } else { Lowered::Value(value) })
    }

    /// Micromap fetches are allowed in compute and mesh shaders (GL_NV_displacement_micromap).
    fn check_ray_function(&mut self, op: RayOp, extension: &str, span: Span) -> Option<()> {
        if op.subject() == RaySubject::Query {
            self.need_ray_query(span)?;
        }
        if !self.env.is_enabled(extension) {
            self.needs_extension("this function needs", extension, span);
            return None;
        }
        if extension == DISPLACEMENT && !matches!(self.env.stage, Stage::Compute | Stage::Mesh) {
            let message = "micromaps are fetched from in compute and mesh shaders only";
            self.error(Code::WRONG_STAGE, span, message, "another stage");
            return None;
        }
        Some(())
    }

    pub fn need_ray_query(&mut self, span: Span) -> Option<()> {
        if !self.env.is_enabled(RAY_QUERY) {
            self.needs_extension("ray queries need", RAY_QUERY, span);
            return None;
        }
        Some(())
    }

    /// Acceleration structures are part of ray queries, and of some extensions without queries.
    pub fn need_structures(&mut self, name: Name) -> Option<()> {
        if self.text(name.symbol).ends_with("NV") {
            return self.need_for_rays("this type needs", RAY_TRACING_NV, name.span);
        }
        let brought = [DISPLACEMENT, RAY_TRACING].iter().any(|extension| self.env.is_enabled(extension));
        if brought { Some(()) } else { self.need_ray_query(name.span) }
    }

    /// `layout(primitive_culling);` has no declaration after it (GL_EXT_ray_flags_primitive_culling).
    pub fn is_primitive_culling(&mut self, id: &LayoutId, alone: bool) -> bool {
        const EXTENSION: &str = "GL_EXT_ray_flags_primitive_culling";
        let meant = alone && self.text(id.name.symbol) == "primitive_culling";
        if meant && !self.env.is_enabled(EXTENSION) {
            self.needs_extension("this layout needs", EXTENSION, id.span);
        }
        meant
    }

    fn subject(&mut self, b: &mut Builder<'_>, op: RayOp, arg: ExprId) -> Option<Value> {
        match op.subject() {
            RaySubject::Query => self.valueless(b, arg, Type::RayQuery),
            RaySubject::Structure | RaySubject::Address => self.ray_operand(b, arg, RayOperand::Structure),
        }
    }

    /// A variable for the array that a function writes.
    pub fn array_target(&mut self, b: &mut Builder<'_>, arg: ExprId, ty: TypeId) -> Option<LValue> {
        let lvalue = self.target(b, arg)?;
        if memory::value_type(b, &lvalue) == ty {
            return Some(lvalue);
        }
        let message = format!("a variable of type `{}` is needed here", self.type_name(b, ty));
        self.error(Code::TYPE_MISMATCH, self.ast[arg].span, message, "another type");
        None
    }

    /// A pointer to the variable of a type without values that an argument names.
    pub fn valueless(&mut self, b: &mut Builder<'_>, arg: ExprId, wanted: Type) -> Option<Value> {
        let span = self.ast[arg].span;
        match self.lower(b, arg)? {
            Lowered::LValue(lvalue) if b.module.types.get(lvalue.ty) == wanted => {
                b.span = span;
                Some(memory::pointer(b, &lvalue))
            }
            _ => {
                let wanted = b.module.types.intern(wanted);
                let message = format!("a variable of type `{}` is needed here", self.type_name(b, wanted));
                self.error(Code::TYPE_MISMATCH, span, message, "not such a variable");
                None
            }
        }
    }

    pub fn ray_operand(&mut self, b: &mut Builder<'_>, arg: ExprId, operand: RayOperand) -> Option<Value> {
        let span = self.ast[arg].span;
        let value = self.value(b, arg)?;
        if operand != RayOperand::Which {
            let ty = operand.ty(&mut b.module.types);
            return self.coerce(b, value, ty, span);
        }
        let known = match self.coerce(b, value, Types::BOOL, span)? {
            Value::Const(id) => b.module.constants.bits(id),
            _ => None,
        };
        if known.is_none() {
            let message = "the argument that selects the committed intersection must be a constant expression";
            self.error(
                Code::ARGUMENT_NOT_CONSTANT,
                span,
                message,
                "its value is not known when the shader is compiled",
            );
        }
        known.map(|bits| b.const_i32(i32::from(bits != 0)))
    }

    /// `accelerationStructureEXT(address)`
    pub fn structure_at(&mut self, b: &mut Builder<'_>, args: &[Operand], whole: Span) -> Option<Value> {
        let pair = b.module.types.vector(Scalar::U32, 2);
        let long = b.module.types.scalar(Scalar::U64);
        let given = args.first().filter(|_| args.len() == 1).map(|arg| (arg.value, b.type_of(arg.value)));
        let address = match given {
            Some((address, ty)) if ty == pair => address,
            Some((address, ty)) if ty == long => b.bitcast(address, pair),
            _ => {
                let message = "`accelerationStructureEXT` is made of an address: a `uvec2` or a `uint64_t`";
                self.error(Code::BAD_CONSTRUCTOR, whole, message, "other arguments");
                return None;
            }
        };
        b.span = whole;
        Some(b.ray(RayOp::Structure, address, &[]))
    }

    /// Reports a query or a hit object where only values are allowed.
    pub fn refuse_valueless(&mut self, b: &Builder<'_>, ty: TypeId, span: Span) -> Option<()> {
        if !b.module.types.is_valueless(ty) {
            return Some(());
        }
        let message = format!("{} is a variable, an array's element or a parameter", kind_of(&b.module.types, ty));
        self.error(Code::BAD_TYPE, span, message, "not here");
        None
    }
}

/// The kind of a type without values, in words.
fn kind_of(types: &Types, ty: TypeId) -> &'static str {
    match types.get(ty) {
        Type::Array { element, .. } => kind_of(types, element),
        Type::HitObject { .. } => "a hit object",
        Type::AtomicCounter => "an atomic counter",
        _ => "a ray query",
    }
}

/// The reason why a query or a hit object cannot be read.
pub fn no_value(types: &Types, ty: TypeId, span: Span) -> Diagnostic {
    let message = format!("{} has no value: it can only be handed to the functions for it", kind_of(types, ty));
    Diagnostic::error(Code::TYPE_MISMATCH, message).at(span, "read here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_their_names() {
        let op = |name| function(name).map(|(_, op, extension)| (*op, *extension));
        assert_eq!(op("rayQueryProceedEXT"), Some((RayOp::Proceed, RAY_QUERY)));
        assert_eq!(op("rayQueryGetIntersectionTEXT"), Some((RayOp::IntersectionT, RAY_QUERY)));
        assert_eq!(op("rayQueryGetIntersectionClusterIdNV"), Some((RayOp::ClusterId, CLUSTERS)));
        for other in ["rayQueryProceed", "rayQueryEXT", "hitObjectGetClusterIdNV", "traceRayEXT"] {
            assert_eq!(op(other), None, "{other}");
        }
    }

    #[test]
    fn some_flags_say_something_of_all_rays() {
        assert_eq!(modes_of_flag("gl_RayFlagsForceOpacityMicromap2StateEXT"), RayModes::OPACITY_MICROMAPS);
        assert_eq!(modes_of_flag("gl_RayFlagsOpaqueEXT"), RayModes::empty());
    }
}
