//! Partitions: by SPV_NV_shader_subgroup_partitioned, otherwise by broadcasts and shuffles.

use super::ballots;
use crate::lane::op::{LaneOp, ReduceKind, ReduceOp};
use crate::lane::plan::{AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::reductions::order_matters;
use crate::lane::planner::partition::{self, Segment, Set, Ways};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::{GroupOp, GroupReduce};
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "native partition", needs: &[Feature::Partitioned], build: native },
    Rule { name: "native reduction of partitions", needs: &[Feature::PartitionedFolds], build: native_reduction },
    Rule { name: "native scan of partitions", needs: &[Feature::PartitionedScans], build: native_scan },
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
    is_some: ballots::is_some,
    highest: ballots::highest,
    read: |b, value, lane| b.shuffle(value, lane),
};

/// The reduction or scan of the active lanes of each segment.
pub fn jumps(b: &mut Builder) -> Answer {
    let LaneOp::Reduce { op, width, kind, .. } = b.request.op else {
        return Err(No::NotMine);
    };
    let members = b.ballot(Operand::Bool(true));
    let bounds = |lanes: &u32| *lanes < b.most_lanes();
    let segment = width.lanes().filter(bounds).map(|lanes| Segment { lanes, highest: ballots::highest_of_segment });
    Ok(partition::fold_of(b, &WAYS, Set { members, segment }, op, kind))
}

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
    // The jumps give the same bits everywhere; an instruction's result depends on the driver.
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

/// Any reduction of integers by an exclusive scan: the lane's own value is combined last, and the highest lane has the
/// total.
fn native_scan(b: &mut Builder) -> Answer {
    let LaneOp::Partitioned { op, kind } = b.request.op else {
        return Err(No::NotMine);
    };
    let of_extremes = matches!(op, ReduceOp::Min | ReduceOp::Max);
    // Floats are reduced in an unspecified order; jumps keep the lane order.
    if of_extremes || b.request.inputs[0].ty.is_float() {
        return Err(No::NotMine);
    }
    let (value, set) = (b.value(), Operand::Input(1));
    let below = b.group(GroupOp::PartitionedReduce(op, GroupReduce::Exclusive), &[value, set], b.ty(value));
    if kind == ReduceKind::Exclusive {
        return Ok(below);
    }
    let inclusive = b.combine(op, below, value);
    if kind == ReduceKind::Inclusive {
        return Ok(inclusive);
    }
    let active = b.ballot(Operand::Bool(true));
    let members = b.alu(AluOp::BallotAnd, active, set);
    let last = ballots::highest(b, members);
    Ok(b.shuffle(inclusive, last))
}
