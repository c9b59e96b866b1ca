//! The capabilities and extensions of a module, collected from the emitted instructions.
//!
//! There is one table each for opcodes, scalar types and built-ins (SPIR-V 1.6, "Enabling Capabilities" of each entry;
//! extensions from the entry's "Missing before" line). A shader that only mentions a feature does not need its
//! capability.

use super::Version;
use crate::ir::{Encoding, Scalar, ScalarKind};
use rspirv::spirv::{BuiltIn, Capability, Op};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeSet;

/// The smallest set found so far.
#[derive(Debug)]
pub(super) struct Needs {
    /// Capabilities by number, because a shader may use numbers that are in no table.
    capabilities: SmallVec<[u32; 12]>,
    extensions: BTreeSet<String>,
    /// Scalars of 8 and 16 bits for which a type is declared.
    narrow: SmallVec<[Scalar; 4]>,
    late: SmallVec<[(String, Version); 1]>,
    version: Version,
}

/// Capabilities of subgroup instructions that implicitly declare `GroupNonUniform` (section 3.31, implicit
/// declaration).
const IMPLY_GROUP: [Capability; 8] = [
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformClustered,
    Capability::GroupNonUniformQuad,
    Capability::GroupNonUniformRotateKHR,
];

/// Capabilities that no extension adds to older versions, with their first version.
const SINCE: [(Capability, Version); 10] = [
    (Capability::GroupNonUniform, Version::V1_3),
    (Capability::GroupNonUniformVote, Version::V1_3),
    (Capability::GroupNonUniformArithmetic, Version::V1_3),
    (Capability::GroupNonUniformBallot, Version::V1_3),
    (Capability::GroupNonUniformShuffle, Version::V1_3),
    (Capability::GroupNonUniformShuffleRelative, Version::V1_3),
    (Capability::GroupNonUniformClustered, Version::V1_3),
    (Capability::GroupNonUniformQuad, Version::V1_3),
    (Capability::ShaderLayer, Version::V1_5),
    (Capability::ShaderViewportIndex, Version::V1_5),
];

/// Capabilities that allow the declaration of 8-bit integer types (SPV_KHR_8bit_storage).
const STORAGE_8: [Capability; 4] = [
    Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
    Capability::StorageBuffer8BitAccess,
    Capability::UniformAndStorageBuffer8BitAccess,
    Capability::StoragePushConstant8,
];

/// Capabilities that allow the declaration of 16-bit types (SPV_KHR_16bit_storage).
const STORAGE_16: [Capability; 5] = [
    Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::StoragePushConstant16,
    Capability::StorageInputOutput16,
];

/// The versions for which an extension provides a capability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Carried {
    Always,
    /// Needed up to the version that includes the capability.
    Until(Version),
    /// From the version against which it is written.
    From(Version),
}

use Carried::{Always, From, Until};

/// Extension that carries a capability.
const EXTENSIONS: &[(Capability, &str, Carried)] = &[
    (Capability::BFloat16TypeKHR, "SPV_KHR_bfloat16", Always),
    (Capability::BFloat16DotProductKHR, "SPV_KHR_bfloat16", Always),
    (Capability::BFloat16CooperativeMatrixKHR, "SPV_KHR_bfloat16", Always),
    (Capability::Float8EXT, "SPV_EXT_float8", Always),
    (Capability::Float8CooperativeMatrixEXT, "SPV_EXT_float8", Always),
    (Capability::CooperativeMatrixKHR, "SPV_KHR_cooperative_matrix", Always),
    (Capability::CooperativeMatrixLayoutsARM, "SPV_ARM_cooperative_matrix_layouts", Always),
    (Capability::CooperativeMatrixNV, "SPV_NV_cooperative_matrix", Always),
    (Capability::CooperativeMatrixReductionsNV, "SPV_NV_cooperative_matrix2", Always),
    (Capability::CooperativeMatrixConversionsNV, "SPV_NV_cooperative_matrix2", Always),
    (Capability::CooperativeMatrixPerElementOperationsNV, "SPV_NV_cooperative_matrix2", Always),
    (Capability::CooperativeMatrixTensorAddressingNV, "SPV_NV_cooperative_matrix2", Always),
    (Capability::CooperativeMatrixBlockLoadsNV, "SPV_NV_cooperative_matrix2", Always),
    (Capability::CooperativeVectorNV, "SPV_NV_cooperative_vector", Always),
    (Capability::CooperativeVectorTrainingNV, "SPV_NV_cooperative_vector", Always),
    (Capability::ReplicatedCompositesEXT, "SPV_EXT_replicated_composites", Always),
    (Capability::VulkanMemoryModel, "SPV_KHR_vulkan_memory_model", Until(Version::V1_5)),
    (Capability::DotProduct, "SPV_KHR_integer_dot_product", Until(Version::V1_6)),
    (Capability::DotProductInputAll, "SPV_KHR_integer_dot_product", Until(Version::V1_6)),
    (Capability::DotProductInput4x8Bit, "SPV_KHR_integer_dot_product", Until(Version::V1_6)),
    (Capability::DotProductInput4x8BitPacked, "SPV_KHR_integer_dot_product", Until(Version::V1_6)),
    (Capability::AtomicFloat16AddEXT, "SPV_EXT_shader_atomic_float16_add", Always),
    (Capability::AtomicFloat16MinMaxEXT, "SPV_EXT_shader_atomic_float_min_max", Always),
    (Capability::AtomicFloat32MinMaxEXT, "SPV_EXT_shader_atomic_float_min_max", Always),
    (Capability::AtomicFloat64MinMaxEXT, "SPV_EXT_shader_atomic_float_min_max", Always),
    (Capability::WorkgroupMemoryExplicitLayoutKHR, "SPV_KHR_workgroup_memory_explicit_layout", From(Version::V1_4)),
    (Capability::GroupNonUniformRotateKHR, "SPV_KHR_subgroup_rotate", From(Version::V1_3)),
    (Capability::GroupNonUniformPartitionedEXT, "SPV_NV_shader_subgroup_partitioned", From(Version::V1_3)),
    (Capability::SubgroupBallotKHR, "SPV_KHR_shader_ballot", Always),
    (Capability::SubgroupVoteKHR, "SPV_KHR_subgroup_vote", Always),
    (Capability::DrawParameters, "SPV_KHR_shader_draw_parameters", Until(Version::V1_3)),
    (Capability::DeviceGroup, "SPV_KHR_device_group", Until(Version::V1_3)),
    (Capability::MultiView, "SPV_KHR_multiview", Until(Version::V1_3)),
    (Capability::StorageBuffer16BitAccess, "SPV_KHR_16bit_storage", Until(Version::V1_3)),
    (Capability::UniformAndStorageBuffer16BitAccess, "SPV_KHR_16bit_storage", Until(Version::V1_3)),
    (Capability::StoragePushConstant16, "SPV_KHR_16bit_storage", Until(Version::V1_3)),
    (Capability::StorageInputOutput16, "SPV_KHR_16bit_storage", Until(Version::V1_3)),
    (Capability::RuntimeDescriptorArray, "SPV_EXT_descriptor_indexing", Until(Version::V1_5)),
    (Capability::ShaderNonUniform, "SPV_EXT_descriptor_indexing", Until(Version::V1_5)),
    (Capability::DemoteToHelperInvocation, "SPV_EXT_demote_to_helper_invocation", Until(Version::V1_6)),
    (Capability::ShaderViewportIndexLayerEXT, "SPV_EXT_shader_viewport_index_layer", Always),
    (Capability::FragmentShadingRateKHR, "SPV_KHR_fragment_shading_rate", Always),
    (Capability::Int64ImageEXT, "SPV_EXT_shader_image_int64", Always),
    (Capability::PhysicalStorageBufferAddresses, "SPV_KHR_physical_storage_buffer", Until(Version::V1_5)),
    (Capability::FragmentBarycentricKHR, "SPV_KHR_fragment_shader_barycentric", Always),
    (Capability::QuadControlKHR, "SPV_KHR_quad_control", Always),
    (Capability::ShaderSMBuiltinsNV, "SPV_NV_shader_sm_builtins", Always),
    (Capability::AtomicFloat16VectorNV, "SPV_NV_shader_atomic_fp16_vector", Always),
    (Capability::AtomicFloat32AddEXT, "SPV_EXT_shader_atomic_float_add", Always),
    (Capability::AtomicFloat64AddEXT, "SPV_EXT_shader_atomic_float_add", Always),
    (Capability::StorageBuffer8BitAccess, "SPV_KHR_8bit_storage", Until(Version::V1_5)),
    (Capability::UniformAndStorageBuffer8BitAccess, "SPV_KHR_8bit_storage", Until(Version::V1_5)),
    (Capability::StoragePushConstant8, "SPV_KHR_8bit_storage", Until(Version::V1_5)),
    (Capability::FragmentDensityEXT, "SPV_EXT_fragment_invocation_density", Always),
    (Capability::FragmentFullyCoveredEXT, "SPV_EXT_fragment_fully_covered", Always),
    (Capability::StencilExportEXT, "SPV_EXT_shader_stencil_export", Always),
    (Capability::SampleMaskOverrideCoverageNV, "SPV_NV_sample_mask_override_coverage", Always),
    (Capability::SampleMaskPostDepthCoverage, "SPV_KHR_post_depth_coverage", Always),
    (Capability::FragmentShaderSampleInterlockEXT, "SPV_EXT_fragment_shader_interlock", Always),
    (Capability::FragmentShaderPixelInterlockEXT, "SPV_EXT_fragment_shader_interlock", Always),
    (Capability::ShaderViewportMaskNV, "SPV_NV_viewport_array2", Always),
    (Capability::ShaderStereoViewNV, "SPV_NV_stereo_view_rendering", Always),
    (Capability::PerViewAttributesNV, "SPV_NVX_multiview_per_view_attributes", Always),
    (Capability::CoreBuiltinsARM, "SPV_ARM_core_builtins", Always),
    (Capability::ComputeDerivativeGroupQuadsKHR, "SPV_KHR_compute_shader_derivatives", Always),
    (Capability::ComputeDerivativeGroupLinearKHR, "SPV_KHR_compute_shader_derivatives", Always),
    (Capability::RayQueryKHR, "SPV_KHR_ray_query", Always),
    (Capability::RayTracingKHR, "SPV_KHR_ray_tracing", From(Version::V1_4)),
    (Capability::RayTracingNV, "SPV_NV_ray_tracing", Always),
    (Capability::ShaderInvocationReorderNV, "SPV_NV_shader_invocation_reorder", Always),
    (Capability::ShaderInvocationReorderEXT, "SPV_EXT_shader_invocation_reorder", Always),
    (Capability::RayTracingMotionBlurNV, "SPV_NV_ray_tracing_motion_blur", Always),
    (Capability::RayTracingPositionFetchKHR, "SPV_KHR_ray_tracing_position_fetch", Always),
    (Capability::RayCullMaskKHR, "SPV_KHR_ray_cull_mask", Always),
    (Capability::RayQueryPositionFetchKHR, "SPV_KHR_ray_tracing_position_fetch", Always),
    (Capability::RayTraversalPrimitiveCullingKHR, "SPV_KHR_ray_query", Always),
    (Capability::RayTracingOpacityMicromapEXT, "SPV_EXT_opacity_micromap", Always),
    (
        Capability::RayTracingClusterAccelerationStructureNV,
        "SPV_NV_cluster_acceleration_structure",
        From(Version::V1_4),
    ),
    (Capability::RayTracingSpheresGeometryNV, "SPV_NV_linear_swept_spheres", From(Version::V1_4)),
    (Capability::RayTracingLinearSweptSpheresGeometryNV, "SPV_NV_linear_swept_spheres", From(Version::V1_4)),
    (Capability::DisplacementMicromapNV, "SPV_NV_displacement_micromap", Always),
    (Capability::ImageReadWriteLodAMD, "SPV_AMD_shader_image_load_store_lod", Always),
    (Capability::GeometryShaderPassthroughNV, "SPV_NV_geometry_shader_passthrough", Always),
    (Capability::ImageGatherBiasLodAMD, "SPV_AMD_texture_gather_bias_lod", Always),
    (Capability::FragmentMaskAMD, "SPV_AMD_shader_fragment_mask", Always),
    (Capability::MeshShadingEXT, "SPV_EXT_mesh_shader", From(Version::V1_4)),
    (Capability::MeshShadingNV, "SPV_NV_mesh_shader", Always),
    (Capability::TileImageColorReadAccessEXT, "SPV_EXT_shader_tile_image", Always),
    (Capability::TileImageDepthReadAccessEXT, "SPV_EXT_shader_tile_image", Always),
    (Capability::TileImageStencilReadAccessEXT, "SPV_EXT_shader_tile_image", Always),
    (Capability::TextureSampleWeightedQCOM, "SPV_QCOM_image_processing", Always),
    (Capability::TextureBoxFilterQCOM, "SPV_QCOM_image_processing", Always),
    (Capability::TextureBlockMatchQCOM, "SPV_QCOM_image_processing", Always),
    (Capability::TextureBlockMatch2QCOM, "SPV_QCOM_image_processing2", Always),
];

/// A capability that rspirv does not list yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unlisted {
    number: u32,
    name: &'static str,
    extension: &'static str,
}

pub(super) const DECODE_VECTOR: Unlisted = Unlisted {
    number: 5447,
    name: "CooperativeMatrixDecodeVectorNV",
    extension: "SPV_NV_cooperative_matrix_decode_vector",
};
const FLOAT_4: Unlisted = Unlisted { number: 4229, name: "Float4EXT", extension: "SPV_EXT_ocp_microscaling_types" };
/// The grammar refers to it by its number.
const BITCAST_EXTRACT: Unlisted =
    Unlisted { number: 4232, name: "BitcastExtractEXT", extension: "SPV_EXT_ocp_microscaling_types" };

/// The name of a capability, or its number if it has none.
pub(super) fn name(number: u32) -> String {
    let unlisted = [DECODE_VECTOR, FLOAT_4, BITCAST_EXTRACT].into_iter().find(|unlisted| unlisted.number == number);
    match (Capability::from_u32(number), unlisted) {
        (Some(listed), _) => format!("{listed:?}"),
        (None, Some(unlisted)) => unlisted.name.to_owned(),
        (None, None) => number.to_string(),
    }
}

/// Built-ins that need an extension without a capability.
const EXPLICIT_VERTEX_BUILT_INS: [BuiltIn; 7] = [
    BuiltIn::BaryCoordNoPerspAMD,
    BuiltIn::BaryCoordNoPerspCentroidAMD,
    BuiltIn::BaryCoordNoPerspSampleAMD,
    BuiltIn::BaryCoordSmoothAMD,
    BuiltIn::BaryCoordSmoothCentroidAMD,
    BuiltIn::BaryCoordSmoothSampleAMD,
    BuiltIn::BaryCoordPullModelAMD,
];

impl Needs {
    pub fn new(version: Version) -> Needs {
        Needs {
            capabilities: smallvec![Capability::Shader as u32],
            extensions: BTreeSet::new(),
            narrow: SmallVec::new(),
            late: SmallVec::new(),
            version,
        }
    }

    pub fn capability(&mut self, capability: Capability) {
        if self.has(capability) {
            return;
        }
        self.capabilities.push(capability as u32);
        if let Some((_, first)) = SINCE.iter().find(|(of, _)| *of == capability) {
            self.since(*first, &format!("{capability:?}"));
        }
        let row = EXTENSIONS.iter().find(|row| row.0 == capability);
        let Some((_, extension, carried)) = row else { return };
        match carried {
            Until(first) if self.version >= *first => return,
            From(first) => self.since(*first, extension),
            _ => {}
        }
        self.extension(extension);
    }

    /// Records that the module has something that versions before `first` lack.
    pub fn since(&mut self, first: Version, what: &str) {
        if self.version < first {
            self.late.push((what.to_owned(), first));
        }
    }

    /// Returns true if [`Needs::take_late`] has some.
    pub fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// The capabilities and extensions requested since the last call that need a newer version than the module's, with
    /// that version.
    pub fn take_late(&mut self) -> SmallVec<[(String, Version); 1]> {
        std::mem::take(&mut self.late)
    }

    /// A capability that the shader requests by number; only known ones add their extension.
    pub fn numbered_capability(&mut self, number: u32) {
        match Capability::from_u32(number) {
            Some(capability) => self.capability(capability),
            None if self.capabilities.contains(&number) => {}
            None => self.capabilities.push(number),
        }
    }

    pub fn unlisted(&mut self, unlisted: Unlisted) {
        self.numbered_capability(unlisted.number);
        self.extension(unlisted.extension);
    }

    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(&(capability as u32))
    }

    pub fn extension(&mut self, extension: &str) {
        if !self.extensions.contains(extension) {
            self.extensions.insert(extension.to_owned());
        }
    }

    /// Adds the capabilities that an instruction needs by its opcode.
    pub fn op(&mut self, op: Op) {
        if let Some(capability) = of_op(op) {
            self.capability(capability);
        }
    }

    /// Adds the capabilities for declaring a type of this scalar. For narrow types, storage may be enough: see
    /// [`Needs::settle_narrow`].
    pub fn declared(&mut self, scalar: Scalar) {
        if super::narrow::is_narrow(scalar) {
            self.narrow.push(scalar);
        } else {
            self.scalar(scalar);
        }
    }

    /// Narrow types without a storage capability need the type's own one.
    pub fn settle_narrow(&mut self) {
        for scalar in std::mem::take(&mut self.narrow) {
            let storage = if scalar.width == 8 { &STORAGE_8[..] } else { &STORAGE_16 };
            if !storage.iter().any(|capability| self.has(*capability)) {
                self.scalar(scalar);
            }
        }
    }

    /// Adds the capabilities that computing with this scalar needs.
    pub fn scalar(&mut self, scalar: Scalar) {
        if scalar == Scalar::E2M1 {
            self.unlisted(FLOAT_4);
        }
        if let Some(capability) = of_scalar(scalar) {
            self.capability(capability);
        }
    }

    /// Adds the capabilities that a variable with this built-in needs.
    pub fn built_in(&mut self, built_in: BuiltIn) {
        if EXPLICIT_VERTEX_BUILT_INS.contains(&built_in) {
            self.extension(super::print::EXPLICIT_VERTICES);
        }
        let early = super::early::of_built_in(built_in).filter(|_| !self.version.has_1_3());
        if let Some(capability) = early.or_else(|| of_built_in(built_in)) {
            self.capability(capability);
        }
    }

    /// The capabilities that no other one implies, in ascending order.
    pub fn capabilities(&self) -> Vec<u32> {
        let implied = IMPLY_GROUP.iter().any(|capability| self.has(*capability));
        let group = Capability::GroupNonUniform as u32;
        let mut kept: Vec<u32> = self.capabilities.iter().copied().filter(|c| !(implied && *c == group)).collect();
        kept.sort_unstable();
        kept
    }

    pub fn extensions(&self) -> Vec<&str> {
        self.extensions.iter().map(String::as_str).collect()
    }
}

/// Opcodes that a plain `Shader` module cannot use. The group operation of an arithmetic instruction decides between
/// `GroupNonUniformArithmetic` and `…Clustered`, so its emitter requests the capability.
const fn of_op(op: Op) -> Option<Capability> {
    Some(match op {
        Op::GroupNonUniformElect => Capability::GroupNonUniform,
        Op::GroupNonUniformAll | Op::GroupNonUniformAny | Op::GroupNonUniformAllEqual => {
            Capability::GroupNonUniformVote
        }
        Op::GroupNonUniformBroadcast
        | Op::GroupNonUniformBroadcastFirst
        | Op::GroupNonUniformBallot
        | Op::GroupNonUniformInverseBallot
        | Op::GroupNonUniformBallotBitExtract
        | Op::GroupNonUniformBallotBitCount
        | Op::GroupNonUniformBallotFindLSB
        | Op::GroupNonUniformBallotFindMSB => Capability::GroupNonUniformBallot,
        Op::GroupNonUniformShuffle | Op::GroupNonUniformShuffleXor => Capability::GroupNonUniformShuffle,
        Op::GroupNonUniformShuffleUp | Op::GroupNonUniformShuffleDown => Capability::GroupNonUniformShuffleRelative,
        Op::GroupNonUniformQuadBroadcast | Op::GroupNonUniformQuadSwap => Capability::GroupNonUniformQuad,
        Op::DPdxFine | Op::DPdyFine | Op::FwidthFine | Op::DPdxCoarse | Op::DPdyCoarse | Op::FwidthCoarse => {
            Capability::DerivativeControl
        }
        Op::ImageQuerySize
        | Op::ImageQuerySizeLod
        | Op::ImageQueryLod
        | Op::ImageQueryLevels
        | Op::ImageQuerySamples => Capability::ImageQuery,
        Op::ImageSparseSampleImplicitLod
        | Op::ImageSparseSampleExplicitLod
        | Op::ImageSparseSampleDrefImplicitLod
        | Op::ImageSparseSampleDrefExplicitLod
        | Op::ImageSparseFetch
        | Op::ImageSparseGather
        | Op::ImageSparseDrefGather
        | Op::ImageSparseRead => Capability::SparseResidency,
        Op::ImageSampleWeightedQCOM => Capability::TextureSampleWeightedQCOM,
        Op::ImageBoxFilterQCOM => Capability::TextureBoxFilterQCOM,
        Op::ImageBlockMatchSADQCOM | Op::ImageBlockMatchSSDQCOM => Capability::TextureBlockMatchQCOM,
        Op::ImageBlockMatchWindowSADQCOM
        | Op::ImageBlockMatchWindowSSDQCOM
        | Op::ImageBlockMatchGatherSADQCOM
        | Op::ImageBlockMatchGatherSSDQCOM => Capability::TextureBlockMatch2QCOM,
        Op::FragmentMaskFetchAMD | Op::FragmentFetchAMD => Capability::FragmentMaskAMD,
        Op::DepthAttachmentReadEXT => Capability::TileImageDepthReadAccessEXT,
        Op::StencilAttachmentReadEXT => Capability::TileImageStencilReadAccessEXT,
        Op::IgnoreIntersectionKHR | Op::TerminateRayKHR => Capability::RayTracingKHR,
        Op::SetMeshOutputsEXT | Op::EmitMeshTasksEXT => Capability::MeshShadingEXT,
        Op::DemoteToHelperInvocation | Op::IsHelperInvocationEXT => Capability::DemoteToHelperInvocation,
        Op::RayQueryGetIntersectionTriangleVertexPositionsKHR => Capability::RayQueryPositionFetchKHR,
        Op::RayQueryGetIntersectionClusterIdNV => Capability::RayTracingClusterAccelerationStructureNV,
        Op::RayQueryGetIntersectionSpherePositionNV
        | Op::RayQueryGetIntersectionSphereRadiusNV
        | Op::RayQueryIsSphereHitNV => Capability::RayTracingSpheresGeometryNV,
        Op::RayQueryGetIntersectionLSSPositionsNV
        | Op::RayQueryGetIntersectionLSSRadiiNV
        | Op::RayQueryGetIntersectionLSSHitValueNV
        | Op::RayQueryIsLSSHitNV => Capability::RayTracingLinearSweptSpheresGeometryNV,
        Op::FetchMicroTriangleVertexPositionNV | Op::FetchMicroTriangleVertexBarycentricNV => {
            Capability::DisplacementMicromapNV
        }
        Op::TypeCooperativeMatrixKHR => Capability::CooperativeMatrixKHR,
        Op::TypeCooperativeMatrixNV => Capability::CooperativeMatrixNV,
        Op::TypeVectorIdEXT => Capability::CooperativeVectorNV,
        Op::ConstantCompositeReplicateEXT
        | Op::SpecConstantCompositeReplicateEXT
        | Op::CompositeConstructReplicateEXT => Capability::ReplicatedCompositesEXT,
        Op::CooperativeMatrixReduceNV => Capability::CooperativeMatrixReductionsNV,
        Op::CooperativeMatrixPerElementOpNV => Capability::CooperativeMatrixPerElementOperationsNV,
        Op::CooperativeMatrixConvertNV | Op::CooperativeMatrixTransposeNV => Capability::CooperativeMatrixConversionsNV,
        Op::CooperativeMatrixLoadTensorNV | Op::CooperativeMatrixStoreTensorNV => {
            Capability::CooperativeMatrixTensorAddressingNV
        }
        Op::SubgroupBallotKHR | Op::SubgroupFirstInvocationKHR | Op::SubgroupReadInvocationKHR => {
            Capability::SubgroupBallotKHR
        }
        Op::SubgroupAllKHR | Op::SubgroupAnyKHR | Op::SubgroupAllEqualKHR => Capability::SubgroupVoteKHR,
        Op::GroupNonUniformRotateKHR => Capability::GroupNonUniformRotateKHR,
        Op::GroupNonUniformPartitionEXT => Capability::GroupNonUniformPartitionedEXT,
        _ => return None,
    })
}

const fn of_scalar(scalar: Scalar) -> Option<Capability> {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Sint | ScalarKind::Uint, 8) => Some(Capability::Int8),
        (ScalarKind::Sint | ScalarKind::Uint, 16) => Some(Capability::Int16),
        (ScalarKind::Sint | ScalarKind::Uint, 64) => Some(Capability::Int64),
        (ScalarKind::Float, 16) => Some(Capability::Float16),
        (ScalarKind::Float, 64) => Some(Capability::Float64),
        (ScalarKind::Encoded(Encoding::BFloat16), _) => Some(Capability::BFloat16TypeKHR),
        (ScalarKind::Encoded(Encoding::E4M3 | Encoding::E5M2), _) => Some(Capability::Float8EXT),
        _ => None,
    }
}

const fn of_built_in(built_in: BuiltIn) -> Option<Capability> {
    match built_in {
        BuiltIn::SubgroupSize | BuiltIn::SubgroupLocalInvocationId | BuiltIn::NumSubgroups | BuiltIn::SubgroupId => {
            Some(Capability::GroupNonUniform)
        }
        BuiltIn::SubgroupEqMask
        | BuiltIn::SubgroupGeMask
        | BuiltIn::SubgroupGtMask
        | BuiltIn::SubgroupLeMask
        | BuiltIn::SubgroupLtMask => Some(Capability::GroupNonUniformBallot),
        BuiltIn::ClipDistance => Some(Capability::ClipDistance),
        BuiltIn::CullDistance => Some(Capability::CullDistance),
        BuiltIn::BaseVertex | BuiltIn::BaseInstance | BuiltIn::DrawIndex => Some(Capability::DrawParameters),
        BuiltIn::ShadingRateKHR | BuiltIn::PrimitiveShadingRateKHR => Some(Capability::FragmentShadingRateKHR),
        BuiltIn::BaryCoordKHR | BuiltIn::BaryCoordNoPerspKHR => Some(Capability::FragmentBarycentricKHR),
        BuiltIn::ViewIndex => Some(Capability::MultiView),
        BuiltIn::SampleId | BuiltIn::SamplePosition => Some(Capability::SampleRateShading),
        BuiltIn::HitTriangleVertexPositionsKHR => Some(Capability::RayTracingPositionFetchKHR),
        BuiltIn::CullMaskKHR => Some(Capability::RayCullMaskKHR),
        BuiltIn::ClusterIDNV => Some(Capability::RayTracingClusterAccelerationStructureNV),
        BuiltIn::CurrentRayTimeNV => Some(Capability::RayTracingMotionBlurNV),
        BuiltIn::DeviceIndex => Some(Capability::DeviceGroup),
        BuiltIn::FragSizeEXT | BuiltIn::FragInvocationCountEXT => Some(Capability::FragmentDensityEXT),
        BuiltIn::FullyCoveredEXT => Some(Capability::FragmentFullyCoveredEXT),
        BuiltIn::FragStencilRefEXT => Some(Capability::StencilExportEXT),
        BuiltIn::ViewportMaskNV => Some(Capability::ShaderViewportMaskNV),
        BuiltIn::SecondaryPositionNV | BuiltIn::SecondaryViewportMaskNV => Some(Capability::ShaderStereoViewNV),
        BuiltIn::PositionPerViewNV | BuiltIn::ViewportMaskPerViewNV => Some(Capability::PerViewAttributesNV),
        BuiltIn::CoreIDARM
        | BuiltIn::CoreCountARM
        | BuiltIn::CoreMaxIDARM
        | BuiltIn::WarpIDARM
        | BuiltIn::WarpMaxIDARM => Some(Capability::CoreBuiltinsARM),
        BuiltIn::WarpIDNV | BuiltIn::SMIDNV | BuiltIn::WarpsPerSMNV | BuiltIn::SMCountNV => {
            Some(Capability::ShaderSMBuiltinsNV)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implied_capabilities_are_left_out() {
        let mut needs = Needs::new(Version::V1_3);
        needs.op(Op::GroupNonUniformElect);
        assert_eq!(needs.capabilities(), [Capability::Shader, Capability::GroupNonUniform].map(|c| c as u32));
        needs.op(Op::GroupNonUniformBallot);
        needs.op(Op::IAdd);
        assert_eq!(needs.capabilities(), [Capability::Shader, Capability::GroupNonUniformBallot].map(|c| c as u32));
    }

    #[test]
    fn numbers_that_no_table_knows_stay_numbers() {
        let mut needs = Needs::new(Version::V1_3);
        for number in [6912, 6912, Capability::StorageBuffer8BitAccess as u32] {
            needs.numbered_capability(number);
        }
        assert_eq!(needs.capabilities(), [1, Capability::StorageBuffer8BitAccess as u32, 6912]);
        assert_eq!(needs.extensions(), ["SPV_KHR_8bit_storage"]);
    }

    #[test]
    fn extensions_are_not_there_before_their_version() {
        for (version, late) in [(Version::V1_3, 1), (Version::V1_4, 0)] {
            let mut needs = Needs::new(version);
            needs.capability(Capability::MeshShadingEXT);
            assert_eq!(needs.take_late().len(), late);
            assert!(needs.take_late().is_empty());
        }
    }

    #[test]
    fn extensions_go_once_a_version_includes_them() {
        for (version, extensions) in [(Version::V1_3, 1), (Version::V1_6, 0)] {
            let mut needs = Needs::new(version);
            needs.capability(Capability::StorageBuffer8BitAccess);
            assert_eq!(needs.extensions().len(), extensions);
        }
    }
}
