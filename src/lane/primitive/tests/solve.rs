//! Solvers find parameters for every map that their instruction supports, and only for these.

use super::Random;
use crate::lane::op::ShuffleMode;
use crate::lane::primitive::nv::{shuffle, shuffle_mask};
use crate::lane::primitive::{
    Dpp8, Dpp16, DppControl, Fetch, LaneMap, LdsOp, Move, PermlaneOp, ScalarOp, Source, Swizzle, amd_dpp, amd_lds,
    amd_permlane, amd_scalar, nv,
};
use crate::profile::{Feature, FeatureSet, Profile};

type Solver = fn(&LaneMap, FeatureSet) -> Option<Move>;

const SOLVERS: [(&str, Solver); 8] = [
    ("SHF with constants", nv::solve_shuffle),
    ("DPP", amd_dpp::solve_dpp16),
    ("DPP8", amd_dpp::solve_dpp8),
    ("PERMLANE16", amd_permlane::solve_row),
    ("PERMLANE64", amd_permlane::solve_half),
    ("PERMLANE_SWAP", amd_permlane::solve_swap),
    ("READLANE", amd_scalar::solve_read),
    ("DS_SWIZZLE", amd_lds::solve_swizzle),
];

fn everything() -> FeatureSet {
    Feature::ALL.iter().copied().collect()
}

fn solve(solver: &str, map: &LaneMap) -> Option<Move> {
    let (_, solve) = SOLVERS.iter().find(|(name, _)| *name == solver).expect("a solver");
    solve(map, everything())
}

/// The solver finds the map of a move, and parts of it.
fn finds(solver: &str, step: Move, size: u32, random: &mut Random) {
    let map = LaneMap::of_move(size, &step).expect("a mover with constants");
    let found = solve(solver, &map).unwrap_or_else(|| panic!("{step:?} is not found again"));
    let again = LaneMap::of_move(size, &found).expect("constants are found for constants");
    let lane_or = |map: &LaneMap, i| map.lane(i).map_or(map.want(i), |lane| Some(Source::Lane(lane)));
    let differs = |i: &u32| map.want(*i).is_some() && lane_or(&map, *i) != lane_or(&again, *i);
    assert_eq!((0..size).find(differs), None, "{step:?} gives {found:?}");
    let keep = random.next();
    let part = LaneMap::new(size, |i| map.want(i).filter(|_| keep >> i & 1 == 1));
    if part.moved().is_some() {
        let found = solve(solver, &part).unwrap_or_else(|| panic!("a part of {step:?} is not found"));
        assert!(part.is_met_by(&found), "{step:?} gives {found:?}");
    }
}

#[test]
fn dpp_is_found_again() {
    let mut random = Random(101);
    let quads = (0..=255).map(DppControl::QuadPerm);
    for control in quads.chain(DppControl::all_but_quad()) {
        finds("DPP", Move::plain(Dpp16::new(control)), 64, &mut random);
        for _ in 0..6 {
            let (row_mask, bank_mask) = (1 + random.below(15) as u8, 1 + random.below(15) as u8);
            let dpp = Dpp16 { row_mask, bank_mask, bound_ctrl: random.below(2) == 1, ..Dpp16::new(control) };
            let map = LaneMap::of_move(64, &Move::plain(dpp)).expect("a mover");
            let found = solve("DPP", &map).unwrap_or_else(|| panic!("{dpp:?} is not found again"));
            assert_eq!(LaneMap::of_move(64, &found), Some(map));
        }
    }
}

#[test]
fn permutations_in_groups_are_found_again() {
    let mut random = Random(103);
    for n in 0..500 {
        let selectors = random.next();
        let size = 32 << (n % 2);
        let eight = Dpp8 { selectors: selectors as u32 & 0xff_ffff, fetch_inactive: false };
        finds("DPP8", Move::plain(eight), size, &mut random);
        let row = PermlaneOp::Row { across: n % 4 < 2, selectors, fetch: Fetch::default() };
        finds("PERMLANE16", Move::plain(row), size, &mut random);
    }
}

#[test]
fn swizzles_are_found_again() {
    let mut random = Random(107);
    for bits in 0..1 << 15_u32 {
        let (and, or, xor) = ((bits & 31) as u8, (bits >> 5 & 31) as u8, (bits >> 10) as u8);
        finds("DS_SWIZZLE", Move::plain(LdsOp::Swizzle(Swizzle::Mask { and, or, xor })), 32, &mut random);
    }
    for n in 0..=255_u8 {
        finds("DS_SWIZZLE", Move::plain(LdsOp::Swizzle(Swizzle::Quad(n))), 64, &mut random);
    }
    for bits in 0..2048_u32 {
        let (down, count, keep) = (bits & 1 == 1, (bits >> 1 & 31) as u8, (bits >> 6) as u8);
        finds("DS_SWIZZLE", Move::plain(LdsOp::Swizzle(Swizzle::Rotate { down, count, keep })), 32, &mut random);
    }
    for keep in 0..32 {
        finds("DS_SWIZZLE", Move::plain(LdsOp::Swizzle(Swizzle::Fft { keep })), 64, &mut random);
    }
}

#[test]
fn shuffles_are_found_again() {
    let mut random = Random(109);
    for mode in [ShuffleMode::Up, ShuffleMode::Down, ShuffleMode::Xor, ShuffleMode::Index] {
        for width in [2, 4, 8, 16, 32] {
            for index in 0..32 {
                finds("SHF with constants", shuffle(mode, index, shuffle_mask(mode, width)), 32, &mut random);
            }
        }
    }
    for segment in 0..32 {
        for index in 0..32 {
            finds("SHF with constants", shuffle(ShuffleMode::Index, index, segment << 8 | 31), 32, &mut random);
        }
    }
}

#[test]
fn single_movers_are_found_again() {
    let mut random = Random(113);
    let fetch = Fetch::default();
    finds("PERMLANE64", Move::plain(PermlaneOp::Half), 64, &mut random);
    for block in [16, 32] {
        finds("PERMLANE_SWAP", Move::plain(PermlaneOp::SwapFirst { block, fetch }), 64, &mut random);
        finds("PERMLANE_SWAP", Move::plain(PermlaneOp::SwapSecond { block, fetch }), 64, &mut random);
    }
    for lane in 0..64 {
        finds("READLANE", Move::with_constant(ScalarOp::ReadLane, lane), 64, &mut random);
    }
}

/// Names of the solvers that find a map on a profile.
fn kinds(profile: &str, map: &LaneMap) -> Vec<&'static str> {
    let features = Profile::named(profile).expect("a profile").features;
    SOLVERS.iter().filter(|(_, solve)| solve(map, features).is_some()).map(|(name, _)| *name).collect()
}

fn xor(size: u32, mask: u32) -> LaneMap {
    LaneMap::of_lanes(size, |i| i ^ mask)
}

#[test]
fn xor_by_generation() {
    for mask in 1..32 {
        let has = |profile: &str, size, kind| kinds(profile, &xor(size, mask)).contains(&kind);
        let single = matches!(mask, 1 | 2 | 3 | 7 | 8 | 15);
        assert_eq!(has("gfx900", 64, "DPP"), single, "xor {mask}");
        assert_eq!(has("gfx1030", 32, "DPP"), mask < 16, "xor {mask}");
        assert_eq!(has("gfx1030", 32, "DPP8"), mask < 8, "xor {mask}");
        assert!(has("gfx1030", 32, "PERMLANE16") && has("gfx600", 64, "DS_SWIZZLE"));
        assert_eq!(kinds("nv-kepler", &xor(32, mask)), ["SHF with constants"]);
    }
    assert!(kinds("gfx803", &xor(64, 32)).is_empty() && kinds("gfx1030-wave64", &xor(64, 32)).is_empty());
    assert_eq!(kinds("gfx1100-wave64", &xor(64, 32)), ["PERMLANE64"]);
    assert!(kinds("nv-fermi", &xor(32, 4)).is_empty());
}

/// Up or down with the lane's own value at the segment's edge.
fn shifted(size: u32, width: u32, up: bool, delta: u32) -> LaneMap {
    LaneMap::of_lanes(size, |i| match (up, i % width) {
        (true, local) if local >= delta => i - delta,
        (false, local) if local + delta < width => i + delta,
        _ => i,
    })
}

#[test]
fn shuffles_with_own_values_in_small_segments() {
    for (width, delta, up) in [(2, 1, true), (4, 1, true), (4, 3, false), (4, 2, true)] {
        assert!(kinds("gfx803", &shifted(64, width, up, delta)).contains(&"DPP"));
    }
    for delta in 1..8 {
        assert!(kinds("gfx1030", &shifted(32, 8, true, delta)).contains(&"DPP8"));
        assert!(kinds("gfx1030", &shifted(32, 16, false, delta)).contains(&"PERMLANE16"));
    }
}

/// The move by 4 to both sides: two shifts, each with the banks that it may write.
#[test]
fn old_values_make_bank_and_row_masks() {
    let half = |bit: u32| LaneMap::new(64, move |i| Some(if i & 4 == bit { Source::Lane(i ^ 4) } else { Source::Old }));
    let dpp = |map: &LaneMap| solve("DPP", map).map(|step| step.primitive);
    let masked = |control, row_mask, bank_mask| {
        Some(Dpp16 { row_mask, bank_mask, bound_ctrl: false, ..Dpp16::new(control) }.into())
    };
    assert_eq!(dpp(&half(0)), masked(DppControl::RowShl(4), 15, 5));
    assert_eq!(dpp(&half(4)), masked(DppControl::RowShr(4), 15, 10));
    let rows = LaneMap::new(64, |i| Some(if i & 16 != 0 { Source::Lane(i / 16 * 16 - 1) } else { Source::Old }));
    assert_eq!(dpp(&rows), masked(DppControl::RowBcast15, 10, 15));
}
