//! AMD's processors. A row has every difference between processors that is not a feature of profiles.
//!
//! Sources: LLVM's `AMDGPUUsage`, `AMDGPU.td` (features by processor) and `AMDGPUBaseInfo` (`getTotalNumVGPRs`,
//! `getVGPRAllocGranule`, `getTotalNumSGPRs`, `getMaxWavesPerEU`), and AMD's ISA guides.

/// The generations whose instructions have their own names, oldest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Generation {
    /// gfx6 and gfx7.
    Gcn1,
    /// gfx8.
    Gcn3,
    /// gfx9: Vega and CDNA.
    Vega,
    /// gfx10: RDNA 1 and 2.
    Rdna1,
    /// gfx11: RDNA 3 and 3.5.
    Rdna3,
    /// gfx12: RDNA 4.
    Rdna4,
}

/// How buffers are reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addressing {
    /// Buffer instructions with 64-bit addresses (gfx6).
    Buffer,
    /// Flat instructions without an offset (gfx7, gfx8).
    Flat,
    /// Global instructions, with a signed offset of this many bits.
    Global { offset_bits: u8 },
}

/// The place of an image instruction's address words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageAddress {
    /// In consecutive registers.
    Tuple,
    /// In separate registers, or in consecutive registers if there are more than this many.
    List { most: usize },
    /// In at most this many operands, the last of which has all further words in consecutive registers. Instructions
    /// with a sampler can take fewer.
    Partial { most: usize, sampling: usize },
}

/// Where the hardware leaves the workgroup indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupIds {
    /// In scalar registers after the user's.
    Scalars,
    /// Like the scalars above, but user and workgroup registers must be at least 16 together in waves of 32 lanes
    /// (LLVM: `FeatureUserSGPRInit16Bug`).
    PaddedScalars,
    /// TTMP9 and the two halves of TTMP7.
    Ttmp,
}

/// The hazards that the hardware does not resolve itself: a table of rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hazards {
    Gcn1,
    Gcn2,
    Gcn3,
    /// The hazards of GCN 3, and accesses that run again after a page fault (LLVM: `FeatureSupportsXNACK`).
    Vega,
    Cdna3,
    Rdna1,
    None,
    Rdna3,
    /// The hazards of RDNA 3, except transcendental results (LLVM: `FeatureVALUTransUseHazard`).
    Rdna35,
    Rdna4,
}

/// Pairs of vector instructions in one (VOPD), in waves of 32 lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dual {
    /// There are none.
    None,
    Rdna3,
    Rdna4,
}

/// The counters of memory accesses, and the cache controls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counters {
    Gcn1,
    Gcn2,
    Vega,
    Cdna2,
    Cdna3,
    Rdna1,
    Rdna35,
    Rdna4,
}

/// One processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Processor {
    pub name: &'static str,
    pub generation: Generation,
    /// Lanes that its waves can have.
    pub waves: &'static [u32],
    pub addressing: Addressing,
    pub hazards: Hazards,
    pub counters: Counters,
    /// Pairs of vector registers begin at even numbers.
    pub even_pairs: bool,
    /// The three local numbers are packed in v0, ten bits each.
    pub packed_ids: bool,
    pub group_ids: GroupIds,
    /// Scratch memory has separate instructions, without a resource or an offset of the wave's part (LLVM: architected
    /// flat scratch).
    pub scratch_instructions: bool,
    /// Accesses name how far they must be seen by `sc0` and `sc1` (LLVM: `FeatureGFX940Insts`).
    pub scope_bits: bool,
    /// Scalar registers that a kernel can name.
    pub scalars: u16,
    /// Bytes of workgroup memory.
    pub shared_limit: u32,
    /// Image instructions exist (LLVM: `FeatureImageInsts`). CDNA 2's lack volumes, cubes and samplers, so it counts as
    /// false.
    pub has_images: bool,
    pub image_address: ImageAddress,
    /// True if 1D images are bound as 2D images with a height of one texel.
    pub widens_lines: bool,
    /// The size of a texel buffer in its descriptor is in bytes instead of texels.
    pub texel_buffers_in_bytes: bool,
    /// The descriptor of an image has the logarithm of the number of samples in bits 16 to 19 of its fourth word.
    pub tells_samples: bool,
    /// Gathers from integer textures return the right texels.
    pub gathers_integers: bool,
    /// There is a second vector register file, for matrices.
    pub has_accumulators: bool,
    /// Bits of the floats for which V_FMA takes as long as an addition (LLVM: `FeatureFastFMAF32`; halves from gfx8 on,
    /// doubles always). V_MAD is not an alternative: it flushes subnormals.
    pub fast_fma: &'static [u8],
    /// V_FMAC_F32 exists (LLVM: `FeatureDLInsts`).
    pub has_fmac: bool,
    /// V_FMA_MIX_F32 exists (LLVM: `FeatureFmaMixInsts`). V_MAD_MIX is not an alternative: it rounds twice.
    pub has_fma_mix: bool,
    /// The scalar unit has arithmetic on 32-bit floats (LLVM: `FeatureSALUFloatInsts`).
    pub has_scalar_floats: bool,
    pub dual: Dual,
    pub share: Share,
}

/// The register file that the waves of one SIMD share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Vector registers, for waves of 64 lanes.
    pub vectors: u16,
    /// Allocation granule of vector registers, for waves of 64 lanes.
    pub vector_granule: u16,
    /// Scalar registers; 0 if each wave has a fixed set.
    pub scalars: u16,
    pub scalar_granule: u16,
    /// VCC, and the registers after the scalar ones from gfx8 on (FLAT_SCRATCH, XNACK_MASK), also occupy registers.
    pub hidden_scalars: u16,
    /// Maximum number of waves.
    pub waves: u16,
    /// A 64-bit shift misreads an amount in the last vector register of a wave (LLVM: `Shift64HighRegBug`).
    pub misreads_last: bool,
}

const GCN1_SHARE: Share = Share {
    vectors: 256,
    vector_granule: 4,
    scalars: 512,
    scalar_granule: 8,
    hidden_scalars: 4,
    waves: 10,
    misreads_last: false,
};
const GCN3_SHARE: Share = Share { scalars: 800, scalar_granule: 16, hidden_scalars: 6, ..GCN1_SHARE };
const CDNA2_SHARE: Share = Share { vectors: 512, vector_granule: 8, waves: 8, misreads_last: true, ..GCN3_SHARE };
const CDNA3_SHARE: Share = Share { misreads_last: false, ..CDNA2_SHARE };
const RDNA1_SHARE: Share = Share { vectors: 512, scalars: 0, scalar_granule: 1, waves: 20, ..GCN3_SHARE };
const RDNA2_SHARE: Share = Share { vector_granule: 8, waves: 16, ..RDNA1_SHARE };
/// Half as many vector registers again (LLVM: `Feature1_5xVGPRs`).
const LARGE_SHARE: Share = Share { vectors: 768, vector_granule: 12, ..RDNA2_SHARE };

const GFX600: Processor = Processor {
    name: "gfx600",
    generation: Generation::Gcn1,
    waves: &[64],
    addressing: Addressing::Buffer,
    hazards: Hazards::Gcn1,
    counters: Counters::Gcn1,
    even_pairs: false,
    packed_ids: false,
    group_ids: GroupIds::Scalars,
    scratch_instructions: false,
    scope_bits: false,
    scalars: 102,
    shared_limit: 0x8000,
    has_images: true,
    image_address: ImageAddress::Tuple,
    widens_lines: false,
    texel_buffers_in_bytes: false,
    tells_samples: true,
    gathers_integers: false,
    has_accumulators: false,
    fast_fma: &[32, 64],
    has_fmac: false,
    has_fma_mix: false,
    has_scalar_floats: false,
    dual: Dual::None,
    share: GCN1_SHARE,
};
const GFX701: Processor = Processor {
    name: "gfx701",
    addressing: Addressing::Flat,
    hazards: Hazards::Gcn2,
    counters: Counters::Gcn2,
    shared_limit: 0x1_0000,
    ..GFX600
};
const GFX803: Processor = Processor {
    name: "gfx803",
    generation: Generation::Gcn3,
    hazards: Hazards::Gcn3,
    texel_buffers_in_bytes: true,
    fast_fma: &[16, 64],
    share: GCN3_SHARE,
    ..GFX701
};
const GFX900: Processor = Processor {
    name: "gfx900",
    generation: Generation::Vega,
    addressing: Addressing::Global { offset_bits: 13 },
    hazards: Hazards::Vega,
    counters: Counters::Vega,
    widens_lines: true,
    texel_buffers_in_bytes: false,
    gathers_integers: true,
    fast_fma: &[16, 32, 64],
    ..GFX803
};
const GFX90A: Processor = Processor {
    name: "gfx90a",
    counters: Counters::Cdna2,
    has_images: false,
    even_pairs: true,
    packed_ids: true,
    has_accumulators: true,
    has_fmac: true,
    has_fma_mix: true,
    share: CDNA2_SHARE,
    ..GFX900
};
const GFX942: Processor = Processor {
    name: "gfx942",
    hazards: Hazards::Cdna3,
    counters: Counters::Cdna3,
    scratch_instructions: true,
    scope_bits: true,
    share: CDNA3_SHARE,
    ..GFX90A
};
const GFX1010: Processor = Processor {
    name: "gfx1010",
    generation: Generation::Rdna1,
    waves: &[32, 64],
    addressing: Addressing::Global { offset_bits: 12 },
    hazards: Hazards::Rdna1,
    counters: Counters::Rdna1,
    image_address: ImageAddress::List { most: 5 },
    widens_lines: false,
    scalars: 106,
    has_fmac: true,
    has_fma_mix: true,
    share: RDNA1_SHARE,
    ..GFX900
};
const GFX1030: Processor = Processor {
    name: "gfx1030",
    hazards: Hazards::None,
    image_address: ImageAddress::List { most: 13 },
    share: RDNA2_SHARE,
    ..GFX1010
};
const GFX1100: Processor = Processor {
    name: "gfx1100",
    generation: Generation::Rdna3,
    addressing: Addressing::Global { offset_bits: 13 },
    hazards: Hazards::Rdna3,
    image_address: ImageAddress::Partial { most: 5, sampling: 5 },
    packed_ids: true,
    group_ids: GroupIds::PaddedScalars,
    scratch_instructions: true,
    dual: Dual::Rdna3,
    share: LARGE_SHARE,
    ..GFX1030
};
const GFX1150: Processor = Processor {
    name: "gfx1150",
    counters: Counters::Rdna35,
    hazards: Hazards::Rdna35,
    has_scalar_floats: true,
    group_ids: GroupIds::Scalars,
    share: RDNA2_SHARE,
    ..GFX1100
};
const GFX1200: Processor = Processor {
    name: "gfx1200",
    generation: Generation::Rdna4,
    addressing: Addressing::Global { offset_bits: 24 },
    hazards: Hazards::Rdna4,
    counters: Counters::Rdna4,
    image_address: ImageAddress::Partial { most: 5, sampling: 4 },
    tells_samples: false,
    group_ids: GroupIds::Ttmp,
    dual: Dual::Rdna4,
    share: LARGE_SHARE,
    ..GFX1150
};

static PROCESSORS: &[Processor] = &[
    GFX600,
    GFX701,
    GFX803,
    GFX900,
    Processor { name: "gfx906", has_fmac: true, has_fma_mix: true, ..GFX900 },
    Processor { name: "gfx908", has_fmac: true, has_fma_mix: true, has_accumulators: true, ..GFX900 },
    GFX90A,
    GFX942,
    Processor { name: "gfx950", shared_limit: 0x2_8000, ..GFX942 },
    GFX1010,
    GFX1030,
    GFX1100,
    Processor { name: "gfx1101", group_ids: GroupIds::Scalars, ..GFX1100 },
    Processor { name: "gfx1102", share: RDNA2_SHARE, ..GFX1100 },
    Processor { name: "gfx1103", group_ids: GroupIds::Scalars, share: RDNA2_SHARE, ..GFX1100 },
    GFX1150,
    Processor { name: "gfx1151", share: LARGE_SHARE, ..GFX1150 },
    Processor { name: "gfx1152", ..GFX1150 },
    Processor { name: "gfx1153", ..GFX1150 },
    GFX1200,
    Processor { name: "gfx1201", ..GFX1200 },
];

impl Processor {
    /// The processor of this name.
    pub fn named(name: &str) -> Option<&'static Processor> {
        PROCESSORS.iter().find(|processor| processor.name == name)
    }

    /// The names of all, oldest first.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        PROCESSORS.iter().map(|processor| processor.name)
    }

    /// Returns true if it runs waves of 32 lanes by default.
    pub fn has_both_waves(&self) -> bool {
        self.waves.len() > 1
    }
}
