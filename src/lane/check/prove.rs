//! Proves the plans of whole profiles: every sample of the catalog, for each fact that may be known about the active
//! lanes. A plan that many profiles share is run once; each profile is checked for its instructions.

use super::{Effort, Wrong, assumed, check, legal, orders_reductions};
use crate::lane::catalog::{self, Sample};
use crate::lane::op::LaneOp;
use crate::lane::plan::{Activity, Plan};
use crate::lane::planner;
use crate::lane::request::{Input, LaneType, Request, ScalarKind};
use crate::profile::Profile;
use rustc_hash::FxHashMap;
use std::fmt;

/// The activities that may be known, weakest first.
const ACTIVITIES: [Activity; 3] = [Activity::Any, Activity::FirstLanes, Activity::Full];

/// How much was proven.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Plans, each for one operation, type, width, activity and profile.
    pub cases: usize,
    /// The number of different plans among them.
    pub plans: usize,
    /// Runs over all lanes of a wave.
    pub runs: u64,
}

/// A plan that the proof refuses, because of a bug in its rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsound {
    pub rule: &'static str,
    pub op: LaneOp,
    pub wrong: Box<Wrong>,
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the plan \"{}\" of {:?} is wrong: {}", self.rule, self.op, self.wrong)
    }
}

/// The key of cases with the same runs.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: LaneOp,
    inputs: Vec<Input>,
    ordered: bool,
    wave_size: Option<u32>,
    plan: Plan,
}

/// Proves plans and remembers them.
pub struct Prover {
    effort: Effort,
    /// The weakest activity for which a plan was proven.
    proven: FxHashMap<Key, Activity>,
    pub tally: Tally,
}

impl Prover {
    pub fn new(effort: Effort) -> Prover {
        Prover { effort, proven: FxHashMap::default(), tally: Tally::default() }
    }

    /// Proves all plans of a profile for some samples. Samples that the profile refuses are skipped.
    ///
    /// # Errors
    /// Returns the first plan that is wrong.
    pub fn profile(&mut self, profile: &Profile, samples: &[Sample]) -> Result<(), Unsound> {
        for sample in samples {
            for activity in ACTIVITIES {
                self.case(&Request { activity, ..sample.request() }, profile)?;
            }
        }
        Ok(())
    }

    /// Proves the plan of one request, unless it is already proven.
    ///
    /// # Errors
    /// Returns an error if the plan is wrong.
    pub fn case(&mut self, request: &Request, profile: &Profile) -> Result<(), Unsound> {
        let Ok(plan) = planner::unproven(request, profile) else { return Ok(()) };
        self.tally.cases += 1;
        let unsound = |wrong| Unsound { rule: plan.rule, op: request.op, wrong: Box::new(wrong) };
        legal(request, profile, &plan).map_err(unsound)?;
        let activity = assumed(request, &plan);
        let mut key = Key {
            op: request.op,
            inputs: request.inputs.iter().map(plain).collect(),
            ordered: orders_reductions(request, profile),
            wave_size: None,
            plan: plan.clone(),
        };
        // A proof for all sizes covers each.
        if self.is_proven(&key, activity) {
            return Ok(());
        }
        key.wave_size = profile.wave_size;
        if !self.is_proven(&key, activity) {
            self.tally.runs += u64::from(check(request, profile, &plan, self.effort).map_err(unsound)?);
            self.tally.plans += usize::from(self.proven.insert(key, activity).is_none());
        }
        Ok(())
    }

    fn is_proven(&self, key: &Key, activity: Activity) -> bool {
        self.proven.get(key).is_some_and(|least| *least <= activity)
    }
}

/// The operand reduced to what a run depends on: whether it is a float, an integer or a bool.
fn plain(input: &Input) -> Input {
    let ty = match input.ty.kind {
        ScalarKind::Float => LaneType::F32,
        ScalarKind::Bool => LaneType::BOOL,
        ScalarKind::Sint | ScalarKind::Uint | ScalarKind::Encoded(_) => LaneType::U32,
    };
    Input { ty, ..*input }
}

/// Proves all plans of a profile that is not built in. Builds with debug assertions, which are slow, use fewer runs.
///
/// # Errors
/// Returns the first plan that is wrong.
pub fn prove(profile: &Profile) -> Result<Tally, Unsound> {
    let effort = if cfg!(debug_assertions) { Effort::Glance } else { Effort::Quick };
    let mut prover = Prover::new(effort);
    prover.profile(profile, &catalog::all())?;
    Ok(prover.tally)
}
