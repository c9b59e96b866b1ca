//! One launch of a ray tracing pipeline, from bytes to bytes: the pipeline with its groups, the shader binding tables,
//! and the command.

use ash::{khr, vk};

use super::world::addressed;
use crate::device::{Launch, Resources};
use crosslane::ir::Stage;
use crosslane::run::RunError;
use crosslane::run::vulkan::Device;
use crosslane::run::vulkan::parts::{
    Block, Bound as _, Commands, Guard, Layout, Resources as _, Sets, entry_name, refuse, run_failure, shader_module,
    specialization,
};

/// The parts that all shaders of a launch share, and the shader that generates rays.
pub struct Common<'a> {
    pub generation: &'a [u32],
    pub push_constants: &'a [u8],
    pub spec_constants: &'a [(u32, u32)],
}

/// Maximum depth of recursive rays.
const DEPTH: u32 = 4;

/// Launches once with `resources` bound, waits for the end, and updates them with what was stored.
pub fn trace(device: &Device, common: &Common<'_>, launch: &Launch, resources: &mut Resources) -> Result<(), RunError> {
    device.check_free()?;
    let stages = Stage::ALL.into_iter().filter(|stage| stage.is_of_rays()).map(stage_flag);
    let stages = stages.fold(vk::ShaderStageFlags::empty(), |all, stage| all | stage);
    let layout = Layout::new(device, stages, resources.slots(), common.push_constants.len())?;
    let bound = resources.bind(device)?;
    let push_constants = bound.push_constants(common.push_constants, resources)?;
    let sets = Sets::new(&layout, bound.held())?;
    let pipeline = pipeline(&layout, common, launch)?;
    let tables = Tables::new(device, pipeline.get(), launch)?;
    let commands = Commands::new(device)?;
    bound.load(&commands);
    commands.barrier();
    let point = vk::PipelineBindPoint::RAY_TRACING_KHR;
    sets.record(&commands, &layout, point, &push_constants);
    // SAFETY: the buffer is recording and the pipeline live.
    unsafe { device.raw().cmd_bind_pipeline(commands.buffer, point, pipeline.get()) };
    tables.launch(&commands, launch.size);
    commands.barrier();
    bound.save(&commands);
    commands.barrier();
    commands.finish()?;
    bound.download(resources);
    Ok(())
}

fn functions(device: &Device) -> khr::ray_tracing_pipeline::Device {
    khr::ray_tracing_pipeline::Device::new(device.physical().0, device.raw())
}

/// The flag for a stage of such a pipeline; no flag for others.
fn stage_flag(stage: Stage) -> vk::ShaderStageFlags {
    match stage {
        Stage::RayGeneration => vk::ShaderStageFlags::RAYGEN_KHR,
        Stage::Intersection => vk::ShaderStageFlags::INTERSECTION_KHR,
        Stage::AnyHit => vk::ShaderStageFlags::ANY_HIT_KHR,
        Stage::ClosestHit => vk::ShaderStageFlags::CLOSEST_HIT_KHR,
        Stage::Miss => vk::ShaderStageFlags::MISS_KHR,
        Stage::Callable => vk::ShaderStageFlags::CALLABLE_KHR,
        _ => vk::ShaderStageFlags::empty(),
    }
}

/// The pipeline. Its first shader and group are for ray generation; the other groups are those of the miss, hit and
/// callable tables.
fn pipeline<'d>(
    layout: &Layout<'d>,
    common: &Common<'_>,
    launch: &Launch,
) -> Result<Guard<'d, vk::Pipeline>, RunError> {
    let device = layout.device;
    let (entries, values) = specialization(common.spec_constants);
    let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&values);
    let others = launch.shaders.iter().map(|shader| (shader.ending.as_str(), shader.spirv.as_slice()));
    let shaders: Vec<_> = [(Stage::RayGeneration.ending(), common.generation)].into_iter().chain(others).collect();
    let modules = shaders.iter().map(|(_, spirv)| shader_module(device, spirv)).collect::<Result<Vec<_>, _>>()?;
    let name = entry_name("main")?;
    let mut stages = Vec::new();
    for ((ending, _), module) in shaders.iter().zip(&modules) {
        let Some(stage) = Stage::named(ending) else { return refuse(format!("no stage `{ending}`")) };
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(stage_flag(stage)).module(module.get());
        stages.push(stage.name(&name).specialization_info(&constants));
    }
    let groups = groups(launch);
    let create = vk::RayTracingPipelineCreateInfoKHR::default()
        .stages(&stages)
        .groups(&groups)
        .max_pipeline_ray_recursion_depth(DEPTH)
        .layout(layout.pipeline.get());
    let (later, cache) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
    // SAFETY: all that `create` points to outlives the call.
    let made = unsafe { functions(device).create_ray_tracing_pipelines(later, cache, &[create], None) };
    let pipelines = made.map_err(|(_, code)| run_failure("vkCreateRayTracingPipelinesKHR")(code))?;
    // SAFETY: the guard is the only owner; one pipeline was requested.
    Ok(Guard::new(device, pipelines[0], |d, h| unsafe { d.destroy_pipeline(h, None) }))
}

/// The groups, in the order of [`pipeline`].
fn groups(launch: &Launch) -> Vec<vk::RayTracingShaderGroupCreateInfoKHR<'static>> {
    // The first shader of the pipeline generates rays.
    let place = |stage: Stage, number| {
        launch.place(stage.ending(), number).map_or(vk::SHADER_UNUSED_KHR, |place| place as u32 + 1)
    };
    let unused = vk::RayTracingShaderGroupCreateInfoKHR::default()
        .general_shader(vk::SHADER_UNUSED_KHR)
        .closest_hit_shader(vk::SHADER_UNUSED_KHR)
        .any_hit_shader(vk::SHADER_UNUSED_KHR)
        .intersection_shader(vk::SHADER_UNUSED_KHR);
    let general = |shader| unused.ty(vk::RayTracingShaderGroupTypeKHR::GENERAL).general_shader(shader);
    let of = |stage: Stage| (0..launch.count(stage.ending())).map(move |number| general(place(stage, number)));
    let hit = |number| {
        let intersection = place(Stage::Intersection, number);
        let kind = match intersection {
            vk::SHADER_UNUSED_KHR => vk::RayTracingShaderGroupTypeKHR::TRIANGLES_HIT_GROUP,
            _ => vk::RayTracingShaderGroupTypeKHR::PROCEDURAL_HIT_GROUP,
        };
        let group = unused.ty(kind).intersection_shader(intersection);
        group.closest_hit_shader(place(Stage::ClosestHit, number)).any_hit_shader(place(Stage::AnyHit, number))
    };
    let first = [general(0)].into_iter();
    first.chain(of(Stage::Miss)).chain((0..launch.groups()).map(hit)).chain(of(Stage::Callable)).collect()
}

/// Words of the data in a record: four integers, then floats.
const RECORD: u32 = 16;

/// The word of a record's data; all are different.
fn word(table: u32, record: u32, index: u32) -> u32 {
    match index {
        0..4 => (table + 1) * 1000 + record * 16 + index,
        _ => ((table * 64 + record * 2) as f32 + index as f32 * 0.0625).to_bits(),
    }
}

/// A shader binding table: for ray generation, misses, hits or callables.
struct Table<'d> {
    block: Option<Block<'d>>,
    region: vk::StridedDeviceAddressRegionKHR,
}

struct Tables<'d>([Table<'d>; 4]);

impl<'d> Tables<'d> {
    fn new(device: &'d Device, pipeline: vk::Pipeline, launch: &Launch) -> Result<Self, RunError> {
        let (misses, calls) = (launch.count(Stage::Miss.ending()), launch.count(Stage::Callable.ending()));
        let first_hit = 1 + misses;
        let first_call = first_hit + launch.groups();
        let handles = Handles::new(device, pipeline, first_call + calls)?;
        Ok(Self([
            handles.table(device, 0, &[0])?,
            handles.table(device, 1, &(1..first_hit).collect::<Vec<_>>())?,
            handles.table(device, 2, &launch.hits.iter().map(|group| first_hit + group).collect::<Vec<_>>())?,
            handles.table(device, 3, &(first_call..first_call + calls).collect::<Vec<_>>())?,
        ]))
    }

    fn launch(&self, commands: &Commands<'_>, [x, y, z]: [u32; 3]) {
        let [start, miss, hit, call] = &self.0;
        debug_assert!(start.block.is_some(), "a launch begins with a record");
        let (device, buffer) = (commands.device, commands.buffer);
        // SAFETY: the buffer is recording; a pipeline with its resources is bound, and the tables contain its groups.
        unsafe {
            functions(device).cmd_trace_rays(buffer, &start.region, &miss.region, &hit.region, &call.region, x, y, z);
        }
    }
}

/// The handles of a pipeline's groups.
struct Handles {
    size: usize,
    alignment: u64,
    bytes: Vec<u8>,
}

impl Handles {
    fn new(device: &Device, pipeline: vk::Pipeline, count: u32) -> Result<Self, RunError> {
        let mut limits = vk::PhysicalDeviceRayTracingPipelinePropertiesKHR::default();
        let mut head = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
        let (instance, physical) = device.physical();
        // SAFETY: the device supports the extension.
        unsafe { instance.get_physical_device_properties2(physical, &mut head) };
        let size = limits.shader_group_handle_size as usize;
        // SAFETY: the pipeline has this many groups.
        let bytes = unsafe {
            functions(device).get_ray_tracing_shader_group_handles(pipeline, 0, count, size * count as usize)
        };
        let bytes = bytes.map_err(run_failure("vkGetRayTracingShaderGroupHandlesKHR"))?;
        Ok(Self { size, alignment: limits.shader_group_base_alignment.into(), bytes })
    }

    /// A table with a record for each of `groups`.
    fn table<'d>(&self, device: &'d Device, table: u32, groups: &[u32]) -> Result<Table<'d>, RunError> {
        if groups.is_empty() {
            return Ok(Table { block: None, region: vk::StridedDeviceAddressRegionKHR::default() });
        }
        let stride = (self.size + RECORD as usize * 4).next_multiple_of(self.alignment as usize);
        let record = |(record, group): (u32, &u32)| {
            let handle = &self.bytes[*group as usize * self.size..][..self.size];
            let data = (0..RECORD).flat_map(move |index| word(table, record, index).to_le_bytes());
            let bytes = handle.iter().copied().chain(data).chain(std::iter::repeat(0));
            bytes.take(stride).collect::<Vec<u8>>()
        };
        let data: Vec<u8> = (0..).zip(groups).flat_map(record).collect();
        let block = addressed(device, vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR, &data)?;
        // SAFETY: `addressed` made it.
        let address = unsafe { block.address(device) };
        if !address.is_multiple_of(self.alignment) {
            return refuse("its buffers do not begin where tables of records may");
        }
        let region = vk::StridedDeviceAddressRegionKHR::default().device_address(address).stride(stride as u64);
        Ok(Table { block: Some(block), region: region.size(data.len() as u64) })
    }
}
