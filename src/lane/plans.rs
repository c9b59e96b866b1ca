//! The plans of a profile, cached because kernels repeat operations, and so do shaders that are built together.

use super::plan::Plan;
use super::planner::plan;
use super::request::{Refusal, Request};
use crate::profile::Profile;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

type Answer = Result<Arc<Plan>, Refusal>;

/// The plans of one profile, each created on first use. Threads may share them.
#[derive(Default, Debug)]
pub struct Plans {
    /// The profile of the plans, once known.
    profile: OnceLock<Profile>,
    known: RwLock<FxHashMap<Request<'static>, Answer>>,
}

impl Plans {
    /// These plans, if they are for this profile or for none yet; otherwise new ones.
    pub fn of(self: &Arc<Self>, profile: &Profile) -> Arc<Self> {
        if self.profile.get_or_init(|| profile.clone()) == profile { self.clone() } else { Arc::default() }
    }

    /// The plan for a request; the profile must always be the same.
    ///
    /// # Errors
    /// Like [`plan`].
    pub fn get(&self, request: &Request<'static>, profile: &Profile) -> Answer {
        // A thread that panics leaves no partial entry, so the map is valid even then.
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(request).cloned();
        known.unwrap_or_else(|| {
            let answer = plan(request, profile).map(Arc::new);
            self.known.write().unwrap_or_else(PoisonError::into_inner).insert(request.clone(), answer.clone());
            answer
        })
    }
}
