//! Ballots and operations on them, lane indices, counts and masks.
//!
//! A ballot is a mask in scalar registers. A ballot operand may differ from lane to lane, so it is two vector
//! registers.

use super::{count_below, own_word};
use crate::lane::op::{CountOp, Group, LaneOp};
use crate::lane::plan::{AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::{facts, nv_shuffle};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::ScalarOp;
use crate::lane::request::Known;

pub static RULES: &[Rule] = &[
    Rule { name: "fact about the lane", needs: &[], build: facts::fact },
    Rule { name: "range of an NV shuffle", needs: &[], build: nv_shuffle::valid },
    Rule { name: "range of an NV shuffle as a mask of lanes", needs: &[], build: constant_range },
    Rule { name: "nothing, since a wave runs in step", needs: &[], build: sync },
    Rule { name: "mask of lanes", needs: &[], build: mask },
    Rule { name: "mask of active lanes", needs: &[], build: ballot },
    Rule { name: "own bit of a uniform mask", needs: &[], build: own_bit_of_scalar },
    Rule { name: "reading of a mask", needs: &[], build: read },
];

/// The result of an operation on the wave's mask for a group: the mask, or the word of the lane's warp.
fn of_group(b: &mut Builder, mask: Operand, group: Group) -> Answer {
    match group {
        Group::Subgroup => Ok(mask),
        Group::Warp => Ok(own_word(b, mask)),
        Group::Quad | Group::Segment(_) => Err(No::NotMine),
    }
}

/// The lanes of a wave run in lockstep and need not wait for each other; memory is ordered by a separate barrier.
fn sync(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::Sync => Ok(Operand::Bool(true)),
        _ => Err(No::NotMine),
    }
}

/// The set of lanes for which a shuffle with constant index and width is valid.
fn constant_range(b: &mut Builder) -> Answer {
    let LaneOp::ShuffleNvValid(mode) = b.request.op else { return Err(No::NotMine) };
    let [Known::Constant(index), Known::Constant(width)] = [0, 1].map(|n| b.request.inputs[n].known) else {
        return Err(No::NotMine);
    };
    let valid = |i: &u32| super::moves::nv_source(mode, *i, index & b.index_bits(), width).is_some();
    Ok(b.in_set((0..64).filter(valid).fold(0, |set, i| set | 1 << i)))
}

fn mask(b: &mut Builder) -> Answer {
    let LaneOp::LaneMask(op, group) = b.request.op else { return Err(No::NotMine) };
    let mask = b.mask(op);
    of_group(b, mask, group)
}

fn ballot(b: &mut Builder) -> Answer {
    let (mask, group) = match b.request.op {
        LaneOp::Ballot(group) => {
            let value = b.value();
            (b.prim(ScalarOp::Ballot, &[value], StepType::Ballot), group)
        }
        LaneOp::ActiveMask => (b.prim(ScalarOp::Active, &[], StepType::Ballot), Group::Warp),
        _ => return Err(No::NotMine),
    };
    of_group(b, mask, group)
}

/// For a uniform ballot, which can be a mask in scalar registers.
fn own_bit_of_scalar(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::InverseBallot || b.request.inputs[0].known != Known::Uniform {
        return Err(No::NotMine);
    }
    let mask = b.prim(ScalarOp::ReadFirstLane, &[Operand::Input(0)], StepType::Ballot);
    Ok(b.prim(ScalarOp::OwnBit, &[mask], StepType::Bool))
}

fn read(b: &mut Builder) -> Answer {
    let ballot = b.value();
    match b.request.op {
        LaneOp::InverseBallot => {
            let i = b.index();
            let word = own_word(b, ballot);
            Ok(bit(b, word, i))
        }
        LaneOp::BallotBit => {
            let lane = b.input(1);
            let word = word_of(b, ballot, lane);
            Ok(bit(b, word, lane))
        }
        LaneOp::BallotCount(op) => Ok(count(b, ballot, op)),
        LaneOp::BallotFindLsb => Ok(find(b, ballot, AluOp::FindLsb, 0)),
        LaneOp::BallotFindMsb => Ok(find(b, ballot, AluOp::FindMsb, 1)),
        LaneOp::MaskedCount => {
            let mask = b.alu1(AluOp::BallotFromMask, ballot);
            Ok(count_below(b, mask))
        }
        _ => Err(No::NotMine),
    }
}

/// Bit `lane mod 32` of a word.
fn bit(b: &mut Builder, word: Operand, lane: Operand) -> Operand {
    let place = b.alu(AluOp::And, lane, Operand::Const(31));
    let low = b.alu(AluOp::Shr, word, place);
    let bit = b.alu(AluOp::And, low, Operand::Const(1));
    b.alu(AluOp::Ne, bit, Operand::Const(0))
}

fn words(b: &mut Builder, ballot: Operand) -> Vec<Operand> {
    (0..b.lanes() / 32).map(|n| b.alu(AluOp::BallotWord, ballot, Operand::Const(n))).collect()
}

/// The word of a lane.
fn word_of(b: &mut Builder, ballot: Operand, lane: Operand) -> Operand {
    match *words(b, ballot) {
        [low, high] => {
            let upper = b.alu(AluOp::Ge, lane, Operand::Const(32));
            b.select(upper, high, low)
        }
        _ => b.alu(AluOp::BallotWord, ballot, Operand::Const(0)),
    }
}

fn count(b: &mut Builder, ballot: Operand, op: CountOp) -> Operand {
    match op {
        CountOp::Exclusive => count_below(b, ballot),
        CountOp::Inclusive => {
            let below = count_below(b, ballot);
            let (i, word) = (b.index(), own_word(b, ballot));
            let place = b.alu(AluOp::And, i, Operand::Const(31));
            let low = b.alu(AluOp::Shr, word, place);
            let own = b.alu(AluOp::And, low, Operand::Const(1));
            b.alu(AluOp::Add, below, own)
        }
        CountOp::All => {
            if b.is_same_everywhere(ballot) {
                return b.prim(ScalarOp::CountLanes, &[ballot], StepType::Index);
            }
            let words = words(b, ballot);
            let counts: Vec<Operand> = words.into_iter().map(|word| b.alu1(AluOp::BitCount, word)).collect();
            let sum = counts.into_iter().reduce(|a, c| b.alu(AluOp::Add, a, c));
            sum.unwrap_or(Operand::Const(0))
        }
    }
}

/// The lowest or highest set bit: in the preferred word if it has one, otherwise in the other. The scalar unit searches
/// all words at once.
pub fn find(b: &mut Builder, ballot: Operand, op: AluOp, preferred: usize) -> Operand {
    if b.is_same_everywhere(ballot) {
        return scalar_end(b, ballot, op);
    }
    let words = words(b, ballot);
    let [low, high] = *words else { return b.alu1(op, words[0]) };
    let bits = [b.alu1(op, low), b.alu1(op, high)];
    let bits = [bits[0], b.alu(AluOp::Or, bits[1], Operand::Const(32))];
    let some = b.alu(AluOp::Ne, [low, high][preferred], Operand::Const(0));
    b.select(some, bits[preferred], bits[1 - preferred])
}

fn scalar_end(b: &mut Builder, ballot: Operand, op: AluOp) -> Operand {
    if op == AluOp::FindLsb {
        return b.prim(ScalarOp::LowestLane, &[ballot], StepType::Index);
    }
    let above = b.prim(ScalarOp::LanesAbove, &[ballot], StepType::Index);
    let last = Operand::Const(b.lanes() - 1);
    b.alu(AluOp::Sub, last, above)
}

/// True if a ballot, which may differ from lane to lane, has a bit set.
pub fn some(b: &mut Builder, ballot: Operand) -> Operand {
    let words = words(b, ballot);
    let all = words.into_iter().reduce(|all, word| b.alu(AluOp::Or, all, word)).unwrap_or(Operand::Const(0));
    b.alu(AluOp::Ne, all, Operand::Const(0))
}
