//! Rules for NVIDIA's instructions: SHF, QSWZ, TGALL, TGANY, TGBALLOT over warps of 32 lanes. The cheapest plan wins.
//!
//! Ballots and masks of lanes are one word here; the setup computes the masks.

mod active;
mod ballots;
mod moves;
pub mod ptx;
mod quads;
mod reductions;
mod scans;
mod shf;
mod shuffles;
mod votes;

#[cfg(test)]
mod tests;

use super::Rule;
use crate::lane::op::LaneOp;
use crate::lane::signature::Family;

/// The rules for an operation.
pub fn rules(op: LaneOp) -> &'static [Rule] {
    use Family as F;
    match op.signature().family {
        F::Quad => quads::RULES,
        F::Move | F::Sort => moves::RULES,
        F::NvShuffle => shuffles::RULES,
        F::Scan => scans::RULES,
        F::Reduce => reductions::RULES,
        F::Partition => active::PARTITIONS,
        F::Vote => votes::RULES,
        F::Fact => ballots::RULES,
    }
}
