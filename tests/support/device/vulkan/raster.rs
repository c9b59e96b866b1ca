//! The pipeline of a draw: its stages, its vertex inputs, and neutral fixed functions: one viewport over the whole
//! target, no culling, depth test less or equal.

use ash::vk;

use super::format::Format;
use super::pass::Pass;
use crate::device::{Attribute, Draw, Rate, Target, Topology};
use crosslane::ir::Stage;
use crosslane::run::RunError;
use crosslane::run::vulkan::parts::{Guard, Layout, entry_name, refuse, run_failure, shader_module, specialization};

pub fn pipeline<'d>(
    draw: &Draw<'_>,
    target: &Target,
    layout: &Layout<'d>,
    pass: &Pass<'d>,
) -> Result<Guard<'d, vk::Pipeline>, RunError> {
    let device = layout.device;
    let (entries, values) = specialization(draw.spec_constants);
    let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&values);
    let shaders: Vec<_> = draw.shaders().collect();
    let modules =
        shaders.iter().map(|(_, shader)| shader_module(device, shader.spirv)).collect::<Result<Vec<_>, _>>()?;
    let names = shaders.iter().map(|(_, shader)| entry_name(shader.entry)).collect::<Result<Vec<_>, _>>()?;
    let mut stages = Vec::new();
    for (n, (stage, _)) in shaders.iter().enumerate() {
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(stage_flag(*stage)?).module(modules[n].get());
        stages.push(stage.name(&names[n]).specialization_info(&constants));
    }
    let (bindings, attributes) = inputs(draw.attributes)?;
    let inputs = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&bindings)
        .vertex_attribute_descriptions(&attributes);
    let area = [vk::Rect2D::default().extent(pass.extent)];
    let viewport = [viewport(pass.extent)];
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewports(&viewport).scissors(&area);
    let blends: Vec<_> = target.colors.iter().map(|_| blend(draw.dual_source)).collect();
    let fixed = Fixed::new(draw, target);
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let create = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&inputs)
        .input_assembly_state(&fixed.assembly)
        .tessellation_state(&fixed.patches)
        .viewport_state(&viewport)
        .rasterization_state(&fixed.raster)
        .multisample_state(&fixed.samples)
        .depth_stencil_state(&fixed.depth)
        .color_blend_state(&blend)
        .layout(layout.pipeline.get())
        .render_pass(pass.render.get());
    // SAFETY: all that `create` points to outlives the call.
    let made = unsafe { device.raw().create_graphics_pipelines(vk::PipelineCache::null(), &[create], None) };
    let pipelines = made.map_err(|(_, code)| run_failure("vkCreateGraphicsPipelines")(code))?;
    // SAFETY: the guard is the only owner; one pipeline was requested.
    Ok(Guard::new(device, pipelines[0], |d, h| unsafe { d.destroy_pipeline(h, None) }))
}

fn stage_flag(stage: Stage) -> Result<vk::ShaderStageFlags, RunError> {
    match stage {
        Stage::Vertex => Ok(vk::ShaderStageFlags::VERTEX),
        Stage::Geometry => Ok(vk::ShaderStageFlags::GEOMETRY),
        Stage::TessControl => Ok(vk::ShaderStageFlags::TESSELLATION_CONTROL),
        Stage::TessEvaluation => Ok(vk::ShaderStageFlags::TESSELLATION_EVALUATION),
        Stage::Fragment => Ok(vk::ShaderStageFlags::FRAGMENT),
        Stage::Task => Ok(vk::ShaderStageFlags::TASK_EXT),
        Stage::Mesh => Ok(vk::ShaderStageFlags::MESH_EXT),
        _ => refuse("a stage that is none of a draw"),
    }
}

/// The state that does not come from shaders.
struct Fixed {
    assembly: vk::PipelineInputAssemblyStateCreateInfo<'static>,
    patches: vk::PipelineTessellationStateCreateInfo<'static>,
    raster: vk::PipelineRasterizationStateCreateInfo<'static>,
    samples: vk::PipelineMultisampleStateCreateInfo<'static>,
    depth: vk::PipelineDepthStencilStateCreateInfo<'static>,
}

impl Fixed {
    fn new(draw: &Draw<'_>, target: &Target) -> Self {
        let topology = match draw.topology {
            Topology::Points => vk::PrimitiveTopology::POINT_LIST,
            Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
            Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
            Topology::Strip => vk::PrimitiveTopology::TRIANGLE_STRIP,
            Topology::Adjacent => vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY,
            Topology::Patches(_) => vk::PrimitiveTopology::PATCH_LIST,
        };
        let patch = if let Topology::Patches(vertices) = draw.topology { vertices } else { 1 };
        let samples = target.images().next().map_or(1, |image| image.samples);
        let samples = vk::SampleCountFlags::from_raw(samples);
        let deep = target.depth.is_some();
        Self {
            assembly: vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology),
            patches: vk::PipelineTessellationStateCreateInfo::default().patch_control_points(patch),
            raster: vk::PipelineRasterizationStateCreateInfo::default()
                .polygon_mode(vk::PolygonMode::FILL)
                .front_face(vk::FrontFace::CLOCKWISE)
                .line_width(1.0),
            samples: vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(samples),
            depth: vk::PipelineDepthStencilStateCreateInfo::default()
                .depth_test_enable(deep)
                .depth_write_enable(deep)
                .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL),
        }
    }
}

fn viewport(extent: vk::Extent2D) -> vk::Viewport {
    vk::Viewport::default().width(extent.width as f32).height(extent.height as f32).max_depth(1.0)
}

fn blend(dual_source: bool) -> vk::PipelineColorBlendAttachmentState {
    let state = vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA);
    match dual_source {
        false => state,
        true => state
            .blend_enable(true)
            .src_color_blend_factor(vk::BlendFactor::ONE)
            .dst_color_blend_factor(vk::BlendFactor::SRC1_COLOR)
            .src_alpha_blend_factor(vk::BlendFactor::ONE)
            .dst_alpha_blend_factor(vk::BlendFactor::SRC1_ALPHA),
    }
}

/// One buffer for each input: the n-th attribute is read from the n-th buffer.
type Inputs = (Vec<vk::VertexInputBindingDescription>, Vec<vk::VertexInputAttributeDescription>);

fn inputs(attributes: &[Attribute]) -> Result<Inputs, RunError> {
    let (mut bindings, mut places) = (Vec::new(), Vec::new());
    for (n, attribute) in (0..).zip(attributes) {
        let format = Format::named(&attribute.format)?;
        let rate = match attribute.rate {
            Rate::Vertex => vk::VertexInputRate::VERTEX,
            Rate::Instance => vk::VertexInputRate::INSTANCE,
        };
        let binding = vk::VertexInputBindingDescription::default().binding(n).stride(format.bytes as u32);
        bindings.push(binding.input_rate(rate));
        let place = vk::VertexInputAttributeDescription::default().location(attribute.location).binding(n);
        places.push(place.format(format.vulkan));
    }
    Ok((bindings, places))
}
