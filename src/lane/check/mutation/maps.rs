//! Changes the lane map of one kind of primitive, in every plan that uses it, and expects the proof to refuse one.
//!
//! A wrong map is written into the plans: after each step of that kind, one lane gets another lane's value.

use super::named;
use crate::lane::catalog::{self, Sample};
use crate::lane::check::{Effort, Wrong, check_size, orders_reductions};
use crate::lane::plan::{AluOp, Fork, LaneFact, Operand, Plan, Step, StepOp, StepType};
use crate::lane::planner::unproven;
use crate::lane::primitive::{GroupOp, LdsOp, NvOp, Primitive};
use crate::lane::request::{LaneType, Request};
use crate::profile::Profile;
use std::collections::{BTreeMap, BTreeSet};

/// A plan with its request.
struct User {
    sample: Sample,
    profile: Profile,
    plan: Plan,
}

impl User {
    fn size(&self) -> u32 {
        self.profile.wave_size.expect("a fixed size")
    }

    /// Returns true if the proof refuses the plan when primitives of a kind give some lanes other lanes' values.
    fn is_refused(&self, kind: &str, lanes: u64) -> bool {
        let request = self.sample.request();
        let changed = with_wrong_map(&self.plan, &request, kind, lanes);
        let verdict =
            check_size(&request, &changed, self.size(), orders_reductions(&request, &self.profile), Effort::Quick);
        assert!(!matches!(verdict, Err(Wrong::Malformed { .. })), "{kind}: {verdict:?}");
        verdict.is_err()
    }
}

/// A primitive without its parameters, as its type names it.
fn kind(primitive: Primitive) -> String {
    let (family, op) = match primitive {
        Primitive::Group(op) => ("subgroup", format!("{op:?}")),
        Primitive::Nv(op) => ("NVIDIA", format!("{op:?}")),
        Primitive::Dpp16(dpp) => ("DPP16", format!("{:?}", dpp.control)),
        Primitive::Dpp8(_) => ("DPP8", String::new()),
        Primitive::Lds(LdsOp::Swizzle(swizzle)) => ("DS_SWIZZLE", format!("{swizzle:?}")),
        Primitive::Lds(op) => ("LDS", format!("{op:?}")),
        Primitive::Permlane(op) => ("PERMLANE", format!("{op:?}")),
        Primitive::Scalar(op) => ("scalar", format!("{op:?}")),
    };
    let name = op.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    format!("{family} {name}")
}

const fn primitive_of(step: &Step) -> Option<Primitive> {
    match step.op {
        StepOp::Prim(primitive) | StepOp::CombineMoved(_, primitive) => Some(primitive),
        _ => None,
    }
}

/// The plan with a wrong map for primitives of a kind.
fn with_wrong_map(plan: &Plan, request: &Request, kind_changed: &str, lanes: u64) -> Plan {
    let mut changed = Plan { steps: Vec::new(), ..plan.clone() };
    // The new index of each step's result.
    let mut places: Vec<u16> = Vec::new();
    for step in &plan.steps {
        changed.steps.push(Step { args: step.args.map(|arg| moved(arg, &places)), ..*step });
        if primitive_of(step).is_some_and(|primitive| kind(primitive) == kind_changed) {
            append_wrong(&mut changed.steps, request, lanes);
        }
        places.push(changed.steps.len() as u16 - 1);
    }
    let behind = |end: u16| end.checked_sub(1).map_or(0, |last| places[usize::from(last)] + 1);
    changed.whole = behind(plan.whole.start)..behind(plan.whole.end);
    changed.fork = plan.fork.as_ref().map(|Fork { accept, reject }| Fork {
        accept: behind(accept.start)..behind(accept.end),
        reject: behind(reject.start)..behind(reject.end),
    });
    changed.result = moved(plan.result, &places);
    changed.second = plan.second.map(|operand| moved(operand, &places));
    changed
}

/// An operand after the steps' results have moved.
fn moved(operand: Operand, places: &[u16]) -> Operand {
    match operand {
        Operand::Step(n) => Operand::Step(places[usize::from(n)]),
        other => other,
    }
}

/// Appends a step that gives some lanes a wrong value.
fn append_wrong(steps: &mut Vec<Step>, request: &Request, lanes: u64) {
    let last = *steps.last().expect("the step that is changed");
    let right = Operand::Step(steps.len() as u16 - 1);
    let (op, args) = another(&last, right, request);
    steps.push(Step { op, args, ty: last.ty });
    let fact = StepOp::Fact(LaneFact::InSet(lanes));
    steps.push(Step { op: fact, args: [Operand::None; 3], ty: StepType::Bool });
    let (wrong, chosen) = (Operand::Step(steps.len() as u16 - 2), Operand::Step(steps.len() as u16 - 1));
    steps.push(Step { op: StepOp::Select, args: [chosen, wrong, right], ty: last.ty });
}

/// A wrong value instead of the right one: the value of the next row, or zero if all lanes get the same; otherwise a
/// changed bit.
fn another(step: &Step, right: Operand, request: &Request) -> (StepOp, [Operand; 3]) {
    let (op, operand) = match step.ty {
        _ if request.ty(step.ty) == LaneType::BOOL => (StepOp::Alu(AluOp::BoolNot), Operand::None),
        StepType::Ballot => (StepOp::Alu(AluOp::BallotNot), Operand::None),
        StepType::Index => (StepOp::Alu(AluOp::Xor), Operand::Const(1)),
        _ if primitive_of(step).is_some_and(is_uniform) => return (StepOp::Zero, [Operand::None; 3]),
        _ => (StepOp::Prim(GroupOp::ShuffleXor.into()), Operand::Const(17)),
    };
    (op, [right, operand, Operand::None])
}

/// Returns true if all lanes get the same value.
const fn is_uniform(primitive: Primitive) -> bool {
    match primitive {
        Primitive::Scalar(op) => op.is_scalar(),
        Primitive::Group(op) => {
            matches!(op, GroupOp::Broadcast | GroupOp::BroadcastFirst | GroupOp::Reduce(..) | GroupOp::ReduceAmd(..))
        }
        Primitive::Nv(op) => matches!(op, NvOp::Reduce(_)),
        _ => false,
    }
}

/// Number of plans of each family of operations that are changed, per kind of primitive and size of waves.
const USERS: usize = 8;

/// Plans by the kinds of primitives that they use, the shortest first.
fn users() -> BTreeMap<String, Vec<User>> {
    let spirv = [32, 64].map(|size| named("spirv-1.6").with_wave_size(Some(size)));
    let assembly = Profile::all().filter(|profile| profile.target.is_hardware());
    let mut users: BTreeMap<String, Vec<User>> = BTreeMap::new();
    for profile in spirv.into_iter().chain(assembly) {
        for sample in catalog::all() {
            add(&mut users, &profile, &sample);
        }
    }
    users.values_mut().for_each(|users| users.sort_by_key(|user| user.plan.steps.len()));
    users
}

fn add(users: &mut BTreeMap<String, Vec<User>>, profile: &Profile, sample: &Sample) {
    let Ok(plan) = unproven(&sample.request(), profile) else { return };
    let steps = plan.steps.iter().filter(|step| step.ty != StepType::None);
    let kinds: BTreeSet<String> = steps.filter_map(primitive_of).map(kind).collect();
    for kind in kinds {
        let of_kind = users.entry(kind).or_default();
        let is_alike =
            |user: &&User| user.profile.wave_size == profile.wave_size && user.sample.family == sample.family;
        if of_kind.iter().filter(is_alike).count() < USERS {
            of_kind.push(User { sample: sample.clone(), profile: profile.clone(), plan: plan.clone() });
        }
    }
}

/// Lanes for which a kind of primitive has no source.
fn has_no_source(kind: &str, lane: u32) -> bool {
    matches!((kind, lane), ("DPP16 WaveShl", 63) | ("DPP16 WaveShr", 0) | ("DPP16 RowBcast15", 0..16))
        || matches!((kind, lane), ("DPP16 RowBcast31", 0..32))
}

/// Every single lane of the map of every kind counts in some plan.
#[test]
fn a_changed_map_is_seen_in_some_plan() {
    let users = users();
    for (kind, users) in &users {
        let refuses = |lane: u32| users.iter().any(|user| lane < user.size() && user.is_refused(kind, 1 << lane));
        let most = users.iter().map(User::size).max().unwrap_or(0);
        let unseen: Vec<u32> = (0..most).filter(|lane| !has_no_source(kind, *lane) && !refuses(*lane)).collect();
        assert!(unseen.is_empty(), "{kind}: no test sees other values in the lanes {unseen:?}");
    }
    println!("{} kinds of primitives: {:?}", users.len(), users.keys());
    assert!(users.len() > 50);
}
