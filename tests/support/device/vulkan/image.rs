//! Images on the device: created, filled from host memory, read back.
//!
//! Every image stays in the layout `GENERAL`, which allows every use. Multisampled images start as one texel everywhere
//! and cannot be read back; those drawn into are resolved.

use ash::vk;

use super::format::Format;
use crate::device::{Image, View};
use crosslane::run::RunError;
use crosslane::run::vulkan::Device;
use crosslane::run::vulkan::parts::{Block, Commands, Guard, allocate, refuse, run_failure};

/// The layout that all images are in.
pub const LAYOUT: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// An image, its memory, a view of all of it, and a buffer with its texels that the host can access.
pub struct Picture<'d> {
    pub view: Guard<'d, vk::ImageView>,
    pub format: &'static Format,
    image: Guard<'d, vk::Image>,
    _memory: Guard<'d, vk::DeviceMemory>,
    staging: Block<'d>,
    whole: vk::ImageSubresourceRange,
    copies: Vec<vk::BufferImageCopy>,
    start: Option<vk::ClearColorValue>,
    samples: u32,
}

impl<'d> Picture<'d> {
    /// An image for `usage`, not filled yet.
    pub fn new(device: &'d Device, image: &Image, usage: vk::ImageUsageFlags) -> Result<Self, RunError> {
        let format = Format::named(&image.format)?;
        check_data(image, format)?;
        let create = description(image, format, usage);
        check_support(device, &create, &image.format)?;
        // SAFETY: `create` is complete and the device supports it.
        let handle = unsafe { device.raw().create_image(&create, None) }.map_err(run_failure("vkCreateImage"))?;
        // SAFETY: the guard is the only owner.
        let owner = Guard::new(device, handle, |d, h| unsafe { d.destroy_image(h, None) });
        let memory = memory(device, handle)?;
        let range = vk::ImageSubresourceRange::default().aspect_mask(format.aspect());
        let whole = range.level_count(image.levels).layer_count(image.layers);
        let transfer = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        Ok(Self {
            view: view(device, handle, image, format, whole)?,
            image: owner,
            _memory: memory,
            staging: Block::new(device, transfer, &image.data)?,
            whole,
            copies: copies(image, format),
            start: if image.samples > 1 { Some(start(image)?) } else { None },
            samples: image.samples,
            format,
        })
    }

    /// Records the commands that fill it.
    pub fn load(&self, commands: &Commands<'_>) {
        let (raw, buffer, image) = (commands.device.raw(), commands.buffer, self.image.get());
        self.enter(commands);
        // SAFETY: the buffer is recording, and image and staging buffer are live and fit each other.
        unsafe {
            match self.start {
                Some(start) if self.format.is_depth() => {
                    let depth = vk::ClearDepthStencilValue { depth: start.float32[0], stencil: 0 };
                    raw.cmd_clear_depth_stencil_image(buffer, image, LAYOUT, &depth, &[self.whole]);
                }
                Some(start) => raw.cmd_clear_color_image(buffer, image, LAYOUT, &start, &[self.whole]),
                None => {
                    raw.cmd_copy_buffer_to_image(buffer, self.staging.buffer.get(), image, LAYOUT, &self.copies);
                }
            }
        }
    }

    /// Records the transition of all of it into [`LAYOUT`].
    fn enter(&self, commands: &Commands<'_>) {
        let barrier = [vk::ImageMemoryBarrier::default()
            .image(self.image.get())
            .old_layout(vk::ImageLayout::UNDEFINED)
            .new_layout(LAYOUT)
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .subresource_range(self.whole)];
        let (from, to) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
        let none = vk::DependencyFlags::empty();
        // SAFETY: the buffer is recording and the image live.
        unsafe { commands.device.raw().cmd_pipeline_barrier(commands.buffer, from, to, none, &[], &[], &barrier) };
    }

    /// Records the copy of its texels to host memory; does nothing for multisampled images.
    pub fn save(&self, commands: &Commands<'_>) {
        if self.samples > 1 {
            return;
        }
        let (raw, target) = (commands.device.raw(), self.staging.buffer.get());
        // SAFETY: the buffer is recording, and image and staging buffer are live and fit each other.
        unsafe { raw.cmd_copy_image_to_buffer(commands.buffer, self.image.get(), LAYOUT, target, &self.copies) };
    }

    /// Records the resolve of another image of the same size and format into this one.
    pub fn resolve(&self, commands: &Commands<'_>, from: &Self, image: &Image) {
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(self.format.aspect()).layer_count(image.layers);
        let region = vk::ImageResolve::default().src_subresource(layers).dst_subresource(layers);
        let region = [region.extent(extent(image.size))];
        let (raw, from, to) = (commands.device.raw(), from.image.get(), self.image.get());
        // SAFETY: the buffer is recording and both images are live.
        unsafe { raw.cmd_resolve_image(commands.buffer, from, LAYOUT, to, LAYOUT, &region) };
    }

    /// The texels after the commands have ended.
    pub fn download(&self, image: &mut Image) {
        self.staging.download(&mut image.data);
    }
}

fn extent([width, height, depth]: [u32; 3]) -> vk::Extent3D {
    vk::Extent3D { width, height, depth }
}

fn check_data(image: &Image, format: &Format) -> Result<(), RunError> {
    let bytes = image.texels() * format.bytes;
    if image.data.len() != bytes {
        return refuse(format!("an image of {bytes} bytes with {} bytes of texels", image.data.len()));
    }
    Ok(())
}

fn description(image: &Image, format: &Format, usage: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'static> {
    let (kind, flags) = match image.view {
        View::Line | View::LineArray => (vk::ImageType::TYPE_1D, vk::ImageCreateFlags::empty()),
        View::Plane | View::PlaneArray => (vk::ImageType::TYPE_2D, vk::ImageCreateFlags::empty()),
        View::Volume => (vk::ImageType::TYPE_3D, vk::ImageCreateFlags::empty()),
        View::Cube | View::CubeArray => (vk::ImageType::TYPE_2D, vk::ImageCreateFlags::CUBE_COMPATIBLE),
    };
    vk::ImageCreateInfo::default()
        .image_type(kind)
        .flags(flags)
        .format(format.vulkan)
        .extent(extent(image.size))
        .mip_levels(image.levels)
        .array_layers(image.layers)
        .samples(vk::SampleCountFlags::from_raw(image.samples))
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST)
}

/// Refuses images that the device does not support.
fn check_support(device: &Device, image: &vk::ImageCreateInfo<'_>, name: &str) -> Result<(), RunError> {
    let (instance, physical) = device.physical();
    // SAFETY: the physical device belongs to the instance.
    let found = unsafe {
        instance.get_physical_device_image_format_properties(
            physical,
            image.format,
            image.image_type,
            image.tiling,
            image.usage,
            image.flags,
        )
    };
    let fits = |limits: vk::ImageFormatProperties| limits.sample_counts.contains(image.samples);
    if found.is_ok_and(fits) {
        return Ok(());
    }
    refuse(format!("it has no image of the format `{name}` and {} samples for this use", image.samples.as_raw()))
}

fn memory(device: &Device, image: vk::Image) -> Result<Guard<'_, vk::DeviceMemory>, RunError> {
    // SAFETY: the image is live and belongs to this device.
    let needs = unsafe { device.raw().get_image_memory_requirements(image) };
    let memory = allocate(device, needs, vk::MemoryPropertyFlags::empty(), false)?;
    // SAFETY: the memory fits the image.
    unsafe { device.raw().bind_image_memory(image, memory.get(), 0) }.map_err(run_failure("vkBindImageMemory"))?;
    Ok(memory)
}

fn view<'d>(
    device: &'d Device,
    handle: vk::Image,
    image: &Image,
    format: &Format,
    whole: vk::ImageSubresourceRange,
) -> Result<Guard<'d, vk::ImageView>, RunError> {
    let kind = match image.view {
        View::Line => vk::ImageViewType::TYPE_1D,
        View::LineArray => vk::ImageViewType::TYPE_1D_ARRAY,
        View::Plane => vk::ImageViewType::TYPE_2D,
        View::PlaneArray => vk::ImageViewType::TYPE_2D_ARRAY,
        View::Volume => vk::ImageViewType::TYPE_3D,
        View::Cube => vk::ImageViewType::CUBE,
        View::CubeArray => vk::ImageViewType::CUBE_ARRAY,
    };
    let create = vk::ImageViewCreateInfo::default().image(handle).view_type(kind).format(format.vulkan);
    let create = create.subresource_range(whole);
    // SAFETY: the image is live and bound to memory.
    let handle = unsafe { device.raw().create_image_view(&create, None) }.map_err(run_failure("vkCreateImageView"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_image_view(h, None) }))
}

/// One copy for each level; the levels follow each other in the buffer.
fn copies(image: &Image, format: &Format) -> Vec<vk::BufferImageCopy> {
    let mut offset = 0;
    let copy = |level| {
        let size = image.size_of(level);
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(format.aspect()).mip_level(level);
        let layers = layers.layer_count(image.layers);
        let copy = vk::BufferImageCopy::default().buffer_offset(offset).image_subresource(layers);
        offset += u64::from(size.iter().product::<u32>() * image.layers) * format.bytes as u64;
        copy.image_extent(extent(size))
    };
    (0..image.levels).map(copy).collect()
}

/// The first texel as a clear value; it must have 32-bit words or be zero.
fn start(image: &Image) -> Result<vk::ClearColorValue, RunError> {
    let wide = image.format.contains("32");
    if !wide && image.data.iter().any(|&byte| byte != 0) {
        return refuse("images of more samples start as zero where their components are narrow");
    }
    let mut words = image.data.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let uint32 = [(); 4].map(|()| if wide { words.next().unwrap_or(0) } else { 0 });
    Ok(vk::ClearColorValue { uint32 })
}
