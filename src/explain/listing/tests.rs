//! Lines of plans against what the plans are priced as.

use super::list;
use crate::lane::catalog;
use crate::lane::{Activity, Request, cost, planner};
use crate::profile::{Profile, Target};

/// One profile of AMD of each kind that plans alike. The lines for NVIDIA are those of a whole program.
fn assembly() -> Vec<Profile> {
    let mut all: Vec<Profile> = Vec::new();
    for profile in Profile::all().filter(|profile| profile.target == Target::Amd) {
        if !all.iter().any(|other| other.plans_like(&profile)) {
            all.push(profile);
        }
    }
    all
}

/// Whether the plan has lines; its instructions and wait states must be as many as it is priced.
fn agrees(request: &Request, profile: &Profile) -> bool {
    let Ok(plan) = planner::unproven(request, profile) else { return false };
    let Ok(listing) = list(&plan, request, profile) else { return false };
    let cost = cost::of(&plan, request, profile);
    let (lines, priced) = ((listing.instructions() as u32, listing.wait_states), (cost.instructions, cost.waits));
    assert_eq!(lines, priced, "{request:?} on {}: {:#?}\n{plan:?}", profile.name, listing.lines);
    true
}

#[test]
fn plans_have_as_many_lines_as_they_are_priced() {
    let (samples, mut written) = (catalog::all(), 0);
    for profile in assembly() {
        for sample in &samples {
            for activity in [Activity::Any, Activity::Full] {
                written += usize::from(agrees(&Request { activity, ..sample.request() }, &profile));
            }
        }
    }
    println!("{written} plans have as many lines as they are priced");
    assert!(written > 20_000);
}
