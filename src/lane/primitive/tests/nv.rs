//! NVIDIA's shuffles against the table of NV_shader_thread_shuffle's modes, and the hardware's special cases.

use super::{Random, masks, sources};
use crate::lane::op::{QuadMove, ShuffleMode};
use crate::lane::primitive::nv::{shuffle_mask, shuffle_target};
use crate::lane::primitive::{Index, NvOp, Source};
use crate::lane::value::Lanes;

const MODES: [ShuffleMode; 4] = [ShuffleMode::Up, ShuffleMode::Down, ShuffleMode::Xor, ShuffleMode::Index];
const WIDTHS: [i32; 5] = [2, 4, 8, 16, 32];

/// The lane and the validity that the extension's worked examples show.
fn meant(mode: ShuffleMode, i: i32, index: i32, width: i32) -> (i32, bool) {
    let local = i % width;
    let base = i - local;
    match mode {
        ShuffleMode::Up => (i - index, local >= index),
        ShuffleMode::Down => (i + index, local + index < width),
        ShuffleMode::Xor => (i ^ index, index < width),
        ShuffleMode::Index => (base + index, index < width),
    }
}

fn full(mode: ShuffleMode, index: i32, mask: u32) -> Vec<Source> {
    sources(NvOp::Shuffle(mode), &[Index::Uniform(index as u32), Index::Uniform(mask)], Lanes::full(32))
}

#[test]
fn shuffles_follow_the_table_for_every_index_lane_and_width() {
    for width in WIDTHS {
        for mode in MODES {
            let mask = shuffle_mask(mode, width as u32);
            for index in 0..width {
                for (i, source) in full(mode, index, mask).into_iter().enumerate() {
                    let (lane, valid) = meant(mode, i as i32, index, width);
                    let expected = if valid { Source::Lane(lane as u32) } else { Source::Own };
                    assert_eq!(source, expected, "{mode:?} {index} of {width}, lane {i}");
                    assert_eq!(shuffle_target(mode, i as u32, index as u32, mask).1, valid);
                }
            }
        }
    }
}

/// At or above the width, up and down leave the segment, indices wrap, and xor only reaches lower segments.
#[test]
fn indices_from_the_width_up() {
    for width in WIDTHS {
        for mode in MODES {
            for index in width..32 {
                let got = full(mode, index, shuffle_mask(mode, width as u32));
                for (i, source) in got.into_iter().enumerate() {
                    let i = i as i32;
                    let expected = match mode {
                        ShuffleMode::Up | ShuffleMode::Down => Source::Own,
                        ShuffleMode::Index => Source::Lane((i / width * width + index % width) as u32),
                        ShuffleMode::Xor if (i ^ index) / width < i / width => Source::Lane((i ^ index) as u32),
                        ShuffleMode::Xor => Source::Own,
                    };
                    assert_eq!(source, expected, "{mode:?} {index} of {width}, lane {i}");
                }
            }
        }
    }
}

#[test]
fn only_five_bits_of_an_index_count() {
    for mode in MODES {
        for width in WIDTHS {
            let mask = shuffle_mask(mode, width as u32);
            for index in 0..32 {
                assert_eq!(full(mode, index, mask), full(mode, index + 32, mask));
                assert_eq!(full(mode, index, mask), full(mode, index - 32, mask));
            }
        }
    }
}

#[test]
fn masks_are_the_documented_numbers() {
    let numbers = [(2, 7711, 7680), (4, 7199, 7168), (8, 6175, 6144), (16, 4127, 4096), (32, 31, 0)];
    for (width, other, up) in numbers {
        assert_eq!(shuffle_mask(ShuffleMode::Up, width), up);
        for mode in &MODES[1..] {
            assert_eq!(shuffle_mask(*mode, width), other);
        }
    }
}

#[test]
fn a_wrong_clamp_leaves_every_lane_out_of_range() {
    for index in 1..32 {
        assert!(full(ShuffleMode::Up, index, 31).iter().all(|source| *source == Source::Own));
        assert!(full(ShuffleMode::Down, index, 0).iter().all(|source| *source == Source::Own));
    }
}

/// A separate clamp in each lane makes each run of lanes a segment: the mask of the segmented scan.
#[test]
fn masks_may_differ_from_lane_to_lane() {
    let heads = [0_u32, 3, 4, 11, 16, 30];
    let head_of = |i: u32| *heads.iter().rev().find(|head| **head <= i).expect("lane 0 is a head");
    let row: Vec<u32> = (0..32).map(head_of).collect();
    for delta in 1..32 {
        let index = [Index::Uniform(delta), Index::Row(&row)];
        for (i, source) in sources(NvOp::Shuffle(ShuffleMode::Up), &index, Lanes::full(32)).into_iter().enumerate() {
            let i = i as u32;
            let expected = if i >= head_of(i) + delta { Source::Lane(i - delta) } else { Source::Own };
            assert_eq!(source, expected);
        }
    }
}

#[test]
fn inactive_sources_are_undefined_and_own_values_are_not() {
    let mut random = Random(77);
    for lanes in masks(32) {
        for mode in MODES {
            let (index, width) = (random.below(32), 1 << (1 + random.below(5)));
            let operands = [Index::Uniform(index), Index::Uniform(shuffle_mask(mode, width))];
            let (all, some) = (
                sources(NvOp::Shuffle(mode), &operands, Lanes::full(32)),
                sources(NvOp::Shuffle(mode), &operands, lanes),
            );
            for i in 0..32_u32 {
                let expected = match all[i as usize] {
                    _ if lanes.active >> i & 1 == 0 => Source::Old,
                    Source::Lane(lane) if lanes.active >> lane & 1 == 0 => Source::Undefined,
                    source => source,
                };
                assert_eq!(some[i as usize], expected);
            }
        }
    }
}

#[test]
fn quad_swizzles_give_zero_in_broken_quads() {
    let tables = [
        (QuadMove::Lane(0), [0, 0, 0, 0]),
        (QuadMove::Lane(3), [3, 3, 3, 3]),
        (QuadMove::X, [1, 0, 3, 2]),
        (QuadMove::Y, [2, 3, 0, 1]),
    ];
    for lanes in masks(32) {
        for (mv, table) in tables {
            for (i, source) in sources(NvOp::QuadSwizzle(mv), &[], lanes).into_iter().enumerate() {
                let (quad, k) = (i / 4, i % 4);
                let expected = match lanes.active >> (4 * quad) & 15 {
                    _ if lanes.active >> i & 1 == 0 => Source::Old,
                    15 => Source::Lane((4 * quad) as u32 + table[k]),
                    _ => Source::Zero,
                };
                assert_eq!(source, expected);
            }
        }
    }
}
