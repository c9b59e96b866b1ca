//! Reductions of segments. Every lane gets the result, whichever lanes should.

use super::active;
use super::shf::{ballot, is_full, is_none, is_some, lanes_of, segment, shf};
use crate::lane::op::{Members, ReduceOp, ShuffleMode, VoteOp, WARP};
use crate::lane::plan::{Activity, AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::reductions::{Reduction, all_active, one_lane, reduction};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::NvOp;
use crate::lane::request::LaneType;
use crate::profile::Feature;

const SHUFFLE_AND_BALLOT: &[Feature] = &[Feature::NvShuffle, Feature::NvBallot];

pub static RULES: &[Rule] = &[
    Rule { name: "reduction of one lane", needs: &[], build: one_lane },
    Rule { name: "vote of the warp", needs: &[Feature::NvVote], build: vote },
    Rule { name: "own lanes of a ballot", needs: &[Feature::NvBallot], build: bools },
    Rule { name: "tree of SHFXOR", needs: &[Feature::NvShuffle], build: tree },
    Rule {
        name: "tree of SHFXOR if all lanes are active, otherwise of SHFIDX over the active ones",
        needs: SHUFFLE_AND_BALLOT,
        build: tree_if_full,
    },
    Rule {
        name: "tree of SHFIDX up to the last active lane",
        needs: SHUFFLE_AND_BALLOT,
        build: active::first_lanes_tree,
    },
    Rule { name: "tree of SHFIDX over the active lanes", needs: SHUFFLE_AND_BALLOT, build: active::any_tree },
];

/// Returns true if the operation works on scalar bools, which ballots can represent.
pub fn is_bool(b: &Builder) -> bool {
    b.request.inputs[0].ty == LaneType::BOOL
}

pub fn vote(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    let vote = match fold.op {
        ReduceOp::And => VoteOp::All,
        ReduceOp::Or => VoteOp::Any,
        _ => return Err(No::NotMine),
    };
    if !is_bool(b) || !b.is_whole(fold.width) {
        return Err(No::NotMine);
    }
    Ok(b.prim(NvOp::Vote(vote), &[b.value()], StepType::Bool))
}

pub fn bools(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if !is_bool(b) {
        return Err(No::NotMine);
    }
    let all = segment(b, lanes_of(fold.width));
    let everybody = all_active(b, fold.members);
    reduction_of_ballot(b, fold.op, all, everybody)
}

/// The reduction of the lanes' predicates in a set, given as a word; `everybody` if all of these lanes are active.
pub fn reduction_of_ballot(b: &mut Builder, op: ReduceOp, lanes: Operand, everybody: bool) -> Answer {
    let value = b.value();
    match op {
        ReduceOp::Or => {
            let bits = bits_of(b, value, lanes);
            Ok(is_some(b, bits))
        }
        ReduceOp::Xor => {
            let bits = bits_of(b, value, lanes);
            let count = b.alu1(AluOp::BitCount, bits);
            let odd = b.alu(AluOp::And, count, Operand::Const(1));
            Ok(is_some(b, odd))
        }
        ReduceOp::And if everybody => {
            let bits = bits_of(b, value, lanes);
            Ok(b.alu(AluOp::Eq, bits, lanes))
        }
        ReduceOp::And => {
            let no = b.alu1(AluOp::BoolNot, value);
            let bits = bits_of(b, no, lanes);
            Ok(is_none(b, bits))
        }
        _ => Err(No::NotMine),
    }
}

/// The bits of a predicate's ballot that belong to some lanes.
pub fn bits_of(b: &mut Builder, predicate: Operand, lanes: Operand) -> Operand {
    let bits = ballot(b, predicate);
    match lanes {
        Operand::Const(u32::MAX) => bits,
        _ => b.alu(AluOp::And, bits, lanes),
    }
}

/// The tree, if all lanes are known to be active, or all lanes of their segments.
pub fn tree(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if !all_active(b, fold.members) {
        return Err(No::NotMine);
    }
    if fold.members == Members::Active {
        b.assumes = b.request.activity;
    }
    Ok(butterflies(b, fold))
}

/// The tree under any mask, with a test of the whole warp first, because usually all lanes are active.
pub fn tree_if_full(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if is_bool(b) || b.request.activity != Activity::Any || fold.members == Members::All {
        return Err(No::NotMine);
    }
    let full = is_full(b);
    Ok(b.fork(full, |b| butterflies(b, fold), |b| active::tree(b, fold)))
}

/// The balanced tree over ascending lane distance.
fn butterflies(b: &mut Builder, fold: Reduction) -> Operand {
    let mut value = b.value();
    for level in 0..lanes_of(fold.width).ilog2() {
        let other = shf(b, ShuffleMode::Xor, value, Operand::Const(1 << level), WARP);
        value = b.combine(fold.op, value, other);
    }
    value
}
