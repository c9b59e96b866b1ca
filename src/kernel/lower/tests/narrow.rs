//! Integers of 8, 16 and 64 bits and floats of 16: values, memory, and bitcasts.

use super::made::{buffer, finish, global};
use super::run;
use crate::ir::{self, BinaryOp, Binding, BuiltIn, MathFn, Module, Scalar, ScalarKind, Space, TypeId, Types, Value};
use crate::kernel::Kernel;
use crate::source::Span;

const I8: Scalar = Scalar { kind: ScalarKind::Sint, width: 8 };
const U8: Scalar = Scalar { kind: ScalarKind::Uint, width: 8 };
const U16: Scalar = Scalar { kind: ScalarKind::Uint, width: 16 };
const F16: Scalar = Scalar { kind: ScalarKind::Float, width: 16 };
const I64: Scalar = Scalar { kind: ScalarKind::Sint, width: 64 };
const U64: Scalar = Scalar { kind: ScalarKind::Uint, width: 64 };

/// A kernel that reads a value of `from` for each of eight invocations and writes the `to` that `compute` returns.
fn kernel(
    from: (Scalar, u8),
    to: (Scalar, u8),
    compute: impl FnOnce(&mut ir::Builder<'_>, Value, TypeId) -> Value,
) -> Kernel {
    let mut module = Module::new();
    let ty = |module: &mut Module, (scalar, size): (Scalar, u8)| module.types.vector(scalar, size);
    let (source, result) = (ty(&mut module, from), ty(&mut module, to));
    let bytes = |(scalar, size): (Scalar, u8)| scalar.bytes() * u32::from(size);
    let input = buffer(&mut module, 0, source, bytes(from));
    let output = buffer(&mut module, 1, result, bytes(to));
    let index = global(&mut module, Space::Input, Types::U32, Binding::BuiltIn(BuiltIn::LocalInvocationIndex));
    let mut b = ir::Builder::new(&mut module, "main", Span::NONE, Vec::new(), Types::VOID);
    let (zero, index) = (b.const_u32(0), b.load(index));
    let place = b.access(input, &[zero, index]);
    let value = b.load(place);
    let value = compute(&mut b, value, result);
    let place = b.access(output, &[zero, index]);
    b.store(place, value);
    b.ret(None);
    let function = b.finish_into(None);
    finish(module, function)
}

/// Bytes as the words of a buffer.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

const BYTES: [u8; 8] = [0, 1, 127, 128, 129, 200, 254, 255];

#[test]
fn bytes_keep_their_sign() {
    let widened = kernel((I8, 1), (Scalar::I32, 1), |b, v, ty| b.convert(v, ty));
    let mut input = words(&BYTES);
    input.resize(8, 0);
    assert_eq!(run(&widened, &input), BYTES.map(|byte| i32::from(byte.cast_signed()).cast_unsigned()));
    let halved = kernel((U8, 1), (Scalar::U32, 1), |b, v, ty| {
        let signed = b.module.types.scalar(I8);
        let v = b.bitcast(v, signed);
        let sum = b.binary(BinaryOp::Add, v, v);
        let unsigned = b.module.types.scalar(U8);
        let sum = b.bitcast(sum, unsigned);
        b.convert(sum, ty)
    });
    assert_eq!(run(&halved, &input), BYTES.map(|byte| u32::from(byte.wrapping_add(byte))));
}

#[test]
fn narrow_parts_join_and_split() {
    let input: Vec<u32> = (0..8).map(|n| 0x8034_f1c2 ^ (n * 0x1111_1111)).collect();
    for (scalar, size) in [(U8, 4), (I8, 4), (U16, 2), (F16, 2)] {
        let through = kernel((Scalar::U32, 1), (Scalar::U32, 1), |b, v, ty| {
            let parts = b.module.types.vector(scalar, size);
            let parts = b.bitcast(v, parts);
            b.bitcast(parts, ty)
        });
        assert_eq!(run(&through, &input), input, "{scalar:?}");
        let split = kernel((Scalar::U32, 1), (scalar, size), |b, v, ty| b.bitcast(v, ty));
        assert_eq!(run(&split, &input), input, "{scalar:?}");
    }
}

#[test]
fn wide_integers_count_and_compare() {
    let input: Vec<u32> = [0u64, 1, 1 << 40, u64::MAX, 1 << 63, 12345, 6 << 33, 0xff00_ff00_0000]
        .iter()
        .flat_map(|value| [*value as u32, (*value >> 32) as u32])
        .collect();
    let pair = |at: usize| u64::from(input[2 * at]) | u64::from(input[2 * at + 1]) << 32;
    type Count = fn(u64) -> u32;
    let functions: [(MathFn, Count); 3] = [
        (MathFn::BitCount, u64::count_ones),
        (MathFn::FindLsb, |v| if v == 0 { u32::MAX } else { v.trailing_zeros() }),
        (MathFn::FindMsb, |v| 63u32.wrapping_sub(v.leading_zeros())),
    ];
    for (function, expected) in functions {
        let counted = kernel((U64, 1), (Scalar::I32, 1), |b, v, ty| b.math_as(function, ty, &[v]));
        let found = run(&counted, &input);
        assert_eq!(found[..8], [0, 1, 2, 3, 4, 5, 6, 7].map(|at| expected(pair(at))), "{function:?}");
    }
    let negated = kernel((I64, 1), (I64, 1), |b, v, _| b.unary(ir::UnaryOp::Neg, v));
    let found = run(&negated, &input);
    for at in 0..8 {
        let value = u64::from(found[2 * at]) | u64::from(found[2 * at + 1]) << 32;
        assert_eq!(value, pair(at).wrapping_neg());
    }
}

#[test]
fn halves_are_computed_in_their_own_width() {
    let values: [u16; 8] = [0x0000, 0x3c00, 0x4200, 0xc500, 0x3555, 0x0001, 0x7bff, 0x5640];
    let mut input: Vec<u32> = values.chunks(2).map(|v| u32::from(v[0]) | u32::from(v[1]) << 16).collect();
    input.resize(8, 0);
    let squared = kernel((F16, 1), (Scalar::F32, 1), |b, v, ty| {
        let square = b.binary(BinaryOp::Mul, v, v);
        let root = b.math(MathFn::Sqrt, &[square]);
        b.convert(root, ty)
    });
    let found = run(&squared, &input);
    let half = |value: f64| ir::fold::f16_to_f64(ir::fold::f64_to_f16(value));
    let expected = values.map(|bits| {
        let v = ir::fold::f16_to_f64(bits);
        (half(half(v * v).sqrt()) as f32).to_bits()
    });
    assert_eq!(found, expected);
}
