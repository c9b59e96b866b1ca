//! Reductions of segments and of active lanes.

use super::ballots;
use super::partition::jumps;
use crate::lane::op::Width;
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::reductions::{Reduction, all_active, one_lane, order_matters, reduction};
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::GroupReduce;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule { name: "reduction of one lane", needs: &[], build: one_lane },
    Rule { name: "tree of butterflies in the promised order", needs: &[Feature::Shuffle], build: promised_tree },
    Rule {
        name: "tree in the promised order if all lanes are active, otherwise a native reduction",
        needs: &[Feature::Shuffle, Feature::Ballot],
        build: promised_if_full,
    },
    Rule { name: "native reduction", needs: &[Feature::Arithmetic], build: native_whole },
    Rule { name: "AMD's native reduction", needs: &[Feature::ShaderBallotAmd], build: native_whole_amd },
    Rule { name: "native reduction of segments", needs: &[Feature::Clustered], build: native_segments },
    Rule { name: "tree of butterflies", needs: &[Feature::Shuffle], build: any_tree },
    Rule {
        name: "jumps from active lane to active lane",
        needs: &[Feature::Shuffle, Feature::Ballot],
        build: jumps_in_its_place,
    },
];

fn promised_tree(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if order_matters(b) && all_active(b, fold.members) { Ok(tree(b, fold)) } else { Err(No::NotMine) }
}

fn promised_if_full(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if !order_matters(b) {
        return Err(No::NotMine);
    }
    let native = native(b).or_else(|_| jumps(b))?;
    let ordered = tree(b, fold);
    let full = is_full(b);
    Ok(b.select(full, ordered, native))
}

/// True if all lanes of the subgroup are active.
pub fn is_full(b: &mut Builder) -> Operand {
    let active = b.ballot(Operand::Bool(true));
    let (count, size) = (ballots::count_of_lanes(b, active), b.size());
    b.alu(AluOp::Eq, count, size)
}

fn native_whole(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if !b.is_whole(fold.width) {
        return Err(No::NotMine);
    }
    b.need(Feature::Arithmetic)?;
    Ok(b.native_reduction(fold.op, GroupReduce::Reduce))
}

fn native_whole_amd(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if b.is_whole(fold.width) { b.native_reduction_amd(fold.op, GroupReduce::Reduce) } else { Err(No::NotMine) }
}

/// If the order matters, earlier rules use a native reduction only for partial subgroups.
fn native_segments(b: &mut Builder) -> Answer {
    if order_matters(b) { Err(No::NotMine) } else { native_clustered(b) }
}

fn native_clustered(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if b.is_whole(fold.width) {
        return Err(No::NotMine);
    }
    b.need(Feature::Clustered)?;
    Ok(b.native_reduction(fold.op, GroupReduce::Clustered(fold.width)))
}

fn native(b: &mut Builder) -> Answer {
    native_whole(b).or_else(|_| native_whole_amd(b)).or_else(|_| native_clustered(b))
}

/// The jumps take many times as long as an instruction or shuffles at fixed distances. They are for cases where neither
/// works.
fn jumps_in_its_place(b: &mut Builder) -> Answer {
    let members = reduction(b)?.members;
    if all_active(b, members) || native(b).is_ok() { Err(No::NotMine) } else { jumps(b) }
}

fn any_tree(b: &mut Builder) -> Answer {
    let fold = reduction(b)?;
    if all_active(b, fold.members) { Ok(tree(b, fold)) } else { Err(No::NotMine) }
}

/// The balanced tree over ascending lane distance.
fn tree(b: &mut Builder, fold: Reduction) -> Operand {
    let mut folded = b.value();
    for level in 0..b.most_in(fold.width).ilog2() {
        let distance = 1 << level;
        let other = b.shuffle_xor(folded, Operand::Const(distance));
        let next = b.combine(fold.op, folded, other);
        let exists = distance_exists(b, fold.width, distance);
        folded = b.select(exists, next, folded);
    }
    folded
}

/// True if segments have lanes at this distance. The test happens at run time only if the subgroup size is unknown.
fn distance_exists(b: &mut Builder, width: Width, distance: u32) -> Operand {
    match width.lanes() {
        Some(_) => Operand::Bool(true),
        None => {
            let size = b.size();
            b.alu(AluOp::Gt, size, Operand::Const(distance))
        }
    }
}
