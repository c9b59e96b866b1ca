//! Cross-lane operations: the vocabulary shared by front ends and planner.
//!
//! Notation of the comments: `i` is the lane's index in its subgroup, `S` the subgroup size, `v[j]` the operand of lane
//! `j`; a segment of width `W` is the aligned block of `W` lanes that contains `i`. Operands are listed in brackets, in
//! order. Unless the comment says "active", an operation is defined only where every lane that it reads is active.

use super::swap::Swap;
use serde::Deserialize;

/// A segment width or cluster size as a power of two; `Width::SUBGROUP` is the whole subgroup, whatever `S` is, and
/// `Width::WORKGROUP` the whole workgroup.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub struct Width(u8);

impl Width {
    pub const SUBGROUP: Width = Width(u8::MAX);
    pub const WORKGROUP: Width = Width(u8::MAX - 1);
    pub const QUAD: Width = Width(2);

    /// The widest segment.
    pub const MOST: u32 = 1024;

    /// A segment of `lanes` lanes; `None` unless that is a power of two up to [`Width::MOST`].
    pub const fn new(lanes: u32) -> Option<Width> {
        if lanes.is_power_of_two() && lanes <= Width::MOST { Some(Width(lanes.trailing_zeros() as u8)) } else { None }
    }

    /// Number of lanes; `None` for the whole subgroup or workgroup.
    pub const fn lanes(self) -> Option<u32> {
        if self.0 >= Width::WORKGROUP.0 { None } else { Some(1 << self.0) }
    }

    /// Number of lanes in a subgroup, or a workgroup, of `size` lanes.
    pub const fn lanes_in(self, size: u32) -> u32 {
        match self.lanes() {
            Some(lanes) => lanes,
            None => size,
        }
    }
}

/// Binary operator of reductions, scans and sorts. `And`, `Or`, `Xor` take integers (bitwise) and bools (logical).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum ReduceOp {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl ReduceOp {
    /// Returns true if combining a value with itself changes nothing.
    pub const fn is_idempotent(self) -> bool {
        matches!(self, ReduceOp::Min | ReduceOp::Max | ReduceOp::And | ReduceOp::Or)
    }

    /// The invertible form of the operator; `None` if it has no inverse.
    pub const fn invertible(self) -> Option<InvertibleOp> {
        match self {
            ReduceOp::Add => Some(InvertibleOp::Add),
            ReduceOp::Xor => Some(InvertibleOp::Xor),
            ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max | ReduceOp::And | ReduceOp::Or => None,
        }
    }
}

/// An operator that can be undone on integers, which wrap, and on bools: `Add` by a difference, `Xor` by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum InvertibleOp {
    Add,
    Xor,
}

impl InvertibleOp {
    /// The operator that it undoes.
    pub const fn folds(self) -> ReduceOp {
        match self {
            InvertibleOp::Add => ReduceOp::Add,
            InvertibleOp::Xor => ReduceOp::Xor,
        }
    }
}

/// The lanes that get the result of a reduction or scan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum ReduceKind {
    /// The result in the segment's highest lane; undefined in the others.
    Reduce,
    /// The result in the segment's lowest lane; undefined in the others.
    ReduceLow,
    /// The result of the whole segment, in every lane.
    AllReduce,
    /// The reduction of the lanes up to and including `i`.
    Inclusive,
    /// The inclusive result of lane `i - 1`; the identity in the segment's first lane.
    Exclusive,
}

impl ReduceKind {
    /// Returns true if each lane gets the combination of the lanes below it.
    pub const fn is_scan(self) -> bool {
        matches!(self, ReduceKind::Inclusive | ReduceKind::Exclusive)
    }
}

/// The lanes whose values an operation combines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum Members {
    /// All lanes of the segment, which must be active.
    All,
    /// The active lanes, whichever they are.
    Active,
}

/// How a shuffle's index operand becomes a source lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum ShuffleMode {
    /// `index` itself.
    Index,
    /// `i ^ index`.
    Xor,
    /// `i - index`.
    Up,
    /// `i + index`.
    Down,
}

/// Moves inside a quad, `v[(i & ~3) | n]` or a swap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum QuadMove {
    /// Lane 0, 1, 2 or 3 of the quad.
    Lane(u8),
    /// `v[i ^ 1]`.
    X,
    /// `v[i ^ 2]`.
    Y,
    /// `v[i ^ 3]`.
    Diagonal,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum VoteOp {
    All,
    Any,
    /// True if all active lanes passed the same value: integers and bools bit for bit, floats by `==`.
    Equal,
}

/// Lanes of an NVIDIA warp, and of the blocks within which AMD's masked swizzles move.
pub const WARP: u32 = 32;

/// A group of lanes for votes, ballots and lane facts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum Group {
    Subgroup,
    Quad,
    /// The 32-lane half that NVIDIA calls a warp (`i & ~31`).
    Warp,
    /// An aligned segment.
    Segment(Width),
}

/// Lanes compared with the lane's index, for masks and partial counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum MaskOp {
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
}

/// The part of a ballot to count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum CountOp {
    All,
    Inclusive,
    Exclusive,
}

/// A cross-lane operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum LaneOp {
    /// `[value]`. `float_only` marks the form that Fermi can run: a subnormal may arrive as zero.
    Quad {
        mv: QuadMove,
        float_only: bool,
    },
    /// `[value, operand]`: the move plus an operand (NV_shader_thread_group).
    QuadAdd(QuadMove),
    /// `[value]`: `v[(i & ~3) | (mode >> 2 * (i & 3)) & 3]`.
    QuadPermute(u8),
    /// `[value]`: the same; 0 from an inactive lane (swizzleInvocationsAMD).
    QuadPermuteZero(u8),
    /// `[value, lane]`: `v[(i & ~3) | lane]`, constant before SPIR-V 1.5.
    QuadBroadcast,
    /// `[value]`: lanes of the segment swap in pairs.
    Swap(Swap, Width),
    /// `[value, index]`: undefined when the source lane is outside the subgroup or inactive.
    Shuffle(ShuffleMode),
    /// `[value, delta]`: `v[base + (local + delta) mod W]`.
    Rotate(Width),
    /// `[value, index]`: `v[index mod S]`.
    Bpermute,
    /// `[value, index]`: the value from the highest active lane whose `index mod S` is `i`; 0 if there is none.
    Permute,
    /// `[value, index, width]`: NV_shader_thread_shuffle; the lane's own value if the source is out of range.
    ShuffleNv(ShuffleMode),
    /// `[index, width]`: true if the source of such a shuffle is in range. `bool`.
    ShuffleNvValid(ShuffleMode),
    /// `[value, lane]`: `v[lane]`, `lane` uniform.
    Broadcast,
    /// `[value]`: value of the lowest active lane.
    BroadcastFirst,
    /// `[value, index]`: the value of an invocation of the workgroup, `index` uniform.
    BroadcastInWorkgroup,
    /// `[value]`: `v[((i & 31 & and) | or) ^ xor]` in each 32 lanes, 0 from an inactive lane.
    SwizzleMasked {
        and: u8,
        or: u8,
        xor: u8,
    },
    /// `[value, new, lane]`: `i == lane ? new : value`.
    WriteLane,

    /// `[value]`.
    Reduce {
        op: ReduceOp,
        kind: ReduceKind,
        width: Width,
        members: Members,
    },
    /// `[value, head]`: inclusive reduction from the nearest lane at or below `i` with `head` set.
    Segmented {
        op: ReduceOp,
        width: Width,
    },
    /// `[value, ballot]`: reduction over the active lanes of the lane's partition (GL_NV_shader_subgroup_partitioned).
    Partitioned {
        op: ReduceOp,
        kind: ReduceKind,
    },
    /// `[value]`: the ballot of the active lanes with the same bits. `uvec4`.
    Partition,
    /// `[key]` or `[key, value]`: ascending order of `(key, value)` within the segment. Returns the keys; with a value
    /// operand, a struct of both.
    Sort {
        width: Width,
    },

    /// `[value]`: over active lanes. `bool`.
    Vote {
        op: VoteOp,
        group: Group,
    },
    /// `[]`: true in the lowest active lane.
    Elect,
    /// `[predicate]`: bits of active lanes; `uvec4` for the subgroup, `uint` for a warp.
    Ballot(Group),
    /// `[ballot]`: the lane's bit. `bool`.
    InverseBallot,
    /// `[ballot, lane]`. `bool`.
    BallotBit,
    /// `[ballot]`: set bits among lanes below `S`. `uint`.
    BallotCount(CountOp),
    /// `[ballot]`. `uint`.
    BallotFindLsb,
    BallotFindMsb,
    /// `[mask]`: bits of a 64-bit mask below this lane. `uint`.
    MaskedCount,

    /// `[]`: `i` (in a warp: `i & 31`). `uint`.
    LaneIndex(Group),
    /// `[]`: `S` (in a warp: `min(S, 32)`). `uint`.
    LaneCount(Group),
    /// `[]`: true if `i` is its segment's highest lane. `bool`.
    SegmentLast(Width),
    /// `[]`: lanes that compare so with the lane's index; `uvec4` for the subgroup, `uint` for a warp.
    LaneMask(MaskOp, Group),
    /// `[]`: active lanes of the lane's warp. `uint`.
    ActiveMask,
    /// `[]`: waits for the active lanes of the subgroup; memory is ordered by an `ir` barrier next to it.
    Sync,
}

impl LaneOp {
    /// The segment width of the operation; `None` for operations without one.
    pub const fn width(mut self) -> Option<Width> {
        match self.stated_width() {
            Some(width) => Some(*width),
            None => None,
        }
    }

    const fn stated_width(&mut self) -> Option<&mut Width> {
        use LaneOp as O;
        match self {
            O::Swap(_, width) | O::Rotate(width) | O::SegmentLast(width) => Some(width),
            O::Reduce { width, .. } | O::Segmented { width, .. } | O::Sort { width } => Some(width),
            O::Quad { .. } | O::QuadPermute(_) | O::QuadPermuteZero(_) | O::QuadAdd(_) | O::QuadBroadcast => None,
            O::Shuffle(_) | O::Bpermute | O::Permute | O::ShuffleNv(_) | O::ShuffleNvValid(_) => None,
            O::Broadcast | O::BroadcastFirst | O::BroadcastInWorkgroup => None,
            O::SwizzleMasked { .. } | O::WriteLane => None,
            O::Partitioned { .. } | O::Partition | O::Vote { .. } | O::Elect | O::Sync => None,
            O::Ballot(_) | O::InverseBallot | O::BallotBit | O::BallotCount(_) => None,
            O::BallotFindLsb | O::BallotFindMsb | O::MaskedCount => None,
            O::LaneIndex(_) | O::LaneCount(_) | O::LaneMask(..) | O::ActiveMask => None,
        }
    }

    /// The operation with the value of a constant argument, in its components: a width, a quad's mode or sources, or
    /// the masks of a swizzle. `None` if they are out of range.
    pub fn with_constants(self, constants: &[u32]) -> Option<LaneOp> {
        let below = |limit: u32| constants.iter().all(|constant| *constant < limit);
        match (self, constants) {
            (LaneOp::QuadPermute(_), [mode]) => u8::try_from(*mode).ok().map(LaneOp::QuadPermute),
            (LaneOp::QuadPermuteZero(_), [a, b, c, d]) if below(4) => {
                Some(LaneOp::QuadPermuteZero((a | b << 2 | c << 4 | d << 6) as u8))
            }
            (LaneOp::SwizzleMasked { .. }, [and, or, xor]) if below(32) => {
                Some(LaneOp::SwizzleMasked { and: *and as u8, or: *or as u8, xor: *xor as u8 })
            }
            (LaneOp::Vote { op, .. }, [lanes]) => {
                Width::new(*lanes).map(|width| LaneOp::Vote { op, group: Group::Segment(width) })
            }
            (_, [lanes]) => Width::new(*lanes).map(|width| self.with_width(width)),
            _ => None,
        }
    }

    /// The operation over segments of another width; unchanged if it has no width.
    #[must_use]
    pub const fn with_width(mut self, width: Width) -> LaneOp {
        if let Some(stated) = self.stated_width() {
            *stated = width;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_say_the_rest_of_an_operation() {
        assert_eq!(LaneOp::QuadPermute(0).with_constants(&[0x1B]), Some(LaneOp::QuadPermute(0x1B)));
        assert_eq!(LaneOp::QuadPermute(0).with_constants(&[256]), None);
        let sources = LaneOp::QuadPermuteZero(0);
        assert_eq!(sources.with_constants(&[3, 2, 1, 0]), Some(LaneOp::QuadPermuteZero(0x1B)));
        assert_eq!(sources.with_constants(&[4, 0, 0, 0]), None);
        let masked = LaneOp::SwizzleMasked { and: 0, or: 0, xor: 0 };
        assert_eq!(masked.with_constants(&[31, 0, 16]), Some(LaneOp::SwizzleMasked { and: 31, or: 0, xor: 16 }));
        assert_eq!(masked.with_constants(&[31, 0]), None);
        let vote = LaneOp::Vote { op: VoteOp::All, group: Group::Segment(Width::SUBGROUP) };
        let quad = Width::new(4).expect("a power of two");
        assert_eq!(vote.with_constants(&[4]), Some(LaneOp::Vote { op: VoteOp::All, group: Group::Segment(quad) }));
    }
}
