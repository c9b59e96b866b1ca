//! The programs that do a kernel's work.

use crate::{PROFILE, PTX, SPIRV};
use crosslane::run::cuda::{self, Loaded};
use crosslane::run::gl::Program;
use crosslane::run::vulkan::Device;
use crosslane::run::{BufferBinding, Job, RunError};
use support::device::gl::{Painter, Shader};
use support::device::vulkan::Timed;
use support::judge;
use support::lavapipe::{Buffers, to_words};
use support::whole::{Kernel, LANES};

/// Dispatches per round.
const RUNS: u32 = 5;

/// A program and its buffers.
pub enum Way<'d> {
    /// Crosslane's NVIDIA assembly.
    Assembly { program: Program<'d>, push: Vec<u8>, buffers: Vec<BufferBinding> },
    /// The driver's program for the GLSL.
    Driver { shader: Shader<'d>, buffers: Vec<BufferBinding> },
    /// A module on Vulkan.
    Module(Timed<'d>),
    /// Crosslane's PTX on CUDA.
    Ptx { kernel: Loaded<'d>, push: Vec<u8>, buffers: Vec<BufferBinding> },
}

impl<'d> Way<'d> {
    /// Crosslane's assembly.
    pub fn assembly(painter: &'d Painter, kernel: &Kernel) -> Result<Way<'d>, String> {
        let program = painter.device.load(&kernel.nv(PROFILE)?).map_err(|e| e.to_string())?;
        Ok(Way::Assembly { program, push: kernel.push(), buffers: kernel.buffers() })
    }

    /// The driver's program.
    pub fn driver(painter: &'d Painter, kernel: &Kernel) -> Result<Way<'d>, String> {
        let shader = painter.compile(&kernel.driver).map_err(|e| e.to_string())?;
        let mut buffers = kernel.buffers();
        let push = kernel.push();
        if !push.is_empty() {
            buffers.push(BufferBinding::uniform(0, 0, push));
        }
        Ok(Way::Driver { shader, buffers })
    }

    /// Crosslane's module.
    pub fn spirv(device: &'d Device, kernel: &Kernel) -> Result<Way<'d>, String> {
        Way::module(device, kernel, &kernel.spirv(SPIRV)?)
    }

    /// glslang's module.
    pub fn glslang(device: &'d Device, kernel: &Kernel) -> Result<Way<'d>, String> {
        Way::module(device, kernel, &judge::glslang(&kernel.theirs)?)
    }

    /// Crosslane's PTX.
    pub fn ptx(device: &'d cuda::Device, kernel: &Kernel) -> Result<Way<'d>, String> {
        let loaded = device.load(&kernel.ptx(PTX)?).map_err(|e| e.to_string())?;
        Ok(Way::Ptx { kernel: loaded, push: kernel.push(), buffers: kernel.buffers() })
    }

    fn module(device: &'d Device, kernel: &Kernel, spirv: &[u32]) -> Result<Way<'d>, String> {
        let lanes = device.info().subgroup_size as usize;
        if lanes != LANES && kernel.theirs.contains("ubgroup") {
            return Err(format!("the device has subgroups of {lanes}"));
        }
        let push = kernel.push();
        let job =
            Job { push_constants: &push, spec_constants: kernel.row.constants, ..Job::new(spirv, kernel.row.groups) };
        Timed::new(device, &job, &kernel.buffers()).map(Way::Module).map_err(|e| e.to_string())
    }

    /// The storage buffers after one dispatch.
    pub fn run(&self, groups: [u32; 3]) -> Result<Buffers, String> {
        let words = |after: Vec<BufferBinding>| after.iter().map(|buffer| to_words(&buffer.data)).collect();
        let done: Result<Buffers, RunError> = match self {
            Way::Assembly { program, push, buffers } => {
                let mut after = buffers.clone();
                program.run(groups, push, &mut after).map(|()| words(after))
            }
            Way::Driver { shader, buffers } => {
                let mut after = buffers.clone();
                shader.run(groups, &mut after).map(|()| words(after))
            }
            Way::Ptx { kernel, push, buffers } => {
                let mut after = buffers.clone();
                kernel.run(groups, push, &mut after).map(|()| words(after))
            }
            Way::Module(timed) => timed.run(groups).map(|after| after.iter().map(|data| to_words(data)).collect()),
        };
        done.map_err(|e| e.to_string())
    }

    /// Nanoseconds for each dispatch of a round.
    pub fn time(&self, groups: [u32; 3]) -> Result<Vec<u64>, String> {
        let times = match self {
            Way::Assembly { program, push, buffers } => program.time(groups, push, buffers, RUNS as usize),
            Way::Driver { shader, buffers } => shader.time(groups, buffers, RUNS as usize),
            Way::Module(timed) => timed.time(groups, RUNS),
            Way::Ptx { kernel, push, buffers } => kernel.time(groups, push, buffers, RUNS as usize),
        };
        times.map_err(|e| e.to_string())
    }
}
