//! The words 0xffffffff and 0x3f800000, which NVIDIA's compilers for assembly and PTX confuse as the same boolean.
//!
//! If a branch, a known element of memory or half of a 64-bit value gets one of them, it may become the other (driver
//! 580.159 and ptxas 13.0, seen on an H100; docs/verified/nv-flow.md). A 1.0 that they cannot recognize stays
//! unchanged: one in a register that is computed from the lane's own masks.

/// True as an integer of all bits.
pub const TRUE: u32 = u32::MAX;
/// True as a float: the bits of 1.0.
pub const ONE: u32 = 0x3f80_0000;

/// The truths among the words that flow to one place.
#[derive(Clone, Copy, Default)]
pub struct Truths {
    truth: bool,
    one: bool,
}

impl Truths {
    /// Records a word.
    pub const fn hold(&mut self, word: u32) {
        self.truth |= word == TRUE;
        self.one |= word == ONE;
    }

    /// The truths of two places.
    pub const fn and(self, other: Truths) -> Truths {
        Truths { truth: self.truth || other.truth, one: self.one || other.one }
    }

    /// Returns true if both flow there.
    pub const fn are_mixed(self) -> bool {
        self.truth && self.one
    }
}
