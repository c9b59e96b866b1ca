//! Moves across the warp: shuffles, broadcasts, butterflies, rotations, permutations; and sorting, which is built from
//! them.

use super::quads::from_lane_or_zero;
use super::shf::{active, ballot, from_lane, is_some, lanes_of, shf};
use crate::lane::op::{LaneOp, ShuffleMode, WARP};
use crate::lane::plan::{Activity, AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::moves::{is_bit_set, masked_source, write_lane};
use crate::lane::planner::common::sort;
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::nv::{self, shuffle_mask, shuffle_target};
use crate::lane::primitive::{Arg, LaneMap, Move, Source};
use crate::lane::request::Known;
use crate::profile::Feature;

const SHUFFLE: &[Feature] = &[Feature::NvShuffle];
const SHUFFLE_AND_BALLOT: &[Feature] = &[Feature::NvShuffle, Feature::NvBallot];

pub static RULES: &[Rule] = &[
    Rule { name: "SHF with constants", needs: SHUFFLE, build: by_map },
    Rule { name: "SHF", needs: SHUFFLE, build: shuffle },
    Rule { name: "SHFIDX that wraps", needs: SHUFFLE, build: rotate },
    Rule { name: "SHFIDX from lane 0", needs: SHUFFLE, build: broadcast_lane_0 },
    Rule { name: "SHFIDX from the lowest active lane", needs: SHUFFLE_AND_BALLOT, build: broadcast_first },
    Rule { name: "SHFIDX, zero from inactive lanes", needs: SHUFFLE_AND_BALLOT, build: swizzle_masked },
    Rule { name: "select of one lane", needs: &[], build: write_lane },
    Rule { name: "push by ballots of the index", needs: SHUFFLE_AND_BALLOT, build: permute },
    Rule {
        name: "bitonic network of SHFXOR, minimum and maximum",
        needs: SHUFFLE,
        build: |b| sort::by_extremes(b, butterfly),
    },
    Rule { name: "bitonic network of SHFXOR", needs: SHUFFLE, build: |b| sort::by_comparison(b, butterfly) },
];

/// A shuffle whose index is known for each lane and is equivalent to a distance or a fixed lane of each segment.
pub fn by_map(b: &mut Builder) -> Answer {
    let map = wanted(b).ok_or(No::NotMine)?;
    if map.lanes().all(|(i, lane)| i == lane) {
        return Ok(b.value());
    }
    match nv::solve_shuffle(&map, b.profile.features) {
        Some(Move { primitive, args: [Arg::Const(index), Arg::Const(mask)] }) => {
            let args = [b.value(), Operand::Const(index), Operand::Const(mask)];
            Ok(b.prim(primitive, &args, b.ty(args[0])))
        }
        _ => Err(No::NotMine),
    }
}

/// The source lane of each lane; `None` unless each lane's index is known.
fn wanted(b: &Builder) -> Option<LaneMap> {
    let row = b.request.index.as_deref()?;
    let index = |i: u32| Some(row.get(i as usize)? & b.index_bits());
    let in_warp = |lane: u32| Some(Source::Lane(lane)).filter(|_| lane < WARP);
    Some(match b.request.op {
        LaneOp::Shuffle(mode) => LaneMap::new(WARP, |i| in_warp(target(mode, i, index(i)?)?)),
        LaneOp::Bpermute => LaneMap::new(WARP, |i| Some(Source::Lane(index(i)?))),
        LaneOp::ShuffleNv(mode) => {
            let Known::Constant(width) = b.request.inputs[2].known else { return None };
            LaneMap::new(WARP, |i| Some(nv_source(mode, i, index(i)?, width)))
        }
        _ => return None,
    })
}

fn target(mode: ShuffleMode, i: u32, index: u32) -> Option<u32> {
    match mode {
        ShuffleMode::Index => Some(index),
        ShuffleMode::Xor => Some(i ^ index),
        ShuffleMode::Up => i.checked_sub(index),
        ShuffleMode::Down => i.checked_add(index),
    }
}

fn nv_source(mode: ShuffleMode, i: u32, index: u32, width: u32) -> Source {
    let relative = matches!(mode, ShuffleMode::Up | ShuffleMode::Down);
    match shuffle_target(mode, i, index, shuffle_mask(mode, width)) {
        (lane, true) if relative || index < width => Source::Lane(lane),
        _ => Source::Own,
    }
}

pub fn shuffle(b: &mut Builder) -> Answer {
    let value = b.value();
    let (mode, index) = match b.request.op {
        LaneOp::Shuffle(mode) => (mode, b.input(1)),
        LaneOp::Bpermute | LaneOp::Broadcast => (ShuffleMode::Index, b.input(1)),
        LaneOp::Swap(swap, width) => (ShuffleMode::Xor, Operand::Const(swap.mask(lanes_of(width)))),
        _ => return Err(No::NotMine),
    };
    Ok(shf(b, mode, value, index, WARP))
}

pub fn rotate(b: &mut Builder) -> Answer {
    let LaneOp::Rotate(width) = b.request.op else {
        return Err(No::NotMine);
    };
    let i = b.index();
    let source = b.alu(AluOp::Add, i, b.input(1));
    Ok(shf(b, ShuffleMode::Index, b.value(), source, lanes_of(width)))
}

/// If the first lanes are active, lane 0 is the lowest active lane.
pub fn broadcast_lane_0(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::BroadcastFirst || b.request.activity < Activity::FirstLanes {
        return Err(No::NotMine);
    }
    b.assumes = Activity::FirstLanes;
    Ok(from_lane(b, b.value(), Operand::Const(0)))
}

pub fn broadcast_first(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::BroadcastFirst {
        return Err(No::NotMine);
    }
    let all = active(b);
    let first = b.alu1(AluOp::FindLsb, all);
    Ok(from_lane(b, b.value(), first))
}

pub fn swizzle_masked(b: &mut Builder) -> Answer {
    let LaneOp::SwizzleMasked { and, or, xor } = b.request.op else {
        return Err(No::NotMine);
    };
    let source = masked_source(b, and, or, xor);
    Ok(from_lane_or_zero(b, source))
}

/// Ballots of the index's bits tell each lane which lanes push to it: lanes whose index bits all equal the lane
/// index's.
pub fn permute(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::Permute {
        return Err(No::NotMine);
    }
    let index = b.input(1);
    let mut senders = active(b);
    for bit in 0..WARP.ilog2() {
        let matching = lanes_with_own_bit(b, index, bit);
        senders = b.alu(AluOp::And, senders, matching);
    }
    let some = is_some(b, senders);
    let highest = b.alu1(AluOp::FindMsb, senders);
    let (pushed, zero) = (from_lane(b, b.value(), highest), b.zero());
    Ok(b.select(some, pushed, zero))
}

/// Lanes whose bit `bit` of `index` equals this lane's: the ballot, inverted if the lane's bit is clear.
fn lanes_with_own_bit(b: &mut Builder, index: Operand, bit: u32) -> Operand {
    let set = is_bit_set(b, index, bit);
    let ones = ballot(b, set);
    let i = b.index();
    let shifted = b.alu(AluOp::Shr, i, Operand::Const(bit));
    let own = b.alu(AluOp::And, shifted, Operand::Const(1));
    let inverted = b.alu(AluOp::Sub, own, Operand::Const(1));
    b.alu(AluOp::Xor, ones, inverted)
}

/// The value of the lane at this distance, by xor.
pub fn butterfly(b: &mut Builder, value: Operand, distance: u32) -> Operand {
    shf(b, ShuffleMode::Xor, value, Operand::Const(distance), WARP)
}
