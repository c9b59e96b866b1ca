//! The layouts of descriptor sets and of the push constants.

use std::collections::BTreeMap;

use ash::vk;

use super::guard::Guard;
use super::{Device, run_failure};
use crate::run::RunError;

/// The place of one resource.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The descriptor set.
    pub set: u32,
    /// The binding within the set.
    pub binding: u32,
    /// The element, if the binding is an array.
    pub element: u32,
    /// The type of the descriptor.
    pub kind: vk::DescriptorType,
}

/// The error for host-visible mistakes that are undefined in Vulkan.
///
/// # Errors
/// Always returns [`RunError::Refused`].
pub fn refuse<T>(why: impl Into<String>) -> Result<T, RunError> {
    Err(RunError::Refused(why.into()))
}

/// The layouts of a pipeline.
pub struct Layout<'d> {
    /// The device of the layouts.
    pub device: &'d Device,
    /// The stages that see the resources.
    pub stages: vk::ShaderStageFlags,
    /// The layout of a pipeline that uses them.
    pub pipeline: Guard<'d, vk::PipelineLayout>,
    pub(super) slots: Vec<Slot>,
    pub(super) sets: Vec<Guard<'d, vk::DescriptorSetLayout>>,
    push_size: usize,
}

impl<'d> Layout<'d> {
    /// The layouts for resources at `slots` and that many bytes of push constants, for shaders of `stages`.
    ///
    /// # Errors
    /// Returns [`RunError`] if the device has no room for the layouts.
    pub fn new(
        device: &'d Device,
        stages: vk::ShaderStageFlags,
        slots: Vec<Slot>,
        push_size: usize,
    ) -> Result<Self, RunError> {
        check_push_size(device, push_size)?;
        let bindings = bindings(device, &slots)?;
        let count = slots.iter().map(|s| s.set + 1).max().unwrap_or(0);
        // Sets between the used ones may be empty.
        let sets = (0..count).map(|set| set_layout(device, stages, set, &bindings)).collect::<Result<Vec<_>, _>>()?;
        let pipeline = pipeline_layout(device, stages, &sets, push_size as u32)?;
        Ok(Self { device, slots, stages, sets, pipeline, push_size })
    }

    /// Refuses resources and push constants in other places than those the layout was created for.
    pub(super) fn check(&self, slots: &[Slot], push_constants: &[u8]) -> Result<(), RunError> {
        if slots != self.slots {
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
    // SAFETY: the set layouts are live; the range is within the device's limit (`check_push_size`).
    let handle =
        unsafe { device.raw.create_pipeline_layout(&create, None) }.map_err(run_failure("vkCreatePipelineLayout"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_pipeline_layout(h, None) }))
}
