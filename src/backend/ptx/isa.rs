//! The language version and the hardware of a profile.

use crate::profile::Profile;

/// The version of PTX and the architecture that a text is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Isa {
    /// Version of PTX: `.version`.
    pub version: (u8, u8),
    /// The number in `.target sm_70`.
    pub sm: u32,
}

impl Isa {
    pub fn of(profile: &Profile) -> Isa {
        Isa { version: profile.version, sm: profile.architecture().unwrap_or(OLDEST) }
    }

    /// Arithmetic and comparisons of halves.
    pub const fn has_halves(self) -> bool {
        self.sm >= 53
    }

    /// The smaller and the greater of two halves.
    pub const fn has_half_extremes(self) -> bool {
        self.sm >= 80
    }

    /// Loads of memory that is not written during the kernel.
    pub const fn has_constant_loads(self) -> bool {
        self.sm >= 32
    }

    /// Atomics of 64 bits besides additions and exchanges.
    pub const fn has_wide_atomics(self) -> bool {
        self.sm >= 32
    }

    /// Additions of doubles in memory.
    pub const fn has_double_atomics(self) -> bool {
        self.sm >= 60
    }
}

/// The oldest architecture that has `shfl`.
const OLDEST: u32 = 30;

/// Registers of 32 bits of a multiprocessor (CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability").
pub const REGISTERS: u32 = 65536;
/// Invocations that a multiprocessor of every architecture holds at once; most hold twice as many.
pub const RESIDENT: u32 = 1024;
