//! Operations on ballots: by one instruction if the profile has it, otherwise by arithmetic on their words.

use crate::lane::op::{CountOp, MaskOp};
use crate::lane::plan::{AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::primitive::GroupOp;
use crate::profile::Feature;

/// Returns true if a ballot has a bit set. A ballot has no bits of lanes that do not exist.
pub fn is_some(b: &mut Builder, ballot: Operand) -> Operand {
    match b.has(Feature::BallotBits) {
        true => {
            let count = count_of_lanes(b, ballot);
            b.alu(AluOp::Ne, count, Operand::Const(0))
        }
        false => b.alu1(AluOp::BallotIsSome, ballot),
    }
}

/// Number of set bits in a ballot without bits of missing lanes.
pub fn count_of_lanes(b: &mut Builder, ballot: Operand) -> Operand {
    match b.has(Feature::BallotBits) {
        true => b.group(GroupOp::BallotBitCount(CountOp::All), &[ballot], StepType::Index),
        false => b.alu1(AluOp::BallotSize, ballot),
    }
}

/// Number of set bits among all lanes, the lanes up to this one or the lanes below it.
pub fn count(b: &mut Builder, op: CountOp, ballot: Operand) -> Operand {
    if b.has(Feature::BallotBits) {
        return b.group(GroupOp::BallotBitCount(op), &[ballot], StepType::Index);
    }
    let lanes = match op {
        CountOp::All => all_lanes(b),
        CountOp::Inclusive => b.mask(MaskOp::Le),
        CountOp::Exclusive => b.mask(MaskOp::Lt),
    };
    let counted = b.alu(AluOp::BallotAnd, ballot, lanes);
    b.alu1(AluOp::BallotSize, counted)
}

/// The lanes that exist.
fn all_lanes(b: &mut Builder) -> Operand {
    let (up_to, above) = (b.mask(MaskOp::Le), b.mask(MaskOp::Gt));
    b.alu(AluOp::BallotOr, up_to, above)
}

/// The lane's own bit.
pub fn own_bit(b: &mut Builder, ballot: Operand) -> Operand {
    if b.has(Feature::BallotBits) {
        return b.group(GroupOp::InverseBallot, &[ballot], StepType::Bool);
    }
    let i = b.index();
    bit_of_word(b, ballot, i)
}

/// The bit of a lane; undefined if the lane does not exist.
pub fn bit(b: &mut Builder, ballot: Operand, lane: Operand) -> Operand {
    match b.has(Feature::BallotBits) {
        true => b.group(GroupOp::BallotBitExtract, &[ballot, lane], StepType::Bool),
        false => {
            let lane = b.alu(AluOp::And, lane, Operand::Const(127));
            bit_of_word(b, ballot, lane)
        }
    }
}

fn bit_of_word(b: &mut Builder, ballot: Operand, lane: Operand) -> Operand {
    let index = b.alu(AluOp::Shr, lane, Operand::Const(5));
    let (word, bit) = (b.alu(AluOp::BallotWord, ballot, index), b.alu(AluOp::And, lane, Operand::Const(31)));
    let shifted = b.alu(AluOp::Shr, word, bit);
    let own = b.alu(AluOp::And, shifted, Operand::Const(1));
    b.alu(AluOp::Ne, own, Operand::Const(0))
}

/// The lowest set bit; undefined if there is none below the subgroup's size.
pub fn lowest(b: &mut Builder, ballot: Operand) -> Operand {
    match b.has(Feature::BallotBits) {
        true => b.group(GroupOp::BallotFindLsb, &[ballot], StepType::Index),
        false => search(b, AluOp::FindLsb, ballot, |words| Box::new((0..words).rev())),
    }
}

/// The highest set bit of a ballot without bits of missing lanes; undefined if there is none.
pub fn highest(b: &mut Builder, ballot: Operand) -> Operand {
    match b.has(Feature::BallotBits) {
        true => b.group(GroupOp::BallotFindMsb, &[ballot], StepType::Index),
        false => search(b, AluOp::FindMsb, ballot, |words| Box::new(0..words)),
    }
}

/// The highest set bit of any ballot.
pub fn highest_lane(b: &mut Builder, ballot: Operand) -> Operand {
    match b.has(Feature::BallotBits) {
        true => highest(b, ballot),
        false => {
            let lanes = all_lanes(b);
            let existing = b.alu(AluOp::BallotAnd, ballot, lanes);
            highest(b, existing)
        }
    }
}

/// The bit that `find` returns for the last word, in this order, that has a bit set.
fn search(b: &mut Builder, find: AluOp, ballot: Operand, order: fn(u32) -> Box<dyn Iterator<Item = u32>>) -> Operand {
    let mut found = None;
    for n in order(b.most_lanes().div_ceil(32)) {
        let word = b.alu(AluOp::BallotWord, ballot, Operand::Const(n));
        let local = b.alu1(find, word);
        let lane = b.alu(AluOp::Or, local, Operand::Const(32 * n));
        let is_here = b.alu(AluOp::Ne, word, Operand::Const(0));
        found = Some(found.map_or(lane, |before| b.select(is_here, lane, before)));
    }
    found.expect("a ballot has a word")
}

/// Bits of the lane's segment of up to 32 lanes.
pub fn segment_bits(b: &mut Builder, ballot: Operand, lanes: u32) -> Operand {
    let word = b.own_word(ballot);
    if lanes == 32 {
        return word;
    }
    let i = b.index();
    let shift = b.alu(AluOp::And, i, Operand::Const(31 & !(lanes - 1)));
    let low = b.alu(AluOp::Shr, word, shift);
    b.alu(AluOp::And, low, Operand::Const((1 << lanes) - 1))
}

/// The 32-bit words of the lane's segment of 64 or 128 lanes.
pub fn words_of(b: &mut Builder, ballot: Operand, lanes: u32) -> Vec<Operand> {
    let i = b.index();
    let own = b.alu(AluOp::Shr, i, Operand::Const(5));
    let first = b.alu(AluOp::And, own, Operand::Const(!(lanes / 32 - 1)));
    let mut word = |n: u32| {
        let index = b.alu(AluOp::Or, first, Operand::Const(n));
        b.alu(AluOp::BallotWord, ballot, index)
    };
    (0..lanes / 32).map(&mut word).collect()
}

/// The highest set bit of the lane's segment of up to 64 lanes, as a lane; undefined if there is none.
pub fn highest_of_segment(b: &mut Builder, ballot: Operand, lanes: u32) -> Operand {
    let base = b.base(lanes);
    let local = match lanes {
        ..=32 => {
            let bits = segment_bits(b, ballot, lanes);
            b.alu1(AluOp::FindMsb, bits)
        }
        _ => {
            let words = words_of(b, ballot, lanes);
            let (low, high) = (b.alu1(AluOp::FindMsb, words[0]), b.alu1(AluOp::FindMsb, words[1]));
            let high = b.alu(AluOp::Or, high, Operand::Const(32));
            let in_high = b.alu(AluOp::Ne, words[1], Operand::Const(0));
            b.select(in_high, high, low)
        }
    };
    b.alu(AluOp::Or, local, base)
}
