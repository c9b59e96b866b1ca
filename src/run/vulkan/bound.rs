//! The resources of one run on the device: created from the host's bytes, written into descriptor sets, read back.

use std::collections::BTreeMap;

use ash::vk;

use super::command::Commands;
use super::guard::Guard;
use super::layout::{Layout, Slot, refuse};
use super::memory::Block;
use super::{Device, run_failure};
use crate::run::{BufferBinding, BufferKind, RunError};

/// Resources on the host: places, and initial contents.
pub trait Resources {
    /// The resources on a device.
    type Bound<'d>: Bound<Self>;

    /// The places, in the order of [`Bound::held`].
    fn slots(&self) -> Vec<Slot>;

    /// Creates everything on the device. Contents that need commands are not filled yet.
    ///
    /// # Errors
    /// Returns [`RunError`] if the device cannot create such resources.
    fn bind<'d>(&self, device: &'d Device) -> Result<Self::Bound<'d>, RunError>;
}

/// Resources on a device, created from host resources of type `R`.
pub trait Bound<R: ?Sized> {
    /// The contents of the descriptors, in the order of the slots.
    fn held(&self) -> Vec<Held>;

    /// The push constants, with the addresses of the buffers that request it.
    ///
    /// # Errors
    /// Returns [`RunError::Refused`] if an address does not fit in the push constants.
    fn push_constants(&self, push_constants: &[u8], resources: &R) -> Result<Vec<u8>, RunError>;

    /// Records the commands that fill the resources.
    fn load(&self, commands: &Commands<'_>);

    /// Records the commands that read the resources back.
    fn save(&self, commands: &Commands<'_>);

    /// Copies the shaders' results to the host, once the commands have finished.
    fn download(&self, resources: &mut R);
}

impl Resources for Vec<BufferBinding> {
    type Bound<'d> = Blocks<'d>;

    fn slots(&self) -> Vec<Slot> {
        let slot = |b: &BufferBinding| Slot { set: b.set, binding: b.binding, element: b.element, kind: kind(b.kind) };
        self.iter().map(slot).collect()
    }

    fn bind<'d>(&self, device: &'d Device) -> Result<Blocks<'d>, RunError> {
        let blocks = self.iter().map(|b| Block::new(device, usage(b), &b.data)).collect::<Result<_, _>>()?;
        Ok(Blocks { device, blocks })
    }
}

/// Buffers on a device.
pub struct Blocks<'d> {
    device: &'d Device,
    blocks: Vec<Block<'d>>,
}

impl Bound<Vec<BufferBinding>> for Blocks<'_> {
    fn held(&self) -> Vec<Held> {
        self.blocks.iter().map(|block| Held::Buffer(block.buffer.get())).collect()
    }

    fn push_constants(&self, push_constants: &[u8], buffers: &Vec<BufferBinding>) -> Result<Vec<u8>, RunError> {
        let mut bytes = push_constants.to_vec();
        for (block, binding) in self.blocks.iter().zip(buffers) {
            let Some(at) = binding.address_at else { continue };
            // SAFETY: the buffer was created with this usage.
            let address = unsafe { block.address(self.device) };
            match bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
                Some(place) => *place = address.to_le_bytes(),
                None => return refuse("an address has no room in the push constants"),
            }
        }
        Ok(bytes)
    }

    fn load(&self, _: &Commands<'_>) {}

    fn save(&self, _: &Commands<'_>) {}

    fn download(&self, buffers: &mut Vec<BufferBinding>) {
        for (block, binding) in self.blocks.iter().zip(buffers) {
            block.download(&mut binding.data);
        }
    }
}

/// Descriptor sets and their pool.
pub struct Sets<'d> {
    handles: Vec<vk::DescriptorSet>,
    _pool: Option<Guard<'d, vk::DescriptorPool>>,
}

impl<'d> Sets<'d> {
    /// Descriptor sets with these resources, in the order of the layout's slots.
    ///
    /// # Errors
    /// Returns [`RunError`] if the driver fails.
    pub fn new(layout: &Layout<'d>, held: Vec<Held>) -> Result<Self, RunError> {
        if layout.sets.is_empty() {
            return Ok(Sets { handles: Vec::new(), _pool: None });
        }
        let raw = &layout.device.raw;
        let pool = descriptor_pool(layout)?;
        let layouts: Vec<_> = layout.sets.iter().map(Guard::get).collect();
        let create = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool.get()).set_layouts(&layouts);
        // SAFETY: the pool was created for these sets.
        let handles =
            unsafe { raw.allocate_descriptor_sets(&create) }.map_err(run_failure("vkAllocateDescriptorSets"))?;
        for (slot, held) in layout.slots.iter().zip(held) {
            let write = vk::WriteDescriptorSet::default().dst_set(handles[slot.set as usize]).dst_binding(slot.binding);
            let write = write.dst_array_element(slot.element).descriptor_type(slot.kind);
            held.write(raw, write);
        }
        Ok(Sets { handles, _pool: Some(pool) })
    }

    /// Records the commands that bind a pipeline's resources: the sets and the push constants.
    pub fn record(&self, commands: &Commands<'_>, layout: &Layout<'_>, point: vk::PipelineBindPoint, push: &[u8]) {
        let (raw, buffer, pipeline) = (&commands.device.raw, commands.buffer, layout.pipeline.get());
        // SAFETY: the command buffer is recording; every handle is live and belongs to this device; the layout has
        // room for the constants.
        unsafe {
            if !self.handles.is_empty() {
                raw.cmd_bind_descriptor_sets(buffer, point, pipeline, 0, &self.handles, &[]);
            }
            if !push.is_empty() {
                raw.cmd_push_constants(buffer, pipeline, layout.stages, 0, push);
            }
        }
    }
}

/// The content of a descriptor.
#[derive(Clone, Copy)]
pub enum Held {
    /// A block.
    Buffer(vk::Buffer),
    /// The texels of a buffer.
    Texels(vk::BufferView),
    /// An image and a sampler in the layout `GENERAL`; either may be null.
    Image(vk::ImageView, vk::Sampler),
    /// A top-level acceleration structure.
    Structure(vk::AccelerationStructureKHR),
}

impl Held {
    /// Writes it to the descriptor of `write`.
    fn write(self, raw: &ash::Device, write: vk::WriteDescriptorSet<'_>) {
        let (buffer, texels, image, tops, mut structures);
        let write = match self {
            Self::Buffer(handle) => {
                buffer = [vk::DescriptorBufferInfo::default().buffer(handle).range(vk::WHOLE_SIZE)];
                write.buffer_info(&buffer)
            }
            Self::Texels(view) => {
                texels = [view];
                write.texel_buffer_view(&texels)
            }
            Self::Image(view, sampler) => {
                let info = vk::DescriptorImageInfo::default().image_view(view).sampler(sampler);
                image = [info.image_layout(vk::ImageLayout::GENERAL)];
                write.image_info(&image)
            }
            Self::Structure(top) => {
                tops = [top];
                structures = vk::WriteDescriptorSetAccelerationStructureKHR::default().acceleration_structures(&tops);
                write.descriptor_count(1).push_next(&mut structures)
            }
        };
        // SAFETY: the set, its binding and the resource are live and have the same descriptor type.
        unsafe { raw.update_descriptor_sets(&[write], &[]) };
    }
}

fn kind(kind: BufferKind) -> vk::DescriptorType {
    match kind {
        BufferKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BufferKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
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

fn descriptor_pool<'d>(layout: &Layout<'d>) -> Result<Guard<'d, vk::DescriptorPool>, RunError> {
    let mut counts = BTreeMap::<vk::DescriptorType, u32>::new();
    layout.slots.iter().for_each(|slot| *counts.entry(slot.kind).or_default() += 1);
    let size = |(kind, count)| vk::DescriptorPoolSize::default().ty(kind).descriptor_count(count);
    let sizes: Vec<_> = counts.into_iter().map(size).collect();
    let create = vk::DescriptorPoolCreateInfo::default().max_sets(layout.sets.len() as u32).pool_sizes(&sizes);
    let device = layout.device;
    // SAFETY: `create` is complete.
    let handle =
        unsafe { device.raw.create_descriptor_pool(&create, None) }.map_err(run_failure("vkCreateDescriptorPool"))?;
    // SAFETY: the guard is the only owner; its sets go with it.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_descriptor_pool(h, None) }))
}
