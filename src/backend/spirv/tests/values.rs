//! Arithmetic, built-in functions, conversions, composites.

use super::{Shader, check, refusals};
use crate::diagnostic::Code;
use crate::ir::{ArrayLen, BinaryOp, Builder, ConstValue, InstFlags, MathFn, Scalar, Types, UnaryOp, Value};

/// A value of a vector type that cannot be folded: loaded from a variable.
fn any(b: &mut Builder, scalar: Scalar, size: u8) -> Value {
    let ty = b.module.types.vector(scalar, size);
    let local = b.local("v", ty, None);
    b.load(local)
}

fn matrix(b: &mut Builder, columns: u8, rows: u8) -> Value {
    let ty = b.module.types.matrix(Scalar::F32, columns, rows);
    let local = b.local("m", ty, None);
    b.load(local)
}

fn shader() -> Shader {
    Shader::new(|_| vec![Types::U32])
}

#[test]
fn operators_on_all_kinds() {
    use BinaryOp as B;
    let arithmetic = [B::Add, B::Sub, B::Mul, B::Div, B::Rem, B::Eq, B::Ne, B::Lt, B::Le, B::Gt, B::Ge];
    let bits = [B::And, B::Or, B::Xor, B::Shl, B::Shr];
    let logic = [B::LogicalAnd, B::LogicalOr, B::Eq, B::Ne, B::And, B::Or, B::Xor];
    let table: [(Scalar, Vec<B>); 4] = [
        (Scalar::F32, arithmetic.to_vec()),
        (Scalar::I32, [&arithmetic[..], &bits].concat()),
        (Scalar::U32, [&arithmetic[..], &bits].concat()),
        (Scalar::BOOL, logic.to_vec()),
    ];
    let module = shader().main(|b, _| {
        b.flags = InstFlags::PRECISE;
        for (scalar, ops) in &table {
            for size in [1, 3] {
                let (x, y) = (any(b, *scalar, size), any(b, *scalar, size));
                for op in ops {
                    b.binary(*op, x, y);
                }
                let unary = if scalar.is_bool() { UnaryOp::LogicalNot } else { UnaryOp::Neg };
                b.unary(unary, x);
            }
        }
    });
    assert!(check(&module)[0].contains("NoContraction"));
}

#[test]
fn linear_algebra() {
    use BinaryOp as B;
    let module = shader().main(|b, _| {
        let (m, n, v3, v2) = (matrix(b, 2, 3), matrix(b, 3, 2), any(b, Scalar::F32, 3), any(b, Scalar::F32, 2));
        let (s, i, v) = (any(b, Scalar::F32, 1), any(b, Scalar::I32, 1), any(b, Scalar::I32, 4));
        b.flags = InstFlags::RELAXED;
        b.binary(B::MatrixTimesVector, m, v2);
        b.binary(B::VectorTimesMatrix, v3, m);
        b.binary(B::MatrixTimesMatrix, m, n);
        b.binary(B::OuterProduct, v3, v2);
        for (a, scalar) in [(m, s), (v3, s), (v, i), (s, s)] {
            b.binary(B::TimesScalar, a, scalar);
        }
        b.binary(B::Add, m, m);
        b.unary(UnaryOp::Neg, m);
        let square = matrix(b, 4, 4);
        for function in [MathFn::Transpose, MathFn::Determinant, MathFn::Inverse] {
            b.math(function, &[square]);
        }
        b.math(MathFn::MatrixCompMult, &[m, m]);
        let one = b.const_u32(1);
        let column = b.extract_dynamic(m, one);
        b.extract_dynamic(column, i);
        let double = b.module.types.matrix(Scalar::F64, 2, 3);
        b.convert(m, double);
    });
    check(&module);
}

#[test]
fn functions_of_floats() {
    use MathFn::*;
    let one = [
        Radians,
        Degrees,
        Sin,
        Cos,
        Tan,
        Asin,
        Acos,
        Atan,
        Sinh,
        Cosh,
        Tanh,
        Asinh,
        Acosh,
        Atanh,
        Exp,
        Log,
        Exp2,
        Log2,
        Sqrt,
        InverseSqrt,
        Abs,
        Sign,
        Floor,
        Trunc,
        Round,
        RoundEven,
        Ceil,
        Fract,
        Modf,
        Frexp,
        IsNan,
        IsInf,
        Length,
        Normalize,
    ];
    let two = [Atan2, Pow, Mod, Min, Max, Step, Distance, Dot, Reflect];
    let three = [Clamp, Mix, SmoothStep, Fma, FaceForward];
    let module = shader().main(|b, _| {
        for size in 1..=4 {
            let x = any(b, Scalar::F32, size);
            for f in &one {
                b.math(*f, &[x]);
            }
            for f in &two {
                b.math(*f, &[x, x]);
            }
            for f in &three {
                b.math(*f, &[x, x, x]);
            }
            let (exponent, eta) = (any(b, Scalar::I32, size), any(b, Scalar::F32, 1));
            b.math(Ldexp, &[x, exponent]);
            b.math(Refract, &[x, x, eta]);
        }
        let v3 = any(b, Scalar::F32, 3);
        b.math(Cross, &[v3, v3]);
    });
    check(&module);
}

#[test]
fn functions_of_integers_and_bools() {
    use MathFn::*;
    let module = shader().main(|b, _| {
        for scalar in [Scalar::I32, Scalar::U32] {
            for size in [1, 2] {
                let (x, offset) = (any(b, scalar, size), any(b, Scalar::I32, 1));
                for f in [Abs, Sign, BitCount, FindLsb, FindMsb, BitfieldReverse] {
                    b.math(f, &[x]);
                }
                let ty = b.type_of(x);
                for f in [CountLeadingZeros, CountTrailingZeros] {
                    b.math_as(f, ty, &[x]);
                }
                b.math(MathFn::Min, &[x, x]);
                b.math(Clamp, &[x, x, x]);
                b.math(Dot, &[x, x]);
                b.math(MulExtended, &[x, x]);
                b.math(BitfieldExtract, &[x, offset, offset]);
                b.math(BitfieldInsert, &[x, x, offset, offset]);
            }
        }
        let (u, flags, flag) = (any(b, Scalar::U32, 3), any(b, Scalar::BOOL, 3), any(b, Scalar::BOOL, 1));
        b.math(AddCarry, &[u, u]);
        b.math(SubBorrow, &[u, u]);
        for f in [Any, All] {
            b.math(f, &[flags]);
            b.math(f, &[flag]);
        }
    });
    check(&module);
}

#[test]
fn packing() {
    use MathFn::*;
    let module = shader().main(|b, _| {
        let (v4, v2) = (any(b, Scalar::F32, 4), any(b, Scalar::F32, 2));
        let (word, pair) = (any(b, Scalar::U32, 1), any(b, Scalar::U32, 2));
        for f in [PackSnorm4x8, PackUnorm4x8] {
            b.math(f, &[v4]);
        }
        for f in [PackSnorm2x16, PackUnorm2x16, PackHalf2x16] {
            b.math(f, &[v2]);
        }
        for f in [UnpackSnorm4x8, UnpackUnorm4x8, UnpackSnorm2x16, UnpackUnorm2x16, UnpackHalf2x16] {
            b.math(f, &[word]);
        }
        let double = b.math(PackDouble2x32, &[pair]);
        b.math(UnpackDouble2x32, &[double]);
    });
    assert!(check(&module)[0].contains("OpCapability Float64"));
}

#[test]
fn conversions_between_all_scalars() {
    let narrow = |kind, width| Scalar { kind, width };
    let scalars = [
        Scalar::BOOL,
        Scalar::I32,
        Scalar::U32,
        Scalar::F32,
        Scalar::F64,
        narrow(crate::ir::ScalarKind::Sint, 64),
        narrow(crate::ir::ScalarKind::Uint, 16),
        narrow(crate::ir::ScalarKind::Sint, 8),
    ];
    let module = shader().main(|b, _| {
        for from in scalars {
            for to in scalars {
                for size in [1, 4] {
                    let value = any(b, from, size);
                    let ty = b.module.types.vector(to, size);
                    b.convert(value, ty);
                }
            }
        }
        let value = any(b, Scalar::F32, 2);
        let ty = b.module.types.vector(Scalar::I32, 2);
        b.bitcast(value, ty);
    });
    check(&module);
}

#[test]
fn choices_of_everything() {
    let mut shader = shader();
    let vector = shader.module.types.vector(Scalar::F32, 3);
    let matrix_type = shader.module.types.matrix(Scalar::F32, 2, 3);
    let pair = shader.module.types.pair(vector, matrix_type);
    let array = shader.module.types.array(pair, ArrayLen::Fixed(2));
    let module = shader.main(|b, _| {
        let (flag, flags) = (any(b, Scalar::BOOL, 1), any(b, Scalar::BOOL, 3));
        for ty in [Types::F32, vector, matrix_type, array] {
            let local = b.local("x", ty, None);
            let value = b.load(local);
            b.select(flag, value, value);
        }
        let value = any(b, Scalar::F32, 3);
        b.select(flags, value, value);
    });
    check(&module);
}

#[test]
fn composites_and_tables() {
    let module = shader().main(|b, block| {
        let (x, y) = (any(b, Scalar::F32, 2), any(b, Scalar::F32, 3));
        let ty = b.module.types.vector(Scalar::F32, 4);
        let v = b.construct(ty, &[x, x]);
        let (s, i) = (b.extract(v, 1), any(b, Scalar::U32, 1));
        b.splat(s, 4);
        b.shuffle(x, y, &[4, 0, 1]);
        b.swizzle(v, &[3, 3]);
        b.insert(v, 2, s);
        b.insert_dynamic(v, i, s);
        b.extract_dynamic(v, i);
        let numbers: Vec<_> = (0..40).map(|n| b.module.constants.u32(n)).collect();
        let array = b.module.types.array(Types::U32, ArrayLen::Fixed(40));
        let table = Value::Const(b.module.constants.intern(array, ConstValue::Composite(numbers.into())));
        let (first, second) = (b.extract_dynamic(table, i), b.extract_dynamic(table, i));
        let sum = b.binary(BinaryOp::Add, first, second);
        let zero = b.zero(array);
        let undefined = b.undef(array);
        b.extract_dynamic(zero, sum);
        b.extract_dynamic(undefined, sum);
        let out = b.access_const(block, 0);
        b.store(out, sum);
    });
    let [listing, ..] = check(&module);
    assert_eq!(listing.matches("OpConstantComposite").count(), 1, "{listing}");
}

#[test]
fn what_is_not_expressed_is_refused() {
    let module = shader().main(|b, _| {
        let (binding, access) = (crate::ir::Binding::Resource { set: 0, binding: 0 }, crate::ir::Access::empty());
        let (name, span, space, ty) =
            ("loose".into(), crate::source::Span::NONE, crate::ir::Space::Uniform, Types::F32);
        let loose = crate::ir::Global { name, span, space, ty, binding, access, init: None };
        let loose = b.module.globals.push(loose);
        b.load(Value::Global(loose));
    });
    let messages = refusals(&module);
    assert_eq!(messages[0].code, Code::NOT_SUPPORTED);
}
