//! Device memory, and buffers that the host can access.

use ash::vk;

use super::guard::Guard;
use super::layout::refuse;
use super::{Device, run_failure};
use crate::run::RunError;

/// A buffer, its memory, and the host address of that memory.
pub struct Block<'d> {
    pub buffer: Guard<'d, vk::Buffer>,
    _memory: Guard<'d, vk::DeviceMemory>,
    host: *mut u8,
    length: usize,
}

impl<'d> Block<'d> {
    /// A buffer in memory that host and device both see, filled with `data`.
    pub fn new(device: &'d Device, usage: vk::BufferUsageFlags, data: &[u8]) -> Result<Self, RunError> {
        let raw = &device.raw;
        let length = data.len();
        // Vulkan has no empty buffers.
        let create = vk::BufferCreateInfo::default().size(length.max(4) as u64).usage(usage);
        // SAFETY: `create` is complete.
        let handle = unsafe { raw.create_buffer(&create, None) }.map_err(run_failure("vkCreateBuffer"))?;
        // SAFETY: the guard is the only owner.
        let buffer = Guard::new(device, handle, |d, h| unsafe { d.destroy_buffer(h, None) });
        // SAFETY: `handle` is live and belongs to the device.
        let needs = unsafe { raw.get_buffer_memory_requirements(handle) };
        let shared = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let addressed = usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS);
        let memory = allocate(device, needs, shared, addressed)?;
        // SAFETY: the memory fits the buffer, is host-visible, and is mapped once.
        let host = unsafe {
            raw.bind_buffer_memory(handle, memory.get(), 0).map_err(run_failure("vkBindBufferMemory"))?;
            raw.map_memory(memory.get(), 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                .map_err(run_failure("vkMapMemory"))?
                .cast::<u8>()
        };
        // SAFETY: `host` maps at least `length` bytes that nothing else uses yet.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), host, length) };
        Ok(Self { buffer, _memory: memory, host, length })
    }

    /// The device address of the buffer, for shaders and commands.
    ///
    /// # Safety
    /// The buffer was created on `device` with `SHADER_DEVICE_ADDRESS`.
    pub unsafe fn address(&self, device: &Device) -> vk::DeviceAddress {
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.buffer.get());
        // SAFETY: the buffer is live, and the caller guarantees the rest.
        unsafe { device.raw.get_buffer_device_address(&info) }
    }

    /// Copies the contents into `data`, which has the length of the original data.
    pub fn download(&self, data: &mut [u8]) {
        assert_eq!(data.len(), self.length, "the buffer's own data");
        // SAFETY: `host` maps at least `length` bytes of coherent memory that no shader writes any more.
        unsafe { std::ptr::copy_nonoverlapping(self.host, data.as_mut_ptr(), self.length) };
    }
}

/// Memory for one buffer or image; `addressed` if shaders use its address.
pub fn allocate(
    device: &Device,
    needs: vk::MemoryRequirements,
    wanted: vk::MemoryPropertyFlags,
    addressed: bool,
) -> Result<Guard<'_, vk::DeviceMemory>, RunError> {
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
    let handle = unsafe { device.raw.allocate_memory(&create, None) }.map_err(run_failure("vkAllocateMemory"))?;
    // SAFETY: the guard is the only owner; freeing unmaps.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.free_memory(h, None) }))
}
