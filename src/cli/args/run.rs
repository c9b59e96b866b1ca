//! The options of `run`.

use super::completion::profiles;
use super::source::{MessageArgs, SourceArgs, TARGET};
use crate::profile::WaveSize;
use crate::sim::MAX_WAVE;
use clap::{Args, ValueEnum};

/// Headings of options.
const DATA: &str = "Data";
const RESULTS: &str = "Results";
const EXECUTION: &str = "Execution";

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Profile to run it as: a name from `crosslane profiles`, or a .toml file. Cross-lane operations run as the
    /// instructions of a profile of hardware, as what they mean with a SPIR-V profile.
    #[arg(long, short = 'p', value_name = "PROFILE", default_value = "spirv-1.6", add = profiles(), help_heading = TARGET)]
    pub profile: String,
    /// Lanes of a wave, 4, 8, 16, 32 or 64, or a minimum, such as 16.., that the machine must have; by default the profile's and
    /// the shader's own, or 32.
    #[arg(long, value_name = "LANES|LEAST..|any", value_parser = wave_size, help_heading = TARGET)]
    pub wave_size: Option<WaveSize>,
    /// Contents of the buffer at a binding: a file of raw little-endian bytes, zeros:TYPE:COUNT, iota:TYPE:COUNT,
    /// random:TYPE:COUNT:SEED or TYPE:1,2,3; may be repeated.
    #[arg(long, short = 'b', value_name = "[SET.]BINDING=FILE|…", help_heading = DATA)]
    pub buffer: Vec<String>,
    /// Push constants, written as buffers are.
    #[arg(long, value_name = "FILE|…", help_heading = DATA)]
    pub push: Option<String>,
    /// Value of a specialization constant, by name or number; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", help_heading = DATA)]
    pub set: Vec<String>,
    /// Workgroups to run.
    #[arg(long, value_name = "X[,Y[,Z]]", default_value = "1", help_heading = DATA)]
    pub groups: String,
    /// Buffer to print afterwards, and how many numbers of it; may be repeated. The numbers are of the types that the shader
    /// declares, or all of a type that is given. By default every buffer that the shader may write is printed.
    #[arg(long, value_name = "[SET.]BINDING[:TYPE][:COUNT]", help_heading = RESULTS)]
    pub print: Vec<String>,
    /// File to write a buffer to afterwards, as raw bytes; may be repeated.
    #[arg(long, value_name = "[SET.]BINDING=FILE", help_heading = RESULTS)]
    pub out: Vec<String>,
    /// Instructions that a wave may run before its loop is said not to end.
    #[arg(long, value_name = "N", default_value_t = crate::sim::MAX_STEPS, help_heading = EXECUTION)]
    pub max_steps: u64,
    /// Run on where waves race in workgroup memory.
    #[arg(long, help_heading = EXECUTION)]
    pub allow_races: bool,
    /// Run the operations as what they mean, before any pass, whatever the profile.
    #[arg(long, help_heading = EXECUTION)]
    pub reference: bool,
    /// Where to run it; with several, what they leave in the buffers is compared and the first one's is printed.
    #[arg(long, value_name = "MACHINE[,MACHINE]", value_delimiter = ',', default_value = "sim", help_heading = EXECUTION)]
    pub on: Vec<Machine>,
    /// Share of a float within which two machines agree, for functions that drivers may compute approximately.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, help_heading = EXECUTION)]
    pub within: f64,
    /// Let undefined values be stored in buffers; they are printed as `?`.
    #[arg(long, help_heading = RESULTS)]
    pub keep_undefined: bool,
    #[command(flatten)]
    pub messages: MessageArgs,
}

/// Where a shader can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Machine {
    /// The simulator.
    Sim,
    /// NVIDIA's CUDA, for ptx- profiles.
    Cuda,
    /// NVIDIA's OpenGL, for nv- profiles.
    Gl,
    /// Vulkan's first device, for spirv- profiles.
    Vulkan,
}

/// Sizes that the simulator has waves of.
fn wave_size(text: &str) -> Result<WaveSize, String> {
    let size = text.parse().ok().filter(|size: &WaveSize| size.least() <= MAX_WAVE);
    size.ok_or_else(|| "a wave has 4, 8, 16, 32 or 64 lanes; 16.. is a minimum, and any leaves it open".into())
}
