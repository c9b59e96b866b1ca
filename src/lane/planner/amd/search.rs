//! Searches for the cheapest composition of a few moves that implements a lane map.
//!
//! The primitives solve for their own parameters. This module only enumerates compositions, from short lists, so that
//! the search is bounded and deterministic: one move; two merged by row and bank masks; one of two by a constant mask
//! of lanes; one after another; and three.

use super::route::{Route, gathered, price, served};
use crate::lane::primitive::{
    Arg, Dpp16, DppControl, Fetch, Index, Instruction, LaneMap, LdsOp, Move, PermlaneOp, Primitive, Reach, ScalarOp,
    Source, Swizzle, amd_dpp, amd_lds, amd_permlane, amd_scalar,
};
use crate::lane::value::Lanes;
use crate::profile::{CostClass, FeatureSet, Profile};

type Solve = fn(&LaneMap, FeatureSet) -> Option<Move>;

/// The moves in compositions, with constant indices, and their price classes.
const SOLVERS: [(Solve, CostClass); 7] = [
    (amd_dpp::solve_dpp16, CostClass::AmdDpp),
    (amd_dpp::solve_dpp8, CostClass::AmdDpp),
    (amd_permlane::solve_row, CostClass::AmdPermlane),
    (amd_permlane::solve_half, CostClass::AmdPermlaneHalf),
    (amd_permlane::solve_swap, CostClass::AmdPermlaneSwap),
    (amd_scalar::solve_read, CostClass::AmdReadLane),
    (amd_lds::solve_swizzle, CostClass::AmdSwizzle),
];

/// Limit of the first moves that a search continues with: the ones that serve the most lanes.
const PAIRS: usize = 8;
/// Limit of the first moves if two more moves must follow.
const TRIPLES: usize = 2;

/// A search on one profile.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    pub profile: &'a Profile,
}

/// The cheapest route so far, and the score that another must stay below.
struct Best {
    route: Option<Route>,
    below: u64,
}

impl Best {
    fn below(score: u64) -> Best {
        Best { route: None, below: score }
    }

    fn offer(&mut self, route: Option<Route>, profile: &Profile) {
        let Some(route) = route else { return };
        let score = route.score(profile);
        if score < self.below {
            *self = Best { route: Some(route), below: score };
        }
    }
}

/// A way to serve the rest of a map, below a score.
type Rest<'s> = &'s dyn Fn(&LaneMap, u64) -> Option<Route>;

impl Search<'_> {
    /// The cheapest single move below a score, or the lane's own value if that is enough.
    pub fn one(&self, map: &LaneMap, below: u64) -> Option<Route> {
        if map.accepts_own() {
            return Some(Route::Own);
        }
        let mut best = Best::below(below);
        for (solve, class) in SOLVERS {
            if price(class, self.profile).is_some_and(|price| price < best.below) {
                best.offer(solve(map, self.profile.features).map(Route::one), self.profile);
            }
        }
        best.offer(gathered(map, self.profile), self.profile);
        best.route
    }

    /// The upper bound of any map's cost: an address and a read through the local data share, perhaps a select.
    pub fn through_lds(&self, size: u32) -> u64 {
        let crossbar = Reach::of(size, self.profile.features) == Reach::Wave;
        let read = price(if crossbar { CostClass::AmdPermute } else { CostClass::AmdBounce }, self.profile);
        let read = read.or(price(CostClass::AmdBounce, self.profile)).unwrap_or(u64::MAX / 2);
        read + 2 * price(CostClass::AmdAlu, self.profile).unwrap_or(0)
    }

    /// The minimum cost of a move.
    fn least(&self) -> u64 {
        SOLVERS.iter().filter_map(|(_, class)| price(*class, self.profile)).min().unwrap_or(0)
    }

    /// The cheapest route that does not pass through other lanes, so that it works with any active lanes.
    pub fn direct(&self, map: &LaneMap) -> Option<Route> {
        let mut best = Best::below(u64::MAX);
        best.offer(self.one(map, u64::MAX), self.profile);
        for search in [Search::merged, Search::selected, Search::three] {
            best.offer(search(self, map, best.below), self.profile);
        }
        best.route
    }

    /// A DPP move merged over another: in lanes excluded by its masks or without a source, the other's result stays.
    pub fn merged(&self, map: &LaneMap, below: u64) -> Option<Route> {
        self.merge_with(map, below, &|rest, below| self.one(rest, below), PAIRS)
    }

    /// One of two moves in each lane, by a constant mask.
    pub fn selected(&self, map: &LaneMap, below: u64) -> Option<Route> {
        self.select_with(map, below, &|rest, below| self.one(rest, below), PAIRS)
    }

    /// Three moves: one for many lanes, two for the rest.
    pub fn three(&self, map: &LaneMap, below: u64) -> Option<Route> {
        if below <= 3 * self.least() {
            return None;
        }
        let rest = |rest: &LaneMap, below: u64| {
            let (last, mut best) = (|rest: &LaneMap, below| self.one(rest, below), Best::below(below));
            best.offer(self.merge_with(rest, best.below, &last, TRIPLES), self.profile);
            best.offer(self.select_with(rest, best.below, &last, TRIPLES), self.profile);
            best.route
        };
        let mut best = Best::below(below);
        best.offer(self.merge_with(map, best.below, &rest, TRIPLES), self.profile);
        best.offer(self.select_with(map, best.below, &rest, TRIPLES), self.profile);
        best.route
    }

    /// Tries the first moves that serve the most lanes, each with a route for the rest.
    fn merge_with(&self, map: &LaneMap, below: u64, rest: Rest, most: usize) -> Option<Route> {
        if below <= 2 * self.least() {
            return None;
        }
        let own = price(CostClass::AmdDpp, self.profile)?;
        let mut uppers: Vec<(Dpp16, u64)> = self.controls(map).flat_map(|control| masked(map, control)).collect();
        uppers.sort_by_key(|(_, served)| std::cmp::Reverse(moved_among(map, *served)));
        let mut best = Best::below(below);
        for (dpp, served) in uppers.into_iter().take(most) {
            let over = rest(&map.only(|i| served >> i & 1 == 0), best.below.saturating_sub(own));
            let route =
                |over| Route::Moved { step: Move::plain(dpp), of: Box::new(Route::Own), over: Some(Box::new(over)) };
            best.offer(over.map(route), self.profile);
        }
        best.route
    }

    fn select_with(&self, map: &LaneMap, below: u64, rest: Rest, most: usize) -> Option<Route> {
        let select = price(CostClass::AmdAlu, self.profile)?;
        if below <= select + self.least() {
            return None;
        }
        let reached = |step: Move| (step, reached(map, &step));
        let mut firsts: Vec<(Move, u64)> = self.partial_moves(map).into_iter().map(reached).collect();
        firsts.retain(|(_, served)| moved_among(map, *served) > 0);
        firsts.sort_by_key(|(_, served)| std::cmp::Reverse(moved_among(map, *served)));
        let mut best = Best::below(below);
        for (step, served) in firsts.into_iter().take(most) {
            let yes = Route::one(step);
            let left = best.below.saturating_sub(select + yes.score(self.profile));
            let no = if left > 0 { rest(&map.only(|i| served >> i & 1 == 0), left) } else { None };
            let route = |no| Route::Select { lanes: served, yes: Box::new(yes), no: Box::new(no) };
            best.offer(no.map(route), self.profile);
        }
        best.route
    }

    /// One move after another: the second from a short list, and the first that it then requires.
    pub fn after(&self, map: &LaneMap, below: u64) -> Option<Route> {
        if below <= 2 * self.least() {
            return None;
        }
        let mut best = Best::below(below);
        for second in self.seconds(map.size()) {
            let left = best.below.saturating_sub(Route::one(second).score(self.profile));
            let first = before(map, &second).and_then(|map| self.one(&map, left));
            // A masked second move leaves the first move's result in some lanes.
            let over = LaneMap::of_move(map.size(), &second).is_some_and(|map| map.has(Source::Old));
            let over = |first: &Route| over.then(|| Box::new(first.clone()));
            let route = |first: Route| Route::Moved { step: second, over: over(&first), of: Box::new(first) };
            best.offer(first.filter(|first| *first != Route::Own).map(route), self.profile);
        }
        best.route
    }

    /// The DPP controls of the profile that give at least one lane its value.
    fn controls(&self, map: &LaneMap) -> impl Iterator<Item = DppControl> {
        let features = self.profile.features;
        let has = move |control: &DppControl| features.has_all(Dpp16::new(*control).needs());
        let moved: Vec<(u32, u32)> = map.moves().collect();
        let size = map.size();
        let serves = move |control: &DppControl| moved.iter().any(|(i, lane)| control.lane(*i, size) == Some(*lane));
        quads(map).chain(DppControl::all_but_quad()).filter(has).filter(serves)
    }

    /// Moves that may serve some lanes, with the parameters that the first and the last moved lane require.
    fn partial_moves(&self, map: &LaneMap) -> Vec<Move> {
        let controls = self.controls(map).map(|control| Move::plain(Dpp16::new(control)));
        let ends = ends(map);
        let swizzles = ends.iter().flat_map(|(i, lane)| swizzles(*i, *lane));
        let rows = [false, true].into_iter().map(|across| Move::plain(row_move(map, across)));
        let reads = ends.iter().map(|(_, lane)| Move::with_constant(ScalarOp::ReadLane, *lane));
        let halves = [Move::plain(PermlaneOp::Half)].into_iter().chain(swaps());
        let all = controls.chain(rows).chain(halves).chain(reads).chain(swizzles);
        all.filter(|step| step.primitive.exists(map.size(), self.profile.features)).collect()
    }

    /// Second moves: permutations, so that any map has a first move, and copies of one half of each 8 or 16 lanes to
    /// the other half.
    fn seconds(&self, size: u32) -> Vec<Move> {
        use DppControl as C;
        let dpp = [
            C::QuadPerm(0xb1),
            C::QuadPerm(0x4e),
            C::QuadPerm(0x1b),
            C::RowMirror,
            C::RowHalfMirror,
            C::WaveRol,
            C::WaveRor,
        ];
        let turns = (1..16).map(C::RowRor).chain((1..16).map(C::RowXmask));
        let dpp = dpp.into_iter().chain(turns).map(|control| Move::plain(Dpp16::new(control)));
        let across = PermlaneOp::Row { across: true, selectors: 0xfedc_ba98_7654_3210, fetch: Fetch::default() };
        let far = [Move::plain(PermlaneOp::Half), Move::plain(across)];
        let exists = |step: &Move| step.primitive.exists(size, self.profile.features);
        let copy = |control, bank_mask| Dpp16 { bank_mask, bound_ctrl: false, ..Dpp16::new(control) };
        let copies = [(C::RowShr(4), 0xa), (C::RowShl(4), 0x5), (C::RowShr(8), 0xc), (C::RowShl(8), 0x3)];
        let copies = copies.map(|(control, banks)| Move::plain(copy(control, banks)));
        far.into_iter().chain(dpp).chain(copies).filter(exists).collect()
    }

    /// Returns true if a single move returns zero if its source lane is inactive, as some operations guarantee.
    pub fn gives_zero(map: &LaneMap, step: &Move) -> bool {
        let instruction = step.primitive.instruction();
        let index = [Index::Uniform(0); 2];
        let gives = |(i, lane): (u32, u32)| {
            let full = Lanes::full(map.size());
            let lanes = Lanes { active: full.active & !(1 << lane), ..full };
            lane == i || instruction.source(i, &index[..instruction.index_operands()], lanes) == Some(Source::Zero)
        };
        map.lanes().all(gives)
    }
}

/// The number of moved lanes in a set.
fn moved_among(map: &LaneMap, set: u64) -> u32 {
    (map.moved_lanes().low & u128::from(set)).count_ones()
}

/// The first and the last moved lane, each with its source.
fn ends(map: &LaneMap) -> Vec<(u32, u32)> {
    let mut moves = map.moves();
    [moves.next(), moves.next_back()].into_iter().flatten().collect()
}

/// Lanes that a single move serves.
fn reached(map: &LaneMap, step: &Move) -> u64 {
    let (instruction, lanes) = (step.primitive.instruction(), Lanes::full(map.size()));
    let constant = |arg: &Arg| if let Arg::Const(index) = arg { Index::Uniform(*index) } else { Index::Uniform(0) };
    let index = step.args.each_ref().map(constant);
    let index = &index[..instruction.index_operands()];
    served(map, |i| match instruction.source(i, index, lanes) {
        // The lane keeps the value that both registers of a swap contained.
        Some(Source::Old) => Source::Own,
        source => source.unwrap_or(Source::Undefined),
    })
}

/// The quad permutations that the first and the last moved lanes require.
fn quads(map: &LaneMap) -> impl Iterator<Item = DppControl> {
    let of_quad = |(i, _): (u32, u32)| {
        let quad = map.only(|j| j / 4 == i / 4);
        quad.selectors(4, 0).map(|selectors| DppControl::QuadPerm(selectors as u8))
    };
    ends(map).into_iter().filter_map(of_quad).collect::<Vec<_>>().into_iter()
}

/// A move within rows, with the first selector that each position needs.
fn row_move(map: &LaneMap, across: bool) -> PermlaneOp {
    let other = u32::from(across) << 4;
    let mut chosen = [None; 16];
    for (i, lane) in map.moves().filter(|(i, lane)| (i ^ other) / 16 == lane / 16) {
        chosen[(i % 16) as usize].get_or_insert(lane % 16);
    }
    let packed = (0..16).map(|k| u64::from(chosen[k as usize].unwrap_or(k)) << (4 * k));
    PermlaneOp::Row { across, selectors: packed.fold(0, |all, selector| all | selector), fetch: Fetch::default() }
}

fn swaps() -> impl Iterator<Item = Move> {
    let fetch = Fetch::default();
    let of = move |block| [PermlaneOp::SwapFirst { block, fetch }, PermlaneOp::SwapSecond { block, fetch }];
    [16, 32].into_iter().flat_map(of).map(Move::plain)
}

/// Swizzles with which lane `i` reads `lane`: by xor, and by rotations of 4 to 32 lanes.
fn swizzles(i: u32, lane: u32) -> Vec<Move> {
    let xor = Swizzle::Mask { and: 31, or: 0, xor: ((i ^ lane) & 31) as u8 };
    let turn = |width: u32| {
        let (keep, count) = (31 & !(width - 1), lane.wrapping_sub(i) & (width - 1));
        Swizzle::Rotate { down: false, count: count as u8, keep: keep as u8 }
    };
    let all = [xor].into_iter().chain([4, 8, 16, 32].map(turn));
    all.map(|swizzle| Move::plain(LdsOp::Swizzle(swizzle))).collect()
}

/// Masks under which a control gives only correct values, with the lanes that it then writes: for each pattern of banks
/// that some row allows, all rows that allow it.
fn masked(map: &LaneMap, control: DppControl) -> Vec<(Dpp16, u64)> {
    let rows = map.size().div_ceil(16);
    let right = |i: u32| control.lane(i, map.size()).is_none_or(|lane| map.accepts(i, Source::Lane(lane)));
    let allowed = |row: u32| {
        (0..4).filter(|bank| (0..4).all(|k| right(16 * row + 4 * bank + k))).fold(0_u8, |set, bank| set | 1 << bank)
    };
    let banks: Vec<u8> = (0..rows).map(allowed).collect();
    let mut patterns: Vec<u8> = banks.iter().copied().filter(|pattern| *pattern != 0).collect();
    patterns.sort_unstable();
    patterns.dedup();
    let with = |bank_mask: u8| {
        let fits = |row: &u32| banks[*row as usize] & bank_mask == bank_mask;
        let row_mask = (0..rows).filter(fits).fold(0, |set, row| set | 1 << row);
        // Rows that a smaller wave has not are as good as written.
        let row_mask = if rows < 4 && row_mask == (1 << rows) - 1 { 15 } else { row_mask };
        let dpp = Dpp16 { row_mask, bank_mask, bound_ctrl: false, ..Dpp16::new(control) };
        (dpp, reached_by(map, dpp))
    };
    patterns.into_iter().map(with).filter(|(_, served)| moved_among(map, *served) > 0).collect()
}

/// Lanes that a masked move writes.
fn reached_by(map: &LaneMap, dpp: Dpp16) -> u64 {
    let lanes = Lanes::full(map.size());
    let writes = |i: &u32| matches!(dpp.source(*i, &[], lanes), Some(Source::Lane(_)));
    (0..map.size()).filter(writes).fold(0, |set, i| set | 1 << i)
}

/// The map that must precede a later move to give `map`; `None` if two lanes need different values in one lane.
fn before(map: &LaneMap, second: &Move) -> Option<LaneMap> {
    let moved = LaneMap::of_move(map.size(), second)?;
    let mut wants: Vec<Option<Source>> = vec![None; map.size() as usize];
    for (i, lane) in map.lanes() {
        let through = if moved.want(i) == Some(Source::Old) { i } else { moved.lane(i)? };
        let entry = wants.get_mut(through as usize)?;
        if *entry.get_or_insert(Source::Lane(lane)) != Source::Lane(lane) {
            return None;
        }
    }
    Some(LaneMap::new(map.size(), |i| wants[i as usize]))
}

/// The primitive of a route that is a single move of the value, independent of any old value.
pub fn single(route: &Route) -> Option<Primitive> {
    match route {
        Route::Moved { step, of, over: None } if **of == Route::Own => Some(step.primitive),
        _ => None,
    }
}
