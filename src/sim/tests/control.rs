//! Lanes that part and reconverge.

use super::{SIZES, Shader, U32};
use crate::ir::Scalar;
use crate::kernel::{BinOp, CmpOp, Op, Ty};
use crate::lane::{Group, LaneOp};

/// Half of the lanes add, half multiply; all meet with their own results.
#[test]
fn branches_give_each_lane_its_own_value() {
    for lanes in SIZES {
        let mut s = Shader::new(40);
        let (x, local) = (s.input(), s.local);
        let one = s.b.u32(1);
        let odd = s.b.bin(BinOp::And, U32, local, one);
        let odd = s.b.convert(U32, Scalar::BOOL, odd);
        let yields = s.select(
            odd,
            &[Ty::B32, Ty::B32],
            |s| vec![s.b.bin(BinOp::Add, U32, x, x), x],
            |s| vec![s.b.bin(BinOp::Mul, U32, x, x), local],
        );
        let sum = s.b.bin(BinOp::Sub, U32, yields[0], yields[1]);
        s.output(sum);
        let input: Vec<u32> = (0..80).map(|i| i * 3 + 1).collect();
        let got = s.run(lanes, 2, &input).expect("it runs");
        let expected = (0..80).map(|i: u32| {
            let x = i * 3 + 1;
            if i % 40 % 2 == 1 { x } else { x.wrapping_mul(x).wrapping_sub(i % 40) }
        });
        assert_eq!(got, expected.collect::<Vec<_>>(), "{lanes} lanes");
    }
}

/// `a, b = b, a` in a loop that each lane leaves after its own trip count: from the body when the number is odd,
/// from `continuing` when it is even.
#[test]
fn loops_end_for_each_lane_by_itself() {
    for lanes in SIZES {
        let mut s = Shader::new(64);
        let local = s.local;
        let (zero, one, two) = (s.b.u32(0), s.b.u32(1), s.b.u32(2));
        let body = s.b.kernel.add_block(&[Ty::B32; 3]);
        let continuing = s.b.kernel.add_block(&[Ty::B32]);
        let inst = s.b.inst(Op::Loop { body, continuing }, &[zero, local, two], &[Ty::B32; 2]);
        let outer = s.b.switch_to(body);
        let [turn, a, b] = s.b.kernel.blocks[body].params[..] else { unreachable!() };
        let odd = s.b.bin(BinOp::And, U32, local, one);
        let is_odd = s.b.convert(U32, Scalar::BOOL, odd);
        s.when(is_odd, |s| {
            let over = s.b.cmp(CmpOp::Ge, U32, turn, local);
            s.when(over, |s| {
                s.b.effect(Op::Exit(inst), &[a, turn]);
            });
        });
        let next = s.b.bin(BinOp::Add, U32, turn, one);
        s.b.effect(Op::Continue(inst), &[next]);
        s.b.switch_to(continuing);
        let next = s.b.kernel.blocks[continuing].params[0];
        let over = s.b.cmp(CmpOp::Ge, U32, next, local);
        let even = s.b.cmp(CmpOp::Eq, U32, odd, zero);
        let leave = s.b.bin(BinOp::And, Scalar::BOOL, over, even);
        s.b.effect(Op::Repeat, &[leave, next, b, a, b, next]);
        s.b.switch_to(outer);
        let results: Vec<_> = s.b.kernel.results(inst).collect();
        let hundred = s.b.u32(100);
        let turns = s.b.bin(BinOp::Mul, U32, results[1], hundred);
        let sum = s.b.bin(BinOp::Add, U32, turns, results[0]);
        s.output(sum);
        let got = s.run(lanes, 1, &[]).expect("it runs");
        let expected = (0..64).map(|i: u32| match (i % 2, i) {
            (1, _) => i * 100 + 2,
            (_, 0) => 100 + 2,
            _ => i * 100 + i,
        });
        assert_eq!(got, expected.collect::<Vec<_>>(), "{lanes} lanes");
    }
}

/// Lanes that left a scope early, and lanes that returned, are inactive.
#[test]
fn active_lanes_are_those_that_are_there() {
    let mut s = Shader::new(16);
    let local = s.local;
    let yes = s.b.bool(true);
    let ballot = Op::Lane { op: LaneOp::Ballot(Group::Subgroup), ty: [Scalar::BOOL; 2] };
    let low = |s: &mut Shader| {
        let mask = s.b.value(ballot, &[yes], Ty::Mask);
        let zero = s.b.u32(0);
        s.b.value(Op::MaskAlu(crate::lane::AluOp::BallotWord), &[mask, zero], Ty::B32)
    };
    let first = s.less(local, 2);
    s.when(first, |s| {
        s.output(local);
        s.b.effect(Op::Return, &[]);
    });
    let body = s.b.kernel.add_block(&[]);
    let scope = s.b.inst(Op::Scope { body }, &[], &[Ty::B32]);
    let outer = s.b.switch_to(body);
    let early = s.less(local, 7);
    s.when(early, |s| {
        let inside = low(s);
        s.b.effect(Op::Exit(scope), &[inside]);
    });
    let late = low(&mut s);
    s.b.effect(Op::Yield, &[late]);
    s.b.switch_to(outer);
    let seen = s.b.kernel.result(scope).expect("one result");
    let all = low(&mut s);
    let sixteen = s.b.u32(16);
    let all = s.b.bin(BinOp::Shl, U32, all, sixteen);
    let both = s.b.bin(BinOp::Or, U32, all, seen);
    s.output(both);
    let got = s.run(16, 1, &[]).expect("it runs");
    let expected: Vec<u32> = (0..16)
        .map(|i| match i {
            0..2 => i,
            2..7 => 0xfffc_0000 | 0x7c,
            _ => 0xfffc_0000 | 0xff80,
        })
        .collect();
    assert_eq!(got, expected);
}
