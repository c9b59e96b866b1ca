//! The buffers of a run: their places and contents.

use serde::{Deserialize, Serialize};

/// The descriptor type of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BufferKind {
    /// A storage block: read and written.
    Storage,
    /// A uniform block: only read.
    Uniform,
}

/// A buffer of a job: its place in the shader, and its contents, which the job replaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferBinding {
    /// The descriptor set.
    pub set: u32,
    /// The binding within the set.
    pub binding: u32,
    /// The element, if the binding is an array.
    pub element: u32,
    /// Storage or uniform.
    pub kind: BufferKind,
    /// The contents. A run replaces them with the shader's results.
    pub data: Vec<u8>,
    /// Offset in the push constants, in bytes, for the 64-bit device address of the buffer.
    pub address_at: Option<usize>,
}

impl BufferBinding {
    /// A storage buffer at `set` and `binding` that starts as `data`.
    pub fn storage(set: u32, binding: u32, data: Vec<u8>) -> Self {
        Self { set, binding, element: 0, kind: BufferKind::Storage, data, address_at: None }
    }

    /// A uniform buffer at `set` and `binding` with the contents `data`.
    pub fn uniform(set: u32, binding: u32, data: Vec<u8>) -> Self {
        Self { kind: BufferKind::Uniform, ..Self::storage(set, binding, data) }
    }
}
