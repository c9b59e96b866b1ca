//! One dispatch of a kernel, from bytes to bytes.

use ash::vk;

use super::bound::{Bound, Resources, Sets};
use super::command::Commands;
use super::kernel::Kernel;
use crate::run::RunError;

pub(super) fn run<R: Resources>(
    kernel: &Kernel<'_>,
    groups: [u32; 3],
    push_constants: &[u8],
    resources: &mut R,
) -> Result<(), RunError> {
    let layout = &kernel.layout;
    let bound = resources.bind(layout.device)?;
    let push_constants = bound.push_constants(push_constants, resources)?;
    let sets = Sets::new(layout, bound.held())?;
    let commands = Commands::new(layout.device)?;
    bound.load(&commands);
    commands.barrier();
    sets.record(&commands, layout, vk::PipelineBindPoint::COMPUTE, &push_constants);
    record(kernel, groups, &commands);
    commands.barrier();
    bound.save(&commands);
    commands.barrier();
    commands.finish()?;
    bound.download(resources);
    Ok(())
}

fn record(kernel: &Kernel<'_>, [x, y, z]: [u32; 3], commands: &Commands<'_>) {
    let raw = &commands.device.raw;
    // SAFETY: the command buffer is recording; the pipeline is live; `Kernel::run` keeps the counts within the
    // device's limits.
    unsafe {
        raw.cmd_bind_pipeline(commands.buffer, vk::PipelineBindPoint::COMPUTE, kernel.pipeline.get());
        raw.cmd_dispatch(commands.buffer, x, y, z);
    }
}
