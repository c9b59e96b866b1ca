//! Bitonic sort of a segment, each butterfly by the cheapest route.

use super::route::Route;
use super::search::Search;
use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::Rule;
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::sort;
use crate::lane::primitive::LaneMap;
use crate::lane::request::LaneType;

pub static RULES: &[Rule] = &[
    Rule {
        name: "bitonic network of butterflies, minimum and maximum",
        needs: &[],
        build: |b| sort::by_extremes(b, butterfly),
    },
    Rule { name: "bitonic network of butterflies", needs: &[], build: |b| sort::by_comparison(b, butterfly) },
];

/// `v[i ^ distance]`; a bool crosses lanes as a number.
fn butterfly(b: &mut Builder, value: Operand, distance: u32) -> Operand {
    let map = LaneMap::of_lanes(b.lanes(), |i| i ^ distance);
    // Memory can always do it.
    let route = Search { profile: b.profile }.direct(&map).unwrap_or(Route::Own);
    if !is_bool(b, value) {
        return route.emit(b, value);
    }
    let number = b.select(value, Operand::Const(1), Operand::Const(0));
    let moved = route.emit(b, number);
    b.alu(AluOp::Ne, moved, Operand::Const(0))
}

fn is_bool(b: &Builder, value: Operand) -> bool {
    b.request.ty(b.ty(value)) == LaneType::BOOL
}
