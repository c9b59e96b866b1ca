//! Proves the plan of every operation, width and type on every profile.

use super::operands::{masks, patterns, rows};
use super::prove::{Prover, Tally};
use super::terms::{Term, Terms, Traits};
use super::{Effort, Wrong, check, prove};
use crate::lane::catalog::{self, Sample};
use crate::lane::meaning::meaning;
use crate::lane::op::{InvertibleOp, LaneOp, Members, ReduceKind, ReduceOp, Width};
use crate::lane::plan::{Activity, Operand, Step};
use crate::lane::value::{Domain, LaneValue, Lanes};
use crate::lane::{Depends, Family, Gives, Input, Known, LaneType, Refusal, Request, Span, plan};
use crate::profile::{Client, Feature, Profile, Target};

/// SPIR-V's profiles at every size, with and without the guaranteed order, the unknown size first; hardware profiles at
/// their own. One profile represents all that differ only in name, with their number.
fn profiles() -> Vec<(Profile, usize)> {
    let sizes = [None, Some(4), Some(8), Some(16), Some(32), Some(64), Some(128)];
    let sized = |profile: Profile| sizes.into_iter().map(move |size| profile.clone().with_wave_size(size));
    let ordered = |profile: Profile| [false, true].map(|reproducible| Profile { reproducible, ..profile.clone() });
    let spirv = Profile::all().filter(|profile| !profile.target.is_hardware()).chain(narrower());
    let spirv = spirv.flat_map(sized).flat_map(ordered);
    let hardware = Profile::all().filter(|profile| profile.target.is_hardware());
    let mut distinct: Vec<(Profile, usize)> = Vec::new();
    for profile in spirv.chain(hardware) {
        match distinct.iter_mut().find(|(other, _)| other.plans_like(&profile)) {
            Some((_, count)) => *count += 1,
            None => distinct.push((profile, 1)),
        }
    }
    distinct
}

/// User profiles that lack features of every SPIR-V version.
fn narrower() -> impl Iterator<Item = Profile> {
    let lists = [
        r#""scans", "ballot-bits", "vote-equal", "varying-distance", "elect", "clustered", "shuffle-relative""#,
        r#""arithmetic", "ballot-bits", "quad""#,
    ];
    lists.into_iter().map(|features| {
        let text = format!("name = \"mine\"\ninherit = \"spirv-1.6\"\nremove-features = [{features}]\n");
        Profile::from_toml(&text, "mine.toml").expect("a profile")
    })
}

/// Proves all plans of the selected operations on all profiles, and prints their number.
fn prove_all(what: &str, wanted: fn(LaneOp) -> bool) {
    let samples: Vec<Sample> = catalog::all().into_iter().filter(|sample| wanted(sample.op)).collect();
    let mut prover = Prover::new(Effort::Thorough);
    let mut cases = 0;
    for (profile, count) in profiles() {
        let before = prover.tally.cases;
        prover.profile(&profile, &samples).unwrap_or_else(|wrong| panic!("{}: {wrong}", profile.name));
        cases += (prover.tally.cases - before) * count;
    }
    let Tally { plans, runs, .. } = prover.tally;
    println!("{what}: {cases} cases proven, {plans} different plans in {runs} runs");
    assert!(plans > 0 && runs >= plans as u64);
}

#[test]
fn reductions_are_right() {
    let wanted = |op| matches!(op, LaneOp::Reduce { kind, members: Members::All, .. } if !kind.is_scan());
    prove_all("reductions", wanted);
}

#[test]
fn scans_are_right() {
    let wanted = |op| matches!(op, LaneOp::Reduce { kind, members: Members::All, .. } if kind.is_scan());
    prove_all("scans", wanted);
}

#[test]
fn folds_of_active_lanes_are_right() {
    prove_all("folds of active lanes", |op| matches!(op, LaneOp::Reduce { members: Members::Active, .. }));
}

#[test]
fn sorts_are_right() {
    prove_all("sorts", |op| matches!(op, LaneOp::Sort { .. }));
}

#[test]
fn scans_of_runs_are_right() {
    prove_all("scans of runs", |op| matches!(op, LaneOp::Segmented { .. }));
}

#[test]
fn partitions_are_right() {
    prove_all("partitions", |op| matches!(op, LaneOp::Partition | LaneOp::Partitioned { .. }));
}

#[test]
fn nv_shuffles_are_right() {
    prove_all("NV shuffles", |op| matches!(op, LaneOp::ShuffleNv(_) | LaneOp::ShuffleNvValid(_)));
}

#[test]
fn votes_and_ballots_are_right() {
    prove_all("votes, ballots, facts", |op| !is_reduction(op) && !moves(op));
}

#[test]
fn moves_are_right() {
    prove_all("moves", moves);
}

fn is_reduction(op: LaneOp) -> bool {
    use Family as F;
    matches!(op.signature().family, F::Reduce | F::Scan | F::Sort | F::Partition | F::NvShuffle)
}

fn moves(op: LaneOp) -> bool {
    matches!(op.signature().family, Family::Quad | Family::Move)
}

/// Profiles have a plan for everything, or report what is missing.
#[test]
fn what_is_not_proven_is_refused_with_a_reason() {
    for (profile, _) in &profiles() {
        for sample in catalog::all() {
            let Err(refusal) = plan(&sample.request(), profile) else { continue };
            let right = match &refusal {
                Refusal::TooWide { width, size } => width > size,
                Refusal::NoHardware { feature, since, .. } => {
                    // No WGSL profile has subgroup barriers, and OpenGL has only one profile.
                    let is_only = *feature == Feature::SubgroupBarrier || profile.client == Client::OpenGl;
                    let some_has = since.is_some() || is_only;
                    // SPIR-V has all of them from 1.3 on.
                    let may_lack = profile.target != Target::Spirv || profile.version < (1, 3);
                    !profile.has(*feature) && may_lack && some_has
                }
                Refusal::NoType { ty, .. } => !profile.has_width(ty.is_float(), ty.width),
                Refusal::NotYet | Refusal::BadOperand(_) | Refusal::Unsound { .. } => false,
            };
            assert!(right, "{sample:?} on {}: {refusal}", profile.name);
        }
    }
}

/// A second branch that returns the lane's own value if all lanes are active. The plan never takes it then, but a
/// target may.
#[test]
fn the_second_of_two_ways_is_right_under_any_mask() {
    let inputs = [Input::varying(LaneType::U32)];
    let (op, kind, members) = (ReduceOp::Add, ReduceKind::AllReduce, Members::Active);
    let op = LaneOp::Reduce { op, kind, width: Width::SUBGROUP, members };
    let request = Request { op, inputs: (&inputs).into(), activity: Activity::Any, index: None, fragment: false };
    let profile = Profile::named("nv-hopper").expect("a profile");
    let mut plan = plan(&request, &profile).expect("a plan");
    assert!(check(&request, &profile, &plan, Effort::Quick).is_ok());
    let fork = plan.fork.as_mut().expect("two ways");
    let last = fork.select();
    fork.reject.end += 1;
    let mut select = plan.steps[usize::from(last)];
    let [test, _, rejected] = select.args;
    plan.steps.insert(last.into(), Step { args: [test, Operand::Input(0), rejected], ..select });
    select.args[2] = Operand::Step(last);
    plan.steps[usize::from(last) + 1] = select;
    plan.result = Operand::Step(last + 1);
    let wrong = check(&request, &profile, &plan, Effort::Quick);
    assert!(matches!(wrong, Err(Wrong::Lane { lanes, .. }) if lanes.is_full()), "{wrong:?}");
}

#[test]
fn profiles_of_users_are_proven() {
    let text = "name = \"mine\"\ninherit = \"nv-kepler\"\nremove-features = [\"nv-quad-swizzle\"]\n";
    let tally = prove::prove(&Profile::from_toml(text, "mine.toml").expect("a profile")).expect("right plans");
    assert!(tally.cases > 1000 && tally.plans > 300, "{tally:?}");
}

/// A value that is removed from a reduction must be part of it. Floats round, so they are never removed.
#[test]
fn a_part_is_taken_out_of_a_fold_of_integers_only() {
    let leaf = |label| Term::Leaf { input: 0, label };
    let [a, b, c] = [1, 2, 3].map(leaf);
    let mut terms = Terms::new(Traits::default());
    let both = terms.combine(ReduceOp::Add, a, b);
    assert_eq!(terms.remove(InvertibleOp::Add, both, b), Some(a));
    assert_eq!(terms.remove(InvertibleOp::Add, a, a), Some(Term::Identity(ReduceOp::Add)));
    let twice = terms.combine(ReduceOp::Add, both, b);
    assert_eq!(terms.remove(InvertibleOp::Add, twice, b), Some(both));
    for (op, part) in [(InvertibleOp::Add, c), (InvertibleOp::Xor, b)] {
        let rest = terms.remove(op, both, part).expect("a term");
        assert!(rest != a && rest != both, "{rest:?}");
    }
    let mut floats = Terms::new(Traits { float: true, ..Traits::default() });
    assert_eq!(floats.remove(InvertibleOp::Add, both, b), None);
}

/// A minimum is one of two keys if equal keys have the same bits, which excludes floats.
#[test]
fn extremes_are_keys_of_integers_only() {
    let [a, b] = [1, 2].map(|label| Term::Leaf { input: 0, label });
    let mut integers = Terms::new(Traits { total: true, ..Traits::default() });
    assert_eq!([ReduceOp::Min, ReduceOp::Max].map(|op| integers.combine(op, b, a)), [a, b]);
    let mut floats = Terms::new(Traits { float: true, ..Traits::default() });
    assert!(![a, b].contains(&floats.combine(ReduceOp::Min, a, b)));
}

/// Known data, such as the values of a sort, has the same plans.
#[test]
fn known_data_makes_no_plan_wrong() {
    for name in ["spirv-1.6", "nv-hopper", "gfx1100-wave32"] {
        let profile = Profile::named(name).expect("a built-in profile");
        for sample in catalog::all() {
            let request = sample.request();
            let data = if matches!(request.op, LaneOp::Sort { .. }) { 2 } else { 1 };
            let known = |(n, input): (usize, &Input)| match (n < data, input.ty.components, input.ty.width) {
                (true, 1, 32) => Input { known: Known::Constant(1), ..*input },
                _ => *input,
            };
            let inputs: Vec<Input> = request.inputs.iter().enumerate().map(known).collect();
            let answer = plan(&Request { inputs: (&inputs).into(), ..request.clone() }, &profile);
            assert!(!matches!(answer, Err(Refusal::Unsound { .. })), "{sample:?} on {name}: {answer:?}");
        }
    }
}

/// The first lane of each lane's span; `None` if an operand determines it.
fn span_base(span: Span, lane: u32, size: u32) -> Option<u32> {
    let lanes = span.width()?.lanes_in(size).min(size);
    Some(lane & !(lanes - 1))
}

/// Passes rely on the table's facts about results.
#[test]
fn results_depend_on_no_more_than_the_table_says() {
    for sample in catalog::all().into_iter().filter(|sample| sample.op.signature().gives != Gives::Nothing) {
        let (op, row, size) = (sample.op, sample.op.signature(), 64);
        let request = sample.request();
        for (pattern, mask) in patterns(&request, Effort::Quick)
            .iter()
            .flat_map(|pattern| masks(size, Activity::Any, Effort::Glance).into_iter().map(move |mask| (pattern, mask)))
        {
            let (inputs, lanes) = (rows(&request, size, pattern), Lanes { size, active: mask });
            let mut terms = Terms::new(Traits::default());
            let results = meaning(&mut terms, op, &inputs, lanes).expect("the catalog has the right operands");
            let full =
                row.is_known_by_lane().then(|| meaning(&mut terms, op, &inputs, Lanes::full(size)).expect("too"));
            for (i, value) in lanes.iter().map(|i| (i, results[0][i as usize])) {
                match (row.gives, value) {
                    (Gives::Lane, LaneValue::Index(index)) => assert!(index < size, "{op:?}"),
                    (Gives::Count, LaneValue::Index(count)) => assert!(count <= size, "{op:?}"),
                    (Gives::Lane | Gives::Count, other) => assert_eq!(other, LaneValue::Poison, "{op:?}"),
                    _ => {}
                }
                if let Some(full) = &full {
                    assert_eq!(value, full[0][i as usize], "{op:?}");
                }
                let agrees = |j: u32| match row.depends {
                    Depends::Size => true,
                    Depends::Operands => inputs.iter().all(|input| input[i as usize] == input[j as usize]),
                    Depends::Span => span_base(row.span, i, size) == span_base(row.span, j, size),
                    Depends::Named => inputs[1..].iter().all(|input| input[i as usize] == input[j as usize]),
                    Depends::Lane | Depends::Any => false,
                };
                for j in lanes.iter().filter(|j| agrees(*j)) {
                    assert_eq!(value, results[0][j as usize], "{op:?} in lanes {i} and {j}");
                }
            }
        }
    }
}
