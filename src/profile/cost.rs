//! The costs of instructions on a profile: the numbers that the planner weighs, as data of the profile.
//!
//! A cost is for one instruction on 32-bit values. Waits for the local data share are part of its latency and do not
//! count as instructions.

use super::Feature;
use serde::{Deserialize, Serialize};

macro_rules! cost_classes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal for $need:ident,)+) => {
        /// A kind of instruction that has its own cost.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum CostClass {
            $($(#[doc = $doc])+ $name,)+
        }

        impl CostClass {
            /// Every class, in the order of the list.
            pub const ALL: &[CostClass] = &[$(CostClass::$name),+];

            /// Its key in profile files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(CostClass::$name => $text),+
                }
            }

            /// The class of this key.
            pub fn of_name(name: &str) -> Option<CostClass> {
                CostClass::ALL.iter().copied().find(|class| class.name() == name)
            }

            /// A profile of hardware with this feature must have the cost.
            pub const fn needed_for(self) -> Feature {
                match self {
                    $(CostClass::$name => Feature::$need),+
                }
            }
        }
    };
}

cost_classes! {
    /// A reduction of segments as one instruction (OpGroupNonUniform… with ClusteredReduce), which the driver expands
    /// to several.
    Clustered = "clustered" for Clustered,
    /// A scan of the subgroup as one instruction (OpGroupNonUniform… with InclusiveScan or ExclusiveScan), which the driver
    /// expands to several.
    Scan = "scan" for Arithmetic,
    /// SHFUP, SHFDOWN, SHFIDX, SHFXOR.
    NvShuffle = "nv-shuffle" for NvShuffle,
    /// QSWZ.
    NvQuadSwizzle = "nv-quad-swizzle" for NvQuadSwizzle,
    /// TGALL, TGANY, TGEQ, TGBALLOT.
    NvVote = "nv-vote" for NvVote,
    /// `redux.sync`.
    PtxReduce = "ptx-reduce" for PtxReduce,
    /// `match.any.sync`, `match.all.sync`.
    PtxMatch = "ptx-match" for PtxMatch,
    /// `bar.warp.sync`.
    PtxSync = "ptx-sync" for PtxSync,
    /// Arithmetic of NVIDIA's lanes.
    NvAlu = "nv-alu" for NvVote,
    /// Simple arithmetic of AMD's vector unit, selects among it.
    AmdAlu = "amd-alu" for AmdWave,
    /// Multiplication of 32-bit integers.
    AmdMultiply = "amd-multiply" for AmdWave,
    /// S_WQM, reading EXEC, and other arithmetic on masks.
    AmdMask = "amd-mask" for AmdWave,
    /// V_CMP to a mask.
    AmdBallot = "amd-ballot" for AmdWave,
    /// V_MBCNT.
    AmdCountBelow = "amd-count-below" for AmdWave,
    /// V_READLANE, V_READFIRSTLANE.
    AmdReadLane = "amd-read-lane" for AmdWave,
    /// V_WRITELANE.
    AmdWriteLane = "amd-write-lane" for AmdWave,
    /// A write to LDS memory and the read that follows, with the address limited to the wave's part and moved to its
    /// start.
    AmdBounce = "amd-bounce" for AmdWave,
    /// DS_SWIZZLE.
    AmdSwizzle = "amd-swizzle" for AmdSwizzle,
    /// DS_PERMUTE, DS_BPERMUTE.
    AmdPermute = "amd-permute" for AmdPermute,
    /// An instruction with DPP or DPP8, or a move with it.
    AmdDpp = "amd-dpp" for AmdDpp16,
    /// PERMLANE16, PERMLANEX16.
    AmdPermlane = "amd-permlane16" for AmdPermlane16,
    /// PERMLANE16 and PERMLANEX16 with selectors per lane.
    AmdPermlaneVar = "amd-permlane-var" for AmdPermlaneVar,
    /// PERMLANE64.
    AmdPermlaneHalf = "amd-permlane64" for AmdPermlane64,
    /// PERMLANE16_SWAP, PERMLANE32_SWAP.
    AmdPermlaneSwap = "amd-permlane-swap" for AmdPermlaneSwap,
    /// A move to a shared vector register and one from it.
    AmdSharedVgpr = "amd-shared-vgpr" for AmdSharedVgpr,
}

/// The cost of one instruction. All fields are non-negative. A field that a file omits is 0, except that the number of
/// instructions is 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cost {
    /// Instructions issued.
    #[serde(default = "one")]
    pub instructions: u8,
    /// Cycles until an instruction that depends on the result can issue.
    pub latency: u16,
    /// Uses of the pipe to the local data share.
    #[serde(default)]
    pub lds: u8,
    /// Wait states that the program must leave between a vector instruction that writes the moved operand and this
    /// instruction.
    #[serde(default)]
    pub wait_before: u8,
    /// Wait states that the program must leave between a vector instruction that writes a scalar index and this
    /// instruction.
    #[serde(default)]
    pub wait_index: u8,
    /// Wait states that the program must leave between this instruction and a vector instruction that reads its result.
    #[serde(default)]
    pub wait_after: u8,
    /// Vector registers in addition to operand and result.
    #[serde(default)]
    pub registers: u8,
    /// Scalar registers in addition to operand and result.
    #[serde(default)]
    pub scalars: u8,
}

fn one() -> u8 {
    1
}

/// The weight of each part of a plan's cost in the comparison of plans. The smallest sum wins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Weights {
    /// Weight of an issued instruction.
    pub instruction: u16,
    /// Weight of a cycle on the longest chain of dependences.
    pub latency: u16,
    /// Weight of a use of the pipe to the local data share, which all waves of a processor share.
    pub lds: u16,
    /// Weight of a wait state, which other work may fill.
    pub wait_state: u16,
    /// Weight of a vector register.
    pub vector: u16,
    /// Weight of a scalar register.
    pub scalar: u16,
    /// Weight of a setup instruction, which loops and other plans may share.
    pub setup: u16,
}

impl Default for Weights {
    /// Only instructions count.
    fn default() -> Weights {
        Weights { instruction: 1, latency: 0, lds: 0, wait_state: 0, vector: 0, scalar: 0, setup: 0 }
    }
}

/// The costs of a profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs([Option<Cost>; CostClass::ALL.len()]);

impl Default for Costs {
    fn default() -> Costs {
        Costs([None; CostClass::ALL.len()])
    }
}

impl Costs {
    /// Returns true if the profile states no costs.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The cost of a class, or `None` if the profile lacks the instruction.
    pub fn of(&self, class: CostClass) -> Option<Cost> {
        self.0[class as usize]
    }

    /// Sets the cost of a class.
    pub fn set(&mut self, class: CostClass, cost: Cost) {
        self.0[class as usize] = Some(cost);
    }
}
