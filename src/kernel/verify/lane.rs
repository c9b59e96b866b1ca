//! Cross-lane operations and primitives.

use super::operation::Signature;
use super::{Check, Verifier, ensure};
use crate::ir::Scalar;
use crate::kernel::{InstId, Op, Ty};
use crate::lane::primitive::{LdsOp, NvOp, PermlaneOp, ScalarOp};
use crate::lane::{Gives, GroupOp, LaneOp, Param, Primitive, Role, VoteOp};

impl Verifier<'_> {
    pub fn lane(&self, inst: InstId, op: LaneOp, ty: [Scalar; 2]) -> Check<Signature> {
        let (count, row) = (self.kernel.args(inst).len(), op.signature());
        let (least, most) = row.arity();
        ensure!((least..=most).contains(&count), "it takes {least} to {most} operands");
        let operand = |(param, at): (&Param, usize)| match param.role {
            Role::Ballot | Role::Partition => Ty::Mask,
            Role::Index | Role::NvWidth => Ty::B32,
            _ => Ty::of(ty[at]),
        };
        // All operands after the first are of the second type, except lanes and widths.
        let args = row.params.iter().zip([0, 1, 1]).take(count).map(operand).collect();
        Ok(Signature { args, results: results(row.gives, ty, count) })
    }

    pub fn primitive(&self, inst: InstId, op: Op) -> Check<Signature> {
        let args = self.kernel.args(inst).len();
        match op {
            Op::CombineMoved { ty, primitive, .. } => {
                let index = primitive.instruction().index_operands();
                ensure!(args == 2 + index || args == 3 + index, "it has no operand that is moved");
                let mut types = vec![Ty::of(ty); args - index];
                types.extend(vec![Ty::B32; index]);
                Ok(Signature::new(types, [Ty::of(ty)]))
            }
            Op::Prim { primitive, ty } => {
                // A varying mask becomes a scalar mask in the same way as a number.
                let first = self.kernel.args(inst).first().map(|value| self.kernel.ty(*value));
                let masks = primitive == ScalarOp::ReadFirstLane.into() && first == Some(Ty::Mask);
                moved_or_asked(primitive, if masks { Ty::Mask } else { Ty::of(ty) }, args)
            }
            _ => Err("it is not a primitive".to_owned()),
        }
    }
}

/// Types of the results, if operands have these types.
fn results(gives: Gives, ty: [Scalar; 2], count: usize) -> Vec<Ty> {
    match gives {
        Gives::Nothing => vec![],
        Gives::Sorted => ty.iter().take(count).map(|ty| Ty::of(*ty)).collect(),
        Gives::Bool => vec![Ty::Bool],
        Gives::Ballot => vec![Ty::Mask],
        Gives::Lane | Gives::Count | Gives::U32 => vec![Ty::B32],
        Gives::Data => vec![Ty::of(ty[0])],
    }
}

/// Checks the operands and the result of a primitive with this many operands, whose values have the type `ty`.
fn moved_or_asked(primitive: Primitive, ty: Ty, count: usize) -> Check<Signature> {
    use GroupOp as G;
    Ok(match primitive {
        Primitive::Group(G::Vote(VoteOp::Equal)) => Signature::new([ty], [Ty::Bool]),
        Primitive::Group(G::Vote(_) | G::QuadVote(_)) | Primitive::Nv(NvOp::Vote(_)) => {
            Signature::new([Ty::Bool], [Ty::Bool])
        }
        Primitive::Group(G::Elect) => Signature::new([], [Ty::Bool]),
        Primitive::Group(G::Ballot) | Primitive::Nv(NvOp::Ballot) => Signature::new([Ty::Bool], [Ty::Mask]),
        Primitive::Scalar(ScalarOp::Ballot | ScalarOp::BallotFalse) => Signature::new([Ty::Bool], [Ty::Mask]),
        Primitive::Scalar(ScalarOp::OwnBit) => Signature::new([Ty::Mask], [Ty::Bool]),
        Primitive::Group(G::InverseBallot) => Signature::new([Ty::Mask], [Ty::Bool]),
        Primitive::Group(G::BallotBitExtract) => Signature::new([Ty::Mask, Ty::B32], [Ty::Bool]),
        Primitive::Group(G::BallotBitCount(_) | G::BallotFindLsb | G::BallotFindMsb) => {
            Signature::new([Ty::Mask], [Ty::B32])
        }
        Primitive::Group(G::MaskedCountAmd) => Signature::new([Ty::B64], [Ty::B32]),
        Primitive::Group(G::WriteAmd) => Signature::new([ty, ty, Ty::B32], [ty]),
        Primitive::Group(G::Partition) | Primitive::Nv(NvOp::Match) => Signature::new([ty], [Ty::Mask]),
        Primitive::Group(G::PartitionedReduce(..)) => Signature::new([ty, Ty::Mask], [ty]),
        Primitive::Group(G::Sync) | Primitive::Nv(NvOp::Sync) => Signature::new([], []),
        Primitive::Group(G::Reduce(..) | G::ReduceAmd(..)) | Primitive::Nv(NvOp::Reduce(_)) => {
            Signature::new([ty], [ty])
        }
        Primitive::Nv(NvOp::MatchAll) => Signature::new([ty], [Ty::Bool]),
        Primitive::Nv(NvOp::ShuffleValid(_)) => Signature::new([Ty::B32, Ty::B32], [Ty::Bool]),
        Primitive::Scalar(ScalarOp::CountBelowLow | ScalarOp::CountBelowHigh) => {
            Signature::new([Ty::Mask, Ty::B32], [Ty::B32])
        }
        Primitive::Scalar(ScalarOp::Active) => Signature::new([], [Ty::Mask]),
        Primitive::Scalar(ScalarOp::CountLanes | ScalarOp::LowestLane | ScalarOp::LanesAbove) => {
            Signature::new([Ty::Mask], [Ty::B32])
        }
        Primitive::Scalar(ScalarOp::WholeQuads) => Signature::new([Ty::Mask], [Ty::Mask]),
        mover => moved(mover, ty, count)?,
    })
}

/// A move takes the value, the old value if it may keep it, and its index operands.
fn moved(primitive: Primitive, ty: Ty, count: usize) -> Check<Signature> {
    let index = primitive.instruction().index_operands();
    let values = count.checked_sub(index).ok_or("operands are missing")?;
    ensure!(values == 1 || values == 2 && may_keep(primitive), "it moves one value");
    let mut types = vec![ty; values];
    types.extend(vec![Ty::B32; index]);
    Ok(Signature::new(types, [ty]))
}

/// Returns true if a move may leave the destination's old value in some lanes, or takes two values.
fn may_keep(primitive: Primitive) -> bool {
    match primitive {
        Primitive::Dpp16(_) | Primitive::Dpp8(_) | Primitive::Scalar(ScalarOp::WriteLane) => true,
        Primitive::Permlane(op) => !matches!(op, PermlaneOp::Shared { .. }),
        Primitive::Lds(op) => matches!(op, LdsOp::Swizzle(_) | LdsOp::Bpermute { .. }),
        _ => false,
    }
}
