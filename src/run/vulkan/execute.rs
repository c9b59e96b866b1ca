//! One dispatch, from checked job to results read back.
//!
//! Each step makes one kind of object and returns its owner; the owners are dropped in reverse at the end of
//! [`run`]. A shader that does not end within [`LIMIT`] leaves its objects and its device leaked: freeing what a
//! driver still uses is undefined.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::time::Duration;

use ash::vk;

use super::guard::Guard;
use super::{Device, run_failure};
use crate::run::{BufferBinding, BufferKind, Job, RunError};

/// How long a dispatch may take.
const LIMIT: Duration = Duration::from_secs(60);

/// A buffer, its memory, and where that memory lies for the host.
struct Block<'d> {
    buffer: Guard<'d, vk::Buffer>,
    memory: Guard<'d, vk::DeviceMemory>,
    host: *mut u8,
    length: usize,
}

/// The pipeline and what it was made from.
struct Program<'d> {
    sets: Vec<Guard<'d, vk::DescriptorSetLayout>>,
    layout: Guard<'d, vk::PipelineLayout>,
    pipeline: Guard<'d, vk::Pipeline>,
}

pub(super) fn run(device: &Device, job: &Job<'_>, buffers: &mut [BufferBinding]) -> Result<(), RunError> {
    check(device, job, buffers)?;
    let blocks = buffers.iter().map(|b| upload(device, b)).collect::<Result<Vec<_>, _>>()?;
    let program = build(device, job, buffers)?;
    let pool = descriptor_pool(device, buffers, program.sets.len())?;
    let sets = write_descriptors(device, &program, pool.get(), buffers, &blocks)?;
    let commands = command_pool(device)?;
    let recorded = record(device, job, &program, &sets, commands.get())?;
    if !submit_and_wait(device, recorded)? {
        blocks.into_iter().for_each(Block::leak);
        program.leak();
        pool.leak();
        commands.leak();
        return Err(RunError::Timeout(LIMIT.as_secs()));
    }
    for (block, binding) in blocks.iter().zip(buffers) {
        block.download(&mut binding.data);
    }
    Ok(())
}

impl Block<'_> {
    fn download(&self, data: &mut [u8]) {
        // SAFETY: `host` maps at least `length` bytes of coherent memory that no shader is writing any more.
        unsafe { std::ptr::copy_nonoverlapping(self.host, data.as_mut_ptr(), self.length) };
    }

    fn leak(self) {
        self.buffer.leak();
        self.memory.leak();
    }
}

impl Program<'_> {
    fn leak(self) {
        self.sets.into_iter().for_each(Guard::leak);
        self.layout.leak();
        self.pipeline.leak();
    }
}

fn refuse<T>(why: impl Into<String>) -> Result<T, RunError> {
    Err(RunError::Refused(why.into()))
}

/// Refuses what Vulkan leaves undefined and the host can see.
fn check(device: &Device, job: &Job<'_>, buffers: &[BufferBinding]) -> Result<(), RunError> {
    if device.stuck.get() {
        return refuse("an earlier shader never ended");
    }
    check_groups(device, job)?;
    check_subgroups(device, job)?;
    check_buffers(device, buffers)?;
    let size = job.push_constants.len();
    if size % 4 != 0 || size > device.limits.max_push_constants_size as usize {
        return refuse(format!(
            "{size} bytes of push constants; it takes a multiple of 4 up to {}",
            device.limits.max_push_constants_size
        ));
    }
    Ok(())
}

fn check_groups(device: &Device, job: &Job<'_>) -> Result<(), RunError> {
    let most = device.limits.max_compute_work_group_count;
    match job.groups.iter().zip(most).find(|(asked, most)| *asked > most) {
        Some((asked, most)) => refuse(format!("{asked} workgroups in one dimension; it takes {most}")),
        None => Ok(()),
    }
}

fn check_subgroups(device: &Device, job: &Job<'_>) -> Result<(), RunError> {
    if job.full_subgroups && !device.full_subgroups {
        return refuse("it cannot promise full subgroups");
    }
    let Some(size) = job.required_subgroup_size else { return Ok(()) };
    let (least, most) = device.info.subgroup_sizes;
    if !device.size_control || !size.is_power_of_two() || size < least || size > most {
        return refuse(format!("subgroups of {size}; it has {least} to {most}"));
    }
    Ok(())
}

fn check_buffers(device: &Device, buffers: &[BufferBinding]) -> Result<(), RunError> {
    let most = device.limits.max_bound_descriptor_sets;
    let mut seen = BTreeMap::new();
    for (index, buffer) in buffers.iter().enumerate() {
        let (set, binding) = (buffer.set, buffer.binding);
        if set >= most {
            return refuse(format!("descriptor set {set}; it has {most}"));
        }
        if seen.insert((set, binding), index).is_some() {
            return refuse(format!("set {set}, binding {binding} is bound twice"));
        }
    }
    Ok(())
}

fn usage(kind: BufferKind) -> vk::BufferUsageFlags {
    match kind {
        BufferKind::Storage => vk::BufferUsageFlags::STORAGE_BUFFER,
        BufferKind::Uniform => vk::BufferUsageFlags::UNIFORM_BUFFER,
    }
}

fn descriptor_type(kind: BufferKind) -> vk::DescriptorType {
    match kind {
        BufferKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BufferKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
    }
}

/// A buffer in memory that host and device both see, filled with the binding's bytes.
fn upload<'d>(device: &'d Device, binding: &BufferBinding) -> Result<Block<'d>, RunError> {
    let raw = &device.raw;
    let length = binding.data.len();
    // Vulkan has no empty buffers.
    let create = vk::BufferCreateInfo::default().size(length.max(4) as u64).usage(usage(binding.kind));
    // SAFETY: `create` is complete.
    let handle = unsafe { raw.create_buffer(&create, None) }.map_err(run_failure("vkCreateBuffer"))?;
    // SAFETY: the guard is the only owner.
    let buffer = Guard::new(raw, handle, |d, h| unsafe { d.destroy_buffer(h, None) });
    let memory = allocate(device, handle)?;
    // SAFETY: the memory fits the buffer, is host-visible, and is mapped once.
    let host = unsafe {
        raw.bind_buffer_memory(handle, memory.get(), 0).map_err(run_failure("vkBindBufferMemory"))?;
        raw.map_memory(memory.get(), 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
            .map_err(run_failure("vkMapMemory"))?
            .cast::<u8>()
    };
    // SAFETY: `host` maps at least `length` bytes that nothing else uses yet.
    unsafe { std::ptr::copy_nonoverlapping(binding.data.as_ptr(), host, length) };
    Ok(Block { buffer, memory, host, length })
}

fn allocate(device: &Device, buffer: vk::Buffer) -> Result<Guard<'_, vk::DeviceMemory>, RunError> {
    let raw = &device.raw;
    // SAFETY: `buffer` is alive and belongs to the device.
    let needs = unsafe { raw.get_buffer_memory_requirements(buffer) };
    let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let types = device.memory.memory_types_as_slice();
    let fits = |(index, kind): (usize, &vk::MemoryType)| {
        (needs.memory_type_bits >> index & 1 == 1 && kind.property_flags.contains(wanted)).then_some(index as u32)
    };
    let Some(index) = types.iter().enumerate().find_map(fits) else {
        return refuse("it has no memory that the host can see");
    };
    let create = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
    // SAFETY: `create` is complete.
    let handle = unsafe { raw.allocate_memory(&create, None) }.map_err(run_failure("vkAllocateMemory"))?;
    // SAFETY: the guard is the only owner; freeing unmaps.
    Ok(Guard::new(raw, handle, |d, h| unsafe { d.free_memory(h, None) }))
}

fn build<'d>(device: &'d Device, job: &Job<'_>, buffers: &[BufferBinding]) -> Result<Program<'d>, RunError> {
    let sets = set_layouts(device, buffers)?;
    let layout = pipeline_layout(device, &sets, job.push_constants.len() as u32)?;
    let pipeline = pipeline(device, job, layout.get())?;
    Ok(Program { sets, layout, pipeline })
}

/// One layout for each set from 0 to the highest used; sets between may be empty.
fn set_layouts<'d>(
    device: &'d Device,
    buffers: &[BufferBinding],
) -> Result<Vec<Guard<'d, vk::DescriptorSetLayout>>, RunError> {
    let count = buffers.iter().map(|b| b.set + 1).max().unwrap_or(0);
    (0..count).map(|set| set_layout(device, buffers.iter().filter(|b| b.set == set))).collect()
}

fn set_layout<'d, 'b>(
    device: &'d Device,
    buffers: impl Iterator<Item = &'b BufferBinding>,
) -> Result<Guard<'d, vk::DescriptorSetLayout>, RunError> {
    let bindings: Vec<_> = buffers
        .map(|b| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(b.binding)
                .descriptor_type(descriptor_type(b.kind))
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        })
        .collect();
    let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the bindings are distinct (`check_buffers`).
    let handle = unsafe { device.raw.create_descriptor_set_layout(&create, None) }
        .map_err(run_failure("vkCreateDescriptorSetLayout"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(&device.raw, handle, |d, h| unsafe { d.destroy_descriptor_set_layout(h, None) }))
}

fn pipeline_layout<'d>(
    device: &'d Device,
    sets: &[Guard<'d, vk::DescriptorSetLayout>],
    push_size: u32,
) -> Result<Guard<'d, vk::PipelineLayout>, RunError> {
    let handles: Vec<_> = sets.iter().map(Guard::get).collect();
    let range = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push_size)];
    let ranges = if push_size == 0 { &[][..] } else { &range[..] };
    let create = vk::PipelineLayoutCreateInfo::default().set_layouts(&handles).push_constant_ranges(ranges);
    // SAFETY: the set layouts are alive; the range is within the device's limit (`check`).
    let handle =
        unsafe { device.raw.create_pipeline_layout(&create, None) }.map_err(run_failure("vkCreatePipelineLayout"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(&device.raw, handle, |d, h| unsafe { d.destroy_pipeline_layout(h, None) }))
}

fn shader_module<'d>(device: &'d Device, spirv: &[u32]) -> Result<Guard<'d, vk::ShaderModule>, RunError> {
    let create = vk::ShaderModuleCreateInfo::default().code(spirv);
    // SAFETY: the words are the caller's promise of a valid module.
    let handle =
        unsafe { device.raw.create_shader_module(&create, None) }.map_err(run_failure("vkCreateShaderModule"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(&device.raw, handle, |d, h| unsafe { d.destroy_shader_module(h, None) }))
}

fn pipeline<'d>(
    device: &'d Device,
    job: &Job<'_>,
    layout: vk::PipelineLayout,
) -> Result<Guard<'d, vk::Pipeline>, RunError> {
    let module = shader_module(device, job.spirv)?;
    let Ok(entry) = CString::new(job.entry) else { return refuse("the entry point's name holds a zero byte") };
    let (entries, values) = specialization(job.spec_constants);
    let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&values);
    let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
        .required_subgroup_size(job.required_subgroup_size.unwrap_or(0));
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module.get())
        .name(&entry)
        .specialization_info(&constants);
    if job.required_subgroup_size.is_some() {
        stage = stage.push_next(&mut size);
    }
    if job.full_subgroups {
        stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
    }
    let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: all that `create` points to outlives the call.
    let made = unsafe { device.raw.create_compute_pipelines(vk::PipelineCache::null(), &create, None) };
    let pipelines = made.map_err(|(_, code)| run_failure("vkCreateComputePipelines")(code))?;
    // SAFETY: the guard is the only owner; one pipeline was asked for.
    Ok(Guard::new(&device.raw, pipelines[0], |d, h| unsafe { d.destroy_pipeline(h, None) }))
}

fn specialization(constants: &[(u32, u32)]) -> (Vec<vk::SpecializationMapEntry>, Vec<u8>) {
    let entry = |(index, &(id, _)): (usize, &(u32, u32))| {
        vk::SpecializationMapEntry::default().constant_id(id).offset(index as u32 * 4).size(4)
    };
    let entries = constants.iter().enumerate().map(entry).collect();
    (entries, constants.iter().flat_map(|(_, value)| value.to_ne_bytes()).collect())
}

fn descriptor_pool<'d>(
    device: &'d Device,
    buffers: &[BufferBinding],
    sets: usize,
) -> Result<Guard<'d, vk::DescriptorPool>, RunError> {
    let size = |kind| {
        let count = buffers.iter().filter(|b| b.kind == kind).count().max(1);
        vk::DescriptorPoolSize::default().ty(descriptor_type(kind)).descriptor_count(count as u32)
    };
    let sizes = [size(BufferKind::Storage), size(BufferKind::Uniform)];
    let create = vk::DescriptorPoolCreateInfo::default().max_sets(sets.max(1) as u32).pool_sizes(&sizes);
    // SAFETY: `create` is complete.
    let handle =
        unsafe { device.raw.create_descriptor_pool(&create, None) }.map_err(run_failure("vkCreateDescriptorPool"))?;
    // SAFETY: the guard is the only owner; its sets go with it.
    Ok(Guard::new(&device.raw, handle, |d, h| unsafe { d.destroy_descriptor_pool(h, None) }))
}

fn write_descriptors(
    device: &Device,
    program: &Program<'_>,
    pool: vk::DescriptorPool,
    buffers: &[BufferBinding],
    blocks: &[Block<'_>],
) -> Result<Vec<vk::DescriptorSet>, RunError> {
    if program.sets.is_empty() {
        return Ok(Vec::new());
    }
    let layouts: Vec<_> = program.sets.iter().map(Guard::get).collect();
    let create = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
    // SAFETY: the pool was made for these sets.
    let sets =
        unsafe { device.raw.allocate_descriptor_sets(&create) }.map_err(run_failure("vkAllocateDescriptorSets"))?;
    for (binding, block) in buffers.iter().zip(blocks) {
        let info = [vk::DescriptorBufferInfo::default().buffer(block.buffer.get()).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(sets[binding.set as usize])
            .dst_binding(binding.binding)
            .descriptor_type(descriptor_type(binding.kind))
            .buffer_info(&info);
        // SAFETY: the set, its binding and the buffer are alive and of one kind.
        unsafe { device.raw.update_descriptor_sets(&[write], &[]) };
    }
    Ok(sets)
}

fn command_pool(device: &Device) -> Result<Guard<'_, vk::CommandPool>, RunError> {
    let create = vk::CommandPoolCreateInfo::default().queue_family_index(device.family);
    // SAFETY: the family is the one that the device was made with.
    let handle =
        unsafe { device.raw.create_command_pool(&create, None) }.map_err(run_failure("vkCreateCommandPool"))?;
    // SAFETY: the guard is the only owner; its command buffers go with it.
    Ok(Guard::new(&device.raw, handle, |d, h| unsafe { d.destroy_command_pool(h, None) }))
}

fn record(
    device: &Device,
    job: &Job<'_>,
    program: &Program<'_>,
    sets: &[vk::DescriptorSet],
    pool: vk::CommandPool,
) -> Result<vk::CommandBuffer, RunError> {
    let raw = &device.raw;
    let create = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
    // SAFETY: the pool is alive.
    let buffer = unsafe { raw.allocate_command_buffers(&create) }.map_err(run_failure("vkAllocateCommandBuffers"))?[0];
    let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    let [x, y, z] = job.groups;
    let point = vk::PipelineBindPoint::COMPUTE;
    let layout = program.layout.get();
    // SAFETY: every handle is alive and of this device; `check` keeps sizes and counts within its limits.
    unsafe {
        raw.begin_command_buffer(buffer, &once).map_err(run_failure("vkBeginCommandBuffer"))?;
        raw.cmd_bind_pipeline(buffer, point, program.pipeline.get());
        if !sets.is_empty() {
            raw.cmd_bind_descriptor_sets(buffer, point, layout, 0, sets, &[]);
        }
        if !job.push_constants.is_empty() {
            raw.cmd_push_constants(buffer, layout, vk::ShaderStageFlags::COMPUTE, 0, job.push_constants);
        }
        raw.cmd_dispatch(buffer, x, y, z);
        make_visible_to_host(raw, buffer);
        raw.end_command_buffer(buffer).map_err(run_failure("vkEndCommandBuffer"))?;
    }
    Ok(buffer)
}

/// Orders the shader's writes before the host's reads.
///
/// # Safety
/// `buffer` must be recording, outside a render pass.
unsafe fn make_visible_to_host(raw: &ash::Device, buffer: vk::CommandBuffer) {
    let barrier = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)];
    let (from, to) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::HOST);
    // SAFETY: the caller's promise.
    unsafe { raw.cmd_pipeline_barrier(buffer, from, to, vk::DependencyFlags::empty(), &barrier, &[], &[]) };
}

/// Starts the commands and waits for their end; false if [`LIMIT`] passed first, and the device is then stuck.
fn submit_and_wait(device: &Device, commands: vk::CommandBuffer) -> Result<bool, RunError> {
    let raw = &device.raw;
    // SAFETY: `create` is complete.
    let handle =
        unsafe { raw.create_fence(&vk::FenceCreateInfo::default(), None) }.map_err(run_failure("vkCreateFence"))?;
    // SAFETY: the guard is the only owner.
    let fence = Guard::new(raw, handle, |d, h| unsafe { d.destroy_fence(h, None) });
    let buffers = [commands];
    let submits = [vk::SubmitInfo::default().command_buffers(&buffers)];
    // SAFETY: the commands are recorded and the queue is used by this thread alone (`Device` is not `Sync`).
    let waited = unsafe {
        raw.queue_submit(device.queue, &submits, handle).map_err(run_failure("vkQueueSubmit"))?;
        raw.wait_for_fences(&[handle], true, LIMIT.as_nanos() as u64)
    };
    match waited {
        Ok(()) => Ok(true),
        Err(vk::Result::TIMEOUT) => {
            device.stuck.set(true);
            fence.leak();
            Ok(false)
        }
        Err(code) => Err(run_failure("vkWaitForFences")(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specialization_packs_one_word_a_constant() {
        let (entries, values) = specialization(&[(3, 0x0403_0201), (7, 9)]);
        assert_eq!(values.len(), 8);
        assert_eq!((entries[0].constant_id, entries[0].offset, entries[0].size), (3, 0, 4));
        assert_eq!((entries[1].constant_id, entries[1].offset), (7, 4));
        assert_eq!(values[4..], 9u32.to_ne_bytes());
    }
}
