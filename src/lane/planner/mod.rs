//! Turns a [`Request`] into a [`Plan`] for a profile: a table of named rules a family, of which the first that matches
//! wins.
//!
//! A rule states the features that it needs and builds steps; it never looks at a target's syntax. What no rule can do is
//! refused with the feature that is missing.

mod build;
mod facts;
mod folds;
mod moves;
mod nv_shuffle;
mod quad;
mod scans;
mod sort;
mod trim;
mod validate;
mod votes;

use super::op::{FoldKind, LaneOp};
use super::plan::{Operand, Plan, StepOp, StepType};
use super::request::{Refusal, Request};
use crate::profile::{Feature, Profile};
use build::Builder;

/// Why a rule gives nothing.
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
    /// What the profile must have.
    needs: &'static [Feature],
    build: fn(&mut Builder) -> Answer,
}

/// The rules for an operation, best first.
fn rules(op: LaneOp) -> &'static [Rule] {
    use LaneOp as O;
    match op {
        O::Quad { .. } | O::QuadAdd(_) | O::QuadPermute(_) | O::QuadPermuteZero(_) | O::QuadBroadcast => quad::RULES,
        O::Butterfly(_) | O::Shuffle(_) | O::Rotate(_) | O::Bpermute | O::Permute | O::Broadcast => moves::RULES,
        O::BroadcastFirst | O::SwizzleMasked { .. } | O::WriteLane => moves::RULES,
        O::ShuffleNv(_) | O::ShuffleNvValid(_) => nv_shuffle::RULES,
        O::Fold { kind: FoldKind::Inclusive | FoldKind::Exclusive, .. } | O::Segmented { .. } => scans::RULES,
        O::Fold { .. } => folds::RULES,
        O::Sort { .. } => sort::RULES,
        O::Vote { .. } | O::Elect => votes::RULES,
        O::Ballot(_) | O::InverseBallot | O::BallotBit | O::BallotCount(_) | O::BallotFindLsb => facts::RULES,
        O::BallotFindMsb | O::MaskedCount | O::LaneIndex(_) | O::LaneCount(_) | O::SegmentLast(_) => facts::RULES,
        O::LaneMask(..) | O::ActiveMask | O::Sync => facts::RULES,
        O::Partitioned { .. } | O::Partition => &[],
    }
}

/// The plan for one operation on one profile, or why there is none.
pub fn plan(request: &Request, profile: &Profile) -> Result<Plan, Refusal> {
    let least_size = validate::least_size(request, profile)?;
    first_match(request, profile, least_size).map_err(|missing| match missing {
        None => Refusal::NotYet,
        Some(feature) => Refusal::NoHardware {
            feature,
            profile: profile.name.clone(),
            since: oldest_that_can(request, profile, least_size),
        },
    })
}

/// The first rule's plan, or the feature that the best rule misses.
fn first_match(request: &Request, profile: &Profile, least_size: u32) -> Result<Plan, Option<Feature>> {
    let mut missing = None;
    for rule in rules(request.op) {
        let lacking = rule.needs.iter().find(|feature| !profile.has(**feature));
        let mut builder = Builder::new(request, profile);
        match (rule.build)(&mut builder) {
            Err(No::NotMine) => {}
            Err(No::Lacks(feature)) => missing = missing.or(Some(feature)),
            Ok(_) if lacking.is_some() => missing = missing.or(lacking.copied()),
            Ok(result) => return finish(builder, rule.name, result, least_size),
        }
    }
    Err(missing)
}

/// The finished plan, if the profile can move values of these types.
fn finish(builder: Builder, rule: &'static str, result: Operand, least_size: u32) -> Result<Plan, Option<Feature>> {
    let (request, profile) = (builder.request, builder.profile);
    let plan = trim::trim(builder.finish(rule, result, least_size));
    let extended = plan.steps.iter().any(|step| match (step.op, step.ty) {
        (StepOp::Prim(_) | StepOp::FoldMoved(..), StepType::Like(n)) => {
            !matches!(request.inputs[n as usize].ty.width, 1 | 32)
        }
        _ => false,
    });
    if extended && !profile.has(Feature::ExtendedTypes) { Err(Some(Feature::ExtendedTypes)) } else { Ok(plan) }
}

/// The oldest built-in profile of the same vendor that has a plan.
fn oldest_that_can(request: &Request, profile: &Profile, least_size: u32) -> Option<&'static str> {
    let can =
        |candidate: &Profile| candidate.target == profile.target && first_match(request, candidate, least_size).is_ok();
    Profile::names().zip(Profile::built_in()).find(|(_, candidate)| can(candidate)).map(|(name, _)| name)
}
