//! Where shaders find their resources: the layouts of descriptor sets and of the push constants.

use std::collections::BTreeMap;

use ash::vk;

use super::guard::Guard;
use super::{Device, run_failure};
use crate::run::{BufferKind, ImageKind, Resources, RunError};

/// The place of one resource.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub set: u32,
    pub binding: u32,
    pub element: u32,
    pub kind: vk::DescriptorType,
}

/// The places of all resources: buffers, texels, images, samplers.
pub(super) fn slots(resources: &Resources) -> Vec<Slot> {
    let slot = |set, binding, element, kind| Slot { set, binding, element, kind };
    let buffers = resources.buffers.iter().map(|b| slot(b.set, b.binding, b.element, of_buffer(b.kind)));
    let texels = resources.texels.iter().map(|t| slot(t.set, t.binding, t.element, of_texels(t.storage)));
    let images = resources.images.iter().map(|i| slot(i.set, i.binding, i.element, of_image(i.kind)));
    let sampler = vk::DescriptorType::SAMPLER;
    let samplers = resources.samplers.iter().map(|s| slot(s.set, s.binding, s.element, sampler));
    buffers.chain(texels).chain(images).chain(samplers).collect()
}

fn of_buffer(kind: BufferKind) -> vk::DescriptorType {
    match kind {
        BufferKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BufferKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
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

/// The error for what Vulkan leaves undefined and the host can see.
pub(super) fn refuse<T>(why: impl Into<String>) -> Result<T, RunError> {
    Err(RunError::Refused(why.into()))
}

/// The layouts of a pipeline.
pub(super) struct Layout<'d> {
    pub device: &'d Device,
    pub slots: Vec<Slot>,
    pub stages: vk::ShaderStageFlags,
    pub sets: Vec<Guard<'d, vk::DescriptorSetLayout>>,
    pub pipeline: Guard<'d, vk::PipelineLayout>,
    push_size: usize,
}

impl<'d> Layout<'d> {
    /// The layouts for `resources` and that many bytes of push constants, for shaders of `stages`.
    pub(super) fn new(
        device: &'d Device,
        stages: vk::ShaderStageFlags,
        resources: &Resources,
        push_size: usize,
    ) -> Result<Self, RunError> {
        let slots = slots(resources);
        check_push_size(device, push_size)?;
        let bindings = bindings(device, &slots)?;
        let count = slots.iter().map(|s| s.set + 1).max().unwrap_or(0);
        // Sets between those in use may be empty.
        let sets = (0..count).map(|set| set_layout(device, stages, set, &bindings)).collect::<Result<Vec<_>, _>>()?;
        let pipeline = pipeline_layout(device, stages, &sets, push_size as u32)?;
        Ok(Self { device, slots, stages, sets, pipeline, push_size })
    }

    /// Whether `resources` and `push_constants` stand where they stood when this was made.
    pub(super) fn check(&self, resources: &Resources, push_constants: &[u8]) -> Result<(), RunError> {
        if slots(resources) != self.slots {
            return refuse("the resources are not where they were when the kernel was made");
        }
        if push_constants.len() != self.push_size {
            return refuse("the push constants have not the size they had when the kernel was made");
        }
        Ok(())
    }
}

fn check_push_size(device: &Device, size: usize) -> Result<(), RunError> {
    let most = device.limits.max_push_constants_size;
    if !size.is_multiple_of(4) || size > most as usize {
        return refuse(format!("{size} bytes of push constants; it takes a multiple of 4 up to {most}"));
    }
    Ok(())
}

/// The kind and number of elements of each set's bindings.
type Bindings = BTreeMap<(u32, u32), (vk::DescriptorType, u32)>;

fn bindings(device: &Device, slots: &[Slot]) -> Result<Bindings, RunError> {
    let most = device.limits.max_bound_descriptor_sets;
    let mut bindings = Bindings::new();
    for &Slot { set, binding, element, kind } in slots {
        if set >= most {
            return refuse(format!("descriptor set {set}; it has {most}"));
        }
        let (known, count) = bindings.entry((set, binding)).or_insert((kind, 0));
        if *known != kind || *count != element {
            return refuse(format!("set {set}, binding {binding}: bound twice, or elements not in order"));
        }
        *count += 1;
    }
    Ok(bindings)
}

fn set_layout<'d>(
    device: &'d Device,
    stages: vk::ShaderStageFlags,
    set: u32,
    bindings: &Bindings,
) -> Result<Guard<'d, vk::DescriptorSetLayout>, RunError> {
    let row = |(&(_, binding), &(kind, count)): (&(u32, u32), &(vk::DescriptorType, u32))| {
        // Input attachments belong to fragments alone.
        let stages = if kind == vk::DescriptorType::INPUT_ATTACHMENT { vk::ShaderStageFlags::FRAGMENT } else { stages };
        let row = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(kind);
        row.descriptor_count(count).stage_flags(stages)
    };
    let bindings: Vec<_> = bindings.range((set, 0)..=(set, u32::MAX)).map(row).collect();
    let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the bindings are distinct.
    let handle = unsafe { device.raw.create_descriptor_set_layout(&create, None) }
        .map_err(run_failure("vkCreateDescriptorSetLayout"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_descriptor_set_layout(h, None) }))
}

fn pipeline_layout<'d>(
    device: &'d Device,
    stages: vk::ShaderStageFlags,
    sets: &[Guard<'d, vk::DescriptorSetLayout>],
    push_size: u32,
) -> Result<Guard<'d, vk::PipelineLayout>, RunError> {
    let handles: Vec<_> = sets.iter().map(Guard::get).collect();
    let range = [vk::PushConstantRange::default().stage_flags(stages).size(push_size)];
    let ranges = if push_size == 0 { &[][..] } else { &range[..] };
    let create = vk::PipelineLayoutCreateInfo::default().set_layouts(&handles).push_constant_ranges(ranges);
    // SAFETY: the set layouts are alive; the range is within the device's limit (`check_push_size`).
    let handle =
        unsafe { device.raw.create_pipeline_layout(&create, None) }.map_err(run_failure("vkCreatePipelineLayout"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_pipeline_layout(h, None) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{BufferBinding, TexelBinding};

    #[test]
    fn places_follow_the_resources() {
        let texels =
            TexelBinding { set: 2, binding: 0, element: 0, storage: false, format: "r32f".into(), data: vec![] };
        let mut resources = Resources::from(vec![BufferBinding::storage(0, 1, vec![])]);
        resources.texels.push(texels);
        let found = slots(&resources);
        assert_eq!((found[0].set, found[0].binding), (0, 1));
        assert_eq!(found[1].set, 2);
        assert!(found[1].kind == vk::DescriptorType::UNIFORM_TEXEL_BUFFER);
    }
}
