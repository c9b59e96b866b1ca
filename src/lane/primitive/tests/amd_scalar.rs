//! Single lanes, counts of masks and whole quads.

use super::{Random, masks, sources};
use crate::lane::primitive::amd_scalar::whole_quads;
use crate::lane::primitive::{Index, ScalarOp, Source};
use crate::lane::value::Lanes;

#[test]
fn readlane_reads_any_lane_for_all() {
    for size in [32, 64] {
        for lanes in masks(size) {
            for lane in 0..130 {
                let got = sources(ScalarOp::ReadLane, &[Index::Uniform(lane)], lanes);
                assert!(got.iter().all(|source| *source == Source::Lane(lane % size)));
            }
        }
    }
}

#[test]
fn readfirstlane_reads_the_lowest_active_lane_or_lane_0() {
    for lanes in masks(64) {
        let first = (0..64).find(|lane| lanes.active >> lane & 1 == 1).unwrap_or(0);
        assert!(sources(ScalarOp::ReadFirstLane, &[], lanes).iter().all(|source| *source == Source::Lane(first)));
    }
    let none = Lanes { size: 64, active: 0 };
    assert_eq!(sources(ScalarOp::ReadFirstLane, &[], none)[7], Source::Lane(0));
}

#[test]
fn writelane_writes_one_lane_active_or_not() {
    for lanes in masks(32) {
        for lane in 0..32 {
            for (i, source) in sources(ScalarOp::WriteLane, &[Index::Uniform(lane)], lanes).into_iter().enumerate() {
                assert_eq!(source, if i as u32 == lane { Source::Own } else { Source::Old });
            }
        }
    }
}

#[test]
fn counts_of_both_halves_make_the_rank() {
    let mut random = Random(17);
    for _ in 0..100 {
        let mask = u128::from(random.next());
        for i in 0..64 {
            let count = |op: ScalarOp| (op.counted(i).expect("a count") & mask).count_ones();
            let below = (0..i).filter(|lane| mask >> lane & 1 == 1).count() as u32;
            assert_eq!(count(ScalarOp::CountBelowLow) + count(ScalarOp::CountBelowHigh), below);
            assert_eq!(
                count(ScalarOp::CountBelowHigh),
                below - (0..i.min(32)).filter(|j| mask >> j & 1 == 1).count() as u32
            );
        }
    }
    assert_eq!(ScalarOp::Ballot.counted(3), None);
}

#[test]
fn whole_quads_fill_every_quad_that_has_a_lane() {
    let mut random = Random(23);
    for _ in 0..500 {
        let mask = random.next() & random.next() & random.next();
        let quads = (0..16).filter(|quad| mask >> (4 * quad) & 15 != 0).map(|quad| 15_u128 << (4 * quad)).sum::<u128>();
        assert_eq!(whole_quads(mask.into()), quads);
    }
    assert_eq!(whole_quads(1 << 127), 15 << 124);
}
