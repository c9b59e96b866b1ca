//! The operands, the result and the reach of each operation, in one table.
//!
//! Users of the table are the verifiers of both forms, the lowering between them, the simulator, the checker, the
//! planner, the warnings and the pictures. A new operation needs a row here, a meaning ([`meaning`](super::meaning)),
//! and rules in the planners.

use super::op::{CountOp, Group, LaneOp, QuadMove, ReduceKind, ReduceOp, ShuffleMode, VoteOp, WARP, Width};

/// The purpose of an operand, which determines its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Any scalar or vector. Its bits are passed on unchanged, so that structs and arrays move member by member.
    Data,
    /// Another value to pass on, of the type of the first operand.
    Same,
    /// Any scalar or vector, to be compared for equality.
    Class,
    /// Integers or floats, for arithmetic.
    Number,
    /// Another number, of the type of the first operand.
    SameNumber,
    /// Integers or bools, for bitwise or logical operators.
    Bits,
    /// A scalar number, to sort by.
    Key,
    /// Any scalar, which moves with its key.
    Rider,
    Bool,
    /// A 32-bit integer: a lane or a distance.
    Index,
    /// A 32-bit integer: the segment width of an NVIDIA shuffle.
    NvWidth,
    /// Four `u32` that are a set of lanes.
    Ballot,
    /// Four `u32` with the lanes of the lane's class.
    Partition,
    /// A 64-bit unsigned integer that is a set of lanes.
    Mask,
}

impl Role {
    /// Returns true for sets of lanes that are masks in the kernel form.
    pub const fn is_ballot(self) -> bool {
        matches!(self, Role::Ballot | Role::Partition)
    }

    /// Returns true for values that are passed on or computed with; the other operands control what happens to them.
    pub const fn is_value(self) -> bool {
        use Role as R;
        matches!(self, R::Data | R::Same | R::Class | R::Number | R::SameNumber | R::Bits | R::Key | R::Rider)
    }
}

/// One operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name in pictures.
    pub name: &'static str,
    pub role: Role,
}

/// The result of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gives {
    /// The type of the first operand.
    Data,
    Bool,
    /// A `u32` that numbers a lane.
    Lane,
    /// A `u32` that counts lanes.
    Count,
    /// Any other `u32`.
    U32,
    /// Four `u32` that are a set of lanes.
    Ballot,
    /// The key, or the key and the value that goes with it.
    Sorted,
    Nothing,
}

/// The parts of a wave's state on which a lane's result depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depends {
    /// The subgroup's size.
    Size,
    /// The lane's number and the subgroup's size.
    Lane,
    /// The lane's own operands and the subgroup's size.
    Operands,
    /// The operands of the span's active lanes, all of which get the same result.
    Span,
    /// The values of the lanes that the other operands name: the result is uniform where these operands are.
    Named,
    /// Anything.
    Any,
}

/// The lanes that an operation refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Span {
    Segment(Width),
    Group(Group),
    /// The segment whose width is the operand with the role [`Role::NvWidth`].
    Operand,
}

impl Span {
    /// The width of the span's segments; `None` if an operand determines it.
    pub const fn width(self) -> Option<Width> {
        match self {
            Span::Segment(width) | Span::Group(Group::Segment(width)) => Some(width),
            Span::Group(Group::Quad) => Some(Width::QUAD),
            Span::Group(Group::Warp) => Width::new(WARP),
            Span::Group(Group::Subgroup) => Some(Width::SUBGROUP),
            Span::Operand => None,
        }
    }

    /// Minimum number of lanes, regardless of the subgroup size; 1 if that size or an operand decides.
    pub const fn lanes(self) -> u32 {
        match (self, self.width()) {
            (Span::Group(Group::Warp), _) | (_, None) => 1,
            (_, Some(width)) => width.lanes_in(1),
        }
    }

    /// Returns true if every span of a subgroup of this size is the whole subgroup.
    pub const fn is_whole(self, size: u32) -> bool {
        match self.width() {
            Some(width) => width.lanes_in(size) >= size,
            None => false,
        }
    }
}

/// The lanes of its span that an operation reads and that must be active for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reads {
    /// No other lane, or only active ones.
    Active,
    /// One lane.
    One,
    /// Every lane.
    All,
}

/// Operations that the same rules plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Moves inside quads.
    Quad,
    Move,
    /// Shuffles of NV_shader_thread_shuffle.
    NvShuffle,
    Reduce,
    Scan,
    Sort,
    Vote,
    /// Ballots, and facts of a lane about itself.
    Fact,
    Partition,
}

/// Everything about an operation except its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    pub family: Family,
    pub params: &'static [Param],
    /// Number of trailing operands that are optional.
    pub optional: usize,
    pub gives: Gives,
    pub depends: Depends,
    pub span: Span,
    pub reads: Reads,
    /// The segment in which the index must be uniform.
    pub uniform: Option<Width>,
    /// The segment that bounds the index; if the index is not below its number of lanes, the result is undefined in
    /// every lane.
    pub bound: Option<Width>,
    /// The segment modulo whose size the index counts: only the low bits matter.
    pub modulo: Option<Width>,
    /// True if a lane's indices and sets affect only its own result.
    pub decides_alone: bool,
}

const fn param(name: &'static str, role: Role) -> Param {
    Param { name, role }
}

const VALUE: Param = param("before", Role::Data);
const INDEX: Param = param("index", Role::Index);
const LANE: Param = param("lane", Role::Index);
const DELTA: Param = param("delta", Role::Index);
const WIDTH: Param = param("width", Role::NvWidth);
const PREDICATE: Param = param("before", Role::Bool);
const BALLOT: Param = param("ballot", Role::Ballot);
const SETS: Param = param("ballot", Role::Partition);
const HEAD: Param = param("head", Role::Bool);
const NUMBER: Param = param("before", Role::Number);
const BITS: Param = param("before", Role::Bits);
const OPERAND: Param = param("operand", Role::SameNumber);
const NEW: Param = param("new", Role::Same);
const CLASS: Param = param("before", Role::Class);
const KEYS: Param = param("keys", Role::Key);
const RIDERS: Param = param("values", Role::Rider);
const MASK: Param = param("ballot", Role::Mask);

impl Signature {
    const fn new(family: Family, params: &'static [Param], gives: Gives, span: Span) -> Signature {
        Signature {
            family,
            params,
            optional: 0,
            gives,
            depends: Depends::Any,
            span,
            reads: Reads::Active,
            uniform: None,
            bound: None,
            modulo: None,
            decides_alone: false,
        }
    }

    /// A value that comes from another lane or is computed.
    const fn value(family: Family, params: &'static [Param], width: Width) -> Signature {
        Signature::new(family, params, Gives::Data, Span::Segment(width))
    }

    /// A fact of a lane about itself.
    const fn fact(gives: Gives, group: Group) -> Signature {
        Signature::new(Family::Fact, &[], gives, Span::Group(group))
    }

    /// An answer about a set of lanes.
    const fn of_ballot(params: &'static [Param], gives: Gives) -> Signature {
        Signature::new(Family::Fact, params, gives, Span::Group(Group::Subgroup)).alone()
    }

    const fn depends(self, depends: Depends) -> Signature {
        Signature { depends, ..self }
    }

    const fn reads(self, reads: Reads) -> Signature {
        Signature { reads, ..self }
    }

    const fn uniform(self, width: Width) -> Signature {
        Signature { uniform: Some(width), ..self }
    }

    const fn bound(self, width: Width) -> Signature {
        Signature { bound: Some(width), ..self }
    }

    const fn modulo(self, width: Option<Width>) -> Signature {
        Signature { modulo: width, ..self }
    }

    const fn alone(self) -> Signature {
        Signature { decides_alone: true, ..self }
    }

    /// The minimum and maximum number of operands.
    pub const fn arity(&self) -> (usize, usize) {
        (self.params.len() - self.optional, self.params.len())
    }

    /// The role of operand `n`.
    pub fn role(&self, n: usize) -> Option<Role> {
        self.params.get(n).map(|param| param.role)
    }

    /// The number of the first operand with a role.
    pub fn position(&self, role: Role) -> Option<usize> {
        self.params.iter().position(|param| param.role == role)
    }

    /// The significant bits of an index in a subgroup of `size` lanes.
    pub const fn index_bits(&self, size: u32) -> u32 {
        match self.modulo {
            Some(width) => width.lanes_in(size) - 1,
            None => u32::MAX,
        }
    }

    /// Returns true if a lane's index and the subgroup size determine its result.
    pub const fn is_known_by_lane(&self) -> bool {
        matches!(self.depends, Depends::Size | Depends::Lane)
    }

    /// Number of leading operands whose bits are passed on.
    pub fn moved(&self) -> usize {
        self.params.iter().take_while(|param| matches!(param.role, Role::Data | Role::Same)).count()
    }
}

/// Bits of a group of lanes: a subgroup may have 128, any other group 32.
const fn lanes_of(group: Group) -> Gives {
    if matches!(group, Group::Subgroup) { Gives::Ballot } else { Gives::U32 }
}

/// One of two operand lists: And, Or and Xor take bits, the other operators numbers.
const fn folded(op: ReduceOp, bits: &'static [Param], numbers: &'static [Param]) -> &'static [Param] {
    if matches!(op, ReduceOp::And | ReduceOp::Or | ReduceOp::Xor) { bits } else { numbers }
}

impl LaneOp {
    /// Lanes of the segment that a width states, in the operation or as the value of its last operand. `None` if there is
    /// no width, or the value is not known.
    pub fn stated_lanes(self, last: impl FnOnce() -> Option<u32>) -> Option<u32> {
        let signature = self.signature();
        match signature.span {
            Span::Operand => last(),
            // Other facts are defined whichever lanes there are.
            _ if signature.params.is_empty() => self.width().and_then(Width::lanes),
            Span::Segment(width) | Span::Group(Group::Segment(width)) => width.lanes(),
            Span::Group(_) => None,
        }
    }

    /// The operation's row of the table.
    pub const fn signature(self) -> Signature {
        use Family as F;
        use LaneOp as O;
        use Signature as S;
        const ALL: Width = Width::SUBGROUP;
        match self {
            // Subnormals may be lost, so this is limited to floats.
            O::Quad { mv, float_only } => {
                let depends = if matches!(mv, QuadMove::Lane(_)) { Depends::Span } else { Depends::Any };
                let value: &[Param] = if float_only { &[NUMBER] } else { &[VALUE] };
                S::value(F::Quad, value, Width::QUAD).depends(depends).reads(Reads::All)
            }
            O::QuadPermute(_) => S::value(F::Quad, &[VALUE], Width::QUAD).reads(Reads::All),
            O::QuadPermuteZero(_) => S::value(F::Quad, &[VALUE], Width::QUAD),
            O::QuadAdd(_) => S::value(F::Quad, &[NUMBER, OPERAND], Width::QUAD).reads(Reads::All),
            O::QuadBroadcast => {
                let quad = S::value(F::Quad, &[VALUE, LANE], Width::QUAD).depends(Depends::Span).reads(Reads::One);
                quad.uniform(Width::QUAD).bound(Width::QUAD)
            }
            O::Swap(_, width) => S::value(F::Move, &[VALUE], width).reads(Reads::All),
            O::Shuffle(mode) => {
                let depends = if matches!(mode, ShuffleMode::Index) { Depends::Named } else { Depends::Any };
                let is_distance = matches!(mode, ShuffleMode::Up | ShuffleMode::Down);
                let params: &[Param] = if is_distance { &[VALUE, DELTA] } else { &[VALUE, INDEX] };
                S::value(F::Move, params, ALL).depends(depends).reads(Reads::One).bound(ALL).alone()
            }
            O::Rotate(width) => {
                S::value(F::Move, &[VALUE, DELTA], width).reads(Reads::One).uniform(ALL).modulo(Some(width))
            }
            O::Bpermute => {
                let moved = S::value(F::Move, &[VALUE, INDEX], ALL).depends(Depends::Named).reads(Reads::One);
                moved.modulo(Some(ALL)).alone()
            }
            O::Permute => S::value(F::Move, &[VALUE, INDEX], ALL).modulo(Some(ALL)),
            O::ShuffleNv(_) => {
                let moved = S::new(F::NvShuffle, &[VALUE, INDEX, WIDTH], Gives::Data, Span::Operand).reads(Reads::One);
                moved.modulo(Width::new(WARP)).alone()
            }
            O::ShuffleNvValid(_) => {
                let asked = S::new(F::NvShuffle, &[INDEX, WIDTH], Gives::Bool, Span::Operand);
                asked.modulo(Width::new(WARP)).alone()
            }
            O::Broadcast => {
                S::value(F::Move, &[VALUE, LANE], ALL).depends(Depends::Span).reads(Reads::One).uniform(ALL).bound(ALL)
            }
            O::BroadcastFirst => S::value(F::Move, &[VALUE], ALL).depends(Depends::Span),
            O::BroadcastInWorkgroup => {
                const WHOLE: Width = Width::WORKGROUP;
                let moved = S::value(F::Move, &[VALUE, INDEX], WHOLE).depends(Depends::Span);
                moved.reads(Reads::One).uniform(WHOLE).bound(WHOLE)
            }
            O::SwizzleMasked { .. } => S::new(F::Move, &[VALUE], Gives::Data, Span::Group(Group::Warp)),
            O::WriteLane => S::value(F::Move, &[VALUE, NEW, LANE], ALL).uniform(ALL).alone(),
            O::Reduce { op, kind, width, members } => {
                let reads = if matches!(members, super::Members::All) { Reads::All } else { Reads::Active };
                let depends = if matches!(kind, ReduceKind::AllReduce) { Depends::Span } else { Depends::Any };
                let family = if kind.is_scan() { F::Scan } else { F::Reduce };
                S::value(family, folded(op, &[BITS], &[NUMBER]), width).depends(depends).reads(reads)
            }
            O::Segmented { op, width } => {
                S::value(F::Scan, folded(op, &[BITS, HEAD], &[NUMBER, HEAD]), width).reads(Reads::All)
            }
            O::Partitioned { op, .. } => {
                S::value(F::Partition, folded(op, &[BITS, SETS], &[NUMBER, SETS]), ALL).alone()
            }
            O::Partition => S::new(F::Partition, &[CLASS], Gives::Ballot, Span::Segment(ALL)),
            O::Sort { width } => Signature {
                optional: 1,
                ..S::new(F::Sort, &[KEYS, RIDERS], Gives::Sorted, Span::Segment(width)).reads(Reads::All)
            },
            O::Vote { op: VoteOp::Equal, group } => {
                S::new(F::Vote, &[CLASS], Gives::Bool, Span::Group(group)).depends(Depends::Span)
            }
            O::Vote { group, .. } => {
                S::new(F::Vote, &[PREDICATE], Gives::Bool, Span::Group(group)).depends(Depends::Span)
            }
            O::Ballot(group) => {
                S::new(F::Fact, &[PREDICATE], lanes_of(group), Span::Group(group)).depends(Depends::Span)
            }
            O::InverseBallot => S::of_ballot(&[BALLOT], Gives::Bool),
            O::BallotBit => S::of_ballot(&[BALLOT, LANE], Gives::Bool).depends(Depends::Operands).bound(ALL),
            O::BallotCount(CountOp::All) => S::of_ballot(&[BALLOT], Gives::Count).depends(Depends::Operands),
            O::BallotCount(_) => S::of_ballot(&[BALLOT], Gives::Count),
            // For an empty ballot, hardware returns other numbers.
            O::BallotFindLsb | O::BallotFindMsb => S::of_ballot(&[BALLOT], Gives::U32).depends(Depends::Operands),
            O::MaskedCount => S::of_ballot(&[MASK], Gives::Count),
            O::Elect => Signature { family: F::Vote, ..S::fact(Gives::Bool, Group::Subgroup) },
            O::SegmentLast(width) => S::fact(Gives::Bool, Group::Segment(width)).depends(Depends::Lane),
            O::LaneIndex(group) => S::fact(Gives::Lane, group).depends(Depends::Lane),
            O::LaneCount(group) => S::fact(Gives::Count, group).depends(Depends::Size),
            O::LaneMask(_, group) => S::fact(lanes_of(group), group).depends(Depends::Lane),
            O::ActiveMask => S::fact(Gives::U32, Group::Warp).depends(Depends::Span),
            O::Sync => S::fact(Gives::Nothing, Group::Subgroup),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::catalog;

    #[test]
    fn rows_are_complete() {
        for sample in catalog::all() {
            let (op, row) = (sample.op, sample.op.signature());
            assert!((row.arity().0..=row.arity().1).contains(&sample.inputs.len()), "{op:?}");
            let index = row.position(Role::Index);
            assert!(index.is_some() || row.uniform.is_none() && row.bound.is_none() && row.modulo.is_none(), "{op:?}");
            assert_eq!(row.span == Span::Operand, row.position(Role::NvWidth).is_some(), "{op:?}");
            assert!(op.width().is_none_or(|width| row.span.lanes() == width.lanes_in(1)), "{op:?}");
        }
    }
}
