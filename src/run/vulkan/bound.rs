//! The resources of one run on the device: made from the host's bytes, written into descriptor sets, read back.

use std::collections::BTreeMap;

use ash::vk;

use super::command::Commands;
use super::format::Format;
use super::guard::Guard;
use super::image::{LAYOUT, Picture};
use super::layout::{Layout, refuse};
use super::memory::Block;
use super::{Device, run_failure};
use crate::run::{
    Address, BufferBinding, BufferKind, ImageBinding, ImageKind, Resources, RunError, Sampler, TexelBinding,
};

/// All resources, in the order of `Resources`.
pub(super) struct Bound<'d> {
    device: &'d Device,
    blocks: Vec<Block<'d>>,
    texels: Vec<(Block<'d>, Guard<'d, vk::BufferView>)>,
    pub pictures: Vec<(Picture<'d>, Option<Guard<'d, vk::Sampler>>)>,
    samplers: Vec<Guard<'d, vk::Sampler>>,
}

impl<'d> Bound<'d> {
    /// Everything that `resources` says, images not filled yet.
    pub(super) fn new(device: &'d Device, resources: &Resources) -> Result<Self, RunError> {
        let block = |b: &BufferBinding| Block::new(device, usage(b), &b.data);
        let blocks = resources.buffers.iter().map(block).collect::<Result<_, _>>()?;
        let texels = resources.texels.iter().map(|t| texels(device, t)).collect::<Result<_, _>>()?;
        let pictures = resources.images.iter().map(|i| picture(device, i)).collect::<Result<_, _>>()?;
        let samplers = resources.samplers.iter().map(|s| sampler(device, s.sampler)).collect::<Result<_, _>>()?;
        Ok(Self { device, blocks, texels, pictures, samplers })
    }

    /// The push constants with the addresses of the buffers that ask for it.
    pub(super) fn with_addresses(&self, push_constants: &[u8], resources: &Resources) -> Result<Vec<u8>, RunError> {
        let mut bytes = push_constants.to_vec();
        for (block, binding) in self.blocks.iter().zip(&resources.buffers) {
            let Some(at) = binding.address_at else { continue };
            let info = vk::BufferDeviceAddressInfo::default().buffer(block.buffer.get());
            // SAFETY: the buffer is alive and was made for this use (`usage`).
            let address = unsafe { self.device.raw.get_buffer_device_address(&info) };
            match bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
                Some(place) => *place = address.to_le_bytes(),
                None => return refuse("an address has no room in the push constants"),
            }
        }
        Ok(bytes)
    }

    /// Records what fills the images.
    pub(super) fn load(&self, commands: &Commands<'_>) {
        self.pictures.iter().for_each(|(picture, _)| picture.load(commands));
    }

    /// Records what brings the images back.
    pub(super) fn save(&self, commands: &Commands<'_>) {
        self.pictures.iter().for_each(|(picture, _)| picture.save(commands));
    }

    /// What the shaders left, once the commands have ended.
    pub(super) fn download(&self, resources: &mut Resources) {
        for (block, binding) in self.blocks.iter().zip(&mut resources.buffers) {
            block.download(&mut binding.data);
        }
        for ((block, _), binding) in self.texels.iter().zip(&mut resources.texels) {
            block.download(&mut binding.data);
        }
        for ((picture, _), binding) in self.pictures.iter().zip(&mut resources.images) {
            picture.download(&mut binding.image);
        }
    }

    /// Descriptor sets that hold everything; they live as long as the pool.
    pub(super) fn sets(&self, layout: &Layout<'d>) -> Result<Sets<'d>, RunError> {
        if layout.sets.is_empty() {
            return Ok(Sets { handles: Vec::new(), _pool: None });
        }
        let raw = &self.device.raw;
        let pool = descriptor_pool(layout)?;
        let layouts: Vec<_> = layout.sets.iter().map(Guard::get).collect();
        let create = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool.get()).set_layouts(&layouts);
        // SAFETY: the pool was made for these sets.
        let handles =
            unsafe { raw.allocate_descriptor_sets(&create) }.map_err(run_failure("vkAllocateDescriptorSets"))?;
        for (slot, held) in layout.slots.iter().zip(self.held()) {
            let write = vk::WriteDescriptorSet::default().dst_set(handles[slot.set as usize]).dst_binding(slot.binding);
            let write = write.dst_array_element(slot.element).descriptor_type(slot.kind);
            held.write(raw, write);
        }
        Ok(Sets { handles, _pool: Some(pool) })
    }

    /// What the descriptors hold, in the order of the slots.
    fn held(&self) -> impl Iterator<Item = Held> {
        let blocks = self.blocks.iter().map(|block| Held::Buffer(block.buffer.get()));
        let texels = self.texels.iter().map(|(_, view)| Held::Texels(view.get()));
        let none = vk::Sampler::null();
        let pictures = self
            .pictures
            .iter()
            .map(move |(picture, sampler)| Held::Image(picture.view.get(), sampler.as_ref().map_or(none, Guard::get)));
        blocks
            .chain(texels)
            .chain(pictures)
            .chain(self.samplers.iter().map(|s| Held::Image(vk::ImageView::null(), s.get())))
    }
}

/// Descriptor sets and the pool that they are of.
pub(super) struct Sets<'d> {
    pub handles: Vec<vk::DescriptorSet>,
    _pool: Option<Guard<'d, vk::DescriptorPool>>,
}

/// What a descriptor holds.
enum Held {
    Buffer(vk::Buffer),
    Texels(vk::BufferView),
    Image(vk::ImageView, vk::Sampler),
}

impl Held {
    /// Writes it to where `write` says.
    fn write(self, raw: &ash::Device, write: vk::WriteDescriptorSet<'_>) {
        let (buffer, texels, image);
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
                image = [info.image_layout(LAYOUT)];
                write.image_info(&image)
            }
        };
        // SAFETY: the set, its binding and what is held are alive and of one kind.
        unsafe { raw.update_descriptor_sets(&[write], &[]) };
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

/// A buffer of texels and its view.
fn texels<'d>(device: &'d Device, binding: &TexelBinding) -> Result<(Block<'d>, Guard<'d, vk::BufferView>), RunError> {
    let usage = match binding.storage {
        true => vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER,
        false => vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER,
    };
    let block = Block::new(device, usage, &binding.data)?;
    let create = vk::BufferViewCreateInfo::default().buffer(block.buffer.get()).range(vk::WHOLE_SIZE);
    let create = create.format(Format::named(&binding.format)?.vulkan);
    // SAFETY: the buffer is alive and was made for texels.
    let handle = unsafe { device.raw.create_buffer_view(&create, None) }.map_err(run_failure("vkCreateBufferView"))?;
    // SAFETY: the guard is the only owner.
    let view = Guard::new(device, handle, |d, h| unsafe { d.destroy_buffer_view(h, None) });
    Ok((block, view))
}

/// An image, and its sampler where it is bound with one.
fn picture<'d>(
    device: &'d Device,
    binding: &ImageBinding,
) -> Result<(Picture<'d>, Option<Guard<'d, vk::Sampler>>), RunError> {
    let (usage, how) = match binding.kind {
        ImageKind::Storage => (vk::ImageUsageFlags::STORAGE, None),
        ImageKind::Sampled => (vk::ImageUsageFlags::SAMPLED, None),
        ImageKind::Combined(how) => (vk::ImageUsageFlags::SAMPLED, Some(how)),
        ImageKind::Input => (vk::ImageUsageFlags::INPUT_ATTACHMENT, None),
    };
    let picture = Picture::new(device, &binding.image, usage)?;
    Ok((picture, how.map(|how| sampler(device, how)).transpose()?))
}

fn sampler(device: &Device, how: Sampler) -> Result<Guard<'_, vk::Sampler>, RunError> {
    let (filter, mipmap) = match how.linear {
        true => (vk::Filter::LINEAR, vk::SamplerMipmapMode::LINEAR),
        false => (vk::Filter::NEAREST, vk::SamplerMipmapMode::NEAREST),
    };
    let address = match how.address {
        Address::Repeat => vk::SamplerAddressMode::REPEAT,
        Address::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Address::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        Address::Border => vk::SamplerAddressMode::CLAMP_TO_BORDER,
    };
    let create = vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .mipmap_mode(mipmap)
        .address_mode_u(address)
        .address_mode_v(address)
        .address_mode_w(address)
        .compare_enable(how.compare)
        .compare_op(vk::CompareOp::LESS_OR_EQUAL)
        .max_lod(vk::LOD_CLAMP_NONE)
        .border_color(vk::BorderColor::FLOAT_OPAQUE_BLACK);
    // SAFETY: `create` is complete.
    let handle = unsafe { device.raw.create_sampler(&create, None) }.map_err(run_failure("vkCreateSampler"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_sampler(h, None) }))
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
