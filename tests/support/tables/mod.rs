//! The tables of fixtures, for every test binary that runs them.

pub mod dialects;
pub mod groups;
pub mod kernels;
pub mod language;
pub mod moves;
pub mod quads;
pub mod reductions;
mod rows;

use crate::fixture::Fixture;

/// Every fixture of cross-lane operations.
pub fn fixtures() -> impl Iterator<Item = &'static Fixture> {
    [quads::FIXTURES, moves::FIXTURES, reductions::FIXTURES, groups::FIXTURES, dialects::FIXTURES, kernels::FIXTURES]
        .into_iter()
        .flatten()
}
