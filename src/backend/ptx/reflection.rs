//! The arguments that a kernel's caller must pass, as JSON.

use super::interface::{Interface, PUSH};
use super::isa::Isa;
pub use crate::backend::reflection::BindingKind;
use crate::kernel::{BufferKind, Kernel};
use crate::lane::WARP;
use serde::{Deserialize, Serialize};

/// Everything that the kernel shares with its caller.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reflection {
    pub entry_point: String,
    /// Name of the kernel in the module: for `cuModuleGetFunction`.
    pub symbol: String,
    /// The oldest architecture that runs it: 70 for `sm_70`.
    pub sm: u32,
    /// Invocations of a workgroup in x, y, z: the dimensions of the block, which `.reqntid` demands.
    pub workgroup_size: [u32; 3],
    /// Lanes of a warp.
    pub subgroup_size: u32,
    /// The number of invocations of a workgroup must be a multiple of this, so that all segments of cross-lane
    /// operations are full.
    pub workgroup_multiple: u32,
    /// Bytes of workgroup memory, which the module declares.
    pub shared_bytes: u32,
    /// Bytes of push constants.
    pub push_bytes: u32,
    /// The arguments of the launch, in their order.
    pub parameters: Vec<Parameter>,
}

/// The content of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterKind {
    /// The address of a buffer, of 64 bits.
    Address,
    /// The number of bytes that are bound, of 64 bits.
    Bytes,
    PushConstants,
}

/// One argument.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// Name of the parameter in the text.
    pub name: String,
    pub kind: ParameterKind,
    /// Bytes of the argument.
    pub size: u32,
    /// The buffer of the argument, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferBinding>,
}

/// A buffer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BufferBinding {
    pub name: String,
    pub set: u32,
    pub binding: u32,
    /// The index in an array of buffers; otherwise 0.
    pub element: u32,
    pub kind: BindingKind,
    /// The smallest size in bytes.
    pub bytes: u32,
    pub writable: bool,
}

impl Reflection {
    pub(super) fn of(kernel: &Kernel, interface: &Interface, isa: Isa) -> Reflection {
        Reflection {
            entry_point: kernel.name.to_string(),
            symbol: interface.symbol.clone(),
            sm: isa.sm,
            workgroup_size: kernel.workgroup_size,
            subgroup_size: WARP,
            workgroup_multiple: kernel.lanes.workgroup_multiple(Some(WARP)).unwrap_or(WARP),
            shared_bytes: kernel.shared_bytes,
            push_bytes: kernel.push_bytes,
            parameters: parameters(kernel, interface),
        }
    }
}

fn parameters(kernel: &Kernel, interface: &Interface) -> Vec<Parameter> {
    let both = || kernel.buffers.iter().zip(&interface.slots);
    let long =
        |kind, name: &str, buffer| Parameter { name: name.to_owned(), kind, size: 8, buffer: Some(binding(buffer)) };
    let addresses = both().map(|(buffer, slot)| long(ParameterKind::Address, &slot.address, buffer));
    let sizes = both().filter_map(|(buffer, slot)| Some(long(ParameterKind::Bytes, slot.size.as_ref()?, buffer)));
    let push = (interface.push_bytes > 0).then(|| Parameter {
        name: PUSH.to_owned(),
        kind: ParameterKind::PushConstants,
        size: interface.push_bytes,
        buffer: None,
    });
    addresses.chain(sizes).chain(push).collect()
}

fn binding(buffer: &crate::kernel::Buffer) -> BufferBinding {
    BufferBinding {
        name: buffer.name.to_string(),
        set: buffer.set,
        binding: buffer.binding,
        element: buffer.element,
        kind: if buffer.kind == BufferKind::Uniform { BindingKind::Uniform } else { BindingKind::Storage },
        bytes: buffer.bytes,
        writable: buffer.is_writable(),
    }
}
