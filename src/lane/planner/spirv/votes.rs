//! Votes over the active lanes of a subgroup, a quad, a warp or a segment, and the election of one lane.

use super::ballots::{segment_bits, words_of};
use crate::lane::op::{Group, LaneOp, ReduceOp, VoteOp, Width};
use crate::lane::plan::{AluOp, CompareOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::votes::{one_lane, vote};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::{GroupOp, GroupReduce};
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "election", needs: &[Feature::Elect], build: elect },
    Rule { name: "comparison with the first active lane", needs: &[Feature::Ballot], build: elect_by_index },
    Rule { name: "vote of one lane", needs: &[], build: one_lane },
    Rule { name: "vote of the subgroup", needs: &[Feature::Vote], build: subgroup },
    Rule {
        name: "vote of equality with the first active lane",
        needs: &[Feature::Vote, Feature::Ballot],
        build: equal_first,
    },
    Rule { name: "vote of the quad", needs: &[Feature::QuadControl], build: quad },
    Rule { name: "logical reduction of segments", needs: &[Feature::Clustered], build: clustered },
    Rule { name: "own lanes of a ballot", needs: &[Feature::Ballot], build: by_ballot },
    Rule {
        name: "comparison with the segment's first active lane",
        needs: &[Feature::Ballot, Feature::Shuffle],
        build: equal,
    },
];

fn elect(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::Elect => Ok(b.group(GroupOp::Elect, &[], StepType::Bool)),
        _ => Err(No::NotMine),
    }
}

fn elect_by_index(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::Elect {
        return Err(No::NotMine);
    }
    let i = b.index();
    let first = b.mover(GroupOp::BroadcastFirst, i, Operand::None);
    Ok(b.alu(AluOp::Eq, i, first))
}

fn subgroup(b: &mut Builder) -> Answer {
    let (op, _, width) = vote(b)?;
    if width != Width::SUBGROUP {
        return Err(No::NotMine);
    }
    if op == VoteOp::Equal {
        b.need(Feature::VoteEqual)?;
    }
    Ok(b.group(GroupOp::Vote(op), &[b.value()], StepType::Bool))
}

fn equal_first(b: &mut Builder) -> Answer {
    match vote(b)? {
        (VoteOp::Equal, _, Width::SUBGROUP) => {
            let value = b.value();
            let first = b.mover(GroupOp::BroadcastFirst, value, Operand::None);
            let same = b.compare(CompareOp::Eq, value, first);
            Ok(b.group(GroupOp::Vote(VoteOp::All), &[same], StepType::Bool))
        }
        _ => Err(No::NotMine),
    }
}

fn quad(b: &mut Builder) -> Answer {
    match vote(b)? {
        (op @ (VoteOp::All | VoteOp::Any), Group::Quad, _) => {
            Ok(b.group(GroupOp::QuadVote(op), &[b.value()], StepType::Bool))
        }
        _ => Err(No::NotMine),
    }
}

fn clustered(b: &mut Builder) -> Answer {
    let (op, group, width) = vote(b)?;
    let op = match op {
        VoteOp::All => ReduceOp::And,
        VoteOp::Any => ReduceOp::Or,
        VoteOp::Equal => return Err(No::NotMine),
    };
    // A subgroup of unknown size may be smaller than a warp, but a native segment must not be larger than the subgroup.
    if group == Group::Warp && b.fixed_size().is_none() || width == Width::SUBGROUP {
        return Err(No::NotMine);
    }
    Ok(b.native_reduction(op, GroupReduce::Clustered(width)))
}

fn by_ballot(b: &mut Builder) -> Answer {
    let (op, _, width) = vote(b)?;
    let value = b.value();
    match op {
        VoteOp::All => Ok(all(b, value, width)),
        VoteOp::Any => {
            let bits = own_bits(b, value, width);
            Ok(b.alu(AluOp::Ne, bits, Operand::Const(0)))
        }
        VoteOp::Equal => Err(No::NotMine),
    }
}

/// True if the predicate is false in no active lane of the segment.
fn all(b: &mut Builder, predicate: Operand, width: Width) -> Operand {
    let no = b.alu1(AluOp::BoolNot, predicate);
    let bits = own_bits(b, no, width);
    b.alu(AluOp::Eq, bits, Operand::Const(0))
}

/// A word that has a bit set exactly if the predicate is true in some active lane of the lane's segment. For up to 32
/// lanes it is the segment's bits, lowest lane first.
fn own_bits(b: &mut Builder, predicate: Operand, width: Width) -> Operand {
    let ballot = b.ballot(predicate);
    match b.most_in(width) {
        lanes @ ..=32 => segment_bits(b, ballot, lanes),
        lanes => {
            let words = words_of(b, ballot, lanes);
            words.into_iter().reduce(|a, c| b.alu(AluOp::Or, a, c)).expect("a segment has a word")
        }
    }
}

fn equal(b: &mut Builder) -> Answer {
    let (op, _, width) = vote(b)?;
    if op != VoteOp::Equal || width == Width::SUBGROUP {
        return Err(No::NotMine);
    }
    let leader = first_active(b, width)?;
    let value = b.value();
    let theirs = b.shuffle(value, leader);
    let same = b.compare(CompareOp::Eq, value, theirs);
    Ok(all(b, same, width))
}

/// The lowest active lane of the lane's segment.
fn first_active(b: &mut Builder, width: Width) -> Answer {
    let lanes = b.most_in(width);
    let active = b.ballot(Operand::Bool(true));
    let local = match lanes {
        ..=32 => {
            let bits = segment_bits(b, active, lanes);
            b.alu1(AluOp::FindLsb, bits)
        }
        64 => first_of_two_words(b, active),
        _ => return Err(No::NotMine),
    };
    let base = b.base(lanes);
    Ok(b.alu(AluOp::Or, local, base))
}

fn first_of_two_words(b: &mut Builder, ballot: Operand) -> Operand {
    let words = words_of(b, ballot, 64);
    let (low, high) = (b.alu1(AluOp::FindLsb, words[0]), b.alu1(AluOp::FindLsb, words[1]));
    let high = b.alu(AluOp::Or, high, Operand::Const(32));
    let in_low = b.alu(AluOp::Ne, words[0], Operand::Const(0));
    b.select(in_low, low, high)
}
