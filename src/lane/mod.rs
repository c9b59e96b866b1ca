//! Cross-lane operations: what they are ([`LaneOp`]), what hardware can move, and the plan that turns one into the other.
//!
//! This module knows lanes, operations and what a profile offers; it knows no language and no target syntax.

pub mod op;

pub use op::{CountOp, FoldKind, FoldOp, Group, LaneOp, MaskOp, Members, QuadMove, ShuffleMode, VoteOp, Width};
