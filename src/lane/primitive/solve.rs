//! The solvers of all families: which primitives alone give a wanted lane map.
//!
//! A solver derives parameters from the map and then tries them on every lane, so whatever it finds is right. It sees one
//! instruction only; sequences are the planner's.

use super::{LaneMap, Move, amd_dpp, amd_lds, amd_permlane, amd_scalar, group, nv};
use crate::profile::{FeatureSet, Profile};

/// How one kind of instruction looks for its parameters.
#[derive(Clone, Copy)]
pub struct Solver {
    /// Its name in explanations.
    pub name: &'static str,
    solve: fn(&LaneMap, FeatureSet) -> Option<Move>,
}

macro_rules! solvers {
    ($($name:literal = $solve:path,)+) => {
        &[$(Solver { name: $name, solve: $solve }),+]
    };
}

/// Every solver, in no order of cost.
pub static SOLVERS: &[Solver] = solvers! {
    "move in quads" = group::solve_quad,
    "subgroup broadcast" = group::solve_broadcast,
    "subgroup shuffle by a distance" = group::solve_distance,
    "subgroup shuffle" = group::solve_shuffle,
    "QSWZ" = nv::solve_quad,
    "SHF with constants" = nv::solve_shuffle,
    "SHFIDX" = nv::solve_indexed,
    "DPP" = amd_dpp::solve_dpp16,
    "DPP8" = amd_dpp::solve_dpp8,
    "PERMLANE16" = amd_permlane::solve_row,
    "PERMLANE16_VAR" = amd_permlane::solve_row_var,
    "PERMLANE64" = amd_permlane::solve_half,
    "PERMLANE_SWAP" = amd_permlane::solve_swap,
    "shared VGPR" = amd_permlane::solve_shared,
    "READLANE" = amd_scalar::solve_read,
    "WRITELANE" = amd_scalar::solve_write,
    "DS_SWIZZLE" = amd_lds::solve_swizzle,
    "DS_BPERMUTE" = amd_lds::solve_permute,
    "through LDS" = amd_lds::solve_bounce,
};

impl Solver {
    /// The instruction of this kind that gives the map, on hardware with these features.
    pub fn solve(&self, map: &LaneMap, features: FeatureSet) -> Option<Move> {
        (self.solve)(map, features)
    }
}

/// The single instructions of a profile that give a map, one of each kind at most.
pub fn solutions(map: &LaneMap, profile: &Profile) -> impl Iterator<Item = (&'static str, Move)> {
    SOLVERS.iter().filter_map(|solver| Some((solver.name, solver.solve(map, profile.features)?)))
}
