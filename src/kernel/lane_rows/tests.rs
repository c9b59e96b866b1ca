use super::LaneRows;
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::{BinOp, Builder, CmpOp, Kernel, Op, Ty, Value};
use crate::lane::{Group, LaneOp};

/// The row of a value of a kernel with this workgroup, in waves of 32 lanes.
fn row(size: [u32; 3], build: impl FnOnce(&mut Builder) -> Value) -> Option<Vec<u64>> {
    let mut b = Builder::new(Kernel::new("main", size));
    let value = build(&mut b);
    b.effect(Op::Return, &[]);
    LaneRows::new(&b.kernel, 32).of(value).map(<[u64]>::to_vec)
}

fn local(b: &mut Builder) -> Value {
    b.value(Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32)
}

fn with(b: &mut Builder, op: BinOp, by: u32) -> Value {
    let (index, by) = (local(b), b.u32(by));
    b.bin(op, Scalar::U32, index, by)
}

#[test]
fn the_invocations_number_is_known_modulo_the_wave() {
    let lanes = |f: fn(u64) -> u64| Some((0..32).map(f).collect::<Vec<u64>>());
    let several = [128, 1, 1];
    assert_eq!(row(several, local), None);
    assert_eq!(row([32, 1, 1], local), lanes(|i| i));
    assert_eq!(row(several, |b| with(b, BinOp::And, 31)), lanes(|i| i));
    assert_eq!(row(several, |b| with(b, BinOp::And, 0x14)), lanes(|i| i & 0x14));
    assert_eq!(row(several, |b| with(b, BinOp::And, 63)), None);
    assert_eq!(row(several, |b| with(b, BinOp::Shr, 1)), None);
    let low_of_sum = |b: &mut Builder| {
        let (sum, mask) = (with(b, BinOp::Add, 5), b.u32(15));
        b.bin(BinOp::And, Scalar::U32, sum, mask)
    };
    assert_eq!(row(several, low_of_sum), lanes(|i| (i + 5) & 15));
    let shifted = |b: &mut Builder| {
        let (low, one) = (with(b, BinOp::And, 30), b.u32(1));
        b.bin(BinOp::Shr, Scalar::U32, low, one)
    };
    assert_eq!(row(several, shifted), lanes(|i| i >> 1));
}

#[test]
fn lane_indices_and_what_is_made_of_them_are_known() {
    let is_low = |b: &mut Builder| {
        let op = Op::Lane { op: LaneOp::LaneIndex(Group::Quad), ty: [Scalar::BOOL; 2] };
        let (index, two) = (b.value(op, &[], Ty::B32), b.u32(2));
        b.cmp(CmpOp::Lt, Scalar::U32, index, two)
    };
    let expected: Vec<u64> = (0..32).map(|i| u64::from(i % 4 < 2)).collect();
    assert_eq!(row([128, 1, 1], is_low), Some(expected));
    let group = |b: &mut Builder| b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
    assert_eq!(row([32, 1, 1], group), None);
}

#[test]
fn places_in_narrow_workgroups_are_known() {
    let place =
        |component| move |b: &mut Builder| b.value(Op::BuiltIn(BuiltIn::LocalInvocationId, component), &[], Ty::B32);
    let x: Vec<u64> = (0..32).map(|i| i % 8).collect();
    let y: Vec<u64> = (0..32).map(|i| i / 8).collect();
    assert_eq!(row([8, 4, 1], place(0)), Some(x.clone()));
    assert_eq!(row([8, 4, 1], place(1)), Some(y));
    assert_eq!(row([8, 8, 1], place(0)), Some(x));
    assert_eq!(row([8, 8, 1], place(1)), None);
    assert_eq!(row([12, 8, 1], place(0)), None);
}
