//! Plans that were made for a profile: kernels repeat operations, and so do shaders that are built together.

use super::op::LaneOp;
use super::plan::{Activity, Plan};
use super::planner::plan;
use super::request::{Input, Refusal, Request};
use crate::profile::Profile;
use rustc_hash::FxHashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// What a plan hangs on beside the profile: a [`Request`] that holds what it speaks of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Question {
    pub op: LaneOp,
    pub inputs: Vec<Input>,
    pub activity: Activity,
    /// See [`Request::index`].
    pub index: Option<Vec<u32>>,
    /// See [`Request::fragment`].
    pub fragment: bool,
}

impl Question {
    fn request(&self) -> Request<'_> {
        let Question { op, ref inputs, activity, ref index, fragment } = *self;
        Request { op, inputs, activity, index: index.as_deref(), fragment }
    }
}

type Answer = Result<Arc<Plan>, Refusal>;

/// The plans of one profile, each made when it is first asked for. Threads may share them.
#[derive(Default, Debug)]
pub struct Plans {
    known: RwLock<FxHashMap<Question, Answer>>,
}

impl Plans {
    /// What [`plan`] answers; the profile is the same each time.
    ///
    /// # Errors
    /// As [`plan`].
    pub fn get(&self, question: &Question, profile: &Profile) -> Answer {
        // A thread that panics holds no half-made entry, so that the map is whole even then.
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(question).cloned();
        known.unwrap_or_else(|| {
            let answer = plan(&question.request(), profile).map(Arc::new);
            self.known.write().unwrap_or_else(PoisonError::into_inner).insert(question.clone(), answer.clone());
            answer
        })
    }
}
