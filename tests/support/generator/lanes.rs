//! Random cross-lane operations, one per statement, for uniform control flow.
//!
//! Operations over segments only use widths whose segments the workgroup's lanes fill; the others work over the active
//! lanes. Floats stay multiples of a quarter, so that sums are the same in every order.

use super::scope::Program;
use super::types::BOOL;

/// The extensions that a kernel with cross-lane operations needs.
pub const EXTENSIONS: [&str; 9] = [
    "GL_CROSSLANE_portable",
    "GL_CROSSLANE_shuffle",
    "GL_CROSSLANE_permute",
    "GL_CROSSLANE_quad_swizzle",
    "GL_KHR_shader_subgroup_vote",
    "GL_KHR_shader_subgroup_ballot",
    "GL_KHR_shader_subgroup_arithmetic",
    "GL_KHR_shader_subgroup_shuffle",
    "GL_NV_shader_thread_shuffle",
];

/// Invocations in a seed's workgroup: two whole warps, or one and a quarter.
pub const fn invocations(seed: u64) -> usize {
    if seed.is_multiple_of(2) { 64 } else { 40 }
}

/// The largest power of two whose segments such a workgroup fills.
const fn widest(invocations: usize) -> u32 {
    if invocations.is_multiple_of(32) { 32 } else { 8 }
}

const FOLDS: [&str; 7] = ["Add", "Mul", "Min", "Max", "And", "Or", "Xor"];

impl Program {
    /// A statement that changes `x`, `y`, `u`, `f` or `c`.
    pub fn lane_statement(&mut self) {
        let width = 2 << self.rng.below(widest(self.invocations).ilog2() as usize);
        let statement = match self.rng.below(3) {
            0 => self.fold(width),
            1 => self.movement(width),
            _ => self.vote(),
        };
        self.line(&statement);
    }

    /// An integer, and another one or the same.
    fn integers(&mut self) -> [&'static str; 2] {
        [*self.rng.pick(&["x", "y"]), *self.rng.pick(&["x", "y"])]
    }

    /// A bool that differs from lane to lane, often the inverse of another.
    fn predicate(&mut self) -> String {
        match self.rng.below(4) {
            0 => "c".to_owned(),
            1 => "!(f > 0.5)".to_owned(),
            2 => format!("!({})", self.expr(&BOOL, 1)),
            _ => self.expr(&BOOL, 1),
        }
    }

    fn fold(&mut self, width: usize) -> String {
        let op = *self.rng.pick(&FOLDS);
        let [to, from] = self.integers();
        match self.rng.below(8) {
            0 => format!("{to} = allReduce{op}({from}, {width});"),
            1 => format!("{to} ^= inclusive{op}({from}, {width});"),
            2 => format!("{to} += exclusive{op}({from}, {width});"),
            3 => format!("{{ int r = reduce{op}({from}, {width}); if (segmentLast({width})) {to} ^= r; }}"),
            4 => format!("f = lim(allReduceAdd(lim(f), {width}));"),
            5 => format!("f = lim(inclusiveAdd(lim(f), {width}) - exclusiveMax(f, {width}));"),
            6 => format!("{to} ^= segmentedReduceAdd({from}, {}, {width});", self.predicate()),
            _ => format!("{to} -= subgroup{op}({from});"),
        }
    }

    fn movement(&mut self, width: usize) -> String {
        let [to, from] = self.integers();
        let mode = *self.rng.pick(&["shuffleNV", "shuffleUpNV", "shuffleDownNV", "shuffleXorNV"]);
        let quad = *self.rng.pick(&["0", "1", "2", "3", "X", "Y"]);
        match self.rng.below(7) {
            0 => format!("{to} ^= butterfly({from}, {width});"),
            1 => format!("{to} += quadSwizzle{quad}({from});"),
            2 => format!("{{ bool ok; {to} ^= {mode}({from}, u & 31u, {width}u, ok); c = c != ok; }}"),
            3 => format!("{to} ^= {mode}({from}, {}u, {width}u);", self.rng.below(width)),
            4 => format!("u = bpermute(u, (laneIndex() & ~{0}u) | (uint({from}) & {0}u));", width - 1),
            5 => format!("bitonicSort({to}, {width});"),
            _ => format!("{to} += subgroupBroadcastFirst({from});"),
        }
    }

    fn vote(&mut self) -> String {
        let predicate = self.predicate();
        match self.rng.below(6) {
            0 => format!("c = allQuad({predicate});"),
            1 => format!("c = c != anyQuad({predicate});"),
            2 => format!("u ^= ballot({predicate}).x;"),
            3 => format!("c = subgroupAny({predicate});"),
            4 => format!("c = c != subgroupAll({predicate});"),
            _ => format!("u += subgroupBallotExclusiveBitCount(subgroupBallot({predicate}));"),
        }
    }
}
