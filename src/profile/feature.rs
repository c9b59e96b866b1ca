//! The features of hardware that a profile can have: the closed list of names that profile files may use.

use super::Target;
use serde::Deserialize;
use std::fmt;

macro_rules! features {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// One ability that the planner asks for.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
        #[repr(u8)]
        pub enum Feature {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $name,)+
        }

        impl Feature {
            /// Every feature, in the order of the list.
            pub const ALL: &[Feature] = &[$(Feature::$name),+];

            /// Its name in profile files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Feature::$name => $text),+
                }
            }

            /// Its meaning, in one line or more.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Feature::$name => concat!($($doc),+).trim_ascii()),+
                }
            }
        }
    };
}

features! {
    /// The lane's index and the subgroup's size (GroupNonUniform).
    LaneFacts = "lane-facts",
    /// Votes over the subgroup (GroupNonUniformVote).
    Vote = "vote",
    /// Ballots and broadcasts (GroupNonUniformBallot).
    Ballot = "ballot",
    /// Reductions and scans over the subgroup (GroupNonUniformArithmetic).
    Arithmetic = "arithmetic",
    /// Shuffles by index and by xor (GroupNonUniformShuffle).
    Shuffle = "shuffle",
    /// Shuffles up and down (GroupNonUniformShuffleRelative).
    ShuffleRelative = "shuffle-relative",
    /// Reductions over segments (GroupNonUniformClustered).
    Clustered = "clustered",
    /// Broadcasts and swaps in quads (GroupNonUniformQuad).
    Quad = "quad",
    /// Rotation inside segments (GroupNonUniformRotateKHR).
    Rotate = "rotate",
    /// Votes over the active lanes of a quad (QuadControlKHR).
    QuadControl = "quad-control",
    /// Broadcasts whose lane is uniform and not a constant.
    DynamicBroadcast = "dynamic-broadcast",
    /// Subgroup operations on 8-, 16- and 64-bit values (shaderSubgroupExtendedTypes).
    ExtendedTypes = "extended-types",
    /// Scans by minimum, maximum and bitwise operations; those by addition and multiplication are part of `arithmetic`.
    Scans = "scans",
    /// Counts, searches and bits of ballots by one instruction each.
    BallotBits = "ballot-bits",
    /// Votes on equal values.
    VoteEqual = "vote-equal",
    /// Shuffles by xor, up and down whose distance differs between lanes.
    VaryingDistance = "varying-distance",
    /// The election of one lane.
    Elect = "elect",
    /// Barriers of the subgroup.
    SubgroupBarrier = "subgroup-barrier",
    /// Partitions (GroupNonUniformPartitionedNV, WaveMatch).
    Partitioned = "partitioned",
    /// Exclusive scans of partitions, except minimum and maximum (WaveMultiPrefix*).
    PartitionedScans = "partitioned-scans",
    /// All other folds over partitions.
    PartitionedFolds = "partitioned-folds",
    /// Swizzles by constants, writes to a lane, counts of masks, and folds by addition, minimum and maximum
    /// (SPV_AMD_shader_ballot).
    ShaderBallotAmd = "shader-ballot-amd",
    /// Numbers of the processor and of its warps (SPV_NV_shader_sm_builtins).
    SmBuiltins = "sm-builtins",
    /// Workgroups that have started continue to run, whatever others wait for.
    ForwardProgress = "forward-progress",
    /// Matrices that a subgroup holds together (SPV_KHR_cooperative_matrix).
    CooperativeMatrix = "cooperative-matrix",
    /// Instructions of SPIR-V by number.
    SpirvIntrinsics = "spirv-intrinsics",

    /// GL_NV_shader_thread_shuffle and GL_NV_shader_thread_group instead of Khronos' functions.
    GlslNvThreads = "glsl-nv-threads",
    /// GLSL for OpenGL: no descriptor sets, push constants, specialization constants, and textures apart from samplers.
    Opengl = "opengl",
    /// GLSL ES, for OpenGL ES and WebGL.
    Es = "es",
    /// Metal's language as iOS has it, where some of it came with other versions than on macOS.
    MslIos = "msl-ios",

    /// TGALL, TGANY, TGEQ: votes of a warp (NV_gpu_program5).
    NvVote = "nv-vote",
    /// TGBALLOT and masks of a warp's lanes (NV_shader_thread_group).
    NvBallot = "nv-ballot",
    /// QSWZ: swizzles of float quads in fragment programs (NV_shader_thread_group).
    NvQuadSwizzle = "nv-quad-swizzle",
    /// SHFUP, SHFDOWN, SHFIDX, SHFXOR: shuffles in segments of a warp (NV_shader_thread_shuffle).
    NvShuffle = "nv-shuffle",

    /// `redux.sync`: folds of 32-bit integers over a warp (PTX).
    PtxReduce = "ptx-reduce",
    /// `match.any.sync` and `match.all.sync`: lanes of a warp with the same bits (PTX).
    PtxMatch = "ptx-match",
    /// `bar.warp.sync`: a barrier of a warp (PTX).
    PtxSync = "ptx-sync",

    /// READLANE, READFIRSTLANE, WRITELANE, MBCNT, comparison masks, WQM, LDS memory.
    AmdWave = "amd-wave",
    /// DS_SWIZZLE by masks and in quads.
    AmdSwizzle = "amd-swizzle",
    /// DS_SWIZZLE in the modes rotate and FFT.
    AmdSwizzleRotate = "amd-swizzle-rotate",
    /// DS_PERMUTE and DS_BPERMUTE.
    AmdPermute = "amd-permute",
    /// DS_PERMUTE and DS_BPERMUTE reach all 64 lanes of a wave64.
    AmdWidePermute = "amd-wide-permute",
    /// DS_BPERMUTE_FI, which reads inactive lanes.
    AmdPermuteFetchInactive = "amd-permute-fetch-inactive",
    /// DPP in rows: quad_perm, row_shl, row_shr, row_ror, row_mirror, row_half_mirror.
    AmdDpp16 = "amd-dpp16",
    /// DPP over the wave: wave_shl, wave_shr, wave_rol, wave_ror.
    AmdDppWave = "amd-dpp-wave",
    /// DPP between rows: row_bcast:15, row_bcast:31.
    AmdDppRowBcast = "amd-dpp-row-bcast",
    /// DPP row_newbcast.
    AmdDppNewBcast = "amd-dpp-newbcast",
    /// 64-bit moves with DPP row_newbcast.
    AmdDpp64 = "amd-dpp64",
    /// DPP row_share and row_xmask.
    AmdDppRowShare = "amd-dpp-row-share",
    /// DPP on 16-bit integer arithmetic (not on RDNA 1 and 2, where it is VOP3).
    AmdDppShort = "amd-dpp-short",
    /// DPP8: any map inside 8 lanes.
    AmdDpp8 = "amd-dpp8",
    /// DPP and DPP8 that read inactive lanes (fi).
    AmdFetchInactive = "amd-fetch-inactive",
    /// PERMLANE16 and PERMLANEX16.
    AmdPermlane16 = "amd-permlane16",
    /// PERMLANE16_VAR and PERMLANEX16_VAR.
    AmdPermlaneVar = "amd-permlane-var",
    /// PERMLANE64.
    AmdPermlane64 = "amd-permlane64",
    /// PERMLANE16_SWAP and PERMLANE32_SWAP.
    AmdPermlaneSwap = "amd-permlane-swap",
    /// A vector instruction reads two scalar registers.
    AmdTwoScalars = "amd-two-scalars",
    /// Vector registers that the two halves of a wave64 share.
    AmdSharedVgpr = "amd-shared-vgpr",
}

impl Feature {
    /// Returns true if profiles of a target can have it: the hardware in its name and hardware that shares it, otherwise every
    /// target that a driver compiles.
    pub fn is_for(self, target: Target) -> bool {
        let of = self.name().split_once('-').and_then(|(key, _)| Target::named(key));
        match of {
            Some(of) => of == target || target.row().shares.contains(&self),
            None => matches!(self, Feature::SmBuiltins | Feature::ForwardProgress) || !target.is_hardware(),
        }
    }

    /// The only wave size that it exists for; none if it exists for several.
    pub fn waves(self) -> Option<u32> {
        use Feature as F;
        match self {
            F::NvVote | F::NvBallot | F::NvQuadSwizzle | F::NvShuffle | F::GlslNvThreads => Some(32),
            F::PtxReduce | F::PtxMatch | F::PtxSync => Some(32),
            F::AmdDppWave | F::AmdDppRowBcast | F::AmdDppNewBcast | F::AmdDpp64 => Some(64),
            F::AmdPermlaneSwap | F::AmdSharedVgpr => Some(64),
            _ => None,
        }
    }

    /// The feature of which it is a mode or an extension, and without which no hardware has it.
    pub fn needs(self) -> Option<Feature> {
        use Feature as F;
        match self {
            F::AmdDppWave | F::AmdDppRowBcast | F::AmdDppNewBcast | F::AmdDppRowShare | F::AmdDppShort => {
                Some(F::AmdDpp16)
            }
            F::AmdDpp64 => Some(F::AmdDppNewBcast),
            F::AmdSwizzleRotate => Some(F::AmdSwizzle),
            F::AmdWidePermute | F::AmdPermuteFetchInactive => Some(F::AmdPermute),
            F::AmdPermlaneVar => Some(F::AmdPermlane16),
            _ => None,
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const _: () = assert!(Feature::ALL.len() <= u64::BITS as usize, "a set is one word");

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FeatureSet(u64);

impl FeatureSet {
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u8 & 1 != 0
    }

    pub const fn has_all(self, others: FeatureSet) -> bool {
        others.0 & !self.0 == 0
    }

    #[must_use]
    pub const fn with(self, feature: Feature) -> FeatureSet {
        FeatureSet(self.0 | 1 << feature as u8)
    }

    #[must_use]
    pub const fn without(self, feature: Feature) -> FeatureSet {
        FeatureSet(self.0 & !(1 << feature as u8))
    }

    /// Its members, in the order of the list.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |feature| self.has(*feature))
    }
}

impl FromIterator<Feature> for FeatureSet {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> FeatureSet {
        features.into_iter().fold(FeatureSet::default(), FeatureSet::with)
    }
}
