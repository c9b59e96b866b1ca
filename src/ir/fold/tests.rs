//! Values that the specifications state, and the corners of each number type.

use super::*;
use crate::ir::ScalarKind;

/// A module's tables with short ways to write constants.
#[derive(Default)]
struct Bench {
    types: Types,
    constants: Constants,
}

const fn int(kind: ScalarKind, width: u8) -> Scalar {
    Scalar { kind, width }
}

const I8: Scalar = int(ScalarKind::Sint, 8);
const U8: Scalar = int(ScalarKind::Uint, 8);
const I64: Scalar = int(ScalarKind::Sint, 64);
const U64: Scalar = int(ScalarKind::Uint, 64);
const F16: Scalar = int(ScalarKind::Float, 16);

impl Bench {
    fn num(&mut self, scalar: Scalar, value: Num) -> ConstId {
        let ty = self.types.scalar(scalar);
        self.constants.intern(ty, ConstValue::Bits(value.encode(scalar)))
    }

    fn int(&mut self, scalar: Scalar, value: i128) -> ConstId {
        self.num(scalar, Num::Int(value))
    }

    fn f32(&mut self, value: f64) -> ConstId {
        self.num(Scalar::F32, Num::Float(value))
    }

    fn vec(&mut self, values: &[f64]) -> ConstId {
        let parts: Vec<ConstId> = values.iter().map(|value| self.f32(*value)).collect();
        let ty = self.types.vector(Scalar::F32, values.len() as u8);
        self.constants.intern(ty, ConstValue::Composite(parts.into()))
    }

    fn mat(&mut self, columns: &[&[f64]]) -> ConstId {
        let parts: Vec<ConstId> = columns.iter().map(|column| self.vec(column)).collect();
        let ty = self.types.matrix(Scalar::F32, columns.len() as u8, columns[0].len() as u8);
        self.constants.intern(ty, ConstValue::Composite(parts.into()))
    }

    fn ty(&self, id: ConstId) -> TypeId {
        self.constants.get(id).ty
    }

    fn fold(&mut self, expr: Expr, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        fold(&mut self.types, &mut self.constants, expr, ty, args)
    }

    fn binary(&mut self, op: BinaryOp, a: ConstId, b: ConstId) -> Option<ConstId> {
        let (left, right) = (self.ty(a), self.ty(b));
        let ty = super::super::typing::binary(&mut self.types, op, left, right)?;
        self.fold(Expr::Binary(op), ty, &[a, b])
    }

    fn math(&mut self, function: MathFn, args: &[ConstId]) -> Option<ConstId> {
        let types: Vec<TypeId> = args.iter().map(|arg| self.ty(*arg)).collect();
        let ty = super::super::typing::math(&mut self.types, function, &types)?;
        self.fold(Expr::Math(function), ty, args)
    }

    fn convert(&mut self, to: Scalar, value: ConstId) -> Option<ConstId> {
        let ty = self.types.scalar(to);
        self.fold(Expr::Convert, ty, &[value])
    }

    fn lanes(&mut self, id: Option<ConstId>) -> Vec<f64> {
        let id = id.expect("a constant");
        let mut folder = Folder { types: &mut self.types, constants: &mut self.constants };
        let number = |lane: &Num| match lane {
            Num::Bool(value) => f64::from(u8::from(*value)),
            Num::Int(value) => *value as f64,
            Num::Float(value) => *value,
        };
        match folder.matrix(id) {
            Some(columns) => columns.iter().flat_map(|column| column.lanes().iter().map(number)).collect(),
            None => folder.vector(id).expect("known").lanes().iter().map(number).collect(),
        }
    }

    fn pair(&mut self, id: Option<ConstId>) -> (f64, f64) {
        let mut folder = Folder { types: &mut self.types, constants: &mut self.constants };
        let parts = folder.parts(id.expect("a constant")).expect("a struct");
        (self.lanes(Some(parts[0]))[0], self.lanes(Some(parts[1]))[0])
    }

    fn unary_ints(&mut self, function: MathFn, scalar: Scalar, values: &[i128]) -> Vec<f64> {
        let one = |bench: &mut Bench, value: &i128| {
            let arg = bench.int(scalar, *value);
            let result = bench.math(function, &[arg]);
            bench.lanes(result)[0]
        };
        values.iter().map(|value| one(self, value)).collect()
    }
}

#[test]
fn integers_wrap() {
    let mut b = Bench::default();
    for (scalar, x, y, sum, product) in [
        (I8, 127, 2, -127, -2),
        (U8, 255, 2, 1, 254),
        (Scalar::I32, i128::from(i32::MAX), 2, i128::from(i32::MIN) + 1, -2),
        (U64, i128::from(u64::MAX), 3, 2, i128::from(u64::MAX) - 2),
    ] {
        let (x, y) = (b.int(scalar, x), b.int(scalar, y));
        assert_eq!(b.binary(BinaryOp::Add, x, y), Some(b.int(scalar, sum)));
        assert_eq!(b.binary(BinaryOp::Mul, x, y), Some(b.int(scalar, product)));
    }
}

#[test]
fn division_truncates_and_may_be_undefined() {
    let mut b = Bench::default();
    let (minus_seven, two, zero) = (b.int(Scalar::I32, -7), b.int(Scalar::I32, 2), b.int(Scalar::I32, 0));
    assert_eq!(b.binary(BinaryOp::Div, minus_seven, two), Some(b.int(Scalar::I32, -3)));
    assert_eq!(b.binary(BinaryOp::Rem, minus_seven, two), Some(b.int(Scalar::I32, -1)));
    assert_eq!(b.binary(BinaryOp::Div, two, zero), None);
    assert_eq!(b.binary(BinaryOp::Rem, two, zero), None);
    let (least, minus_one) = (b.int(I64, i128::from(i64::MIN)), b.int(I64, -1));
    assert_eq!(b.binary(BinaryOp::Div, least, minus_one), None);
    let (most, one) = (b.int(U64, i128::from(u64::MAX)), b.int(U64, 1));
    assert_eq!(b.binary(BinaryOp::Div, most, one), Some(most));
}

#[test]
fn shifts_keep_to_the_width() {
    let mut b = Bench::default();
    let (x, four, forty) = (b.int(Scalar::I32, -16), b.int(Scalar::U32, 4), b.int(Scalar::U32, 40));
    assert_eq!(b.binary(BinaryOp::Shr, x, four), Some(b.int(Scalar::I32, -1)));
    assert_eq!(b.binary(BinaryOp::Shl, x, four), Some(b.int(Scalar::I32, -256)));
    assert_eq!(b.binary(BinaryOp::Shl, x, forty), None);
    let wide = b.int(U64, 1 << 63);
    assert_eq!(b.binary(BinaryOp::Shr, wide, four), Some(b.int(U64, 1 << 59)));
}

#[test]
fn floats_round_in_their_own_width() {
    let mut b = Bench::default();
    let (x, y) = (b.f32(16_777_216.0), b.f32(1.0));
    assert_eq!(b.binary(BinaryOp::Add, x, y), Some(x));
    let (one, ten) = (b.f32(1.0), b.f32(10.0));
    let tenth = b.binary(BinaryOp::Div, one, ten);
    assert_eq!(b.lanes(tenth), [f64::from(0.1f32)]);
    let (big, two) = (b.num(F16, Num::Float(60000.0)), b.num(F16, Num::Float(2.0)));
    let product = b.binary(BinaryOp::Mul, big, two);
    assert_eq!(b.lanes(product), [f64::INFINITY]);
}

#[test]
fn comparisons_with_nan_are_false_but_for_ne() {
    let mut b = Bench::default();
    let nan = b.f32(f64::NAN);
    let (yes, no) = (b.constants.bool(true), b.constants.bool(false));
    for op in [BinaryOp::Eq, BinaryOp::Lt, BinaryOp::Ge] {
        assert_eq!(b.binary(op, nan, nan), Some(no));
    }
    assert_eq!(b.binary(BinaryOp::Ne, nan, nan), Some(yes));
}

#[test]
fn conversions() {
    let mut b = Bench::default();
    let (minus, most) = (b.f32(-1.7), b.int(Scalar::U32, 0xffff_ffff));
    assert_eq!(b.convert(Scalar::I32, minus), Some(b.int(Scalar::I32, -1)));
    assert_eq!(b.convert(Scalar::U32, minus), Some(b.int(Scalar::U32, 0)));
    assert_eq!(b.convert(Scalar::I32, most), Some(b.int(Scalar::I32, -1)));
    assert_eq!(b.convert(I64, most), Some(b.int(I64, 0xffff_ffff)));
    let minus_one = b.int(Scalar::I32, -1);
    assert_eq!(b.convert(U64, minus_one), Some(b.int(U64, -1)));
    assert_eq!(b.convert(Scalar::BOOL, minus), Some(b.constants.bool(true)));
    let close = b.int(U64, 0x0080_0000_4000_0001);
    assert_eq!(b.convert(Scalar::F32, close), Some(b.f32(f64::from(0x0080_0000_4000_0001u64 as f32))));
}

#[test]
fn bits_are_reinterpreted() {
    let mut b = Bench::default();
    let one = b.f32(1.0);
    assert_eq!(b.fold(Expr::Bitcast, Types::U32, &[one]), Some(b.int(Scalar::U32, 0x3f80_0000)));
    let long = b.int(U64, 0x1_0000_0002);
    let uvec2 = b.types.vector(Scalar::U32, 2);
    let halves = b.fold(Expr::Bitcast, uvec2, &[long]);
    assert_eq!(b.lanes(halves), [2.0, 1.0]);
    let u64_ty = b.types.scalar(U64);
    assert_eq!(b.fold(Expr::Bitcast, u64_ty, &[halves.unwrap()]), Some(long));
    assert_eq!(b.fold(Expr::Bitcast, u64_ty, &[one]), None);
}

#[test]
fn half_floats_round_to_even() {
    for (value, bits) in [
        (0.0, 0),
        (-0.0, 0x8000),
        (1.0, 0x3c00),
        (-2.0, 0xc000),
        (65504.0, 0x7bff),
        (65519.0, 0x7bff),
        (65520.0, 0x7c00),
        (2f64.powi(-24), 1),
        (2f64.powi(-25), 0),
        (3.0 * 2f64.powi(-25), 2),
        (2f64.powi(-14), 0x0400),
        (1.0 + 2f64.powi(-11), 0x3c00),
        (1.0 + 3.0 * 2f64.powi(-11), 0x3c02),
        (f64::NEG_INFINITY, 0xfc00),
    ] {
        assert_eq!(f64_to_f16(value), bits, "{value}");
    }
    assert!((0..=u16::MAX).all(|bits| f16_to_f64(bits).is_nan() || f64_to_f16(f16_to_f64(bits)) == bits));
    assert!(f16_to_f64(f64_to_f16(f64::NAN)).is_nan());
}

#[test]
fn common_functions() {
    use MathFn::*;
    let mut b = Bench::default();
    let values = b.vec(&[-1.5, 2.5, 0.25]);
    for (function, expected) in [
        (Abs, [1.5, 2.5, 0.25]),
        (Sign, [-1.0, 1.0, 1.0]),
        (Floor, [-2.0, 2.0, 0.0]),
        (Ceil, [-1.0, 3.0, 1.0]),
        (Trunc, [-1.0, 2.0, 0.0]),
        (RoundEven, [-2.0, 2.0, 0.0]),
        (Fract, [0.5, 0.5, 0.25]),
    ] {
        let result = b.math(function, &[values]);
        assert_eq!(b.lanes(result), expected, "{function:?}");
    }
    let (low, high, half) = (b.vec(&[0.0; 3]), b.vec(&[1.0; 3]), b.vec(&[0.5; 3]));
    for (function, args, expected) in [
        (Clamp, vec![values, low, high], [0.0, 1.0, 0.25]),
        (Min, vec![values, high], [-1.5, 1.0, 0.25]),
        (Max, vec![values, high], [1.0, 2.5, 1.0]),
        (Mix, vec![low, values, half], [-0.75, 1.25, 0.125]),
        (Step, vec![half, values], [0.0, 1.0, 0.0]),
        (SmoothStep, vec![low, high, values], [0.0, 1.0, 0.15625]),
        (Mod, vec![values, high], [0.5, 0.5, 0.25]),
        (Fma, vec![values, half, high], [0.25, 2.25, 1.125]),
    ] {
        let result = b.math(function, &args);
        assert_eq!(b.lanes(result), expected, "{function:?}");
    }
}

#[test]
fn transcendental_functions_are_rounded_once() {
    use MathFn::*;
    let mut b = Bench::default();
    let (half, two, three) = (b.f32(0.5), b.f32(2.0), b.f32(3.0));
    for (function, args, expected) in [
        (Sin, vec![half], 0.5f64.sin()),
        (Acos, vec![half], 0.5f64.acos()),
        (Atanh, vec![half], 0.5f64.atanh()),
        (Atan2, vec![two, three], 2f64.atan2(3.0)),
        (Exp2, vec![three], 8.0),
        (Pow, vec![three, two], 9.0),
        (InverseSqrt, vec![two], 0.5f64.sqrt()),
        (Degrees, vec![half], 0.5f64.to_degrees()),
    ] {
        let result = b.math(function, &args);
        assert_eq!(b.lanes(result), [f64::from(expected as f32)], "{function:?}");
    }
}

#[test]
fn functions_with_two_results() {
    use MathFn::*;
    let mut b = Bench::default();
    let x = b.f32(-3.25);
    let parts = b.math(Modf, &[x]);
    assert_eq!(b.pair(parts), (-0.25, -3.0));
    let parts = b.math(Frexp, &[x]);
    assert_eq!(b.pair(parts), (-0.8125, 2.0));
    let (most, two) = (b.int(Scalar::U32, 0xffff_ffff), b.int(Scalar::U32, 2));
    let sum = b.math(AddCarry, &[most, two]);
    assert_eq!(b.pair(sum), (1.0, 1.0));
    let difference = b.math(SubBorrow, &[two, most]);
    assert_eq!(b.pair(difference), (3.0, 1.0));
    let product = b.math(MulExtended, &[most, most]);
    assert_eq!(b.pair(product), (1.0, f64::from(0xffff_fffeu32)));
    let (minus, three) = (b.int(Scalar::I32, -2), b.int(Scalar::I32, 3));
    let product = b.math(MulExtended, &[minus, three]);
    assert_eq!(b.pair(product), (-6.0, -1.0));
    let infinite = b.f32(f64::INFINITY);
    assert_eq!(b.math(Frexp, &[infinite]), None);
}

#[test]
fn ldexp_reaches_subnormals_and_back() {
    let mut b = Bench::default();
    let tiny = b.num(Scalar::F64, Num::Float(5e-324));
    let up = b.int(Scalar::I32, 1074);
    let one = b.math(MathFn::Ldexp, &[tiny, up]);
    assert_eq!(b.lanes(one), [1.0]);
    let parts = b.math(MathFn::Frexp, &[tiny]);
    assert_eq!(b.pair(parts), (0.5, -1073.0));
}

#[test]
fn integer_functions() {
    use MathFn::*;
    let mut b = Bench::default();
    assert_eq!(b.unary_ints(FindLsb, Scalar::I32, &[0, 1, 12, -1]), [-1.0, 0.0, 2.0, 0.0]);
    assert_eq!(b.unary_ints(FindMsb, Scalar::I32, &[0, 1, 12, -1, -2, -256]), [-1.0, 0.0, 3.0, -1.0, 0.0, 7.0]);
    assert_eq!(b.unary_ints(FindMsb, Scalar::U32, &[0xffff_ffff, 0x10]), [31.0, 4.0]);
    assert_eq!(b.unary_ints(BitCount, Scalar::I32, &[-1, 5]), [32.0, 2.0]);
    assert_eq!(b.unary_ints(BitfieldReverse, U8, &[1, 6]), [128.0, 96.0]);
    assert_eq!(b.unary_ints(CountLeadingZeros, Scalar::U32, &[0, 1, 0xffff_ffff]), [32.0, 31.0, 0.0]);
    assert_eq!(b.unary_ints(CountTrailingZeros, Scalar::U32, &[0, 8]), [32.0, 3.0]);
    assert_eq!(b.unary_ints(Abs, Scalar::I32, &[-5]), [5.0]);
}

#[test]
fn bit_fields() {
    use MathFn::*;
    let mut b = Bench::default();
    let mut extract = |scalar, base, offset, bits| {
        let args = [b.int(scalar, base), b.int(Scalar::I32, offset), b.int(Scalar::I32, bits)];
        let result = b.math(BitfieldExtract, &args)?;
        Some(b.lanes(Some(result))[0])
    };
    assert_eq!(extract(Scalar::U32, 0xabcd, 4, 8), Some(f64::from(0xbc)));
    assert_eq!(extract(Scalar::I32, 0xabcd, 4, 8), Some(f64::from(0xbc - 0x100)));
    assert_eq!(extract(Scalar::I32, -1, 0, 32), Some(-1.0));
    assert_eq!(extract(Scalar::I32, -1, 8, 0), Some(0.0));
    assert_eq!(extract(Scalar::I32, -1, 20, 13), None);
    let args = [b.int(Scalar::U32, 0xffff), b.int(Scalar::U32, 0), b.int(Scalar::I32, 4), b.int(Scalar::I32, 8)];
    assert_eq!(b.math(BitfieldInsert, &args), Some(b.int(Scalar::U32, 0xf00f)));
}

#[test]
fn packing() {
    use MathFn::*;
    let mut b = Bench::default();
    let color = b.vec(&[0.0, 1.0, -1.0, 2.0]);
    assert_eq!(b.math(PackSnorm4x8, &[color]), Some(b.int(Scalar::U32, 0x7f81_7f00)));
    assert_eq!(b.math(PackUnorm4x8, &[color]), Some(b.int(Scalar::U32, 0xff00_ff00)));
    let word = b.int(Scalar::U32, 0x7f81_8000);
    let unpacked = b.math(UnpackSnorm4x8, &[word]);
    assert_eq!(b.lanes(unpacked), [0.0, -1.0, -1.0, 1.0]);
    let pair = b.vec(&[1.0, -2.0]);
    let halves = b.math(PackHalf2x16, &[pair]);
    assert_eq!(halves, Some(b.int(Scalar::U32, 0xc000_3c00)));
    assert_eq!(b.math(UnpackHalf2x16, &[halves.unwrap()]), Some(pair));
    let double = b.num(Scalar::F64, Num::Float(1.0));
    let words = b.math(UnpackDouble2x32, &[double]);
    assert_eq!(b.lanes(words), [0.0, f64::from(0x3ff0_0000)]);
    assert_eq!(b.math(PackDouble2x32, &[words.unwrap()]), Some(double));
}

#[test]
fn geometry() {
    use MathFn::*;
    let mut b = Bench::default();
    let (x, y, v) = (b.vec(&[1.0, 0.0, 0.0]), b.vec(&[0.0, 1.0, 0.0]), b.vec(&[3.0, 4.0, 0.0]));
    let minus_y = b.vec(&[0.0, -1.0, 0.0]);
    for (function, args, expected) in [
        (Length, vec![v], vec![5.0]),
        (Distance, vec![v, x], vec![f64::from(20f32.sqrt())]),
        (Dot, vec![v, v], vec![25.0]),
        (Cross, vec![x, y], vec![0.0, 0.0, 1.0]),
        (Normalize, vec![v], vec![f64::from(0.6f32), f64::from(0.8f32), 0.0]),
        (Reflect, vec![v, y], vec![3.0, -4.0, 0.0]),
        (FaceForward, vec![x, minus_y, y], vec![1.0, 0.0, 0.0]),
        (FaceForward, vec![x, y, y], vec![-1.0, 0.0, 0.0]),
    ] {
        let result = b.math(function, &args);
        assert_eq!(b.lanes(result), expected, "{function:?}");
    }
    let eta = b.f32(1.0);
    let straight = b.math(Refract, &[minus_y, y, eta]);
    assert_eq!(b.lanes(straight), [0.0, -1.0, 0.0]);
    let flags = b.binary(BinaryOp::Gt, v, x).unwrap();
    let (any, all) = (b.math(Any, &[flags]), b.math(All, &[flags]));
    assert_eq!((b.lanes(any), b.lanes(all)), (vec![1.0], vec![0.0]));
}

#[test]
fn matrices() {
    use MathFn::*;
    let mut b = Bench::default();
    let m = b.mat(&[&[1.0, 2.0], &[3.0, 4.0]]);
    let v = b.vec(&[5.0, 6.0]);
    let products = [
        (b.binary(BinaryOp::MatrixTimesVector, m, v), vec![23.0, 34.0]),
        (b.binary(BinaryOp::VectorTimesMatrix, v, m), vec![17.0, 39.0]),
        (b.binary(BinaryOp::MatrixTimesMatrix, m, m), vec![7.0, 10.0, 15.0, 22.0]),
        (b.binary(BinaryOp::OuterProduct, v, v), vec![25.0, 30.0, 30.0, 36.0]),
        (b.math(Transpose, &[m]), vec![1.0, 3.0, 2.0, 4.0]),
        (b.math(Determinant, &[m]), vec![-2.0]),
        (b.math(Inverse, &[m]), vec![-2.0, 1.0, 1.5, -0.5]),
        (b.math(MatrixCompMult, &[m, m]), vec![1.0, 4.0, 9.0, 16.0]),
    ];
    for (result, expected) in products {
        assert_eq!(b.lanes(result), expected);
    }
    let big = b.mat(&[&[2.0, 0.0, 0.0, 0.0], &[0.0, 4.0, 0.0, 0.0], &[0.0, 0.0, 8.0, 0.0], &[1.0, 2.0, 3.0, 1.0]]);
    let inverse = b.math(Inverse, &[big]).unwrap();
    let identity = b.binary(BinaryOp::MatrixTimesMatrix, big, inverse);
    let expected: Vec<f64> = (0..16).map(|at| f64::from(u8::from(at % 5 == 0))).collect();
    assert_eq!(b.lanes(identity), expected);
    let singular = b.mat(&[&[1.0, 2.0], &[2.0, 4.0]]);
    assert_eq!(b.math(Inverse, &[singular]), None);
}

#[test]
fn selection_is_whole_or_by_component() {
    let mut b = Bench::default();
    let (x, y) = (b.vec(&[1.0, 2.0]), b.vec(&[3.0, 1.0]));
    let vec2 = b.ty(x);
    let yes = b.constants.bool(true);
    assert_eq!(b.fold(Expr::Select, vec2, &[yes, x, y]), Some(x));
    let less = b.binary(BinaryOp::Lt, x, y).unwrap();
    let smaller = b.fold(Expr::Select, vec2, &[less, x, y]);
    assert_eq!(b.lanes(smaller), [1.0, 1.0]);
}

#[test]
fn specialization_constants_stay_open() {
    let mut b = Bench::default();
    let size = b.constants.intern(Types::U32, ConstValue::Spec { id: 0, default: 8 });
    let two = b.int(Scalar::U32, 2);
    let double = b.binary(BinaryOp::Mul, size, two).expect("an integer operation");
    assert!(b.constants.is_spec(double));
    let real = b.constants.intern(Types::F32, ConstValue::Spec { id: 1, default: 0 });
    assert_eq!(b.binary(BinaryOp::Mul, real, real), None);
    assert_eq!(b.convert(Scalar::F32, size), None);
    let mut specializer = Specializer::new();
    let known = specializer.get(&mut b.types, &mut b.constants, double, |_| None);
    assert_eq!(known, Some(b.int(Scalar::U32, 16)));
    let given = |id| (id == 0).then_some(5);
    let known = Specializer::new().get(&mut b.types, &mut b.constants, double, given);
    assert_eq!(known, Some(b.int(Scalar::U32, 10)));
}

#[test]
fn open_vectors_are_taken_apart() {
    let mut b = Bench::default();
    let x = b.constants.intern(Types::U32, ConstValue::Spec { id: 0, default: 8 });
    let (one, zero) = (b.int(Scalar::U32, 1), b.int(Scalar::U32, 0));
    let uvec2 = b.types.vector(Scalar::U32, 2);
    let v = b.fold(Expr::Construct, uvec2, &[x, one]).unwrap();
    assert_eq!(b.fold(Expr::Extract(0), Types::U32, &[v]), Some(x));
    let sum = b.binary(BinaryOp::Add, v, v).unwrap();
    let second = b.fold(Expr::Extract(1), Types::U32, &[sum]).unwrap();
    let known = Specializer::new().get(&mut b.types, &mut b.constants, second, |_| None);
    assert_eq!(known, Some(b.int(Scalar::U32, 2)));
    let quotient = b.binary(BinaryOp::Div, x, zero).expect("open until the pipeline is made");
    assert_eq!(Specializer::new().get(&mut b.types, &mut b.constants, quotient, |_| None), None);
}

#[test]
fn long_chains_are_no_recursion() {
    let mut b = Bench::default();
    let mut x = b.constants.intern(Types::U32, ConstValue::Spec { id: 0, default: 1 });
    for _ in 0..50_000 {
        x = b.binary(BinaryOp::Add, x, x).unwrap();
    }
    let known = Specializer::new().get(&mut b.types, &mut b.constants, x, |_| None);
    assert_eq!(known, Some(b.int(Scalar::U32, 0)));
}

#[test]
fn undefined_operands_give_nothing() {
    let mut b = Bench::default();
    let undef = b.constants.intern(Types::U32, ConstValue::Undef);
    assert_eq!(b.binary(BinaryOp::Add, undef, undef), None);
}
