//! A profile's lowering of one operation: the chosen plan, its cost, and the rivals that lost to it.

use super::OnProfile;
use super::listing::{self, Line, Listing, Unit};
use super::operations::Site;
use super::picture::{Executed, Picture, executed, picture};
use super::spanning::{self, Spanned};
use super::text;
use crate::backend::Backend;
use crate::lane::planner::is_proposed;
use crate::lane::{Activity, Candidate, Candidates, Input, Known, Plan, PlanCost, Request, candidates};
use crate::profile::{Profile, Target};
use crate::sim::{Execution, Row};
use serde::Serialize;

/// The plan of an operation for one profile.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Lowering {
    /// Name of the rule that made the plan.
    pub rule: &'static str,
    /// True if it is the sequence of the 2016 proposal.
    pub proposed: bool,
    /// The lanes known to run the operation.
    pub activity: &'static str,
    /// True if all active lanes get the same result.
    pub uniform: bool,
    /// Places of operands and results in the lines.
    pub inputs: Vec<String>,
    pub results: Vec<String>,
    /// Lines that can be hoisted and shared.
    pub setup: Vec<Line>,
    /// Lines at the operation.
    pub sequence: Vec<Line>,
    /// The reason if there are no lines.
    pub unwritten: Option<String>,
    /// Instructions of the sequence by the unit that runs them.
    pub units: Vec<Instructions>,
    /// Wait states among the written lines.
    pub wait_states: u32,
    pub cost: PlanCost,
    /// Plans that lost, the closest first.
    pub rejected: Vec<Rejected>,
    /// Rules that need a missing feature.
    pub lacking: Vec<Lacking>,
    pub picture: Option<Picture>,
    /// The program that runs instead where the driver's subgroups are narrower than the operation.
    pub narrower: Option<Box<Spanned>>,
    /// Plans of other copies of the operation, from unrolled loops and inlined functions.
    pub copies: Vec<Lowering>,
    /// True if the plan was chosen by its cost.
    #[serde(skip)]
    pub(super) is_priced: bool,
    #[serde(skip)]
    pub(super) plan: Plan,
    /// The operands that are constants.
    #[serde(skip)]
    pub(super) constants: Vec<Option<u32>>,
}

impl Lowering {
    /// The lanes that run it, as a clause.
    pub fn lanes(&self) -> String {
        let known = self.activity != activity(Activity::Any);
        format!("{} {} it", self.activity, if known { "run" } else { "may run" })
    }

    /// The reason for choosing this plan, as a sentence.
    pub fn reason(&self) -> String {
        let missing =
            self.lacking.first().map(|other| format!("“{}” needs {}, which it lacks", other.rule, other.feature));
        match (self.rejected.first(), missing) {
            (Some(other), _) if self.is_priced => {
                let by = text::difference(&other.difference);
                format!("It is the cheapest: the next best way, “{}”, {by}.", other.rule)
            }
            (Some(other), _) => {
                format!("It is the most direct form that the profile has; “{}” would do too.", other.rule)
            }
            (None, Some(missing)) => format!("It is the only way that the profile has: {missing}."),
            (None, None) => "It is the only way that the profile has.".into(),
        }
    }

    /// Instructions at the operation: the written ones, or otherwise the estimate.
    pub fn instructions(&self) -> u32 {
        match self.unwritten {
            Some(_) => self.cost.written(),
            None => self.sequence.iter().filter(|line| line.unit.works()).count() as u32,
        }
    }

    /// Returns true if its results come entirely from other code of the shader.
    pub fn is_shared(&self) -> bool {
        self.unwritten.is_none() && self.sequence.is_empty() && self.cost.instructions > 0
    }

    /// Returns true if the other lowering differs only in registers.
    pub fn is_copy(&self, other: &Lowering) -> bool {
        self.plan == other.plan && self.constants == other.constants
    }

    /// An execution of the operation, with the steps of the copy that has its constants.
    pub fn executed(&self, run: &Execution, target: Target) -> Option<Executed> {
        let copies = std::iter::once(self).chain(&self.copies);
        let copy = copies.into_iter().find(|copy| copy.fits(run));
        let stepped = copy.and_then(|copy| executed(run, Some((&copy.plan, target))));
        stepped.or_else(|| executed(run, None))
    }

    /// Returns true if the plan is one for the operands and the lanes of an execution.
    fn fits(&self, run: &Execution) -> bool {
        let has = |(known, row): (&Option<u32>, &Row)| {
            let mut active = row.iter().enumerate().filter(|(lane, _)| run.active >> lane & 1 != 0);
            known.is_none_or(|known| active.all(|(_, bits)| *bits == Some(known.into())))
        };
        self.plan.least_size <= run.size && self.constants.iter().zip(&run.operands).all(has)
    }

    /// Returns true if the other lowering has the same lines.
    pub fn is_like(&self, other: &Lowering) -> bool {
        let seen = |lowering: &Lowering| (lowering.rule, lowering.setup.clone(), lowering.sequence.clone());
        let narrower = (&self.narrower, &other.narrower);
        seen(self) == seen(other)
            && match narrower {
                (Some(one), Some(other)) => one.is_like(other),
                (one, other) => one.is_none() && other.is_none(),
            }
    }
}

/// How many instructions a unit runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Instructions {
    pub unit: Unit,
    pub count: usize,
}

/// A plan that lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Rejected {
    pub rule: &'static str,
    /// True if it is the sequence of the 2016 proposal.
    pub proposed: bool,
    pub sequence: Vec<Line>,
    pub setup: Vec<Line>,
    pub cost: PlanCost,
    /// The differences in cost: where the rival was worse, and where it would have been better.
    pub difference: Vec<Difference>,
}

/// How much more (or, negative, less) than the chosen plan a part costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Difference {
    pub part: &'static str,
    pub more: i64,
}

/// A rule that the profile cannot follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Lacking {
    pub rule: &'static str,
    pub feature: &'static str,
}

/// The profile's lowering of an operation.
pub fn of(site: &Site, profile: &Profile) -> OnProfile {
    let narrower = match spanning::of(site, profile).transpose() {
        Err(reason) => return OnProfile::Refused { reason },
        Ok(Some(spanned)) if spanned.extent.below.is_none() => return OnProfile::Spanning(spanned),
        Ok(narrower) => narrower,
    };
    let request = site.request();
    match candidates(&request, profile) {
        Ok(found) => OnProfile::Planned(Box::new(Lowering { narrower, ..lowering(&found, site, profile) })),
        Err(refusal) => OnProfile::Refused { reason: refusal.to_string() },
    }
}

fn lowering(found: &Candidates, site: &Site, profile: &Profile) -> Lowering {
    let Candidate { plan, cost } = &found.chosen;
    let request = &site.request();
    let own = site.listing.clone().map(|listing| (listing, None));
    let (listing, unwritten) = own.unwrap_or_else(|| written(plan, request, profile));
    let constant = |input: &Input| match input.known {
        Known::Constant(value) => Some(value),
        Known::Varying | Known::Uniform => None,
    };
    let count = |unit: &Unit| Instructions { unit: *unit, count: listing.count(*unit) };
    let units = Backend::of(profile.target).units.iter().map(count).filter(|count| count.count > 0).collect();
    let lacking = |(rule, feature): &(&'static str, crate::profile::Feature)| Lacking { rule, feature: feature.name() };
    Lowering {
        rule: plan.rule,
        proposed: is_proposed(plan.rule, request, profile),
        activity: activity(request.activity),
        uniform: plan.uniform,
        inputs: listing.inputs,
        results: listing.results,
        units: if unwritten.is_none() { units } else { Vec::new() },
        setup: listing.setup,
        sequence: listing.lines,
        wait_states: if unwritten.is_none() { listing.wait_states } else { cost.waits },
        unwritten,
        cost: *cost,
        rejected: found.others.iter().map(|other| rejected(other, cost, request, profile)).collect(),
        lacking: found.refused.iter().map(lacking).collect(),
        picture: picture(request, profile.wave_size, Some((plan, profile.target))),
        narrower: None,
        copies: Vec::new(),
        is_priced: found.is_priced,
        plan: plan.clone(),
        constants: site.inputs.iter().map(constant).collect(),
    }
}

/// The lines of a plan, or the reason that there are none.
fn written(plan: &Plan, request: &Request, profile: &Profile) -> (Listing, Option<String>) {
    match listing::list(plan, request, profile) {
        Ok(listing) => (listing, None),
        Err(listing::Unwritten(reason)) => (Listing::default(), Some(reason)),
    }
}

fn rejected(other: &Candidate, chosen: &PlanCost, request: &Request, profile: &Profile) -> Rejected {
    let (listing, _) = written(&other.plan, request, profile);
    let difference = other.cost.beyond(chosen).into_iter().map(|(part, more)| Difference { part, more });
    Rejected {
        rule: other.plan.rule,
        proposed: is_proposed(other.plan.rule, request, profile),
        sequence: listing.lines,
        setup: listing.setup,
        cost: other.cost,
        difference: difference.collect(),
    }
}

const fn activity(activity: Activity) -> &'static str {
    match activity {
        Activity::Any => "any lanes",
        Activity::FirstLanes => "the first lanes",
        Activity::Full => "all lanes",
    }
}
