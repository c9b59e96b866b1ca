//! Cross-lane instructions: `OpGroupNonUniform…`, SPV_KHR_shader_ballot, SPV_KHR_subgroup_vote and AMD's extensions.

use super::arithmetic::with_kind;
use super::binary::Insn;
use super::body::Body;
use super::fault::Read;
use crate::backend::spirv::inverse::{count_of, reduction_of, swap_of};
use crate::ir::{ScalarKind, Scope, Value, typing};
use crate::lane::{Group, LaneOp, Members, QuadMove, ReduceKind, ReduceOp, Role, ShuffleMode, VoteOp, Width};
use rspirv::spirv::{GroupOperation, Op, SpvAmdShaderBallotOp as Ballot, Word};

/// The form of an instruction: the operation, the index of its first operand, and the number of operands.
type Form = (LaneOp, usize, usize);

const fn vote(op: VoteOp, group: Group) -> LaneOp {
    LaneOp::Vote { op, group }
}

/// Instructions whose opcode alone determines the operation.
const fn plain(op: Op) -> Option<Form> {
    use LaneOp as L;
    let subgroup = Group::Subgroup;
    Some(match op {
        Op::GroupNonUniformElect => (L::Elect, 1, 0),
        Op::GroupNonUniformAll => (vote(VoteOp::All, subgroup), 1, 1),
        Op::GroupNonUniformAny => (vote(VoteOp::Any, subgroup), 1, 1),
        Op::GroupNonUniformAllEqual => (vote(VoteOp::Equal, subgroup), 1, 1),
        Op::GroupNonUniformBroadcast => (L::Broadcast, 1, 2),
        Op::GroupNonUniformBroadcastFirst => (L::BroadcastFirst, 1, 1),
        Op::GroupNonUniformBallot => (L::Ballot(subgroup), 1, 1),
        Op::GroupNonUniformInverseBallot => (L::InverseBallot, 1, 1),
        Op::GroupNonUniformBallotBitExtract => (L::BallotBit, 1, 2),
        Op::GroupNonUniformBallotFindLSB => (L::BallotFindLsb, 1, 1),
        Op::GroupNonUniformBallotFindMSB => (L::BallotFindMsb, 1, 1),
        Op::GroupNonUniformShuffle => (L::Shuffle(ShuffleMode::Index), 1, 2),
        Op::GroupNonUniformShuffleXor => (L::Shuffle(ShuffleMode::Xor), 1, 2),
        Op::GroupNonUniformShuffleUp => (L::Shuffle(ShuffleMode::Up), 1, 2),
        Op::GroupNonUniformShuffleDown => (L::Shuffle(ShuffleMode::Down), 1, 2),
        Op::GroupNonUniformQuadBroadcast => (L::QuadBroadcast, 1, 2),
        Op::GroupNonUniformQuadAllKHR => (vote(VoteOp::All, Group::Quad), 0, 1),
        Op::GroupNonUniformQuadAnyKHR => (vote(VoteOp::Any, Group::Quad), 0, 1),
        Op::GroupNonUniformPartitionEXT => (L::Partition, 0, 1),
        Op::SubgroupBallotKHR => (L::Ballot(subgroup), 0, 1),
        Op::SubgroupFirstInvocationKHR => (L::BroadcastFirst, 0, 1),
        Op::SubgroupReadInvocationKHR => (L::Broadcast, 0, 2),
        Op::SubgroupAllKHR => (vote(VoteOp::All, subgroup), 0, 1),
        Op::SubgroupAnyKHR => (vote(VoteOp::Any, subgroup), 0, 1),
        Op::SubgroupAllEqualKHR => (vote(VoteOp::Equal, subgroup), 0, 1),
        _ => return None,
    })
}

impl<'w> Body<'_, '_, 'w> {
    /// Returns true for cross-lane instructions.
    pub fn is_lane(op: Op) -> bool {
        let others = matches!(
            op,
            Op::GroupNonUniformBallotBitCount | Op::GroupNonUniformQuadSwap | Op::GroupNonUniformRotateKHR
        );
        others || plain(op).is_some() || reduction_of(op).is_some()
    }

    pub fn lane(&mut self, insn: &Insn<'w>) -> Read<()> {
        let form = match (plain(insn.op), reduction_of(insn.op)) {
            (Some(form), _) => form,
            (None, Some((op, kind, _))) => return self.reduce(insn, op, kind),
            (None, None) => self.form(insn)?,
        };
        let (op, first, count) = form;
        if first == 1 {
            self.check_scope(insn)?;
        }
        let ids = insn.args.get(first..first + count).ok_or_else(|| insn.wrong("an operand is missing"))?;
        let args = self.values(insn, ids)?;
        self.emit_lane(insn, op, args)
    }

    /// Operations are over the subgroup.
    fn check_scope(&mut self, insn: &Insn<'w>) -> Read<()> {
        match self.scope(insn, insn.arg(0)?)? {
            Scope::Subgroup => Ok(()),
            _ => Err(insn.unread("an operation over other invocations than those of the subgroup is not read")),
        }
    }

    /// Instructions of which a constant operand determines the operation.
    fn form(&mut self, insn: &Insn<'w>) -> Read<Form> {
        Ok(match insn.op {
            Op::GroupNonUniformQuadSwap => {
                let direction = self.r.known(self.b.module, insn, insn.arg(2)?)?;
                let mv = swap_of(direction).ok_or_else(|| insn.wrong("there is no such direction"))?;
                (quad(mv), 1, 1)
            }
            Op::GroupNonUniformRotateKHR => {
                let width = match insn.args.get(3) {
                    Some(width) => self.width(insn, *width)?,
                    None => Width::SUBGROUP,
                };
                (LaneOp::Rotate(width), 1, 2)
            }
            _ => {
                let count = GroupOperation::from_u32(insn.arg(1)?).and_then(count_of);
                let count = count.ok_or_else(|| insn.wrong("it does not count so"))?;
                self.check_scope(insn)?;
                (LaneOp::BallotCount(count), 2, 1)
            }
        })
    }

    fn width(&mut self, insn: &Insn<'w>, id: Word) -> Read<Width> {
        let lanes = self.r.known(self.b.module, insn, id)?;
        Width::new(lanes).ok_or_else(|| insn.wrong(format!("a cluster has {lanes} lanes")))
    }

    fn reduce(&mut self, insn: &Insn<'w>, op: ReduceOp, kind: ScalarKind) -> Read<()> {
        use GroupOperation as G;
        self.check_scope(insn)?;
        let operation = GroupOperation::from_u32(insn.arg(1)?).ok_or_else(|| insn.wrong("no such group operation"))?;
        let value = self.value(insn, insn.arg(2)?)?;
        let value = self.of_kind(insn, value, kind)?;
        let over = |kind, width| LaneOp::Reduce { op, kind, width, members: Members::Active };
        let (lane, more) = match operation {
            G::Reduce => (over(ReduceKind::AllReduce, Width::SUBGROUP), None),
            G::InclusiveScan => (over(ReduceKind::Inclusive, Width::SUBGROUP), None),
            G::ExclusiveScan => (over(ReduceKind::Exclusive, Width::SUBGROUP), None),
            G::ClusteredReduce => (over(ReduceKind::AllReduce, self.width(insn, insn.arg(3)?)?), None),
            G::PartitionedReduceEXT => (LaneOp::Partitioned { op, kind: ReduceKind::AllReduce }, Some(insn.arg(3)?)),
            G::PartitionedInclusiveScanEXT => {
                (LaneOp::Partitioned { op, kind: ReduceKind::Inclusive }, Some(insn.arg(3)?))
            }
            G::PartitionedExclusiveScanEXT => {
                (LaneOp::Partitioned { op, kind: ReduceKind::Exclusive }, Some(insn.arg(3)?))
            }
        };
        let mut args = vec![value];
        if let Some(ballot) = more {
            args.push(self.value(insn, ballot)?);
        }
        self.emit_lane(insn, lane, args)
    }

    /// A value as numbers of the kind that an operation works on.
    fn of_kind(&mut self, insn: &Insn<'w>, value: Value, kind: ScalarKind) -> Read<Value> {
        let ty = self.b.type_of(value);
        let scalar = self.b.module.types.scalar_of(ty);
        let is_sign_alike =
            matches!(insn.op, Op::GroupNonUniformIAdd | Op::GroupNonUniformIMul | Op::GroupIAddNonUniformAMD)
                || matches!(
                    insn.op,
                    Op::GroupNonUniformBitwiseAnd | Op::GroupNonUniformBitwiseOr | Op::GroupNonUniformBitwiseXor
                );
        match scalar {
            Some(scalar) if scalar.is_int() && is_sign_alike => Ok(value),
            Some(scalar) if scalar.is_int() && matches!(kind, ScalarKind::Sint | ScalarKind::Uint) => {
                Ok(with_kind(&mut self.b, value, kind))
            }
            Some(scalar) if scalar.kind == kind => Ok(value),
            _ => Err(insn.wrong("its operand has a type that it does not take")),
        }
    }

    /// Checks the operands as the operation's signature lists them, and emits it.
    pub fn emit_lane(&mut self, insn: &Insn<'w>, op: LaneOp, mut args: Vec<Value>) -> Read<()> {
        let signature = op.signature();
        let (least, most) = signature.arity();
        if !(least..=most).contains(&args.len()) {
            return Err(insn.wrong("it does not have as many operands as it needs"));
        }
        for (index, param) in signature.params.iter().enumerate().take(args.len()) {
            if matches!(param.role, Role::Ballot | Role::Partition | Role::Mask) {
                args[index] = with_kind(&mut self.b, args[index], ScalarKind::Uint);
            }
            let (ty, first) = (self.b.type_of(args[index]), self.b.type_of(args[0]));
            if !typing::has_role(&self.b.module.types, param.role, ty, first) {
                return Err(insn.wrong(format!("operand {index} has a type that it does not take")));
            }
        }
        let types: Vec<_> = args.iter().map(|arg| self.b.type_of(*arg)).collect();
        let ty = typing::lane(&mut self.b.module.types, op, &types);
        let value = self.b.lane(op, ty, &args);
        self.deliver(insn, value)
    }

    /// An instruction of SPV_AMD_shader_ballot's set.
    pub fn amd_ballot(&mut self, insn: &Insn<'w>, number: Word, ids: &[Word]) -> Read<()> {
        let known = Ballot::from_u32(number).ok_or_else(|| insn.wrong("there is no such instruction in its set"))?;
        let (op, taken) = match known {
            Ballot::SwizzleInvocationsAMD => (self.with_constants(insn, LaneOp::QuadPermuteZero(0), ids)?, 1),
            Ballot::SwizzleInvocationsMaskedAMD => {
                (self.with_constants(insn, LaneOp::SwizzleMasked { and: 0, or: 0, xor: 0 }, ids)?, 1)
            }
            Ballot::WriteInvocationAMD => (LaneOp::WriteLane, 3),
            Ballot::MbcntAMD => (LaneOp::MaskedCount, 1),
        };
        let ids = ids.get(..taken).ok_or_else(|| insn.wrong("an operand is missing"))?;
        let args = self.values(insn, ids)?;
        self.emit_lane(insn, op, args)
    }

    fn with_constants(&mut self, insn: &Insn<'w>, op: LaneOp, ids: &[Word]) -> Read<LaneOp> {
        let id = *ids.get(1).ok_or_else(|| insn.wrong("an operand is missing"))?;
        let constant = self.r.constant(insn, id)?;
        let (types, constants) = (&self.b.module.types, &self.b.module.constants);
        let parts: Vec<Word> = constants.as_ints(types, constant).iter().map(|part| *part as Word).collect();
        op.with_constants(&parts).ok_or_else(|| insn.wrong("its constant is out of range"))
    }
}

const fn quad(mv: QuadMove) -> LaneOp {
    LaneOp::Quad { mv, float_only: false }
}
