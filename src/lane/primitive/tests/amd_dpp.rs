//! DPP against shifted arrays, and its masks and bits against loops over rows and banks.

use super::{Random, masks, sources};
use crate::lane::primitive::{Dpp8, Dpp16, DppControl, Source};
use crate::lane::value::Lanes;
use DppControl as C;

/// The map from the lanes of a row to their source lanes.
type Turn<'a> = &'a dyn Fn(&[Option<u32>]) -> Vec<Option<u32>>;

/// The lane that lane `i` of 64 reads, `None` if it is out of range, built from whole rows.
fn picture(control: DppControl) -> Vec<Option<u32>> {
    let wave: Vec<Option<u32>> = (0..64).map(Some).collect();
    let rows = |turn: Turn| wave.chunks(16).flat_map(turn).collect();
    let none = |count: usize| vec![None; count];
    let same = |lane: Option<u32>| vec![lane; 16];
    match control {
        C::QuadPerm(selectors) => {
            let names = [selectors & 3, selectors >> 2 & 3, selectors >> 4 & 3, selectors >> 6];
            wave.chunks(4).flat_map(|quad| names.map(|name| quad[usize::from(name)])).collect()
        }
        C::RowShl(k) => rows(&|row| [row[k.into()..].to_vec(), none(k.into())].concat()),
        C::RowShr(k) => rows(&|row| [none(k.into()), row[..16 - usize::from(k)].to_vec()].concat()),
        C::RowRor(k) => rows(&|row| {
            let mut row = row.to_vec();
            row.rotate_right(k.into());
            row
        }),
        C::RowMirror => rows(&|row| row.iter().rev().copied().collect()),
        C::RowHalfMirror => wave.chunks(8).flat_map(|half| half.iter().rev().copied()).collect(),
        C::RowShare(k) | C::RowNewBcast(k) => rows(&|row| same(row[usize::from(k)])),
        C::RowXmask(k) => rows(&|row| (0..16).map(|n| row[n ^ usize::from(k)]).collect()),
        C::WaveShl => [wave[1..].to_vec(), none(1)].concat(),
        C::WaveShr => [none(1), wave[..63].to_vec()].concat(),
        C::WaveRol => [wave[1..].to_vec(), wave[..1].to_vec()].concat(),
        C::WaveRor => [wave[63..].to_vec(), wave[..63].to_vec()].concat(),
        C::RowBcast15 => [none(16), same(Some(15)), same(Some(31)), same(Some(47))].concat(),
        C::RowBcast31 => [none(32), same(Some(31)), same(Some(31))].concat(),
    }
}

fn every_control() -> impl Iterator<Item = DppControl> {
    (0..=255).map(C::QuadPerm).chain(DppControl::all_but_quad())
}

#[test]
fn every_control_reads_as_in_the_picture() {
    for control in every_control() {
        let picture = picture(control);
        for (i, expected) in picture.into_iter().enumerate() {
            assert_eq!(control.lane(i as u32, 64), expected, "{control:?} lane {i}");
        }
    }
    assert_eq!(every_control().count(), 256 + 6 + 45 + 2 + 48);
}

/// Waves of 32 lanes see the first two rows of the same picture.
#[test]
fn waves_of_32_lanes_have_the_same_rows() {
    let of_wave = |control| matches!(control, C::WaveShl | C::WaveShr | C::WaveRol | C::WaveRor | C::RowBcast31);
    for control in every_control().filter(|control| !of_wave(*control)) {
        let wide = picture(control);
        (0..32).for_each(|i| assert_eq!(control.lane(i, 32), wide[i as usize]));
    }
}

/// The names give the direction in which data moves, not where it is read: with `row_shl:n` lane `i` reads `i + n`.
#[test]
fn shifts_to_the_left_read_higher_lanes() {
    assert_eq!(C::RowShl(1).lane(0, 64), Some(1));
    assert_eq!(C::RowShl(1).lane(15, 64), None);
    assert_eq!(C::RowShr(3).lane(18, 64), None);
    assert_eq!(C::RowShr(3).lane(19, 64), Some(16));
    assert_eq!(C::RowRor(1).lane(0, 64), Some(15));
    assert_eq!(C::WaveShl.lane(63, 64), None);
    assert_eq!(C::WaveRol.lane(63, 64), Some(0));
    assert_eq!(C::QuadPerm(0xb1).lane(4, 64), Some(5));
    assert_eq!(C::QuadPerm(0x4e).lane(4, 64), Some(6));
    assert_eq!(C::QuadPerm(0x1b).lane(4, 64), Some(7));
}

/// Lane by lane: not written at all, out of range, inactive source, or read.
fn expected(dpp: Dpp16, picture: &[Option<u32>], i: u32, lanes: Lanes) -> Source {
    let (row, bank) = (i >> 4, (i >> 2) % 4);
    let written = dpp.row_mask & (1 << row) != 0 && dpp.bank_mask & (1 << bank) != 0;
    let active = |lane: u32| lanes.active & (1 << lane) != 0;
    let invalid = if dpp.bound_ctrl { Source::Zero } else { Source::Old };
    if !active(i) || !written {
        return Source::Old;
    }
    match picture[i as usize] {
        None => invalid,
        Some(lane) if active(lane) => Source::Lane(lane),
        Some(lane) if dpp.fetch_inactive => Source::Lane(lane),
        Some(_) => invalid,
    }
}

#[test]
fn masks_bound_ctrl_and_fi() {
    let controls = [
        C::QuadPerm(0x1b),
        C::RowShl(1),
        C::RowShr(4),
        C::RowRor(8),
        C::RowMirror,
        C::WaveShr,
        C::RowBcast15,
        C::RowXmask(5),
    ];
    for control in controls {
        let picture = picture(control);
        for bits in 0..1024_u32 {
            let (row_mask, bank_mask) = ((bits & 15) as u8, (bits >> 4 & 15) as u8);
            let (bound_ctrl, fetch_inactive) = (bits & 256 != 0, bits & 512 != 0);
            let dpp = Dpp16 { control, row_mask, bank_mask, bound_ctrl, fetch_inactive };
            for lanes in masks(64) {
                for (i, source) in sources(dpp, &[], lanes).into_iter().enumerate() {
                    assert_eq!(source, expected(dpp, &picture, i as u32, lanes), "{dpp:?} lane {i}");
                }
            }
        }
    }
}

/// A narrow EXEC mask drops or zeroes contributions. `fi` makes inactive sources valid, but never sources out of range.
#[test]
fn fi_never_rescues_what_is_out_of_range() {
    let lanes = Lanes { size: 32, active: 0xffff_fffe };
    let shift = Dpp16 { bound_ctrl: false, ..Dpp16::new(C::RowShr(1)) };
    assert_eq!(sources(shift, &[], lanes)[1], Source::Old);
    assert_eq!(sources(Dpp16 { bound_ctrl: true, ..shift }, &[], lanes)[1], Source::Zero);
    let fetching = Dpp16 { fetch_inactive: true, ..shift };
    assert_eq!(sources(fetching, &[], lanes)[1], Source::Lane(0));
    assert_eq!(sources(fetching, &[], lanes)[16], Source::Old);
    assert_eq!(sources(Dpp16 { bound_ctrl: true, ..fetching }, &[], lanes)[16], Source::Zero);
}

#[test]
fn dpp8_reads_inside_groups_of_eight() {
    let mut random = Random(5);
    for _ in 0..2000 {
        let names: [u32; 8] = std::array::from_fn(|_| random.below(8));
        let selectors = names.iter().rev().fold(0, |all, name| all << 3 | name);
        let fetch_inactive = random.below(2) == 1;
        for lanes in masks(32) {
            for (i, source) in sources(Dpp8 { selectors, fetch_inactive }, &[], lanes).into_iter().enumerate() {
                let lane = (i / 8 * 8) as u32 + names[i % 8];
                let expected = match () {
                    () if lanes.active >> i & 1 == 0 => Source::Old,
                    () if fetch_inactive || lanes.active >> lane & 1 == 1 => Source::Lane(lane),
                    () => Source::Zero,
                };
                assert_eq!(source, expected);
            }
        }
    }
}
