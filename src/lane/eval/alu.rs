//! Lane arithmetic on one lane's indices, bools and ballots.

use crate::lane::plan::{AluOp, Operand};
use crate::lane::value::LaneValue;

/// The result; poison from poison and for undefined operations, `None` if the operands are of the wrong kind.
pub fn apply<T: Copy + PartialEq>(op: AluOp, args: &[LaneValue<T>]) -> Option<LaneValue<T>> {
    if args.contains(&LaneValue::Poison) {
        return Some(LaneValue::Poison);
    }
    match args {
        [LaneValue::Index(a), LaneValue::Index(b)] => on_indices(op, *a, *b),
        [LaneValue::Index(a)] => on_index(op, *a),
        [LaneValue::Bool(a), LaneValue::Bool(b)] => on_bools(op, *a, *b).map(LaneValue::Bool),
        [LaneValue::Bool(a)] if op == AluOp::BoolNot => Some(LaneValue::Bool(!a)),
        [LaneValue::Ballot(a), LaneValue::Ballot(b)] => on_ballots(op, *a, *b).map(LaneValue::Ballot),
        [LaneValue::Ballot(a), LaneValue::Index(word)] if op == AluOp::BallotWord => Some(ballot_word(*a, *word)),
        [LaneValue::Ballot(a)] => on_ballot(op, *a),
        _ => None,
    }
}

fn on_indices<T>(op: AluOp, a: u32, b: u32) -> Option<LaneValue<T>> {
    match op.on_constants(a, b) {
        Some(Operand::Const(value)) => Some(LaneValue::Index(value)),
        Some(Operand::Bool(value)) => Some(LaneValue::Bool(value)),
        // A shift by 32 or more is undefined.
        _ if matches!(op, AluOp::Shl | AluOp::Shr) => Some(LaneValue::Poison),
        _ => None,
    }
}

fn on_index<T>(op: AluOp, a: u32) -> Option<LaneValue<T>> {
    let found = |bit: u32| if a == 0 { LaneValue::Poison } else { LaneValue::Index(bit) };
    Some(match op {
        AluOp::Not => LaneValue::Index(!a),
        AluOp::BitCount => LaneValue::Index(a.count_ones()),
        AluOp::FindLsb => found(a.trailing_zeros()),
        AluOp::FindMsb => found(31_u32.wrapping_sub(a.leading_zeros())),
        _ => return None,
    })
}

fn on_bools(op: AluOp, a: bool, b: bool) -> Option<bool> {
    match op {
        AluOp::BoolAnd => Some(a & b),
        AluOp::BoolOr => Some(a | b),
        AluOp::BoolXor => Some(a ^ b),
        _ => None,
    }
}

fn on_ballots(op: AluOp, a: u128, b: u128) -> Option<u128> {
    match op {
        AluOp::BallotAnd => Some(a & b),
        AluOp::BallotOr => Some(a | b),
        _ => None,
    }
}

fn on_ballot<T>(op: AluOp, a: u128) -> Option<LaneValue<T>> {
    Some(match op {
        AluOp::BallotNot => LaneValue::Ballot(!a),
        AluOp::BallotFromMask => LaneValue::Ballot(a & u128::from(u64::MAX)),
        AluOp::BallotIsEmpty => LaneValue::Bool(a == 0),
        AluOp::BallotIsSome => LaneValue::Bool(a != 0),
        AluOp::BallotSize => LaneValue::Index(a.count_ones()),
        _ => return None,
    })
}

fn ballot_word<T>(ballot: u128, word: u32) -> LaneValue<T> {
    match word {
        0..4 => LaneValue::Index((ballot >> (32 * word)) as u32),
        _ => LaneValue::Poison,
    }
}
