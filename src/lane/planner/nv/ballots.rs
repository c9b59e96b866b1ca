//! Ballots and operations on them, lane indices, counts and masks, and the subgroup barrier.

use super::shf::{ballot, is_some, lanes, word};
use crate::lane::op::{CountOp, Group, LaneOp, MaskOp};
use crate::lane::plan::{Activity, AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::facts::fact;
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::NvOp;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "fact about the lane", needs: &[], build: fact },
    Rule { name: "lanes of a warp run together", needs: &[], build: sync },
    Rule { name: "mask of lanes", needs: &[Feature::NvBallot], build: mask },
    Rule { name: "all lanes", needs: &[], build: everybody },
    Rule { name: "TGBALLOT", needs: &[Feature::NvBallot], build: own_ballot },
    Rule { name: "reading of a ballot", needs: &[Feature::NvBallot], build: read },
];

/// Warps have no barrier instruction and need none, because lanes reconverge at every SHF and TG instruction. Memory is
/// ordered by the fence next to the operation.
pub fn sync(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::Sync => Ok(Operand::Bool(true)),
        _ => Err(No::NotMine),
    }
}

pub fn mask(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::LaneMask(op, Group::Subgroup) => Ok(b.mask(op)),
        LaneOp::LaneMask(op, Group::Warp) => Ok(lanes(b, op)),
        _ => Err(No::NotMine),
    }
}

pub fn everybody(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::ActiveMask || b.request.activity != Activity::Full {
        return Err(No::NotMine);
    }
    b.assumes = Activity::Full;
    Ok(Operand::Const(u32::MAX))
}

pub fn own_ballot(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::Ballot(Group::Subgroup) => Ok(b.prim(NvOp::Ballot, &[b.value()], StepType::Ballot)),
        LaneOp::Ballot(Group::Warp) => Ok(ballot(b, b.value())),
        LaneOp::ActiveMask => Ok(ballot(b, Operand::Bool(true))),
        _ => Err(No::NotMine),
    }
}

pub fn read(b: &mut Builder) -> Answer {
    let bits = match b.request.op {
        LaneOp::MaskedCount => b.alu1(AluOp::BallotFromMask, b.value()),
        LaneOp::InverseBallot | LaneOp::BallotBit | LaneOp::BallotCount(_) => b.value(),
        LaneOp::BallotFindLsb | LaneOp::BallotFindMsb => b.value(),
        _ => return Err(No::NotMine),
    };
    let bits = word(b, bits);
    Ok(match b.request.op {
        LaneOp::InverseBallot => {
            let own = within(b, bits, MaskOp::Eq);
            is_some(b, own)
        }
        LaneOp::BallotBit => {
            let shifted = b.alu(AluOp::Shr, bits, b.input(1));
            let bit = b.alu(AluOp::And, shifted, Operand::Const(1));
            is_some(b, bit)
        }
        LaneOp::BallotFindLsb => b.alu1(AluOp::FindLsb, bits),
        LaneOp::BallotFindMsb => b.alu1(AluOp::FindMsb, bits),
        LaneOp::BallotCount(CountOp::All) => b.alu1(AluOp::BitCount, bits),
        LaneOp::BallotCount(CountOp::Inclusive) => count(b, bits, MaskOp::Le),
        _ => count(b, bits, MaskOp::Lt),
    })
}

/// The bits of lanes with this relation to the lane.
fn within(b: &mut Builder, bits: Operand, op: MaskOp) -> Operand {
    let mask = lanes(b, op);
    b.alu(AluOp::And, bits, mask)
}

fn count(b: &mut Builder, bits: Operand, op: MaskOp) -> Operand {
    let chosen = within(b, bits, op);
    b.alu1(AluOp::BitCount, chosen)
}
