//! Rules for AMD's instructions, GCN 1 to RDNA 4; the cheapest plan wins.
//!
//! Plans that need all lanes active run in whole-wave mode unless all lanes are known to be active. Bools are masks of
//! lanes in scalar registers, and so are votes and ballots.

mod facts;
mod masks;
mod moves;
mod partition;
mod reductions;
mod route;
mod scans;
mod search;
mod sort;

#[cfg(test)]
mod tests;

pub use reductions::is_proposed;

use super::build::Builder;
use super::{Answer, Rule};
use crate::lane::op::{LaneOp, Members, ReduceOp};
use crate::lane::plan::{Activity, AluOp, Operand, StepType};
use crate::lane::primitive::{Dpp16, ScalarOp, fusion};
use crate::lane::signature::Family;

/// The rules for an operation.
pub fn rules(op: LaneOp) -> &'static [Rule] {
    use Family as F;
    match op.signature().family {
        F::NvShuffle if matches!(op, LaneOp::ShuffleNvValid(_)) => facts::RULES,
        F::Quad | F::Move | F::NvShuffle => moves::RULES,
        F::Scan => scans::RULES,
        F::Reduce => reductions::RULES,
        F::Sort => sort::RULES,
        F::Vote => masks::RULES,
        F::Fact => facts::RULES,
        F::Partition => partition::RULES,
    }
}

/// Returns true if the arithmetic instruction of a reduction of the operation's values can take its operand by this DPP
/// move.
fn carries(b: &Builder, op: ReduceOp, dpp: Dpp16) -> bool {
    fusion::carries(b.profile, op, b.request.inputs[0].ty, dpp.into())
}

/// `own op dpp(moved)`, in one instruction if the hardware has it.
fn combine_with(b: &mut Builder, op: ReduceOp, dpp: Dpp16, own: Operand, moved: Operand) -> Operand {
    if carries(b, op, dpp) {
        return b.combine_moved(op, dpp, own, moved);
    }
    let moved = b.prim(dpp, &[moved], b.ty(moved));
    b.combine(op, moved, own)
}

/// Builds a reduction of the operation's value. Over active lanes, it runs in the whole wave, with the neutral value in
/// inactive lanes, unless all lanes are known to be active.
fn enter(
    b: &mut Builder,
    op: ReduceOp,
    members: Members,
    build: impl FnOnce(&mut Builder, Operand) -> Answer,
) -> Answer {
    let value = b.value();
    if members == Members::All {
        return build(b, value);
    }
    if b.request.activity == Activity::Full {
        b.assumes = Activity::Full;
        return build(b, value);
    }
    let active = b.prim(ScalarOp::Active, &[], StepType::Ballot);
    let is_active = b.prim(ScalarOp::OwnBit, &[active], StepType::Bool);
    b.in_whole_wave(|b| {
        let neutral = b.neutral(op);
        let filled = b.select(is_active, value, neutral);
        build(b, filled)
    })
}

/// Lanes 32 to 63.
const UPPER_HALF: u64 = u64::MAX << 32;

/// The set of every `step`th lane of a wave, from `first` on.
fn every(step: u32, first: u32) -> u64 {
    (0..64).filter(|i| i % step == first).fold(0, |set, i| set | 1 << i)
}

/// The 32-bit word of a mask for this lane.
fn own_word(b: &mut Builder, mask: Operand) -> Operand {
    let low = b.alu(AluOp::BallotWord, mask, Operand::Const(0));
    if b.lanes() <= 32 {
        return low;
    }
    let high = b.alu(AluOp::BallotWord, mask, Operand::Const(1));
    let upper = b.in_set(UPPER_HALF);
    b.select(upper, high, low)
}

/// The number of set bits of a mask below this lane.
fn count_below(b: &mut Builder, mask: Operand) -> Operand {
    let low = b.prim(ScalarOp::CountBelowLow, &[mask, Operand::Const(0)], StepType::Index);
    if b.lanes() <= 32 {
        return low;
    }
    b.prim(ScalarOp::CountBelowHigh, &[mask, low], StepType::Index)
}

/// True if no lower lane is active.
fn is_first_active(b: &mut Builder) -> Operand {
    if b.request.activity != Activity::Any {
        b.assumes = Activity::FirstLanes;
        return b.in_set(1);
    }
    let active = b.prim(ScalarOp::Active, &[], StepType::Ballot);
    let below = count_below(b, active);
    b.alu(AluOp::Eq, below, Operand::Const(0))
}
