//! Ray queries (SPV_KHR_ray_query and vendor extensions): every operation is one instruction.

use super::Emitter;
use super::function::Body;
use crate::ir::{RayModes, RayOp, RaySubject, TypeId, Types, Value, Values};
use rspirv::spirv::{Capability, Op, Word};
use smallvec::{SmallVec, smallvec};

const fn opcode(op: RayOp) -> Op {
    use RayOp as R;
    match op {
        R::Initialize => Op::RayQueryInitializeKHR,
        R::Terminate => Op::RayQueryTerminateKHR,
        R::GenerateIntersection => Op::RayQueryGenerateIntersectionKHR,
        R::ConfirmIntersection => Op::RayQueryConfirmIntersectionKHR,
        R::Proceed => Op::RayQueryProceedKHR,
        R::RayTMin => Op::RayQueryGetRayTMinKHR,
        R::RayFlags => Op::RayQueryGetRayFlagsKHR,
        R::WorldRayDirection => Op::RayQueryGetWorldRayDirectionKHR,
        R::WorldRayOrigin => Op::RayQueryGetWorldRayOriginKHR,
        R::CandidateAabbOpaque => Op::RayQueryGetIntersectionCandidateAABBOpaqueKHR,
        R::IntersectionType => Op::RayQueryGetIntersectionTypeKHR,
        R::IntersectionT => Op::RayQueryGetIntersectionTKHR,
        R::InstanceCustomIndex => Op::RayQueryGetIntersectionInstanceCustomIndexKHR,
        R::InstanceId => Op::RayQueryGetIntersectionInstanceIdKHR,
        R::RecordOffset => Op::RayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetKHR,
        R::GeometryIndex => Op::RayQueryGetIntersectionGeometryIndexKHR,
        R::PrimitiveIndex => Op::RayQueryGetIntersectionPrimitiveIndexKHR,
        R::Barycentrics => Op::RayQueryGetIntersectionBarycentricsKHR,
        R::FrontFace => Op::RayQueryGetIntersectionFrontFaceKHR,
        R::ObjectRayDirection => Op::RayQueryGetIntersectionObjectRayDirectionKHR,
        R::ObjectRayOrigin => Op::RayQueryGetIntersectionObjectRayOriginKHR,
        R::ObjectToWorld => Op::RayQueryGetIntersectionObjectToWorldKHR,
        R::WorldToObject => Op::RayQueryGetIntersectionWorldToObjectKHR,
        R::TrianglePositions => Op::RayQueryGetIntersectionTriangleVertexPositionsKHR,
        R::ClusterId => Op::RayQueryGetIntersectionClusterIdNV,
        R::SpherePosition => Op::RayQueryGetIntersectionSpherePositionNV,
        R::SphereRadius => Op::RayQueryGetIntersectionSphereRadiusNV,
        R::IsSphereHit => Op::RayQueryIsSphereHitNV,
        R::SweptPositions => Op::RayQueryGetIntersectionLSSPositionsNV,
        R::SweptRadii => Op::RayQueryGetIntersectionLSSRadiiNV,
        R::SweptHitValue => Op::RayQueryGetIntersectionLSSHitValueNV,
        R::IsSweptHit => Op::RayQueryIsLSSHitNV,
        R::MicroVertexPosition => Op::FetchMicroTriangleVertexPositionNV,
        R::MicroVertexBarycentrics => Op::FetchMicroTriangleVertexBarycentricNV,
        R::Structure => Op::ConvertUToAccelerationStructureKHR,
    }
}

impl Emitter<'_> {
    /// The capability that ray tracing stages need.
    pub const fn of_rays(&self) -> Capability {
        let is_nvidia = self.module.rays.contains(RayModes::NVIDIA);
        if is_nvidia { Capability::RayTracingNV } else { Capability::RayTracingKHR }
    }

    /// Writes the execution modes for all rays of the shader.
    pub fn ray_modes(&mut self) {
        let rows = [
            (RayModes::PRIMITIVE_CULLING, Capability::RayTraversalPrimitiveCullingKHR),
            (RayModes::OPACITY_MICROMAPS, Capability::RayTracingOpacityMicromapEXT),
        ];
        for (mode, capability) in rows {
            if self.module.rays.contains(mode) {
                self.needs.capability(capability);
            }
        }
    }
}

impl Body<'_, '_> {
    pub fn ray(&mut self, ty: TypeId, op: RayOp, on: Value, args: Values) -> Word {
        if op.subject() != RaySubject::Structure {
            self.m.needs.capability(Capability::RayQueryKHR);
        }
        let mut words: SmallVec<[Word; 8]> = smallvec![self.value(on)];
        words.extend(self.values(args));
        if ty == Types::VOID {
            self.emit_void(opcode(op), &words);
            return 0;
        }
        let ty = self.m.value_type(ty);
        self.emit(opcode(op), ty, &words)
    }
}
