//! One command buffer, from its first command to the end of its work. If a shader does not finish within [`LIMIT`], its
//! objects and its device are leaked, because it is undefined to free what a driver still uses.

use std::time::Duration;

use ash::vk;

use super::guard::Guard;
use super::{Device, run_failure};
use crate::run::RunError;

/// Time limit of a run.
const LIMIT: Duration = Duration::from_secs(60);

/// A command buffer that is recording.
pub struct Commands<'d> {
    pub device: &'d Device,
    pub buffer: vk::CommandBuffer,
    _pool: Guard<'d, vk::CommandPool>,
}

impl<'d> Commands<'d> {
    /// Starts recording.
    pub fn new(device: &'d Device) -> Result<Self, RunError> {
        let raw = &device.raw;
        let pool = pool(device)?;
        let create = vk::CommandBufferAllocateInfo::default().command_pool(pool.get()).command_buffer_count(1);
        // SAFETY: the pool is live.
        let made = unsafe { raw.allocate_command_buffers(&create) }.map_err(run_failure("vkAllocateCommandBuffers"))?;
        let buffer = made[0];
        let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the buffer is new.
        unsafe { raw.begin_command_buffer(buffer, &once) }.map_err(run_failure("vkBeginCommandBuffer"))?;
        Ok(Self { device, buffer, _pool: pool })
    }

    /// Orders all that was recorded before all that follows, the host's reads included.
    pub fn barrier(&self) {
        let barrier = [vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::MEMORY_WRITE).dst_access_mask(
            vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE | vk::AccessFlags::HOST_READ,
        )];
        let from = vk::PipelineStageFlags::ALL_COMMANDS;
        let to = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
        let none = vk::DependencyFlags::empty();
        // SAFETY: the buffer is recording, outside a render pass.
        unsafe { self.device.raw.cmd_pipeline_barrier(self.buffer, from, to, none, &barrier, &[], &[]) };
    }

    /// Submits the commands and waits for them to finish. If the time limit passes first, the device is stuck.
    pub fn finish(self) -> Result<(), RunError> {
        let (device, raw) = (self.device, &self.device.raw);
        // SAFETY: the buffer is recording.
        unsafe { raw.end_command_buffer(self.buffer) }.map_err(run_failure("vkEndCommandBuffer"))?;
        // SAFETY: the structure is complete.
        let handle = unsafe { raw.create_fence(&vk::FenceCreateInfo::default(), None) };
        let handle = handle.map_err(run_failure("vkCreateFence"))?;
        // SAFETY: the guard is the only owner.
        let fence = Guard::new(device, handle, |d, h| unsafe { d.destroy_fence(h, None) });
        let buffers = [self.buffer];
        let submits = [vk::SubmitInfo::default().command_buffers(&buffers)];
        // SAFETY: the commands are recorded and the queue is used by this thread alone (`Device` is not `Sync`).
        let waited = unsafe {
            raw.queue_submit(device.queue, &submits, fence.get()).map_err(run_failure("vkQueueSubmit"))?;
            raw.wait_for_fences(&[fence.get()], true, LIMIT.as_nanos() as u64)
        };
        waited.map_err(|code| failed_wait(device, code))
    }
}

fn failed_wait(device: &Device, code: vk::Result) -> RunError {
    match code {
        vk::Result::TIMEOUT => {
            device.stuck.set(true);
            RunError::Timeout(LIMIT.as_secs())
        }
        code => run_failure("vkWaitForFences")(code),
    }
}

fn pool(device: &Device) -> Result<Guard<'_, vk::CommandPool>, RunError> {
    let create = vk::CommandPoolCreateInfo::default().queue_family_index(device.family);
    // SAFETY: the device was created with this queue family.
    let handle =
        unsafe { device.raw.create_command_pool(&create, None) }.map_err(run_failure("vkCreateCommandPool"))?;
    // SAFETY: the guard is the only owner; its command buffers go with it.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_command_pool(h, None) }))
}
