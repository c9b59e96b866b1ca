//! Every plan of every AMD profile is proven, and the best known sequences are counted.

use crate::lane::catalog::{self, Sample};
use crate::lane::check::{Effort, check};
use crate::lane::op::LaneOp;
use crate::lane::request::Refusal;
use crate::lane::{Activity, Candidates, Request, candidates};
use crate::profile::{Profile, Target};

fn profiles() -> impl Iterator<Item = Profile> {
    Profile::all().filter(|profile| profile.target == Target::Amd)
}

/// Proves all candidates of the operations that are wanted, with nothing known of the active lanes and with all active.
fn prove(wanted: fn(LaneOp) -> bool) {
    let samples: Vec<Sample> = catalog::all().into_iter().filter(|sample| wanted(sample.op)).collect();
    let mut count = 0;
    for profile in profiles() {
        for sample in &samples {
            for activity in [Activity::Any, Activity::Full] {
                let request = Request { activity, ..sample.request() };
                count += prove_candidates(&request, &profile);
            }
        }
    }
    println!("{count} candidates proven");
}

fn prove_candidates(request: &Request, profile: &Profile) -> usize {
    let Candidates { chosen, others, .. } = match candidates(request, profile) {
        Ok(found) => found,
        Err(Refusal::TooWide { .. } | Refusal::NotYet) => return 0,
        Err(refusal) => panic!("{request:?} on {}: {refusal}", profile.name),
    };
    for candidate in std::iter::once(&chosen).chain(&others) {
        let plan = &candidate.plan;
        check(request, profile, plan, Effort::Quick)
            .unwrap_or_else(|wrong| panic!("{wrong}\n{request:?} on {}\n{plan:#?}", profile.name));
    }
    1 + others.len()
}

fn is_move(op: LaneOp) -> bool {
    use LaneOp as O;
    matches!(
        op,
        O::Quad { .. }
            | O::QuadAdd(_)
            | O::QuadPermute(_)
            | O::QuadPermuteZero(_)
            | O::QuadBroadcast
            | O::Butterfly(_)
            | O::Shuffle(_)
            | O::Rotate(_)
            | O::Bpermute
            | O::Permute
            | O::Broadcast
            | O::BroadcastFirst
            | O::SwizzleMasked { .. }
            | O::WriteLane
    )
}

#[test]
fn moves_are_right() {
    prove(is_move);
}

#[test]
fn nv_shuffles_are_right() {
    prove(|op| matches!(op, LaneOp::ShuffleNv(_) | LaneOp::ShuffleNvValid(_)));
}

#[test]
fn timing() {
    let profile = Profile::named("gfx900").unwrap();
    let samples: Vec<Sample> = catalog::all().into_iter().filter(|sample| is_move(sample.op)).collect();
    for sample in &samples {
        let start = std::time::Instant::now();
        let found = candidates(&sample.request(), &profile);
        let plan_time = start.elapsed();
        let start = std::time::Instant::now();
        if let Ok(found) = &found {
            let _ = check(&sample.request(), &profile, &found.chosen.plan, Effort::Quick);
        }
        println!("{:?} {:?} plan {plan_time:?} check {:?}", sample.op, found.map(|f| (f.chosen.plan.rule, f.chosen.cost.to_string())), start.elapsed());
    }
}
