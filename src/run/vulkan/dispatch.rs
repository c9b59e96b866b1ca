//! One dispatch of a kernel, from bytes to bytes.
//!
//! Each step makes one kind of object and returns its owner; the owners are dropped in reverse. A shader that does not
//! end within [`LIMIT`] leaves its objects and its device leaked: freeing what a driver still uses is undefined.

use std::time::Duration;

use ash::vk;

use super::guard::Guard;
use super::kernel::{Kernel, descriptor_type, refuse};
use super::{Device, run_failure};
use crate::run::{BufferBinding, BufferKind, RunError};

/// How long a dispatch may take.
const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn run(
    kernel: &Kernel<'_>,
    groups: [u32; 3],
    push_constants: &[u8],
    buffers: &mut [BufferBinding],
) -> Result<(), RunError> {
    let blocks = buffers.iter().map(|b| upload(kernel.device, b)).collect::<Result<Vec<_>, _>>()?;
    let push_constants = with_addresses(kernel.device, push_constants, &blocks, buffers)?;
    let pool = descriptor_pool(kernel)?;
    let sets = write_descriptors(kernel, pool.get(), &blocks)?;
    let commands = command_pool(kernel.device)?;
    let recorded = record(kernel, groups, &push_constants, &sets, commands.get())?;
    submit_and_wait(kernel.device, recorded)?;
    for (block, binding) in blocks.iter().zip(buffers) {
        block.download(&mut binding.data);
    }
    Ok(())
}

/// The push constants with the addresses of the buffers that ask for it.
fn with_addresses(
    device: &Device,
    push_constants: &[u8],
    blocks: &[Block<'_>],
    buffers: &[BufferBinding],
) -> Result<Vec<u8>, RunError> {
    let mut bytes = push_constants.to_vec();
    for (block, binding) in blocks.iter().zip(buffers) {
        let Some(at) = binding.address_at else { continue };
        let info = vk::BufferDeviceAddressInfo::default().buffer(block.buffer.get());
        // SAFETY: the buffer is alive and was made for this use (`usage`).
        let address = unsafe { device.raw.get_buffer_device_address(&info) };
        match bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
            Some(place) => *place = address.to_le_bytes(),
            None => return refuse("an address has no room in the push constants"),
        }
    }
    Ok(bytes)
}

/// A buffer, its memory, and where that memory lies for the host.
struct Block<'d> {
    buffer: Guard<'d, vk::Buffer>,
    _memory: Guard<'d, vk::DeviceMemory>,
    host: *mut u8,
    length: usize,
}

impl Block<'_> {
    fn download(&self, data: &mut [u8]) {
        // SAFETY: `host` maps at least `length` bytes of coherent memory that no shader is writing any more.
        unsafe { std::ptr::copy_nonoverlapping(self.host, data.as_mut_ptr(), self.length) };
    }
}

fn usage(binding: &BufferBinding) -> vk::BufferUsageFlags {
    let kind = match binding.kind {
        BufferKind::Storage => vk::BufferUsageFlags::STORAGE_BUFFER,
        BufferKind::Uniform => vk::BufferUsageFlags::UNIFORM_BUFFER,
    };
    match binding.address_at {
        Some(_) => kind | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS,
        None => kind,
    }
}

/// A buffer in memory that host and device both see, filled with the binding's bytes.
fn upload<'d>(device: &'d Device, binding: &BufferBinding) -> Result<Block<'d>, RunError> {
    let raw = &device.raw;
    let length = binding.data.len();
    // Vulkan has no empty buffers.
    let create = vk::BufferCreateInfo::default().size(length.max(4) as u64).usage(usage(binding));
    // SAFETY: `create` is complete.
    let handle = unsafe { raw.create_buffer(&create, None) }.map_err(run_failure("vkCreateBuffer"))?;
    // SAFETY: the guard is the only owner.
    let buffer = Guard::new(device, handle, |d, h| unsafe { d.destroy_buffer(h, None) });
    let memory = allocate(device, handle, binding.address_at.is_some())?;
    // SAFETY: the memory fits the buffer, is host-visible, and is mapped once.
    let host = unsafe {
        raw.bind_buffer_memory(handle, memory.get(), 0).map_err(run_failure("vkBindBufferMemory"))?;
        raw.map_memory(memory.get(), 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
            .map_err(run_failure("vkMapMemory"))?
            .cast::<u8>()
    };
    // SAFETY: `host` maps at least `length` bytes that nothing else uses yet.
    unsafe { std::ptr::copy_nonoverlapping(binding.data.as_ptr(), host, length) };
    Ok(Block { buffer, _memory: memory, host, length })
}

fn allocate(device: &Device, buffer: vk::Buffer, addressed: bool) -> Result<Guard<'_, vk::DeviceMemory>, RunError> {
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
    let flags = if addressed { vk::MemoryAllocateFlags::DEVICE_ADDRESS } else { vk::MemoryAllocateFlags::empty() };
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
    let create = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
    let create = if addressed { create.push_next(&mut flags) } else { create };
    // SAFETY: `create` is complete.
    let handle = unsafe { raw.allocate_memory(&create, None) }.map_err(run_failure("vkAllocateMemory"))?;
    // SAFETY: the guard is the only owner; freeing unmaps.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.free_memory(h, None) }))
}

fn descriptor_pool<'d>(kernel: &Kernel<'d>) -> Result<Guard<'d, vk::DescriptorPool>, RunError> {
    let device = kernel.device;
    let size = |kind| {
        let count = kernel.slots.iter().filter(|s| s.kind == kind).count().max(1);
        vk::DescriptorPoolSize::default().ty(descriptor_type(kind)).descriptor_count(count as u32)
    };
    let sizes = [size(BufferKind::Storage), size(BufferKind::Uniform)];
    let most = kernel.sets.len().max(1) as u32;
    let create = vk::DescriptorPoolCreateInfo::default().max_sets(most).pool_sizes(&sizes);
    // SAFETY: `create` is complete.
    let handle =
        unsafe { device.raw.create_descriptor_pool(&create, None) }.map_err(run_failure("vkCreateDescriptorPool"))?;
    // SAFETY: the guard is the only owner; its sets go with it.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_descriptor_pool(h, None) }))
}

fn write_descriptors(
    kernel: &Kernel<'_>,
    pool: vk::DescriptorPool,
    blocks: &[Block<'_>],
) -> Result<Vec<vk::DescriptorSet>, RunError> {
    if kernel.sets.is_empty() {
        return Ok(Vec::new());
    }
    let raw = &kernel.device.raw;
    let layouts: Vec<_> = kernel.sets.iter().map(Guard::get).collect();
    let create = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
    // SAFETY: the pool was made for these sets.
    let sets = unsafe { raw.allocate_descriptor_sets(&create) }.map_err(run_failure("vkAllocateDescriptorSets"))?;
    for (slot, block) in kernel.slots.iter().zip(blocks) {
        let info = [vk::DescriptorBufferInfo::default().buffer(block.buffer.get()).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(sets[slot.set as usize])
            .dst_binding(slot.binding)
            .descriptor_type(descriptor_type(slot.kind))
            .buffer_info(&info);
        // SAFETY: the set, its binding and the buffer are alive and of one kind.
        unsafe { raw.update_descriptor_sets(&[write], &[]) };
    }
    Ok(sets)
}

fn command_pool(device: &Device) -> Result<Guard<'_, vk::CommandPool>, RunError> {
    let create = vk::CommandPoolCreateInfo::default().queue_family_index(device.family);
    // SAFETY: the family is the one that the device was made with.
    let handle =
        unsafe { device.raw.create_command_pool(&create, None) }.map_err(run_failure("vkCreateCommandPool"))?;
    // SAFETY: the guard is the only owner; its command buffers go with it.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_command_pool(h, None) }))
}

fn record(
    kernel: &Kernel<'_>,
    [x, y, z]: [u32; 3],
    push_constants: &[u8],
    sets: &[vk::DescriptorSet],
    pool: vk::CommandPool,
) -> Result<vk::CommandBuffer, RunError> {
    let raw = &kernel.device.raw;
    let create = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
    // SAFETY: the pool is alive.
    let buffer = unsafe { raw.allocate_command_buffers(&create) }.map_err(run_failure("vkAllocateCommandBuffers"))?[0];
    let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    let point = vk::PipelineBindPoint::COMPUTE;
    let layout = kernel.layout.get();
    // SAFETY: every handle is alive and of this device; `Kernel::run` keeps sizes and counts within its limits.
    unsafe {
        raw.begin_command_buffer(buffer, &once).map_err(run_failure("vkBeginCommandBuffer"))?;
        raw.cmd_bind_pipeline(buffer, point, kernel.pipeline.get());
        if !sets.is_empty() {
            raw.cmd_bind_descriptor_sets(buffer, point, layout, 0, sets, &[]);
        }
        if !push_constants.is_empty() {
            raw.cmd_push_constants(buffer, layout, vk::ShaderStageFlags::COMPUTE, 0, push_constants);
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

/// Starts the commands and waits for their end. If [`LIMIT`] passes first, the device is stuck.
fn submit_and_wait(device: &Device, commands: vk::CommandBuffer) -> Result<(), RunError> {
    let raw = &device.raw;
    // SAFETY: the structure is complete.
    let handle =
        unsafe { raw.create_fence(&vk::FenceCreateInfo::default(), None) }.map_err(run_failure("vkCreateFence"))?;
    // SAFETY: the guard is the only owner.
    let fence = Guard::new(device, handle, |d, h| unsafe { d.destroy_fence(h, None) });
    let buffers = [commands];
    let submits = [vk::SubmitInfo::default().command_buffers(&buffers)];
    // SAFETY: the commands are recorded and the queue is used by this thread alone (`Device` is not `Sync`).
    let waited = unsafe {
        raw.queue_submit(device.queue, &submits, fence.get()).map_err(run_failure("vkQueueSubmit"))?;
        raw.wait_for_fences(&[fence.get()], true, LIMIT.as_nanos() as u64)
    };
    waited.map_err(|code| match code {
        vk::Result::TIMEOUT => {
            device.stuck.set(true);
            RunError::Timeout(LIMIT.as_secs())
        }
        code => run_failure("vkWaitForFences")(code),
    })
}
