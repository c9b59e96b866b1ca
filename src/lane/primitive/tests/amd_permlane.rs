//! Row permutations, swaps and shared registers against arrays of rows.

use super::{Random, masks, sources};
use crate::lane::primitive::{Fetch, Index, PermlaneOp, Source};
use crate::lane::value::Lanes;

const FETCHES: [Fetch; 4] = [
    Fetch { inactive: false, bound_ctrl: false },
    Fetch { inactive: false, bound_ctrl: true },
    Fetch { inactive: true, bound_ctrl: false },
    Fetch { inactive: true, bound_ctrl: true },
];

/// The source of lane `i` that should read `lane`.
fn expected(i: usize, lane: u32, fetch: Fetch, lanes: Lanes) -> Source {
    let active = |lane: u32| lanes.active >> lane & 1 == 1;
    match (active(i as u32), active(lane), fetch.inactive, fetch.bound_ctrl) {
        (false, ..) => Source::Old,
        (_, true, ..) | (_, _, true, _) => Source::Lane(lane),
        (_, _, _, true) => Source::Zero,
        _ => Source::Old,
    }
}

#[test]
fn rows_read_their_own_or_the_other_row() {
    let mut random = Random(41);
    for n in 0..300 {
        let names: [u32; 16] = std::array::from_fn(|_| random.below(16));
        let selectors = names.iter().rev().fold(0_u64, |all, name| all << 4 | u64::from(*name));
        let (across, fetch, size) = (n % 2 == 1, FETCHES[n / 2 % 4], 32 << (n / 8 % 2));
        // Rows 0 and 1 are partners, and so are rows 2 and 3.
        let partner = [[0, 1, 2, 3], [1, 0, 3, 2]][usize::from(across)];
        for lanes in masks(size) {
            for (i, source) in sources(PermlaneOp::Row { across, selectors, fetch }, &[], lanes).into_iter().enumerate()
            {
                assert_eq!(source, expected(i, 16 * partner[i / 16] + names[i % 16], fetch, lanes));
            }
        }
    }
}

#[test]
fn selectors_by_lane_use_four_bits() {
    let mut random = Random(43);
    for n in 0..300 {
        let (across, fetch, size) = (n % 2 == 1, FETCHES[n / 2 % 4], 32 << (n / 8 % 2));
        let row: Vec<u32> = (0..size).map(|_| random.next() as u32).collect();
        let partner = [[0, 1, 2, 3], [1, 0, 3, 2]][usize::from(across)];
        for lanes in masks(size) {
            let got = sources(PermlaneOp::RowVar { across, fetch }, &[Index::Row(&row)], lanes);
            for (i, source) in got.into_iter().enumerate() {
                assert_eq!(source, expected(i, 16 * partner[i / 16] + row[i] % 16, fetch, lanes));
            }
        }
    }
}

/// The selectors that read the lane with the same number in the other row, xor 16: `0xfedcba98_76543210`.
#[test]
fn the_selectors_of_xor_16() {
    let op = PermlaneOp::Row { across: true, selectors: 0xfedc_ba98_7654_3210, fetch: Fetch::default() };
    let got = sources(op, &[], Lanes::full(64));
    (0..64).for_each(|i| assert_eq!(got[i], Source::Lane(i as u32 ^ 16)));
}

#[test]
fn halves_change_places_even_when_inactive_and_not_at_all_in_small_waves() {
    for lanes in masks(64) {
        for (i, source) in sources(PermlaneOp::Half, &[], lanes).into_iter().enumerate() {
            let across = Source::Lane(((i + 32) % 64) as u32);
            assert_eq!(source, if lanes.active >> i & 1 == 1 { across } else { Source::Old });
        }
    }
    assert!(sources(PermlaneOp::Half, &[], Lanes::full(32)).iter().all(|source| *source == Source::Old));
}

/// After a swap of two copies of x, the first register has the even blocks twice and the second the odd ones.
#[test]
fn swaps_of_copies_double_blocks() {
    for block in [16_u8, 32] {
        let fetch = Fetch::default();
        let width = u32::from(block);
        let both = [PermlaneOp::SwapFirst { block, fetch }, PermlaneOp::SwapSecond { block, fetch }];
        for (register, op) in both.into_iter().enumerate() {
            for (i, source) in sources(op, &[], Lanes::full(64)).into_iter().enumerate() {
                let i = i as u32;
                // With x in both registers: the value that ends up here.
                let held = if source == Source::Old { Source::Lane(i) } else { source };
                let pair = i / (2 * width) * 2 * width;
                assert_eq!(held, Source::Lane(pair + register as u32 * width + i % width));
            }
        }
    }
}

#[test]
fn shared_registers_hold_one_half() {
    for lanes in masks(64) {
        for (high, half) in [(false, 0), (true, 32)] {
            for (i, source) in sources(PermlaneOp::Shared { high }, &[], lanes).into_iter().enumerate() {
                let lane = i as u32 % 32 + half;
                let expected = match (lanes.active >> i & 1, lanes.active >> lane & 1) {
                    (0, _) => Source::Old,
                    (_, 0) => Source::Undefined,
                    _ => Source::Lane(lane),
                };
                assert_eq!(source, expected);
            }
        }
    }
}
