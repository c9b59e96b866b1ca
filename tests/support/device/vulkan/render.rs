//! One draw, from bytes to bytes.

use ash::vk;

use super::pass::{Canvas, Pass};
use super::raster;
use crate::device::{Draw, Resources, Target};
use crosslane::run::RunError;
use crosslane::run::vulkan::Device;
use crosslane::run::vulkan::parts::{Block, Bound as _, Commands, Layout, Resources as _, Sets, refuse};

/// The stages of a draw; mesh shader stages must not be used on devices that do not support them.
fn stages(draw: &Draw<'_>) -> vk::ShaderStageFlags {
    let mesh = vk::ShaderStageFlags::TASK_EXT | vk::ShaderStageFlags::MESH_EXT | vk::ShaderStageFlags::FRAGMENT;
    if draw.vertex.is_some() { vk::ShaderStageFlags::ALL_GRAPHICS } else { mesh }
}

/// Draws once with `resources` bound, waits for the end, and updates them and `target` with what was drawn or stored.
pub fn draw(device: &Device, draw: &Draw<'_>, resources: &mut Resources, target: &mut Target) -> Result<(), RunError> {
    device.check_free()?;
    check(device, target)?;
    let layout = Layout::new(device, stages(draw), resources.slots(), draw.push_constants.len())?;
    let bound = resources.bind(device)?;
    let push_constants = bound.push_constants(draw.push_constants, resources)?;
    let sets = Sets::new(&layout, bound.held())?;
    let canvas = Canvas::new(device, target)?;
    let pass = Pass::new(device, target, &canvas, resources, &bound)?;
    let pipeline = raster::pipeline(draw, target, &layout, &pass)?;
    let vertices = vertex_buffers(device, draw)?;
    let commands = Commands::new(device)?;
    bound.load(&commands);
    canvas.load(&commands);
    commands.barrier();
    let recorder = Recorder { draw, layout: &layout, pass: &pass, commands: &commands };
    recorder.bind(pipeline.get(), &sets, &push_constants, &vertices);
    recorder.draw();
    commands.barrier();
    bound.save(&commands);
    canvas.save(&commands, target);
    commands.barrier();
    commands.finish()?;
    bound.download(resources);
    canvas.download(target);
    Ok(())
}

fn check(device: &Device, target: &Target) -> Result<(), RunError> {
    if !device.can_draw() {
        return refuse("its queue cannot draw");
    }
    let mut images = target.images().map(|image| (image.size, image.layers, image.samples));
    let first = images.next();
    if images.any(|other| Some(other) != first) {
        return refuse("the images that are drawn into differ in size, layers or samples");
    }
    Ok(())
}

fn vertex_buffers<'d>(device: &'d Device, draw: &Draw<'_>) -> Result<Vec<Block<'d>>, RunError> {
    let usage = vk::BufferUsageFlags::VERTEX_BUFFER;
    draw.attributes.iter().map(|attribute| Block::new(device, usage, &attribute.data)).collect()
}

/// Records a draw.
struct Recorder<'a, 'd> {
    draw: &'a Draw<'a>,
    layout: &'a Layout<'d>,
    pass: &'a Pass<'d>,
    commands: &'a Commands<'d>,
}

impl Recorder<'_, '_> {
    fn bind(&self, pipeline: vk::Pipeline, sets: &Sets<'_>, push_constants: &[u8], vertices: &[Block<'_>]) {
        let (raw, buffer, point) = (self.commands.device.raw(), self.commands.buffer, vk::PipelineBindPoint::GRAPHICS);
        let vertices: Vec<_> = vertices.iter().map(|block| block.buffer.get()).collect();
        sets.record(self.commands, self.layout, point, push_constants);
        // SAFETY: the buffer is recording; every handle is live and belongs to this device.
        unsafe {
            raw.cmd_bind_pipeline(buffer, point, pipeline);
            if !vertices.is_empty() {
                raw.cmd_bind_vertex_buffers(buffer, 0, &vertices, &vec![0; vertices.len()]);
            }
        }
    }

    fn draw(&self) {
        let (raw, buffer) = (self.commands.device.raw(), self.commands.buffer);
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass.render.get())
            .framebuffer(self.pass.frame.get())
            .render_area(vk::Rect2D::default().extent(self.pass.extent));
        let (vertices, instances) = (&self.draw.vertices, &self.draw.instances);
        let (some, many) = (vertices.len() as u32, instances.len() as u32);
        // SAFETY: the buffer is recording, and the draw's resources are bound.
        unsafe {
            raw.cmd_begin_render_pass(buffer, &begin, vk::SubpassContents::INLINE);
            if self.draw.vertex.is_some() {
                raw.cmd_draw(buffer, some, many, vertices.start, instances.start);
            } else {
                let [x, y, z] = self.draw.meshes;
                let (instance, _) = self.commands.device.physical();
                ash::ext::mesh_shader::Device::new(instance, raw).cmd_draw_mesh_tasks(buffer, x, y, z);
            }
            raw.cmd_end_render_pass(buffer);
        }
    }
}
