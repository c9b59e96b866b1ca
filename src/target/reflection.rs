//! What a kernel's caller must know whatever the target: entry point, sizes, buffers. A target's own reflection has what its
//! callers need beside that.

use crate::kernel::{self, Kernel};
use serde::{Deserialize, Serialize};

/// What a buffer is bound as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BindingKind {
    Storage,
    Uniform,
}

/// What the shader itself says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Reflection {
    pub entry_point: String,
    /// Invocations of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Lanes of a subgroup; none where the driver decides.
    pub subgroup_size: Option<u32>,
    /// Bytes of workgroup memory that it declares.
    pub shared_bytes: u32,
    /// Bytes of push constants.
    pub push_bytes: u32,
    pub buffers: Vec<Buffer>,
}

/// A buffer that is to be bound.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Buffer {
    pub name: String,
    pub set: u32,
    pub binding: u32,
    pub kind: BindingKind,
    /// The least size in bytes.
    pub bytes: u32,
    pub writable: bool,
}

impl Reflection {
    /// The facts of a kernel, for subgroups of so many lanes.
    pub fn of(kernel: &Kernel, subgroup_size: Option<u32>) -> Reflection {
        Reflection {
            entry_point: kernel.name.to_string(),
            workgroup_size: kernel.workgroup_size,
            subgroup_size,
            shared_bytes: kernel.shared_bytes,
            push_bytes: kernel.push_bytes,
            buffers: kernel.buffers.iter().map(Buffer::of).collect(),
        }
    }
}

impl Buffer {
    fn of(buffer: &kernel::Buffer) -> Buffer {
        Buffer {
            name: buffer.name.to_string(),
            set: buffer.set,
            binding: buffer.binding,
            kind: buffer.kind.into(),
            bytes: buffer.bytes,
            writable: buffer.writable,
        }
    }
}

impl From<kernel::BufferKind> for BindingKind {
    fn from(kind: kernel::BufferKind) -> BindingKind {
        match kind {
            kernel::BufferKind::Storage => BindingKind::Storage,
            kernel::BufferKind::Uniform => BindingKind::Uniform,
        }
    }
}
