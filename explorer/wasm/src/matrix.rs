//! `check` over all profiles.

use crate::open::{Open, first_error};
use crosslane::explain::support::{Matrix, matrix};
use crosslane::profile::Profile;

/// The matrix, or why there is none.
#[derive(serde::Serialize)]
pub struct Checked {
    matrix: Option<Matrix>,
    error: Option<String>,
}

pub fn check(open: &Open) -> Checked {
    let options: Vec<_> = Profile::all().map(|profile| open.options_for(profile)).collect();
    match matrix(&open.input(), &options, open.files()) {
        Ok(matrix) => Checked { matrix: Some(matrix), error: None },
        Err(failure) => Checked { matrix: None, error: Some(first_error(failure.diagnostics.iter())) },
    }
}
