//! Every plan of every AMD profile is proven, and the best known sequences are counted.

mod counts;

use crate::lane::catalog::{self, Sample};
use crate::lane::check::{Effort, check};
use crate::lane::op::{LaneOp, ReduceKind, ReduceOp, ShuffleMode};
use crate::lane::request::{Input, LaneType, Refusal};
use crate::lane::{Activity, Candidates, Family, Plan, Request, candidates};
use crate::profile::Profile;
use std::collections::HashSet;

/// One profile for each kind of hardware with different move instructions.
const KINDS: [&str; 9] = [
    "gfx701",
    "gfx803",
    "gfx942",
    "gfx950",
    "gfx1030-wave32",
    "gfx1030-wave64",
    "gfx1100-wave64",
    "gfx1201-wave32",
    "gfx1201-wave64",
];

fn named(name: &str) -> Profile {
    Profile::named(name).expect("a profile")
}

/// Returns true if a sample represents all that differ from it only in the operator: a sum of floats, whose order
/// counts, a product of integers, which has no DPP form, and a logical operator.
fn stands_for_others(op: LaneOp) -> bool {
    match op {
        LaneOp::Reduce { op, .. } | LaneOp::Segmented { op, .. } => {
            matches!(op, ReduceOp::Add | ReduceOp::Mul | ReduceOp::And)
        }
        _ => true,
    }
}

/// Proves all candidates of the selected operations, including the rejected ones, both with unknown active lanes and
/// with all lanes active. (The tests of all profiles prove the chosen candidates of all operators.)
fn prove(wanted: fn(LaneOp) -> bool) {
    let samples: Vec<Sample> =
        catalog::all().into_iter().filter(|sample| wanted(sample.op) && stands_for_others(sample.op)).collect();
    let (mut seen, mut count) = (HashSet::new(), 0);
    for profile in KINDS.map(named) {
        for (n, sample) in samples.iter().enumerate() {
            for activity in [Activity::Any, Activity::Full] {
                let request = Request { activity, ..sample.request() };
                for plan in plans(&request, &profile) {
                    count += 1;
                    if seen.insert((n, activity, profile.wave_size, format!("{plan:?}"))) {
                        check(&request, &profile, &plan, Effort::Quick)
                            .unwrap_or_else(|wrong| panic!("{wrong}\n{request:?} on {}\n{plan:#?}", profile.name));
                    }
                }
            }
        }
    }
    println!("{count} candidates proven, {} of them different", seen.len());
}

fn plans(request: &Request, profile: &Profile) -> Vec<Plan> {
    match candidates(request, profile) {
        Ok(Candidates { chosen, others, .. }) => {
            std::iter::once(chosen).chain(others).map(|candidate| candidate.plan).collect()
        }
        Err(Refusal::TooWide { .. } | Refusal::NotYet) => Vec::new(),
        Err(refusal) => panic!("{request:?} on {}: {refusal}", profile.name),
    }
}

fn is_move(op: LaneOp) -> bool {
    matches!(op.signature().family, Family::Quad | Family::Move)
}

#[test]
fn moves_are_right() {
    prove(is_move);
}

#[test]
fn nv_shuffles_are_right() {
    prove(|op| matches!(op, LaneOp::ShuffleNv(_) | LaneOp::ShuffleNvValid(_)));
}

/// Indices that depend only on the lane are lane maps, found without a rule for each and proven.
#[test]
fn computed_indices_are_lane_maps() {
    let indices: [fn(u32) -> u32; 8] = [
        |i| i ^ 5,
        |i| i ^ 21,
        |i| i ^ 31,
        |i| (i & !7) | 3,
        |i| (i & !15) | ((i + 5) & 15),
        |i| (i & !31) | ((i + 1) & 31),
        |i| (i & !31) | ((i & 31) / 2),
        |i| (i & !31) | ((i & 31).reverse_bits() >> 27),
    ];
    for profile in KINDS.map(named) {
        let lanes = profile.wave_size.expect("a size");
        for (n, index) in indices.iter().enumerate() {
            let row: Vec<u32> = (0..lanes).map(index).collect();
            let inputs = [Input::varying(LaneType::U32); 2];
            for activity in [Activity::Any, Activity::Full] {
                let (op, index) = (LaneOp::Shuffle(ShuffleMode::Index), Some(row.as_slice()));
                let request =
                    Request { op, inputs: (&inputs).into(), activity, index: index.map(Into::into), fragment: false };
                let found = plans(&request, &profile);
                for plan in &found {
                    check(&request, &profile, plan, Effort::Quick)
                        .unwrap_or_else(|wrong| panic!("{wrong}\nindex {n} on {}\n{plan:#?}", profile.name));
                }
                let cost = candidates(&request, &profile).expect("a plan").chosen.cost;
                println!("{:15} index {n} {activity:?}: {}: {cost}", profile.name, found[0].rule);
                let moves_in_rows = n == 0 || n == 3 || n == 4;
                assert!(!moves_in_rows || cost.lds == 0 || &*profile.name == "gfx701", "{}: {cost}", profile.name);
            }
        }
    }
}

#[test]
fn folds_are_right() {
    prove(|op| {
        matches!(op, LaneOp::Reduce { kind: ReduceKind::Reduce | ReduceKind::ReduceLow | ReduceKind::AllReduce, .. })
    });
}

#[test]
fn scans_are_right() {
    prove(|op| matches!(op, LaneOp::Reduce { kind: ReduceKind::Inclusive | ReduceKind::Exclusive, .. }));
}

#[test]
fn scans_of_runs_are_right() {
    prove(|op| matches!(op, LaneOp::Segmented { .. }));
}

#[test]
fn sorts_are_right() {
    prove(|op| matches!(op, LaneOp::Sort { .. }));
}

#[test]
fn masks_are_right() {
    prove(|op| {
        !is_move(op)
            && !matches!(
                op,
                LaneOp::Reduce { .. } | LaneOp::Segmented { .. } | LaneOp::Sort { .. } | LaneOp::ShuffleNv(_)
            )
    });
}
