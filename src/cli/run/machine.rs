//! The machines that run a shader: the simulator, NVIDIA's OpenGL with an assembly program, CUDA with PTX, Vulkan with
//! a SPIR-V module.

use super::request::Request;
use crate::cli::CommandError;
use crate::cli::args::{Machine, RunArgs};
use crate::compile::Options;
use crate::diagnostic::Diagnostic;
use crate::kernel::Kernel;
use crate::profile::{Client, Profile, Target};
use crate::sim::{Dispatch, Memory, Undefined};
use crate::simulate;
use crate::source::SourceMap;

/// Lanes of a wave if not even a driver determines them.
const USUAL_WAVE: u32 = 32;

/// A machine that is there.
pub enum Opened {
    Sim,
    #[cfg(feature = "cuda")]
    Cuda(Box<crate::run::cuda::Device>),
    #[cfg(feature = "gl")]
    Gl(Box<crate::run::gl::Device>),
    #[cfg(feature = "vulkan")]
    Vulkan(Box<crate::run::vulkan::Device>),
}

/// A shader and a request. The simulator needs only a part.
#[cfg_attr(not(all(feature = "cuda", feature = "gl", feature = "vulkan")), allow(dead_code))]
pub struct Work<'a> {
    pub args: &'a RunArgs,
    pub request: &'a Request,
    pub options: &'a Options,
    pub shader: &'a simulate::Shader,
    pub sources: &'a SourceMap,
}

/// The reason that a shader did not finish.
pub enum Stop {
    /// Caused by the shader, or by a limit of the target.
    Shader(Vec<Diagnostic>),
    /// The machine, or the request, is at fault.
    Machine(CommandError),
}

impl From<CommandError> for Stop {
    fn from(error: CommandError) -> Stop {
        Stop::Machine(error)
    }
}

impl From<Diagnostic> for Stop {
    fn from(problem: Diagnostic) -> Stop {
        Stop::Shader(vec![problem])
    }
}

impl Machine {
    pub const fn name(self) -> &'static str {
        match self {
            Machine::Sim => "the simulator",
            Machine::Cuda => "CUDA",
            Machine::Gl => "OpenGL",
            Machine::Vulkan => "Vulkan",
        }
    }
}

/// Opens a machine for a profile.
///
/// # Errors
/// Returns an error if the profile is for other machines, or the machine is not available; the error names what was
/// searched for.
pub fn open(machine: Machine, profile: &Profile) -> Result<Opened, CommandError> {
    let (option, wanted) = match machine {
        Machine::Sim => return Ok(Opened::Sim),
        Machine::Cuda => ("cuda", Target::Ptx),
        Machine::Gl => ("gl", Target::Nv),
        Machine::Vulkan => ("vulkan", Target::Spirv),
    };
    if profile.target != wanted {
        let profiles = wanted.name();
        return Err(CommandError(format!("--on {option} is for {profiles}-… profiles; name one with -p")));
    }
    if profile.client != Client::default() {
        let (name, client) = (machine.name(), profile.client.name());
        return Err(CommandError(format!("--on {option}: {name} does not run modules for {client}")));
    }
    device(machine)
}

fn device(machine: Machine) -> Result<Opened, CommandError> {
    match machine {
        Machine::Sim => Ok(Opened::Sim),
        #[cfg(feature = "cuda")]
        Machine::Cuda => {
            let opened = crate::run::cuda::Device::open().map_err(|why| CommandError(why.to_string()))?;
            Ok(Opened::Cuda(Box::new(opened)))
        }
        #[cfg(feature = "gl")]
        Machine::Gl => {
            let opened = crate::run::gl::Device::open().map_err(|why| CommandError(why.to_string()))?;
            Ok(Opened::Gl(Box::new(opened)))
        }
        #[cfg(feature = "vulkan")]
        Machine::Vulkan => {
            let opened = crate::run::vulkan::Device::open().map_err(|why| CommandError(why.to_string()))?;
            Ok(Opened::Vulkan(Box::new(opened)))
        }
        #[cfg(not(all(feature = "cuda", feature = "gl", feature = "vulkan")))]
        _ => Err(CommandError(format!("this crosslane was built without {}", machine.name()))),
    }
}

/// The default number of lanes of a wave: the driver's, if it chooses one itself.
pub fn usual_wave(machines: &[(Machine, Opened)]) -> u32 {
    let own = |(_, opened): &(Machine, Opened)| match opened {
        #[cfg(feature = "vulkan")]
        Opened::Vulkan(device) => Some(device.info().subgroup_size),
        _ => None,
    };
    machines.iter().find_map(own).unwrap_or(USUAL_WAVE)
}

impl Opened {
    /// Runs a shader and returns the contents of the buffers.
    pub fn run(&self, work: &Work<'_>, before: &[Memory]) -> Result<Vec<Memory>, Stop> {
        match self {
            Opened::Sim => simulate(work, before),
            #[cfg(feature = "cuda")]
            Opened::Cuda(device) => cuda::run(device, work, before),
            #[cfg(feature = "gl")]
            Opened::Gl(device) => gl::run(device, work, before),
            #[cfg(feature = "vulkan")]
            Opened::Vulkan(device) => vulkan::run(device, work, before),
        }
    }
}

fn simulate(work: &Work<'_>, before: &[Memory]) -> Result<Vec<Memory>, Stop> {
    let undefined = if work.args.keep_undefined { Undefined::Keep } else { Undefined::Refuse };
    let (groups, push) = (work.request.groups, &work.request.push[..]);
    let RunArgs { max_steps, allow_races, .. } = *work.args;
    let dispatch = Dispatch { groups, push, max_steps, undefined, allow_races };
    Ok(simulate::run(&work.shader.kernel, work.shader.wave_size, &dispatch, before.to_vec())?)
}

/// The buffers as drivers bind them.
#[cfg(any(feature = "cuda", feature = "gl", feature = "vulkan"))]
fn bindings(kernel: &Kernel, before: &[Memory]) -> Result<Vec<crate::run::BufferBinding>, CommandError> {
    use crate::kernel::BufferKind;
    use crate::run::BufferBinding;
    if kernel.buffers.iter().any(|buffer| buffer.element != 0) {
        return Err(CommandError("arrays of buffers run in the simulator only so far".to_owned()));
    }
    let bind = |(buffer, memory): (&crate::kernel::Buffer, &Memory)| {
        let make = match buffer.kind {
            BufferKind::Storage => BufferBinding::storage,
            BufferKind::Uniform => BufferBinding::uniform,
        };
        make(buffer.set, buffer.binding, memory.bytes().to_vec())
    };
    Ok(kernel.buffers.iter().zip(before).map(bind).collect())
}

#[cfg(any(feature = "cuda", feature = "gl", feature = "vulkan"))]
fn memories(bound: Vec<crate::run::BufferBinding>) -> Vec<Memory> {
    bound.into_iter().map(|buffer| Memory::from(buffer.data)).collect()
}

#[cfg(feature = "cuda")]
mod cuda {
    use super::{CommandError, Memory, Stop, Work, bindings, memories};
    use crate::compile::ptx_program;
    use crate::diagnostic::Diagnostics;
    use crate::run::cuda::Device;

    pub fn run(device: &Device, work: &Work<'_>, before: &[Memory]) -> Result<Vec<Memory>, Stop> {
        let mut messages = Diagnostics::new();
        let program =
            ptx_program(&work.shader.module, work.options, &work.request.settings, work.sources, &mut messages);
        let program = program.ok_or_else(|| Stop::Shader(messages.iter().cloned().collect()))?;
        let mut bound = bindings(&work.shader.kernel, before)?;
        let loaded = device.load(&program);
        let ran = loaded.and_then(|loaded| loaded.run(work.request.groups, &work.request.push, &mut bound));
        ran.map_err(|why| CommandError(format!("CUDA on {}: {why}", device.info().name)))?;
        Ok(memories(bound))
    }
}

#[cfg(feature = "gl")]
mod gl {
    use super::{CommandError, Memory, Stop, Work, bindings, memories};
    use crate::compile::nv_program;
    use crate::diagnostic::Diagnostics;
    use crate::run::gl::Device;

    pub fn run(device: &Device, work: &Work<'_>, before: &[Memory]) -> Result<Vec<Memory>, Stop> {
        let mut messages = Diagnostics::new();
        let program =
            nv_program(&work.shader.module, work.options, &work.request.settings, work.sources, &mut messages);
        let program = program.ok_or_else(|| Stop::Shader(messages.iter().cloned().collect()))?;
        let mut bound = bindings(&work.shader.kernel, before)?;
        let ran = device.load(&program).and_then(|it| it.run(work.request.groups, &work.request.push, &mut bound));
        ran.map_err(|why| CommandError(format!("OpenGL on {}: {why}", device.info().name)))?;
        Ok(memories(bound))
    }
}

#[cfg(feature = "vulkan")]
mod vulkan {
    use super::{CommandError, Memory, Stop, Work, bindings, memories};
    use crate::backend::Options;
    use crate::backend::spirv::emit;
    use crate::ir::spanning::spanned;
    use crate::profile::{Profile, WaveSize};
    use crate::run::Job;
    use crate::run::vulkan::Device;

    pub fn run(device: &Device, work: &Work<'_>, before: &[Memory]) -> Result<Vec<Memory>, Stop> {
        let (request, shader) = (work.request, work.shader);
        let profile = &*shader.module.profile(&request.profile).map_err(Stop::Shader)?;
        check_promise(device, profile)?;
        let module = spanned(&shader.module, profile).map_err(Stop::Shader)?;
        let words = emit(&module, &Options::new(profile.clone()), work.sources).map_err(Stop::Shader)?;
        let constants = constants(work)?;
        let job = Job {
            entry: &shader.kernel.name,
            push_constants: &request.push,
            spec_constants: &constants,
            required_subgroup_size: required(profile, device.info().subgroup_size),
            ..Job::new(&words, request.groups)
        };
        let mut bound = bindings(&work.shader.kernel, before)?;
        let ran = device.run(&job, &mut bound);
        ran.map_err(|why| CommandError(format!("Vulkan on {}: {why}", device.info().name)))?;
        Ok(memories(bound))
    }

    /// Refuses a device whose subgroups are too small for the promise that the code relies on.
    fn check_promise(device: &Device, profile: &Profile) -> Result<(), CommandError> {
        let info = device.info();
        let most = info.subgroup_sizes.1.max(info.subgroup_size);
        match profile.promised().filter(|size| size.least() > most) {
            Some(size) => Err(CommandError(format!(
                "Vulkan on {}: the code is for {}, and this device has at most {most}",
                info.name,
                size.in_words()
            ))),
            None => Ok(()),
        }
    }

    /// The subgroup size to ask the driver for: a fixed one, or the promised minimum if the driver's usual size is smaller.
    fn required(profile: &Profile, usual: u32) -> Option<u32> {
        let least = profile.promise.map(WaveSize::least).filter(|least| *least > usual);
        profile.wave_size.or(least)
    }

    /// Specialization constants in Vulkan's form.
    fn constants(work: &Work<'_>) -> Result<Vec<(u32, u32)>, Stop> {
        let given = work.request.settings.resolve(&work.shader.module).map_err(Stop::Shader)?;
        let narrow = |(id, bits): (u32, u64)| Some((id, u32::try_from(bits).ok()?));
        let constants: Option<Vec<(u32, u32)>> = given.into_iter().map(narrow).collect();
        let why = "a specialization constant of more than 32 bits cannot be set on Vulkan so far";
        constants.ok_or_else(|| CommandError(why.to_owned()).into())
    }
}
