//! Memory of a shader, and its undefined bytes.

/// One memory: a buffer, the push constants, or memory of workgroups or invocations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    bytes: Vec<u8>,
    /// One entry per byte, 1 if it is undefined; empty while all are defined.
    undefined: Vec<u8>,
}

impl From<Vec<u8>> for Memory {
    fn from(bytes: Vec<u8>) -> Memory {
        Memory { bytes, undefined: Vec::new() }
    }
}

impl Memory {
    /// Memory that was never written.
    pub fn undefined(len: usize) -> Memory {
        Memory { bytes: vec![0; len], undefined: vec![1; len] }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes; zero or an old value if they are undefined.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns true if any of `count` bytes from `at` on is undefined.
    pub fn is_undefined(&self, at: usize, count: usize) -> bool {
        self.undefined.get(at..at + count).is_some_and(|bytes| bytes.contains(&1))
    }

    /// Marks all bytes undefined again.
    pub(super) fn forget(&mut self) {
        self.undefined.fill(1);
    }

    /// The little-endian number in 1, 2, 4 or 8 bytes, which must be there.
    pub(super) fn read(&self, at: usize, bytes: usize) -> u64 {
        match self.bytes[at..at + bytes] {
            [a] => a.into(),
            [a, b] => u16::from_le_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => 0,
        }
    }

    /// Returns true if a write would change nothing.
    pub(super) fn holds(&self, at: usize, bytes: usize, value: u64, undefined: bool) -> bool {
        self.bytes[at..at + bytes] == value.to_le_bytes()[..bytes] && self.is_undefined(at, bytes) == undefined
    }

    /// Writes the low bytes of a number, either all defined or all undefined.
    pub(super) fn write(&mut self, at: usize, bytes: usize, value: u64, undefined: bool) {
        self.bytes[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        if undefined && self.undefined.is_empty() {
            self.undefined.resize(self.bytes.len(), 0);
        }
        if let Some(entries) = self.undefined.get_mut(at..at + bytes) {
            entries.fill(undefined.into());
        }
    }
}
