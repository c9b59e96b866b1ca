//! Lines of plans against what the plans are priced as.

use super::list;
use crate::lane::catalog;
use crate::lane::{Activity, Request, cost, planner};
use crate::profile::{Profile, Target};

/// One profile of each kind that plans alike.
fn assembly() -> Vec<Profile> {
    let mut all: Vec<Profile> = Vec::new();
    for profile in Profile::all().filter(|profile| profile.target != Target::Spirv) {
        if !all.iter().any(|other| other.plans_like(&profile)) {
            all.push(profile);
        }
    }
    all
}

/// How many plans have lines, and how many of these have other wait states than they are priced.
#[derive(Default)]
struct Tally {
    written: usize,
    other_waits: usize,
}

/// The instructions of a plan that has lines must be as many as it is priced.
fn compare(request: &Request, profile: &Profile, tally: &mut Tally) {
    let Ok(plan) = planner::unproven(request, profile) else { return };
    let Ok(listing) = list(&plan, request, profile) else { return };
    let cost = cost::of(&plan, request, profile);
    assert_eq!(
        listing.instructions() as u32,
        cost.instructions,
        "{request:?} on {}: {:#?}\n{plan:?}",
        profile.name,
        listing.lines
    );
    tally.written += 1;
    if listing.wait_states != cost.waits {
        println!("{} {:?}: {} wait states, priced {}", profile.name, request.op, listing.wait_states, cost.waits);
        tally.other_waits += 1;
    }
}

/// Wait states are priced along dependences, lines stand in one order: that may differ where several scalars are moved to
/// vectors, and hardly anywhere else.
#[test]
fn plans_have_as_many_lines_as_they_are_priced() {
    let (samples, mut tally) = (catalog::all(), Tally::default());
    for profile in assembly() {
        for sample in &samples {
            for activity in [Activity::Any, Activity::Full] {
                compare(&Request { activity, ..sample.request() }, &profile, &mut tally);
            }
        }
    }
    let Tally { written, other_waits } = tally;
    println!("{written} plans have as many lines as they are priced; {other_waits} have other wait states");
    assert!(written > 20_000 && other_waits * 100 < written);
}
