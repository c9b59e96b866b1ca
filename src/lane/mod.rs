//! Cross-lane operations ([`LaneOp`]), the moves of the hardware ([`Primitive`]), and the [`Plan`] that turns one into
//! the other.
//!
//! This module knows lanes, operations and profile features, but no language and no target syntax.

pub mod catalog;
pub mod check;
pub mod cost;
pub mod describe;
pub mod encoding;
pub mod eval;
pub mod meaning;
pub mod op;
pub mod plan;
pub mod planner;
pub mod plans;
pub mod primitive;
pub mod request;
pub mod signature;
pub mod spanning;
pub mod swap;
pub mod value;

pub use cost::PlanCost;
pub use op::{
    CountOp, Group, InvertibleOp, LaneOp, MaskOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, VoteOp, WARP,
    Width,
};
pub use plan::{Activity, AluOp, CompareOp, Fork, LaneFact, Operand, Plan, Step, StepOp, StepType, Turns};
pub use planner::{Candidate, Candidates, candidates, plan};
pub use plans::Plans;
pub use primitive::{GroupOp, GroupReduce, LaneMap, Move, Primitive, Source};
pub use request::{Input, Known, LaneType, Refusal, Request};
pub use signature::{Depends, Family, Gives, Param, Reads, Role, Signature, Span};
pub use swap::Swap;
