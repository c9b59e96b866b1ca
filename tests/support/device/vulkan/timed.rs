//! Compute modules to measure: their buffers are in device memory, and timestamps give the duration of a dispatch.

use ash::vk;

use crosslane::run::vulkan::Device;
use crosslane::run::vulkan::parts::{
    Block, Commands, Guard, Held, Layout, Resources, Sets, allocate, compute_pipeline, run_failure,
};
use crosslane::run::{BufferBinding, Job, RunError};

/// A compiled module with the buffers that it runs over.
pub struct Timed<'d> {
    layout: Layout<'d>,
    pipeline: Guard<'d, vk::Pipeline>,
    buffers: Vec<Near<'d>>,
    sets: Sets<'d>,
    push: Vec<u8>,
}

impl<'d> Timed<'d> {
    /// Compiles a job's module and creates its buffers.
    ///
    /// # Errors
    /// Returns [`RunError`] if the driver rejects the module or is out of memory.
    pub fn new(device: &'d Device, job: &Job<'_>, buffers: &Vec<BufferBinding>) -> Result<Self, RunError> {
        let push = job.push_constants.to_vec();
        let layout = Layout::new(device, vk::ShaderStageFlags::COMPUTE, buffers.slots(), push.len())?;
        let pipeline = compute_pipeline(device, job, layout.pipeline.get())?;
        let buffers = buffers.iter().map(|buffer| Near::new(device, &buffer.data)).collect::<Result<Vec<_>, _>>()?;
        let held = buffers.iter().map(|near| Held::Buffer(near.buffer.get())).collect();
        let sets = Sets::new(&layout, held)?;
        Ok(Self { layout, pipeline, buffers, sets, push })
    }

    /// The contents of the buffers after one dispatch, which starts from their initial contents.
    ///
    /// # Errors
    /// Returns [`RunError`].
    pub fn run(&self, groups: [u32; 3]) -> Result<Vec<Vec<u8>>, RunError> {
        let commands = Commands::new(self.layout.device)?;
        self.buffers.iter().for_each(|near| near.load(&commands));
        commands.barrier();
        self.record(groups, &commands);
        commands.barrier();
        let left = self.buffers.iter().map(|near| near.save(&commands)).collect::<Result<Vec<_>, _>>()?;
        commands.barrier();
        commands.finish()?;
        let contents = |(block, near): (&Block<'_>, &Near<'_>)| {
            let mut data = vec![0; near.size];
            block.download(&mut data);
            data
        };
        Ok(left.iter().zip(&self.buffers).map(contents).collect())
    }

    /// GPU time in nanoseconds of each of several dispatches, one after the other on the same buffers.
    ///
    /// # Errors
    /// Returns [`RunError`].
    pub fn time(&self, groups: [u32; 3], runs: u32) -> Result<Vec<u64>, RunError> {
        let device = self.layout.device;
        let raw = device.raw();
        let pool = query_pool(device, 2 * runs)?;
        let commands = Commands::new(device)?;
        self.buffers.iter().for_each(|near| near.load(&commands));
        // SAFETY: the buffer is recording, and the pool has these queries.
        unsafe { raw.cmd_reset_query_pool(commands.buffer, pool.get(), 0, 2 * runs) };
        for run in 0..runs {
            commands.barrier();
            let stamp = |stage, query| {
                // SAFETY: the buffer is recording, the pool has these queries, and each is written once.
                unsafe { raw.cmd_write_timestamp(commands.buffer, stage, pool.get(), query) };
            };
            stamp(vk::PipelineStageFlags::ALL_COMMANDS, 2 * run);
            self.record(groups, &commands);
            stamp(vk::PipelineStageFlags::ALL_COMMANDS, 2 * run + 1);
        }
        commands.finish()?;
        let mut ticks = vec![0_u64; 2 * runs as usize];
        // SAFETY: the commands have ended, and there is room for every query.
        unsafe { raw.get_query_pool_results(pool.get(), 0, &mut ticks, vk::QueryResultFlags::TYPE_64) }
            .map_err(run_failure("vkGetQueryPoolResults"))?;
        let (instance, physical) = device.physical();
        // SAFETY: the physical device is of the instance.
        let limits = unsafe { instance.get_physical_device_properties(physical) }.limits;
        let period = f64::from(limits.timestamp_period);
        Ok(ticks.chunks_exact(2).map(|pair| (pair[1].saturating_sub(pair[0]) as f64 * period) as u64).collect())
    }

    fn record(&self, [x, y, z]: [u32; 3], commands: &Commands<'_>) {
        let raw = self.layout.device.raw();
        self.sets.record(commands, &self.layout, vk::PipelineBindPoint::COMPUTE, &self.push);
        // SAFETY: the buffer is recording and the pipeline is live.
        unsafe {
            raw.cmd_bind_pipeline(commands.buffer, vk::PipelineBindPoint::COMPUTE, self.pipeline.get());
            raw.cmd_dispatch(commands.buffer, x, y, z);
        }
    }
}

/// A buffer in device memory, and its initial contents in host-visible memory.
struct Near<'d> {
    device: &'d Device,
    buffer: Guard<'d, vk::Buffer>,
    _memory: Guard<'d, vk::DeviceMemory>,
    first: Block<'d>,
    size: usize,
}

impl<'d> Near<'d> {
    fn new(device: &'d Device, data: &[u8]) -> Result<Self, RunError> {
        let raw = device.raw();
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let create = vk::BufferCreateInfo::default().size(data.len().max(4) as u64).usage(usage);
        // SAFETY: `create` is complete.
        let handle = unsafe { raw.create_buffer(&create, None) }.map_err(run_failure("vkCreateBuffer"))?;
        // SAFETY: the guard is the only owner.
        let buffer = Guard::new(device, handle, |d, h| unsafe { d.destroy_buffer(h, None) });
        // SAFETY: the buffer is live.
        let needs = unsafe { raw.get_buffer_memory_requirements(handle) };
        let memory = allocate(device, needs, vk::MemoryPropertyFlags::DEVICE_LOCAL, false)?;
        // SAFETY: the memory fits the buffer, which has none yet.
        unsafe { raw.bind_buffer_memory(handle, memory.get(), 0) }.map_err(run_failure("vkBindBufferMemory"))?;
        let first = Block::new(device, vk::BufferUsageFlags::TRANSFER_SRC, data)?;
        Ok(Self { device, buffer, _memory: memory, first, size: data.len() })
    }

    /// Records the copy of the first contents into the buffer.
    fn load(&self, commands: &Commands<'_>) {
        self.copy(commands, self.first.buffer.get(), self.buffer.get());
    }

    /// Records the copy of the contents to host-visible memory.
    fn save(&self, commands: &Commands<'_>) -> Result<Block<'d>, RunError> {
        let left = Block::new(self.device, vk::BufferUsageFlags::TRANSFER_DST, &vec![0; self.size])?;
        self.copy(commands, self.buffer.get(), left.buffer.get());
        Ok(left)
    }

    fn copy(&self, commands: &Commands<'_>, from: vk::Buffer, to: vk::Buffer) {
        let whole = [vk::BufferCopy::default().size(self.size as u64)];
        // SAFETY: the command buffer is recording; both buffers are live and have this size.
        unsafe { self.device.raw().cmd_copy_buffer(commands.buffer, from, to, &whole) };
    }
}

/// Room for timestamps.
fn query_pool(device: &Device, count: u32) -> Result<Guard<'_, vk::QueryPool>, RunError> {
    let create = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
    // SAFETY: `create` is complete.
    let handle = unsafe { device.raw().create_query_pool(&create, None) }.map_err(run_failure("vkCreateQueryPool"))?;
    // SAFETY: the guard is the only owner.
    Ok(Guard::new(device, handle, |d, h| unsafe { d.destroy_query_pool(h, None) }))
}
