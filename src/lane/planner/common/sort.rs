//! Bitonic sort of a segment: a network of butterflies, each an exchange of two lanes.
//!
//! Two lanes that exchange must agree which of them keeps which pair, so that both pairs survive. The method depends on
//! the type:
//!
//! | pairs | a lane takes |
//! |---|---|
//! | integers without values | the minimum or the maximum |
//! | integers, perhaps with integers or bools as values | the other pair if that comes first, or if it does not, by the lane's direction: equal pairs are equal bits |
//! | with floats, of which -0 equals +0 and a NaN nothing | the other pair if it comes strictly before the own, or strictly after it, by the lane's direction |

use super::moves::is_bit_set;
use crate::lane::op::{LaneOp, ReduceOp, Width};
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

/// The network from a target's butterflies and exchanges by minimum and maximum, for integers without values.
pub fn by_extremes(b: &mut Builder, butterfly: Butterfly) -> Answer {
    if b.request.inputs.len() > 1 || !has_total_order(b) {
        return Err(No::NotMine);
    }
    network(b, butterfly, |b, own, other, column| {
        let (least, greatest) =
            (b.combine(ReduceOp::Min, own.key, other.key), b.combine(ReduceOp::Max, own.key, other.key));
        let keeps_greater = keeps_greater(b, column);
        let key = b.select(keeps_greater, greatest, least);
        let exists = stage_exists(b, column);
        Pair { key: b.select(exists, key, own.key), value: None }
    })
}

/// The network from a target's butterflies and exchanges by one comparison.
pub fn by_comparison(b: &mut Builder, butterfly: Butterfly) -> Answer {
    let swaps = if has_total_order(b) { precedes_or_not } else { precedes_in_direction };
    network(b, butterfly, |b, own, other, column| {
        let keeps_greater = keeps_greater(b, column);
        let swaps = swaps(b, own, other, keeps_greater);
        // A select, not a conjunction: `swaps` may come from lanes that do not exist.
        let exists = stage_exists(b, column);
        let takes = b.select(exists, swaps, Operand::Bool(false));
        chosen(b, takes, other, own)
    })
}

/// Returns true if equal pairs have the same bits and different ones are ordered, which excludes floats.
fn has_total_order(b: &Builder) -> bool {
    b.request.inputs.iter().all(|input| !input.ty.is_float())
}

/// The columns of the network.
fn network(
    b: &mut Builder,
    butterfly: Butterfly,
    exchange: impl Fn(&mut Builder, Pair, Pair, Column) -> Pair,
) -> Answer {
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

/// True if a lane takes the other pair, equal ones or not.
fn precedes_or_not(b: &mut Builder, own: Pair, other: Pair, keeps_greater: Operand) -> Operand {
    let lesser = precedes(b, other, own);
    b.alu(AluOp::BoolXor, lesser, keeps_greater)
}

/// True if a lane takes the other pair, never an equal or unordered one.
fn precedes_in_direction(b: &mut Builder, own: Pair, other: Pair, keeps_greater: Operand) -> Operand {
    let (before, after) = (chosen(b, keeps_greater, own, other), chosen(b, keeps_greater, other, own));
    precedes(b, before, after)
}

fn chosen(b: &mut Builder, condition: Operand, accept: Pair, reject: Pair) -> Pair {
    Pair {
        key: b.select(condition, accept.key, reject.key),
        value: accept.value.zip(reject.value).map(|(accept, reject)| b.select(condition, accept, reject)),
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

/// Merges of more lanes than the subgroup has do nothing. The test happens at run time only if the subgroup size is
/// unknown.
fn stage_exists(b: &mut Builder, Column { width, merge, .. }: Column) -> Operand {
    if width.lanes().is_some() {
        return Operand::Bool(true);
    }
    let size = b.size();
    b.alu(AluOp::Ge, size, Operand::Const(1 << merge))
}
