//! A kernel: a job checked against its device, its layouts, and its compiled pipeline.

use std::collections::BTreeSet;
use std::ffi::CString;

use ash::vk;

use super::guard::Guard;
use super::{Device, dispatch, run_failure};
use crate::run::{BufferBinding, BufferKind, Job, RunError};

/// Where a kernel finds one buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub set: u32,
    pub binding: u32,
    pub kind: BufferKind,
}

impl Slot {
    fn of(buffer: &BufferBinding) -> Self {
        Self { set: buffer.set, binding: buffer.binding, kind: buffer.kind }
    }
}

/// A compiled pipeline that runs any number of times, over buffers in the same places and push constants of the same
/// size.
pub struct Kernel<'d> {
    pub(super) device: &'d Device,
    pub(super) slots: Vec<Slot>,
    push_size: usize,
    pub(super) sets: Vec<Guard<'d, vk::DescriptorSetLayout>>,
    pub(super) layout: Guard<'d, vk::PipelineLayout>,
    pub(super) pipeline: Guard<'d, vk::Pipeline>,
}

impl<'d> Kernel<'d> {
    pub(super) fn new(device: &'d Device, job: &Job<'_>, buffers: &[BufferBinding]) -> Result<Self, RunError> {
        let slots: Vec<_> = buffers.iter().map(Slot::of).collect();
        let push_size = job.push_constants.len();
        check_subgroups(device, job)?;
        check_slots(device, &slots)?;
        check_push_size(device, push_size)?;
        let sets = set_layouts(device, &slots)?;
        let layout = pipeline_layout(device, &sets, push_size as u32)?;
        let pipeline = pipeline(device, job, layout.get())?;
        Ok(Self { device, slots, push_size, sets, layout, pipeline })
    }

    /// Runs over `groups` workgroups, waits for the end, and leaves in each buffer what the shader left there.
    ///
    /// # Errors
    /// [`RunError`]; the buffers are then unchanged.
    pub fn run(&self, groups: [u32; 3], push_constants: &[u8], buffers: &mut [BufferBinding]) -> Result<(), RunError> {
        if self.device.stuck.get() {
            return refuse("an earlier shader never ended");
        }
        if !buffers.iter().map(Slot::of).eq(self.slots.iter().copied()) {
            return refuse("the buffers are not where they were when the kernel was made");
        }
        if push_constants.len() != self.push_size {
            return refuse("the push constants have not the size they had when the kernel was made");
        }
        check_groups(self.device, groups)?;
        dispatch::run(self, groups, push_constants, buffers)
    }
}

/// The error for what Vulkan leaves undefined and the host can see.
pub(super) fn refuse<T>(why: impl Into<String>) -> Result<T, RunError> {
    Err(RunError::Refused(why.into()))
}

fn check_groups(device: &Device, groups: [u32; 3]) -> Result<(), RunError> {
    let most = device.limits.max_compute_work_group_count;
    match groups.iter().zip(most).find(|(asked, most)| *asked > most) {
        Some((asked, most)) => refuse(format!("{asked} workgroups in one dimension; it takes {most}")),
        None => Ok(()),
    }
}

fn check_push_size(device: &Device, size: usize) -> Result<(), RunError> {
    let most = device.limits.max_push_constants_size;
    if !size.is_multiple_of(4) || size > most as usize {
        return refuse(format!("{size} bytes of push constants; it takes a multiple of 4 up to {most}"));
    }
    Ok(())
}

fn check_subgroups(device: &Device, job: &Job<'_>) -> Result<(), RunError> {
    if job.full_subgroups && !device.full_subgroups {
        return refuse("it cannot promise full subgroups");
    }
    let Some(size) = job.required_subgroup_size else { return Ok(()) };
    let (least, most) = device.info.subgroup_sizes;
    if !device.size_control || !size.is_power_of_two() || size < least || size > most {
        return refuse(format!("subgroups of {size}; it has {least} to {most}"));
    }
    Ok(())
}

fn check_slots(device: &Device, slots: &[Slot]) -> Result<(), RunError> {
    let most = device.limits.max_bound_descriptor_sets;
    let mut seen = BTreeSet::new();
    for &Slot { set, binding, .. } in slots {
        if set >= most {
            return refuse(format!("descriptor set {set}; it has {most}"));
        }
        if !seen.insert((set, binding)) {
            return refuse(format!("set {set}, binding {binding} is bound twice"));
        }
    }
    Ok(())
}

pub(super) fn descriptor_type(kind: BufferKind) -> vk::DescriptorType {
    match kind {
        BufferKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BufferKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
    }
}

/// One layout for each set from 0 to the highest used; sets between may be empty.
fn set_layouts<'d>(device: &'d Device, slots: &[Slot]) -> Result<Vec<Guard<'d, vk::DescriptorSetLayout>>, RunError> {
    let count = slots.iter().map(|s| s.set + 1).max().unwrap_or(0);
    (0..count).map(|set| set_layout(device, slots.iter().filter(|s| s.set == set))).collect()
}

fn set_layout<'d, 'b>(
    device: &'d Device,
    slots: impl Iterator<Item = &'b Slot>,
) -> Result<Guard<'d, vk::DescriptorSetLayout>, RunError> {
    let bindings: Vec<_> = slots
        .map(|slot| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(slot.binding)
                .descriptor_type(descriptor_type(slot.kind))
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        })
        .collect();
    let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the bindings are distinct (`check_slots`).
    let handle = unsafe { device.raw.create_descriptor_set_layout(&create, None) }
        .map_err(run_failure("vkCreateDescriptorSetLayout"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_descriptor_set_layout(h, None) }))
}

fn pipeline_layout<'d>(
    device: &'d Device,
    sets: &[Guard<'d, vk::DescriptorSetLayout>],
    push_size: u32,
) -> Result<Guard<'d, vk::PipelineLayout>, RunError> {
    let handles: Vec<_> = sets.iter().map(Guard::get).collect();
    let range = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push_size)];
    let ranges = if push_size == 0 { &[][..] } else { &range[..] };
    let create = vk::PipelineLayoutCreateInfo::default().set_layouts(&handles).push_constant_ranges(ranges);
    // SAFETY: the set layouts are alive; the range is within the device's limit (`check`).
    let handle =
        unsafe { device.raw.create_pipeline_layout(&create, None) }.map_err(run_failure("vkCreatePipelineLayout"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_pipeline_layout(h, None) }))
}

fn shader_module<'d>(device: &'d Device, spirv: &[u32]) -> Result<Guard<'d, vk::ShaderModule>, RunError> {
    let create = vk::ShaderModuleCreateInfo::default().code(spirv);
    // SAFETY: the words are the caller's promise of a valid module.
    let handle =
        unsafe { device.raw.create_shader_module(&create, None) }.map_err(run_failure("vkCreateShaderModule"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_shader_module(h, None) }))
}

fn pipeline<'d>(
    device: &'d Device,
    job: &Job<'_>,
    layout: vk::PipelineLayout,
) -> Result<Guard<'d, vk::Pipeline>, RunError> {
    let module = shader_module(device, job.spirv)?;
    let Ok(entry) = CString::new(job.entry) else { return refuse("the entry point's name holds a zero byte") };
    let (entries, values) = specialization(job.spec_constants);
    let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&values);
    let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
        .required_subgroup_size(job.required_subgroup_size.unwrap_or(0));
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module.get())
        .name(&entry)
        .specialization_info(&constants);
    if job.required_subgroup_size.is_some() {
        stage = stage.push_next(&mut size);
    }
    if job.full_subgroups {
        stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
    }
    let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: all that `create` points to outlives the call.
    let made = unsafe { device.raw.create_compute_pipelines(vk::PipelineCache::null(), &create, None) };
    let pipelines = made.map_err(|(_, code)| run_failure("vkCreateComputePipelines")(code))?;
    // SAFETY: the guard is the only owner; one pipeline was asked for.
    Ok(Guard::new(device, pipelines[0], |d, h| unsafe { d.destroy_pipeline(h, None) }))
}

fn specialization(constants: &[(u32, u32)]) -> (Vec<vk::SpecializationMapEntry>, Vec<u8>) {
    let entry = |(index, &(id, _)): (usize, &(u32, u32))| {
        vk::SpecializationMapEntry::default().constant_id(id).offset(index as u32 * 4).size(4)
    };
    let entries = constants.iter().enumerate().map(entry).collect();
    (entries, constants.iter().flat_map(|(_, value)| value.to_ne_bytes()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specialization_packs_one_word_a_constant() {
        let (entries, values) = specialization(&[(3, 0x0403_0201), (7, 9)]);
        assert_eq!(values.len(), 8);
        assert_eq!((entries[0].constant_id, entries[0].offset, entries[0].size), (3, 0, 4));
        assert_eq!((entries[1].constant_id, entries[1].offset), (7, 4));
        assert_eq!(values[4..], 9u32.to_ne_bytes());
    }
}
