//! Resources of all kinds on a device.

use super::format::Format;
use super::image::Picture;
use super::world::World;
use crate::device::{Address, ImageBinding, ImageKind, Resources, Sampler, TexelBinding};
use ash::vk;
use crosslane::run::RunError;
use crosslane::run::vulkan::Device;
use crosslane::run::vulkan::parts::{self, Block, Blocks, Commands, Guard, Held, Slot, refuse, run_failure};

/// All resources, in the order of [`Resources`].
pub struct Bound<'d> {
    buffers: Blocks<'d>,
    texels: Vec<(Block<'d>, Guard<'d, vk::BufferView>)>,
    pub pictures: Vec<(Picture<'d>, Option<Guard<'d, vk::Sampler>>)>,
    samplers: Vec<Guard<'d, vk::Sampler>>,
    worlds: Vec<World<'d>>,
}

impl parts::Resources for Resources {
    type Bound<'d> = Bound<'d>;

    fn slots(&self) -> Vec<Slot> {
        let slot = |set, binding, element, kind| Slot { set, binding, element, kind };
        let texels = self.texels.iter().map(|t| slot(t.set, t.binding, t.element, of_texels(t.storage)));
        let images = self.images.iter().map(|i| slot(i.set, i.binding, i.element, of_image(i.kind)));
        let sampler = vk::DescriptorType::SAMPLER;
        let samplers = self.samplers.iter().map(|s| slot(s.set, s.binding, s.element, sampler));
        let structure = vk::DescriptorType::ACCELERATION_STRUCTURE_KHR;
        let structures = self.structures.iter().map(|s| slot(s.set, s.binding, s.element, structure));
        self.buffers.slots().into_iter().chain(texels).chain(images).chain(samplers).chain(structures).collect()
    }

    fn bind<'d>(&self, device: &'d Device) -> Result<Bound<'d>, RunError> {
        let texels = self.texels.iter().map(|t| texels(device, t)).collect::<Result<_, _>>()?;
        let pictures = self.images.iter().map(|i| picture(device, i)).collect::<Result<_, _>>()?;
        let samplers = self.samplers.iter().map(|s| sampler(device, s.sampler)).collect::<Result<_, _>>()?;
        let worlds = self.structures.iter().map(|_| World::new(device)).collect::<Result<_, _>>()?;
        Ok(Bound { buffers: self.buffers.bind(device)?, texels, pictures, samplers, worlds })
    }
}

impl parts::Bound<Resources> for Bound<'_> {
    fn held(&self) -> Vec<Held> {
        let texels = self.texels.iter().map(|(_, view)| Held::Texels(view.get()));
        let none = vk::Sampler::null();
        let pictures = self
            .pictures
            .iter()
            .map(|(picture, sampler)| Held::Image(picture.view.get(), sampler.as_ref().map_or(none, Guard::get)));
        let samplers = self.samplers.iter().map(|s| Held::Image(vk::ImageView::null(), s.get()));
        let structures = self.worlds.iter().map(|world| Held::Structure(world.handle()));
        self.buffers.held().into_iter().chain(texels).chain(pictures).chain(samplers).chain(structures).collect()
    }

    fn push_constants(&self, push_constants: &[u8], resources: &Resources) -> Result<Vec<u8>, RunError> {
        let mut bytes = self.buffers.push_constants(push_constants, &resources.buffers)?;
        for (world, binding) in self.worlds.iter().zip(&resources.structures) {
            let Some(at) = binding.address_at else { continue };
            match bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
                Some(place) => *place = world.address().to_le_bytes(),
                None => return refuse("the address of an acceleration structure has no room in the push constants"),
            }
        }
        Ok(bytes)
    }

    fn load(&self, commands: &Commands<'_>) {
        self.pictures.iter().for_each(|(picture, _)| picture.load(commands));
        self.worlds.iter().for_each(|world| world.load(commands));
    }

    fn save(&self, commands: &Commands<'_>) {
        self.pictures.iter().for_each(|(picture, _)| picture.save(commands));
    }

    fn download(&self, resources: &mut Resources) {
        self.buffers.download(&mut resources.buffers);
        for ((block, _), binding) in self.texels.iter().zip(&mut resources.texels) {
            block.download(&mut binding.data);
        }
        for ((picture, _), binding) in self.pictures.iter().zip(&mut resources.images) {
            picture.download(&mut binding.image);
        }
    }
}

fn of_texels(storage: bool) -> vk::DescriptorType {
    if storage { vk::DescriptorType::STORAGE_TEXEL_BUFFER } else { vk::DescriptorType::UNIFORM_TEXEL_BUFFER }
}

fn of_image(kind: ImageKind) -> vk::DescriptorType {
    match kind {
        ImageKind::Storage => vk::DescriptorType::STORAGE_IMAGE,
        ImageKind::Sampled => vk::DescriptorType::SAMPLED_IMAGE,
        ImageKind::Combined(_) => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        ImageKind::Input => vk::DescriptorType::INPUT_ATTACHMENT,
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
    // SAFETY: the buffer is live and was created for texels.
    let handle =
        unsafe { device.raw().create_buffer_view(&create, None) }.map_err(run_failure("vkCreateBufferView"))?;
    // SAFETY: the guard is the only owner.
    let view = Guard::new(device, handle, |d, h| unsafe { d.destroy_buffer_view(h, None) });
    Ok((block, view))
}

/// An image, and its sampler if bound with one.
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
    let handle = unsafe { device.raw().create_sampler(&create, None) }.map_err(run_failure("vkCreateSampler"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_sampler(h, None) }))
}
