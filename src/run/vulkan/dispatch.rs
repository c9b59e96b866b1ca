//! One dispatch of a kernel, from bytes to bytes.

use ash::vk;

use super::bound::{Bound, Sets};
use super::command::Commands;
use super::kernel::Kernel;
use crate::run::{Resources, RunError};

pub(super) fn run(
    kernel: &Kernel<'_>,
    groups: [u32; 3],
    push_constants: &[u8],
    resources: &mut Resources,
) -> Result<(), RunError> {
    let bound = Bound::new(kernel.layout.device, resources)?;
    let push_constants = bound.with_addresses(push_constants, resources)?;
    let sets = bound.sets(&kernel.layout)?;
    let commands = Commands::new(kernel.layout.device)?;
    bound.load(&commands);
    commands.barrier();
    record(kernel, groups, &push_constants, &sets, commands.buffer);
    commands.barrier();
    bound.save(&commands);
    commands.barrier();
    commands.finish()?;
    bound.download(resources);
    Ok(())
}

fn record(kernel: &Kernel<'_>, [x, y, z]: [u32; 3], push_constants: &[u8], sets: &Sets<'_>, buffer: vk::CommandBuffer) {
    let raw = &kernel.layout.device.raw;
    let point = vk::PipelineBindPoint::COMPUTE;
    let layout = kernel.layout.pipeline.get();
    // SAFETY: every handle is alive and of this device; `Kernel::run` keeps sizes and counts within its limits.
    unsafe {
        raw.cmd_bind_pipeline(buffer, point, kernel.pipeline.get());
        if !sets.handles.is_empty() {
            raw.cmd_bind_descriptor_sets(buffer, point, layout, 0, &sets.handles, &[]);
        }
        if !push_constants.is_empty() {
            raw.cmd_push_constants(buffer, layout, kernel.layout.stages, 0, push_constants);
        }
        raw.cmd_dispatch(buffer, x, y, z);
    }
}
