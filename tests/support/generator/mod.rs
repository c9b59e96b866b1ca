//! The generator of random kernels, for every test binary that runs them.

pub mod arms;
pub mod contraction;
mod expressions;
pub mod formulas;
pub mod lanes;
pub mod memory;
pub mod names;
pub mod program;
mod rng;
mod scope;
pub mod segments;
mod statements;
mod types;
pub mod waits;
pub mod wide;
mod wide_expressions;
