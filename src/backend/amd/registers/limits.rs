//! The number of registers that a kernel may use, and the resulting occupancy.

use crate::backend::amd::arch::Arch;
use crate::backend::amd::machine::{File, Function, Inst, Operand};
use crate::backend::amd::mnemonic::Operation;
use crate::profile::processor::Share;

/// SIMDs that share the waves of a workgroup: the SIMDs of a compute unit, or of a workgroup processor from gfx10 on.
const SIMDS: u32 = 4;
/// Vector registers that an instruction can name.
const NAMED_VECTORS: u16 = 256;

/// The register file that waves of this many lanes share.
fn share(arch: &Arch) -> Share {
    let share = arch.processor.share;
    let halves = 64 / arch.wave.max(1) as u16;
    Share { vectors: share.vectors * halves, vector_granule: share.vector_granule * halves, ..share }
}

/// The registers that a kernel may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    pub vectors: u16,
    pub scalars: u16,
    /// Take scalar registers in rotation: each wave has all of them, and registers that were not used recently need no
    /// waits.
    pub rotates_scalars: bool,
}

impl Limits {
    /// The limits of a kernel whose workgroups, of this many invocations, must run at once.
    pub fn new(arch: &Arch, invocations: u32) -> Limits {
        let share = share(arch);
        let waves = invocations.div_ceil(arch.wave).div_ceil(SIMDS).clamp(1, u32::from(share.waves)) as u16;
        let even = share.vectors / waves;
        Limits {
            vectors: (even - even % share.vector_granule).min(NAMED_VECTORS) - u16::from(share.misreads_last),
            scalars: arch.processor.scalars,
            rotates_scalars: share.scalars == 0,
        }
    }
}

/// The vector registers that a function needs in addition to the named ones: one more if a shift would have its amount
/// in its last one.
pub fn spare_vectors(function: &Function, arch: &Arch, vectors: u16) -> u16 {
    let share = share(arch);
    let is_misread = |inst: &Inst| {
        let is_shift = matches!(inst.operation(), Some(Operation::ShlB64 | Operation::ShrB64 | Operation::AshrI64));
        let amount = inst.uses.first();
        let last = matches!(amount, Some(Operand::Hardware(place)) if place.file == File::Vector && place.first + 1 == vectors);
        is_shift && last
    };
    let is_full = share.misreads_last && vectors.is_multiple_of(share.vector_granule);
    u16::from(is_full && function.blocks.iter().flat_map(|block| &block.insts).any(is_misread))
}

/// Waves that fit on a SIMD by their registers.
pub fn occupancy(arch: &Arch, vectors: u16, scalars: u16) -> u16 {
    let share = share(arch);
    let by_vectors = share.vectors / vectors.max(1).next_multiple_of(share.vector_granule);
    let rounded = (scalars + share.hidden_scalars).next_multiple_of(share.scalar_granule);
    let by_scalars = if share.scalars == 0 { share.waves } else { share.scalars / rounded };
    share.waves.min(by_vectors).min(by_scalars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn arch(profile: &str) -> Arch {
        Arch::of(&Profile::all().find(|known| *known.name == *profile).expect("it is embedded")).expect("it is AMD's")
    }

    /// LLVM gives kernels with `amdgpu-flat-work-group-size` 1024 these limits.
    #[test]
    fn limits_of_large_workgroups() {
        let vectors = |profile| Limits::new(&arch(profile), 1024).vectors;
        assert_eq!(vectors("gfx803"), 64);
        assert_eq!(vectors("gfx90a"), 127);
        assert_eq!(vectors("gfx942"), 128);
        assert_eq!(vectors("gfx1030-wave32"), 128);
        assert_eq!(vectors("gfx1030-wave64"), 128);
        assert_eq!(vectors("gfx1100-wave32"), 192);
        assert_eq!(Limits::new(&arch("gfx803"), 64).vectors, 256);
        assert_eq!(Limits::new(&arch("gfx1100-wave32"), 64).vectors, 256);
    }

    #[test]
    fn waves_by_registers() {
        assert_eq!(occupancy(&arch("gfx803"), 24, 16), 10);
        assert_eq!(occupancy(&arch("gfx803"), 25, 16), 9);
        assert_eq!(occupancy(&arch("gfx803"), 24, 96), 7);
        assert_eq!(occupancy(&arch("gfx600"), 24, 100), 4);
        assert_eq!(occupancy(&arch("gfx90a"), 128, 16), 4);
        assert_eq!(occupancy(&arch("gfx1010-wave32"), 48, 100), 20);
        assert_eq!(occupancy(&arch("gfx1030-wave32"), 72, 100), 12);
        assert_eq!(occupancy(&arch("gfx1100-wave32"), 96, 100), 16);
        assert_eq!(occupancy(&arch("gfx1100-wave64"), 97, 100), 7);
        assert_eq!(occupancy(&arch("gfx1150-wave32"), 256, 100), 4);
    }
}
