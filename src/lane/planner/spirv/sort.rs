//! Bitonic sort of a segment: a network of butterflies, each a comparison and an exchange.

use crate::lane::plan::Operand;
use crate::lane::planner::Rule;
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::sort;
use crate::profile::Feature;

pub static RULES: &[Rule] = &[
    Rule {
        name: "bitonic network of butterflies, minimum and maximum",
        needs: &[Feature::Shuffle],
        build: |b| sort::by_extremes(b, butterfly),
    },
    Rule {
        name: "bitonic network of butterflies",
        needs: &[Feature::Shuffle],
        build: |b| sort::by_comparison(b, butterfly),
    },
];

fn butterfly(b: &mut Builder, value: Operand, distance: u32) -> Operand {
    b.shuffle_xor(value, Operand::Const(distance))
}
