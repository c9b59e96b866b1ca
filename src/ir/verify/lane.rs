//! Rules of cross-lane operations: what [`LaneOp`] lists as operands and results.

use super::body::Body;
use super::{Check, ensure};
use crate::ir::{Scalar, ScalarKind, Type, TypeId, Types, Values};
use crate::lane::{FoldOp, Group, LaneOp, VoteOp};

/// What an operand of a cross-lane operation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Any scalar or vector.
    Data,
    /// Integers or floats.
    Number,
    /// Integers or bools.
    Bits,
    /// A scalar number, to sort by.
    Key,
    /// Any scalar.
    Scalar,
    /// The type of the first operand.
    Same,
    Bool,
    /// A 32-bit integer: a lane, a distance or a width.
    Index,
    /// Four `u32`.
    Ballot,
    /// A 64-bit unsigned integer.
    Mask,
}

/// What a cross-lane operation gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gives {
    /// The type of the first operand.
    Data,
    Bool,
    U32,
    Ballot,
    /// The key, or key and value.
    Sorted,
    Nothing,
}

/// Operands and result. Not complete for [`LaneOp::Sort`], which takes a value too if it is given one.
fn signature(op: LaneOp) -> (&'static [Kind], Gives) {
    use Kind::*;
    match op {
        LaneOp::Quad { .. }
        | LaneOp::QuadPermute(_)
        | LaneOp::QuadPermuteZero(_)
        | LaneOp::Butterfly(_)
        | LaneOp::BroadcastFirst
        | LaneOp::SwizzleMasked { .. } => (&[Data], Gives::Data),
        LaneOp::QuadAdd(_) => (&[Number, Same], Gives::Data),
        LaneOp::QuadBroadcast
        | LaneOp::Shuffle(_)
        | LaneOp::Rotate(_)
        | LaneOp::Bpermute
        | LaneOp::Permute
        | LaneOp::Broadcast => (&[Data, Index], Gives::Data),
        LaneOp::ShuffleNv(_) => (&[Data, Index, Index], Gives::Data),
        LaneOp::ShuffleNvValid(_) => (&[Index, Index], Gives::Bool),
        LaneOp::WriteLane => (&[Data, Same, Index], Gives::Data),
        LaneOp::Fold { op, .. } => (if is_bitwise(op) { &[Bits] } else { &[Number] }, Gives::Data),
        LaneOp::Segmented { op, .. } => (if is_bitwise(op) { &[Bits, Bool] } else { &[Number, Bool] }, Gives::Data),
        LaneOp::Partitioned { op, .. } => {
            (if is_bitwise(op) { &[Bits, Ballot] } else { &[Number, Ballot] }, Gives::Data)
        }
        LaneOp::Partition => (&[Data], Gives::Ballot),
        LaneOp::Sort { .. } => (&[Key], Gives::Sorted),
        LaneOp::Vote { op: VoteOp::Equal, .. } => (&[Data], Gives::Bool),
        LaneOp::Vote { .. } => (&[Bool], Gives::Bool),
        LaneOp::Elect | LaneOp::SegmentLast(_) => (&[], Gives::Bool),
        LaneOp::Ballot(group) => (&[Bool], lanes_of(group)),
        LaneOp::InverseBallot => (&[Ballot], Gives::Bool),
        LaneOp::BallotBit => (&[Ballot, Index], Gives::Bool),
        LaneOp::BallotCount(_) | LaneOp::BallotFindLsb | LaneOp::BallotFindMsb => (&[Ballot], Gives::U32),
        LaneOp::MaskedCount => (&[Mask], Gives::U32),
        LaneOp::LaneIndex(_) | LaneOp::LaneCount(_) | LaneOp::ActiveMask => (&[], Gives::U32),
        LaneOp::LaneMask(_, group) => (&[], lanes_of(group)),
        LaneOp::Sync => (&[], Gives::Nothing),
    }
}

fn is_bitwise(op: FoldOp) -> bool {
    matches!(op, FoldOp::And | FoldOp::Or | FoldOp::Xor)
}

/// Bits of a group of lanes: a subgroup may have 128, any other group 32.
fn lanes_of(group: Group) -> Gives {
    if group == Group::Subgroup { Gives::Ballot } else { Gives::U32 }
}

impl Body<'_> {
    pub fn lane(&mut self, op: LaneOp, ty: TypeId, args: Values) -> Check {
        let args = self.list_types(args)?;
        let (mut kinds, gives) = signature(op);
        if matches!(op, LaneOp::Sort { .. }) && args.len() == 2 {
            kinds = &[Kind::Key, Kind::Scalar];
        }
        ensure!(args.len() == kinds.len(), "{} operands instead of {}", args.len(), kinds.len());
        for (index, (arg, kind)) in args.iter().zip(kinds).enumerate() {
            ensure!(self.is_lane_kind(*kind, *arg, args[0]), "operand {index} is {}, not {kind:?}", self.name(*arg));
        }
        let expected = match gives {
            Gives::Data => args[0],
            Gives::Bool => Types::BOOL,
            Gives::U32 => Types::U32,
            Gives::Ballot => self.types.vector(Scalar::U32, 4),
            Gives::Nothing => Types::VOID,
            Gives::Sorted if args.len() == 2 => self.types.pair(args[0], args[1]),
            Gives::Sorted => args[0],
        };
        self.expect_members(ty, expected)
    }

    fn is_lane_kind(&self, kind: Kind, ty: TypeId, first: TypeId) -> bool {
        let Ok((scalar, size)) = self.shape(ty) else { return false };
        match kind {
            Kind::Data => true,
            Kind::Number => !scalar.is_bool(),
            Kind::Bits => !scalar.is_float(),
            Kind::Key => size == 1 && !scalar.is_bool(),
            Kind::Scalar => size == 1,
            Kind::Same => ty == first,
            Kind::Bool => ty == Types::BOOL,
            Kind::Index => size == 1 && scalar.is_int() && scalar.width == 32,
            Kind::Ballot => scalar == Scalar::U32 && size == 4,
            Kind::Mask => self.types.get(ty) == Type::Scalar(Scalar { kind: ScalarKind::Uint, width: 64 }),
        }
    }
}
