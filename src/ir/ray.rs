//! Ray queries: rays that a shader traces step by step (GL_EXT_ray_query, SPV_KHR_ray_query).

use super::{Scalar, Type, TypeId, Types};

/// What is done with a ray query, or asked of it. [`super::Op::Ray`] holds a pointer to the query and the other operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RayOp {
    /// Acceleration structure, flags, mask, origin, least distance, direction, greatest distance.
    Initialize,
    Terminate,
    /// Commits an intersection with a box at this distance.
    GenerateIntersection,
    /// Commits the candidate, a triangle.
    ConfirmIntersection,
    /// Whether there is a candidate to look at.
    Proceed,
    RayTMin,
    RayFlags,
    WorldRayDirection,
    WorldRayOrigin,
    CandidateAabbOpaque,
    // Of the candidate (0) or of what is committed (1), as the constant operand says.
    IntersectionType,
    IntersectionT,
    InstanceCustomIndex,
    InstanceId,
    RecordOffset,
    GeometryIndex,
    PrimitiveIndex,
    Barycentrics,
    FrontFace,
    ObjectRayDirection,
    ObjectRayOrigin,
    ObjectToWorld,
    WorldToObject,
    /// The acceleration structure at an address: an operation on the two words of the address, not on a query.
    Structure,
}

/// What an operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RayOperand {
    Structure,
    Uint,
    Float,
    Vec3,
    /// A constant: 0 for the candidate, 1 for what is committed.
    Which,
}

impl RayOperand {
    pub fn ty(self, types: &mut Types) -> TypeId {
        match self {
            RayOperand::Structure => types.intern(Type::AccelerationStructure),
            RayOperand::Uint => Types::U32,
            RayOperand::Float => Types::F32,
            RayOperand::Vec3 => types.vector(Scalar::F32, 3),
            RayOperand::Which => Types::I32,
        }
    }
}

impl RayOp {
    /// The operands behind the query.
    pub const fn operands(self) -> &'static [RayOperand] {
        use RayOp::*;
        use RayOperand as O;
        match self {
            Initialize => &[O::Structure, O::Uint, O::Uint, O::Vec3, O::Float, O::Vec3, O::Float],
            GenerateIntersection => &[O::Float],
            Terminate | ConfirmIntersection | Proceed | RayTMin | RayFlags | WorldRayDirection | WorldRayOrigin
            | CandidateAabbOpaque | Structure => &[],
            _ => &[O::Which],
        }
    }

    pub fn result(self, types: &mut Types) -> TypeId {
        use RayOp::*;
        match self {
            Initialize | Terminate | GenerateIntersection | ConfirmIntersection => Types::VOID,
            Proceed | CandidateAabbOpaque | FrontFace => Types::BOOL,
            RayFlags | IntersectionType | RecordOffset => Types::U32,
            RayTMin | IntersectionT => Types::F32,
            InstanceCustomIndex | InstanceId | GeometryIndex | PrimitiveIndex => Types::I32,
            Barycentrics => types.vector(Scalar::F32, 2),
            WorldRayDirection | WorldRayOrigin | ObjectRayDirection | ObjectRayOrigin => types.vector(Scalar::F32, 3),
            ObjectToWorld | WorldToObject => types.matrix(Scalar::F32, 4, 3),
            Structure => types.intern(Type::AccelerationStructure),
        }
    }
}
