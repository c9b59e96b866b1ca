use super::{Ranges, Simpler, fold};
use crate::ir::{BuiltIn, Scalar, ScalarKind};
use crate::kernel::{BinOp, Builder, CmpOp, Kernel, Op, Ty, UnOp, Value};
use crate::lane::AluOp;

const I8: Scalar = Scalar { kind: ScalarKind::Sint, width: 8 };

/// A kernel with two unknown numbers, a bool and a float.
fn start() -> (Builder, [Value; 4]) {
    let mut b = Builder::new(Kernel::new("main", [64, 2, 1]));
    let x = b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
    let y = b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 1), &[], Ty::B32);
    let p = b.cmp(CmpOp::Lt, Scalar::U32, x, y);
    let f = b.convert(Scalar::U32, Scalar::F32, x);
    (b, [x, y, p, f])
}

fn simpler(b: &mut Builder, op: Op, args: &[Value], ty: Ty) -> Option<Simpler> {
    let ranges = Ranges::new(&b.kernel);
    fold(&mut b.kernel, &ranges, op, args, ty)
}

fn constant(b: &mut Builder, scalar: Scalar, bits: u64) -> Value {
    b.constant(Ty::of(scalar), bits)
}

/// `x op c` becomes a constant, `x` itself, or another operation.
#[test]
fn integers_with_constants() {
    use BinOp as B;
    #[derive(Debug)]
    enum To {
        Same,
        Number(u64),
        Op(BinOp, Scalar, u64),
        Nothing,
    }
    let cases = [
        (B::Add, Scalar::U32, 0, To::Same),
        (B::Sub, Scalar::U32, 1, To::Op(B::Add, Scalar::U32, 0xffff_ffff)),
        (B::Mul, Scalar::I32, 0, To::Number(0)),
        (B::Mul, Scalar::I32, 8, To::Op(B::Shl, Scalar::I32, 3)),
        (B::Mul, Scalar::I32, 6, To::Nothing),
        (B::Div, Scalar::U32, 4, To::Op(B::Shr, Scalar::U32, 2)),
        // A negative dividend is rounded toward zero.
        (B::Div, Scalar::I32, 4, To::Nothing),
        (B::Rem, Scalar::U32, 4, To::Op(B::And, Scalar::U32, 3)),
        (B::Rem, Scalar::I32, 4, To::Nothing),
        (B::And, Scalar::U32, 0xffff_ffff, To::Same),
        (B::Or, Scalar::U32, 0xffff_ffff, To::Number(0xffff_ffff)),
        (B::Shl, Scalar::U32, 0, To::Same),
        (B::Min, Scalar::U32, 0xffff_ffff, To::Same),
        (B::Min, Scalar::I32, 0xffff_ffff, To::Nothing),
        (B::Min, Scalar::I32, 0x7fff_ffff, To::Same),
        (B::Min, Scalar::I32, 0x8000_0000, To::Number(0x8000_0000)),
        (B::Min, Scalar::U32, 0, To::Number(0)),
        (B::Max, Scalar::U32, 0, To::Same),
        (B::Max, Scalar::I32, 0, To::Nothing),
        (B::Max, Scalar::I32, 0x8000_0000, To::Same),
        (B::Max, Scalar::U32, 0xffff_ffff, To::Number(0xffff_ffff)),
    ];
    for (op, scalar, by, to) in cases {
        let (mut b, [x, ..]) = start();
        let c = constant(&mut b, scalar, by);
        let found = simpler(&mut b, Op::Bin(op, scalar), &[x, c], Ty::B32);
        let expected = match to {
            To::Same => Some(Simpler::Is(x)),
            To::Number(bits) => Some(Simpler::Is(b.constant(Ty::B32, bits))),
            To::Op(op, scalar, by) => Some(Simpler::Op(Op::Bin(op, scalar), vec![x, b.constant(Ty::B32, by)])),
            To::Nothing => None,
        };
        assert_eq!(found, expected, "{op:?} {scalar:?} {by}");
    }
}

#[test]
fn floats_keep_zeros_and_nans() {
    use BinOp as B;
    let cases = [
        (B::Add, 0.0, false),
        (B::Add, -0.0, true),
        (B::Sub, 0.0, true),
        (B::Sub, -0.0, false),
        (B::Mul, 0.0, false),
        (B::Mul, 1.0, true),
        (B::Div, 1.0, true),
    ];
    for (op, by, is_same) in cases {
        let (mut b, [.., f]) = start();
        let c = b.f32(by);
        let found = simpler(&mut b, Op::Bin(op, Scalar::F32), &[f, c], Ty::B32);
        assert_eq!(found, is_same.then_some(Simpler::Is(f)), "{op:?} {by}");
    }
    let (mut b, [.., f]) = start();
    let (four, quarter, three) = (b.f32(-4.0), b.f32(-0.25), b.f32(3.0));
    let product = Simpler::Op(Op::Bin(B::Mul, Scalar::F32), vec![f, quarter]);
    assert_eq!(simpler(&mut b, Op::Bin(B::Div, Scalar::F32), &[f, four], Ty::B32), Some(product));
    assert_eq!(simpler(&mut b, Op::Bin(B::Div, Scalar::F32), &[f, three], Ty::B32), None);
    assert_eq!(simpler(&mut b, Op::Cmp(CmpOp::Eq, Scalar::F32), &[f, f], Ty::Bool), None);
}

#[test]
fn constants_are_computed_in_the_form_of_their_type() {
    let (mut b, _) = start();
    let (most, one) = (constant(&mut b, I8, 127), constant(&mut b, I8, 1));
    let sum = simpler(&mut b, Op::Bin(BinOp::Add, I8), &[most, one], Ty::B16);
    assert_eq!(sum, Some(Simpler::Is(b.constant(Ty::B16, 0xff80))));
    let zero = b.u32(0);
    assert_eq!(simpler(&mut b, Op::Bin(BinOp::Div, Scalar::U32), &[zero, zero], Ty::B32), None);
}

#[test]
fn comparisons_look_through_what_keeps_values_apart() {
    let (mut b, [x, _, p, f]) = start();
    let (three, five, two) = (b.u32(3), b.u32(5), b.u32(2));
    let sum = b.bin(BinOp::Add, Scalar::U32, x, three);
    let found = simpler(&mut b, Op::Cmp(CmpOp::Eq, Scalar::U32), &[sum, five], Ty::Bool);
    assert_eq!(found, Some(Simpler::Op(Op::Cmp(CmpOp::Eq, Scalar::U32), vec![x, two])));
    let number = b.convert(Scalar::BOOL, Scalar::U32, p);
    let (zero, no) = (b.u32(0), b.bool(false));
    let found = simpler(&mut b, Op::Cmp(CmpOp::Ne, Scalar::U32), &[number, zero], Ty::Bool);
    assert_eq!(found, Some(Simpler::Op(Op::Cmp(CmpOp::Ne, Scalar::BOOL), vec![p, no])));
    let less = b.cmp(CmpOp::Lt, Scalar::F32, f, f);
    assert_eq!(simpler(&mut b, Op::Un(UnOp::Not, Scalar::BOOL), &[less], Ty::Bool), None);
}

#[test]
fn comparisons_with_the_last_number_have_one_answer() {
    let (mut b, [x, ..]) = start();
    let [least, most] = [0x8000_0000, 0x7fff_ffff].map(|bits| constant(&mut b, Scalar::I32, bits));
    let cases = [(CmpOp::Lt, least, 0), (CmpOp::Ge, least, 1), (CmpOp::Gt, most, 0), (CmpOp::Le, most, 1)];
    for (op, with, truth) in cases {
        let found = simpler(&mut b, Op::Cmp(op, Scalar::I32), &[x, with], Ty::Bool);
        assert_eq!(found, Some(Simpler::Is(b.constant(Ty::Bool, truth))), "{op:?}");
    }
    assert_eq!(simpler(&mut b, Op::Cmp(CmpOp::Le, Scalar::I32), &[x, least], Ty::Bool), None);
}

/// A number with a known sign compares by it with numbers of the other sign.
#[test]
fn comparisons_know_signs() {
    let (mut b, [x, ..]) = start();
    let (low, three, minus) = (b.u32(0x0fff_ffff), b.u32(3), b.u32(0xffff_fffe));
    let positive = b.bin(BinOp::And, Scalar::U32, x, low);
    let negative = b.un(UnOp::Not, Scalar::U32, positive);
    let mut ranges = Ranges::new(&b.kernel);
    for value in [positive, negative] {
        let inst = b.kernel.definition(value).unwrap();
        ranges.learn(&b.kernel, &b.kernel.insts[inst].op, b.kernel.args(inst), value);
    }
    let cases = [
        (negative, CmpOp::Lt, three, Some(1)),
        (negative, CmpOp::Ge, three, Some(0)),
        (negative, CmpOp::Eq, three, Some(0)),
        (negative, CmpOp::Lt, minus, None),
        (positive, CmpOp::Lt, minus, Some(0)),
        (positive, CmpOp::Gt, minus, Some(1)),
        (positive, CmpOp::Ne, minus, Some(1)),
        (positive, CmpOp::Le, three, None),
    ];
    for (value, op, with, truth) in cases {
        let found = fold(&mut b.kernel, &ranges, Op::Cmp(op, Scalar::I32), &[value, with], Ty::Bool);
        let truth = truth.map(|truth| Simpler::Is(b.constant(Ty::Bool, truth)));
        assert_eq!(found, truth, "{op:?} {with:?}");
    }
}

#[test]
fn masks_and_halves_are_taken_apart() {
    let (mut b, [x, y, ..]) = start();
    let (zero, one, two) = (b.u32(0), b.u32(1), b.u32(2));
    let mask = b.value(Op::MaskFromWords, &[x, y, zero, zero], Ty::Mask);
    let word = Op::MaskAlu(AluOp::BallotWord);
    assert_eq!(simpler(&mut b, word, &[mask, one], Ty::B32), Some(Simpler::Is(y)));
    assert_eq!(simpler(&mut b, word, &[mask, two], Ty::B32), Some(Simpler::Is(zero)));
    let long = b.value(Op::Join, &[x, y], Ty::B64);
    assert_eq!(simpler(&mut b, Op::High, &[long], Ty::B32), Some(Simpler::Is(y)));
}

/// `(x ^ y) ^ x` is `y`, in all orders.
#[test]
fn an_exclusive_or_undoes_itself() {
    let (mut b, [x, y, _, z]) = start();
    let xor = Op::Bin(BinOp::Xor, Scalar::U32);
    for inner in [[x, y], [y, x]] {
        let both = b.value(xor, &inner, Ty::B32);
        for args in [[both, x], [x, both]] {
            assert_eq!(simpler(&mut b, xor, &args, Ty::B32), Some(Simpler::Is(y)));
        }
        assert_eq!(simpler(&mut b, xor, &[both, z], Ty::B32), None);
    }
}
