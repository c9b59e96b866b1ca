//! The pages: the operations of each, and its examples.

use crate::ir::ScalarKind;
use crate::lane::LaneOp::{self, *};
use crate::lane::Swap::{Butterfly, Reverse};
use crate::lane::{
    CountOp, Group, Input, LaneType, MaskOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, VoteOp, Width,
};

/// One page.
pub struct Topic {
    /// Its file name without the extension, for links.
    pub slug: &'static str,
    pub title: &'static str,
    pub examples: &'static [Example],
}

/// An operation with operands, shown for every profile.
pub struct Example {
    /// How a shader calls it.
    pub call: &'static str,
    pub op: LaneOp,
    pub inputs: &'static [Input],
}

const U32: Input = Input::varying(LaneType::U32);
const F32: Input = Input::varying(LaneType::F32);
const BOOL: Input = Input::varying(LaneType::BOOL);
const BALLOT: Input = Input::varying(LaneType::BALLOT);
const MASK: Input = Input::varying(LaneType::scalar(ScalarKind::Uint, 64));

const W4: Width = Width::new(4).expect("a power of two");
const W8: Width = Width::new(8).expect("a power of two");
const W16: Width = Width::new(16).expect("a power of two");
const W32: Width = Width::new(32).expect("a power of two");

const fn example(call: &'static str, op: LaneOp, inputs: &'static [Input]) -> Example {
    Example { call, op, inputs }
}

const fn fold(op: ReduceOp, kind: ReduceKind, width: Width) -> LaneOp {
    Reduce { op, kind, width, members: Members::All }
}

const fn over_active(op: ReduceOp, kind: ReduceKind, width: Width) -> LaneOp {
    Reduce { op, kind, width, members: Members::Active }
}

const fn topic(slug: &'static str, title: &'static str, examples: &'static [Example]) -> Topic {
    Topic { slug, title, examples }
}

/// All pages, in the order of the table of contents.
pub static TOPICS: &[Topic] = &[
    topic(
        "quad-swizzle",
        "Quad swizzles",
        &[
            example("quadSwizzleX(x)", Quad { mv: QuadMove::X, float_only: false }, &[U32]),
            example("quadSwizzle2(x)", Quad { mv: QuadMove::Lane(2), float_only: false }, &[U32]),
        ],
    ),
    topic(
        "quad-swizzle-operand",
        "Quad swizzles with an operand",
        &[example("quadSwizzleXNV(x, y)", QuadAdd(QuadMove::X), &[F32, F32])],
    ),
    topic(
        "quad-permute",
        "Quad permutes by a mode",
        &[
            example("quadSwizzleAMD(x, 0x1b)", QuadPermute(0x1b), &[U32]),
            example("swizzleInvocationsAMD(x, uvec4(3, 2, 1, 0))", QuadPermuteZero(0x1b), &[U32]),
        ],
    ),
    topic(
        "quad-broadcast",
        "Quad broadcast",
        &[
            example("subgroupQuadBroadcast(x, 2u)", QuadBroadcast, &[U32, Input::constant(2)]),
            example("subgroupQuadBroadcast(x, lane)", QuadBroadcast, &[U32, U32]),
        ],
    ),
    topic(
        "butterfly",
        "Butterflies",
        &[
            example("butterfly8(x)", Swap(Butterfly, W8), &[U32]),
            example("butterfly16(x)", Swap(Butterfly, W16), &[U32]),
            example("butterfly32(x)", Swap(Butterfly, W32), &[U32]),
        ],
    ),
    topic(
        "reverse",
        "Reversals",
        &[
            example("reverse8(x)", Swap(Reverse, W8), &[U32]),
            example("reverse16(x)", Swap(Reverse, W16), &[U32]),
            example("reverse32(x)", Swap(Reverse, W32), &[U32]),
        ],
    ),
    topic(
        "shuffle",
        "Shuffles",
        &[
            example("subgroupShuffleXor(x, 5u)", Shuffle(ShuffleMode::Xor), &[U32, Input::constant(5)]),
            example("subgroupShuffleUp(x, 1u)", Shuffle(ShuffleMode::Up), &[U32, Input::constant(1)]),
            example("subgroupShuffle(x, index)", Shuffle(ShuffleMode::Index), &[U32, U32]),
        ],
    ),
    topic(
        "shuffle-nv",
        "Shuffles in segments, with a predicate",
        &[
            example(
                "shuffleUpNV(x, 1u, 8u)",
                ShuffleNv(ShuffleMode::Up),
                &[U32, Input::constant(1), Input::constant(8)],
            ),
            example(
                "shuffleUpNV(x, 1u, 8u, valid): valid",
                ShuffleNvValid(ShuffleMode::Up),
                &[Input::constant(1), Input::constant(8)],
            ),
            example("shuffleNV(x, index, 8u)", ShuffleNv(ShuffleMode::Index), &[U32, U32, Input::constant(8)]),
        ],
    ),
    topic(
        "rotate",
        "Rotations",
        &[example("subgroupClusteredRotate(x, 3u, 8u)", Rotate(W8), &[U32, Input::constant(3)])],
    ),
    topic("bpermute", "Backward permute", &[example("bpermute(x, index)", Bpermute, &[U32, U32])]),
    topic("permute", "Forward permute", &[example("permute(x, index)", Permute, &[U32, U32])]),
    topic(
        "broadcast",
        "Broadcasts",
        &[
            example("broadcast(x, 1u)", Broadcast, &[U32, Input::constant(1)]),
            example("broadcastFirst(x)", BroadcastFirst, &[U32]),
        ],
    ),
    topic(
        "swizzle-masked",
        "Swizzles by masks",
        &[example("swizzleInvocationsMaskedAMD(x, uvec3(24, 3, 4))", SwizzleMasked { and: 24, or: 3, xor: 4 }, &[U32])],
    ),
    topic("write-lane", "Writing a lane", &[example("writeInvocationAMD(x, y, lane)", WriteLane, &[U32, U32, U32])]),
    topic(
        "reduce",
        "Reductions",
        &[
            example("reduceAdd16(x)", fold(ReduceOp::Add, ReduceKind::Reduce, W16), &[F32]),
            example("reduceAdd(x)", fold(ReduceOp::Add, ReduceKind::Reduce, Width::SUBGROUP), &[F32]),
        ],
    ),
    topic(
        "all-reduce",
        "Reductions in every lane",
        &[
            example("allReduceAdd8(x)", fold(ReduceOp::Add, ReduceKind::AllReduce, W8), &[F32]),
            example(
                "allReduceMax32(x)",
                fold(ReduceOp::Max, ReduceKind::AllReduce, W32),
                &[Input::varying(LaneType::I32)],
            ),
            example("allReduceAnd32(p)", fold(ReduceOp::And, ReduceKind::AllReduce, W32), &[BOOL]),
            example("workgroupAllReduceAdd(x)", fold(ReduceOp::Add, ReduceKind::AllReduce, Width::WORKGROUP), &[F32]),
        ],
    ),
    topic(
        "inclusive",
        "Inclusive scans",
        &[
            example("inclusiveAdd8(x)", fold(ReduceOp::Add, ReduceKind::Inclusive, W8), &[F32]),
            example("inclusiveAdd32(x)", fold(ReduceOp::Add, ReduceKind::Inclusive, W32), &[F32]),
        ],
    ),
    topic(
        "exclusive",
        "Exclusive scans",
        &[
            example("exclusiveAdd8(x)", fold(ReduceOp::Add, ReduceKind::Exclusive, W8), &[F32]),
            example("workgroupExclusiveAdd(x)", fold(ReduceOp::Add, ReduceKind::Exclusive, Width::WORKGROUP), &[U32]),
        ],
    ),
    topic(
        "active-reduce",
        "Reductions over the active lanes",
        &[
            example("subgroupClusteredAdd(x, 8u)", over_active(ReduceOp::Add, ReduceKind::AllReduce, W8), &[F32]),
            example("subgroupAdd(x)", over_active(ReduceOp::Add, ReduceKind::AllReduce, Width::SUBGROUP), &[F32]),
        ],
    ),
    topic(
        "active-scan",
        "Scans over the active lanes",
        &[example(
            "subgroupInclusiveAdd(x)",
            over_active(ReduceOp::Add, ReduceKind::Inclusive, Width::SUBGROUP),
            &[F32],
        )],
    ),
    topic(
        "segmented-reduce",
        "Reductions of runs",
        &[example("segmentedReduceAdd8(x, head)", Segmented { op: ReduceOp::Add, width: W8 }, &[F32, BOOL])],
    ),
    topic(
        "sort",
        "Sorting",
        &[
            example("bitonicSort4(key)", Sort { width: W4 }, &[F32]),
            example("bitonicSort4(key, value)", Sort { width: W4 }, &[F32, U32]),
        ],
    ),
    topic(
        "partition",
        "Partitions",
        &[
            example("subgroupPartitionNV(x)", Partition, &[U32]),
            example(
                "subgroupPartitionedAddNV(x, partition)",
                Partitioned { op: ReduceOp::Add, kind: ReduceKind::AllReduce },
                &[U32, BALLOT],
            ),
        ],
    ),
    topic(
        "vote",
        "Votes",
        &[
            example("subgroupAny(p)", Vote { op: VoteOp::Any, group: Group::Subgroup }, &[BOOL]),
            example("anyQuad(p)", Vote { op: VoteOp::Any, group: Group::Quad }, &[BOOL]),
            example("subgroupAllEqual(x)", Vote { op: VoteOp::Equal, group: Group::Subgroup }, &[F32]),
        ],
    ),
    topic("elect", "Election", &[example("subgroupElect()", Elect, &[])]),
    topic(
        "ballot",
        "Ballots",
        &[
            example("ballot(p)", Ballot(Group::Subgroup), &[BOOL]),
            example("ballotThreadNV(p)", Ballot(Group::Warp), &[BOOL]),
            example("activeThreadsNV()", ActiveMask, &[]),
        ],
    ),
    topic(
        "ballot-bits",
        "Bits of ballots",
        &[
            example("subgroupInverseBallot(b)", InverseBallot, &[BALLOT]),
            example("subgroupBallotBitExtract(b, lane)", BallotBit, &[BALLOT, U32]),
            example("subgroupBallotExclusiveBitCount(b)", BallotCount(CountOp::Exclusive), &[BALLOT]),
            example("subgroupBallotFindLSB(b)", BallotFindLsb, &[BALLOT]),
            example("subgroupBallotFindMSB(b)", BallotFindMsb, &[BALLOT]),
            example("mbcntAMD(m)", MaskedCount, &[MASK]),
        ],
    ),
    topic(
        "lane-index",
        "Lane indices",
        &[
            example("laneIndex()", LaneIndex(Group::Subgroup), &[]),
            example("laneCount()", LaneCount(Group::Subgroup), &[]),
            example("segmentLast8()", SegmentLast(W8), &[]),
        ],
    ),
    topic(
        "lane-masks",
        "Lane masks",
        &[
            example("gl_SubgroupLtMask", LaneMask(MaskOp::Lt, Group::Subgroup), &[]),
            example("gl_ThreadLtMaskNV", LaneMask(MaskOp::Lt, Group::Warp), &[]),
        ],
    ),
    topic("barrier", "Barriers", &[example("subgroupBarrier()", Sync, &[])]),
];

/// The page that an operation is on.
pub const fn slug(op: LaneOp) -> &'static str {
    match op {
        Quad { .. } => "quad-swizzle",
        QuadAdd(_) => "quad-swizzle-operand",
        QuadPermute(_) | QuadPermuteZero(_) => "quad-permute",
        QuadBroadcast => "quad-broadcast",
        Swap(swap, _) => swap.row().name,
        Shuffle(_) => "shuffle",
        ShuffleNv(_) | ShuffleNvValid(_) => "shuffle-nv",
        Rotate(_) => "rotate",
        Bpermute => "bpermute",
        Permute => "permute",
        Broadcast | BroadcastFirst | BroadcastInWorkgroup => "broadcast",
        SwizzleMasked { .. } => "swizzle-masked",
        WriteLane => "write-lane",
        Reduce { kind, members, .. } => reduction_slug(kind, members),
        Segmented { .. } => "segmented-reduce",
        Sort { .. } => "sort",
        Partition | Partitioned { .. } => "partition",
        Vote { .. } => "vote",
        Elect => "elect",
        Ballot(_) | ActiveMask => "ballot",
        InverseBallot | BallotBit | BallotCount(_) | BallotFindLsb | BallotFindMsb | MaskedCount => "ballot-bits",
        LaneIndex(_) | LaneCount(_) | SegmentLast(_) => "lane-index",
        LaneMask(..) => "lane-masks",
        Sync => "barrier",
    }
}

const fn reduction_slug(kind: ReduceKind, members: Members) -> &'static str {
    match (kind, members) {
        (ReduceKind::Reduce | ReduceKind::ReduceLow, Members::All) => "reduce",
        (ReduceKind::AllReduce, Members::All) => "all-reduce",
        (ReduceKind::Inclusive, Members::All) => "inclusive",
        (ReduceKind::Exclusive, Members::All) => "exclusive",
        (ReduceKind::Inclusive | ReduceKind::Exclusive, Members::Active) => "active-scan",
        (_, Members::Active) => "active-reduce",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::catalog;

    #[test]
    fn every_operation_has_its_page() {
        for sample in catalog::all() {
            let slug = slug(sample.op);
            assert!(TOPICS.iter().any(|topic| topic.slug == slug), "{:?} is on no page", sample.op);
        }
    }

    #[test]
    fn examples_are_of_their_page() {
        for topic in TOPICS {
            assert!(!topic.examples.is_empty(), "{}", topic.slug);
            for example in topic.examples {
                assert_eq!(slug(example.op), topic.slug, "{}", example.call);
            }
        }
    }
}
