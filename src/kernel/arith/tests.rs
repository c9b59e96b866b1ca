//! Every operation on corner values, against Rust's own arithmetic.

use super::*;

const fn scalar(kind: ScalarKind, width: u8) -> Scalar {
    Scalar { kind, width }
}

/// One result and whether it is defined.
fn one(f: impl Fn(&mut [u64]) -> u64) -> Option<u64> {
    let mut out = [0];
    let undefined = f(&mut out);
    (undefined & 1 == 0).then_some(out[0])
}

fn on_two(op: BinOp, ty: Scalar, a: u64, b: u64) -> Option<u64> {
    one(|out| bin(op, ty, out, &[a], &[b]))
}

fn on_one(op: UnOp, ty: Scalar, a: u64) -> u64 {
    let mut out = [0];
    un(op, ty, &mut out, &[a]);
    out[0]
}

fn compared(op: CmpOp, ty: Scalar, a: u64, b: u64) -> bool {
    let mut out = [0];
    cmp(op, ty, &mut out, &[a], &[b]);
    out[0] != 0
}

fn converted(from: Scalar, to: Scalar, a: u64) -> Option<u64> {
    one(|out| convert(from, to, out, &[a]))
}

/// Compares all integer operations of a type with Rust's; `$holds` are the bits of a value.
macro_rules! integers {
    ($name:ident, $type:ty, $wide:ty, $kind:ident, $holds:expr) => {
        #[test]
        fn $name() {
            let ty = scalar(ScalarKind::$kind, <$type>::BITS as u8);
            let holds: fn($type) -> u64 = $holds;
            let corners = [0, 1, 2, 3, 7, 100, <$type>::MAX, <$type>::MIN, <$type>::MAX - 1, !0, <$type>::MAX / 3];
            for a in corners {
                assert_eq!(on_one(UnOp::Neg, ty, holds(a)), holds(a.wrapping_neg()), "-{a}");
                assert_eq!(on_one(UnOp::Not, ty, holds(a)), holds(!a), "!{a}");
                assert_eq!(on_one(UnOp::BitCount, ty, holds(a)), u64::from(a.count_ones()), "bits of {a}");
                assert_eq!(on_one(UnOp::BitReverse, ty, holds(a)), holds(a.reverse_bits()), "reverse of {a}");
                let lowest = if a == 0 { holds(!0) } else { u64::from(a.trailing_zeros()) };
                assert_eq!(on_one(UnOp::FindLsb, ty, holds(a)), lowest, "lowest bit of {a}");
                for b in corners {
                    let (x, y) = (holds(a), holds(b));
                    assert_eq!(on_two(BinOp::Add, ty, x, y), Some(holds(a.wrapping_add(b))), "{a} + {b}");
                    assert_eq!(on_two(BinOp::Sub, ty, x, y), Some(holds(a.wrapping_sub(b))), "{a} - {b}");
                    assert_eq!(on_two(BinOp::Mul, ty, x, y), Some(holds(a.wrapping_mul(b))), "{a} * {b}");
                    let product = <$wide>::from(a).wrapping_mul(<$wide>::from(b));
                    let high = (product >> <$type>::BITS) as $type;
                    assert_eq!(on_two(BinOp::MulHigh, ty, x, y), Some(holds(high)), "high half of {a} * {b}");
                    assert_eq!(on_two(BinOp::Div, ty, x, y), a.checked_div(b).map(holds), "{a} / {b}");
                    assert_eq!(on_two(BinOp::Rem, ty, x, y), a.checked_rem(b).map(holds), "{a} % {b}");
                    assert_eq!(on_two(BinOp::Min, ty, x, y), Some(holds(a.min(b))), "min({a}, {b})");
                    assert_eq!(on_two(BinOp::Max, ty, x, y), Some(holds(a.max(b))), "max({a}, {b})");
                    assert_eq!(on_two(BinOp::Xor, ty, x, y), Some(holds(a ^ b)), "{a} ^ {b}");
                    assert_eq!(compared(CmpOp::Lt, ty, x, y), a < b, "{a} < {b}");
                    assert_eq!(compared(CmpOp::Ge, ty, x, y), a >= b, "{a} >= {b}");
                    assert_eq!(compared(CmpOp::Ne, ty, x, y), a != b, "{a} != {b}");
                }
                for n in [0, 1, 5, 31, 32, 63, 64] {
                    assert_eq!(on_two(BinOp::Shl, ty, holds(a), n), a.checked_shl(n as u32).map(holds), "{a} << {n}");
                    assert_eq!(on_two(BinOp::Shr, ty, holds(a), n), a.checked_shr(n as u32).map(holds), "{a} >> {n}");
                }
            }
            let all = |op| identity(op, ty);
            assert_eq!([all(ReduceOp::Min), all(ReduceOp::Max)], [holds(<$type>::MAX), holds(<$type>::MIN)]);
            assert_eq!([all(ReduceOp::And), all(ReduceOp::Xor), all(ReduceOp::Mul)], [holds(!0), 0, 1]);
        }
    };
}

integers!(u8_is_rusts, u8, u16, Uint, u64::from);
integers!(i8_is_rusts_in_16_bits, i8, i16, Sint, |x| (i16::from(x) as u16).into());
integers!(u16_is_rusts, u16, u32, Uint, u64::from);
integers!(i16_is_rusts, i16, i32, Sint, |x| (x as u16).into());
integers!(u32_is_rusts, u32, u64, Uint, u64::from);
integers!(i32_is_rusts, i32, i64, Sint, |x| (x as u32).into());
integers!(u64_is_rusts, u64, u128, Uint, |x| x);
integers!(i64_is_rusts, i64, i128, Sint, |x| x as u64);

#[test]
fn highest_bits_are_those_of_the_magnitude() {
    let of = |ty, x: u64| on_one(UnOp::FindMsb, ty, x);
    assert_eq!([of(Scalar::U32, 0), of(Scalar::U32, 1), of(Scalar::U32, 0x8000_0000)], [0xffff_ffff, 0, 31]);
    let minus = |x: i32| u64::from(x as u32);
    assert_eq!(
        [of(Scalar::I32, minus(-1)), of(Scalar::I32, minus(-2)), of(Scalar::I32, minus(i32::MIN))],
        [0xffff_ffff, 0, 30]
    );
    assert_eq!(on_one(UnOp::Abs, Scalar::I32, minus(i32::MIN)), minus(i32::MIN));
    assert_eq!(on_one(UnOp::Abs, Scalar::I32, minus(-5)), 5);
}

#[test]
fn bit_fields_are_cut_out_and_put_in() {
    let extract = |ty, base, offset, bits| one(|out| tern(TernOp::BitExtract, ty, out, [&[base], &[offset], &[bits]]));
    assert_eq!(extract(Scalar::U32, 0xabcd_ef12, 8, 12), Some(0xdef));
    assert_eq!(extract(Scalar::I32, 0xabcd_ef12, 8, 12), Some(0xffff_fdef));
    assert_eq!(extract(Scalar::I32, 0xabcd_ef12, 0, 32), Some(0xabcd_ef12));
    assert_eq!(extract(Scalar::U32, 0xabcd_ef12, 32, 0), Some(0));
    assert_eq!(extract(Scalar::U32, 0xabcd_ef12, 30, 3), None);
    let u64s = scalar(ScalarKind::Uint, 64);
    assert_eq!(extract(u64s, 0xabcd_ef12, 64, 0), Some(0));
    let insert = |offset, bits| one(|out| bit_insert(Scalar::U32, out, [&[0xffff_ffff], &[0x12], &[offset], &[bits]]));
    assert_eq!([insert(4, 8), insert(0, 32), insert(32, 0)], [Some(0xffff_f12f), Some(0x12), Some(0xffff_ffff)]);
    assert_eq!(insert(31, 2), None);
}

#[test]
fn floats_are_ieee() {
    let bits = |x: f32| u64::from(x.to_bits());
    let corners = [0.0, -0.0, 1.5, -2.25, 1e-40, 3.4e38, f32::INFINITY, f32::NAN, 16_777_217.0, 0.1];
    let same = |got: u64, want: f32, what: &str| {
        let got = f32::from_bits(got as u32);
        assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{what}: {got} for {want}");
    };
    for a in corners {
        same(on_one(UnOp::Sqrt, Scalar::F32, bits(a)), a.sqrt(), "sqrt");
        same(on_one(UnOp::RoundEven, Scalar::F32, bits(a)), a.round_ties_even(), "round");
        same(on_one(UnOp::Neg, Scalar::F32, bits(a)), -a, "-");
        same(on_one(UnOp::Abs, Scalar::F32, bits(a)), a.abs(), "abs");
        for b in corners {
            let on = |op| on_two(op, Scalar::F32, bits(a), bits(b)).expect("floats are never undefined");
            same(on(BinOp::Add), a + b, "+");
            same(on(BinOp::Sub), a - b, "-");
            same(on(BinOp::Mul), a * b, "*");
            same(on(BinOp::Div), a / b, "/");
            assert_eq!(compared(CmpOp::Lt, Scalar::F32, bits(a), bits(b)), a < b);
            assert_eq!(compared(CmpOp::Ne, Scalar::F32, bits(a), bits(b)), a != b);
            let fused = one(|out| tern(TernOp::Fma, Scalar::F32, out, [&[bits(a)], &[bits(b)], &[bits(0.1)]]));
            same(fused.expect("defined"), a.mul_add(b, 0.1), "fma");
        }
    }
    let (one, nan) = (bits(1.0), bits(f32::NAN));
    assert_eq!([on_two(BinOp::Min, Scalar::F32, nan, one), on_two(BinOp::Max, Scalar::F32, one, nan)], [Some(one); 2]);
}

/// The sum of an eighth of the smallest step and 1 is 1 when rounded once, and half a step rounds to even.
#[test]
fn half_floats_are_rounded_once() {
    let half = scalar(ScalarKind::Float, 16);
    assert_eq!(on_two(BinOp::Add, half, 0x3c00, 0x1000), Some(0x3c00));
    assert_eq!(on_two(BinOp::Add, half, 0x3c01, 0x1000), Some(0x3c02));
    assert_eq!(on_two(BinOp::Mul, half, 0x7bff, 0x4000), Some(0x7c00));
    assert_eq!(converted(half, Scalar::F32, 0x3555), Some(0x3eaa_a000));
    assert_eq!(neutral(ReduceOp::Add, half), 0x8000);
}

#[test]
fn conversions_follow_the_values() {
    use ScalarKind::{Float, Sint, Uint};
    let bits = |x: f32| u64::from(x.to_bits());
    let (i8s, u8s, i64s, u64s) = (scalar(Sint, 8), scalar(Uint, 8), scalar(Sint, 64), scalar(Uint, 64));
    assert_eq!(converted(Scalar::I32, i8s, 0xfff0_0080), Some(0xff80));
    assert_eq!(converted(i8s, Scalar::U32, 0xff80), Some(0xffff_ff80));
    assert_eq!(converted(u8s, Scalar::I32, 0x80), Some(0x80));
    assert_eq!(converted(Scalar::I32, i64s, 0xffff_ffff), Some(u64::MAX));
    assert_eq!(converted(Scalar::I32, Scalar::F32, 0xffff_fffd), Some(bits(-3.0)));
    // If this were rounded to 64 bits first, it would become a tie and then round down.
    assert_eq!(converted(u64s, Scalar::F32, (1 << 60) + (1 << 36) + 1), Some(bits(((1_u64 << 60) + (1 << 37)) as f32)));
    assert_eq!(converted(Scalar::F32, Scalar::I32, bits(-2.9)), Some(0xffff_fffe));
    assert_eq!(converted(Scalar::F32, Scalar::U32, bits(-0.9)), Some(0));
    assert_eq!(converted(Scalar::F32, Scalar::U32, bits(4e9)), Some(4_000_000_000));
    let outside = [(Scalar::U32, -1.0), (Scalar::I32, 2_147_483_648.0), (Scalar::I32, f32::NAN), (u64s, 1.9e19)];
    assert!(outside.iter().all(|(to, value)| converted(Scalar::F32, *to, bits(*value)).is_none()));
    assert_eq!(converted(Scalar::F32, i8s, bits(-128.5)), Some(0xff80));
    assert_eq!(converted(Scalar::F32, Scalar::BOOL, bits(f32::NAN)), Some(1));
    assert_eq!(converted(Scalar::BOOL, scalar(Float, 64), 1), Some(1.0_f64.to_bits()));
    assert_eq!(converted(scalar(Float, 64), Scalar::F32, 0.1_f64.to_bits()), Some(bits(0.1)));
}

/// Each lane has its own result, and its own bit if the result is undefined.
#[test]
fn rows_are_lanes_side_by_side() {
    let mut out = [9; 4];
    let undefined = bin(BinOp::Div, Scalar::U32, &mut out, &[8, 7, 6, 5], &[2, 0, 3, 0]);
    assert_eq!((out, undefined), ([4, 0, 2, 0], 0b1010));
}
