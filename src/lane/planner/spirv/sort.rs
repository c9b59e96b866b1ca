//! Bitonic sort of a segment: a network of butterflies, each a comparison and an exchange.

use crate::lane::plan::Operand;
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::sort::bitonic_by;
use crate::lane::planner::{Answer, Rule};
use crate::profile::Feature;

pub static RULES: &[Rule] =
    &[Rule { name: "bitonic network of butterflies", needs: &[Feature::Shuffle], build: bitonic }];

fn bitonic(b: &mut Builder) -> Answer {
    bitonic_by(b, |b, value, distance| b.shuffle_xor(value, Operand::Const(distance)))
}
