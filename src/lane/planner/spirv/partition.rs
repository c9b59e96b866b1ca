//! Partitions: by SPV_NV_shader_subgroup_partitioned, else by broadcasts and shuffles.

use crate::lane::op::{CountOp, LaneOp, ReduceKind};
use crate::lane::plan::{AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::reductions::order_matters;
use crate::lane::planner::partition::{self, Ways};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::{GroupOp, GroupReduce};
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "native partition", needs: &[Feature::Partitioned], build: native },
    Rule { name: "native fold of partitions", needs: &[Feature::Partitioned], build: native_reduction },
    Rule {
        name: "comparison with the first lane that is left, in turns",
        needs: &[Feature::Ballot],
        build: |b| partition::partition(b, &WAYS),
    },
    Rule {
        name: "jumps from lane to lane of the partition",
        needs: &[Feature::Shuffle, Feature::Ballot],
        build: |b| partition::fold(b, &WAYS),
    },
];

const WAYS: Ways = Ways {
    end: 128,
    ignores_end: false,
    first: |b, value| b.mover(GroupOp::BroadcastFirst, value, Operand::None),
    ballot: |b, predicate| b.ballot(predicate),
    is_some: |b, ballot| {
        let count = b.group(GroupOp::BallotBitCount(CountOp::All), &[ballot], StepType::Index);
        b.alu(AluOp::Ne, count, Operand::Const(0))
    },
    highest: |b, ballot| b.group(GroupOp::BallotFindMsb, &[ballot], StepType::Index),
    read: |b, value, lane| b.shuffle(value, lane),
};

fn native(b: &mut Builder) -> Answer {
    match b.request.op {
        LaneOp::Partition => Ok(b.group(GroupOp::Partition, &[b.value()], StepType::Ballot)),
        _ => Err(No::NotMine),
    }
}

fn native_reduction(b: &mut Builder) -> Answer {
    let LaneOp::Partitioned { op, kind } = b.request.op else {
        return Err(No::NotMine);
    };
    // The jumps give the same bits everywhere; what an instruction gives is the driver's affair.
    if order_matters(b) {
        return Err(No::NotMine);
    }
    let reach = match kind {
        ReduceKind::Reduce | ReduceKind::ReduceLow | ReduceKind::AllReduce => GroupReduce::Reduce,
        ReduceKind::Inclusive => GroupReduce::Inclusive,
        ReduceKind::Exclusive => GroupReduce::Exclusive,
    };
    let value = b.value();
    Ok(b.group(GroupOp::PartitionedReduce(op, reach), &[value, Operand::Input(1)], b.ty(value)))
}
