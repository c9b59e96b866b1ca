//! Opens a Vulkan device and runs compute modules on it.
//!
//! The loader library is opened at run time, so a program built with this feature still starts on a machine without
//! Vulkan. The first device with Vulkan 1.3 and a compute queue is used. The loader's own variables, such as
//! `VK_ICD_FILENAMES`, select drivers.

mod bound;
mod command;
mod dispatch;
mod features;
mod guard;
mod kernel;
mod layout;
mod memory;

use std::cell::Cell;
use std::ffi::CStr;
use std::mem::ManuallyDrop;

use ash::vk;

use self::features::{Extension, Features};
pub use self::kernel::Kernel;
use self::parts::Resources;
use super::{Job, OpenError, RunError};

/// The parts of a run, for programs that bind more than buffers or record their own commands. Their signatures contain
/// types of `ash` and follow its versions.
pub mod parts {
    pub use super::bound::{Blocks, Bound, Held, Resources, Sets};
    pub use super::command::Commands;
    pub use super::guard::Guard;
    pub use super::kernel::{compute_pipeline, entry_name, shader_module, specialization};
    pub use super::layout::{Layout, Slot, refuse};
    pub use super::memory::{Block, allocate};
    pub use super::run_failure;
}

/// The minimum Vulkan version of a device: the first that accepts SPIR-V 1.6.
const LEAST_VERSION: u32 = vk::API_VERSION_1_3;

/// The name of each bit of `VkSubgroupFeatureFlagBits`.
static OPERATIONS: &[(vk::SubgroupFeatureFlags, &str)] = &[
    (vk::SubgroupFeatureFlags::BASIC, "basic"),
    (vk::SubgroupFeatureFlags::VOTE, "vote"),
    (vk::SubgroupFeatureFlags::ARITHMETIC, "arithmetic"),
    (vk::SubgroupFeatureFlags::BALLOT, "ballot"),
    (vk::SubgroupFeatureFlags::SHUFFLE, "shuffle"),
    (vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE, "shuffle_relative"),
    (vk::SubgroupFeatureFlags::CLUSTERED, "clustered"),
    (vk::SubgroupFeatureFlags::QUAD, "quad"),
    (vk::SubgroupFeatureFlags::PARTITIONED_NV, "partitioned"),
    (vk::SubgroupFeatureFlags::ROTATE_KHR, "rotate"),
    (vk::SubgroupFeatureFlags::ROTATE_CLUSTERED_KHR, "rotate_clustered"),
];

/// A device's description of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The device's name.
    pub name: String,
    /// The name and version of the driver, as it reports them.
    pub driver: String,
    /// The Vulkan version: major, minor, patch.
    pub api_version: (u32, u32, u32),
    /// `gl_SubgroupSize` if a pipeline requests no other size.
    pub subgroup_size: u32,
    /// The minimum and maximum subgroup size that a pipeline may request.
    pub subgroup_sizes: (u32, u32),
    /// The groups of subgroup operations that compute shaders can use (`VkSubgroupFeatureFlagBits`, in lower case).
    pub operations: Vec<&'static str>,
}

/// The loader and an instance created through it.
struct Instance {
    raw: ash::Instance,
    /// Keeps the loader's library open.
    _entry: ash::Entry,
}

impl Instance {
    fn new() -> Result<Self, OpenError> {
        // SAFETY: loading the system's Vulkan loader runs its initialisers, as intended.
        let entry = unsafe { ash::Entry::load() }.map_err(|e| OpenError::NoLoader(e.to_string()))?;
        let application = vk::ApplicationInfo::default().application_name(c"crosslane").api_version(LEAST_VERSION);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: `create` and everything it points to outlive the call.
        match unsafe { entry.create_instance(&create, None) } {
            Ok(raw) => Ok(Self { raw, _entry: entry }),
            Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => Err(OpenError::NoDevice(Vec::new())),
            Err(code) => Err(open_failure("vkCreateInstance")(code)),
        }
    }

    /// The first suitable device, or the missing features of each device.
    fn choose(&self) -> Result<(vk::PhysicalDevice, u32), OpenError> {
        // SAFETY: the instance is live.
        let devices = unsafe { self.raw.enumerate_physical_devices() };
        let mut lacking = Vec::new();
        for physical in devices.map_err(open_failure("vkEnumeratePhysicalDevices"))? {
            match self.compute_family(physical) {
                Ok(family) => return Ok((physical, family)),
                Err(why) => lacking.push(why),
            }
        }
        Err(OpenError::NoDevice(lacking))
    }

    fn compute_family(&self, physical: vk::PhysicalDevice) -> Result<u32, String> {
        // SAFETY: `physical` comes from this instance.
        let properties = unsafe { self.raw.get_physical_device_properties(physical) };
        let name = text(&properties.device_name);
        if properties.api_version < LEAST_VERSION {
            let (major, minor, _) = version(properties.api_version);
            return Err(format!("{name}, which has only Vulkan {major}.{minor}"));
        }
        // SAFETY: `physical` comes from this instance.
        let families = unsafe { self.raw.get_physical_device_queue_family_properties(physical) };
        let has = |flags| families.iter().position(|family| family.queue_flags.contains(flags));
        let family = has(vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS).or_else(|| has(vk::QueueFlags::COMPUTE));
        family.map(|index| index as u32).ok_or_else(|| format!("{name}, which has no compute queue"))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: everything created from the instance is gone: `Device` drops its own handle first.
        unsafe { self.raw.destroy_instance(None) };
    }
}

/// An open device with one queue, for compute and, if possible, for drawing.
pub struct Device {
    physical: vk::PhysicalDevice,
    raw: ash::Device,
    queue: vk::Queue,
    family: u32,
    memory: vk::PhysicalDeviceMemoryProperties,
    limits: vk::PhysicalDeviceLimits,
    info: DeviceInfo,
    graphics: bool,
    size_control: bool,
    full_subgroups: bool,
    /// Set if a shader did not finish: nothing can be freed or started any more.
    stuck: Cell<bool>,
    /// Freed by hand, after the device and only if that was.
    instance: ManuallyDrop<Instance>,
}

impl Device {
    /// Opens the first device that the loader offers with Vulkan 1.3 and a compute queue.
    ///
    /// # Errors
    /// Returns [`OpenError`] if there is no loader, no such device, or the driver fails.
    pub fn open() -> Result<Self, OpenError> {
        Self::open_with(&[])
    }

    /// Opens such a device and enables acceleration structures, ray tracing pipelines and ray queries, if the device
    /// has them.
    ///
    /// # Errors
    /// Like [`Device::open`].
    pub fn open_for_rays() -> Result<Self, OpenError> {
        Self::open_with(features::RAYS)
    }

    fn open_with(more: &'static [Extension]) -> Result<Self, OpenError> {
        let instance = Instance::new()?;
        let (physical, family) = instance.choose()?;
        let mut features = Features::query(&instance.raw, physical, more)
            .map_err(open_failure("vkEnumerateDeviceExtensionProperties"))?;
        let raw = create_device(&instance.raw, physical, family, &mut features)?;
        // SAFETY: `raw` was created with one queue of `family`; `physical` comes from `instance`.
        let (queue, memory, properties, families) = unsafe {
            (
                raw.get_device_queue(family, 0),
                instance.raw.get_physical_device_memory_properties(physical),
                instance.raw.get_physical_device_properties(physical),
                instance.raw.get_physical_device_queue_family_properties(physical),
            )
        };
        Ok(Self {
            physical,
            graphics: families[family as usize].queue_flags.contains(vk::QueueFlags::GRAPHICS),
            queue,
            family,
            memory,
            limits: properties.limits,
            info: describe(&instance.raw, physical),
            size_control: features.subgroup_size_control(),
            full_subgroups: features.full_subgroups(),
            stuck: Cell::new(false),
            raw,
            instance: ManuallyDrop::new(instance),
        })
    }

    /// The device's description of itself.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Compiles `job`'s module for resources in the places of `resources`, to run it more than once.
    ///
    /// # Errors
    /// Returns [`RunError`] if the device cannot run the job or the driver refuses the module.
    pub fn prepare(&self, job: &Job<'_>, resources: &impl Resources) -> Result<Kernel<'_>, RunError> {
        Kernel::new(self, job, resources)
    }

    /// Runs `job` once with `resources` bound, waits for it to finish, and copies the results back to the resources.
    ///
    /// # Errors
    /// Returns [`RunError`]; the resources are then unchanged.
    pub fn run(&self, job: &Job<'_>, resources: &mut impl Resources) -> Result<(), RunError> {
        self.prepare(job, resources)?.run(job.groups, job.push_constants, resources)
    }

    /// The device's functions.
    pub fn raw(&self) -> &ash::Device {
        &self.raw
    }

    /// The instance's functions, and the physical device.
    pub fn physical(&self) -> (&ash::Instance, vk::PhysicalDevice) {
        (&self.instance.raw, self.physical)
    }

    /// Returns true if its queue can draw.
    pub fn can_draw(&self) -> bool {
        self.graphics
    }

    /// Returns an error if the device can no longer start work.
    ///
    /// # Errors
    /// Returns [`RunError::Refused`] if an earlier shader did not finish.
    pub fn check_free(&self) -> Result<(), RunError> {
        if self.stuck.get() { layout::refuse("an earlier shader never ended") } else { Ok(()) }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.stuck.get() {
            return;
        }
        // SAFETY: each run waits for its own end, so nothing is in flight, and everything else created from the device
        // is gone.
        unsafe {
            self.raw.destroy_device(None);
            ManuallyDrop::drop(&mut self.instance);
        }
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("info", &self.info).finish_non_exhaustive()
    }
}

fn create_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: u32,
    features: &mut Features,
) -> Result<ash::Device, OpenError> {
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let names = features.extension_names();
    let mut chain = features.chain();
    let create = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut chain);
    // SAFETY: `physical` comes from `instance`; everything that `create` points to outlives the call.
    unsafe { instance.create_device(physical, &create, None) }.map_err(open_failure("vkCreateDevice"))
}

fn describe(instance: &ash::Instance, physical: vk::PhysicalDevice) -> DeviceInfo {
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut head =
        vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup).push_next(&mut sizes).push_next(&mut driver);
    // SAFETY: every structure of the chain belongs to Vulkan 1.3.
    unsafe { instance.get_physical_device_properties2(physical, &mut head) };
    let properties = head.properties;
    DeviceInfo {
        name: text(&properties.device_name),
        driver: format!("{} {}", text(&driver.driver_name), text(&driver.driver_info)),
        api_version: version(properties.api_version),
        subgroup_size: subgroup.subgroup_size,
        subgroup_sizes: (sizes.min_subgroup_size, sizes.max_subgroup_size),
        operations: operation_names(&subgroup),
    }
}

fn operation_names(subgroup: &vk::PhysicalDeviceSubgroupProperties<'_>) -> Vec<&'static str> {
    if !subgroup.supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
        return Vec::new();
    }
    OPERATIONS.iter().filter(|(bit, _)| subgroup.supported_operations.contains(*bit)).map(|(_, name)| *name).collect()
}

fn version(packed: u32) -> (u32, u32, u32) {
    (vk::api_version_major(packed), vk::api_version_minor(packed), vk::api_version_patch(packed))
}

/// A fixed-size, zero-terminated character field as text.
fn text(field: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = field.iter().map(|&c| c as u8).collect();
    CStr::from_bytes_until_nul(&bytes).map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

fn open_failure(call: &'static str) -> impl Fn(vk::Result) -> OpenError {
    move |code| OpenError::Driver(call, code.to_string())
}

/// The error of a call that failed.
pub fn run_failure(call: &'static str) -> impl Fn(vk::Result) -> RunError {
    move |code| RunError::Driver(call, code.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stops_at_the_first_zero() {
        let field = [b'a', b'b', 0, b'c'].map(|b| b as std::ffi::c_char);
        assert_eq!(text(&field), "ab");
        assert_eq!(text(&field[..2]), "", "a field without its zero is not trusted");
    }

    #[test]
    fn operations_need_the_compute_stage() {
        let all = vk::SubgroupFeatureFlags::BASIC | vk::SubgroupFeatureFlags::ROTATE_KHR;
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties { supported_operations: all, ..Default::default() };
        assert!(operation_names(&subgroup).is_empty());
        subgroup.supported_stages = vk::ShaderStageFlags::COMPUTE;
        assert_eq!(operation_names(&subgroup), ["basic", "rotate"]);
    }

    #[test]
    fn errors_say_what_was_looked_for() {
        assert!(OpenError::NoLoader("missing".into()).to_string().contains("libvulkan.so.1"));
        assert!(OpenError::NoDevice(vec![]).to_string().contains("Vulkan 1.3"));
        let old = OpenError::NoDevice(vec!["Old, which has only Vulkan 1.1".into()]).to_string();
        assert!(old.ends_with("found Old, which has only Vulkan 1.1"), "{old}");
    }
}
