//! Bools, which are masks of lanes in scalar registers: votes, elections, reductions and scans of bools. No values move
//! between lanes.
//!
//! | wanted | sequence |
//! |---|---|
//! | any, all of the wave | v_cmp (or s_and with EXEC), s_cmp |
//! | any of a quad | v_cmp, s_wqm |
//! | all of a quad | v_cmp of the opposite, s_wqm, s_not |
//! | of other segments | v_cmp, v_and with the lane's segment's lanes (v_cndmask first in waves of 64), v_cmp |
//! | of lanes below | the same with those lanes, or v_mbcnt for the whole wave |
//! | equal | v_readfirstlane, v_cmp of the opposite, s_cmp |

use super::moves::{emit, read_lane};
use super::search::Search;
use super::{count_below, is_first_active, own_word};
use crate::lane::op::{Group, LaneOp, ReduceKind, ReduceOp, VoteOp};
use crate::lane::plan::{Activity, AluOp, CompareOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::votes;
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::{LaneMap, ScalarOp};
use crate::lane::request::LaneType;

pub static RULES: &[Rule] = &[
    Rule { name: "election", needs: &[], build: elect },
    Rule { name: "vote of one lane", needs: &[], build: votes::one_lane },
    Rule { name: "vote by mask", needs: &[], build: vote },
    Rule { name: "whole quads of a mask", needs: &[], build: quads },
    Rule { name: "all equal, as all or none", needs: &[], build: equal_bools },
    Rule { name: "comparison with the first active lane", needs: &[], build: equal },
    Rule { name: "comparison with the segment's first lane", needs: &[], build: equal_if_full },
];

fn elect(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::Elect => Ok(is_first_active(b)),
        _ => Err(No::NotMine),
    }
}

/// The lanes of a segment that count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    /// Up to this lane.
    Inclusive,
    /// Below this lane.
    Exclusive,
}

/// Width of the voting group; the subgroup's if it has as many lanes.
fn voters(b: &Builder) -> Result<(VoteOp, u32), No> {
    let LaneOp::Vote { op, group } = b.request.op else { return Err(No::NotMine) };
    let lanes = match group {
        Group::Subgroup => b.lanes(),
        Group::Quad => 4,
        Group::Warp => 32,
        Group::Segment(width) => b.most_in(width),
    };
    if lanes == 1 { Err(No::NotMine) } else { Ok((op, lanes.min(b.lanes()))) }
}

fn vote(b: &mut Builder) -> Answer {
    let (op, lanes) = voters(b)?;
    let value = b.value();
    match op {
        VoteOp::All => Ok(folded(b, ReduceOp::And, value, lanes, Part::All)),
        VoteOp::Any => Ok(folded(b, ReduceOp::Or, value, lanes, Part::All)),
        VoteOp::Equal => Err(No::NotMine),
    }
}

fn quads(b: &mut Builder) -> Answer {
    let value = b.value();
    match voters(b)? {
        (VoteOp::All, 4) => Ok(reduced_quads(b, ReduceOp::And, value)),
        (VoteOp::Any, 4) => Ok(reduced_quads(b, ReduceOp::Or, value)),
        _ => Err(No::NotMine),
    }
}

/// The reduction of the predicates of a quad's active lanes.
fn reduced_quads(b: &mut Builder, op: ReduceOp, value: Operand) -> Operand {
    let (ballot, inverts) = ballot_for(op);
    let mask = b.prim(ballot, &[value], StepType::Ballot);
    let whole = b.prim(ScalarOp::WholeQuads, &[mask], StepType::Ballot);
    let own = b.prim(ScalarOp::OwnBit, &[whole], StepType::Bool);
    if inverts { b.alu1(AluOp::BoolNot, own) } else { own }
}

/// The mask whose bits decide a reduction, and whether a set bit means false: `And` looks for lanes that are false.
fn ballot_for(op: ReduceOp) -> (ScalarOp, bool) {
    if op == ReduceOp::And { (ScalarOp::BallotFalse, true) } else { (ScalarOp::Ballot, false) }
}

/// The reduction of a predicate over the active lanes of part of the lane's segment.
fn folded(b: &mut Builder, op: ReduceOp, value: Operand, lanes: u32, part: Part) -> Operand {
    let (ballot, inverts) = ballot_for(op);
    let mask = b.prim(ballot, &[value], StepType::Ballot);
    match (lanes == b.lanes(), part) {
        (true, Part::All) => of_wave(b, op, mask, inverts),
        (true, _) => {
            let below = count_below(b, mask);
            let answer = answer(b, op, below, inverts);
            if part == Part::Inclusive { with_own(b, op, answer, value) } else { answer }
        }
        (false, _) => {
            let (word, lanes) = (own_word(b, mask), lanes_of(b, lanes, part));
            let bits = b.alu(AluOp::And, word, lanes);
            let bits = if op == ReduceOp::Xor { b.alu1(AluOp::BitCount, bits) } else { bits };
            answer(b, op, bits, inverts)
        }
    }
}

fn of_wave(b: &mut Builder, op: ReduceOp, mask: Operand, inverts: bool) -> Operand {
    match op {
        ReduceOp::Xor => {
            let count = b.alu1(AluOp::BallotSize, mask);
            answer(b, op, count, inverts)
        }
        _ if inverts => b.alu1(AluOp::BallotIsEmpty, mask),
        _ => b.alu1(AluOp::BallotIsSome, mask),
    }
}

/// The result from bits, or, for `Xor`, from their number.
fn answer(b: &mut Builder, op: ReduceOp, bits: Operand, inverts: bool) -> Operand {
    let bits = if op == ReduceOp::Xor { b.alu(AluOp::And, bits, Operand::Const(1)) } else { bits };
    b.alu(if inverts { AluOp::Eq } else { AluOp::Ne }, bits, Operand::Const(0))
}

fn with_own(b: &mut Builder, op: ReduceOp, below: Operand, own: Operand) -> Operand {
    let op = match op {
        ReduceOp::And => AluOp::BoolAnd,
        ReduceOp::Xor => AluOp::BoolXor,
        _ => AluOp::BoolOr,
    };
    b.alu(op, below, own)
}

/// Bits of part of the lane's segment in the lane's word.
fn lanes_of(b: &mut Builder, lanes: u32, part: Part) -> Operand {
    let i = b.index();
    let first = b.alu(AluOp::And, i, Operand::Const(31 & !(lanes - 1)));
    let from = match lanes {
        32 => Operand::Const(u32::MAX),
        _ if part == Part::All => Operand::Const((1 << lanes) - 1),
        _ => Operand::Const(u32::MAX),
    };
    let from = b.alu(AluOp::Shl, from, first);
    let one = match part {
        Part::All => return from,
        Part::Inclusive => 2,
        Part::Exclusive => 1,
    };
    let bit = b.alu(AluOp::And, i, Operand::Const(31));
    let above = b.alu(AluOp::Shl, Operand::Const(one), bit);
    let up_to = b.alu(AluOp::Sub, above, Operand::Const(1));
    b.alu(AluOp::And, from, up_to)
}

/// A reduction of bools, the lanes of its segment and the part of them that counts.
fn reduction_of_bools(b: &Builder) -> Result<(ReduceOp, u32, Part), No> {
    let LaneOp::Reduce { op, kind, width, .. } = b.request.op else { return Err(No::NotMine) };
    if b.request.inputs[0].ty != LaneType::BOOL || width.lanes() == Some(1) {
        return Err(No::NotMine);
    }
    let part = match kind {
        ReduceKind::Inclusive => Part::Inclusive,
        ReduceKind::Exclusive => Part::Exclusive,
        ReduceKind::Reduce | ReduceKind::ReduceLow | ReduceKind::AllReduce => Part::All,
    };
    Ok((op, b.most_in(width), part))
}

/// A reduction or scan of bools.
pub fn fold(b: &mut Builder) -> Answer {
    let (op, lanes, part) = reduction_of_bools(b)?;
    let value = b.value();
    Ok(folded(b, op, value, lanes, part))
}

/// A reduction of the bools of quads.
pub fn reduction_of_quads(b: &mut Builder) -> Answer {
    match reduction_of_bools(b)? {
        (op @ (ReduceOp::And | ReduceOp::Or), 4, Part::All) => {
            let value = b.value();
            Ok(reduced_quads(b, op, value))
        }
        _ => Err(No::NotMine),
    }
}

/// Bools are equal if all are true or none is.
fn equal_bools(b: &mut Builder) -> Answer {
    let (op, lanes) = voters(b)?;
    if op != VoteOp::Equal || b.request.inputs[0].ty != LaneType::BOOL {
        return Err(No::NotMine);
    }
    let value = b.value();
    let all = folded(b, ReduceOp::And, value, lanes, Part::All);
    let any = folded(b, ReduceOp::Or, value, lanes, Part::All);
    let none = b.alu1(AluOp::BoolNot, any);
    Ok(b.alu(AluOp::BoolOr, all, none))
}

fn equal(b: &mut Builder) -> Answer {
    let (op, lanes) = voters(b)?;
    if op != VoteOp::Equal || b.request.inputs[0].ty == LaneType::BOOL {
        return Err(No::NotMine);
    }
    let value = b.value();
    let first = if lanes == b.lanes() {
        b.prim(ScalarOp::ReadFirstLane, &[value], b.ty(value))
    } else {
        let leader = first_active(b, lanes);
        read_lane(b, value, leader, lanes)
    };
    Ok(all_equal(b, value, first, lanes))
}

fn all_equal(b: &mut Builder, value: Operand, first: Operand, lanes: u32) -> Operand {
    let same = b.compare(CompareOp::Eq, value, first);
    folded(b, ReduceOp::And, same, lanes, Part::All)
}

/// The lowest active lane of the lane's segment of up to 32.
fn first_active(b: &mut Builder, lanes: u32) -> Operand {
    let active = b.prim(ScalarOp::Active, &[], StepType::Ballot);
    let (word, segment) = (own_word(b, active), lanes_of(b, lanes, Part::All));
    let bits = b.alu(AluOp::And, word, segment);
    let bit = b.alu1(AluOp::FindLsb, bits);
    let base = b.base(32);
    b.alu(AluOp::Or, bit, base)
}

/// If the segment's first lane is active: a fixed route moves its value to all lanes.
fn equal_if_full(b: &mut Builder) -> Answer {
    let (op, lanes) = voters(b)?;
    let is_mine = op == VoteOp::Equal && b.request.activity == Activity::Full && lanes < b.lanes();
    if !is_mine || b.request.inputs[0].ty == LaneType::BOOL {
        return Err(No::NotMine);
    }
    b.assumes = Activity::Full;
    let map = LaneMap::of_lanes(b.lanes(), |i| i & !(lanes - 1));
    let route = Search { profile: b.profile }.direct(&map).ok_or(No::NotMine)?;
    let value = b.value();
    let first = emit(b, &route, value);
    Ok(all_equal(b, value, first, lanes))
}
