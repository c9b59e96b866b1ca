//! The resources that a program's caller must bind, with the constants of OpenGL.

use super::interface::Interface;
pub use crate::backend::reflection::{BindingKind, Image, ImageKind, SamplerBinding};
use crate::ir::BuiltIn;
use crate::kernel::{BufferKind, Kernel, Stage};
use crate::lane::WARP;
use serde::{Deserialize, Serialize};

/// `GL_COMPUTE_PROGRAM_NV` (NV_compute_program5).
pub const COMPUTE_PROGRAM: u32 = 0x90FB;
/// `GL_COMPUTE_PROGRAM_PARAMETER_BUFFER_NV` (NV_compute_program5).
pub const PARAMETER_BUFFER: u32 = 0x90FC;
/// `GL_FRAGMENT_PROGRAM_ARB` (ARB_fragment_program) and the parameter buffers of fragment programs.
pub const FRAGMENT_PROGRAM: u32 = 0x8804;
pub const FRAGMENT_PARAMETER_BUFFER: u32 = 0x8DA4;
/// `GL_VERTEX_PROGRAM_ARB` (ARB_vertex_program) and the parameter buffers of vertex programs.
pub const VERTEX_PROGRAM: u32 = 0x8620;
pub const VERTEX_PARAMETER_BUFFER: u32 = 0x8DA2;
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
    /// The workgroup's number of invocations must be a multiple of this, so that all segments of cross-lane operations
    /// are full.
    pub workgroup_multiple: u32,
    /// Bytes of workgroup memory.
    pub shared_bytes: u32,
    /// Bytes of push constants, which are the local parameters from 0 on.
    pub push_bytes: u32,
    /// Number of local parameters, of four 32-bit words each, to set as integers (`glProgramLocalParametersI4uivNV`).
    pub local_parameters: u32,
    pub buffers: Vec<BufferBinding>,
    /// Textures with their samplers, and images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageBinding>,
    /// The word of the local parameters for the index of the first instance, if the program reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_instance_word: Option<u32>,
    /// The word for the index of the first vertex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_vertex_word: Option<u32>,
    /// The word for the index of the draw in a multi-draw call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw_index_word: Option<u32>,
    pub gl: GlConstants,
}

/// A buffer and its binding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BufferBinding {
    pub name: String,
    pub set: u32,
    pub binding: u32,
    pub kind: BindingKind,
    /// First argument of the call that binds it: `glBindBufferBase` for storage buffers, `glBindBufferBaseNV` for
    /// uniform ones.
    pub gl_target: u32,
    /// Second argument.
    pub gl_index: u32,
    /// The smallest size in bytes.
    pub bytes: u32,
    pub writable: bool,
    /// The word of the local parameters for the number of bound bytes, if the program reads it.
    pub size_word: Option<u32>,
}

/// A texture or an image and its unit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ImageBinding {
    #[serde(flatten)]
    pub image: Image,
    /// The unit: `glActiveTexture(GL_TEXTURE0 + n)` with `glBindSampler` for textures, `glBindImageTexture` for images.
    pub gl_unit: u32,
    /// True if the texture compares with a reference (`GL_TEXTURE_COMPARE_MODE`).
    pub compares: bool,
}

/// Constants for the call that loads the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GlConstants {
    pub program_target: u32,
    pub program_format: u32,
}

impl Reflection {
    pub(super) fn of(kernel: &Kernel, interface: &Interface) -> Reflection {
        let (program_target, parameter_buffer) = targets(kernel.stage);
        let binding = |(buffer, slot): (&crate::kernel::Buffer, &super::interface::Slot)| {
            let (kind, gl_target) = match buffer.kind {
                BufferKind::Storage => (BindingKind::Storage, STORAGE_BUFFER),
                BufferKind::Uniform => (BindingKind::Uniform, parameter_buffer),
            };
            BufferBinding {
                name: buffer.name.to_string(),
                set: buffer.set,
                binding: buffer.binding,
                kind,
                gl_target,
                gl_index: slot.point,
                bytes: buffer.bytes,
                writable: buffer.is_writable(),
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
            images: kernel.images.iter().zip(&interface.units).map(image_binding).collect(),
            base_instance_word: interface.draw_word(BuiltIn::BaseInstance),
            base_vertex_word: interface.draw_word(BuiltIn::BaseVertex),
            draw_index_word: interface.draw_word(BuiltIn::DrawIndex),
            gl: GlConstants { program_target, program_format: FORMAT_ASCII },
        }
    }
}

fn image_binding((image, unit): (&crate::kernel::Image, &u32)) -> ImageBinding {
    ImageBinding { image: Image::of(image), gl_unit: *unit, compares: image.compares }
}

/// The targets of a stage's programs and of its parameter buffers.
const fn targets(stage: Stage) -> (u32, u32) {
    match stage {
        Stage::Compute => (COMPUTE_PROGRAM, PARAMETER_BUFFER),
        Stage::Fragment => (FRAGMENT_PROGRAM, FRAGMENT_PARAMETER_BUFFER),
        Stage::Vertex => (VERTEX_PROGRAM, VERTEX_PARAMETER_BUFFER),
    }
}
