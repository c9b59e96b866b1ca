//! Moves: shuffles, butterflies, rotations, swizzles, broadcasts, permutations.
//!
//! If the source of every lane is known, the move is a lane map, and [`super::search`] finds a route for it. Only an
//! index that depends on data goes through the local data share.
//!
//! | wanted | gfx6, 7 | gfx8, 9, CDNA | gfx10 and later |
//! |---|---|---|---|
//! | any map of quads | ds_swizzle | v_mov_b32_dpp quad_perm | the same |
//! | `i ^ 4` | ds_swizzle | row_shr:4, then row_shl:4 under a bank mask | row_xmask:4 |
//! | `i ^ 7`, `i ^ 8`, `i ^ 15` | ds_swizzle | row_half_mirror, row_ror:8, row_mirror | row_xmask |
//! | `i ^ 16` | ds_swizzle | ds_swizzle (gfx950: permlane16_swap, select) | v_permlanex16 |
//! | `i ^ 32` | through memory | ds_bpermute (gfx950: permlane32_swap, select) | v_permlane64 (gfx10: through memory) |
//! | a lane of data | through memory | ds_bpermute | ds_bpermute; for 64 lanes two of them, or memory |

use super::route::Route;
use super::search::{Search, single};
use crate::lane::op::{LaneOp, QuadMove, ReduceOp, ShuffleMode};
use crate::lane::plan::{Activity, AluOp, Operand, StepType};
use crate::lane::planner::build::Builder;
use crate::lane::planner::common::nv_shuffle;
use crate::lane::planner::{Answer, No, Rule};
use crate::lane::primitive::{
    LaneMap, LdsOp, Move, PermlaneOp, Reach, ScalarOp, Source, amd_dpp, amd_lds, amd_permlane, amd_scalar, fusion,
};
use crate::lane::request::{Known, LaneType};
use crate::profile::{Feature, FeatureSet};

pub static RULES: &[Rule] = &[
    Rule { name: "the own value", needs: &[], build: own },
    Rule { name: "one DPP move", needs: &[Feature::AmdDpp16], build: |b| one(b, amd_dpp::solve_dpp16) },
    Rule { name: "one DPP8 move", needs: &[Feature::AmdDpp8], build: |b| one(b, amd_dpp::solve_dpp8) },
    Rule { name: "one PERMLANE16", needs: &[Feature::AmdPermlane16], build: |b| one(b, amd_permlane::solve_row) },
    Rule { name: "one PERMLANE64", needs: &[Feature::AmdPermlane64], build: |b| one(b, amd_permlane::solve_half) },
    Rule { name: "one READLANE", needs: &[], build: |b| one(b, amd_scalar::solve_read) },
    Rule { name: "one DS_SWIZZLE", needs: &[Feature::AmdSwizzle], build: |b| one(b, amd_lds::solve_swizzle) },
    Rule {
        name: "two moves merged by row and bank masks",
        needs: &[Feature::AmdDpp16],
        build: |b| composed(b, |search, map, below| search.merged(map, below)),
    },
    Rule {
        name: "one of two moves by a mask of lanes",
        needs: &[],
        build: |b| composed(b, |search, map, below| search.selected(map, below)),
    },
    Rule {
        name: "one move after another",
        needs: &[Feature::AmdDpp16],
        build: |b| composed(b, |search, map, below| search.after(map, below)),
    },
    Rule {
        name: "three moves",
        needs: &[Feature::AmdDpp16],
        build: |b| composed(b, |search, map, below| search.three(map, below)),
    },
    Rule { name: "DS_BPERMUTE", needs: &[Feature::AmdPermute], build: by_crossbar },
    Rule {
        name: "DS_BPERMUTE of both halves, one brought near by PERMLANE64",
        needs: &[Feature::AmdPermute, Feature::AmdPermlane64],
        build: by_two_halves,
    },
    Rule {
        name: "DS_BPERMUTE of both halves in shared registers",
        needs: &[Feature::AmdPermute, Feature::AmdSharedVgpr],
        build: by_shared_registers,
    },
    Rule { name: "through LDS memory", needs: &[], build: by_memory },
    Rule { name: "READLANE of a uniform lane", needs: &[], build: broadcast },
    Rule { name: "READFIRSTLANE", needs: &[], build: broadcast_first },
    Rule { name: "DS_PERMUTE", needs: &[Feature::AmdPermute], build: push },
    Rule { name: "push by masks of the index", needs: &[], build: push_by_masks },
    Rule { name: "select of one lane", needs: &[], build: write_lane },
    Rule { name: "WRITELANE", needs: &[], build: write_scalar },
];

/// The requirements of a move.
struct Wanted {
    map: LaneMap,
    /// A lane whose source is inactive gets zero.
    zero: bool,
}

/// The source of lane `i`, if the operation is defined there; refused if it depends on data.
fn wanted(b: &Builder) -> Result<Wanted, No> {
    let size = b.lanes();
    let zero = matches!(b.request.op, LaneOp::QuadPermuteZero(_) | LaneOp::SwizzleMasked { .. });
    let mut known = true;
    let map = LaneMap::new(size, |i| match source(b, i, size) {
        Some(source) => source.filter(|lane| *lane < size).map(Source::Lane),
        None => {
            known = false;
            None
        }
    });
    // If all lanes are active, no source is missing.
    let zero = zero && b.request.activity != Activity::Full;
    if known { Ok(Wanted { map, zero }) } else { Err(No::NotMine) }
}

/// The significant bits of operand 1 in lane `i`, if known at compile time.
fn index_at(b: &Builder, i: u32) -> Option<u32> {
    let index = match b.request.inputs.get(1)?.known {
        Known::Constant(value) => value,
        _ => *b.request.index.as_deref()?.get(i as usize)?,
    };
    Some(index & b.index_bits())
}

fn constant(b: &Builder, n: usize) -> Option<u32> {
    match b.request.inputs.get(n)?.known {
        Known::Constant(value) => Some(value),
        _ => None,
    }
}

/// The lane that lane `i` reads: the outer `None` if it depends on data, the inner one if any lane will do.
fn source(b: &Builder, i: u32, size: u32) -> Option<Option<u32>> {
    use LaneOp as O;
    let quad = i & !3;
    Some(match b.request.op {
        O::Quad { mv, .. } | O::QuadAdd(mv) => Some(match mv {
            QuadMove::Lane(lane) => quad | u32::from(lane),
            QuadMove::X => i ^ 1,
            QuadMove::Y => i ^ 2,
            QuadMove::Diagonal => i ^ 3,
        }),
        O::QuadPermute(mode) | O::QuadPermuteZero(mode) => Some(quad | (u32::from(mode) >> (2 * (i & 3)) & 3)),
        O::QuadBroadcast => Some(constant(b, 1)?).filter(|lane| *lane < 4).map(|lane| quad | lane),
        O::Swap(swap, width) => Some(i ^ swap.mask(width.lanes_in(size))),
        O::Shuffle(mode) => moved_by(mode, i, index_at(b, i)?),
        O::Rotate(width) => {
            let mask = width.lanes_in(size) - 1;
            Some((i & !mask) | (i.wrapping_add(constant(b, 1)?) & mask))
        }
        O::Bpermute => Some(index_at(b, i)?),
        O::Broadcast => Some(constant(b, 1)?),
        O::ShuffleNv(mode) => Some(nv_source(mode, i, index_at(b, i)?, constant(b, 2)?).unwrap_or(i)),
        O::SwizzleMasked { and, or, xor } => {
            Some((i & !31) | ((((i & 31 & u32::from(and)) | u32::from(or)) ^ u32::from(xor)) & 31))
        }
        _ => return None,
    })
}

fn moved_by(mode: ShuffleMode, i: u32, index: u32) -> Option<u32> {
    match mode {
        ShuffleMode::Index => Some(index),
        ShuffleMode::Xor => Some(i ^ index),
        ShuffleMode::Up => i.checked_sub(index),
        ShuffleMode::Down => i.checked_add(index),
    }
}

/// The source of an NV shuffle; `None` if it is out of range.
pub fn nv_source(mode: ShuffleMode, i: u32, index: u32, width: u32) -> Option<u32> {
    let base = i & !(width - 1);
    let lane = match mode {
        ShuffleMode::Index => Some(base + index),
        _ => moved_by(mode, i, index),
    };
    lane.filter(|lane| (base..base + width).contains(lane))
}

/// The moved value: a bool as a number.
fn unwrapped(b: &mut Builder) -> Operand {
    let value = b.value();
    if b.request.inputs[0].ty == LaneType::BOOL { b.select(value, Operand::Const(1), Operand::Const(0)) } else { value }
}

/// The final result for a moved value: adds the operand of NV_shader_thread_group's swizzles.
fn wrapped(b: &mut Builder, moved: Operand) -> Operand {
    match b.request.op {
        LaneOp::QuadAdd(_) => b.combine(ReduceOp::Add, moved, Operand::Input(1)),
        _ if b.request.inputs[0].ty == LaneType::BOOL => b.alu(AluOp::Ne, moved, Operand::Const(0)),
        _ => moved,
    }
}

/// Emits a route, in all lanes of the wave if values pass through other lanes.
fn follow(b: &mut Builder, route: &Route) -> Operand {
    let value = unwrapped(b);
    if let (LaneOp::QuadAdd(_), Some(primitive)) = (b.request.op, single(route))
        && fusion::carries(b.profile, ReduceOp::Add, b.request.inputs[0].ty, primitive)
    {
        return b.combine_moved(ReduceOp::Add, primitive, Operand::Input(1), value);
    }
    let moved = emit(b, route, value);
    wrapped(b, moved)
}

/// The value moved along a route.
pub fn emit(b: &mut Builder, route: &Route, value: Operand) -> Operand {
    match b.request.activity {
        Activity::Full if route.passes_through() => {
            b.assumes = Activity::Full;
            route.emit(b, value)
        }
        _ if route.passes_through() && !b.is_in_whole_wave() => b.in_whole_wave(|b| route.emit(b, value)),
        _ => route.emit(b, value),
    }
}

fn own(b: &mut Builder) -> Answer {
    let wanted = wanted(b)?;
    if !wanted.map.accepts_own() {
        return Err(No::NotMine);
    }
    let value = b.value();
    match b.request.op {
        LaneOp::QuadAdd(_) => Ok(wrapped(b, value)),
        _ => Ok(value),
    }
}

fn one(b: &mut Builder, solve: fn(&LaneMap, FeatureSet) -> Option<Move>) -> Answer {
    let Wanted { map, zero } = wanted(b)?;
    if map.accepts_own() {
        return Err(No::NotMine);
    }
    let step =
        solve(&map, b.profile.features).map(|step| if zero { with_zero(step) } else { step }).ok_or(No::NotMine)?;
    if zero && !Search::gives_zero(&map, &step) {
        return Err(No::NotMine);
    }
    Ok(follow(b, &Route::one(step)))
}

/// The move, with zero from inactive lanes if its parameters support it.
fn with_zero(mut step: Move) -> Move {
    if let crate::lane::primitive::Primitive::Permlane(PermlaneOp::Row { fetch, .. }) = &mut step.primitive {
        fetch.bound_ctrl = true;
    }
    step
}

/// A composition that is cheaper than any single move.
fn composed(b: &mut Builder, find: fn(&Search, &LaneMap, u64) -> Option<Route>) -> Answer {
    let Wanted { map, zero } = wanted(b)?;
    if zero || map.accepts_own() {
        return Err(No::NotMine);
    }
    let search = Search { profile: b.profile };
    let below = search.one(&map, u64::MAX).map_or(u64::MAX, |route| route.score(b.profile));
    let below = below.min(search.through_lds(map.size()));
    let route = find(&search, &map, below).ok_or(No::NotMine)?;
    Ok(follow(b, &route))
}

/// The index of the source lane, in lanes where the operation is defined, and the size of the segment that it stays in.
fn index(b: &mut Builder) -> Result<(Operand, u32), No> {
    use LaneOp as O;
    let size = b.lanes();
    let i = b.index();
    let in_segment = |b: &mut Builder, lane: Operand, width: u32| {
        let (base, local) = (b.base(width), b.alu(AluOp::And, lane, Operand::Const(width - 1)));
        (b.alu(AluOp::Or, base, local), width)
    };
    Ok(match b.request.op {
        O::Shuffle(ShuffleMode::Index) | O::Bpermute => (named(b), size),
        O::Shuffle(mode) => {
            let operand = b.input(1);
            (shifted(b, mode, operand), size)
        }
        O::Swap(swap, width) => {
            let width = width.lanes_in(size);
            (b.alu(AluOp::Xor, i, Operand::Const(swap.mask(width))), width)
        }
        O::Rotate(width) => {
            let operand = b.input(1);
            let turned = b.alu(AluOp::Add, i, operand);
            in_segment(b, turned, width.lanes_in(size))
        }
        O::QuadBroadcast => {
            let lane = b.input(1);
            in_segment(b, lane, 4)
        }
        O::Broadcast => (b.input(1), size),
        O::ShuffleNv(mode) => {
            let call = nv_shuffle::call(b, mode, 1);
            (nv_shuffle::target(b, call), 32)
        }
        _ => return Err(No::NotMine),
    })
}

/// The lane that operand 1 names. If that is the lane index with bits flipped or with a constant added, it is computed
/// in the setup.
fn named(b: &mut Builder) -> Operand {
    let last = b.lanes() - 1;
    let is = |row: &[u32], lane: &dyn Fn(u32) -> u32| (0..).zip(row).all(|(i, at)| *at == lane(i));
    let (i, row) = (b.index(), b.request.index.as_deref().unwrap_or_default());
    match row.first() {
        Some(first) if is(row, &|i| i ^ first) => b.alu(AluOp::Xor, i, Operand::Const(*first)),
        Some(first) if is(row, &|i| (i + first) & last) => {
            let sum = b.alu(AluOp::Add, i, Operand::Const(*first));
            b.alu(AluOp::And, sum, Operand::Const(last))
        }
        _ => b.input(1),
    }
}

fn shifted(b: &mut Builder, mode: ShuffleMode, index: Operand) -> Operand {
    let i = b.index();
    match mode {
        ShuffleMode::Index => index,
        ShuffleMode::Xor => b.alu(AluOp::Xor, i, index),
        ShuffleMode::Up => b.alu(AluOp::Sub, i, index),
        ShuffleMode::Down => b.alu(AluOp::Add, i, index),
    }
}

/// The value that was read, or the lane's own value if an NV shuffle is out of range.
fn guarded(b: &mut Builder, value: Operand, moved: Operand) -> Operand {
    let moved = match b.request.op {
        LaneOp::ShuffleNv(mode) => {
            let call = nv_shuffle::call(b, mode, 1);
            let range = nv_shuffle::in_range(b, call);
            b.select(range, moved, value)
        }
        _ => moved,
    };
    wrapped(b, moved)
}

/// These rules do not apply to a known index whose map is a fixed move, but they compete otherwise.
fn gather(b: &mut Builder, read: impl FnOnce(&mut Builder, Operand, Operand, u32) -> Answer) -> Answer {
    let (index, span) = index(b)?;
    let value = unwrapped(b);
    let moved = read(b, value, index, span)?;
    Ok(guarded(b, value, moved))
}

fn address(b: &mut Builder, lane: Operand) -> Operand {
    b.alu(AluOp::Shl, lane, Operand::Const(2))
}

/// Reads lane `index` through the crossbar; `index` stays in the lane's segment of `span` lanes.
fn crossbar(b: &mut Builder, value: Operand, index: Operand, span: u32) -> Answer {
    let reach = Reach::of(b.lanes(), b.profile.features);
    if reach == Reach::Half && span > 32 {
        return Err(No::NotMine);
    }
    let address = address(b, index);
    let read = LdsOp::Bpermute { reach, offset: 0, fetch_inactive: false };
    Ok(b.prim(read, &[value, address], b.ty(value)))
}

fn by_crossbar(b: &mut Builder) -> Answer {
    gather(b, crossbar)
}

fn memory(b: &mut Builder, value: Operand, index: Operand, _: u32) -> Answer {
    let index = match b.request.op {
        LaneOp::Bpermute => b.modulo(index),
        _ => index,
    };
    let address = address(b, index);
    Ok(b.prim(LdsOp::Bounce, &[value, address], b.ty(value)))
}

fn by_memory(b: &mut Builder) -> Answer {
    gather(b, memory)
}

/// Reads any lane: the cheapest way for an index that depends on data.
pub fn read_lane(b: &mut Builder, value: Operand, index: Operand, span: u32) -> Operand {
    let reads = b.has(Feature::AmdPermute).then(|| crossbar(b, value, index, span));
    match reads {
        Some(Ok(moved)) => moved,
        _ => {
            let address = address(b, index);
            b.prim(LdsOp::Bounce, &[value, address], b.ty(value))
        }
    }
}

/// Returns true if the crossbar's reach is too short.
fn is_far(b: &Builder, span: u32) -> bool {
    span > 32 && Reach::of(b.lanes(), b.profile.features) == Reach::Half
}

const NEAR: LdsOp = LdsOp::Bpermute { reach: Reach::Half, offset: 0, fetch_inactive: false };

/// Runs moves in all lanes of the wave, unless all are known to be active.
fn in_all_lanes(b: &mut Builder, build: impl FnOnce(&mut Builder) -> Operand) -> Operand {
    if b.request.activity == Activity::Full {
        b.assumes = Activity::Full;
        return build(b);
    }
    b.in_whole_wave(build)
}

fn by_two_halves(b: &mut Builder) -> Answer {
    gather(b, |b, value, index, span| {
        if !is_far(b, span) {
            return Err(No::NotMine);
        }
        let (address, ty) = (address(b, index), b.ty(value));
        let near = b.prim(NEAR, &[value, address], ty);
        let far = in_all_lanes(b, |b| {
            let swapped = b.prim(PermlaneOp::Half, &[value], ty);
            b.prim(NEAR, &[swapped, address], ty)
        });
        let i = b.index();
        let differs = b.alu(AluOp::Xor, i, index);
        let half = b.alu(AluOp::And, differs, Operand::Const(32));
        let other = b.alu(AluOp::Ne, half, Operand::Const(0));
        Ok(b.select(other, far, near))
    })
}

fn by_shared_registers(b: &mut Builder) -> Answer {
    gather(b, |b, value, index, span| {
        if !is_far(b, span) {
            return Err(No::NotMine);
        }
        let (address, ty) = (address(b, index), b.ty(value));
        let mut halves = [Operand::None; 2];
        in_all_lanes(b, |b| {
            halves = [false, true].map(|high| {
                let half = b.prim(PermlaneOp::Shared { high }, &[value], ty);
                b.prim(NEAR, &[half, address], ty)
            });
            halves[1]
        });
        let half = b.alu(AluOp::And, index, Operand::Const(32));
        let high = b.alu(AluOp::Ne, half, Operand::Const(0));
        Ok(b.select(high, halves[1], halves[0]))
    })
}

fn broadcast(b: &mut Builder) -> Answer {
    let is_broadcast = matches!(b.request.op, LaneOp::Broadcast);
    let uniform = matches!(b.request.op, LaneOp::Bpermute | LaneOp::Shuffle(ShuffleMode::Index))
        && b.request.inputs[1].known == Known::Uniform;
    if !is_broadcast && !uniform || constant(b, 1).is_some() {
        return Err(No::NotMine);
    }
    let value = unwrapped(b);
    let lane = b.prim(ScalarOp::ReadFirstLane, &[Operand::Input(1)], StepType::Index);
    let read = b.prim(ScalarOp::ReadLane, &[value, lane], b.ty(value));
    Ok(wrapped(b, read))
}

fn broadcast_first(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::BroadcastFirst {
        return Err(No::NotMine);
    }
    let value = unwrapped(b);
    let read = b.prim(ScalarOp::ReadFirstLane, &[value], b.ty(value));
    Ok(wrapped(b, read))
}

fn push(b: &mut Builder) -> Answer {
    let reach = Reach::of(b.lanes(), b.profile.features);
    if b.request.op != LaneOp::Permute || reach == Reach::Half {
        return Err(No::NotMine);
    }
    let value = unwrapped(b);
    let address = address(b, Operand::Input(1));
    let pushed = b.prim(LdsOp::Permute { reach, offset: 0 }, &[value, address], b.ty(value));
    Ok(wrapped(b, pushed))
}

/// Ballots of the index's bits tell each lane which lanes push to it; the highest of them is read.
fn push_by_masks(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::Permute {
        return Err(No::NotMine);
    }
    let words = b.lanes() / 32;
    let active = b.prim(ScalarOp::Active, &[], StepType::Ballot);
    let mut senders: Vec<Operand> = (0..words).map(|n| b.alu(AluOp::BallotWord, active, Operand::Const(n))).collect();
    for bit in 0..b.lanes().ilog2() {
        let masked = b.alu(AluOp::And, Operand::Input(1), Operand::Const(1 << bit));
        let set = b.alu(AluOp::Ne, masked, Operand::Const(0));
        let ones = b.prim(ScalarOp::Ballot, &[set], StepType::Ballot);
        let has_not = b.in_set((0..64).filter(|lane| lane >> bit & 1 == 0).fold(0, |set, lane| set | 1 << lane));
        let flip = b.select(has_not, Operand::Const(u32::MAX), Operand::Const(0));
        for (n, senders) in senders.iter_mut().enumerate() {
            let word = b.alu(AluOp::BallotWord, ones, Operand::Const(n as u32));
            let alike = b.alu(AluOp::Xor, flip, word);
            *senders = b.alu(AluOp::And, alike, *senders);
        }
    }
    let all = senders.iter().copied().reduce(|all, word| b.alu(AluOp::Or, all, word)).ok_or(No::NotMine)?;
    let some = b.alu(AluOp::Ne, all, Operand::Const(0));
    let highest = highest(b, &senders);
    let value = unwrapped(b);
    let size = b.lanes();
    let (pushed, zero) = (read_lane(b, value, highest, size), zero_of(b, value));
    let result = b.select(some, pushed, zero);
    Ok(wrapped(b, result))
}

fn zero_of(b: &mut Builder, value: Operand) -> Operand {
    if b.ty(value) == StepType::Index { Operand::Const(0) } else { b.zero() }
}

/// The highest set bit of a mask in one or two words, if any.
fn highest(b: &mut Builder, words: &[Operand]) -> Operand {
    let low = b.alu1(AluOp::FindMsb, words[0]);
    let Some(high) = words.get(1) else { return low };
    let in_high = b.alu(AluOp::Ne, *high, Operand::Const(0));
    let bit = b.alu1(AluOp::FindMsb, *high);
    let bit = b.alu(AluOp::Or, bit, Operand::Const(32));
    b.select(in_high, bit, low)
}

fn write_lane(b: &mut Builder) -> Answer {
    if b.request.op != LaneOp::WriteLane {
        return Err(No::NotMine);
    }
    let is_lane = match b.input(2) {
        Operand::Const(lane @ 0..64) => b.in_set(1 << lane),
        Operand::Const(_) => Operand::Bool(false),
        lane => {
            let i = b.index();
            b.alu(AluOp::Eq, i, lane)
        }
    };
    Ok(b.select(is_lane, Operand::Input(1), Operand::Input(0)))
}

/// For a uniform new value and a valid lane index.
fn write_scalar(b: &mut Builder) -> Answer {
    let lane = match constant(b, 2) {
        Some(lane) if b.request.op == LaneOp::WriteLane && lane < b.lanes() => lane,
        _ => return Err(No::NotMine),
    };
    if b.request.inputs[1].known != Known::Uniform || b.request.inputs[0].ty == LaneType::BOOL {
        return Err(No::NotMine);
    }
    let new = b.prim(ScalarOp::ReadFirstLane, &[Operand::Input(1)], StepType::Like(1));
    Ok(b.prim(ScalarOp::WriteLane, &[new, Operand::Input(0), Operand::Const(lane)], StepType::DATA))
}
