//! Every operation with typical operands: what the support table lists and what the tests prove plans of.

use super::op::{CountOp, FoldKind, FoldOp, Group, LaneOp, MaskOp, Members, QuadMove, ShuffleMode, VoteOp, Width};
use super::plan::Activity;
use super::request::{Input, LaneType, Request, ScalarKind};

mod held;

pub use held::holds;

/// One operation with its operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sample {
    /// Heading in the support table.
    pub family: &'static str,
    pub op: LaneOp,
    pub inputs: Vec<Input>,
    /// Whether it is in a fragment shader.
    pub fragment: bool,
}

impl Sample {
    pub fn request(&self) -> Request<'_> {
        Request { op: self.op, inputs: &self.inputs, activity: Activity::Any, index: None, fragment: self.fragment }
    }
}

/// Segment widths, the whole subgroup last.
pub fn widths() -> impl Iterator<Item = Width> + Clone {
    (1..=7).filter_map(|level| Width::new(1 << level)).chain([Width::SUBGROUP])
}

const MODES: [ShuffleMode; 4] = [ShuffleMode::Index, ShuffleMode::Xor, ShuffleMode::Up, ShuffleMode::Down];
const FOLDS: [FoldOp; 7] = [FoldOp::Add, FoldOp::Mul, FoldOp::Min, FoldOp::Max, FoldOp::And, FoldOp::Or, FoldOp::Xor];
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
/// The same of NVIDIA's shuffles, and the widths of these.
const NV_MOVED_BY: [u32; 7] = [0, 1, 3, 7, 16, 31, 33];
const NV_WIDTHS: [u32; 5] = [2, 4, 8, 16, 32];

/// Collects samples.
#[derive(Default)]
struct Catalog(Vec<Sample>);

impl Catalog {
    fn add(&mut self, family: &'static str, op: LaneOp, inputs: &[Input]) {
        self.0.push(Sample { family, op, inputs: inputs.to_vec(), fragment: false });
    }

    /// The operation in a fragment shader.
    fn add_in_fragments(&mut self, family: &'static str, op: LaneOp, inputs: &[Input]) {
        self.0.push(Sample { family, op, inputs: inputs.to_vec(), fragment: true });
    }

    /// The operation on a 32-bit integer and on what else it is given.
    fn moves(&mut self, family: &'static str, op: LaneOp, others: &[Input]) {
        let value = Input::varying(LaneType::U32);
        let inputs: Vec<Input> = [value].iter().chain(others).copied().collect();
        self.add(family, op, &inputs);
    }
}

/// Everything, family by family.
pub fn all() -> Vec<Sample> {
    let mut catalog = Catalog::default();
    quads(&mut catalog);
    shuffles(&mut catalog);
    nv_shuffles(&mut catalog);
    folds(&mut catalog);
    votes(&mut catalog);
    ballots(&mut catalog);
    facts(&mut catalog);
    sorts(&mut catalog);
    partitions(&mut catalog);
    catalog.0
}

/// An operand that may differ from lane to lane.
const VARYING: Input = Input::varying(LaneType::U32);
const PREDICATE: Input = Input::varying(LaneType::BOOL);
const FLOAT: Input = Input::varying(LaneType::F32);

fn quads(catalog: &mut Catalog) {
    for mv in QUAD_MOVES {
        catalog.add_in_fragments("quadSwizzleFloat, fragment shader", LaneOp::Quad { mv, float_only: true }, &[FLOAT]);
        catalog.add("quadSwizzleFloat", LaneOp::Quad { mv, float_only: true }, &[FLOAT]);
        catalog.moves("quadSwizzle", LaneOp::Quad { mv, float_only: false }, &[]);
        catalog.add_in_fragments("quadSwizzleNV with operand, fragment shader", LaneOp::QuadAdd(mv), &[FLOAT, FLOAT]);
        catalog.add("quadSwizzleNV with operand", LaneOp::QuadAdd(mv), &[FLOAT, FLOAT]);
    }
    for mode in QUAD_MODES {
        catalog.moves("quadSwizzleAMD", LaneOp::QuadPermute(mode), &[]);
        catalog.moves("swizzleInvocationsAMD", LaneOp::QuadPermuteZero(mode), &[]);
    }
    catalog.moves("subgroupQuadBroadcast", LaneOp::QuadBroadcast, &[Input::constant(2)]);
    catalog.moves("subgroupQuadBroadcast, dynamic lane", LaneOp::QuadBroadcast, &[VARYING]);
}

fn shuffles(catalog: &mut Catalog) {
    for width in widths() {
        catalog.moves("butterfly", LaneOp::Butterfly(width), &[]);
        catalog.moves("subgroupRotate", LaneOp::Rotate(width), &[VARYING]);
    }
    for mode in MODES {
        for index in [VARYING].into_iter().chain(MOVED_BY.map(Input::constant)) {
            catalog.moves("subgroupShuffle", LaneOp::Shuffle(mode), &[index]);
        }
    }
    catalog.moves("bpermute", LaneOp::Bpermute, &[VARYING]);
    catalog.moves("bpermute", LaneOp::Bpermute, &[Input::constant(37)]);
    catalog.moves("permute", LaneOp::Permute, &[VARYING]);
    catalog.moves("broadcast", LaneOp::Broadcast, &[Input::constant(1)]);
    catalog.moves("broadcast, dynamic lane", LaneOp::Broadcast, &[VARYING]);
    catalog.moves("broadcastFirst", LaneOp::BroadcastFirst, &[]);
    for (and, or, xor) in MASKS {
        catalog.moves("swizzleInvocationsMaskedAMD", LaneOp::SwizzleMasked { and, or, xor }, &[]);
    }
    catalog.moves("writeInvocationAMD", LaneOp::WriteLane, &[VARYING, VARYING]);
    catalog.add("writeInvocationAMD", LaneOp::WriteLane, &[PREDICATE, PREDICATE, VARYING]);
}

fn nv_shuffles(catalog: &mut Catalog) {
    let widths: Vec<Input> = NV_WIDTHS.map(Input::constant).into_iter().chain([VARYING]).collect();
    let indices = NV_MOVED_BY.map(Input::constant);
    for mode in MODES {
        for width in &widths {
            for index in indices.iter().chain([&VARYING]) {
                let family = if *index == VARYING { "shuffleNV, dynamic index" } else { "shuffleNV" };
                catalog.moves(family, LaneOp::ShuffleNv(mode), &[*index, *width]);
                catalog.add("threadIdValid", LaneOp::ShuffleNvValid(mode), &[*index, *width]);
            }
        }
    }
}

/// Types that an operator folds.
fn fold_types(op: FoldOp) -> [LaneType; 2] {
    match op {
        FoldOp::And | FoldOp::Or | FoldOp::Xor => [LaneType::U32, LaneType::BOOL],
        _ => [LaneType::I32, LaneType::F32],
    }
}

fn folds(catalog: &mut Catalog) {
    const KINDS: [(&str, FoldKind); 5] = [
        ("reduce", FoldKind::Reduce),
        ("reduce to the lowest lane", FoldKind::ReduceLow),
        ("allReduce", FoldKind::AllReduce),
        ("inclusive", FoldKind::Inclusive),
        ("exclusive", FoldKind::Exclusive),
    ];
    for op in FOLDS {
        for input in fold_types(op).map(Input::varying) {
            for (family, kind) in KINDS {
                for width in widths() {
                    catalog.add(family, LaneOp::Fold { op, kind, width, members: Members::All }, &[input]);
                }
            }
            active_folds(catalog, op, input);
        }
    }
}

/// Khronos and AMD folds over the active lanes.
fn active_folds(catalog: &mut Catalog, op: FoldOp, input: Input) {
    let members = Members::Active;
    for width in widths() {
        let fold = LaneOp::Fold { op, kind: FoldKind::AllReduce, width, members };
        let whole = width == Width::SUBGROUP;
        catalog.add(if whole { "subgroupAdd and others" } else { "subgroupClusteredAdd and others" }, fold, &[input]);
    }
    for kind in [FoldKind::Inclusive, FoldKind::Exclusive] {
        let fold = LaneOp::Fold { op, kind, width: Width::SUBGROUP, members };
        catalog.add("subgroupInclusiveAdd and others", fold, &[input]);
    }
}

fn votes(catalog: &mut Catalog) {
    let segments = widths().map(|width| ("vote of a segment", Group::Segment(width)));
    let groups = [("vote", Group::Subgroup), ("allQuad, anyQuad", Group::Quad), ("anyThreadNV", Group::Warp)];
    for (family, group) in groups.into_iter().chain(segments) {
        for op in [VoteOp::All, VoteOp::Any, VoteOp::Equal] {
            catalog.add(family, LaneOp::Vote { op, group }, &[PREDICATE]);
        }
        catalog.add(family, LaneOp::Vote { op: VoteOp::Equal, group }, &[FLOAT]);
    }
    catalog.add("elect", LaneOp::Elect, &[]);
}

fn ballots(catalog: &mut Catalog) {
    let ballot = Input::varying(LaneType::BALLOT);
    catalog.add("ballot", LaneOp::Ballot(Group::Subgroup), &[PREDICATE]);
    catalog.add("ballotThreadNV", LaneOp::Ballot(Group::Warp), &[PREDICATE]);
    catalog.add("activeThreadsNV", LaneOp::ActiveMask, &[]);
    catalog.add("subgroupInverseBallot", LaneOp::InverseBallot, &[ballot]);
    catalog.add("subgroupBallotBitExtract", LaneOp::BallotBit, &[ballot, VARYING]);
    for count in [CountOp::All, CountOp::Inclusive, CountOp::Exclusive] {
        catalog.add("subgroupBallotBitCount", LaneOp::BallotCount(count), &[ballot]);
    }
    catalog.add("subgroupBallotFindLSB", LaneOp::BallotFindLsb, &[ballot]);
    catalog.add("subgroupBallotFindMSB", LaneOp::BallotFindMsb, &[ballot]);
    let mask = LaneType::scalar(ScalarKind::Uint, 64);
    catalog.add("mbcntAMD", LaneOp::MaskedCount, &[Input::varying(mask)]);
}

fn facts(catalog: &mut Catalog) {
    for group in [Group::Subgroup, Group::Warp, Group::Quad] {
        catalog.add("laneIndex", LaneOp::LaneIndex(group), &[]);
        catalog.add("laneCount", LaneOp::LaneCount(group), &[]);
    }
    for width in widths() {
        catalog.add("laneIndex", LaneOp::LaneIndex(Group::Segment(width)), &[]);
        catalog.add("segmentLast", LaneOp::SegmentLast(width), &[]);
    }
    for op in [MaskOp::Eq, MaskOp::Ge, MaskOp::Gt, MaskOp::Le, MaskOp::Lt] {
        catalog.add("subgroup masks", LaneOp::LaneMask(op, Group::Subgroup), &[]);
        catalog.add("thread masks of NV", LaneOp::LaneMask(op, Group::Warp), &[]);
    }
    catalog.add("subgroup barrier", LaneOp::Sync, &[]);
}

fn sorts(catalog: &mut Catalog) {
    for width in widths() {
        for op in [FoldOp::Add, FoldOp::Min, FoldOp::Max] {
            catalog.add("segmentedReduce", LaneOp::Segmented { op, width }, &[FLOAT, PREDICATE]);
        }
        catalog.add("bitonicSort", LaneOp::Sort { width }, &[FLOAT]);
        catalog.add("bitonicSort with values", LaneOp::Sort { width }, &[FLOAT, VARYING]);
    }
    if let Some(width) = Width::new(8) {
        catalog.add("bitonicSort with values", LaneOp::Sort { width }, &[VARYING, PREDICATE]);
    }
}

/// Folds over partitions: their proof runs loops of a turn for each lane, so that the kinds share the types between them.
const PARTITIONED: [(FoldOp, FoldKind, LaneType); 5] = [
    (FoldOp::Add, FoldKind::AllReduce, LaneType::U32),
    (FoldOp::Add, FoldKind::Inclusive, LaneType::F32),
    (FoldOp::Add, FoldKind::Exclusive, LaneType::U32),
    (FoldOp::Xor, FoldKind::AllReduce, LaneType::BOOL),
    (FoldOp::Xor, FoldKind::Exclusive, LaneType::BOOL),
];

fn partitions(catalog: &mut Catalog) {
    for value in [VARYING, FLOAT, PREDICATE] {
        catalog.add("partition", LaneOp::Partition, &[value]);
    }
    let sets = Input::varying(LaneType::BALLOT);
    for (op, kind, ty) in PARTITIONED {
        catalog.add("partitioned folds", LaneOp::Partitioned { op, kind }, &[Input::varying(ty), sets]);
    }
}
