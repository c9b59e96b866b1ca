//! A processor with the settings of a profile.

use super::mnemonic::Operation;
use crate::profile::Profile;
pub use crate::profile::processor::{Addressing, Dual, Generation, GroupIds, Processor};

/// A processor with its mode of operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arch {
    /// The processor's generation.
    pub generation: Generation,
    pub processor: &'static Processor,
    /// Lanes of a wave: 32 or 64.
    pub wave: u32,
}

impl Arch {
    /// The architecture of a profile; `None` if it names an unknown processor, or a wave size that the processor lacks.
    pub fn of(profile: &Profile) -> Option<Arch> {
        let processor = Processor::named(&profile.processor)?;
        let wave = profile.wave_size.filter(|wave| processor.waves.contains(wave))?;
        Some(Arch { generation: processor.generation, processor, wave })
    }

    /// Scalar registers of a mask of lanes.
    pub const fn mask_width(&self) -> u8 {
        (self.wave / 32) as u8
    }

    /// Number of scalar operands, including literals, that one vector instruction can read (LLVM:
    /// `getConstantBusLimit`).
    pub fn scalar_reads(&self) -> usize {
        if self.generation >= Generation::Rdna1 { 2 } else { 1 }
    }

    /// Returns true if scalar registers can be kept free for the base of flat scratch memory.
    pub fn reserves_flat_scratch(&self) -> bool {
        !self.processor.scratch_instructions && self.processor.addressing != Addressing::Buffer
    }

    /// Returns true if scalar loads add a scalar register and a constant to their base (Vega ISA, SMEM).
    pub fn has_indexed_scalar_loads(&self) -> bool {
        self.generation >= Generation::Vega
    }

    /// Returns true if sine and cosine accept any operand; before Vega their range is -256 to 256 turns (GCN 3 ISA,
    /// V_SIN_F32; LLVM: `FeatureTrigReducedRange`).
    pub fn has_wide_sines(&self) -> bool {
        self.generation >= Generation::Vega
    }

    /// Returns true if instructions can read bytes and halves of registers (LLVM: `FeatureSDWA`).
    pub fn has_parts(&self) -> bool {
        (Generation::Gcn3..Generation::Rdna3).contains(&self.generation)
    }

    /// Number of scalar registers that an instruction with SDWA operands can read (LLVM: `FeatureSDWAScalar`).
    pub fn scalar_parts(&self) -> usize {
        if self.generation >= Generation::Vega { 1 } else { 0 }
    }

    /// Returns true if an instruction with a 16-bit result zeroes the upper half: all on gfx8, those with one or two
    /// operands on gfx9 (LLVM: `zeroesHigh16BitsOfDest`).
    pub fn zeroes_upper(&self, operation: Operation) -> bool {
        match self.generation {
            Generation::Gcn3 => true,
            Generation::Vega => operation != Operation::FmaF16,
            _ => false,
        }
    }

    /// The registers with the workgroup indices.
    pub fn group_ids(&self) -> GroupIds {
        match self.processor.group_ids {
            GroupIds::PaddedScalars if self.wave == 64 => GroupIds::Scalars,
            ids => ids,
        }
    }

    /// Returns true if vector instructions with three operands, and all others in that encoding, accept a literal.
    pub fn has_long_literals(&self) -> bool {
        self.generation >= Generation::Rdna1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Target;

    #[test]
    fn every_profile_has_a_processor() {
        for profile in Profile::all().filter(|profile| profile.target == Target::Amd) {
            let arch = Arch::of(&profile).unwrap_or_else(|| panic!("{} is not known", profile.name));
            assert_eq!(u32::from(arch.mask_width()) * 32, arch.wave);
        }
    }
}
