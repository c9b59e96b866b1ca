//! What hardware a profile can have: the closed list of names that profile files may use.

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

            /// What it means, one line or more.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Feature::$name => concat!($($doc),+).trim_ascii()),+
                }
            }
        }
    };
}

features! {
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
    /// Numbers of the processor and of its warps (SPV_NV_shader_sm_builtins).
    SmBuiltins = "sm-builtins",
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FeatureSet(u64);

impl FeatureSet {
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u8 & 1 != 0
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
