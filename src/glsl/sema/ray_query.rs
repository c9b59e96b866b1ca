//! Ray queries (GL_EXT_ray_query). A query is a variable of a function or of the module: it has no value, and cannot be handed
//! over or be a part of anything. Intersections with micromaps and clusters are not there.

use super::Sema;
use super::expressions::Lowered;
use super::memory;
use super::operators::Operand;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{ExprId, List, Name};
use crate::ir::build::Builder;
use crate::ir::{RayOp, RayOperand, Scalar, Type, TypeId, Types, Value};
use crate::source::Span;
use smallvec::SmallVec;

const EXTENSION: &str = "GL_EXT_ray_query";

/// What a function is called without `rayQuery` and `EXT`.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, RayOp)] = &[
    ("Initialize", RayOp::Initialize),
    ("Terminate", RayOp::Terminate),
    ("GenerateIntersection", RayOp::GenerateIntersection),
    ("ConfirmIntersection", RayOp::ConfirmIntersection),
    ("Proceed", RayOp::Proceed),
    ("GetRayTMin", RayOp::RayTMin),
    ("GetRayFlags", RayOp::RayFlags),
    ("GetWorldRayDirection", RayOp::WorldRayDirection),
    ("GetWorldRayOrigin", RayOp::WorldRayOrigin),
    ("GetIntersectionCandidateAABBOpaque", RayOp::CandidateAabbOpaque),
    ("GetIntersectionType", RayOp::IntersectionType),
    ("GetIntersectionT", RayOp::IntersectionT),
    ("GetIntersectionInstanceCustomIndex", RayOp::InstanceCustomIndex),
    ("GetIntersectionInstanceId", RayOp::InstanceId),
    ("GetIntersectionInstanceShaderBindingTableRecordOffset", RayOp::RecordOffset),
    ("GetIntersectionGeometryIndex", RayOp::GeometryIndex),
    ("GetIntersectionPrimitiveIndex", RayOp::PrimitiveIndex),
    ("GetIntersectionBarycentrics", RayOp::Barycentrics),
    ("GetIntersectionFrontFace", RayOp::FrontFace),
    ("GetIntersectionObjectRayDirection", RayOp::ObjectRayDirection),
    ("GetIntersectionObjectRayOrigin", RayOp::ObjectRayOrigin),
    ("GetIntersectionObjectToWorld", RayOp::ObjectToWorld),
    ("GetIntersectionWorldToObject", RayOp::WorldToObject),
];

/// The operation that a function is.
pub fn operation(name: &str) -> Option<RayOp> {
    let short = name.strip_prefix("rayQuery")?.strip_suffix("EXT")?;
    FUNCTIONS.iter().find(|(known, _)| *known == short).map(|(_, op)| *op)
}

impl Sema<'_> {
    /// A call of one of these functions.
    pub fn ray_query(
        &mut self,
        b: &mut Builder<'_>,
        op: RayOp,
        callee: Name,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Lowered> {
        self.need_ray_query(callee.span)?;
        let (ast, wanted) = (self.ast, op.operands());
        let given = &ast[args];
        if given.len() != 1 + wanted.len() {
            self.wrong_count(self.text(callee.symbol), 1 + wanted.len(), whole);
            return None;
        }
        let query = self.query(b, given[0])?;
        let mut operands: SmallVec<[Value; 7]> = SmallVec::new();
        for (arg, operand) in given[1..].iter().zip(wanted) {
            operands.push(self.ray_operand(b, *arg, *operand)?);
        }
        b.span = whole;
        let value = b.ray(op, query, &operands);
        let is_void = b.type_of(value) == Types::VOID;
        Some(if is_void { Lowered::Void } else { Lowered::Value(value) })
    }

    pub fn need_ray_query(&mut self, span: Span) -> Option<()> {
        if !self.env.is_enabled(EXTENSION) {
            self.needs_extension("ray queries need", EXTENSION, span);
            return None;
        }
        Some(())
    }

    /// A pointer to the query that an argument names.
    fn query(&mut self, b: &mut Builder<'_>, arg: ExprId) -> Option<Value> {
        let span = self.ast[arg].span;
        match self.lower(b, arg)? {
            Lowered::Place(place) if b.module.types.get(place.ty) == Type::RayQuery => {
                b.span = span;
                Some(memory::pointer(b, &place))
            }
            _ => {
                self.error(
                    Code::TYPE_MISMATCH,
                    span,
                    "a variable of type `rayQueryEXT` is needed here",
                    "another thing",
                );
                None
            }
        }
    }

    fn ray_operand(&mut self, b: &mut Builder<'_>, arg: ExprId, operand: RayOperand) -> Option<Value> {
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
            let message = "whether the intersection is the committed one must be a constant expression";
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

    /// Reports a query that is no variable of its own.
    pub fn refuse_query(&mut self, b: &Builder<'_>, ty: TypeId, span: Span) -> Option<()> {
        if b.module.types.get(ty) != Type::RayQuery {
            return Some(());
        }
        self.unsupported(span, "ray queries that are no variables by themselves are");
        None
    }
}

/// Why a query cannot be read.
pub fn no_value(span: Span) -> Diagnostic {
    let message = "a ray query has no value: it can only be handed to the functions for it";
    Diagnostic::error(Code::TYPE_MISMATCH, message).at(span, "read here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_their_names() {
        assert_eq!(operation("rayQueryProceedEXT"), Some(RayOp::Proceed));
        assert_eq!(operation("rayQueryGetIntersectionTEXT"), Some(RayOp::IntersectionT));
        for other in ["rayQueryProceed", "rayQueryEXT", "rayQueryGetIntersectionClusterIdNV", "traceRayEXT"] {
            assert_eq!(operation(other), None, "{other}");
        }
    }
}
