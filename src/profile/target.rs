//! The kinds of output code, one row each.

use super::Feature;
use serde::Deserialize;

/// The kind of code that a profile produces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    Spirv,
    Nv,
    Amd,
    Wgsl,
    Ptx,
    Glsl,
    Hlsl,
    Msl,
}

/// The sizes of waves that a target has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waves {
    /// Any size that the driver chooses.
    Any,
    /// These numbers of lanes.
    Of(&'static [u32]),
    /// The sizes of the profile's processor.
    OfProcessor,
}

/// How a language numbers the resources of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placing {
    /// Fixed by the source: no option changes it.
    Fixed,
    /// By groups and bindings.
    Groups,
    /// Separate numbers for each kind, in spaces.
    Registers,
    /// Separate numbers for each kind.
    Slots,
}

/// How far the bodies of small loops are repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopCopies {
    /// Maximum number of copies of a body.
    pub most: usize,
    /// Instructions that all copies may have together.
    pub insts: usize,
}

/// The accesses to memory that one wider access can replace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Joins {
    /// Any consecutive words; in workgroup memory, those at a multiple of 8 bytes.
    Words,
    /// Words at a multiple of the size of all together, which is 8 or 16 bytes.
    Aligned,
}

impl LoopCopies {
    /// Enough for the test of a loop to cost little next to its body.
    pub const FEW: LoopCopies = LoopCopies { most: 16, insts: 128 };
}

/// How the inputs of a stage match the outputs of the previous stage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Matching {
    /// By location.
    Location,
    /// By location, with the same type and interpolation.
    Type,
    /// By register as well, which follows from the order of declarations.
    Order,
}

/// All differences between targets outside their own back ends and planners.
#[derive(Debug)]
pub struct TargetRow {
    /// In profile files, and before the dash in the names of profiles.
    pub key: &'static str,
    /// The language of its output.
    pub language: &'static str,
    /// The GLSL macro and the WGSL constant that identify the target.
    pub define: &'static str,
    /// The ending of its files.
    pub ending: &'static str,
    /// The extension of its text files, if text is a separate format.
    pub text_ending: &'static str,
    /// The default profile if only the extension of an output names the target.
    pub profile: Option<&'static str>,
    /// Invocations that a workgroup may have.
    pub invocations: u32,
    pub waves: Waves,
    /// The prefix of processor names that otherwise consist of a number.
    pub processor: Option<&'static str>,
    /// Bits that integers may have.
    pub integers: &'static [u8],
    /// Bits that floats may have.
    pub floats: &'static [u8],
    /// The hardware's name in messages; `None` if profiles name the processor.
    pub hardware: Option<&'static str>,
    /// The feature that each of its profiles has.
    pub basis: Option<Feature>,
    /// Features that all of its profiles have without naming them.
    pub given: &'static [Feature],
    /// Features that are named for other hardware and that its profiles can have.
    pub shares: &'static [Feature],
    /// True if the output is the hardware's own code, made from the kernel form, with priced plans and waves of a known
    /// size. Otherwise a driver compiles it further, and decides.
    pub is_hardware: bool,
    /// True if an invocation can ask for the number of its subgroup. Elsewhere the lanes of subgroups are the
    /// invocations of the workgroup in their order.
    pub numbers_subgroups: bool,
    /// True if the host must state the size of subgroups that control flow depends on (WGSL 14.2, Uniformity: the
    /// built-in value is not uniform).
    pub sets_subgroup_size: bool,
    /// True if waves have scalar registers and scalar instructions.
    pub has_scalar_registers: bool,
    /// True if integers are divided by sequences that we write.
    pub lacks_division: bool,
    /// True if an instruction names its image or texture by a constant, so that an index selects between instructions.
    pub lacks_image_indices: bool,
    /// The unroll factor of small loops with many iterations, if any. The driver that reads NVIDIA's assembly unrolls
    /// them itself, and better if it finds the original loop: `nbody` took 1.25 times as long as its own GLSL with
    /// unrolling and 1.13 times without, and a matrix kernel with tiles of 4 by 4 sums took 1.12 times as long with
    /// those loops unrolled. `ptxas` does not unroll; `nvcc` unrolls as far as crosslane's PTX does.
    pub loop_copies: Option<LoopCopies>,
    /// The memory accesses that are joined into wider ones, if any.
    pub joins: Option<Joins>,
    /// Bits of the floats that have a fast fused multiply-add, by the number of the first processor. For processors
    /// with names, their rows have it.
    pub fast_fma: &'static [(u32, &'static [u8])],
    /// True if textures and images can be bound.
    pub has_images: bool,
    /// True if there are other stages than compute.
    pub has_graphics: bool,
    /// How its language numbers resources.
    pub placing: Placing,
    /// How the inputs of a stage match the outputs of the previous stage.
    pub matching: Matching,
    /// True if crosslane supports all stages of its language.
    pub has_no_more_stages: bool,
    /// Bits of the integers that its language has and crosslane does not write.
    pub more_integers: &'static [u8],
    /// Bits of such floats.
    pub more_floats: &'static [u8],
    /// The feature without which its language has types of 32 bits alone, and the name of that language in messages.
    pub wide_types: Option<(Feature, &'static str)>,
    /// The target whose GLSL extensions it has.
    pub extensions: Target,
}

/// The usual of languages that a driver compiles further.
const DRIVEN: TargetRow = TargetRow {
    key: "",
    language: "",
    define: "",
    ending: "",
    text_ending: "",
    profile: None,
    // No Vulkan device exceeds this.
    invocations: 2048,
    waves: Waves::Any,
    processor: None,
    integers: &[8, 16, 32, 64],
    floats: &[16, 32, 64],
    hardware: None,
    basis: None,
    given: &[],
    shares: &[],
    is_hardware: false,
    numbers_subgroups: true,
    sets_subgroup_size: false,
    has_scalar_registers: false,
    lacks_division: false,
    lacks_image_indices: false,
    loop_copies: None,
    joins: None,
    fast_fma: &[],
    has_images: true,
    has_graphics: true,
    placing: Placing::Fixed,
    matching: Matching::Location,
    has_no_more_stages: false,
    more_integers: &[],
    more_floats: &[],
    wide_types: None,
    extensions: Target::Spirv,
};

/// The usual of NVIDIA's code.
const NVIDIA: TargetRow = TargetRow {
    // MAX_COMPUTE_WORK_GROUP_INVOCATIONS of NVIDIA's drivers, and CUDA's `CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK`.
    invocations: 1024,
    waves: Waves::Of(&[32]),
    hardware: Some("NVIDIA's hardware"),
    given: &[Feature::LaneFacts],
    is_hardware: true,
    numbers_subgroups: false,
    lacks_image_indices: true,
    ..DRIVEN
};

static ROWS: [TargetRow; 8] = [
    TargetRow {
        key: "spirv",
        language: "SPIR-V",
        define: "CROSSLANE_TARGET_SPIRV",
        ending: ".spv",
        text_ending: ".spvasm",
        profile: Some("spirv-1.3"),
        given: &[Feature::LaneFacts],
        ..DRIVEN
    },
    TargetRow {
        key: "nv",
        language: "NV_gpu_program",
        define: "CROSSLANE_TARGET_NV",
        ending: ".glasm",
        text_ending: ".glasm",
        extensions: Target::Nv,
        ..NVIDIA
    },
    TargetRow {
        key: "amd",
        language: "AMDHSA code object",
        define: "CROSSLANE_TARGET_AMD",
        ending: ".s",
        text_ending: ".s",
        // `max_flat_workgroup_size` (LLVM, AMDGPUUsage).
        invocations: 1024,
        waves: Waves::OfProcessor,
        basis: Some(Feature::AmdWave),
        given: &[Feature::LaneFacts],
        is_hardware: true,
        numbers_subgroups: false,
        has_scalar_registers: true,
        lacks_division: true,
        loop_copies: Some(LoopCopies::FEW),
        joins: Some(Joins::Words),
        has_graphics: false,
        extensions: Target::Amd,
        ..DRIVEN
    },
    TargetRow {
        key: "wgsl",
        language: "WGSL",
        define: "CROSSLANE_TARGET_WGSL",
        ending: ".wgsl",
        text_ending: ".wgsl",
        profile: Some("wgsl"),
        // `maxComputeInvocationsPerWorkgroup` is 256 unless the device allows more (WebGPU, 3.6.2).
        invocations: 1024,
        integers: &[32],
        floats: &[16, 32],
        numbers_subgroups: false,
        sets_subgroup_size: true,
        placing: Placing::Groups,
        matching: Matching::Type,
        has_no_more_stages: true,
        extensions: Target::Wgsl,
        ..DRIVEN
    },
    TargetRow {
        key: "ptx",
        language: "PTX",
        define: "CROSSLANE_TARGET_PTX",
        ending: ".ptx",
        text_ending: ".ptx",
        profile: Some("ptx-sm70"),
        processor: Some("sm_"),
        loop_copies: Some(LoopCopies { most: 32, insts: 256 }),
        joins: Some(Joins::Aligned),
        shares: &[Feature::NvVote, Feature::NvBallot, Feature::NvShuffle],
        // The throughput of native arithmetic instructions in CUDA's programming guide.
        fast_fma: &[(0, &[32, 64]), (53, &[16, 32, 64])],
        has_images: false,
        has_graphics: false,
        extensions: Target::Ptx,
        ..NVIDIA
    },
    TargetRow {
        key: "glsl",
        language: "GLSL",
        define: "CROSSLANE_TARGET_GLSL",
        ending: ".glsl",
        text_ending: ".glsl",
        profile: Some("glsl-450-khr"),
        placing: Placing::Groups,
        matching: Matching::Type,
        wide_types: Some((Feature::ExtendedTypes, "the profile's GLSL")),
        ..DRIVEN
    },
    TargetRow {
        key: "hlsl",
        language: "HLSL",
        define: "CROSSLANE_TARGET_HLSL",
        ending: ".hlsl",
        text_ending: ".hlsl",
        profile: Some("hlsl-6.0"),
        // `D3D12_CS_THREAD_GROUP_MAX_THREADS_PER_GROUP`.
        invocations: 1024,
        integers: &[32],
        floats: &[16, 32],
        numbers_subgroups: false,
        placing: Placing::Registers,
        matching: Matching::Order,
        more_integers: &[16, 64],
        more_floats: &[64],
        wide_types: Some((Feature::ExtendedTypes, "the profile's HLSL")),
        ..DRIVEN
    },
    TargetRow {
        key: "msl",
        language: "MSL",
        define: "CROSSLANE_TARGET_MSL",
        ending: ".metal",
        text_ending: ".metal",
        profile: Some("msl-2.1"),
        // `maxTotalThreadsPerThreadgroup` of Apple's hardware.
        invocations: 1024,
        waves: Waves::Of(&[32]),
        integers: &[8, 16, 32],
        floats: &[16, 32],
        placing: Placing::Slots,
        matching: Matching::Type,
        more_integers: &[64],
        ..DRIVEN
    },
];

impl Target {
    pub const ALL: [Target; 8] =
        [Target::Spirv, Target::Nv, Target::Amd, Target::Wgsl, Target::Ptx, Target::Glsl, Target::Hlsl, Target::Msl];

    pub const fn row(self) -> &'static TargetRow {
        &ROWS[self as usize]
    }

    /// Its name in profile files.
    pub const fn name(self) -> &'static str {
        self.row().key
    }

    /// Returns true if the output is the hardware's own code.
    pub const fn is_hardware(self) -> bool {
        self.row().is_hardware
    }

    /// Returns true if it has scalars of this many bits, floats or integers.
    pub fn has_width(self, is_float: bool, bits: u8) -> bool {
        let row = self.row();
        if is_float { row.floats.contains(&bits) } else { row.integers.contains(&bits) }
    }

    /// The target of that name in profile files.
    pub fn named(key: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name() == key)
    }
}
