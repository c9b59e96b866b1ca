//! Bitonic sort of a segment: a network of butterflies, each a comparison and an exchange.

use super::moves::is_bit_set;
use crate::lane::op::{LaneOp, Width};
use crate::lane::plan::{AluOp, CompareOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::{Answer, No};

/// The pair of a lane: a key and perhaps a value.
#[derive(Clone, Copy)]
struct Pair {
    key: Operand,
    value: Option<Operand>,
}

/// How a target moves a value from the lane at this distance, by xor.
type Butterfly = fn(&mut Builder, Operand, u32) -> Operand;

/// The network, made of a target's butterflies.
pub fn bitonic_by(b: &mut Builder, butterfly: Butterfly) -> Answer {
    let LaneOp::Sort { width } = b.request.op else {
        return Err(No::NotMine);
    };
    let mut pair = Pair { key: b.value(), value: b.request.inputs.get(1).map(|_| Operand::Input(1)) };
    for merge in 1..=b.most_in(width).ilog2() {
        for level in (0..merge).rev() {
            let other = Pair {
                key: butterfly(b, pair.key, 1 << level),
                value: pair.value.map(|value| butterfly(b, value, 1 << level)),
            };
            pair = exchange(b, pair, other, Column { width, merge, level });
        }
    }
    b.second = pair.value;
    Ok(pair.key)
}

/// One column of the network: lanes `2^level` apart, runs of `2^merge` lanes in alternating directions.
#[derive(Clone, Copy)]
struct Column {
    width: Width,
    merge: u32,
    level: u32,
}

/// The pair of a lane after a column: its own or that of the lane it meets.
fn exchange(b: &mut Builder, own: Pair, other: Pair, column: Column) -> Pair {
    let (above, below) = (precedes(b, own, other), precedes(b, other, own));
    let keeps_greater = keeps_greater(b, column);
    let swaps = b.select(keeps_greater, above, below);
    let takes = stage_exists(b, column, swaps);
    Pair {
        key: b.select(takes, other.key, own.key),
        value: own.value.zip(other.value).map(|(mine, theirs)| b.select(takes, theirs, mine)),
    }
}

/// True if `a` comes strictly before `c`: by key, among equal keys by value.
fn precedes(b: &mut Builder, a: Pair, c: Pair) -> Operand {
    let less = b.compare(CompareOp::Lt, a.key, c.key);
    let Some((mine, theirs)) = a.value.zip(c.value) else { return less };
    let same = b.compare(CompareOp::Eq, a.key, c.key);
    let value_less = b.compare(CompareOp::Lt, mine, theirs);
    let tie = b.alu(AluOp::BoolAnd, same, value_less);
    b.alu(AluOp::BoolOr, less, tie)
}

/// True if the lane keeps the greater of the two: the upper lane of an ascending run, the lower of a descending one.
fn keeps_greater(b: &mut Builder, Column { width, merge, level }: Column) -> Operand {
    let i = b.index();
    let upper = is_bit_set(b, i, level);
    if width.lanes() == Some(1 << merge) || merge == b.most_lanes().ilog2() {
        return upper;
    }
    let descending = is_bit_set(b, i, merge);
    b.alu(AluOp::BoolXor, upper, descending)
}

/// Merges of more lanes than the subgroup has do nothing; asked at run time only where its size is not known.
fn stage_exists(b: &mut Builder, Column { width, merge, .. }: Column, swaps: Operand) -> Operand {
    if width.lanes().is_some() {
        return swaps;
    }
    let size = b.size();
    let exists = b.alu(AluOp::Ge, size, Operand::Const(1 << merge));
    // A choice, not a conjunction: `swaps` comes from lanes that are not there.
    b.select(exists, swaps, Operand::Bool(false))
}
