//! Memory: bytes, some of which may be undefined, at 64-bit addresses or starting at zero.

pub mod access;
pub mod atomic;
pub mod run;
pub mod sample;
pub mod texel;

use super::state::Value;
use crate::device::Sampler;
use crate::nv::Picture;

/// Bytes and their undefined bits.
#[derive(Debug, Clone, Default)]
pub struct Bytes {
    bytes: Vec<u8>,
    undefined: Vec<u8>,
}

impl Bytes {
    pub fn new(bytes: Vec<u8>) -> Self {
        let undefined = vec![0; bytes.len()];
        Self { bytes, undefined }
    }

    /// This many undefined bytes.
    pub fn undefined(len: usize) -> Self {
        Self { bytes: vec![0xc5; len], undefined: vec![0xff; len] }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The undefined bits of each byte.
    pub fn undefined_bits(&self) -> &[u8] {
        &self.undefined
    }

    fn place(&self, at: u64, len: usize) -> Result<usize, String> {
        let end = usize::try_from(at).ok().and_then(|at| at.checked_add(len));
        match end {
            Some(end) if end <= self.bytes.len() => Ok(at as usize),
            _ => Err(format!("{len} bytes at {at:#x} are outside of the {} that there are", self.bytes.len())),
        }
    }

    /// Up to eight bytes, the first in the lowest bits.
    pub fn read(&self, at: u64, len: usize) -> Result<Value, String> {
        let at = self.place(at, len)?;
        let join = |bytes: &[u8]| bytes[at..at + len].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        Ok(Value { bits: join(&self.bytes), undefined: join(&self.undefined) })
    }

    pub fn write(&mut self, at: u64, len: usize, value: Value) -> Result<(), String> {
        let at = self.place(at, len)?;
        self.bytes[at..at + len].copy_from_slice(&value.bits.to_le_bytes()[..len]);
        self.undefined[at..at + len].copy_from_slice(&value.undefined.to_le_bytes()[..len]);
        Ok(())
    }
}

/// Blocks of memory at distant addresses.
#[derive(Debug, Default)]
pub struct Memory {
    blocks: Vec<(u64, Bytes, bool)>,
    /// The pictures that descriptors of images and texel buffers refer to, with true for writable ones.
    pub pictures: Vec<(Picture, bool)>,
    /// The samplers that descriptors name.
    pub samplers: Vec<Sampler>,
}

/// The address of the first block: near the 32-bit boundary, so that a lost carry is noticed.
const FIRST: u64 = 0x7f12_ffff_ff00;
/// The distance between blocks.
const STEP: u64 = 0x11_0000_0000;

impl Memory {
    /// Adds a block and returns its address.
    pub fn add(&mut self, bytes: Vec<u8>, writable: bool) -> u64 {
        let at = FIRST + STEP * self.blocks.len() as u64;
        self.blocks.push((at, Bytes::new(bytes), writable));
        at
    }

    /// Adds a read-only block at an address of the caller's choice.
    pub fn add_at(&mut self, at: u64, bytes: Vec<u8>) {
        self.blocks.push((at, Bytes::new(bytes), false));
    }

    /// The block at an address that `add` gave.
    pub fn block(&self, at: u64) -> Option<&Bytes> {
        self.blocks.iter().find(|(start, ..)| *start == at).map(|(_, bytes, _)| bytes)
    }

    fn find(&mut self, at: u64) -> Result<(u64, &mut Bytes, bool), String> {
        let found =
            self.blocks.iter_mut().find(|(start, bytes, _)| (*start..*start + bytes.bytes.len() as u64).contains(&at));
        let (start, bytes, writable) = found.ok_or_else(|| format!("nothing is at address {at:#x}"))?;
        Ok((at - *start, bytes, *writable))
    }

    pub fn read(&mut self, at: u64, len: usize) -> Result<Value, String> {
        let (offset, bytes, _) = self.find(at)?;
        bytes.read(offset, len)
    }

    pub fn write(&mut self, at: u64, len: usize, value: Value) -> Result<(), String> {
        let (offset, bytes, writable) = self.find(at)?;
        if !writable {
            return Err(format!("address {at:#x} cannot be written"));
        }
        bytes.write(offset, len, value)
    }
}
