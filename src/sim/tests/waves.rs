//! Waves of one workgroup, and cross-lane operations inside kernels.

use super::faults::barrier;
use super::{SIZES, Shader, U32, access};
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::{BinOp, CmpOp, MemorySpace, Op, Ty};
use crate::lane::{LaneOp, Members, ReduceKind, ReduceOp, ShuffleMode, Swap, Width};
use crate::sim::{FaultKind, Program, Use};

const SHARED: MemorySpace = MemorySpace::Shared;

/// A tree in shared memory, with a barrier inside a loop: every wave stops and continues in it six times.
#[test]
fn barriers_in_loops_keep_waves_together() {
    for lanes in SIZES {
        let mut s = Shader::new(64);
        s.b.kernel.shared_bytes = 256;
        let (x, own, local) = (s.input(), s.address(s.local), s.local);
        s.b.store(access(SHARED, 4), own, &[x]);
        barrier(&mut s);
        let (half, one) = (s.b.u32(32), s.b.u32(1));
        let (body, continuing) = (s.b.kernel.add_block(&[Ty::B32]), s.b.kernel.add_block(&[Ty::B32]));
        let inst = s.b.inst(Op::Loop { body, continuing }, &[half], &[]);
        let outer = s.b.switch_to(body);
        let distance = s.b.kernel.blocks[body].params[0];
        let low = s.b.cmp(CmpOp::Lt, U32, local, distance);
        s.when(low, |s| {
            let other = s.b.bin(BinOp::Add, U32, local, distance);
            let other = s.address(other);
            let (a, b) = (s.b.load(access(SHARED, 4), own)[0], s.b.load(access(SHARED, 4), other)[0]);
            let sum = s.b.bin(BinOp::Add, U32, a, b);
            s.b.store(access(SHARED, 4), own, &[sum]);
        });
        barrier(&mut s);
        s.b.effect(Op::Continue(inst), &[distance]);
        s.b.switch_to(continuing);
        let distance = s.b.kernel.blocks[continuing].params[0];
        let next = s.b.bin(BinOp::Shr, U32, distance, one);
        let over = s.less(next, 1);
        s.b.effect(Op::Repeat, &[over, next]);
        s.b.switch_to(outer);
        let zero = s.b.u32(0);
        let sum = s.b.load(access(SHARED, 4), zero)[0];
        s.output(sum);
        let input: Vec<u32> = (0..128).map(|i| i * i).collect();
        let sums = [input[..64].iter().sum::<u32>(), input[64..].iter().sum()];
        let got = s.run(lanes, 2, &input).expect("it runs");
        assert!((0..128).all(|i| got[i] == sums[i / 64]), "{lanes} lanes");
    }
}

/// The partial last wave of a workgroup: reductions over active lanes are right, others are undefined.
#[test]
fn lanes_that_do_not_exist_are_inactive() {
    let fold =
        |members| LaneOp::Reduce { op: ReduceOp::Add, kind: ReduceKind::AllReduce, width: Width::SUBGROUP, members };
    let run = |members| {
        let mut s = Shader::new(12);
        let x = s.input();
        let sum = s.b.value(Op::Lane { op: fold(members), ty: [U32, Scalar::BOOL] }, &[x], Ty::B32);
        s.output(sum);
        s.run(8, 1, &[1; 12])
    };
    assert_eq!(run(Members::Active).expect("it runs"), [8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4]);
    let fault = run(Members::All).expect_err("the second wave is not full");
    assert_eq!((&fault.kind, fault.at.wave), (&FaultKind::Undefined(Use::Memory), 1));
}

/// An index that is undefined in one lane makes only that lane's result undefined.
#[test]
fn undefined_indices_stay_with_their_lanes() {
    for (guarded, runs) in [(true, true), (false, false)] {
        let mut s = Shader::new(8);
        let (x, local, three) = (s.input(), s.local, s.b.u32(3));
        let index = s.b.bin(BinOp::Div, U32, three, local);
        let op = LaneOp::Shuffle(ShuffleMode::Index);
        let moved = s.b.value(Op::Lane { op, ty: [U32, U32] }, &[x, index], Ty::B32);
        let zero = s.b.u32(0);
        let defined = s.b.cmp(CmpOp::Ne, U32, local, zero);
        match guarded {
            true => s.when(defined, |s| s.output(moved)),
            false => s.output(moved),
        }
        let got = s.run(8, 1, &[10, 11, 12, 13, 14, 15, 16, 17]);
        assert_eq!(got.ok(), runs.then(|| vec![0, 13, 11, 11, 10, 10, 10, 10]), "guarded: {guarded}");
    }
}

#[test]
fn waves_know_their_number() {
    let mut s = Shader::new(40);
    let id = s.b.value(Op::BuiltIn(BuiltIn::SubgroupId, 0), &[], Ty::B32);
    let count = s.b.value(Op::BuiltIn(BuiltIn::NumSubgroups, 0), &[], Ty::B32);
    let (ten, hundred) = (s.b.u32(10), s.b.u32(100));
    let id = s.b.bin(BinOp::Mul, U32, id, ten);
    let lane = s.b.value(Op::Fact(crate::lane::LaneFact::Index), &[], Ty::B32);
    let count = s.b.bin(BinOp::Mul, U32, count, hundred);
    let sum = s.b.bin(BinOp::Add, U32, id, lane);
    let sum = s.b.bin(BinOp::Add, U32, count, sum);
    s.output(sum);
    let got = s.run(16, 1, &[]).expect("it runs");
    assert_eq!(got, (0..40).map(|i| 300 + i / 16 * 10 + i % 16).collect::<Vec<_>>());
}

/// Operations that span more lanes than a wave has are refused with both numbers.
#[test]
fn operations_that_are_too_wide_are_refused() {
    let mut s = Shader::new(16);
    let x = s.input();
    let width = Width::new(16).expect("a power of two");
    s.b.value(Op::Lane { op: LaneOp::Swap(Swap::Butterfly, width), ty: [U32, U32] }, &[x], Ty::B32);
    let refusal = Program::new(&s.finish(), 8).expect_err("it is too wide");
    assert_eq!(refusal.message, "the operation spans 16 lanes and the subgroup has 8");
}
