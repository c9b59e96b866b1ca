//! What a program's caller must bind and set, with the constants of OpenGL that it takes.

use super::interface::Interface;
use crate::kernel::{BufferKind, Kernel};
use crate::lane::WARP;
pub use crate::target::reflection::BindingKind;
use serde::{Deserialize, Serialize};

/// `GL_COMPUTE_PROGRAM_NV` (NV_compute_program5).
pub const COMPUTE_PROGRAM: u32 = 0x90FB;
/// `GL_COMPUTE_PROGRAM_PARAMETER_BUFFER_NV` (NV_compute_program5).
pub const PARAMETER_BUFFER: u32 = 0x90FC;
/// `GL_SHADER_STORAGE_BUFFER` (ARB_shader_storage_buffer_object).
pub const STORAGE_BUFFER: u32 = 0x90D2;
/// `GL_PROGRAM_FORMAT_ASCII_ARB` (ARB_fragment_program).
pub const FORMAT_ASCII: u32 = 0x8875;

/// Everything that the program shares with its caller.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reflection {
    pub entry_point: String,
    /// Invocations of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Lanes of a warp.
    pub subgroup_size: u32,
    /// What the number of invocations of a workgroup must be a multiple of, so that no segment of a cross-lane operation lacks a
    /// lane.
    pub workgroup_multiple: u32,
    /// Bytes of workgroup memory.
    pub shared_bytes: u32,
    /// Bytes of push constants, which are the local parameters from 0 on.
    pub push_bytes: u32,
    /// Local parameters, each of four 32-bit words, to be set as integers (`glProgramLocalParametersI4uivNV`).
    pub local_parameters: u32,
    pub buffers: Vec<BufferBinding>,
    pub gl: GlConstants,
}

/// A buffer and where it goes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BufferBinding {
    pub name: String,
    pub set: u32,
    pub binding: u32,
    pub kind: BindingKind,
    /// First argument of the call that binds it: `glBindBufferBase` for storage buffers, `glBindBufferBaseNV` for uniform
    /// ones.
    pub gl_target: u32,
    /// Second argument.
    pub gl_index: u32,
    /// The least size in bytes.
    pub bytes: u32,
    pub writable: bool,
    /// The word of the local parameters that must hold the number of bytes bound, if the program asks for it.
    pub size_word: Option<u32>,
}

/// Constants for the call that loads the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GlConstants {
    pub program_target: u32,
    pub program_format: u32,
}

impl Reflection {
    pub(super) fn of(kernel: &Kernel, interface: &Interface) -> Reflection {
        let binding = |(buffer, slot): (&crate::kernel::Buffer, &super::interface::Slot)| {
            let (kind, gl_target) = match buffer.kind {
                BufferKind::Storage => (BindingKind::Storage, STORAGE_BUFFER),
                BufferKind::Uniform => (BindingKind::Uniform, PARAMETER_BUFFER),
            };
            BufferBinding {
                name: buffer.name.to_string(),
                set: buffer.set,
                binding: buffer.binding,
                kind,
                gl_target,
                gl_index: slot.point,
                bytes: buffer.bytes,
                writable: buffer.writable,
                size_word: slot.size_word,
            }
        };
        Reflection {
            entry_point: kernel.name.to_string(),
            workgroup_size: kernel.workgroup_size,
            subgroup_size: WARP,
            workgroup_multiple: kernel.lanes.workgroup_multiple(Some(WARP)).unwrap_or(WARP),
            shared_bytes: kernel.shared_bytes,
            push_bytes: kernel.push_bytes,
            local_parameters: interface.parameters(),
            buffers: kernel.buffers.iter().zip(&interface.slots).map(binding).collect(),
            gl: GlConstants { program_target: COMPUTE_PROGRAM, program_format: FORMAT_ASCII },
        }
    }

    /// As JSON text.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("numbers and names always serialize");
        text + "\n"
    }
}
