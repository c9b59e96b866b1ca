//! Turns a [`Request`] into a [`Plan`] for a profile: a table of named rules, of which the first that matches wins.

use super::plan::Plan;
use super::request::{Refusal, Request};
use crate::profile::Profile;

/// The plan for one operation on one profile, or why there is none.
pub fn plan(request: &Request, profile: &Profile) -> Result<Plan, Refusal> {
    let _ = (request, profile);
    Err(Refusal::NotYet)
}
