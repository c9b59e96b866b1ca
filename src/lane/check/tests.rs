//! Proves the plan of every operation, width and type on every profile, and that changed plans are refused.

use super::{Effort, check};
use crate::lane::catalog::{self, Sample};
use crate::lane::op::LaneOp;
use crate::lane::plan::Plan;
use crate::lane::{Refusal, plan};
use crate::profile::{Profile, Target};
use std::collections::HashSet;

/// SPIR-V's profiles at every size, with and without the promised order; the unknown size first. NVIDIA's and AMD's as they are.
fn profiles() -> Vec<Profile> {
    let sizes = [None, Some(4), Some(8), Some(16), Some(32), Some(64), Some(128)];
    let sized = |profile: Profile| sizes.into_iter().map(move |size| profile.clone().with_wave_size(size));
    let ordered = |profile: Profile| [false, true].map(|reproducible| Profile { reproducible, ..profile.clone() });
    let of = |target| Profile::all().filter(move |profile| profile.target == target);
    of(Target::Spirv).flat_map(sized).flat_map(ordered).chain(of(Target::Nv)).chain(of(Target::Amd)).collect()
}

/// The plan, or none where a refusal is right.
fn planned(sample: &Sample, profile: &Profile) -> Option<Plan> {
    match plan(&sample.request(), profile) {
        Ok(plan) => Some(plan),
        Err(Refusal::NotYet | Refusal::TooWide { .. }) => None,
        Err(Refusal::NoHardware { .. }) if profile.target != Target::Spirv => None,
        Err(refusal) => panic!("{sample:?} on {}: {refusal}", profile.name),
    }
}

/// Proves all plans of the operations that are wanted; a plan is proven once for each size at which it occurs.
fn prove(wanted: fn(LaneOp) -> bool) {
    let samples: Vec<Sample> = catalog::all().into_iter().filter(|sample| wanted(sample.op)).collect();
    let (mut seen, mut cases, mut runs) = (HashSet::new(), 0, 0);
    for profile in profiles() {
        for sample in &samples {
            let Some(plan) = planned(sample, &profile) else { continue };
            cases += 1;
            let ordered = profile.reproducible && sample.inputs.first().is_some_and(|input| input.ty.is_float());
            let key = (sample.clone(), ordered, format!("{plan:?}"));
            // A plan for any size was proven at all of them.
            if !seen.contains(&(key.clone(), None)) && seen.insert((key, profile.wave_size)) {
                runs += check(&sample.request(), &profile, &plan, Effort::Quick)
                    .unwrap_or_else(|wrong| panic!("{wrong}\n{sample:?} on {profile:?}\n{plan:?}"));
            }
        }
    }
    println!("{cases} plans proven, {} of them different, in {runs} runs", seen.len());
}

#[test]
fn folds_are_right() {
    prove(|op| matches!(op, LaneOp::Fold { .. }));
}

#[test]
fn sorts_and_runs_are_right() {
    prove(|op| matches!(op, LaneOp::Sort { .. } | LaneOp::Segmented { .. }));
}

#[test]
fn nv_shuffles_are_right() {
    prove(|op| matches!(op, LaneOp::ShuffleNv(_) | LaneOp::ShuffleNvValid(_)));
}

#[test]
fn everything_else_is_right() {
    use LaneOp as O;
    prove(|op| {
        !matches!(op, O::Fold { .. } | O::Sort { .. } | O::Segmented { .. } | O::ShuffleNv(_) | O::ShuffleNvValid(_))
    });
}
