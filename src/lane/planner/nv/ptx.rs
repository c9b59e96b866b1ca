//! Rules for PTX. Its `shfl.sync` and `vote.sync` are the instructions that the assembly extensions call SHF and TG, so
//! the same rules apply under PTX's names, with additional rules for PTX's other instructions.

use super::active::{PARTITIONS, any_tree, first_lanes_tree};
use super::shf::{lanes_of, segment};
use super::{ballots, moves, quads, reductions, scans, shuffles, votes};
use crate::lane::op::{Group, LaneOp, ReduceOp, VoteOp, WARP};
use crate::lane::plan::{Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::facts::fact;
use crate::lane::planner::common::moves::write_lane;
use crate::lane::planner::common::reductions::{one_lane as one_lane_fold, reduction};
use crate::lane::planner::common::scans::one_lane as one_lane_scan;
use crate::lane::planner::common::sort;
use crate::lane::planner::common::votes::one_lane as one_lane_vote;
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::NvOp;
use crate::lane::request::{LaneType, ScalarKind};
use crate::lane::signature::Family;
use crate::profile::Feature;

const SHUFFLE: &[Feature] = &[Feature::NvShuffle];
const BALLOT: &[Feature] = &[Feature::NvBallot];
const BOTH: &[Feature] = &[Feature::NvShuffle, Feature::NvBallot];
const EQUAL: &[Feature] = &[Feature::NvShuffle, Feature::NvBallot, Feature::NvVote];

/// The rules for an operation.
pub fn rules(op: LaneOp) -> &'static [Rule] {
    use Family as F;
    match op.signature().family {
        F::Quad => QUADS,
        F::Move | F::Sort => MOVES,
        F::NvShuffle => SHUFFLES,
        F::Scan => SCANS,
        F::Reduce => REDUCTIONS,
        F::Partition if op == LaneOp::Partition => PARTITION,
        F::Partition => PARTITIONS,
        F::Vote => VOTES,
        F::Fact if op == LaneOp::Sync => SYNC,
        F::Fact => READS,
    }
}

static QUADS: &[Rule] = &[
    Rule { name: "quad permutation that keeps its place", needs: &[], build: quads::identity },
    Rule { name: "shfl in the quad", needs: SHUFFLE, build: quads::shuffle },
    Rule { name: "shfl.idx, zero from inactive lanes", needs: BOTH, build: quads::or_zero },
];

static MOVES: &[Rule] = &[
    Rule { name: "shfl with constants", needs: SHUFFLE, build: moves::by_map },
    Rule { name: "shfl", needs: SHUFFLE, build: moves::shuffle },
    Rule { name: "shfl.idx that wraps", needs: SHUFFLE, build: moves::rotate },
    Rule { name: "shfl.idx from lane 0", needs: SHUFFLE, build: moves::broadcast_lane_0 },
    Rule { name: "shfl.idx from the lowest active lane", needs: BOTH, build: moves::broadcast_first },
    Rule { name: "shfl.idx, zero from inactive lanes", needs: BOTH, build: moves::swizzle_masked },
    Rule { name: "select of one lane", needs: &[], build: write_lane },
    Rule { name: "push by ballots of the index", needs: BOTH, build: moves::permute },
    Rule {
        name: "bitonic network of shfl.bfly, minimum and maximum",
        needs: SHUFFLE,
        build: |b| sort::by_extremes(b, moves::butterfly),
    },
    Rule { name: "bitonic network of shfl.bfly", needs: SHUFFLE, build: |b| sort::by_comparison(b, moves::butterfly) },
];

static SHUFFLES: &[Rule] = &[
    Rule { name: "range of an NV shuffle", needs: &[], build: shuffles::known_range },
    Rule { name: "predicate of shfl", needs: SHUFFLE, build: shuffles::predicate },
    Rule { name: "NV shuffle that keeps its place", needs: &[], build: shuffles::own_value },
    Rule { name: "shfl with constants", needs: SHUFFLE, build: moves::by_map },
    Rule { name: "shfl", needs: SHUFFLE, build: shuffles::shuffle },
];

static SCANS: &[Rule] = &[
    Rule { name: "scan of one lane", needs: &[], build: one_lane_scan },
    Rule { name: "own lower lanes of a ballot", needs: BALLOT, build: scans::bools },
    Rule { name: "steps of shfl.up", needs: SHUFFLE, build: scans::steps },
    Rule { name: "jumps from active lane to active lane", needs: BOTH, build: scans::jumps },
    Rule { name: "steps of shfl.up from the run's head on", needs: BOTH, build: scans::segmented },
];

static REDUCTIONS: &[Rule] = &[
    Rule { name: "reduction of one lane", needs: &[], build: one_lane_fold },
    Rule { name: "vote of the warp", needs: &[Feature::NvVote], build: reductions::vote },
    Rule { name: "own lanes of a ballot", needs: BALLOT, build: reductions::bools },
    Rule { name: "redux", needs: &[Feature::PtxReduce], build: redux },
    Rule { name: "tree of shfl.bfly", needs: SHUFFLE, build: reductions::tree },
    Rule { name: "tree of shfl.idx up to the last active lane", needs: BOTH, build: first_lanes_tree },
    Rule { name: "tree of shfl.idx over the active lanes", needs: BOTH, build: any_tree },
];

static PARTITION: &[Rule] = &[
    Rule { name: "match.any", needs: &[Feature::PtxMatch], build: match_any },
    Rule {
        name: "comparison with the first lane that is left, in turns",
        needs: BOTH,
        build: super::active::partition,
    },
];

static VOTES: &[Rule] = &[
    Rule { name: "lane 0", needs: &[], build: votes::elect_lane_0 },
    Rule { name: "no active lane below", needs: BALLOT, build: votes::elect },
    Rule { name: "vote of one lane", needs: &[], build: one_lane_vote },
    Rule { name: "vote of the warp", needs: &[Feature::NvVote], build: votes::warp },
    Rule { name: "own lanes of a ballot", needs: BALLOT, build: votes::by_ballot },
    Rule { name: "comparison of two ballots", needs: BALLOT, build: votes::equal_bools },
    Rule { name: "match.all", needs: &[Feature::PtxMatch], build: match_all },
    Rule { name: "match.any in the segment", needs: &[Feature::PtxMatch, Feature::NvBallot], build: match_segment },
    Rule { name: "comparison with the first active lane", needs: EQUAL, build: votes::equal },
];

static SYNC: &[Rule] = &[Rule { name: "bar.warp", needs: &[Feature::PtxSync], build: sync }];

static READS: &[Rule] = &[
    Rule { name: "fact about the lane", needs: &[], build: fact },
    Rule { name: "mask of lanes", needs: BALLOT, build: ballots::mask },
    Rule { name: "all lanes", needs: &[], build: ballots::everybody },
    Rule { name: "vote.ballot", needs: BALLOT, build: ballots::own_ballot },
    Rule { name: "reading of a ballot", needs: BALLOT, build: ballots::read },
];

/// Returns true if one instruction reduces values of a type.
fn is_reduced(op: ReduceOp, ty: LaneType) -> bool {
    let is_int = matches!(ty.kind, ScalarKind::Sint | ScalarKind::Uint);
    is_int && ty.width <= 32 && ty.components == 1 && op != ReduceOp::Mul
}

/// Reduces the whole warp at once, whichever lanes are active.
fn redux(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if lanes_of(fold.width) != WARP || !is_reduced(fold.op, b.request.inputs[0].ty) {
        return Err(No::NotMine);
    }
    let value = b.value();
    Ok(b.prim(NvOp::Reduce(fold.op), &[value], b.ty(value)))
}

fn match_any(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::Partition {
        return Err(No::NotMine);
    }
    let value = number(b);
    Ok(b.prim(NvOp::Match, &[value], StepType::Ballot))
}

/// The value, or the number that represents a bool.
fn number(b: &mut Builder) -> Operand {
    let value = b.value();
    match b.request.inputs[0].ty {
        LaneType::BOOL => b.select(value, Operand::Const(1), Operand::Const(0)),
        _ => value,
    }
}

/// Floats are compared as numbers, which these instructions do not support.
fn equal_bits(b: &Builder) -> Result<u32, No> {
    let LaneOp::Vote { op: VoteOp::Equal, group } = b.request.op else {
        return Err(No::NotMine);
    };
    let ty = b.request.inputs[0].ty;
    let is_bits = matches!(ty.kind, ScalarKind::Sint | ScalarKind::Uint) && ty.components == 1;
    match group {
        _ if !is_bits => Err(No::NotMine),
        Group::Subgroup | Group::Warp => Ok(WARP),
        Group::Quad => Ok(4),
        Group::Segment(width) => Ok(lanes_of(width)),
    }
}

fn match_all(b: &mut Builder) -> Answer {
    match equal_bits(b)? {
        WARP => Ok(b.prim(NvOp::MatchAll, &[b.value()], StepType::Bool)),
        _ => Err(No::NotMine),
    }
}

/// True if no active lane of the segment is outside the lane's set.
fn match_segment(b: &mut Builder) -> Answer {
    use crate::lane::plan::AluOp;
    let width = equal_bits(b)?;
    if width == WARP {
        return Err(No::NotMine);
    }
    let same = b.prim(NvOp::Match, &[b.value()], StepType::Ballot);
    let (same, all, own) = (super::shf::word(b, same), super::shf::active(b), segment(b, width));
    let others = b.alu(AluOp::Xor, same, all);
    let others = b.alu(AluOp::And, others, own);
    Ok(super::shf::is_none(b, others))
}

fn sync(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::Sync => Ok(b.prim(NvOp::Sync, &[], StepType::None)),
        _ => Err(No::NotMine),
    }
}
