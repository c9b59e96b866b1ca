//! The plans that the rules choose, and their cost.

use crate::lane::op::{Group, LaneOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, VoteOp, Width};
use crate::lane::plan::{Activity, Plan, StepOp};
use crate::lane::planner::{Candidate, candidates};
use crate::lane::primitive::{NvOp, Primitive};
use crate::lane::request::{Input, Known, LaneType, Refusal, Request};
use crate::lane::swap::Swap;
use crate::profile::{Feature, Profile};

const U32: Input = Input::varying(LaneType::U32);
const F32: Input = Input::varying(LaneType::F32);
const BOOL: Input = Input::varying(LaneType::BOOL);

fn request(op: LaneOp, inputs: &[Input]) -> Request<'_> {
    Request { op, inputs: inputs.into(), activity: Activity::Any, index: None, fragment: false }
}

fn chosen(request: &Request, profile: &str) -> Result<Candidate, Refusal> {
    candidates(request, &Profile::named(profile).expect("a profile")).map(|all| all.chosen)
}

/// Rule, instructions and setup of the plan on Kepler.
fn cost(request: &Request) -> (&'static str, u32, u32) {
    let found = chosen(request, "nv-kepler").expect("a plan");
    (found.plan.rule, found.cost.instructions, found.cost.setup)
}

/// Instructions of the plan on Kepler.
fn count(op: LaneOp, inputs: &[Input], activity: Activity) -> u32 {
    cost(&Request { activity, ..request(op, inputs) }).1
}

fn width(lanes: u32) -> Width {
    Width::new(lanes).expect("a width")
}

fn fold(op: ReduceOp, kind: ReduceKind, lanes: u32) -> LaneOp {
    LaneOp::Reduce { op, kind, width: width(lanes), members: Members::All }
}

fn active(op: ReduceOp, kind: ReduceKind) -> LaneOp {
    LaneOp::Reduce { op, kind, width: Width::SUBGROUP, members: Members::Active }
}

fn primitives(plan: &Plan) -> Vec<Primitive> {
    let primitive = |op| match op {
        StepOp::Prim(primitive) | StepOp::CombineMoved(_, primitive) => Some(primitive),
        _ => None,
    };
    plan.steps.iter().filter_map(|step| primitive(step.op)).collect()
}

#[test]
fn reductions_take_two_instructions_a_level() {
    for op in [ReduceOp::Add, ReduceOp::Mul, ReduceOp::Min, ReduceOp::Max] {
        for kind in [ReduceKind::Reduce, ReduceKind::ReduceLow, ReduceKind::AllReduce] {
            for level in 1..=5 {
                for input in [U32, F32] {
                    assert_eq!(cost(&request(fold(op, kind, 1 << level), &[input])), ("tree of SHFXOR", 2 * level, 0));
                }
            }
        }
    }
}

#[test]
fn reductions_of_active_lanes_follow_what_is_known_of_them() {
    let add = active(ReduceOp::Add, ReduceKind::AllReduce);
    assert_eq!(count(add, &[U32], Activity::Full), 10);
    assert_eq!(count(add, &[U32], Activity::FirstLanes), 2 + 3 * 5);
    assert_eq!(count(active(ReduceOp::Max, ReduceKind::AllReduce), &[U32], Activity::FirstLanes), 2 + 2 * 5);
    // The ballot and its test, the branch, and the tree of the common side.
    assert_eq!(count(add, &[U32], Activity::Any), 2 + 4 + 10);
    assert_eq!(chosen(&request(add, &[U32]), "nv-kepler").expect("a plan").cost.rare, 5 + 6 * 4);
}

#[test]
fn scans_take_three_instructions_a_level_or_two() {
    let scan = |op, kind, lanes| count(fold(op, kind, lanes), &[U32], Activity::Any);
    assert_eq!(scan(ReduceOp::Add, ReduceKind::Inclusive, 32), 15);
    assert_eq!(scan(ReduceOp::Max, ReduceKind::Inclusive, 32), 10);
    assert_eq!(scan(ReduceOp::Add, ReduceKind::Exclusive, 8), 9 + 1);
    assert_eq!(scan(ReduceOp::Max, ReduceKind::Exclusive, 8), 6 + 2);
    assert_eq!(count(fold(ReduceOp::Add, ReduceKind::Exclusive, 8), &[F32], Activity::Any), 9 + 2);
    let over_active = active(ReduceOp::Add, ReduceKind::Inclusive);
    assert_eq!(count(over_active, &[U32], Activity::FirstLanes), 15);
    assert_eq!(count(over_active, &[U32], Activity::Any), 2 + 4 + 15);
}

/// The common side decides: two or four lanes are not worth a branch.
#[test]
fn a_branch_pays_where_the_common_way_is_much_shorter() {
    let forks = |op, ty, profile| {
        let inputs = [Input::varying(ty)];
        chosen(&request(op, &inputs), profile).expect("a plan").plan.fork.is_some()
    };
    let clustered = |lanes| LaneOp::Reduce {
        op: ReduceOp::Add,
        kind: ReduceKind::AllReduce,
        width: width(lanes),
        members: Members::Active,
    };
    assert_eq!(
        [2, 4, 8, 32].map(|lanes| forks(clustered(lanes), LaneType::U32, "nv-hopper")),
        [false, false, true, true]
    );
    assert!(forks(active(ReduceOp::Max, ReduceKind::Exclusive), LaneType::F32, "nv-kepler"));
    assert!(forks(active(ReduceOp::Add, ReduceKind::Inclusive), LaneType::U32, "nv-hopper"));
    assert!(!forks(active(ReduceOp::Or, ReduceKind::AllReduce), LaneType::BOOL, "nv-kepler"));
    let all =
        LaneOp::Reduce { op: ReduceOp::Add, kind: ReduceKind::AllReduce, width: width(32), members: Members::All };
    assert!(!forks(all, LaneType::U32, "nv-kepler"));
}

/// A move and a selection, with a minimum and a maximum, or with a comparison.
#[test]
fn sorts_take_four_instructions_a_column_or_more() {
    let sort = |inputs: &[Input]| cost(&request(LaneOp::Sort { width: width(32) }, inputs));
    let columns = 15;
    assert_eq!(sort(&[U32]), ("bitonic network of SHFXOR, minimum and maximum", 4 * columns, 20));
    assert_eq!(sort(&[U32, U32]), ("bitonic network of SHFXOR", 10 * columns, 20));
    assert_eq!(sort(&[F32]), ("bitonic network of SHFXOR", 6 * columns, 20));
}

#[test]
fn bools_fold_by_votes_and_ballots() {
    let count = |op, kind, lanes| count(fold(op, kind, lanes), &[BOOL], Activity::Any);
    assert_eq!(count(ReduceOp::And, ReduceKind::AllReduce, 32), 1);
    assert_eq!(count(ReduceOp::Or, ReduceKind::AllReduce, 32), 1);
    assert_eq!(count(ReduceOp::Or, ReduceKind::AllReduce, 8), 3);
    assert_eq!(count(ReduceOp::And, ReduceKind::AllReduce, 8), 3);
    assert_eq!(count(ReduceOp::Xor, ReduceKind::AllReduce, 32), 4);
    assert_eq!(count(ReduceOp::Or, ReduceKind::Inclusive, 32), 3);
}

#[test]
fn votes_of_quads() {
    let vote = |op| LaneOp::Vote { op, group: Group::Quad };
    assert_eq!(count(vote(VoteOp::Any), &[BOOL], Activity::Any), 3);
    assert_eq!(count(vote(VoteOp::All), &[BOOL], Activity::Full), 3);
    // The negated predicate takes one more instruction.
    assert_eq!(count(vote(VoteOp::All), &[BOOL], Activity::Any), 4);
    let warp = LaneOp::Vote { op: VoteOp::Equal, group: Group::Subgroup };
    assert_eq!(count(warp, &[BOOL], Activity::Any), 1);
    assert_eq!(count(warp, &[U32], Activity::FirstLanes), 3);
    assert_eq!(count(warp, &[U32], Activity::Any), 5);
}

#[test]
fn the_lowest_active_lane_is_lane_0_where_the_first_are_active() {
    assert_eq!(count(LaneOp::BroadcastFirst, &[U32], Activity::Any), 3);
    assert_eq!(count(LaneOp::BroadcastFirst, &[U32], Activity::FirstLanes), 1);
    assert_eq!(count(LaneOp::Elect, &[], Activity::Any), 3);
    assert_eq!(count(LaneOp::Elect, &[], Activity::Full), 0);
}

#[test]
fn shuffles_of_nvidia_are_guarded_only_where_it_takes() {
    let shuffle = |mode, index, width| cost(&request(LaneOp::ShuffleNv(mode), &[F32, index, width])).1;
    let (dynamic, eight, full) = (U32, Input::constant(8), Input::constant(32));
    assert_eq!(shuffle(ShuffleMode::Up, dynamic, eight), 1);
    assert_eq!(shuffle(ShuffleMode::Down, dynamic, eight), 1);
    assert_eq!(shuffle(ShuffleMode::Xor, Input::constant(3), eight), 1);
    assert_eq!(shuffle(ShuffleMode::Index, dynamic, full), 1);
    assert_eq!(shuffle(ShuffleMode::Index, dynamic, eight), 4);
    assert_eq!(shuffle(ShuffleMode::Index, Input::constant(9), eight), 0);
    assert_eq!(shuffle(ShuffleMode::Up, Input::constant(1), dynamic), 3);
    let valid = |mode, index, width| cost(&request(LaneOp::ShuffleNvValid(mode), &[index, width])).1;
    assert_eq!(valid(ShuffleMode::Up, dynamic, eight), 1);
    assert_eq!(valid(ShuffleMode::Up, Input::constant(1), eight), 0);
}

#[test]
fn indices_that_are_known_by_lane_become_constants() {
    let row: Vec<u32> = (0..32).map(|i| (i & !7) | 3).collect();
    let index = Input { ty: LaneType::U32, known: Known::Varying };
    let inputs = [U32, index];
    let known = Request { index: Some((&row).into()), ..request(LaneOp::Bpermute, &inputs) };
    let plan = chosen(&known, "nv-kepler").expect("a plan").plan;
    assert_eq!((plan.rule, plan.steps.len(), plan.setup.len()), ("SHF with constants", 1, 0));
    let own: Vec<u32> = (0..32).collect();
    let known = Request { index: Some((&own).into()), ..request(LaneOp::Bpermute, &inputs) };
    assert_eq!(cost(&known).1, 0);
}

#[test]
fn quads_of_floats_are_swizzled_in_fragment_shaders_alone() {
    let op = LaneOp::Quad { mv: QuadMove::X, float_only: true };
    let inputs = [F32, F32];
    let swizzle = vec![Primitive::from(NvOp::QuadSwizzle(QuadMove::X))];
    for profile in ["nv-fermi", "nv-hopper"] {
        let fragment = |op, inputs| Request { fragment: true, ..request(op, inputs) };
        assert_eq!(primitives(&chosen(&fragment(op, &inputs[..1]), profile).expect("a plan").plan), swizzle);
        let with_operand = chosen(&fragment(LaneOp::QuadAdd(QuadMove::X), &inputs), profile).expect("a plan");
        assert_eq!((primitives(&with_operand.plan), with_operand.cost.instructions), (swizzle.clone(), 1));
    }
    assert_eq!(cost(&request(op, &inputs[..1])).0, "SHF in the quad");
}

/// Semantics of refusals: the feature that is missing, and the oldest profile that has it.
#[test]
fn fermi_refuses_what_needs_shuffles() {
    let refused: [(LaneOp, &[Input]); 5] = [
        (LaneOp::Quad { mv: QuadMove::X, float_only: true }, &[F32]),
        (LaneOp::Quad { mv: QuadMove::X, float_only: false }, &[U32]),
        (LaneOp::Swap(Swap::Butterfly, width(8)), &[U32]),
        (fold(ReduceOp::Add, ReduceKind::AllReduce, 32), &[F32]),
        (LaneOp::Bpermute, &[U32, U32]),
    ];
    for (op, inputs) in refused {
        let (feature, since) = (Feature::NvShuffle, Some("nv-kepler"));
        let refusal = Refusal::NoHardware { feature, profile: "nv-fermi".into(), since };
        assert_eq!(chosen(&request(op, inputs), "nv-fermi").err(), Some(refusal), "{op:?}");
    }
    let granted: [(LaneOp, &[Input]); 3] = [
        (LaneOp::Vote { op: VoteOp::Any, group: Group::Quad }, &[BOOL]),
        (LaneOp::Ballot(Group::Subgroup), &[BOOL]),
        (fold(ReduceOp::Xor, ReduceKind::AllReduce, 16), &[BOOL]),
    ];
    for (op, inputs) in granted {
        assert!(chosen(&request(op, inputs), "nv-fermi").is_ok(), "{op:?}");
    }
}

#[test]
fn forms_wider_than_a_warp_are_refused() {
    let refusal = chosen(&request(LaneOp::Swap(Swap::Butterfly, width(64)), &[U32]), "nv-kepler").err();
    assert_eq!(refusal, Some(Refusal::TooWide { width: 64, size: 32 }));
}
