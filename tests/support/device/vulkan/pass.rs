//! The render pass of a draw: its targets, its input attachments, and the framebuffer that binds them.

use ash::vk;

use super::bound::Bound;
use super::image::{LAYOUT, Picture};
use crate::device::{Image, ImageBinding, ImageKind, Resources, Target};
use crosslane::run::RunError;
use crosslane::run::vulkan::Device;
use crosslane::run::vulkan::parts::{Commands, Guard, refuse, run_failure};

/// The images of a target on the device: those drawn into, and for multisampled ones the resolved images.
pub struct Canvas<'d> {
    pub drawn: Vec<Picture<'d>>,
    resolved: Vec<Option<Picture<'d>>>,
}

impl<'d> Canvas<'d> {
    pub fn new(device: &'d Device, target: &Target) -> Result<Self, RunError> {
        let drawn = target.images().map(|image| drawn(device, image)).collect::<Result<_, _>>()?;
        let resolved = target.images().map(|image| resolved(device, image)).collect::<Result<_, _>>()?;
        Ok(Self { drawn, resolved })
    }

    /// Records the commands that fill the images.
    pub fn load(&self, commands: &Commands<'_>) {
        self.drawn.iter().chain(self.resolved.iter().flatten()).for_each(|picture| picture.load(commands));
    }

    /// Records the commands that read them back.
    pub fn save(&self, commands: &Commands<'_>, target: &Target) {
        for ((drawn, resolved), image) in self.drawn.iter().zip(&self.resolved).zip(target.images()) {
            if let Some(resolved) = resolved {
                resolved.resolve(commands, drawn, image);
                commands.barrier();
            }
            resolved.as_ref().unwrap_or(drawn).save(commands);
        }
    }

    /// Downloads the attachments, once the commands have ended.
    pub fn download(&self, target: &mut Target) {
        for ((drawn, resolved), image) in self.drawn.iter().zip(&self.resolved).zip(target.images_mut()) {
            resolved.as_ref().unwrap_or(drawn).download(image);
        }
    }
}

fn drawn<'d>(device: &'d Device, image: &Image) -> Result<Picture<'d>, RunError> {
    let usage = match image.format.as_str() {
        "d32" => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        _ => vk::ImageUsageFlags::COLOR_ATTACHMENT,
    };
    Picture::new(device, image, usage)
}

/// Multisampled depths are not resolved: Vulkan has no such command.
fn resolved<'d>(device: &'d Device, image: &Image) -> Result<Option<Picture<'d>>, RunError> {
    if image.samples == 1 || image.format == "d32" {
        return Ok(None);
    }
    let single = Image { samples: 1, ..image.clone() };
    Picture::new(device, &single, vk::ImageUsageFlags::COLOR_ATTACHMENT).map(Some)
}

/// A render pass of one subpass and its framebuffer. The attachments are the colours, the depth, then the inputs.
pub struct Pass<'d> {
    pub render: Guard<'d, vk::RenderPass>,
    pub frame: Guard<'d, vk::Framebuffer>,
    pub extent: vk::Extent2D,
}

impl<'d> Pass<'d> {
    pub fn new(
        device: &'d Device,
        target: &Target,
        canvas: &Canvas<'d>,
        resources: &Resources,
        bound: &Bound<'d>,
    ) -> Result<Self, RunError> {
        let Some(first) = target.images().next() else { return refuse("nothing to draw into") };
        let [width, height, _] = first.size;
        let extent = vk::Extent2D { width, height };
        let is_input = |binding: &&ImageBinding| binding.kind == ImageKind::Input;
        let inputs: Vec<_> = resources.images.iter().filter(is_input).map(|binding| &binding.image).collect();
        let render = render_pass(device, target, &inputs)?;
        let bound = bound.pictures.iter().zip(&resources.images).filter(|(_, binding)| is_input(binding));
        let views = canvas.drawn.iter().chain(bound.map(|((picture, _), _)| picture)).map(|p| p.view.get());
        // Views of a render pass are layers that the framebuffer does not count.
        let layers = if target.multiview { 1 } else { first.layers };
        let frame = framebuffer(device, render.get(), &views.collect::<Vec<_>>(), extent, layers)?;
        Ok(Self { render, frame, extent })
    }
}

fn attachment(image: &Image) -> Result<vk::AttachmentDescription, RunError> {
    Ok(vk::AttachmentDescription::default()
        .format(super::format::Format::named(&image.format)?.vulkan)
        .samples(vk::SampleCountFlags::from_raw(image.samples))
        .load_op(vk::AttachmentLoadOp::LOAD)
        .store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(LAYOUT)
        .final_layout(LAYOUT))
}

fn render_pass<'d>(
    device: &'d Device,
    target: &Target,
    inputs: &[&Image],
) -> Result<Guard<'d, vk::RenderPass>, RunError> {
    let images = target.images().chain(inputs.iter().copied());
    let attachments = images.map(attachment).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<_> = (0..attachments.len() as u32)
        .map(|n| vk::AttachmentReference::default().attachment(n).layout(LAYOUT))
        .collect();
    let (colors, rest) = all.split_at(target.colors.len());
    let (depth, inputs) = rest.split_at(usize::from(target.depth.is_some()));
    let subpass = vk::SubpassDescription::default().color_attachments(colors).input_attachments(inputs);
    let subpass = [match depth {
        [depth] => subpass.depth_stencil_attachment(depth),
        _ => subpass,
    }];
    let masks = [views(target)];
    let mut views = vk::RenderPassMultiviewCreateInfo::default().view_masks(&masks);
    let create = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpass);
    let create = if target.multiview { create.push_next(&mut views) } else { create };
    // SAFETY: all that `create` points to outlives the call.
    let handle =
        unsafe { device.raw().create_render_pass(&create, None) }.map_err(run_failure("vkCreateRenderPass"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_render_pass(h, None) }))
}

/// One bit for each layer.
fn views(target: &Target) -> u32 {
    target.images().next().map_or(0, |image| (1 << image.layers) - 1)
}

fn framebuffer<'d>(
    device: &'d Device,
    pass: vk::RenderPass,
    views: &[vk::ImageView],
    extent: vk::Extent2D,
    layers: u32,
) -> Result<Guard<'d, vk::Framebuffer>, RunError> {
    let create = vk::FramebufferCreateInfo::default().render_pass(pass).attachments(views);
    let create = create.width(extent.width).height(extent.height).layers(layers);
    // SAFETY: pass and views are live and fit each other.
    let handle =
        unsafe { device.raw().create_framebuffer(&create, None) }.map_err(run_failure("vkCreateFramebuffer"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_framebuffer(h, None) }))
}
