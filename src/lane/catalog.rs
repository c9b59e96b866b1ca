//! Every operation with typical operands: the rows of the support table, and the plans that the tests prove.

use super::op::{CountOp, Group, LaneOp, MaskOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, VoteOp, Width};
use super::plan::Activity;
use super::request::{Input, LaneType, Request, ScalarKind};
use super::swap::Swap;

mod held;

pub use held::holds;

/// One operation with its operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sample {
    /// Heading in the support table.
    pub family: &'static str,
    pub op: LaneOp,
    pub inputs: Vec<Input>,
    /// True if it is in a fragment shader.
    pub fragment: bool,
}

impl Sample {
    pub fn request(&self) -> Request<'_> {
        Request {
            op: self.op,
            inputs: (&self.inputs).into(),
            activity: Activity::Any,
            index: None,
            fragment: self.fragment,
        }
    }
}

/// Segment widths, the whole subgroup last.
pub fn widths() -> impl Iterator<Item = Width> + Clone {
    (1..=7).filter_map(|level| Width::new(1 << level)).chain([Width::SUBGROUP])
}

const MODES: [ShuffleMode; 4] = [ShuffleMode::Index, ShuffleMode::Xor, ShuffleMode::Up, ShuffleMode::Down];
pub const FOLDS: [ReduceOp; 7] =
    [ReduceOp::Add, ReduceOp::Mul, ReduceOp::Min, ReduceOp::Max, ReduceOp::And, ReduceOp::Or, ReduceOp::Xor];
const KINDS: [ReduceKind; 5] =
    [ReduceKind::Reduce, ReduceKind::ReduceLow, ReduceKind::AllReduce, ReduceKind::Inclusive, ReduceKind::Exclusive];
const QUAD_MOVES: [QuadMove; 7] = [
    QuadMove::Lane(0),
    QuadMove::Lane(1),
    QuadMove::Lane(2),
    QuadMove::Lane(3),
    QuadMove::X,
    QuadMove::Y,
    QuadMove::Diagonal,
];

/// Modes of quad permutes.
const QUAD_MODES: [u8; 9] = [0x00, 0x1B, 0x4E, 0xB1, 0xE4, 0xFF, 0x39, 0x93, 0x6C];
/// And, or, xor of swizzles.
const MASKS: [(u8, u8, u8); 5] = [(31, 0, 0), (31, 0, 16), (24, 3, 0), (15, 16, 7), (0, 0, 0)];
/// Constant lanes, distances and masks of shuffles.
const MOVED_BY: [u32; 3] = [0, 1, 3];
/// Constant operands of NVIDIA's shuffles, and their widths.
const NV_MOVED_BY: [u32; 7] = [0, 1, 3, 7, 16, 31, 33];
const NV_WIDTHS: [u32; 5] = [2, 4, 8, 16, 32];

/// Reductions over partitions. Their proof runs loops of one iteration per lane, so the types are distributed over the
/// kinds.
const PARTITIONED: [(ReduceOp, ReduceKind, LaneType); 5] = [
    (ReduceOp::Add, ReduceKind::AllReduce, LaneType::U32),
    (ReduceOp::Add, ReduceKind::Inclusive, LaneType::F32),
    (ReduceOp::Add, ReduceKind::Exclusive, LaneType::U32),
    (ReduceOp::Xor, ReduceKind::AllReduce, LaneType::BOOL),
    (ReduceOp::Xor, ReduceKind::Exclusive, LaneType::BOOL),
];

/// An operand that may differ from lane to lane.
const VARYING: Input = Input::varying(LaneType::U32);
const PREDICATE: Input = Input::varying(LaneType::BOOL);
const FLOAT: Input = Input::varying(LaneType::F32);
const BALLOT: Input = Input::varying(LaneType::BALLOT);

/// Everything, operation by operation.
pub fn all() -> Vec<Sample> {
    let mut samples = Vec::new();
    for op in operations() {
        rows(op, &mut |family, inputs, fragment| {
            samples.push(Sample { family, op, inputs: inputs.to_vec(), fragment })
        });
    }
    samples
}

/// The operations, family by family.
fn operations() -> Vec<LaneOp> {
    let mut all = Vec::new();
    quads(&mut all);
    shuffles(&mut all);
    reductions(&mut all);
    votes(&mut all);
    facts(&mut all);
    all
}

fn quads(all: &mut Vec<LaneOp>) {
    for mv in QUAD_MOVES {
        let moves = [true, false].map(|float_only| LaneOp::Quad { mv, float_only });
        all.extend(moves.into_iter().chain([LaneOp::QuadAdd(mv)]));
    }
    all.extend(QUAD_MODES.into_iter().flat_map(|mode| [LaneOp::QuadPermute(mode), LaneOp::QuadPermuteZero(mode)]));
    all.push(LaneOp::QuadBroadcast);
}

fn shuffles(all: &mut Vec<LaneOp>) {
    let swaps = |width| Swap::ALL.map(|swap| LaneOp::Swap(swap, width));
    all.extend(widths().flat_map(|width| swaps(width).into_iter().chain([LaneOp::Rotate(width)])));
    all.extend(MODES.map(LaneOp::Shuffle));
    all.extend([LaneOp::Bpermute, LaneOp::Permute, LaneOp::Broadcast, LaneOp::BroadcastFirst]);
    all.extend(MASKS.map(|(and, or, xor)| LaneOp::SwizzleMasked { and, or, xor }));
    all.push(LaneOp::WriteLane);
    all.extend(MODES.into_iter().flat_map(|mode| [LaneOp::ShuffleNv(mode), LaneOp::ShuffleNvValid(mode)]));
}

fn reductions(all: &mut Vec<LaneOp>) {
    for op in FOLDS {
        for members in [Members::All, Members::Active] {
            for kind in KINDS {
                all.extend(widths().map(|width| LaneOp::Reduce { op, kind, width, members }));
            }
        }
        all.extend(widths().map(|width| LaneOp::Segmented { op, width }));
        all.extend(KINDS.map(|kind| LaneOp::Partitioned { op, kind }));
    }
    all.extend(widths().map(|width| LaneOp::Sort { width }));
    all.push(LaneOp::Partition);
}

fn votes(all: &mut Vec<LaneOp>) {
    let segments = widths().map(Group::Segment);
    for group in [Group::Subgroup, Group::Quad, Group::Warp].into_iter().chain(segments) {
        all.extend([VoteOp::All, VoteOp::Any, VoteOp::Equal].map(|op| LaneOp::Vote { op, group }));
    }
    all.extend([Group::Subgroup, Group::Warp].map(LaneOp::Ballot));
    all.extend([LaneOp::Elect, LaneOp::ActiveMask, LaneOp::InverseBallot, LaneOp::BallotBit]);
    all.extend([CountOp::All, CountOp::Inclusive, CountOp::Exclusive].map(LaneOp::BallotCount));
    all.extend([LaneOp::BallotFindLsb, LaneOp::BallotFindMsb, LaneOp::MaskedCount]);
}

fn facts(all: &mut Vec<LaneOp>) {
    for group in [Group::Subgroup, Group::Warp, Group::Quad].into_iter().chain(widths().map(Group::Segment)) {
        all.extend([LaneOp::LaneIndex(group), LaneOp::LaneCount(group)]);
    }
    all.extend(widths().map(LaneOp::SegmentLast));
    for op in [MaskOp::Eq, MaskOp::Ge, MaskOp::Gt, MaskOp::Le, MaskOp::Lt] {
        all.extend([Group::Subgroup, Group::Warp].map(|group| LaneOp::LaneMask(op, group)));
    }
    all.push(LaneOp::Sync);
}

/// Adds a row: the heading, the operands, and whether it is in a fragment shader.
type Add<'a> = &'a mut dyn FnMut(&'static str, &[Input], bool);

/// The rows of an operation; none if the catalog lacks it.
fn rows(op: LaneOp, add: Add<'_>) {
    use LaneOp as O;
    let one_lane = Width::new(1);
    match op {
        // There are no segments of one lane.
        O::Vote { group: Group::Segment(width), .. } | O::LaneIndex(Group::Segment(width))
            if Some(width) == one_lane => {}
        op if op.width() == one_lane && one_lane.is_some() => {}
        O::Quad { float_only: true, .. } => {
            add("quadSwizzleFloat, fragment shader", &[FLOAT], true);
            add("quadSwizzleFloat", &[FLOAT], false);
        }
        O::Quad { .. } => add("quadSwizzle", &[VARYING], false),
        O::QuadAdd(_) => {
            add("quadSwizzleNV with operand, fragment shader", &[FLOAT, FLOAT], true);
            add("quadSwizzleNV with operand", &[FLOAT, FLOAT], false);
        }
        O::QuadPermute(mode) if QUAD_MODES.contains(&mode) => add("quadSwizzleAMD", &[VARYING], false),
        O::QuadPermuteZero(mode) if QUAD_MODES.contains(&mode) => add("swizzleInvocationsAMD", &[VARYING], false),
        O::QuadBroadcast => {
            add("subgroupQuadBroadcast", &[VARYING, Input::constant(2)], false);
            add("subgroupQuadBroadcast, dynamic lane", &[VARYING, VARYING], false);
        }
        O::Partition => [VARYING, FLOAT, PREDICATE].iter().for_each(|value| add("partition", &[*value], false)),
        O::Vote { op, group } => vote_rows(op, group, add),
        O::Reduce { op, kind, width, members } => reduction_rows(op, reduction_family(kind, width, members), add),
        O::Segmented { op: ReduceOp::Add | ReduceOp::Min | ReduceOp::Max, .. } => {
            add("segmentedReduce", &[FLOAT, PREDICATE], false);
        }
        O::Partitioned { op, kind } => {
            let types = PARTITIONED.iter().filter(|row| (row.0, row.1) == (op, kind));
            types.for_each(|(.., ty)| add("partitioned reductions", &[Input::varying(*ty), BALLOT], false));
        }
        O::Sort { width } => {
            [FLOAT, VARYING].iter().for_each(|key| add("bitonicSort", &[*key], false));
            [FLOAT, VARYING].iter().for_each(|key| add("bitonicSort with values", &[*key, VARYING], false));
            if width.lanes() == Some(8) {
                add("bitonicSort with values", &[VARYING, PREDICATE], false);
            }
        }
        op => shuffle_rows(op, add),
    }
}

fn shuffle_rows(op: LaneOp, add: Add<'_>) {
    use LaneOp as O;
    let mut at = |family, index: Input| add(family, &[VARYING, index], false);
    match op {
        O::Swap(swap, _) => add(swap.row().name, &[VARYING], false),
        O::Rotate(_) => at("subgroupRotate", VARYING),
        O::Shuffle(_) => {
            at("subgroupShuffle", VARYING);
            MOVED_BY.iter().for_each(|index| at("subgroupShuffle", Input::constant(*index)));
        }
        O::Bpermute => [VARYING, Input::constant(37)].iter().for_each(|index| at("bpermute", *index)),
        O::Permute => at("permute", VARYING),
        O::Broadcast => {
            at("broadcast", Input::constant(1));
            at("broadcast, dynamic lane", VARYING);
        }
        O::BroadcastFirst => add("broadcastFirst", &[VARYING], false),
        O::SwizzleMasked { and, or, xor } if MASKS.contains(&(and, or, xor)) => {
            add("swizzleInvocationsMaskedAMD", &[VARYING], false);
        }
        O::WriteLane => {
            add("writeInvocationAMD", &[VARYING; 3], false);
            add("writeInvocationAMD", &[PREDICATE, PREDICATE, VARYING], false);
        }
        O::ShuffleNv(_) => nv_rows(|index, width| {
            let family = if index == VARYING { "shuffleNV, dynamic index" } else { "shuffleNV" };
            add(family, &[VARYING, index, width], false);
        }),
        O::ShuffleNvValid(_) => nv_rows(|index, width| add("threadIdValid", &[index, width], false)),
        op => fact_rows(op, add),
    }
}

fn nv_rows(mut add: impl FnMut(Input, Input)) {
    for width in NV_WIDTHS.map(Input::constant).into_iter().chain([VARYING]) {
        NV_MOVED_BY.map(Input::constant).into_iter().chain([VARYING]).for_each(|index| add(index, width));
    }
}

/// The heading of a reduction; `None` if no language has it.
fn reduction_family(kind: ReduceKind, width: Width, members: Members) -> Option<&'static str> {
    let whole = width == Width::SUBGROUP;
    match (members, kind) {
        (Members::All, ReduceKind::Reduce) => Some("reduce"),
        (Members::All, ReduceKind::ReduceLow) => Some("reduce to the lowest lane"),
        (Members::All, ReduceKind::AllReduce) => Some("allReduce"),
        (Members::All, ReduceKind::Inclusive) => Some("inclusive"),
        (Members::All, ReduceKind::Exclusive) => Some("exclusive"),
        (Members::Active, ReduceKind::AllReduce) if whole => Some("subgroupAdd and others"),
        (Members::Active, ReduceKind::AllReduce) => Some("subgroupClusteredAdd and others"),
        (Members::Active, ReduceKind::Inclusive | ReduceKind::Exclusive) if whole => {
            Some("subgroupInclusiveAdd and others")
        }
        _ => None,
    }
}

/// Bits and bools are reduced by And, Or and Xor, numbers by the others.
fn reduction_rows(op: ReduceOp, family: Option<&'static str>, add: Add<'_>) {
    let Some(family) = family else { return };
    let types = match op {
        ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => [LaneType::U32, LaneType::BOOL],
        ReduceOp::Add | ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max => [LaneType::I32, LaneType::F32],
    };
    types.iter().for_each(|ty| add(family, &[Input::varying(*ty)], false));
}

fn vote_rows(op: VoteOp, group: Group, add: Add<'_>) {
    let family = match group {
        Group::Subgroup => "vote",
        Group::Quad => "allQuad, anyQuad",
        Group::Warp => "anyThreadNV",
        Group::Segment(_) => "vote of a segment",
    };
    add(family, &[PREDICATE], false);
    if op == VoteOp::Equal {
        add(family, &[FLOAT], false);
    }
}

/// Ballots, and operations without operands.
fn fact_rows(op: LaneOp, add: Add<'_>) {
    use LaneOp as O;
    match op {
        O::Elect => add("elect", &[], false),
        O::Ballot(Group::Subgroup) => add("ballot", &[PREDICATE], false),
        O::Ballot(Group::Warp) => add("ballotThreadNV", &[PREDICATE], false),
        O::ActiveMask => add("activeThreadsNV", &[], false),
        O::InverseBallot => add("subgroupInverseBallot", &[BALLOT], false),
        O::BallotBit => add("subgroupBallotBitExtract", &[BALLOT, VARYING], false),
        O::BallotCount(_) => add("subgroupBallotBitCount", &[BALLOT], false),
        O::BallotFindLsb => add("subgroupBallotFindLSB", &[BALLOT], false),
        O::BallotFindMsb => add("subgroupBallotFindMSB", &[BALLOT], false),
        O::MaskedCount => add("mbcntAMD", &[Input::varying(LaneType::scalar(ScalarKind::Uint, 64))], false),
        O::LaneIndex(_) => add("laneIndex", &[], false),
        O::LaneCount(Group::Subgroup | Group::Warp | Group::Quad) => add("laneCount", &[], false),
        O::SegmentLast(_) => add("segmentLast", &[], false),
        O::LaneMask(_, Group::Subgroup) => add("subgroup masks", &[], false),
        O::LaneMask(_, Group::Warp) => add("thread masks of NV", &[], false),
        O::Sync => add("subgroup barrier", &[], false),
        _ => {}
    }
}
