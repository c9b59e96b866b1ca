//! The device extensions and features that a run enables: all that the device has and a shader can use.
//!
//! Every core feature of Vulkan 1.0 to 1.3 that the device reports is enabled, except robustness features, which would
//! hide out-of-bounds accesses. Extensions come from one table.

use std::ffi::CStr;
use std::ptr;

use ash::{amd, ext, khr, nv, vk};

/// An extension, and the structure that enables its features if it has one.
pub(super) struct Extension {
    name: &'static CStr,
    switches: Option<fn() -> Box<dyn vk::ExtendsPhysicalDeviceFeatures2>>,
}

macro_rules! extension {
    ($name:expr) => {
        Extension { name: $name, switches: None }
    };
    ($name:expr, $switches:ident) => {
        Extension { name: $name, switches: Some(|| Box::<vk::$switches<'static>>::default()) }
    };
}

/// The extensions enabled if the device has them.
static EXTENSIONS: &[Extension] = &[
    extension!(khr::shader_subgroup_rotate::NAME, PhysicalDeviceShaderSubgroupRotateFeaturesKHR),
    extension!(
        khr::shader_subgroup_uniform_control_flow::NAME,
        PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR
    ),
    extension!(khr::shader_maximal_reconvergence::NAME, PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR),
    extension!(khr::shader_quad_control::NAME, PhysicalDeviceShaderQuadControlFeaturesKHR),
    extension!(khr::shader_float_controls2::NAME, PhysicalDeviceShaderFloatControls2FeaturesKHR),
    extension!(khr::shader_expect_assume::NAME, PhysicalDeviceShaderExpectAssumeFeaturesKHR),
    extension!(khr::workgroup_memory_explicit_layout::NAME, PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR),
    extension!(khr::cooperative_matrix::NAME, PhysicalDeviceCooperativeMatrixFeaturesKHR),
    extension!(ext::shader_atomic_float::NAME, PhysicalDeviceShaderAtomicFloatFeaturesEXT),
    extension!(ext::shader_atomic_float2::NAME, PhysicalDeviceShaderAtomicFloat2FeaturesEXT),
    extension!(ext::shader_image_atomic_int64::NAME, PhysicalDeviceShaderImageAtomicInt64FeaturesEXT),
    extension!(khr::fragment_shader_barycentric::NAME, PhysicalDeviceFragmentShaderBarycentricFeaturesKHR),
    extension!(khr::fragment_shading_rate::NAME, PhysicalDeviceFragmentShadingRateFeaturesKHR),
    extension!(ext::mesh_shader::NAME, PhysicalDeviceMeshShaderFeaturesEXT),
    extension!(ext::shader_subgroup_ballot::NAME),
    extension!(ext::shader_subgroup_vote::NAME),
    extension!(nv::shader_subgroup_partitioned::NAME),
    extension!(amd::shader_ballot::NAME),
];

/// The extensions for ray tracing, enabled if the device is opened for it.
pub(super) static RAYS: &[Extension] = &[
    extension!(khr::deferred_host_operations::NAME),
    extension!(khr::acceleration_structure::NAME, PhysicalDeviceAccelerationStructureFeaturesKHR),
    extension!(khr::ray_tracing_pipeline::NAME, PhysicalDeviceRayTracingPipelineFeaturesKHR),
    extension!(khr::ray_query::NAME, PhysicalDeviceRayQueryFeaturesKHR),
    extension!(khr::ray_tracing_maintenance1::NAME, PhysicalDeviceRayTracingMaintenance1FeaturesKHR),
    extension!(khr::ray_tracing_position_fetch::NAME, PhysicalDeviceRayTracingPositionFetchFeaturesKHR),
];

/// The features of one device, ready for device creation.
pub(super) struct Features {
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    switches: Vec<Box<dyn vk::ExtendsPhysicalDeviceFeatures2>>,
    names: Vec<&'static CStr>,
}

impl Features {
    /// Queries the features of `physical`, a device of Vulkan 1.3 or later, including the extensions in `more`.
    pub(super) fn query(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        more: &'static [Extension],
    ) -> ash::prelude::VkResult<Self> {
        // SAFETY: `physical` comes from `instance`, which is live.
        let offered = unsafe { instance.enumerate_device_extension_properties(physical)? };
        let found = |name| offered.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
        let chosen: Vec<_> = EXTENSIONS.iter().chain(more).filter(|e| found(e.name)).collect();
        let mut features = Self {
            core: vk::PhysicalDeviceFeatures::default(),
            v11: vk::PhysicalDeviceVulkan11Features::default(),
            v12: vk::PhysicalDeviceVulkan12Features::default(),
            v13: vk::PhysicalDeviceVulkan13Features::default(),
            switches: chosen.iter().filter_map(|e| e.switches).map(|new| new()).collect(),
            names: chosen.iter().map(|e| e.name).collect(),
        };
        let mut head = features.chain();
        // SAFETY: the chain consists of live structures that belong to Vulkan 1.3 or to an offered extension.
        unsafe { instance.get_physical_device_features2(physical, &mut head) };
        features.core = head.features;
        features.drop_robustness();
        Ok(features)
    }

    /// The names of the extensions to enable.
    pub(super) fn extension_names(&self) -> Vec<*const std::ffi::c_char> {
        self.names.iter().map(|name| name.as_ptr()).collect()
    }

    /// Returns true if a pipeline may request a subgroup size.
    pub(super) fn subgroup_size_control(&self) -> bool {
        self.v13.subgroup_size_control != vk::FALSE
    }

    /// Returns true if a pipeline may request full subgroups.
    pub(super) fn full_subgroups(&self) -> bool {
        self.v13.compute_full_subgroups != vk::FALSE
    }

    /// All structures linked into one chain, which borrows `self`.
    pub(super) fn chain(&mut self) -> vk::PhysicalDeviceFeatures2<'_> {
        self.unlink();
        let mut head = vk::PhysicalDeviceFeatures2::default()
            .features(self.core)
            .push_next(&mut self.v11)
            .push_next(&mut self.v12)
            .push_next(&mut self.v13);
        for switch in &mut self.switches {
            head = head.push_next(switch.as_mut());
        }
        head
    }

    /// Unlinks an earlier chain: linking structures that still point to each other would create a cycle.
    fn unlink(&mut self) {
        self.v11.p_next = ptr::null_mut();
        self.v12.p_next = ptr::null_mut();
        self.v13.p_next = ptr::null_mut();
        for switch in &mut self.switches {
            let base: *mut vk::BaseOutStructure<'_> = ptr::from_mut(switch.as_mut()).cast();
            // SAFETY: every extensible Vulkan structure starts with the members of `BaseOutStructure`.
            unsafe { (*base).p_next = ptr::null_mut() };
        }
    }

    fn drop_robustness(&mut self) {
        self.core.robust_buffer_access = vk::FALSE;
        self.v13.robust_image_access = vk::FALSE;
    }
}
