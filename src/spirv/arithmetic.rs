//! Arithmetic: instructions whose operands are all values. SPIR-V's integers have no sign where it does not matter, so
//! operands are reinterpreted as the operation needs them, and the result as its type.

use crate::backend::spirv::inverse::{functions_of, functions_of_set, operators_of};
use crate::ir::{BinaryOp, Builder, MathFn, Scalar, ScalarKind, Type, TypeId, Types, UnaryOp, Value};
use rspirv::spirv::{GlslStd450Op as G, Op};

/// A value, or a sentence about what is wrong with the operands.
pub type Made = Result<Value, &'static str>;

/// Operands of types that the instruction does not take.
const MISFIT: &str = "its operands or its result have types that it does not take";

/// The value of an instruction on values; `None` for other instructions.
pub fn pure(b: &mut Builder<'_>, op: Op, ty: TypeId, args: &[Value]) -> Option<Made> {
    let made = match op {
        Op::FNegate | Op::SNegate => unary(b, UnaryOp::Neg, args),
        Op::Not => unary(b, UnaryOp::Not, args),
        Op::LogicalNot => unary(b, UnaryOp::LogicalNot, args),
        Op::ConvertFToU | Op::ConvertFToS | Op::ConvertSToF | Op::ConvertUToF => convert(b, op, ty, args),
        Op::UConvert | Op::SConvert | Op::FConvert => convert(b, op, ty, args),
        Op::QuantizeToF16 => quantize(b, args),
        Op::Bitcast => bitcast(b, ty, args),
        Op::Select => select(b, ty, args),
        Op::CopyObject => args.first().copied().ok_or(MISFIT),
        Op::VectorTimesScalar | Op::MatrixTimesScalar => product(b, BinaryOp::TimesScalar, args),
        Op::VectorTimesMatrix => product(b, BinaryOp::VectorTimesMatrix, args),
        Op::MatrixTimesVector => product(b, BinaryOp::MatrixTimesVector, args),
        Op::MatrixTimesMatrix => product(b, BinaryOp::MatrixTimesMatrix, args),
        Op::OuterProduct => product(b, BinaryOp::OuterProduct, args),
        Op::Dot => function(b, MathFn::Dot, None, ty, args),
        Op::Any => function(b, MathFn::Any, None, ty, args),
        Op::All => function(b, MathFn::All, None, ty, args),
        Op::SMod => floored_remainder(b, args),
        Op::FOrdNotEqual | Op::LessOrGreater => either(b, BinaryOp::Lt, BinaryOp::Gt, args),
        Op::FUnordEqual => either(b, BinaryOp::Lt, BinaryOp::Gt, args).map(|other| not(b, other)),
        Op::FUnordLessThan => negated(b, BinaryOp::Ge, args),
        Op::FUnordLessThanEqual => negated(b, BinaryOp::Gt, args),
        Op::FUnordGreaterThan => negated(b, BinaryOp::Le, args),
        Op::FUnordGreaterThanEqual => negated(b, BinaryOp::Lt, args),
        Op::Ordered => unordered(b, args).map(|apart| not(b, apart)),
        Op::Unordered => unordered(b, args),
        _ => match (operators_of(op), functions_of(op)) {
            (Some((operator, kinds)), _) => binary(b, operator, kinds, args),
            (None, Some((of, kinds))) => function(b, of, Some(kinds), ty, args),
            (None, None) => return None,
        },
    };
    Some(made.and_then(|value| typed(b, value, ty)))
}

/// The value of an instruction of GLSL.std.450 whose operands are all values.
pub fn extended(b: &mut Builder<'_>, op: G, ty: TypeId, args: &[Value]) -> Option<Made> {
    let (of, kinds) = functions_of_set(op)?;
    let made = function(b, of, Some(kinds), ty, args);
    Some(made.and_then(|value| typed(b, value, ty)))
}

/// Scalar and size of a scalar or a vector.
pub fn shape_of(b: &mut Builder<'_>, value: Value) -> Option<(Scalar, u8)> {
    let ty = b.type_of(value);
    Some((b.module.types.scalar_of(ty)?, b.module.types.components(ty)?))
}

/// The bits of a value as integers of a kind; values of other kinds stay.
pub fn with_kind(b: &mut Builder<'_>, value: Value, kind: ScalarKind) -> Value {
    match shape_of(b, value) {
        Some((scalar, size)) if scalar.is_int() && scalar.kind != kind => {
            let ty = b.module.types.vector(Scalar { kind, ..scalar }, size);
            b.bitcast(value, ty)
        }
        _ => value,
    }
}

/// A value in a type that differs at most in the signs of integers.
pub fn typed(b: &mut Builder<'_>, value: Value, ty: TypeId) -> Made {
    let own = b.type_of(value);
    if own == ty {
        return Ok(value);
    }
    let wanted = b.module.types.scalar_of(ty).filter(|scalar| scalar.is_int()).ok_or(MISFIT)?;
    let turned = with_kind(b, value, wanted.kind);
    if b.type_of(turned) == ty { Ok(turned) } else { Err(MISFIT) }
}

fn not(b: &mut Builder<'_>, value: Value) -> Value {
    b.unary(UnaryOp::LogicalNot, value)
}

fn pair(args: &[Value]) -> Result<(Value, Value), &'static str> {
    match args {
        [left, right] => Ok((*left, *right)),
        _ => Err(MISFIT),
    }
}

fn unary(b: &mut Builder<'_>, op: UnaryOp, args: &[Value]) -> Made {
    let [value] = args else { return Err(MISFIT) };
    let ty = b.type_of(*value);
    let scalar = b.module.types.scalar_of(ty).ok_or(MISFIT)?;
    let fits = match op {
        UnaryOp::Neg => scalar.is_number(),
        UnaryOp::Not => scalar.is_int(),
        UnaryOp::LogicalNot => scalar.is_bool(),
    };
    if fits { Ok(b.unary(op, *value)) } else { Err(MISFIT) }
}

/// The kind that an operand of one kind is taken as: its own if the instruction has it.
fn kind_for(kinds: [bool; 4], own: ScalarKind) -> Option<ScalarKind> {
    let has = |kind: ScalarKind| kinds.get(kind.column()) == Some(&true);
    let signed = [ScalarKind::Sint, ScalarKind::Uint];
    if has(own) {
        return Some(own);
    }
    signed.into_iter().find(|kind| has(*kind) && signed.contains(&own))
}

fn binary(b: &mut Builder<'_>, op: BinaryOp, kinds: [bool; 4], args: &[Value]) -> Made {
    let (left, right) = pair(args)?;
    let ty = b.type_of(left);
    let scalar = b.module.types.scalar_of(ty).ok_or(MISFIT)?;
    let kind = kind_for(kinds, scalar.kind).ok_or(MISFIT)?;
    let left = with_kind(b, left, kind);
    if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
        let ((of, size), (by, count)) = (shape_of(b, left).ok_or(MISFIT)?, shape_of(b, right).ok_or(MISFIT)?);
        return if of.is_int() && by.is_int() && size == count { Ok(b.binary(op, left, right)) } else { Err(MISFIT) };
    }
    let right = with_kind(b, right, kind);
    if b.type_of(left) == b.type_of(right) { Ok(b.binary(op, left, right)) } else { Err(MISFIT) }
}

/// A comparison of floats, both of one type.
fn compared(b: &mut Builder<'_>, op: BinaryOp, args: &[Value]) -> Made {
    binary(b, op, [false, false, false, true], args)
}

fn negated(b: &mut Builder<'_>, op: BinaryOp, args: &[Value]) -> Made {
    compared(b, op, args).map(|value| not(b, value))
}

fn either(b: &mut Builder<'_>, first: BinaryOp, second: BinaryOp, args: &[Value]) -> Made {
    let (first, second) = (compared(b, first, args)?, compared(b, second, args)?);
    Ok(b.binary(BinaryOp::Or, first, second))
}

/// True if one of two floats is a NaN.
fn unordered(b: &mut Builder<'_>, args: &[Value]) -> Made {
    let (left, right) = pair(args)?;
    let (left, right) = (compared(b, BinaryOp::Ne, &[left, left])?, compared(b, BinaryOp::Ne, &[right, right])?);
    if b.type_of(left) == b.type_of(right) { Ok(b.binary(BinaryOp::Or, left, right)) } else { Err(MISFIT) }
}

/// The remainder with the sign of the divisor.
fn floored_remainder(b: &mut Builder<'_>, args: &[Value]) -> Made {
    let signed = [false, true, false, false];
    let rest = binary(b, BinaryOp::Rem, signed, args)?;
    let divisor = with_kind(b, args[1], ScalarKind::Sint);
    let ty = b.type_of(rest);
    let zero = b.zero(ty);
    let differs = b.binary(BinaryOp::Xor, rest, divisor);
    let (differs, left) = (b.binary(BinaryOp::Lt, differs, zero), b.binary(BinaryOp::Ne, rest, zero));
    let moves = b.binary(BinaryOp::And, differs, left);
    let moved = b.binary(BinaryOp::Add, rest, divisor);
    Ok(b.select(moves, moved, rest))
}

fn product(b: &mut Builder<'_>, op: BinaryOp, args: &[Value]) -> Made {
    let (left, right) = pair(args)?;
    let (a, c) = (b.type_of(left), b.type_of(right));
    let types = &b.module.types;
    let matrix = |ty| match types.get(ty) {
        Type::Matrix { columns, rows, .. } => Some((columns, rows)),
        _ => None,
    };
    let vector = |ty| types.components(ty).filter(|size| *size > 1);
    let fits = match op {
        BinaryOp::TimesScalar => types.components(c) == Some(1) && types.part_count(a).is_some(),
        BinaryOp::MatrixTimesVector => matrix(a).is_some_and(|(columns, _)| vector(c) == Some(columns)),
        BinaryOp::VectorTimesMatrix => matrix(c).is_some_and(|(_, rows)| vector(a) == Some(rows)),
        BinaryOp::MatrixTimesMatrix => matrix(a).zip(matrix(c)).is_some_and(|(a, c)| a.0 == c.1),
        _ => vector(a).is_some() && vector(c).is_some(),
    };
    let (kind, other) = (types.scalar_of(a), types.scalar_of(c));
    let fits = fits && kind == other && kind.is_some_and(Scalar::is_float);
    if fits { Ok(b.binary(op, left, right)) } else { Err(MISFIT) }
}

fn convert(b: &mut Builder<'_>, op: Op, ty: TypeId, args: &[Value]) -> Made {
    let [value] = args else { return Err(MISFIT) };
    let (from, to) = match op {
        Op::ConvertFToU => (ScalarKind::Float, ScalarKind::Uint),
        Op::ConvertFToS => (ScalarKind::Float, ScalarKind::Sint),
        Op::ConvertSToF => (ScalarKind::Sint, ScalarKind::Float),
        Op::ConvertUToF => (ScalarKind::Uint, ScalarKind::Float),
        Op::UConvert => (ScalarKind::Uint, ScalarKind::Uint),
        Op::SConvert => (ScalarKind::Sint, ScalarKind::Sint),
        _ => (ScalarKind::Float, ScalarKind::Float),
    };
    let value = with_kind(b, *value, from);
    let (source, size) = shape_of(b, value).ok_or(MISFIT)?;
    let target = b.module.types.scalar_of(ty).filter(|_| b.module.types.components(ty) == Some(size)).ok_or(MISFIT)?;
    let is = |scalar: Scalar, kind: ScalarKind| match kind {
        ScalarKind::Float => scalar.is_float() || scalar.encoding().is_some(),
        _ => scalar.is_int(),
    };
    if !is(source, from) || !is(target, to) {
        return Err(MISFIT);
    }
    let kind = if target.is_int() { to } else { target.kind };
    let target = b.module.types.vector(Scalar { kind, ..target }, size);
    Ok(b.convert(value, target))
}

/// The nearest half of each component, through the packing function that needs no type of halves.
fn quantize(b: &mut Builder<'_>, args: &[Value]) -> Made {
    let [value] = args else { return Err(MISFIT) };
    let (scalar, size) = shape_of(b, *value).ok_or(MISFIT)?;
    if scalar != Scalar::F32 {
        return Err(MISFIT);
    }
    let (ty, zero) = (b.type_of(*value), b.const_f32(0.0));
    let vec2 = b.module.types.vector(Scalar::F32, 2);
    let mut parts = Vec::new();
    for index in 0..size {
        let part = if size == 1 { *value } else { b.extract(*value, u32::from(index)) };
        let both = b.construct(vec2, &[part, zero]);
        let packed = b.math(MathFn::PackHalf2x16, &[both]);
        let unpacked = b.math(MathFn::UnpackHalf2x16, &[packed]);
        parts.push(b.extract(unpacked, 0));
    }
    match parts.as_slice() {
        [single] => Ok(*single),
        parts => Ok(b.construct(ty, parts)),
    }
}

fn bitcast(b: &mut Builder<'_>, ty: TypeId, args: &[Value]) -> Made {
    let [value] = args else { return Err(MISFIT) };
    let bits = |types: &Types, ty: TypeId| match types.get(ty) {
        Type::BufferReference { .. } => Some(64),
        Type::Scalar(scalar) | Type::Vector { scalar, .. } if !scalar.is_bool() => {
            Some(u32::from(scalar.width) * u32::from(types.components(ty)?))
        }
        _ => None,
    };
    let own = b.type_of(*value);
    let (from, to) = (bits(&b.module.types, own), bits(&b.module.types, ty));
    if from.is_some() && from == to { Ok(b.bitcast(*value, ty)) } else { Err(MISFIT) }
}

fn select(b: &mut Builder<'_>, ty: TypeId, args: &[Value]) -> Made {
    let [condition, accept, reject] = args else { return Err(MISFIT) };
    let (flag, count) = shape_of(b, *condition).ok_or(MISFIT)?;
    let (accept, reject) = (typed(b, *accept, ty)?, typed(b, *reject, ty)?);
    let fits = flag.is_bool() && (count == 1 || b.module.types.components(ty) == Some(count));
    if fits { Ok(b.select(*condition, accept, reject)) } else { Err(MISFIT) }
}

/// How many operands a function has, and which of them are of the first one's type.
const fn arity(function: MathFn) -> (usize, usize) {
    use MathFn as F;
    match function {
        F::Atan2 | F::Pow | F::Step | F::Distance | F::Reflect | F::Mod | F::Min | F::Max | F::Dot | F::Cross => (2, 2),
        F::AddCarry | F::SubBorrow | F::MulExtended => (2, 2),
        F::Clamp | F::Mix | F::SmoothStep | F::Fma | F::FaceForward => (3, 3),
        F::Ldexp => (2, 1),
        F::Refract => (3, 2),
        F::BitfieldExtract => (3, 1),
        F::BitfieldInsert => (4, 2),
        _ => (1, 1),
    }
}

/// Returns true if the result may be any integer, whatever the operand is.
const fn counts(function: MathFn) -> bool {
    matches!(function, MathFn::BitCount | MathFn::FindLsb | MathFn::FindMsb)
}

fn function(b: &mut Builder<'_>, of: MathFn, kinds: Option<[bool; 4]>, ty: TypeId, args: &[Value]) -> Made {
    let (count, alike) = arity(of);
    let first = *args.first().filter(|_| args.len() == count).ok_or(MISFIT)?;
    let own = b.type_of(first);
    let scalar = b.module.types.scalar_of(own).ok_or(MISFIT)?;
    let kind = match kinds {
        // One instruction packs and counts for all kinds, which the table has at one of them.
        Some(kinds) if !takes_its_own(of) => kind_for(kinds, scalar.kind).ok_or(MISFIT)?,
        _ => scalar.kind,
    };
    let mut turned: Vec<Value> = Vec::with_capacity(count);
    for (index, value) in args.iter().enumerate() {
        turned.push(if index < alike { with_kind(b, *value, kind) } else { *value });
    }
    let own = b.type_of(turned[0]);
    if !turned[..alike].iter().all(|value| b.type_of(*value) == own) || !fits(b, of, &turned) {
        return Err(MISFIT);
    }
    let types = &b.module.types;
    let size = types.components(own);
    if counts(of) {
        let result = types.scalar_of(ty).filter(|scalar| scalar.is_int() && types.components(ty) == size);
        return if result.is_some() { Ok(b.math_as(of, ty, &turned)) } else { Err(MISFIT) };
    }
    match b.module.types.get(ty) {
        Type::Struct(_) => with_two_results(b, of, ty, &turned),
        _ => Ok(b.math(of, &turned)),
    }
}

/// A function whose result is a struct of the module's own, with the two members that `ir` has in a pair.
fn with_two_results(b: &mut Builder<'_>, of: MathFn, ty: TypeId, args: &[Value]) -> Made {
    if !matches!(of, MathFn::Modf | MathFn::Frexp | MathFn::AddCarry | MathFn::SubBorrow | MathFn::MulExtended) {
        return Err(MISFIT);
    }
    let both = b.math(of, args);
    let mut parts = Vec::new();
    for index in 0..2 {
        let wanted = b.module.types.element(ty, index).ok_or(MISFIT)?;
        let part = b.extract(both, index);
        parts.push(typed(b, part, wanted)?);
    }
    match b.module.types.part_count(ty) {
        Some(2) => Ok(b.construct(ty, &parts)),
        _ => Err(MISFIT),
    }
}

/// Functions of one operand type.
const fn takes_its_own(function: MathFn) -> bool {
    matches!(
        function,
        MathFn::UnpackSnorm4x8
            | MathFn::UnpackUnorm4x8
            | MathFn::UnpackSnorm2x16
            | MathFn::UnpackUnorm2x16
            | MathFn::UnpackHalf2x16
            | MathFn::PackDouble2x32
    )
}

/// Returns true if a function takes operands of these types, beyond what the first one's kind says.
fn fits(b: &mut Builder<'_>, of: MathFn, args: &[Value]) -> bool {
    use MathFn as F;
    let shapes: Vec<Option<(Scalar, u8)>> = args.iter().map(|value| shape_of(b, *value)).collect();
    let first = b.type_of(args[0]);
    let matrix = match b.module.types.get(first) {
        Type::Matrix { columns, rows, .. } => Some((columns, rows)),
        _ => None,
    };
    let is_count = |shape: &Option<(Scalar, u8)>| shape.is_some_and(|(scalar, size)| scalar.is_int() && size == 1);
    match of {
        F::Transpose => matrix.is_some(),
        F::Determinant | F::Inverse => matrix.is_some_and(|(columns, rows)| columns == rows),
        F::Cross => shapes[0].is_some_and(|(_, size)| size == 3),
        F::Dot => shapes[0].is_some_and(|(scalar, size)| size > 1 && scalar.is_number()),
        F::Any | F::All => shapes[0].is_some_and(|(scalar, size)| size > 1 && scalar.is_bool()),
        F::PackSnorm4x8 | F::PackUnorm4x8 => shapes[0] == Some((Scalar::F32, 4)),
        F::PackSnorm2x16 | F::PackUnorm2x16 | F::PackHalf2x16 => shapes[0] == Some((Scalar::F32, 2)),
        F::PackDouble2x32 => shapes[0] == Some((Scalar::U32, 2)),
        F::UnpackDouble2x32 => shapes[0] == Some((Scalar::F64, 1)),
        _ if takes_its_own(of) => shapes[0] == Some((Scalar::U32, 1)),
        F::Ldexp => shapes[0].zip(shapes[1]).is_some_and(|(of, by)| of.1 == by.1 && by.0.is_int() && of.0.is_float()),
        F::Refract => shapes[0].zip(shapes[2]).is_some_and(|(of, by)| by == (of.0, 1)),
        F::BitfieldExtract => shapes[0].is_some() && shapes[1..].iter().all(is_count),
        F::BitfieldInsert => shapes[0].is_some() && shapes[2..].iter().all(is_count),
        _ => shapes[0].is_some(),
    }
}
