//! A kernel: a job checked against its device, its layouts, and its compiled pipeline.

use std::ffi::CString;

use ash::vk;

use super::bound::Resources;
use super::guard::Guard;
use super::layout::{Layout, refuse};
use super::{Device, dispatch, run_failure};
use crate::run::{Job, RunError};

/// A compiled pipeline that can run any number of times, with resources in the same places and push constants of the
/// same size.
pub struct Kernel<'d> {
    pub(super) layout: Layout<'d>,
    pub(super) pipeline: Guard<'d, vk::Pipeline>,
}

impl<'d> Kernel<'d> {
    pub(super) fn new(device: &'d Device, job: &Job<'_>, resources: &impl Resources) -> Result<Self, RunError> {
        check_subgroups(device, job)?;
        let layout = Layout::new(device, vk::ShaderStageFlags::COMPUTE, resources.slots(), job.push_constants.len())?;
        let pipeline = compute_pipeline(device, job, layout.pipeline.get())?;
        Ok(Self { layout, pipeline })
    }

    /// Runs over `groups` workgroups, waits for the end, and copies the results back to the resources.
    ///
    /// # Errors
    /// Returns [`RunError`]; the resources are then unchanged.
    pub fn run(&self, groups: [u32; 3], push_constants: &[u8], resources: &mut impl Resources) -> Result<(), RunError> {
        self.layout.device.check_free()?;
        self.layout.check(&resources.slots(), push_constants)?;
        check_groups(self.layout.device, groups)?;
        dispatch::run(self, groups, push_constants, resources)
    }
}

fn check_groups(device: &Device, groups: [u32; 3]) -> Result<(), RunError> {
    let most = device.limits.max_compute_work_group_count;
    match groups.iter().zip(most).find(|(asked, most)| *asked > most) {
        Some((asked, most)) => refuse(format!("{asked} workgroups in one dimension; it takes {most}")),
        None => Ok(()),
    }
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

/// The driver's object for a module.
///
/// # Errors
/// Returns [`RunError`] if the driver refuses the module.
pub fn shader_module<'d>(device: &'d Device, spirv: &[u32]) -> Result<Guard<'d, vk::ShaderModule>, RunError> {
    let create = vk::ShaderModuleCreateInfo::default().code(spirv);
    // SAFETY: the caller guarantees that the words are a valid module.
    let handle =
        unsafe { device.raw.create_shader_module(&create, None) }.map_err(run_failure("vkCreateShaderModule"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_shader_module(h, None) }))
}

/// The name of an entry point as a C string.
///
/// # Errors
/// Returns [`RunError::Refused`] if the name contains a zero byte.
pub fn entry_name(name: &str) -> Result<CString, RunError> {
    CString::new(name).or_else(|_| refuse("the entry point's name holds a zero byte"))
}

/// The compiled pipeline of a job's module.
///
/// # Errors
/// Returns [`RunError`] if the driver refuses the module.
pub fn compute_pipeline<'d>(
    device: &'d Device,
    job: &Job<'_>,
    layout: vk::PipelineLayout,
) -> Result<Guard<'d, vk::Pipeline>, RunError> {
    let module = shader_module(device, job.spirv)?;
    let entry = entry_name(job.entry)?;
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
    // SAFETY: the guard is the only owner; exactly one pipeline was requested.
    Ok(Guard::new(device, pipelines[0], |d, h| unsafe { d.destroy_pipeline(h, None) }))
}

/// The place of each constant in the bytes, and the bytes.
pub fn specialization(constants: &[(u32, u32)]) -> (Vec<vk::SpecializationMapEntry>, Vec<u8>) {
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
