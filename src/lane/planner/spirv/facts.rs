//! Ballots and operations on them, lane indices, counts and masks, and the subgroup barrier.

use super::ballots;
use crate::lane::op::{CountOp, Group, LaneOp};
use crate::lane::plan::{AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::facts::fact;
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::GroupOp;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "fact about the lane", needs: &[Feature::LaneFacts], build: fact },
    Rule { name: "subgroup barrier", needs: &[Feature::SubgroupBarrier], build: sync },
    Rule { name: "mask of lanes", needs: &[Feature::Ballot], build: mask },
    Rule { name: "ballot", needs: &[Feature::Ballot], build: ballot },
    Rule { name: "reading of a ballot", needs: &[Feature::Ballot], build: read_ballot },
    Rule { name: "count of a mask by one instruction", needs: &[Feature::ShaderBallotAmd], build: masked_count_amd },
    Rule { name: "count of a mask", needs: &[Feature::Ballot], build: masked_count },
];

fn sync(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::Sync => Ok(b.group(GroupOp::Sync, &[], StepType::None)),
        _ => Err(No::NotMine),
    }
}

/// The result of an operation on the subgroup's ballot for a group: the ballot, or the word of the lane's warp.
fn of_group(b: &mut Builder, ballot: Operand, group: Group) -> Answer {
    match group {
        Group::Subgroup => Ok(ballot),
        Group::Warp => Ok(b.own_word(ballot)),
        Group::Quad | Group::Segment(_) => Err(No::NotMine),
    }
}

fn mask(b: &mut Builder) -> Answer {
    let LaneOp::LaneMask(op, group) = b.request.op else {
        return Err(No::NotMine);
    };
    let mask = b.mask(op);
    of_group(b, mask, group)
}

fn ballot(b: &mut Builder) -> Answer {
    let (predicate, group) = match b.request.op {
        LaneOp::Ballot(group) => (b.value(), group),
        LaneOp::ActiveMask => (Operand::Bool(true), Group::Warp),
        _ => return Err(No::NotMine),
    };
    let ballot = b.ballot(predicate);
    of_group(b, ballot, group)
}

fn read_ballot(b: &mut Builder) -> Answer {
    let ballot = b.value();
    match b.request.op {
        LaneOp::InverseBallot => Ok(ballots::own_bit(b, ballot)),
        LaneOp::BallotBit => Ok(ballots::bit(b, ballot, b.input(1))),
        LaneOp::BallotCount(op) => Ok(ballots::count(b, op, ballot)),
        LaneOp::BallotFindLsb => Ok(ballots::lowest(b, ballot)),
        LaneOp::BallotFindMsb => Ok(ballots::highest_lane(b, ballot)),
        _ => Err(No::NotMine),
    }
}

fn masked_count_amd(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::MaskedCount => Ok(b.group(GroupOp::MaskedCountAmd, &[b.value()], StepType::Index)),
        _ => Err(No::NotMine),
    }
}

fn masked_count(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::MaskedCount {
        return Err(No::NotMine);
    }
    let ballot = b.alu1(AluOp::BallotFromMask, b.value());
    Ok(ballots::count(b, CountOp::Exclusive, ballot))
}
