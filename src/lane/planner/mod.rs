//! Turns a [`Request`] into a [`Plan`] for a profile. Each vendor and family has a table of named rules, each of which
//! proposes a plan; the cheapest wins ([`crate::lane::cost`]). For SPIR-V and text, which a driver compiles, the first
//! matching rule wins, unless its plan has an instruction with a cost in the profile.
//!
//! A rule states the features that it needs and builds steps; it never depends on a target's syntax. A request that no
//! rule matches is refused with the missing feature.

mod amd;
mod build;
mod common;
mod nv;
mod partition;
mod spirv;
mod trim;
mod validate;

use super::catalog;
use super::check::{self, Effort};
use super::cost::{self, PlanCost};
use super::op::LaneOp;
use super::plan::{Operand, Plan, Step, StepOp, StepType};
use super::request::{Refusal, Request};
use super::signature::Family;
use crate::profile::{Feature, Profile, Target};
use build::Builder;

/// Why a rule proposes nothing.
enum No {
    /// The rule is for other operations or operands.
    NotMine,
    /// The rule would apply if the profile had this.
    Lacks(Feature),
}

type Answer = Result<Operand, No>;

/// One way to lower the operations of a family.
struct Rule {
    name: &'static str,
    /// The features that the profile must have.
    needs: &'static [Feature],
    build: fn(&mut Builder) -> Answer,
}

/// The rules of one target.
struct Rules {
    /// The rules for an operation; for targets without costs, the best first.
    of: fn(LaneOp) -> &'static [Rule],
    /// Returns true if a rule's reductions match the 2016 proposal for the profile's hardware.
    is_proposed: fn(rule: &str, &Profile) -> bool,
}

const fn rules_of(target: Target) -> Rules {
    match target {
        Target::Spirv | Target::Wgsl | Target::Glsl | Target::Hlsl | Target::Msl => {
            Rules { of: spirv::rules, is_proposed: |_, _| false }
        }
        Target::Nv => Rules { of: nv::rules, is_proposed: |_, _| false },
        Target::Ptx => Rules { of: nv::ptx::rules, is_proposed: |_, _| false },
        Target::Amd => Rules { of: amd::rules, is_proposed: amd::is_proposed },
    }
}

/// A plan for a request, and its cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub plan: Plan,
    pub cost: PlanCost,
}

/// All plans that the rules propose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidates {
    /// The plan that [`plan`] returns.
    pub chosen: Candidate,
    /// The others, cheapest first; in the order of the rules if costs did not decide.
    pub others: Vec<Candidate>,
    /// True if costs decided.
    pub is_priced: bool,
    /// Rules that would apply, each with the feature that the profile lacks.
    pub refused: Vec<(&'static str, Feature)>,
}

/// The plan for one operation on one profile, or the reason that there is none. A plan that the tests have not proven
/// is checked, and refused if it is wrong.
pub fn plan(request: &Request, profile: &Profile) -> Result<Plan, Refusal> {
    let plan = unproven(request, profile)?;
    let effort = if cfg!(debug_assertions) { Some(Effort::Glance) } else { effort(request, profile) };
    let Some(effort) = effort else { return Ok(plan) };
    match check::check(request, profile, &plan, effort) {
        Ok(_) => Ok(plan),
        Err(wrong) => Err(Refusal::Unsound { rule: plan.rule, why: wrong.to_string() }),
    }
}

/// How a plan is checked before use: not at all if the tests prove it, which they do for the catalog on the built-in
/// profiles; by a few runs if proven rules work on other operands, such as indices for which the search finds moves.
fn effort(request: &Request, profile: &Profile) -> Option<Effort> {
    match profile.is_builtin {
        true => (!catalog::holds(request)).then_some(Effort::Glance),
        false => Some(Effort::Quick),
    }
}

/// The best plan, not checked.
pub fn unproven(request: &Request, profile: &Profile) -> Result<Plan, Refusal> {
    let least_size = validate::least_size(request, profile)?;
    let found = match !profile.costs.is_empty() {
        true => gather(request, profile, least_size).choose(profile).map(|found| found.chosen.plan),
        false => first_match(request, profile, least_size),
    };
    found.map_err(|missing| refusal(request, profile, least_size, missing))
}

/// The best plan with all alternatives.
pub fn candidates(request: &Request, profile: &Profile) -> Result<Candidates, Refusal> {
    let least_size = validate::least_size(request, profile)?;
    let found = gather(request, profile, least_size).choose(profile);
    found.map_err(|missing| refusal(request, profile, least_size, missing))
}

fn refusal(request: &Request, profile: &Profile, least_size: u32, missing: Option<Feature>) -> Refusal {
    match missing {
        None => Refusal::NotYet,
        Some(feature) => Refusal::NoHardware {
            feature,
            profile: profile.name.clone(),
            since: oldest_that_can(request, profile, least_size),
        },
    }
}

/// Returns true if a rule's plan is the sequence in the 2016 proposal of portable cross-lane operations for this
/// operation and kind of hardware.
pub fn is_proposed(rule: &str, request: &Request, profile: &Profile) -> bool {
    let reduces = request.op.signature().family == Family::Reduce;
    reduces && (rules_of(profile.target).is_proposed)(rule, profile)
}

/// The plan that one rule proposes for a request.
fn propose(rule: &Rule, request: &Request, profile: &Profile, least_size: u32) -> Result<Plan, No> {
    let mut builder = Builder::new(request, profile);
    let result = (rule.build)(&mut builder)?;
    match rule.needs.iter().find(|feature| !profile.has(**feature)) {
        Some(feature) => Err(No::Lacks(*feature)),
        None => finish(&builder, rule.name, result, least_size),
    }
}

/// The first rule's plan, or the feature that the best rule misses.
fn first_match(request: &Request, profile: &Profile, least_size: u32) -> Result<Plan, Option<Feature>> {
    let mut missing = None;
    for rule in (rules_of(profile.target).of)(request.op) {
        match propose(rule, request, profile, least_size) {
            Ok(plan) => return Ok(plan),
            Err(No::Lacks(feature)) => missing = missing.or(Some(feature)),
            Err(No::NotMine) => {}
        }
    }
    Err(missing)
}

/// The plans that all rules propose for a request, in their order.
struct Gathered {
    candidates: Vec<Candidate>,
    refused: Vec<(&'static str, Feature)>,
}

fn gather(request: &Request, profile: &Profile, least_size: u32) -> Gathered {
    let mut all = Gathered { candidates: Vec::new(), refused: Vec::new() };
    for rule in (rules_of(profile.target).of)(request.op) {
        match propose(rule, request, profile, least_size) {
            Ok(plan) => all.candidates.push(Candidate { cost: cost::of(&plan, request, profile), plan }),
            Err(No::Lacks(feature)) => all.refused.push((rule.name, feature)),
            Err(No::NotMine) => {}
        }
    }
    all
}

impl Gathered {
    /// The cheapest plan, or the first of equals; otherwise the feature that the first rule misses.
    fn choose(mut self, profile: &Profile) -> Result<Candidates, Option<Feature>> {
        let is_priced = self.candidates.first().is_some_and(|first| is_priced(&first.plan, profile));
        if is_priced {
            self.candidates.sort_by_key(|candidate| candidate.cost.weighed(&profile.weights));
        }
        let mut candidates = self.candidates.into_iter();
        match candidates.next() {
            Some(chosen) => Ok(Candidates { chosen, others: different(candidates), is_priced, refused: self.refused }),
            None => Err(self.refused.first().map(|(_, feature)| *feature)),
        }
    }
}

/// Returns true if a plan's cost is known: on hardware, and if the profile knows the driver's code for an instruction.
fn is_priced(plan: &Plan, profile: &Profile) -> bool {
    let has_price = |step: &Step| match step.op {
        StepOp::Prim(primitive) => {
            primitive.instruction().cost_class().is_some_and(|class| profile.costs.of(class).is_some())
        }
        _ => false,
    };
    profile.target.is_hardware() || plan.steps.iter().any(has_price)
}

/// Plans whose cost or rule differs from the previous one.
fn different(candidates: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = candidates.collect();
    all.dedup_by(|a, b| a.plan.steps == b.plan.steps && a.plan.setup == b.plan.setup);
    all
}

/// The finished plan, if the profile can move values of these types.
fn finish(builder: &Builder, rule: &'static str, result: Operand, least_size: u32) -> Result<Plan, No> {
    let (request, profile) = (builder.request, builder.profile);
    let plan = trim::trim(builder.finish(rule, result, least_size));
    let extended = plan.steps.iter().any(|step| match (step.op, step.ty) {
        (StepOp::Prim(_) | StepOp::CombineMoved(..), StepType::Like(n)) => {
            !matches!(request.inputs[n as usize].ty.width, 1 | 32)
        }
        _ => false,
    });
    // Assembly moves such values a register at a time.
    let can = !extended || profile.target.is_hardware() || profile.has(Feature::ExtendedTypes);
    if can { Ok(plan) } else { Err(No::Lacks(Feature::ExtendedTypes)) }
}

/// The oldest built-in profile of the same vendor and API that has a plan.
fn oldest_that_can(request: &Request, profile: &Profile, least_size: u32) -> Option<&'static str> {
    let alike = |candidate: &Profile| (candidate.target, candidate.client) == (profile.target, profile.client);
    let can = |candidate: &Profile| alike(candidate) && first_match(request, candidate, least_size).is_ok();
    Profile::names().zip(Profile::built_in()).find(|(_, candidate)| can(candidate)).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::op::ShuffleMode;
    use crate::lane::plan::Activity;
    use crate::lane::request::{Input, LaneType, ScalarKind};

    fn effort_of(profile: &Profile, inputs: &[Input], index: Option<&[u32]>) -> Option<Effort> {
        let op = LaneOp::Shuffle(ShuffleMode::Index);
        effort(
            &Request {
                op,
                inputs: inputs.into(),
                activity: Activity::Full,
                index: index.map(Into::into),
                fragment: false,
            },
            profile,
        )
    }

    #[test]
    fn what_the_tests_do_not_prove_is_checked() {
        let built_in = Profile::named("gfx900").expect("a profile");
        let mine = Profile::from_toml("name = \"mine\"\ninherit = \"gfx900\"\n", "mine.toml").expect("a profile");
        let row: Vec<u32> = (0..64).map(|lane| 63 - lane).collect();
        let value = |ty| Input::varying(ty);
        let index = value(LaneType::U32);
        for ty in [LaneType::U32, LaneType::I32] {
            assert_eq!(effort_of(&built_in, &[value(ty), index], None), None);
            assert_eq!(effort_of(&built_in, &[value(ty), Input::constant(3)], None), None);
            assert_eq!(effort_of(&built_in, &[value(ty), Input::constant(5)], None), Some(Effort::Glance));
            assert_eq!(effort_of(&built_in, &[value(ty), index], Some(&row)), Some(Effort::Glance));
            assert_eq!(effort_of(&mine, &[value(ty), index], None), Some(Effort::Quick));
        }
        for width in [8, 16, 64] {
            let ty = LaneType::scalar(ScalarKind::Uint, width);
            assert_eq!(effort_of(&built_in, &[value(ty), index], None), Some(Effort::Glance));
        }
    }
}
