//! The generator of random kernels, for every test binary that runs them.

#[path = "arms.rs"]
pub mod arms;
#[path = "expressions.rs"]
mod expressions;
#[path = "lanes.rs"]
pub mod lanes;
#[path = "program.rs"]
pub mod program;
#[path = "rng.rs"]
mod rng;
#[path = "scope.rs"]
mod scope;
#[path = "statements.rs"]
mod statements;
#[path = "types.rs"]
mod types;
#[path = "wide.rs"]
pub mod wide;
#[path = "wide_expressions.rs"]
mod wide_expressions;
