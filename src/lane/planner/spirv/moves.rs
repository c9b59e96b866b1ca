//! Moves over the subgroup: shuffles, broadcasts, butterflies, rotations, permutations.

use super::ballots;
use super::quads::{is_word, shuffle_or_zero, swizzled};
use crate::lane::op::{LaneOp, ShuffleMode};
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::moves::{is_bit_set, masked_source, write_lane};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::GroupOp;
use crate::lane::request::Known;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "shuffle", needs: &[Feature::Shuffle], build: shuffle },
    Rule { name: "relative shuffle", needs: &[Feature::ShuffleRelative], build: relative },
    Rule { name: "relative shuffle by index", needs: &[Feature::Shuffle], build: relative },
    Rule { name: "shuffle by a mask", needs: &[Feature::Shuffle], build: swap },
    Rule { name: "broadcast", needs: &[Feature::Ballot], build: broadcast },
    Rule { name: "broadcast by shuffle", needs: &[Feature::Shuffle], build: broadcast_by_shuffle },
    Rule { name: "broadcast of the first active lane", needs: &[Feature::Ballot], build: broadcast_first },
    Rule { name: "shuffle by any index", needs: &[Feature::Shuffle], build: bpermute },
    Rule { name: "rotation", needs: &[Feature::Rotate], build: rotate },
    Rule { name: "rotation by shuffle", needs: &[Feature::Shuffle], build: rotate_by_shuffle },
    Rule { name: "masked swizzle", needs: &[Feature::ShaderBallotAmd], build: swizzle_masked_amd },
    Rule { name: "masked swizzle by shuffle", needs: &[Feature::Shuffle, Feature::Ballot], build: swizzle_masked },
    Rule { name: "write to one lane", needs: &[Feature::ShaderBallotAmd], build: write_lane_amd },
    Rule { name: "select of one lane", needs: &[Feature::LaneFacts], build: write_lane },
    Rule { name: "push by ballots of the index", needs: &[Feature::Shuffle, Feature::Ballot], build: permute },
];

fn shuffle(b: &mut Builder) -> Answer {
    let (value, index) = (b.value(), |b: &Builder| b.input(1));
    match b.request.op {
        LaneOp::Shuffle(ShuffleMode::Index) => Ok(b.shuffle(value, index(b))),
        LaneOp::Shuffle(ShuffleMode::Xor) => Ok(b.shuffle_xor(value, index(b))),
        _ => Err(No::NotMine),
    }
}

fn relative(b: &mut Builder) -> Answer {
    let value = b.value();
    match b.request.op {
        LaneOp::Shuffle(ShuffleMode::Up) => Ok(b.shuffle_up(value, b.input(1))),
        LaneOp::Shuffle(ShuffleMode::Down) => Ok(b.shuffle_down(value, b.input(1))),
        _ => Err(No::NotMine),
    }
}

fn swap(b: &mut Builder) -> Answer {
    let LaneOp::Swap(swap, width) = b.request.op else {
        return Err(No::NotMine);
    };
    let mask = match width.lanes() {
        Some(lanes) => Operand::Const(swap.mask(lanes)),
        None => {
            let (size, (op, by)) = (b.size(), swap.row().mask);
            b.alu(op, size, Operand::Const(by))
        }
    };
    Ok(b.shuffle_xor(b.value(), mask))
}

fn broadcast(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::Broadcast {
        return Err(No::NotMine);
    }
    let lane = b.input(1);
    match lane {
        Operand::Const(_) => {}
        _ => b.need(Feature::DynamicBroadcast).map_err(|_| No::NotMine)?,
    }
    Ok(b.mover(GroupOp::Broadcast, b.value(), lane))
}

fn broadcast_by_shuffle(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::Broadcast => Ok(b.shuffle(b.value(), b.input(1))),
        _ => Err(No::NotMine),
    }
}

fn broadcast_first(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::BroadcastFirst => Ok(b.mover(GroupOp::BroadcastFirst, b.value(), Operand::None)),
        _ => Err(No::NotMine),
    }
}

fn bpermute(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::Bpermute {
        return Err(No::NotMine);
    }
    let index = b.counted(1);
    Ok(match index {
        Operand::Const(_) if b.has(Feature::Ballot) => b.mover(GroupOp::Broadcast, b.value(), index),
        _ => b.shuffle(b.value(), index),
    })
}

fn rotate(b: &mut Builder) -> Answer {
    let LaneOp::Rotate(width) = b.request.op else {
        return Err(No::NotMine);
    };
    Ok(b.mover(GroupOp::Rotate(width), b.value(), b.input(1)))
}

fn rotate_by_shuffle(b: &mut Builder) -> Answer {
    let LaneOp::Rotate(width) = b.request.op else {
        return Err(No::NotMine);
    };
    let (i, delta) = (b.index(), b.input(1));
    let turned = b.alu(AluOp::Add, i, delta);
    let source = match width.lanes() {
        None => b.modulo(turned),
        Some(lanes) => {
            let (base, local) = (b.base(lanes), b.modulo(turned));
            b.alu(AluOp::Or, local, base)
        }
    };
    Ok(b.shuffle(b.value(), source))
}

fn swizzle_masked_amd(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::SwizzleMasked { and, or, xor } => swizzled(b, GroupOp::SwizzleMaskedAmd { and, or, xor }),
        _ => Err(No::NotMine),
    }
}

fn swizzle_masked(b: &mut Builder) -> Answer {
    let LaneOp::SwizzleMasked { and, or, xor } = b.request.op else {
        return Err(No::NotMine);
    };
    let source = masked_source(b, and, or, xor);
    Ok(shuffle_or_zero(b, source))
}

/// The instruction requires a uniform value and a uniform lane.
fn write_lane_amd(b: &mut Builder) -> Answer {
    let uniform = b.request.inputs.iter().skip(1).all(|input| input.known != Known::Varying);
    if b.request.op != LaneOp::WriteLane || !uniform || !is_word(b.request.input_ty(0)) {
        return Err(No::NotMine);
    }
    let value = b.value();
    Ok(b.group(GroupOp::WriteAmd, &[value, Operand::Input(1), b.input(2)], b.ty(value)))
}

/// Ballots of the index's bits tell each lane which lanes push to it: lanes whose index bits all equal the lane
/// index's.
fn permute(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::Permute {
        return Err(No::NotMine);
    }
    let index = b.counted(1);
    let mut senders = b.ballot(Operand::Bool(true));
    for bit in 0..b.most_lanes().ilog2() {
        let matching = lanes_with_own_bit(b, index, bit);
        senders = b.alu(AluOp::BallotAnd, senders, matching);
    }
    let (some, highest) = (ballots::is_some(b, senders), ballots::highest(b, senders));
    let (pushed, zero) = (b.shuffle(b.value(), highest), b.zero());
    Ok(b.select(some, pushed, zero))
}

/// Lanes whose bit `bit` of `index` equals this lane's.
fn lanes_with_own_bit(b: &mut Builder, index: Operand, bit: u32) -> Operand {
    let set = is_bit_set(b, index, bit);
    let ones = b.ballot(set);
    let zeros = b.alu1(AluOp::BallotNot, ones);
    let i = b.index();
    let own = is_bit_set(b, i, bit);
    b.select(own, ones, zeros)
}
