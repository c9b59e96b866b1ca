//! Mutates plans of every target in every way that keeps them valid programs, and expects the proof to refuse each
//! mutant with another meaning.
//!
//! A mutant that the proof accepts must be equivalent: plan and meaning are then run on numbers, over masks and
//! operands of every kind, and every defined lane must agree bit for bit.

mod maps;
mod mutants;
mod numbers;

use super::{Case, Effort, Wrong, assumed, check, is_float, legal, operands, orders_reductions, set_up};
use crate::lane::op::{Group, LaneOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, VoteOp, Width};
use crate::lane::plan::{Activity, Plan};
use crate::lane::planner::unproven;
use crate::lane::request::{Input, Known, LaneType, Request};
use crate::lane::swap::Swap;
use crate::lane::value::Lanes;
use crate::profile::Profile;

/// The outcome of the changes.
#[derive(Default, Debug)]
struct Outcome {
    refused: usize,
    /// Refused because the profile lacks an instruction, or because the steps are no longer a valid program.
    no_program: usize,
    equivalent: usize,
}

const FLOAT: Input = Input::varying(LaneType::F32);
const INDEX: Input = Input { ty: LaneType::U32, known: Known::Varying };
const BOOL: Input = Input::varying(LaneType::BOOL);

fn width(lanes: u32) -> Width {
    Width::new(lanes).expect("a width")
}

fn fold(op: ReduceOp, kind: ReduceKind, lanes: u32) -> LaneOp {
    LaneOp::Reduce { op, kind, width: width(lanes), members: Members::All }
}

fn active(op: ReduceOp, kind: ReduceKind) -> LaneOp {
    LaneOp::Reduce { op, kind, width: Width::SUBGROUP, members: Members::Active }
}

/// Operations of every family.
fn cases() -> Vec<(LaneOp, Vec<Input>)> {
    vec![
        (LaneOp::Swap(Swap::Butterfly, width(16)), vec![FLOAT]),
        (LaneOp::Swap(Swap::Butterfly, width(32)), vec![FLOAT]),
        (LaneOp::Quad { mv: QuadMove::Y, float_only: false }, vec![FLOAT]),
        (LaneOp::QuadPermute(0x39), vec![FLOAT]),
        (LaneOp::Rotate(width(8)), vec![FLOAT, Input::constant(3)]),
        (LaneOp::Bpermute, vec![FLOAT, INDEX]),
        (LaneOp::Permute, vec![FLOAT, INDEX]),
        (LaneOp::BroadcastFirst, vec![FLOAT]),
        (LaneOp::SwizzleMasked { and: 15, or: 16, xor: 7 }, vec![FLOAT]),
        (LaneOp::ShuffleNv(ShuffleMode::Up), vec![FLOAT, INDEX, Input::constant(8)]),
        (LaneOp::ShuffleNv(ShuffleMode::Down), vec![FLOAT, Input::constant(3), Input::constant(8)]),
        (LaneOp::ShuffleNv(ShuffleMode::Index), vec![FLOAT, INDEX, Input::constant(8)]),
        (LaneOp::ShuffleNvValid(ShuffleMode::Up), vec![INDEX, Input::constant(8)]),
        (fold(ReduceOp::Add, ReduceKind::AllReduce, 8), vec![FLOAT]),
        (fold(ReduceOp::Mul, ReduceKind::Inclusive, 32), vec![FLOAT]),
        (fold(ReduceOp::Max, ReduceKind::Exclusive, 8), vec![FLOAT]),
        (fold(ReduceOp::Add, ReduceKind::Exclusive, 32), vec![INDEX]),
        (fold(ReduceOp::Xor, ReduceKind::Exclusive, 8), vec![INDEX]),
        (active(ReduceOp::Add, ReduceKind::AllReduce), vec![INDEX]),
        (active(ReduceOp::Add, ReduceKind::Inclusive), vec![INDEX]),
        (LaneOp::Segmented { op: ReduceOp::Add, width: width(32) }, vec![FLOAT, BOOL]),
        (LaneOp::Vote { op: VoteOp::Any, group: Group::Quad }, vec![BOOL]),
        (LaneOp::Vote { op: VoteOp::Equal, group: Group::Quad }, vec![FLOAT]),
        (LaneOp::Sort { width: width(4) }, vec![FLOAT, INDEX]),
        (LaneOp::Sort { width: width(4) }, vec![INDEX]),
        (LaneOp::Sort { width: width(4) }, vec![INDEX, INDEX]),
    ]
}

/// Returns true if plan and meaning agree bit for bit, in every defined lane of every run of a quick proof.
fn agrees_bit_by_bit(request: &Request, profile: &Profile, plan: &Plan) -> bool {
    let (size, effort) = (profile.wave_size.expect("a fixed size"), Effort::Quick);
    let patterns = operands::patterns(request, effort);
    let rows: Vec<_> = patterns.iter().map(|pattern| operands::rows(request, size, pattern)).collect();
    let masks = operands::masks(size, assumed(request, plan), effort).into_iter().enumerate();
    let ordered = orders_reductions(request, profile);
    let agrees = |active, rows: &_| numbers::agree(request, plan, rows, Lanes { size, active }, ordered);
    masks.into_iter().all(|(n, active)| operands::some_of(&rows, n, effort).all(|rows: &Vec<_>| agrees(active, rows)))
}

/// Checks one mutant with little effort first, then with full effort.
fn verdict(request: &Request, profile: &Profile, plan: &Plan) -> Result<(), Wrong> {
    check(request, profile, plan, Effort::Quick)?;
    check(request, profile, plan, Effort::Thorough).map(|_| ())
}

/// Mutates the operation's plan on a profile in all ways, unless another profile has the same plan.
fn mutate(request: &Request, profile: &Profile, but: Option<&Profile>, outcome: &mut Outcome) {
    let Ok(plan) = unproven(request, profile) else { return };
    if but.is_some_and(|other| unproven(request, other).as_ref() == Ok(&plan)) {
        return;
    }
    for changed in mutants::of(&plan) {
        match verdict(request, profile, &changed) {
            Err(Wrong::Illegal { .. } | Wrong::Malformed { .. }) => outcome.no_program += 1,
            Err(Wrong::Lane { .. }) => outcome.refused += 1,
            Err(Wrong::Meaningless) => panic!("{:?} took its operands before {plan:?} was changed", request.op),
            Ok(()) if agrees_bit_by_bit(request, profile, &changed) => outcome.equivalent += 1,
            Ok(()) => panic!("the proof accepts a change of {plan:?}\non {}: {changed:?}", profile.name),
        }
    }
}

/// Mutates the plans of a profile that no other profile shares, and expects a minimum number of refusals.
fn changed_plans_are_refused(profile: &Profile, but: Option<&Profile>, least: usize) {
    let mut outcome = Outcome::default();
    for (op, inputs) in cases() {
        for activity in [Activity::Any, Activity::FirstLanes] {
            let request = Request { op, inputs: (&inputs).into(), activity, index: None, fragment: false };
            mutate(&request, profile, but, &mut outcome);
        }
    }
    let Outcome { refused, no_program, equivalent } = outcome;
    println!("{}: {refused} changed plans refused, {no_program} no programs, {equivalent} equivalent", profile.name);
    assert!(refused > least && equivalent * 4 < refused, "{}: {outcome:?}", profile.name);
}

fn named(name: &str) -> Profile {
    Profile::named(name).expect("a built-in profile")
}

#[test]
fn changed_plans_of_spirv_are_refused() {
    let base = named("spirv-1.3").with_wave_size(Some(32));
    for profile in [false, true].map(|reproducible| Profile { reproducible, ..base.clone() }) {
        changed_plans_are_refused(&profile, None, 1000);
    }
}

#[test]
fn changed_plans_of_nvidia_are_refused() {
    changed_plans_are_refused(&named("nv-kepler"), None, 1000);
}

#[test]
fn changed_plans_of_gcn_are_refused() {
    changed_plans_are_refused(&named("gfx900"), None, 1000);
}

#[test]
fn changed_plans_of_cdna_are_refused() {
    changed_plans_are_refused(&named("gfx950"), Some(&named("gfx900")), 20);
}

#[test]
fn changed_plans_of_rdna_are_refused() {
    changed_plans_are_refused(&named("gfx1030-wave32"), None, 1000);
}

#[test]
fn changed_plans_of_rdna_with_64_lanes_are_refused() {
    changed_plans_are_refused(&named("gfx1100-wave64"), None, 1000);
}

/// The bitwise comparison agrees with the proof: right plans agree, refused plans do not.
#[test]
fn bits_tell_right_plans_from_wrong_ones() {
    let profile = named("nv-kepler");
    let (op, inputs) = (fold(ReduceOp::Add, ReduceKind::AllReduce, 8), [FLOAT]);
    let request = Request { op, inputs: (&inputs).into(), activity: Activity::Any, index: None, fragment: false };
    let plan = unproven(&request, &profile).expect("a plan");
    assert!(agrees_bit_by_bit(&request, &profile, &plan));
    let wrong = mutants::of(&plan).into_iter().filter(|plan| legal(&request, &profile, plan).is_ok());
    let seen = wrong.filter(|plan| !agrees_bit_by_bit(&request, &profile, plan)).count();
    assert!(seen > 10, "{seen}");
}

/// The comparison covers the runs of the proof.
#[test]
fn a_case_of_the_proof_counts_what_it_defines() {
    let profile = named("nv-kepler");
    let (op, inputs) = (fold(ReduceOp::Add, ReduceKind::AllReduce, 8), [FLOAT]);
    let request = Request { op, inputs: (&inputs).into(), activity: Activity::Any, index: None, fragment: false };
    let plan = unproven(&request, &profile).expect("a plan");
    let setup = set_up(&plan, Lanes::full(32)).expect("a program");
    let ordered = orders_reductions(&request, &profile);
    let case = Case { request: &request, plan: &plan, ordered, float: is_float(&request), setup };
    let rows = operands::rows(&request, 32, &operands::patterns(&request, Effort::Quick)[0]);
    let run = |active| case.run(Lanes { size: 32, active }, &rows);
    assert_eq!(run(0xFF00), Ok(true), "one whole segment");
    assert_eq!(run(0x7F00), Ok(false), "no whole segment");
}
