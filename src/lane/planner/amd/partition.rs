//! Partitions: sets of equal lanes by READFIRSTLANE in turns, and their reductions by lane reads through the local data
//! share.

use super::facts::{find, some};
use super::moves::read_lane;
use crate::lane::plan::{AluOp, Operand, StepType};
use crate::lane::planner::Rule;
use crate::lane::planner::build::Builder;
use crate::lane::planner::partition::{self, Ways};
use crate::lane::primitive::ScalarOp;
use crate::lane::request::LaneType;

pub static RULES: &[Rule] = &[
    Rule { name: "comparison with READFIRSTLANE, in turns", needs: &[], build: |b| partition::partition(b, &WAYS) },
    Rule { name: "jumps from lane to lane of the partition", needs: &[], build: |b| partition::fold(b, &WAYS) },
];

const WAYS: Ways = Ways {
    end: 128,
    ignores_end: false,
    first: |b, value| b.prim(ScalarOp::ReadFirstLane, &[value], b.ty(value)),
    ballot: |b, predicate| match predicate {
        Operand::Bool(true) => b.prim(ScalarOp::Active, &[], StepType::Ballot),
        _ => b.prim(ScalarOp::Ballot, &[predicate], StepType::Ballot),
    },
    is_some: some,
    highest: |b, ballot| find(b, ballot, AluOp::FindMsb, 1),
    read,
};

/// A bool crosses lanes as a number.
fn read(b: &mut Builder, value: Operand, lane: Operand) -> Operand {
    let size = b.lanes();
    if b.request.ty(b.ty(value)) != LaneType::BOOL {
        return read_lane(b, value, lane, size);
    }
    let number = b.select(value, Operand::Const(1), Operand::Const(0));
    let moved = read_lane(b, number, lane, size);
    b.alu(AluOp::Ne, moved, Operand::Const(0))
}
