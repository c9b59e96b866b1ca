//! The language version and the hardware of a profile.

use crate::profile::Profile;

/// The PTX version and the architecture of a text.
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

    /// The minimum and maximum of two halves.
    pub const fn has_half_extremes(self) -> bool {
        self.sm >= 80
    }

    /// Loads of memory that is not written during the kernel.
    pub const fn has_constant_loads(self) -> bool {
        self.sm >= 32
    }

    /// 64-bit atomics other than additions and exchanges.
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

/// 32-bit registers of a multiprocessor (CUDA C++ Programming Guide, table "Technical Specifications per Compute
/// Capability").
pub const REGISTERS: u32 = 65536;
/// Resident invocations of a multiprocessor on every architecture; most have twice as many.
pub const RESIDENT: u32 = 1024;
