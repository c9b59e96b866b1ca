//! Runs finished modules on a real driver.
//!
//! [`Job`] and [`BufferBinding`] describe a run independently of the API. `vulkan` runs SPIR-V modules, `gl` NVIDIA
//! assembly programs, and `cuda` PTX. The [`vulkan::parts`] of a run and the functions of a GL device are public, for
//! programs that draw or bind more than buffers. This module does not compile shaders, choose layouts, compare results
//! or read the environment. The Vulkan loader decides which drivers exist.

use std::fmt;

mod buffer;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "gl")]
pub mod gl;
#[cfg(feature = "vulkan")]
pub mod vulkan;

pub use buffer::{BufferBinding, BufferKind};

/// One dispatch of one compute entry point.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The SPIR-V module, one element per word.
    pub spirv: &'a [u32],
    /// The name of the entry point to run.
    pub entry: &'a str,
    /// How many workgroups to start in each dimension.
    pub groups: [u32; 3],
    /// The push-constant block, from offset 0; a multiple of four bytes.
    pub push_constants: &'a [u8],
    /// Specialization constants: the `SpecId` and the 32 bits of the value.
    pub spec_constants: &'a [(u32, u32)],
    /// Asks for this subgroup size instead of the driver's choice.
    pub required_subgroup_size: Option<u32>,
    /// Asks that every subgroup be full; the workgroup's x size must then be a multiple of the subgroup size.
    pub full_subgroups: bool,
}

impl<'a> Job<'a> {
    /// A job that runs `main` of `spirv` over `groups` workgroups, with no other settings.
    pub fn new(spirv: &'a [u32], groups: [u32; 3]) -> Self {
        Self {
            spirv,
            entry: "main",
            groups,
            push_constants: &[],
            spec_constants: &[],
            required_subgroup_size: None,
            full_subgroups: false,
        }
    }
}

/// The reason that no device could be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The machine has no Vulkan loader; the dynamic loader's message.
    NoLoader(String),
    /// The Vulkan loader found no suitable driver; the missing features of each driver it found.
    NoDevice(Vec<String>),
    /// A driver failed a call; the call and its result code.
    Driver(&'static str, String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLoader(why) => {
                write!(f, "no Vulkan loader: looked for libvulkan.so.1 on the library path ({why})")
            }
            Self::NoDevice(found) if found.is_empty() => {
                f.write_str("no Vulkan device: the loader found no driver (looked for a device with Vulkan 1.3 and a compute queue)")
            }
            Self::NoDevice(found) => {
                write!(f, "no Vulkan device with Vulkan 1.3 and a compute queue; found {}", found.join("; "))
            }
            Self::Driver(call, code) => write!(f, "{call} failed: {code}"),
        }
    }
}

impl std::error::Error for OpenError {}

/// The reason that a job did not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The job needs something that this device lacks, or contradicts itself.
    Refused(String),
    /// A driver failed a call; the call and its result code.
    Driver(&'static str, String),
    /// The shader did not finish within this many seconds. The device can no longer be used.
    Timeout(u64),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "the device cannot run this job: {why}"),
            Self::Driver(call, code) => write!(f, "{call} failed: {code}"),
            Self::Timeout(seconds) => write!(f, "the shader did not end within {seconds} s"),
        }
    }
}

impl std::error::Error for RunError {}
