//! Recorded operations compute the same results as the values themselves, for any active lanes.

use super::*;
use crate::ir::ScalarKind;
use crate::kernel::{Builder, Kernel};
use crate::lane::catalog;
use crate::lane::op::ShuffleMode;
use crate::lane::primitive::{Dpp8, Dpp16, DppControl, LdsOp, Swizzle};
use crate::lane::request::{Input, Known, LaneType};
use crate::lane::{GroupReduce, QuadMove, ReduceOp, Width};
use crate::sim::program::Action;

/// Pseudo-random bits (splitmix64).
fn noise(seed: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Any type of one component.
fn scalar(ty: LaneType) -> Scalar {
    Scalar { kind: ty.kind, width: ty.width }
}

/// A kernel with one operation, with constants for known operands and parameters for the others.
fn kernel(op: Op, operands: &[(Ty, Known)], results: &[Ty]) -> Kernel {
    let mut b = Builder::new(Kernel::new("main", [64, 1, 1]));
    let operand = |b: &mut Builder, (ty, known): &(Ty, Known)| match known {
        Known::Constant(value) => b.constant(*ty, u64::from(*value)),
        // Its row is filled before the operation runs.
        _ => b.value(Op::BufferBytes(0), &[], *ty),
    };
    let args: Vec<_> = operands.iter().map(|known| operand(&mut b, known)).collect();
    b.inst(op, &args, results);
    b.effect(Op::Return, &[]);
    b.kernel
}

/// The results of an operation in the active lanes: bits, and where they are undefined.
type Results = Vec<(Vec<u64>, u64)>;

struct Bench<'a> {
    program: &'a Program<'a>,
    inst: Inst,
    op: Op,
    wave: Wave,
}

impl<'a> Bench<'a> {
    fn new(program: &'a Program<'a>, active: u64, seed: u64) -> Bench<'a> {
        let inst = program.code[program.code.len() - 2];
        let Action::Straight(op) = inst.action else { panic!("the operation is before the end") };
        let mut wave = Wave::new(program);
        (wave.active, wave.place) = (active, 1);
        let (kinds, size) = (kinds(program, &inst, op), wave.size);
        for (n, row) in program.args(&inst).iter().enumerate().filter(|(_, row)| program.constant(**row).is_none()) {
            for lane in 0..size {
                let bits = noise(seed + (n * size + lane) as u64);
                wave.rows[*row as usize * size + lane] = match kinds[n] {
                    Kind::Index => bits % size as u64,
                    Kind::Bool => bits & 1,
                    _ if program.rows[*row as usize].bits() < 64 => {
                        bits & ((1 << program.rows[*row as usize].bits()) - 1)
                    }
                    _ => bits,
                };
            }
        }
        Bench { program, inst, op, wave }
    }

    fn results(&self) -> Results {
        let lane = |row: &[u64]| {
            row.iter().enumerate().map(|(i, x)| if self.wave.active >> i & 1 != 0 { *x } else { 0 }).collect()
        };
        let rows = self.inst.out..self.inst.out + self.inst.results;
        rows.map(|row| (lane(self.wave.row(row)), self.wave.undefined_in(row))).collect()
    }
}

/// Runs an operation both ways under some masks; how often there was a record.
fn compare(op: Op, operands: &[(Ty, Known)], results: &[Ty], size: u32) -> usize {
    let kernel = kernel(op, operands, results);
    let Ok(program) = Program::new(&kernel, size) else { return 0 };
    let masks = [low_lanes(size), low_lanes(size / 2 + 1), noise(1) & low_lanes(size), noise(2) & low_lanes(size) | 1];
    let mut replayed = 0;
    for (seed, active) in masks.into_iter().enumerate() {
        let mut lanes = Lanes::new(&program);
        let mut bench = Bench::new(&program, active, 1000 * seed as u64);
        let (inst, op) = (bench.inst, bench.op);
        assert!(lanes.compute(bench.program, &mut bench.wave, &inst, op), "{op:?}");
        let computed = bench.results();
        let mut again = Bench::new(&program, active, 1000 * seed as u64);
        if lanes.replay(again.program, &mut again.wave, &inst, op) {
            assert_eq!(again.results(), computed, "{op:?} on {size} lanes, {active:#x} of them active");
            replayed += 1;
        }
    }
    replayed
}

fn result_of(op: LaneOp, first: Option<LaneType>) -> Ty {
    use LaneOp as O;
    match op {
        O::Vote { .. } | O::Elect | O::InverseBallot | O::BallotBit | O::SegmentLast(_) | O::ShuffleNvValid(_) => {
            Ty::Bool
        }
        O::Ballot(_) | O::LaneMask(..) | O::Partition => Ty::Mask,
        O::BallotCount(_) | O::BallotFindLsb | O::BallotFindMsb | O::MaskedCount => Ty::B32,
        O::LaneIndex(_) | O::LaneCount(_) | O::ActiveMask => Ty::B32,
        _ => first.map_or(Ty::B32, |ty| Ty::of(scalar(ty))),
    }
}

#[test]
fn reference_operations_replay_what_they_compute() {
    let mut replayed = 0;
    for sample in catalog::all() {
        let is_scalar = |input: &Input| input.ty.components == 1 || input.ty == LaneType::BALLOT;
        if !sample.inputs.iter().all(is_scalar) || sample.op == LaneOp::Sync {
            continue;
        }
        let ty = |input: &Input| if input.ty == LaneType::BALLOT { Ty::Mask } else { Ty::of(scalar(input.ty)) };
        let operands: Vec<_> = sample.inputs.iter().map(|input| (ty(input), input.known)).collect();
        let of = |n: usize| sample.inputs.get(n).map_or(Scalar::BOOL, |input| scalar(input.ty));
        let mut results = vec![result_of(sample.op, sample.inputs.first().map(|input| input.ty))];
        if matches!(sample.op, LaneOp::Sort { .. }) {
            results = operands.iter().map(|(ty, _)| *ty).collect();
        }
        for size in [8, 64] {
            replayed += compare(Op::Lane { op: sample.op, ty: [of(0), of(1)] }, &operands, &results, size);
        }
    }
    assert!(replayed > 1000, "only {replayed} were recorded");
}

#[test]
fn primitives_replay_what_they_compute() {
    let dpp = |control, bound_ctrl| Primitive::Dpp16(Dpp16 { bound_ctrl, row_mask: 0xa, ..Dpp16::new(control) });
    let varying = (Ty::B32, Known::Varying);
    let fixed = |value| (Ty::B32, Known::Constant(value));
    let width = Width::new(8).expect("a power of two");
    let cases: &[(Primitive, &[(Ty, Known)])] = &[
        (dpp(DppControl::RowShr(3), true), &[varying]),
        (dpp(DppControl::RowBcast15, false), &[varying, varying]),
        (Dpp8 { selectors: 0o0123_4567, fetch_inactive: false }.into(), &[varying]),
        (LdsOp::Swizzle(Swizzle::Quad(0x1b)).into(), &[varying]),
        (NvOp::Shuffle(ShuffleMode::Xor).into(), &[varying, fixed(5), fixed(31)]),
        (GroupOp::ShuffleUp.into(), &[varying, fixed(2)]),
        (GroupOp::QuadSwap(QuadMove::X).into(), &[varying]),
        (GroupOp::Reduce(ReduceOp::Max, GroupReduce::Clustered(width)).into(), &[varying]),
        (ScalarOp::ReadLane.into(), &[varying, fixed(3)]),
        (ScalarOp::ReadFirstLane.into(), &[varying]),
    ];
    for (primitive, operands) in cases {
        let op = Op::Prim { primitive: *primitive, ty: Scalar::I32 };
        assert_eq!(compare(op, operands, &[Ty::B32], 32), 4, "{primitive:?}");
    }
    let fused = Op::CombineMoved { op: ReduceOp::Add, ty: Scalar::F32, primitive: dpp(DppControl::RowMirror, false) };
    assert_eq!(compare(fused, &[varying, varying, varying], &[Ty::B32], 64), 4);
}

/// A sort and a written lane depend on the values.
#[test]
fn what_values_decide_is_not_recorded() {
    let word = (Ty::B32, Known::Varying);
    let sort = Op::Lane { op: LaneOp::Sort { width: Width::SUBGROUP }, ty: [Scalar::U32; 2] };
    // If a lane is missing, nothing is defined and nothing is compared.
    assert_eq!(compare(sort, &[word, word], &[Ty::B32; 2], 16), 3);
    let equal = Op::Lane {
        op: LaneOp::Vote { op: crate::lane::VoteOp::Equal, group: crate::lane::Group::Subgroup },
        ty: [Scalar::F32; 2],
    };
    assert_eq!(compare(equal, &[word], &[Ty::Bool], 16), 0);
    let write = Op::Prim { primitive: ScalarOp::WriteLane.into(), ty: Scalar::U32 };
    assert_eq!(compare(write, &[word, word, (Ty::B32, Known::Constant(1))], &[Ty::B32], 16), 0);
}

/// A sort orders pairs by key and then by value, each by its own type.
#[test]
fn sorted_values_have_their_own_type() {
    let float = Scalar { kind: ScalarKind::Float, width: 32 };
    let op = Op::Lane { op: LaneOp::Sort { width: Width::SUBGROUP }, ty: [Scalar::U32, float] };
    let kernel = kernel(op, &[(Ty::B32, Known::Varying); 2], &[Ty::B32; 2]);
    let program = Program::new(&kernel, 4).expect("it can run");
    let mut bench = Bench::new(&program, 15, 0);
    let bits = |x: f32| u64::from(x.to_bits());
    let (inst, args) = (bench.inst, program.args(&bench.inst).to_vec());
    bench.wave.rows[args[0] as usize * 4..][..4].copy_from_slice(&[7, 3, 7, 7]);
    bench.wave.rows[args[1] as usize * 4..][..4].copy_from_slice(&[bits(1.0), bits(9.0), bits(-2.0), bits(-1.0)]);
    assert!(Lanes::new(&program).run(&program, &mut bench.wave, &inst, op));
    let values = [9.0, -2.0, -1.0, 1.0].map(bits).to_vec();
    assert_eq!(bench.results(), [(vec![3, 7, 7, 7], 0), (values, 0)]);
}
