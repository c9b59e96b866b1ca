//! Rules for AMD's instructions; the cheapest plan wins.

use super::Rule;
use crate::lane::op::LaneOp;

/// The rules for an operation.
pub fn rules(_: LaneOp) -> &'static [Rule] {
    &[]
}
