//! The plan checker: runs a plan on symbols over all lanes and compares every lane with the operation's meaning.
//!
//! Moves must show the exact source lane, reductions each contribution once (in the promised order if the profile is
//! reproducible and the values are floats), bools and ballots every bit. Values from inactive lanes or from outside the
//! subgroup are poison, which must not reach a defined result. Varying operands are tested with uniform and with random
//! values. The masks of active lanes include the full mask, first lanes, single lanes and random ones.

pub(super) mod operands;
pub mod prove;
pub(super) mod terms;

pub use prove::prove;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod mutation;

use super::eval;
use super::meaning::meaning;
use super::op::{LaneOp, Members, ReduceOp};
use super::plan::{Activity, LaneFact, Operand, Plan, Step, StepOp, StepType, is_same_everywhere};
use super::primitive::{GroupOp, GroupReduce, Primitive, fusion};
use super::request::Request;
use super::value::{LaneRow, LaneValue, Lanes};
use crate::profile::{Feature, Profile};
pub(crate) use operands::role;
use std::fmt;
use terms::{Term, Terms, Traits};

type TermRow = LaneRow<Term>;

/// With any of these a lane can get the mask of the lanes below it, and similar masks.
const HAVE_MASKS: [Feature; 3] = [Feature::Ballot, Feature::NvBallot, Feature::AmdWave];

/// How many masks and operand values are tried, from few to many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effort {
    /// A few runs, for a plan that tests have proven: builds with debug assertions check every emitted plan so.
    Glance,
    /// Enough to find the errors of a wrong rule, for a plan that is checked while a user waits.
    Quick,
    /// Every number of first lanes, every single lane, 64 random masks.
    Thorough,
}

/// The size of most subgroups.
const COMMON_SIZE: u32 = 32;

impl Effort {
    /// Less effort when a caller waits.
    fn hurried(self) -> Effort {
        if self == Effort::Thorough { self } else { Effort::Glance }
    }
}

/// A plan that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// A step needs a feature that the profile lacks.
    Illegal { step: Step },
    /// A step uses a missing operand, or operands of the wrong kind.
    Malformed { step: Step },
    /// The operation cannot take these operands.
    Meaningless,
    /// A lane got another value than the operation's meaning.
    Lane { lanes: Lanes, lane: u32, expected: String, got: String },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Illegal { step } => write!(f, "the profile has no such step: {step:?}"),
            Wrong::Malformed { step } => write!(f, "a step has operands of the wrong kind: {step:?}"),
            Wrong::Meaningless => f.write_str("the operation does not take these operands"),
            Wrong::Lane { lanes, lane, expected, got } => write!(
                f,
                "lane {lane} of {} (active {:#x}) gives {got} where {expected} is meant",
                lanes.size, lanes.active
            ),
        }
    }
}

/// Checks a plan for every subgroup size that the profile allows. Gives the number of runs.
pub fn check(request: &Request, profile: &Profile, plan: &Plan, effort: Effort) -> Result<u32, Wrong> {
    legal(request, profile, plan)?;
    let sizes: &[u32] = match &profile.wave_size {
        Some(size) => std::slice::from_ref(size),
        None if effort == Effort::Glance => &[4, 32, 64],
        None => &[1, 2, 4, 8, 16, 32, 64, 128],
    };
    let ordered = orders_reductions(request, profile);
    let sizes = sizes.iter().filter(|size| **size >= plan.least_size);
    // Of many sizes, one gets the runs that a user waits for.
    let at = |size: u32| if profile.wave_size.is_none() && size != COMMON_SIZE { effort.hurried() } else { effort };
    sizes.map(|size| check_size(request, plan, *size, ordered, at(*size))).sum()
}

/// Returns true if the bits of a reduction depend on its order, and the profile guarantees one.
fn orders_reductions(request: &Request, profile: &Profile) -> bool {
    profile.reproducible && is_float(request)
}

/// Checks that the profile has every instruction of the plan.
fn legal(request: &Request, profile: &Profile, plan: &Plan) -> Result<(), Wrong> {
    if !plan.whole.is_empty() && !profile.has(Feature::AmdWave) {
        return Err(Wrong::Illegal { step: plan.steps[usize::from(plan.whole.start)] });
    }
    match plan.all_steps().find(|step| !is_legal(request, profile, plan, step)) {
        Some(step) => Err(Wrong::Illegal { step: *step }),
        None => Ok(()),
    }
}

fn is_legal(request: &Request, profile: &Profile, plan: &Plan, step: &Step) -> bool {
    match step.op {
        StepOp::Prim(primitive) => primitive.is_legal(profile) && takes(primitive, request, profile, plan, step),
        StepOp::Fact(LaneFact::Mask(_)) => HAVE_MASKS.iter().any(|feature| profile.has(*feature)),
        StepOp::Fact(LaneFact::InSet(_)) => profile.has(Feature::AmdWave),
        StepOp::CombineMoved(op, primitive) => {
            primitive.is_legal(profile) && carries(request, profile, step, op, primitive)
        }
        _ => true,
    }
}

/// Returns true if the arithmetic instruction of a reduction can take its moved operand from this primitive.
fn carries(request: &Request, profile: &Profile, step: &Step, op: ReduceOp, primitive: Primitive) -> bool {
    match step.ty {
        StepType::Like(n) => {
            request.inputs.get(usize::from(n)).is_some_and(|input| fusion::carries(profile, op, input.ty, primitive))
        }
        _ => false,
    }
}

/// Returns true if a primitive accepts operands of this kind: some lanes must be constants.
fn takes(primitive: Primitive, request: &Request, profile: &Profile, plan: &Plan, step: &Step) -> bool {
    let lane_is_constant = matches!(step.args[1], Operand::Const(_));
    match primitive {
        Primitive::Group(GroupOp::Broadcast | GroupOp::QuadBroadcast) => {
            lane_is_constant || profile.has(Feature::DynamicBroadcast)
        }
        Primitive::Group(GroupOp::ShuffleXor | GroupOp::ShuffleUp | GroupOp::ShuffleDown) => {
            profile.has(Feature::VaryingDistance) || is_same_everywhere(step.args[1], request, &plan.setup, &plan.steps)
        }
        Primitive::Group(GroupOp::Reduce(_, GroupReduce::Clustered(width))) => width.lanes().is_some(),
        _ => true,
    }
}

fn check_size(request: &Request, plan: &Plan, size: u32, ordered: bool, effort: Effort) -> Result<u32, Wrong> {
    let case = Case { request, plan, ordered, float: is_float(request), setup: set_up(plan, Lanes::full(size))? };
    let other = plan.by_second_way();
    let other = other.as_ref().map(|plan| Case { plan, setup: case.setup.clone(), ..case });
    // Waves of 128 lanes, which no hardware profile has, get fewer masks.
    let effort = if size > 64 { effort.min(Effort::Quick) } else { effort };
    let operands: Vec<Vec<TermRow>> =
        operands::patterns(request, effort).iter().map(|p| operands::rows(request, size, p)).collect();
    let mut runs = 0;
    for (n, active) in operands::masks(size, assumed(request, plan), effort).into_iter().enumerate() {
        let lanes = Lanes { size, active };
        for inputs in operands::some_of(&operands, n, effort) {
            for case in other.iter().chain([&case]) {
                runs += u32::from(case.run(lanes, inputs)?);
            }
        }
    }
    Ok(runs)
}

fn is_float(request: &Request) -> bool {
    request.inputs.first().is_some_and(|input| input.ty.is_float())
}

/// Returns true if equal values have the same bits and different values are ordered, which excludes floats.
pub(super) fn sorts_bits(request: &Request) -> bool {
    request.inputs.iter().all(|input| !input.ty.is_float())
}

fn set_up(plan: &Plan, lanes: Lanes) -> Result<Vec<TermRow>, Wrong> {
    eval::set_up(&mut Terms::new(Traits::default()), plan, lanes).map_err(malformed)
}

fn malformed(error: eval::Malformed) -> Wrong {
    Wrong::Malformed { step: error.step }
}

/// The facts about the active lanes at the plan.
fn assumed(request: &Request, plan: &Plan) -> Activity {
    request.activity.max(plan.assumes)
}

/// A plan on waves of one size.
struct Case<'a> {
    request: &'a Request<'a>,
    plan: &'a Plan,
    /// True if the order of reductions matters.
    ordered: bool,
    float: bool,
    /// The setup, computed with all lanes active.
    setup: Vec<TermRow>,
}

impl Case<'_> {
    /// Runs the plan and compares every defined lane. Returns true if there was one.
    fn run(&self, lanes: Lanes, inputs: &[TermRow]) -> Result<bool, Wrong> {
        let request = self.request;
        let in_order = self.ordered && has_order(request.op, lanes);
        let total = matches!(request.op, LaneOp::Sort { .. }) && sorts_bits(request);
        let mut terms = Terms::new(Traits { ordered: in_order, float: self.float, total });
        if request.op == LaneOp::Sync {
            return self.results(&mut terms, inputs, lanes).map(|_| true);
        }
        let expected = meaning(&mut terms, request.op, inputs, lanes).ok_or(Wrong::Meaningless)?;
        if !lanes.is_full() && expected.iter().all(|row| is_undefined(row, lanes)) {
            return Ok(false);
        }
        let got = self.results(&mut terms, inputs, lanes)?;
        if expected.len() != got.len() {
            return Err(Wrong::Meaningless);
        }
        expected.iter().zip(&got).try_for_each(|(expected, got)| compare(&terms, expected, got, lanes))?;
        Ok(true)
    }

    fn results(&self, terms: &mut Terms, inputs: &[TermRow], lanes: Lanes) -> Result<Vec<TermRow>, Wrong> {
        if self.plan.whole.is_empty() {
            return eval::run_after(terms, self.plan, &self.setup, inputs, lanes).map_err(malformed);
        }
        // Whole-wave steps must not rely on the setup's values in inactive lanes.
        eval::run(terms, self.plan, inputs, lanes).map_err(malformed)
    }
}

fn is_undefined(row: &TermRow, lanes: Lanes) -> bool {
    lanes.iter().all(|lane| row[lane as usize] == LaneValue::Poison)
}

/// Returns true if an operation has a defined order: a reduction of active lanes only if all are active, a partitioned
/// one never.
fn has_order(op: LaneOp, lanes: Lanes) -> bool {
    match op {
        LaneOp::Reduce { members: Members::Active, .. } => lanes.is_full(),
        LaneOp::Partitioned { .. } => false,
        _ => true,
    }
}

fn compare(terms: &Terms, expected: &TermRow, got: &TermRow, lanes: Lanes) -> Result<(), Wrong> {
    let differs = |lane: &u32| {
        let (expected, got) = (expected[*lane as usize], got[*lane as usize]);
        expected != LaneValue::Poison && expected != got
    };
    match lanes.iter().find(differs) {
        None => Ok(()),
        Some(lane) => {
            let show = |row: &TermRow| terms.show(row[lane as usize]);
            Err(Wrong::Lane { lanes, lane, expected: show(expected), got: show(got) })
        }
    }
}
