//! Known sequences of whole reductions, scans and moves, run by [`eval`] on sets of lanes: each contribution once.

use crate::lane::eval;
use crate::lane::op::{ReduceOp, ShuffleMode};
use crate::lane::plan::{Activity, AluOp, LaneFact, Operand, Plan, Step, StepOp, StepType};
use crate::lane::primitive::nv::shuffle_mask;
use crate::lane::primitive::{Dpp16, DppControl, Fetch, LdsOp, NvOp, PermlaneOp, Primitive, Reach, ScalarOp, Swizzle};
use crate::lane::value::LaneRow;
use crate::lane::value::{Domain, LaneValue, Lanes};
use DppControl as C;

/// A value is the set of lanes that contributed to it.
struct Sets;

impl Domain for Sets {
    type Data = u64;

    fn combine(&mut self, _: ReduceOp, a: u64, b: u64) -> u64 {
        assert_eq!(a & b, 0, "a lane contributes twice");
        a | b
    }

    fn combine_unordered(&mut self, op: ReduceOp, values: &[u64]) -> u64 {
        values.iter().fold(0, |all, value| self.combine(op, all, *value))
    }

    fn identity(&mut self, _: ReduceOp) -> u64 {
        0
    }

    fn neutral(&mut self, _: ReduceOp) -> u64 {
        0
    }

    fn zero(&mut self) -> u64 {
        0
    }

    fn equal(&self, a: u64, b: u64) -> bool {
        a == b
    }

    fn less(&self, a: u64, b: u64) -> bool {
        a < b
    }
}

const IN: Operand = Operand::Input(0);

/// A growing program; each method returns the new step.
#[derive(Default)]
struct Program(Vec<Step>);

impl Program {
    fn add(&mut self, op: StepOp, args: &[Operand], ty: StepType) -> Operand {
        let mut all = [Operand::None; 3];
        all[..args.len()].copy_from_slice(args);
        self.0.push(Step { op, args: all, ty });
        Operand::Step(self.0.len() as u16 - 1)
    }

    fn prim(&mut self, primitive: impl Into<Primitive>, args: &[Operand]) -> Operand {
        self.add(StepOp::Prim(primitive.into()), args, StepType::DATA)
    }

    /// `value op dpp(value)`, the old value being the value.
    fn fused(&mut self, dpp: Dpp16, value: Operand) -> Operand {
        self.add(StepOp::CombineMoved(ReduceOp::Add, dpp.into()), &[value, value], StepType::DATA)
    }

    fn fold(&mut self, a: Operand, b: Operand) -> Operand {
        self.add(StepOp::Combine(ReduceOp::Add), &[a, b], StepType::DATA)
    }

    fn alu(&mut self, op: AluOp, a: Operand, b: Operand) -> Operand {
        self.add(StepOp::Alu(op), &[a, b], op.result())
    }

    fn lane(&mut self) -> Operand {
        self.add(StepOp::Fact(LaneFact::Index), &[], StepType::Index)
    }

    fn select(&mut self, condition: Operand, accept: Operand, reject: Operand) -> Operand {
        self.add(StepOp::Select, &[condition, accept, reject], StepType::DATA)
    }

    /// The contents of `result` in each lane, if lane `i` starts with the set of itself.
    fn run(self, result: Operand, size: u32, more: &[LaneRow<u64>]) -> Vec<u64> {
        let plan = Plan {
            rule: "test",
            setup: Vec::new(),
            steps: self.0,
            result,
            second: None,
            assumes: Activity::Full,
            whole: 0..0,
            turns: None,
            fork: None,
            uniform: false,
            least_size: size,
        };
        let first: LaneRow<u64> = (0..size).map(|i| LaneValue::Data(1 << i)).collect();
        let inputs: Vec<LaneRow<u64>> = std::iter::once(first).chain(more.iter().cloned()).collect();
        let rows = eval::run(&mut Sets, &plan, &inputs, Lanes::full(size)).expect("a program");
        rows[0].iter().map(|value| value.data().expect("defined data")).collect()
    }
}

fn masked(control: DppControl, row_mask: u8) -> Dpp16 {
    Dpp16 { row_mask, bound_ctrl: false, ..Dpp16::new(control) }
}

/// The segment of `width` lanes that contains lane `i`.
fn segment(i: usize, width: usize) -> u64 {
    let base = i / width * width;
    (base..base + width).map(|lane| 1 << lane).sum()
}

fn folded_rows(p: &mut Program) -> Operand {
    [C::QuadPerm(0xb1), C::QuadPerm(0x4e), C::RowHalfMirror, C::RowMirror]
        .into_iter()
        .fold(IN, |value, control| p.fused(Dpp16::new(control), value))
}

#[test]
fn reduction_of_gcn3() {
    let mut p = Program::default();
    let row = folded_rows(&mut p);
    let pair = p.fused(masked(C::RowBcast15, 0xa), row);
    let wave = p.fused(masked(C::RowBcast31, 0xc), pair);
    let all = p.prim(ScalarOp::ReadLane, &[wave, Operand::Const(63)]);
    assert_eq!(p.run(all, 64, &[]), [u64::MAX; 64]);
}

#[test]
fn fold_of_32_lanes_by_swizzle() {
    let mut p = Program::default();
    let row = folded_rows(&mut p);
    let swap = p.prim(LdsOp::Swizzle(Swizzle::Mask { and: 31, or: 0, xor: 16 }), &[row]);
    let all = p.fold(row, swap);
    p.run(all, 64, &[]).into_iter().enumerate().for_each(|(i, set)| assert_eq!(set, segment(i, 32)));
}

#[test]
fn reduction_of_rdna3_with_64_lanes() {
    let mut p = Program::default();
    let row = [1, 2, 4, 8].into_iter().fold(IN, |value, k| p.fused(Dpp16::new(C::RowXmask(k)), value));
    let other = p.prim(PermlaneOp::Row { across: true, selectors: 0, fetch: Fetch::default() }, &[row, row]);
    let half = p.fold(row, other);
    let far = p.prim(PermlaneOp::Half, &[half]);
    let all = p.fold(half, far);
    assert_eq!(p.run(all, 64, &[]), [u64::MAX; 64]);
}

#[test]
fn reduction_of_cdna4_by_swaps() {
    let mut p = Program::default();
    let row = folded_rows(&mut p);
    let all = [16, 32].into_iter().fold(row, |value, block| {
        let fetch = Fetch::default();
        let first = p.prim(PermlaneOp::SwapFirst { block, fetch }, &[value, value]);
        let second = p.prim(PermlaneOp::SwapSecond { block, fetch }, &[value, value]);
        p.fold(first, second)
    });
    assert_eq!(p.run(all, 64, &[]), [u64::MAX; 64]);
}

/// Lanes whose source is out of range keep their value, so no identity is needed.
#[test]
fn inclusive_scan_of_gcn3() {
    let mut p = Program::default();
    let shifts = [1, 2, 4, 8].map(|k| masked(C::RowShr(k), 15));
    let rows = [masked(C::RowBcast15, 0xa), masked(C::RowBcast31, 0xc)];
    let all = shifts.into_iter().chain(rows).fold(IN, |value, dpp| p.fused(dpp, value));
    p.run(all, 64, &[]).into_iter().enumerate().for_each(|(i, set)| assert_eq!(set, u64::MAX >> (63 - i)));
}

#[test]
fn xor_by_4_in_two_moves() {
    let mut p = Program::default();
    let part = |control, bank_mask| Dpp16 { bank_mask, ..masked(control, 15) };
    let low = p.prim(part(C::RowShl(4), 5), &[IN, IN]);
    let both = p.prim(part(C::RowShr(4), 10), &[IN, low]);
    p.run(both, 64, &[]).into_iter().enumerate().for_each(|(i, set)| assert_eq!(set, 1 << (i ^ 4)));
}

#[test]
fn allreduce_and_scan_of_nvidia() {
    let mut p = Program::default();
    let all = [1, 2, 4, 8, 16].into_iter().fold(IN, |value, k| {
        let args = [value, Operand::Const(k), Operand::Const(31)];
        let moved = p.prim(NvOp::Shuffle(ShuffleMode::Xor), &args);
        p.fold(value, moved)
    });
    assert_eq!(p.run(all, 32, &[]), [u64::from(u32::MAX); 32]);

    let mut p = Program::default();
    let scan = [1, 2, 4].into_iter().fold(IN, |value, k| {
        let (k, mask) = (Operand::Const(k), Operand::Const(shuffle_mask(ShuffleMode::Up, 8)));
        let moved = p.prim(NvOp::Shuffle(ShuffleMode::Up), &[value, k, mask]);
        let valid = p.add(StepOp::Prim(NvOp::ShuffleValid(ShuffleMode::Up).into()), &[k, mask], StepType::Bool);
        let zero = p.add(StepOp::Zero, &[], StepType::DATA);
        let guarded = p.select(valid, moved, zero);
        p.fold(value, guarded)
    });
    let prefix = |i: usize| segment(i, 8) & (u64::MAX >> (63 - i));
    p.run(scan, 32, &[]).into_iter().enumerate().for_each(|(i, set)| assert_eq!(set, prefix(i)));
}

/// A permutation of all 64 lanes where the instruction reaches 32: the lane's half, and the other half after a swap.
#[test]
fn permutation_of_64_lanes_on_rdna3() {
    let target = |i: u64| (i * 37 + 11) % 64;
    let index: LaneRow<u64> = (0..64).map(|i| LaneValue::Index(target(i) as u32)).collect();
    let mut p = Program::default();
    let index_in = Operand::Input(1);
    let address = p.alu(AluOp::Shl, index_in, Operand::Const(2));
    let near = LdsOp::Bpermute { reach: Reach::Half, offset: 0, fetch_inactive: false };
    let own = p.prim(near, &[IN, address]);
    let far = p.prim(PermlaneOp::Half, &[IN]);
    let far = p.prim(near, &[far, address]);
    let lane = p.lane();
    let differs = p.alu(AluOp::Xor, lane, index_in);
    let half = p.alu(AluOp::And, differs, Operand::Const(32));
    let same = p.alu(AluOp::Eq, half, Operand::Const(0));
    let result = p.select(same, own, far);
    let got = p.run(result, 64, &[index]);
    got.into_iter().enumerate().for_each(|(i, set)| assert_eq!(set, 1 << target(i as u64)));
}

#[test]
fn halves_exchanged_by_shared_registers() {
    let mut p = Program::default();
    let low = p.prim(PermlaneOp::Shared { high: false }, &[IN]);
    let high = p.prim(PermlaneOp::Shared { high: true }, &[IN]);
    let lane = p.lane();
    let is_low = p.alu(AluOp::Lt, lane, Operand::Const(32));
    let result = p.select(is_low, high, low);
    p.run(result, 64, &[]).into_iter().enumerate().for_each(|(i, set)| assert_eq!(set, 1 << (i ^ 32)));
}

/// Runs one instruction on given operands.
fn row(primitive: impl Into<Primitive>, inputs: &[LaneRow<u64>], lanes: Lanes) -> LaneRow<u64> {
    let mut p = Program::default();
    let args: Vec<Operand> = (0..inputs.len() as u8).map(Operand::Input).collect();
    let result = p.prim(primitive, &args);
    let plan = Plan {
        rule: "test",
        setup: Vec::new(),
        steps: p.0,
        result,
        second: None,
        assumes: Activity::Any,
        whole: 0..0,
        turns: None,
        fork: None,
        uniform: false,
        least_size: 1,
    };
    eval::run(&mut Sets, &plan, inputs, lanes).expect("a program").remove(0)
}

#[test]
fn masks_of_lanes() {
    let lanes = Lanes { size: 64, active: 0xff00_ff00_ff00_ff0f };
    let predicate: LaneRow<u64> = (0..64).map(|i| LaneValue::Bool(i % 3 == 0)).collect();
    let ballot = row(ScalarOp::Ballot, std::slice::from_ref(&predicate), lanes);
    let expected = (0..64).filter(|i| i % 3 == 0 && lanes.is_active(*i)).map(|i| 1_u128 << i).sum();
    assert_eq!(ballot[0], LaneValue::Ballot(expected));
    assert_eq!(row(ScalarOp::Active, &[], lanes)[8], LaneValue::Ballot(lanes.active));
    let opposite = row(ScalarOp::BallotFalse, std::slice::from_ref(&predicate), lanes);
    assert_eq!(opposite[0], LaneValue::Ballot(lanes.active & !expected));
    let own = row(ScalarOp::OwnBit, &[ballot], lanes);
    assert!(lanes.iter().all(|i| own[i as usize] == LaneValue::Bool(expected >> i & 1 != 0)));
    let mask: LaneRow<u64> = vec![LaneValue::Ballot(0x21); 64];
    assert_eq!(row(ScalarOp::WholeQuads, std::slice::from_ref(&mask), lanes)[0], LaneValue::Ballot(0xff));
    let number = |op| row(op, std::slice::from_ref(&mask), lanes)[0];
    let [count, lowest, above] = [ScalarOp::CountLanes, ScalarOp::LowestLane, ScalarOp::LanesAbove].map(number);
    assert_eq!([count, lowest, above], [LaneValue::Index(2), LaneValue::Index(0), LaneValue::Index(58)]);
    let one: LaneRow<u64> = vec![LaneValue::Index(1); 64];
    assert_eq!(row(ScalarOp::CountBelowLow, &[mask, one], lanes)[40], LaneValue::Index(3));
    let warp = Lanes { size: 32, active: 0xffff };
    assert_eq!(row(NvOp::Ballot, &[predicate], warp)[0], LaneValue::Ballot(0x9249));
}

/// A scalar operand that differs between lanes names no lane, and a value that is pushed to an unknown lane may be
/// anywhere.
#[test]
fn operands_that_are_wrong_or_unknown_give_poison() {
    let data: LaneRow<u64> = (0..32).map(|i| LaneValue::Data(1 << i)).collect();
    let mixed: LaneRow<u64> = (0..32).map(LaneValue::Index).collect();
    let lanes = Lanes::full(32);
    let read = row(ScalarOp::ReadLane, &[data.clone(), mixed.clone()], lanes);
    assert!(read.iter().all(|value| *value == LaneValue::Poison));
    let write = [data.clone(), data.clone(), vec![LaneValue::Index(3); 32]];
    assert!(row(ScalarOp::WriteLane, &write, lanes).iter().all(|value| *value == LaneValue::Poison));
    let scalar = vec![LaneValue::Data(7); 32];
    let written = row(ScalarOp::WriteLane, &[scalar, write[1].clone(), write[2].clone()], lanes);
    assert_eq!(written[2..5], [LaneValue::Data(4), LaneValue::Data(7), LaneValue::Data(16)]);
    let mut unknown = mixed;
    unknown[5] = LaneValue::Poison;
    let pull = LdsOp::Bpermute { reach: Reach::Wave, offset: 0, fetch_inactive: false };
    let pulled = row(pull, &[data.clone(), unknown.clone()], lanes);
    assert!((0..32).all(|i| (pulled[i] == LaneValue::Poison) == (i == 5)));
    let pushed = row(LdsOp::Permute { reach: Reach::Wave, offset: 0 }, &[data.clone(), unknown], lanes);
    assert!(pushed.iter().all(|value| *value == LaneValue::Poison));
    let kept = row(masked(C::WaveShr, 15), &[data], lanes);
    assert_eq!(kept[0], LaneValue::Poison);
}
