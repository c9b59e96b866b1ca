//! The subgroup built-ins that naga knows (WGSL 17.12), which work on the active lanes.

use super::Outcome;
use super::function::{Body, Slot};
use crate::diagnostic::Code;
use crate::ir::{Scalar, Value};
use crate::lane::{Group, LaneOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, VoteOp, Width};
use naga::{CollectiveOperation, Direction, Expression, GatherMode, Handle, Statement, SubgroupOperation};

fn fold_op(of: SubgroupOperation) -> Option<ReduceOp> {
    Some(match of {
        SubgroupOperation::Add => ReduceOp::Add,
        SubgroupOperation::Mul => ReduceOp::Mul,
        SubgroupOperation::Min => ReduceOp::Min,
        SubgroupOperation::Max => ReduceOp::Max,
        SubgroupOperation::And => ReduceOp::And,
        SubgroupOperation::Or => ReduceOp::Or,
        SubgroupOperation::Xor => ReduceOp::Xor,
        SubgroupOperation::All | SubgroupOperation::Any => return None,
    })
}

fn collective_op(of: SubgroupOperation, how: CollectiveOperation) -> LaneOp {
    let Some(op) = fold_op(of) else {
        let op = if of == SubgroupOperation::All { VoteOp::All } else { VoteOp::Any };
        return LaneOp::Vote { op, group: Group::Subgroup };
    };
    let kind = match how {
        CollectiveOperation::Reduce => ReduceKind::AllReduce,
        CollectiveOperation::InclusiveScan => ReduceKind::Inclusive,
        CollectiveOperation::ExclusiveScan => ReduceKind::Exclusive,
    };
    LaneOp::Reduce { op, kind, width: Width::SUBGROUP, members: Members::Active }
}

impl Body<'_, '_, '_> {
    /// A statement that works across lanes; any other is refused.
    pub(super) fn lane_statement(&mut self, statement: &Statement, at: naga::Span) -> Outcome<()> {
        let (result, value) = match statement {
            Statement::SubgroupBallot { result, predicate } => (*result, self.ballot(*predicate)?),
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                (*result, self.collective(*op, *collective_op, *argument)?)
            }
            Statement::SubgroupGather { mode, argument, result } => match self.carrier_at(*result)? {
                Some(value) => (*result, value),
                None => (*result, self.gather(*mode, *argument)?),
            },
            _ => return Err(self.shader.unsupported("this statement", at)),
        };
        self.set(result, Slot::Value(value));
        Ok(())
    }

    /// The ballot of a predicate, or of the active lanes.
    fn ballot(&mut self, predicate: Option<Handle<Expression>>) -> Outcome<Value> {
        let predicate = match predicate {
            Some(of) => self.value(of)?,
            None => self.b.const_bool(true),
        };
        let ty = self.b.module.types.vector(Scalar::U32, 4);
        Ok(self.b.lane(LaneOp::Ballot(Group::Subgroup), ty, &[predicate]))
    }

    pub(super) fn collective(
        &mut self,
        op: SubgroupOperation,
        how: CollectiveOperation,
        argument: Handle<Expression>,
    ) -> Outcome<Value> {
        let value = self.value(argument)?;
        let ty = self.b.type_of(value);
        let is_bool = self.b.module.types.scalar_of(ty).is_some_and(Scalar::is_bool);
        let is_arithmetic = matches!(fold_op(op), Some(ReduceOp::Add | ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max));
        if is_bool && is_arithmetic {
            let at = self.expression_span(argument);
            return Err(self.shader.fail(
                Code::WGSL_INVALID,
                "sums, products, minima and maxima over the subgroup take numbers",
                at,
                "this is a `bool`",
            ));
        }
        Ok(self.b.lane(collective_op(op, how), ty, &[value]))
    }

    pub(super) fn gather(&mut self, mode: GatherMode, argument: Handle<Expression>) -> Outcome<Value> {
        let value = self.value(argument)?;
        let ty = self.b.type_of(value);
        let (op, index) = match mode {
            GatherMode::BroadcastFirst => (LaneOp::BroadcastFirst, None),
            GatherMode::Broadcast(lane) => {
                self.lane_below(lane, 128, "`subgroupBroadcast` takes a lane from 0 to 127")?;
                (LaneOp::Broadcast, Some(lane))
            }
            GatherMode::Shuffle(index) => (LaneOp::Shuffle(ShuffleMode::Index), Some(index)),
            GatherMode::ShuffleXor(mask) => (LaneOp::Shuffle(ShuffleMode::Xor), Some(mask)),
            GatherMode::ShuffleUp(delta) => (LaneOp::Shuffle(ShuffleMode::Up), Some(delta)),
            GatherMode::ShuffleDown(delta) => (LaneOp::Shuffle(ShuffleMode::Down), Some(delta)),
            GatherMode::QuadBroadcast(lane) => (quad(QuadMove::Lane(self.quad_lane(lane)?)), None),
            GatherMode::QuadSwap(Direction::X) => (quad(QuadMove::X), None),
            GatherMode::QuadSwap(Direction::Y) => (quad(QuadMove::Y), None),
            GatherMode::QuadSwap(Direction::Diagonal) => (quad(QuadMove::Diagonal), None),
        };
        let mut operands = vec![value];
        if let Some(index) = index {
            operands.push(self.value(index)?);
        }
        Ok(self.b.lane(op, ty, &operands))
    }

    /// WGSL 17.12: a constant lane must be within bounds.
    fn lane_below(&mut self, lane: Handle<Expression>, bound: i128, message: &str) -> Outcome<()> {
        let at = self.expression_span(lane);
        match self.constant_int(lane)? {
            Some(known) if !(0..bound).contains(&known) => {
                Err(self.shader.fail(Code::ARGUMENT_RANGE, message, at, "not such a lane"))
            }
            _ => Ok(()),
        }
    }

    /// WGSL 17.13.1: a constant below 4.
    fn quad_lane(&mut self, lane: Handle<Expression>) -> Outcome<u8> {
        let at = self.expression_span(lane);
        match self.constant_int(lane)? {
            Some(lane @ 0..=3) => Ok(lane as u8),
            Some(_) => {
                Err(self.shader.fail(Code::ARGUMENT_RANGE, "a quad has lanes 0 to 3", at, "not a lane of the quad"))
            }
            None => Err(self.shader.fail(
                Code::ARGUMENT_NOT_CONSTANT,
                "the lane of `quadBroadcast` must be a constant",
                at,
                "not a constant",
            )),
        }
    }
}

fn quad(mv: QuadMove) -> LaneOp {
    LaneOp::Quad { mv, float_only: false }
}
