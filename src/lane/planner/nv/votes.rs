//! Votes over the active lanes of a warp or of segments, and the election of one lane.

use super::reductions::bits_of;
use super::shf::{active, ballot, from_lane, is_none, is_some, lanes, segment};
use crate::lane::op::{Group, LaneOp, MaskOp, VoteOp, WARP};
use crate::lane::plan::{Activity, AluOp, CompareOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::votes::one_lane;
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::NvOp;
use crate::lane::request::LaneType;
use crate::profile::Feature;

const EQUAL: &[Feature] = &[Feature::NvShuffle, Feature::NvBallot, Feature::NvVote];

pub static RULES: &[Rule] = &[
    Rule { name: "lane 0", needs: &[], build: elect_lane_0 },
    Rule { name: "no active lane below", needs: &[Feature::NvBallot], build: elect },
    Rule { name: "vote of one lane", needs: &[], build: one_lane },
    Rule { name: "vote of the warp", needs: &[Feature::NvVote], build: warp },
    Rule { name: "own lanes of a ballot", needs: &[Feature::NvBallot], build: by_ballot },
    Rule { name: "comparison of two ballots", needs: &[Feature::NvBallot], build: equal_bools },
    Rule { name: "comparison with the first active lane", needs: EQUAL, build: equal },
];

/// The vote and the lanes of its group.
fn vote(b: &Builder) -> Result<(VoteOp, u32), No> {
    let LaneOp::Vote { op, group } = b.request.op else {
        return Err(No::NotMine);
    };
    Ok(match group {
        Group::Subgroup | Group::Warp => (op, WARP),
        Group::Quad => (op, 4),
        Group::Segment(width) => (op, width.lanes_in(WARP)),
    })
}

pub fn elect_lane_0(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::Elect || b.request.activity < Activity::FirstLanes {
        return Err(No::NotMine);
    }
    b.assumes = Activity::FirstLanes;
    let i = b.index();
    Ok(is_none(b, i))
}

pub fn elect(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::Elect {
        return Err(No::NotMine);
    }
    let (all, lower) = (active(b), lanes(b, MaskOp::Lt));
    let below = b.alu(AluOp::And, all, lower);
    Ok(is_none(b, below))
}

/// TGEQ tells only zero from other values, so it is for bools.
pub fn warp(b: &mut Builder) -> Answer {
    match vote(b)? {
        (VoteOp::Equal, _) if b.request.inputs[0].ty != LaneType::BOOL => Err(No::NotMine),
        (op, WARP) => Ok(b.prim(NvOp::Vote(op), &[b.value()], StepType::Bool)),
        _ => Err(No::NotMine),
    }
}

pub fn by_ballot(b: &mut Builder) -> Answer {
    let (op, width) = vote(b)?;
    let (value, own) = (b.value(), segment(b, width));
    match op {
        VoteOp::Any => {
            let bits = bits_of(b, value, own);
            Ok(is_some(b, bits))
        }
        VoteOp::All if b.request.activity == Activity::Full => {
            b.assumes = Activity::Full;
            let bits = bits_of(b, value, own);
            Ok(b.alu(AluOp::Eq, bits, own))
        }
        VoteOp::All => Ok(all_of(b, value, own)),
        VoteOp::Equal => Err(No::NotMine),
    }
}

/// True if the predicate is false in no active lane of the segment.
fn all_of(b: &mut Builder, predicate: Operand, own: Operand) -> Operand {
    let no = b.alu1(AluOp::BoolNot, predicate);
    let bits = bits_of(b, no, own);
    is_none(b, bits)
}

/// Either all active lanes vote yes or none does.
pub fn equal_bools(b: &mut Builder) -> Answer {
    let (op, width) = vote(b)?;
    if op != VoteOp::Equal || b.request.inputs[0].ty != LaneType::BOOL {
        return Err(No::NotMine);
    }
    let own = segment(b, width);
    let (yes, all) = (bits_of(b, b.value(), own), bits_of(b, Operand::Bool(true), own));
    let (nobody, everybody) = (is_none(b, yes), b.alu(AluOp::Eq, yes, all));
    Ok(b.alu(AluOp::BoolOr, nobody, everybody))
}

pub fn equal(b: &mut Builder) -> Answer {
    let (op, width) = vote(b)?;
    if op != VoteOp::Equal {
        return Err(No::NotMine);
    }
    let (value, own) = (b.value(), segment(b, width));
    let first = first_active(b, width, own);
    let theirs = from_lane(b, value, first);
    let same = b.compare(CompareOp::Eq, value, theirs);
    Ok(match width {
        WARP => b.prim(NvOp::Vote(VoteOp::All), &[same], StepType::Bool),
        _ => all_of(b, same, own),
    })
}

/// The lowest active lane of the lane's segment: its first lane, if that is active whenever any lane of the segment is.
fn first_active(b: &mut Builder, width: u32, own: Operand) -> Operand {
    if b.request.activity >= Activity::FirstLanes {
        b.assumes = Activity::FirstLanes;
        return if width == WARP { Operand::Const(0) } else { b.base(width) };
    }
    let all = ballot(b, Operand::Bool(true));
    let there = if width == WARP { all } else { b.alu(AluOp::And, all, own) };
    b.alu1(AluOp::FindLsb, there)
}
