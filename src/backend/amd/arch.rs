//! What differs between AMD's processors beside the names of instructions: one row a processor.
//!
//! Sources: LLVM's `AMDGPUUsage` and `AMDGPU.td` (features by processor), and AMD's ISA guides.

use super::mnemonic::Generation;
use crate::profile::Profile;

/// How buffers are reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addressing {
    /// Buffer instructions with 64-bit addresses (gfx6).
    Buffer,
    /// Flat instructions without an offset (gfx7, gfx8).
    Flat,
    /// Global instructions, whose offset is signed and has so many bits.
    Global { offset_bits: u8 },
}

/// Where the hardware leaves the workgroup's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupIds {
    /// In scalar registers behind those of the user.
    Scalars,
    /// The same, but user and workgroup registers must be at least 16 together in waves of 32 lanes.
    PaddedScalars,
    /// TTMP9 and the halves of TTMP7.
    Ttmp,
}

/// One processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Processor {
    pub name: &'static str,
    pub addressing: Addressing,
    /// Pairs of vector registers begin at even numbers.
    pub even_pairs: bool,
    /// The three local numbers are packed in v0, ten bits each.
    pub packed_ids: bool,
    pub group_ids: GroupIds,
    /// Scalar registers that a kernel can name.
    pub scalars: u16,
    /// Bytes of workgroup memory.
    pub shared_limit: u32,
    /// There is a second file of vector registers, for matrices.
    pub has_accumulators: bool,
}

const GFX6: Processor = Processor {
    name: "gfx600",
    addressing: Addressing::Buffer,
    even_pairs: false,
    packed_ids: false,
    group_ids: GroupIds::Scalars,
    scalars: 102,
    shared_limit: 0x8000,
    has_accumulators: false,
};
const GFX7: Processor = Processor { name: "gfx701", addressing: Addressing::Flat, shared_limit: 0x1_0000, ..GFX6 };
const GFX8: Processor = Processor { name: "gfx803", ..GFX7 };
const GFX9: Processor = Processor { name: "gfx900", addressing: Addressing::Global { offset_bits: 13 }, ..GFX8 };
const GFX90A: Processor =
    Processor { name: "gfx90a", even_pairs: true, packed_ids: true, has_accumulators: true, ..GFX9 };
const GFX10: Processor =
    Processor { name: "gfx1010", addressing: Addressing::Global { offset_bits: 12 }, scalars: 106, ..GFX9 };
const GFX11: Processor = Processor {
    name: "gfx1100",
    addressing: Addressing::Global { offset_bits: 13 },
    packed_ids: true,
    group_ids: GroupIds::PaddedScalars,
    ..GFX10
};
const GFX115: Processor = Processor { name: "gfx1150", group_ids: GroupIds::Scalars, ..GFX11 };
const GFX12: Processor = Processor {
    name: "gfx1200",
    addressing: Addressing::Global { offset_bits: 24 },
    group_ids: GroupIds::Ttmp,
    ..GFX115
};

static PROCESSORS: &[Processor] = &[
    GFX6,
    GFX7,
    GFX8,
    GFX9,
    Processor { name: "gfx906", ..GFX9 },
    Processor { name: "gfx908", has_accumulators: true, ..GFX9 },
    GFX90A,
    Processor { name: "gfx942", ..GFX90A },
    Processor { name: "gfx950", shared_limit: 0x2_8000, ..GFX90A },
    GFX10,
    Processor { name: "gfx1030", ..GFX10 },
    GFX11,
    GFX115,
    GFX12,
    Processor { name: "gfx1201", ..GFX12 },
];

/// A processor and how it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arch {
    pub generation: Generation,
    pub processor: &'static Processor,
    /// Lanes of a wave: 32 or 64.
    pub wave: u32,
}

impl Arch {
    /// That of a profile; none if it names no processor that is known, or no wave size that it has.
    pub fn of(profile: &Profile) -> Option<Arch> {
        let generation = Generation::of(&profile.processor)?;
        let processor = PROCESSORS.iter().find(|processor| *processor.name == *profile.processor)?;
        let wave = profile.wave_size?;
        let has_wave = wave == 64 || wave == 32 && generation >= Generation::Rdna1;
        has_wave.then_some(Arch { generation, processor, wave })
    }

    /// Scalar registers of a mask of lanes.
    pub const fn mask_width(&self) -> u8 {
        (self.wave / 32) as u8
    }

    /// Scalar operands, literals among them, that one vector instruction reads (LLVM: `getConstantBusLimit`).
    pub fn scalar_reads(&self) -> usize {
        if self.generation >= Generation::Rdna1 { 2 } else { 1 }
    }

    /// Whether scratch memory is reached by instructions of its own, without a resource or an offset of the wave's part
    /// (architected flat scratch: CDNA 3 and RDNA 3 on).
    pub fn has_scratch_instructions(&self) -> bool {
        self.generation >= Generation::Rdna3 || matches!(self.processor.name, "gfx942" | "gfx950")
    }

    /// Whether scalar registers can be kept free for the base of flat scratch memory.
    pub fn reserves_flat_scratch(&self) -> bool {
        !self.has_scratch_instructions() && self.processor.addressing != Addressing::Buffer
    }

    /// Where the workgroup's numbers are.
    pub fn group_ids(&self) -> GroupIds {
        match self.processor.group_ids {
            GroupIds::PaddedScalars if self.wave == 64 => GroupIds::Scalars,
            ids => ids,
        }
    }

    /// Whether vector instructions of three operands, and all in that encoding, take a literal.
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
