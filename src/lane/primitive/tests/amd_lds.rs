//! The crossbar of the local data share, compared with bits combined one by one and values pushed one after another.

use super::{Random, masks, sources};
use crate::lane::primitive::{Index, LdsOp, Reach, Source, Swizzle};
use crate::lane::value::Lanes;

/// One bit of the source lane of a swizzle with masks.
fn masked_bit(own: u32, and: u32, or: u32, xor: u32) -> u32 {
    match (and, or, xor) {
        (_, 1, 0) | (0, 0, 1) => 1,
        (_, 1, 1) | (0, 0, 0) => 0,
        (_, _, 0) => own,
        _ => 1 - own,
    }
}

#[test]
fn masks_choose_each_bit() {
    for bits in 0..1 << 15_u32 {
        let (and, or, xor) = (bits & 31, bits >> 5 & 31, bits >> 10);
        let swizzle = Swizzle::Mask { and: and as u8, or: or as u8, xor: xor as u8 };
        assert_eq!(u32::from(swizzle.offset()), bits);
        for i in 0..32 {
            let bit = |k: u32| masked_bit(i >> k & 1, and >> k & 1, or >> k & 1, xor >> k & 1) << k;
            let lane = (0..5).map(bit).sum::<u32>();
            assert_eq!(swizzle.lane(i), lane, "and {and} or {or} xor {xor}, lane {i}");
            assert_eq!(swizzle.lane(i + 32), lane + 32);
        }
    }
}

#[test]
fn quads_have_two_bits_a_lane() {
    for selectors in 0..=255_u8 {
        let names = [selectors % 4, selectors / 4 % 4, selectors / 16 % 4, selectors / 64];
        for i in 0..64_u32 {
            let lane = i / 4 * 4 + u32::from(names[(i % 4) as usize]);
            assert_eq!(Swizzle::Quad(selectors).lane(i), lane);
        }
    }
}

/// Segments of width `w` rotate when the bits above them are kept.
#[test]
fn rotations_stay_in_their_segment() {
    for width in [2, 4, 8, 16, 32_u32] {
        for count in 0..32_u8 {
            for i in 0..64_u32 {
                let (base, local, keep) = (i / width * width, i % width, (32 - width) as u8);
                let (up, down) = ((local + u32::from(count)) % width, (local + 32 - u32::from(count)) % width);
                assert_eq!(Swizzle::Rotate { down: false, count, keep }.lane(i), base + up);
                assert_eq!(Swizzle::Rotate { down: true, count, keep }.lane(i), base + down);
            }
        }
    }
}

/// If the upper bits are kept, the FFT map reverses the bits within each segment.
#[test]
fn fft_reverses_bits_inside_segments() {
    for log2 in 0..=5 {
        let width = 1 << log2;
        for i in 0..64_u32 {
            let reversed: u32 = (0..log2).map(|bit| (i >> bit & 1) << (log2 - 1 - bit)).sum();
            assert_eq!(Swizzle::Fft { keep: (32 - width) as u8 }.lane(i), i / width * width + reversed);
        }
    }
}

/// The assembler's symbolic forms give the same offsets.
#[test]
fn offsets_are_those_of_the_assembler() {
    let cases = [
        (Swizzle::Quad(0xb1), 0x80b1),
        (Swizzle::Mask { and: 31, or: 0, xor: 16 }, 0x401f),
        (Swizzle::Mask { and: 31, or: 0, xor: 7 }, 0x1c1f),
        (Swizzle::Mask { and: 0, or: 5, xor: 0 }, 0x00a0),
        (Swizzle::Rotate { down: true, count: 3, keep: 0 }, 0xc460),
        (Swizzle::Fft { keep: 9 }, 0xe009),
    ];
    for (swizzle, offset) in cases {
        assert_eq!(swizzle.offset(), offset);
    }
}

#[test]
fn inactive_sources_of_swizzles_are_zero() {
    let swizzle = Swizzle::Mask { and: 31, or: 0, xor: 5 };
    for lanes in masks(64) {
        for (i, source) in sources(LdsOp::Swizzle(swizzle), &[], lanes).into_iter().enumerate() {
            let expected = match (lanes.active >> i & 1, lanes.active >> (i ^ 5) & 1) {
                (0, _) => Source::Old,
                (_, 0) => Source::Zero,
                _ => Source::Lane(i as u32 ^ 5),
            };
            assert_eq!(source, expected);
        }
    }
}

/// The lane that an address names: among the lane's own 32 lanes on gfx10 and gfx11 with 64 lanes, otherwise in the
/// wave.
fn named(i: u32, address: u64, reach: Reach, size: u32) -> u32 {
    match reach {
        Reach::Wave => (address / 4 % u64::from(size)) as u32,
        Reach::Half => i / 32 * 32 + (address / 4 % 32) as u32,
    }
}

#[test]
fn bpermute_reads_and_wraps() {
    let mut random = Random(99);
    for (size, reach) in [(32, Reach::Wave), (32, Reach::Half), (64, Reach::Wave), (64, Reach::Half)] {
        for lanes in masks(size) {
            let row: Vec<u32> = (0..size).map(|_| random.next() as u32 >> random.below(30)).collect();
            let (offset, fetch_inactive) = (random.below(256) as u16, random.below(2) == 1);
            let op = LdsOp::Bpermute { reach, offset, fetch_inactive };
            for (i, source) in sources(op, &[Index::Row(&row)], lanes).into_iter().enumerate() {
                // 32-bit addition wraps at a multiple of any reach, so plain addition names the same lane.
                let lane = named(i as u32, u64::from(row[i]) + u64::from(offset), reach, size);
                let expected = match () {
                    () if lanes.active >> i & 1 == 0 => Source::Old,
                    () if lanes.active >> lane & 1 == 0 && !fetch_inactive => Source::Zero,
                    () => Source::Lane(lane),
                };
                assert_eq!(source, expected);
            }
        }
    }
}

#[test]
fn permute_pushes_and_the_highest_lane_wins() {
    let mut random = Random(3);
    for (size, reach) in [(32, Reach::Wave), (64, Reach::Wave), (64, Reach::Half)] {
        for lanes in masks(size) {
            for range in [8, 64, 256, 1024] {
                let row: Vec<u32> = (0..size).map(|_| random.below(range)).collect();
                let mut expected: Vec<Source> = vec![Source::Zero; size as usize];
                for j in (0..size).filter(|j| lanes.active >> j & 1 == 1) {
                    expected[named(j, row[j as usize].into(), reach, size) as usize] = Source::Lane(j);
                }
                for i in (0..size).filter(|i| lanes.active >> i & 1 == 0) {
                    expected[i as usize] = Source::Old;
                }
                assert_eq!(sources(LdsOp::Permute { reach, offset: 0 }, &[Index::Row(&row)], lanes), expected);
            }
        }
    }
}

#[test]
fn the_halves_of_a_wave_do_not_meet_where_permutations_are_narrow() {
    let across: Vec<u32> = (0..64).map(|i| 4 * (i ^ 32)).collect();
    let narrow = LdsOp::Bpermute { reach: Reach::Half, offset: 0, fetch_inactive: false };
    let got = sources(narrow, &[Index::Row(&across)], Lanes::full(64));
    assert!(got.into_iter().enumerate().all(|(i, source)| source == Source::Lane(i as u32)));
}

#[test]
fn memory_of_inactive_lanes_and_outside_is_undefined() {
    let lanes = Lanes { size: 64, active: !0_u64 as u128 & !2 };
    let row = [0, 4, 8, 252, 256, 5].map(|address| vec![address; 64]);
    let got = row.map(|row| sources(LdsOp::Bounce, &[Index::Row(&row)], lanes)[63]);
    let expected =
        [Source::Lane(0), Source::Undefined, Source::Lane(2), Source::Lane(63), Source::Undefined, Source::Undefined];
    assert_eq!(got, expected);
}
