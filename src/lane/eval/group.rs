//! The subgroup instructions on lanes (SPIR-V 1.6, section 3.49.21): the source lane of each result, and when it is
//! undefined.

use super::Outcome;
use crate::lane::op::{CountOp, ReduceOp, VoteOp};
use crate::lane::primitive::{GroupOp, GroupReduce};
use crate::lane::value::{self, Bits, Domain, LaneValue, Lanes, low_bits};

/// One result for each active lane; `None` if the operands are of the wrong kind.
pub fn apply<D: Domain>(domain: &mut D, op: GroupOp, rows: &[&[LaneValue<D::Data>]], lanes: Lanes) -> Outcome<D::Data> {
    use GroupOp as G;
    match (op, rows) {
        (G::Shuffle | G::ShuffleXor | G::ShuffleUp | G::ShuffleDown | G::Rotate(_), [value, operand]) => {
            moved(op, value, Some(operand), lanes)
        }
        (G::Broadcast | G::QuadBroadcast, [value, operand]) => moved(op, value, Some(operand), lanes),
        (G::BroadcastFirst | G::QuadSwap(_), [value]) => moved(op, value, None, lanes),
        (G::SwizzleAmd(_) | G::SwizzleMaskedAmd { .. }, [value]) => swizzled(domain, op, value, lanes),
        (G::WriteAmd, [value, new, lane]) => written(value, new, lane, lanes),
        (G::Reduce(fold, reach) | G::ReduceAmd(fold, reach), [value]) => reduced(domain, fold, reach, value, lanes),
        (G::PartitionedReduce(fold, reach), [value, ballot]) => reduced_sets(domain, fold, reach, value, ballot, lanes),
        (G::Partition, [value]) => each(lanes, |i| Some(value::alike(domain, value, lanes, i))),
        (G::Vote(vote), [value]) => voted(domain, vote, value, lanes, lanes.size.max(1)),
        (G::QuadVote(vote), [value]) => voted(domain, vote, value, lanes, 4),
        (G::Elect, []) => each(lanes, |i| Some(LaneValue::Bool(lanes.first() == Some(i)))),
        (G::Ballot, [predicate]) => ballot(predicate, lanes),
        (G::Sync, []) => each(lanes, |_| Some(LaneValue::Poison)),
        (G::MaskedCountAmd, [mask]) => each(lanes, |i| {
            let mask = mask[i as usize];
            let words = mask.ballot().map(|bits| LaneValue::Ballot(bits & u128::from(u64::MAX)));
            read_ballot(op, words.unwrap_or(mask), LaneValue::Index(i), i, lanes.size)
        }),
        (_, [ballot]) => each(lanes, |i| read_ballot(op, ballot[i as usize], LaneValue::Index(i), i, lanes.size)),
        (G::BallotBitExtract, [ballot, lane]) => {
            each(lanes, |i| read_ballot(op, ballot[i as usize], lane[i as usize], i, lanes.size))
        }
        _ => None,
    }
}

/// The result of each active lane.
pub fn each<T: Copy>(lanes: Lanes, mut f: impl FnMut(u32) -> Option<LaneValue<T>>) -> Outcome<T> {
    let mut row = vec![LaneValue::Poison; lanes.size as usize];
    for lane in lanes.iter() {
        row[lane as usize] = f(lane)?;
    }
    Some(row)
}

/// One result per segment from its active lanes, in all of these lanes.
fn each_segment<T: Copy>(lanes: Lanes, width: u32, mut f: impl FnMut(Bits) -> Option<LaneValue<T>>) -> Outcome<T> {
    let mut row = vec![LaneValue::Poison; lanes.size as usize];
    let mut left = Bits::of(lanes.active);
    while let Some(first) = left.next() {
        let members = lanes.segment(first, width);
        let result = f(members.clone())?;
        left.low &= !members.low;
        for lane in members {
            row[lane as usize] = result;
        }
    }
    Some(row)
}

fn moved<T: Copy + PartialEq>(
    op: GroupOp,
    value: &[LaneValue<T>],
    operand: Option<&[LaneValue<T>]>,
    lanes: Lanes,
) -> Outcome<T> {
    each(lanes, |i| {
        let Some(row) = operand else { return Some(read(value, op.lane(i, 0, lanes), lanes)) };
        let own = row[i as usize];
        let width = op.uniform_width(lanes);
        if own == LaneValue::Poison || width > 1 && lanes.segment(i, width).any(|j| row[j as usize] != own) {
            return Some(LaneValue::Poison);
        }
        Some(read(value, op.lane(i, own.index()?, lanes), lanes))
    })
}

/// A constant swizzle of AMD's: zero from lanes that are not active.
fn swizzled<D: Domain>(domain: &mut D, op: GroupOp, value: &[LaneValue<D::Data>], lanes: Lanes) -> Outcome<D::Data> {
    let zero = value::zero(domain, value);
    each(lanes, |i| {
        let lane = op.lane(i, 0, lanes).filter(|lane| lanes.is_active(*lane));
        Some(lane.map_or(zero, |lane| value[lane as usize]))
    })
}

/// The new value in one lane; poison if the lanes disagree on either operand.
fn written<T: Copy + PartialEq>(
    value: &[LaneValue<T>],
    new: &[LaneValue<T>],
    lane: &[LaneValue<T>],
    lanes: Lanes,
) -> Outcome<T> {
    let agree = |row: &[LaneValue<T>]| {
        let first = lanes.first().map(|i| row[i as usize]);
        first != Some(LaneValue::Poison) && lanes.iter().all(|i| Some(row[i as usize]) == first)
    };
    let uniform = agree(new) && agree(lane);
    each(lanes, |i| match uniform {
        true => Some(if lane[i as usize].index()? == i { new[i as usize] } else { value[i as usize] }),
        false => Some(LaneValue::Poison),
    })
}

/// The value of a lane; poison if it is inactive or outside the subgroup.
fn read<T: Copy>(row: &[LaneValue<T>], lane: Option<u32>, lanes: Lanes) -> LaneValue<T> {
    match lane {
        Some(lane) if lanes.is_active(lane) => row[lane as usize],
        _ => LaneValue::Poison,
    }
}

pub fn reduced<D: Domain>(
    domain: &mut D,
    op: ReduceOp,
    reach: GroupReduce,
    row: &[LaneValue<D::Data>],
    lanes: Lanes,
) -> Outcome<D::Data> {
    let width = match reach {
        GroupReduce::Inclusive | GroupReduce::Exclusive => return scanned(domain, op, reach, row, lanes),
        GroupReduce::Reduce => lanes.size,
        GroupReduce::Clustered(width) => width.lanes_in(lanes.size),
    };
    if width > lanes.size {
        return each(lanes, |_| Some(LaneValue::Poison));
    }
    each_segment(lanes, width, |members| {
        let values: Vec<_> = members.map(|j| row[j as usize]).collect();
        value::combine_unordered(domain, op, &values, row)
    })
}

/// The reductions over the lanes of each set of a partition; undefined if the ballots of a set's lanes differ.
fn reduced_sets<D: Domain>(
    domain: &mut D,
    op: ReduceOp,
    reach: GroupReduce,
    row: &[LaneValue<D::Data>],
    ballots: &[LaneValue<D::Data>],
    lanes: Lanes,
) -> Outcome<D::Data> {
    let set = |i: u32| ballots[i as usize].ballot().map(|bits| bits & lanes.active);
    let mut results = vec![LaneValue::Poison; lanes.size as usize];
    for i in lanes.iter() {
        let Some(members) = set(i).filter(|members| members >> i & 1 != 0) else { continue };
        let own = Lanes { active: members, ..lanes };
        if own.iter().all(|j| set(j) == Some(members)) {
            results[i as usize] = reduced(domain, op, reach, row, own)?[i as usize];
        }
    }
    Some(results)
}

/// The reductions of the active lanes up to each, or below it.
fn scanned<D: Domain>(
    domain: &mut D,
    op: ReduceOp,
    reach: GroupReduce,
    row: &[LaneValue<D::Data>],
    lanes: Lanes,
) -> Outcome<D::Data> {
    let mut below = None;
    each(lanes, |i| {
        let own = row[i as usize];
        let inclusive = match below {
            None => own,
            Some(below) => value::combine_unordered(domain, op, &[below, own], row)?,
        };
        let exclusive = below.replace(inclusive);
        Some(match reach {
            GroupReduce::Exclusive => exclusive.unwrap_or_else(|| value::identity(domain, op, row)),
            _ => inclusive,
        })
    })
}

/// A vote among the active lanes of each segment.
pub fn voted<D: Domain>(
    domain: &D,
    op: VoteOp,
    row: &[LaneValue<D::Data>],
    lanes: Lanes,
    width: u32,
) -> Outcome<D::Data> {
    each_segment(lanes, width, |members| {
        let values: Vec<_> = members.map(|j| row[j as usize]).collect();
        if values.contains(&LaneValue::Poison) {
            return Some(LaneValue::Poison);
        }
        let mut truths = values.iter().map(|value| match op {
            VoteOp::All | VoteOp::Any => value.bool(),
            VoteOp::Equal => value::equal(domain, values[0], *value),
        });
        let result = match op {
            VoteOp::All | VoteOp::Equal => truths.try_fold(true, |all, truth| Some(all & truth?)),
            VoteOp::Any => truths.try_fold(false, |any, truth| Some(any | truth?)),
        };
        result.map(LaneValue::Bool)
    })
}

/// The ballot of the active lanes, in each of them.
pub fn ballot<T: Copy + PartialEq>(predicate: &[LaneValue<T>], lanes: Lanes) -> Outcome<T> {
    let mut bits = 0;
    for j in lanes.iter() {
        match predicate[j as usize] {
            LaneValue::Bool(value) => bits |= u128::from(value) << j,
            LaneValue::Poison => return each(lanes, |_| Some(LaneValue::Poison)),
            _ => return None,
        }
    }
    each(lanes, |_| Some(LaneValue::Ballot(bits)))
}

/// Instructions that read a ballot, in lane `i` of `size`.
fn read_ballot<T: Copy + PartialEq>(
    op: GroupOp,
    ballot: LaneValue<T>,
    lane: LaneValue<T>,
    i: u32,
    size: u32,
) -> Option<LaneValue<T>> {
    if ballot == LaneValue::Poison || lane == LaneValue::Poison {
        return Some(LaneValue::Poison);
    }
    let bits = ballot.ballot()? & low_bits(size);
    let found = |bit: u32| if bits == 0 { LaneValue::Poison } else { LaneValue::Index(bit) };
    Some(match op {
        GroupOp::InverseBallot => LaneValue::Bool(bits >> i & 1 != 0),
        GroupOp::BallotBitExtract => match lane.index()? {
            lane if lane < size => LaneValue::Bool(bits >> lane & 1 != 0),
            _ => LaneValue::Poison,
        },
        GroupOp::BallotBitCount(CountOp::All) => LaneValue::Index(bits.count_ones()),
        GroupOp::BallotBitCount(CountOp::Inclusive) => LaneValue::Index((bits & low_bits(i + 1)).count_ones()),
        GroupOp::BallotBitCount(CountOp::Exclusive) | GroupOp::MaskedCountAmd => {
            LaneValue::Index((bits & low_bits(i)).count_ones())
        }
        GroupOp::BallotFindLsb => found(bits.trailing_zeros()),
        GroupOp::BallotFindMsb => found(127_u32.wrapping_sub(bits.leading_zeros())),
        _ => return None,
    })
}
