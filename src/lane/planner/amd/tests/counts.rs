//! Instruction counts of the chosen plans, against the best known of each generation. Run it with `--no-capture` to see
//! the table.

use super::named;
use crate::lane::op::{Group, LaneOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, VoteOp, Width};
use crate::lane::request::{Input, LaneType};
use crate::lane::{Activity, Candidate, Request, candidates};

/// The plan of an operation with all lanes active.
fn chosen(profile: &str, op: LaneOp, inputs: &[Input]) -> Candidate {
    let request = Request { op, inputs: inputs.into(), activity: Activity::Full, index: None, fragment: false };
    candidates(&request, &named(profile)).unwrap_or_else(|refusal| panic!("{op:?} on {profile}: {refusal}")).chosen
}

fn width(lanes: u32) -> Width {
    Width::new(lanes).expect("a width")
}

/// Operators that a vector instruction reduces, with the type of the values.
const SIMPLE: [(ReduceOp, LaneType); 8] = [
    (ReduceOp::Add, LaneType::I32),
    (ReduceOp::Min, LaneType::I32),
    (ReduceOp::Max, LaneType::U32),
    (ReduceOp::And, LaneType::U32),
    (ReduceOp::Or, LaneType::U32),
    (ReduceOp::Xor, LaneType::U32),
    (ReduceOp::Mul, LaneType::F32),
    (ReduceOp::Add, LaneType::F32),
];
/// No DPP form.
const PRODUCT: [(ReduceOp, LaneType); 1] = [(ReduceOp::Mul, LaneType::I32)];

/// The bound on a reduction's cost.
struct Bound {
    profiles: &'static [&'static str],
    ops: &'static [(ReduceOp, LaneType)],
    kind: ReduceKind,
    /// Instructions for 2, 4, 8, 16, 32 and 64 lanes.
    instructions: &'static [u32],
    /// Uses of the local data share for as many.
    lds: &'static [u32],
}

const GCN3_TO_CDNA3: &[&str] = &["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"];
const RDNA_WAVE32: &[&str] =
    &["gfx1010-wave32", "gfx1030-wave32", "gfx1100-wave32", "gfx1150-wave32", "gfx1200-wave32", "gfx1201-wave32"];
const RDNA1_WAVE64: &[&str] = &["gfx1010-wave64", "gfx1030-wave64"];
const RDNA3_WAVE64: &[&str] = &["gfx1100-wave64", "gfx1150-wave64", "gfx1200-wave64", "gfx1201-wave64"];

const BOUNDS: &[Bound] = &[
    Bound {
        profiles: GCN3_TO_CDNA3,
        ops: &SIMPLE,
        kind: ReduceKind::Reduce,
        instructions: &[1, 2, 3, 4, 5, 6],
        lds: &[0, 0, 0, 0, 0, 0],
    },
    Bound {
        profiles: GCN3_TO_CDNA3,
        ops: &SIMPLE,
        kind: ReduceKind::AllReduce,
        // The result over 64 lanes is a scalar: one more instruction if it must be a vector.
        instructions: &[1, 2, 3, 4, 6, 7],
        lds: &[0, 0, 0, 0, 1, 0],
    },
    Bound {
        profiles: &["gfx950"],
        ops: &SIMPLE,
        kind: ReduceKind::AllReduce,
        instructions: &[1, 2, 3, 4, 7, 7],
        lds: &[0, 0, 0, 0, 0, 0],
    },
    Bound {
        profiles: RDNA_WAVE32,
        ops: &SIMPLE,
        kind: ReduceKind::AllReduce,
        instructions: &[1, 2, 3, 4, 6],
        lds: &[0, 0, 0, 0, 0],
    },
    Bound {
        profiles: RDNA1_WAVE64,
        ops: &SIMPLE,
        kind: ReduceKind::AllReduce,
        instructions: &[1, 2, 3, 4, 6, 9],
        lds: &[0, 0, 0, 0, 0, 0],
    },
    Bound {
        profiles: RDNA1_WAVE64,
        ops: &SIMPLE,
        kind: ReduceKind::Reduce,
        instructions: &[1, 2, 3, 4, 6, 8],
        lds: &[0, 0, 0, 0, 0, 0],
    },
    Bound {
        profiles: RDNA3_WAVE64,
        ops: &SIMPLE,
        kind: ReduceKind::AllReduce,
        instructions: &[1, 2, 3, 4, 6, 8],
        lds: &[0, 0, 0, 0, 0, 0],
    },
    Bound {
        profiles: &["gfx600", "gfx701"],
        ops: &SIMPLE,
        kind: ReduceKind::AllReduce,
        instructions: &[2, 4, 6, 8, 10, 14],
        lds: &[1, 2, 3, 4, 5, 5],
    },
    Bound {
        profiles: GCN3_TO_CDNA3,
        ops: &PRODUCT,
        kind: ReduceKind::AllReduce,
        instructions: &[2, 4, 6, 8, 10, 14],
        lds: &[0, 0, 0, 0, 1, 0],
    },
    Bound {
        profiles: &["gfx950"],
        ops: &PRODUCT,
        kind: ReduceKind::AllReduce,
        instructions: &[2, 4, 6, 8, 11, 14],
        lds: &[0, 0, 0, 0, 0, 0],
    },
    Bound {
        profiles: RDNA_WAVE32,
        ops: &PRODUCT,
        kind: ReduceKind::AllReduce,
        instructions: &[2, 4, 6, 8, 10],
        lds: &[0, 0, 0, 0, 0],
    },
    Bound {
        profiles: RDNA1_WAVE64,
        ops: &PRODUCT,
        kind: ReduceKind::AllReduce,
        instructions: &[2, 4, 6, 8, 10, 14],
        lds: &[0, 0, 0, 0, 0, 0],
    },
    Bound {
        profiles: RDNA3_WAVE64,
        ops: &PRODUCT,
        kind: ReduceKind::AllReduce,
        instructions: &[2, 4, 6, 8, 10, 14],
        lds: &[0, 0, 0, 0, 0, 0],
    },
];

#[test]
fn reductions_cost_no_more_than_the_best_known() {
    for bound in BOUNDS {
        for profile in bound.profiles {
            for (op, ty) in bound.ops {
                let costs: Vec<(u32, u32)> = (1..=bound.instructions.len() as u32)
                    .map(|level| {
                        let (kind, members) = (bound.kind, Members::All);
                        let fold = LaneOp::Reduce { op: *op, kind, width: width(1 << level), members };
                        let cost = chosen(profile, fold, &[Input::varying(*ty)]).cost;
                        (cost.instructions, cost.lds)
                    })
                    .collect();
                println!("{profile:15} {:?} {op:?} {:?}: {costs:?}", bound.kind, ty.kind);
                for (n, (instructions, lds)) in costs.into_iter().enumerate() {
                    let lanes = 2 << n;
                    assert!(instructions <= bound.instructions[n], "{profile} {op:?} {lanes}: {instructions}");
                    assert!(lds <= bound.lds[n], "{profile} {op:?} {lanes}: {lds} uses of the local data share");
                }
            }
        }
    }
}

/// Instructions and uses of the local data share.
fn counts(profile: &str, op: LaneOp, inputs: &[Input]) -> (u32, u32) {
    let candidate = chosen(profile, op, inputs);
    println!("{profile:15} {op:?}: {}: {}", candidate.plan.rule, candidate.cost);
    (candidate.cost.instructions, candidate.cost.lds)
}

const DATA: Input = Input::varying(LaneType::U32);

/// gfx950 multiplies 32 integers in 11 instructions although 10 would do: those move the value through the local data
/// share, which takes longer than the saved instruction. Without it 11 is the minimum: five products need five moves,
/// one of them a swap of rows, which needs a copy of the value because it changes both of its registers.
#[test]
fn shorter_products_lose_by_latency_alone() {
    let op = LaneOp::Reduce { op: ReduceOp::Mul, kind: ReduceKind::AllReduce, width: width(32), members: Members::All };
    let inputs = [Input::varying(LaneType::I32)];
    let request = Request { op, inputs: (&inputs).into(), activity: Activity::Full, index: None, fragment: false };
    let found = candidates(&request, &named("gfx950")).expect("a plan");
    let chosen = found.chosen.cost;
    let shorter: Vec<_> = found.others.iter().filter(|other| other.cost.instructions < chosen.instructions).collect();
    assert_eq!((chosen.instructions, chosen.lds), (11, 0));
    assert!(shorter.iter().any(|other| (other.cost.instructions, other.cost.lds) == (10, 1)), "{shorter:?}");
    assert!(shorter.iter().all(|other| other.cost.lds > 0 && other.cost.latency > chosen.latency), "{shorter:?}");
}

#[test]
fn exchanges_by_xor_need_no_memory() {
    let xor = |profile: &str, mask| counts(profile, LaneOp::Shuffle(ShuffleMode::Xor), &[DATA, Input::constant(mask)]);
    for profile in GCN3_TO_CDNA3.iter().chain(&["gfx950"]) {
        for mask in 1..16 {
            let (instructions, lds) = xor(profile, mask);
            assert!(instructions <= 2 && lds == 0, "{profile}: xor {mask} takes {instructions} and {lds}");
        }
    }
    for profile in RDNA_WAVE32.iter().chain(RDNA1_WAVE64).chain(RDNA3_WAVE64) {
        for mask in 1..32 {
            // Between rows, one half of the selectors is moved to a scalar register.
            assert_eq!(xor(profile, mask), (1 + mask / 16, 0), "{profile}: xor {mask}");
        }
    }
    for profile in RDNA3_WAVE64 {
        assert_eq!(xor(profile, 32), (1, 0));
        for mask in 33..64 {
            assert_eq!(xor(profile, mask), (2 + mask / 16 % 2, 0), "{profile}: xor {mask}");
        }
    }
}

/// If the indices depend only on the lane, their addresses are computed in the setup: the permutation itself is one
/// instruction.
#[test]
fn addresses_of_known_lanes_are_set_up() {
    let inputs = [DATA, Input::varying(LaneType::U32)];
    let turned: Vec<u32> = (0..64).map(|i| 63 - i).collect();
    let rotated: Vec<u32> = (0..64).map(|i| (i + 21) % 64).collect();
    for row in [turned, rotated] {
        let index = Some(&row[..]);
        let request = Request {
            op: LaneOp::Bpermute,
            inputs: (&inputs).into(),
            activity: Activity::Full,
            index: index.map(Into::into),
            fragment: false,
        };
        let cost = candidates(&request, &named("gfx900")).expect("a plan").chosen.cost;
        assert_eq!((cost.instructions, cost.lds), (1, 1), "{row:?}");
    }
}

#[test]
fn quads_vote_in_three_at_most() {
    let predicate = [Input::varying(LaneType::BOOL)];
    for profile in ["gfx600", "gfx803", "gfx942", "gfx950", "gfx1030-wave32", "gfx1100-wave64", "gfx1201-wave32"] {
        let vote = |op| counts(profile, LaneOp::Vote { op, group: Group::Quad }, &predicate);
        assert_eq!((vote(VoteOp::Any), vote(VoteOp::All)), ((1, 0), (3, 0)), "{profile}");
    }
}

/// Own values at the segment's edge are free: they are part of the permutation.
#[test]
fn short_nv_shuffles_are_one_instruction() {
    for mode in [ShuffleMode::Up, ShuffleMode::Down, ShuffleMode::Xor, ShuffleMode::Index] {
        for delta in 1..8 {
            for lanes in [2, 4, 8] {
                let inputs = [DATA, Input::constant(delta), Input::constant(lanes)];
                let shuffle = |profile| counts(profile, LaneOp::ShuffleNv(mode), &inputs);
                let limit = if delta < lanes { (1, 0) } else { (0, 0) };
                if lanes <= 4 {
                    assert_eq!(shuffle("gfx803"), limit, "{mode:?} by {delta} in {lanes}");
                }
                assert_eq!(shuffle("gfx1030-wave32"), limit, "{mode:?} by {delta} in {lanes}");
            }
        }
    }
}

/// The scans of the reference, without wait states.
#[test]
fn scans_cost_no_more_than_the_best_known() {
    let scan = |profile: &str, lanes| {
        let (op, kind, members) = (ReduceOp::Add, ReduceKind::Inclusive, Members::All);
        counts(profile, LaneOp::Reduce { op, kind, width: width(lanes), members }, &[Input::varying(LaneType::F32)]).0
    };
    let cases = [
        ("gfx900", [5, 6, 7].as_slice()),
        ("gfx1030-wave32", &[5, 7]),
        ("gfx1030-wave64", &[5, 7, 10]),
        ("gfx1100-wave64", &[5, 7, 10]),
    ];
    for (profile, bounds) in cases {
        for (n, bound) in bounds.iter().enumerate() {
            assert!(scan(profile, 16 << n) <= *bound, "{profile}, {} lanes", 16 << n);
        }
    }
}

#[test]
fn moves_with_an_operand_fuse() {
    let inputs = [Input::varying(LaneType::F32); 2];
    for profile in ["gfx803", "gfx1030-wave32", "gfx1100-wave64"] {
        assert_eq!(counts(profile, LaneOp::QuadAdd(QuadMove::X), &inputs), (1, 0));
    }
}
