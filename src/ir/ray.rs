//! Ray queries: rays that a shader traces step by step (GL_EXT_ray_query, SPV_KHR_ray_query), and the extensions'
//! operations on them and on acceleration structures.

use super::{ArrayLen, Scalar, Type, TypeId, Types};

bitflags::bitflags! {
    /// The modes that a shader sets for all its rays.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct RayModes: u8 {
        /// Rays may skip triangles or boxes (GL_EXT_ray_flags_primitive_culling).
        const PRIMITIVE_CULLING = 1;
        /// Rays may see opacity micromaps with two states only (GL_EXT_opacity_micromap).
        const OPACITY_MICROMAPS = 2;
        /// The stages belong to SPV_NV_ray_tracing.
        const NVIDIA = 4;
    }
}

/// An operation on a ray query. [`super::Op::Ray`] holds a pointer to the query and the other operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RayOp {
    /// Acceleration structure, flags, mask, origin, least distance, direction, largest distance.
    Initialize,
    Terminate,
    /// Commits an intersection with a box at this distance.
    GenerateIntersection,
    /// Commits the candidate, a triangle.
    ConfirmIntersection,
    /// True if there is a candidate to examine.
    Proceed,
    RayTMin,
    RayFlags,
    WorldRayDirection,
    WorldRayOrigin,
    CandidateAabbOpaque,
    // For the candidate (0) or the committed intersection (1), by the constant operand.
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
    /// The three corners of a triangle (SPV_KHR_ray_tracing_position_fetch).
    TrianglePositions,
    /// SPV_NV_cluster_acceleration_structure.
    ClusterId,
    // Spheres, and the volumes that spheres sweep between two points (SPV_NV_linear_swept_spheres).
    SpherePosition,
    SphereRadius,
    IsSphereHit,
    SweptPositions,
    SweptRadii,
    SweptHitValue,
    IsSweptHit,
    // A vertex of a micromap's triangle (SPV_NV_displacement_micromap): operations on an acceleration structure.
    MicroVertexPosition,
    MicroVertexBarycentrics,
    /// The acceleration structure at an address: an operation on the two words of the address, not on a query.
    Structure,
}

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RayOperand {
    Structure,
    Uint,
    Int,
    Float,
    Vec3,
    IVec2,
    /// A constant: 0 for the candidate, 1 for the committed intersection.
    Which,
}

impl RayOperand {
    pub fn ty(self, types: &mut Types) -> TypeId {
        match self {
            RayOperand::Structure => types.intern(Type::AccelerationStructure),
            RayOperand::Uint => Types::U32,
            RayOperand::Int => Types::I32,
            RayOperand::IVec2 => types.vector(Scalar::I32, 2),
            RayOperand::Float => Types::F32,
            RayOperand::Vec3 => types.vector(Scalar::F32, 3),
            RayOperand::Which => Types::I32,
        }
    }
}

/// The subject of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RaySubject {
    Query,
    Structure,
    /// The two words of a structure's address.
    Address,
}

impl RayOp {
    pub const fn subject(self) -> RaySubject {
        match self {
            RayOp::Structure => RaySubject::Address,
            RayOp::MicroVertexPosition | RayOp::MicroVertexBarycentrics => RaySubject::Structure,
            _ => RaySubject::Query,
        }
    }

    /// The operands after the subject.
    pub const fn operands(self) -> &'static [RayOperand] {
        use RayOp::*;
        use RayOperand as O;
        match self {
            Initialize => &[O::Structure, O::Uint, O::Uint, O::Vec3, O::Float, O::Vec3, O::Float],
            GenerateIntersection => &[O::Float],
            MicroVertexPosition | MicroVertexBarycentrics => &[O::Int, O::Int, O::Int, O::IVec2],
            Terminate | ConfirmIntersection | Proceed | RayTMin | RayFlags | WorldRayDirection | WorldRayOrigin
            | CandidateAabbOpaque | Structure => &[],
            _ => &[O::Which],
        }
    }

    pub fn result(self, types: &mut Types) -> TypeId {
        use RayOp::*;
        match self {
            Initialize | Terminate | GenerateIntersection | ConfirmIntersection => Types::VOID,
            Proceed | CandidateAabbOpaque | FrontFace | IsSphereHit | IsSweptHit => Types::BOOL,
            RayFlags | IntersectionType | RecordOffset => Types::U32,
            RayTMin | IntersectionT | SphereRadius | SweptHitValue => Types::F32,
            InstanceCustomIndex | InstanceId | GeometryIndex | PrimitiveIndex | ClusterId => Types::I32,
            Barycentrics | MicroVertexBarycentrics => types.vector(Scalar::F32, 2),
            WorldRayDirection | WorldRayOrigin | ObjectRayDirection | ObjectRayOrigin | SpherePosition
            | MicroVertexPosition => types.vector(Scalar::F32, 3),
            TrianglePositions => several(types, 3, 3),
            SweptPositions => several(types, 3, 2),
            SweptRadii => several(types, 1, 2),
            ObjectToWorld | WorldToObject => types.matrix(Scalar::F32, 4, 3),
            Structure => types.intern(Type::AccelerationStructure),
        }
    }
}

/// An array of this many floats, or vectors of floats.
fn several(types: &mut Types, size: u8, count: u32) -> TypeId {
    let one = types.vector(Scalar::F32, size);
    types.array(one, ArrayLen::Fixed(count))
}
