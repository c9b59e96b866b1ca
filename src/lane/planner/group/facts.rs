//! Ballots and what can be read from them, lane indices, counts and masks, and the subgroup barrier.

use crate::lane::op::{CountOp, Group, LaneOp, Width};
use crate::lane::plan::{AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::GroupOp;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "fact about the lane", needs: &[], build: fact },
    Rule { name: "subgroup barrier", needs: &[], build: sync },
    Rule { name: "mask of lanes", needs: &[Feature::Ballot], build: mask },
    Rule { name: "ballot", needs: &[Feature::Ballot], build: ballot },
    Rule { name: "reading of a ballot", needs: &[Feature::Ballot], build: read_ballot },
    Rule { name: "count of a mask by one instruction", needs: &[Feature::ShaderBallotAmd], build: masked_count_amd },
    Rule { name: "count of a mask", needs: &[Feature::Ballot], build: masked_count },
];

/// The segment that a group is; none for the subgroup and for a warp.
fn segment(group: Group) -> Option<Width> {
    match group {
        Group::Quad => Width::new(4),
        Group::Segment(width) => Some(width),
        Group::Subgroup | Group::Warp => None,
    }
}

pub fn fact(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::LaneIndex(group) => Ok(lane_index(b, group)),
        LaneOp::LaneCount(group) => Ok(lane_count(b, group)),
        LaneOp::SegmentLast(width) => Ok(segment_last(b, width)),
        _ => Err(No::NotMine),
    }
}

fn lane_index(b: &mut Builder, group: Group) -> Operand {
    let i = b.index();
    match segment(group) {
        Some(width) => b.local(width),
        None if group == Group::Warp => b.alu(AluOp::And, i, Operand::Const(31)),
        None => i,
    }
}

fn lane_count(b: &mut Builder, group: Group) -> Operand {
    let size = b.size();
    match segment(group) {
        Some(width) => width.lanes().map_or(size, Operand::Const),
        None if group == Group::Warp => b.alu(AluOp::Min, size, Operand::Const(32)),
        None => size,
    }
}

fn segment_last(b: &mut Builder, width: Width) -> Operand {
    let (local, size) = (b.local(width), b.size());
    let lanes = width.lanes().map_or(size, Operand::Const);
    let last = b.alu(AluOp::Sub, lanes, Operand::Const(1));
    b.alu(AluOp::Eq, local, last)
}

fn sync(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::Sync => Ok(b.group(GroupOp::Sync, &[], StepType::None)),
        _ => Err(No::NotMine),
    }
}

/// What an operation over the subgroup's ballot gives for a group: the ballot, or the own warp's word.
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
        LaneOp::InverseBallot => Ok(b.group(GroupOp::InverseBallot, &[ballot], StepType::Bool)),
        LaneOp::BallotBit => Ok(b.group(GroupOp::BallotBitExtract, &[ballot, b.input(1)], StepType::Bool)),
        LaneOp::BallotCount(op) => Ok(b.group(GroupOp::BallotBitCount(op), &[ballot], StepType::Index)),
        LaneOp::BallotFindLsb => Ok(b.group(GroupOp::BallotFindLsb, &[ballot], StepType::Index)),
        LaneOp::BallotFindMsb => Ok(b.group(GroupOp::BallotFindMsb, &[ballot], StepType::Index)),
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
    Ok(b.group(GroupOp::BallotBitCount(CountOp::Exclusive), &[ballot], StepType::Index))
}
