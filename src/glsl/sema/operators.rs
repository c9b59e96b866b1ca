//! Unary and binary operators on values (GLSL 4.60 section 5.9), except short-circuiting ones.
//!
//! Operands are first converted to a common type. Matrices are then processed column by column, and `==` on composites
//! member by member, because the IR's operations only work on scalars and vectors.

use super::references::same_address;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::convert;
use crate::glsl::types::{Basic, display};
use crate::ir::build::Builder;
use crate::ir::{ArrayLen, BinaryOp, MathFn, Scalar, Type, TypeId, UnaryOp, Value};
use crate::source::Span;

/// An operand: its value and where it is.
#[derive(Clone, Copy)]
pub struct Operand {
    pub value: Value,
    pub span: Span,
}

/// The operand types of a binary operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Arithmetic,
    /// `%`, `&`, `|`, `^`: integers.
    Integer,
    Shift,
    /// `<` and its like: scalars.
    Order,
    Equality,
    /// `^^` (and `&&`, `||` once both sides are evaluated): bool scalars.
    Logical,
}

fn family(op: BinaryOp) -> Family {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => Family::Arithmetic,
        BinaryOp::Rem | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Family::Integer,
        BinaryOp::Shl | BinaryOp::Shr => Family::Shift,
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => Family::Order,
        BinaryOp::Eq | BinaryOp::Ne => Family::Equality,
        _ => Family::Logical,
    }
}

/// An operator in the source: its operation, spelling and place.
#[derive(Clone, Copy)]
pub struct Operator {
    pub op: BinaryOp,
    pub text: &'static str,
    pub span: Span,
}

/// `left op right`; without `implicit` conversions (GLSL ES) the operands' scalar types must match.
///
/// # Errors
/// Returns an error if the operator does not support operands of these types.
pub fn binary(
    b: &mut Builder<'_>,
    implicit: bool,
    operator: Operator,
    left: Operand,
    right: Operand,
) -> Result<Value, Diagnostic> {
    let is_cooperative = holds_matrix(b, left.value) || holds_matrix(b, right.value);
    let done = match family(operator.op) {
        Family::Arithmetic | Family::Integer | Family::Shift if is_cooperative => {
            on_cooperative(b, operator.op, left.value, right.value)
        }
        Family::Arithmetic => arithmetic(b, implicit, operator.op, left.value, right.value),
        Family::Integer => integer(b, implicit, operator.op, left.value, right.value),
        Family::Shift => shift(b, operator.op, left.value, right.value),
        Family::Order => order(b, implicit, operator.op, left.value, right.value),
        Family::Equality => equality(b, implicit, operator.op, left.value, right.value),
        Family::Logical => logical(b, operator.op, left.value, right.value),
    };
    done.ok_or_else(|| mismatch(b, operator, left, right))
}

/// `left ^^ right` of bools.
///
/// # Errors
/// Returns an error if an operand is not a `bool`.
pub fn exclusive_or(
    b: &mut Builder<'_>,
    operator: Operator,
    left: Operand,
    right: Operand,
) -> Result<Value, Diagnostic> {
    logical(b, operator.op, left.value, right.value).ok_or_else(|| mismatch(b, operator, left, right))
}

fn mismatch(b: &mut Builder<'_>, operator: Operator, left: Operand, right: Operand) -> Diagnostic {
    let names = [left, right].map(|operand| {
        let ty = b.type_of(operand.value);
        display(&b.module.types, &b.module.constants, ty)
    });
    let message = format!("`{}` does not take operands of types `{}` and `{}`", operator.text, names[0], names[1]);
    let mut diagnostic = Diagnostic::error(Code::BAD_OPERANDS, message).at(operator.span, "");
    for (operand, name) in [left, right].into_iter().zip(names) {
        diagnostic = diagnostic.with(operand.span, format!("this is `{name}`"));
    }
    remedy(b, operator, left, right).into_iter().fold(diagnostic, Diagnostic::help)
}

/// Advice on what to write instead of an operator that does not support these operands.
fn remedy(b: &mut Builder<'_>, operator: Operator, left: Operand, right: Operand) -> Option<&'static str> {
    let (left, right) = basics(b, left.value, right.value)?;
    let are = |kind: fn(Scalar) -> bool| kind(left.scalar) && kind(right.scalar);
    let is_bool = |scalar: Scalar| scalar == Scalar::BOOL;
    let kind = family(operator.op);
    Some(match operator.op {
        BinaryOp::Rem if left.scalar.is_float() || right.scalar.is_float() => "`mod(x, y)` is the remainder of floats",
        BinaryOp::And if are(is_bool) => "`&&` combines `bool`s",
        BinaryOp::Or if are(is_bool) => "`||` combines `bool`s",
        BinaryOp::Xor if are(is_bool) => "`^^` combines `bool`s",
        _ if kind == Family::Logical => "compare a number with a value, as in `x != 0`",
        _ if kind == Family::Order && left.rows > 1 => {
            "`lessThan`, `greaterThan` and their like compare vectors by components"
        }
        _ if left.rows != right.rows && left.rows > 1 && right.rows > 1 => {
            "both need as many components: a swizzle such as `.xyz` takes some of them"
        }
        _ if left.scalar != right.scalar => "convert one of the two to the type of the other, as in `float(x)`",
        _ => return None,
    })
}

/// The shapes of operands; `None` if the operator does not accept them, for example encoded floats.
fn basics(b: &mut Builder<'_>, left: Value, right: Value) -> Option<(Basic, Basic)> {
    let (l, r) = (b.type_of(left), b.type_of(right));
    let basic = |ty| Basic::of(&b.module.types, ty).filter(|basic| basic.scalar.encoding().is_none());
    Some((basic(l)?, basic(r)?))
}

/// The right operand of `left op= right`: an encoded float is converted to `left`'s scalar type, which the result is
/// converted to anyway (GLSL 4.60 section 5.8). Operators alone do not convert it.
pub fn compound(b: &mut Builder<'_>, left: Value, right: Operand) -> Operand {
    let [l, r] = [left, right.value].map(|value| {
        let ty = b.type_of(value);
        Basic::of(&b.module.types, ty)
    });
    let is_encoded = |basic: Basic| basic.scalar.encoding().is_some();
    match (l, r) {
        (Some(l), Some(r)) if is_encoded(r) && l.scalar.is_float() && convert::scalar_converts(r.scalar, l.scalar) => {
            Operand { value: to_scalar(b, right.value, r, l.scalar), ..right }
        }
        _ => right,
    }
}

/// Converts both operands to their common scalar type.
fn unify(b: &mut Builder<'_>, implicit: bool, left: Value, right: Value) -> Option<(Value, Value, Basic, Basic)> {
    let (l, r) = basics(b, left, right)?;
    let scalar = if implicit { convert::common_scalar(l.scalar, r.scalar)? } else { same_scalar(l.scalar, r.scalar)? };
    let (left, right) = (to_scalar(b, left, l, scalar), to_scalar(b, right, r, scalar));
    Some((left, right, l.with_scalar(scalar), r.with_scalar(scalar)))
}

fn same_scalar(left: Scalar, right: Scalar) -> Option<Scalar> {
    (left == right).then_some(left)
}

fn to_scalar(b: &mut Builder<'_>, value: Value, from: Basic, scalar: Scalar) -> Value {
    if from.scalar == scalar {
        return value;
    }
    let ty = from.with_scalar(scalar).intern(&mut b.module.types);
    convert::numeric(b, value, ty)
}

fn arithmetic(b: &mut Builder<'_>, implicit: bool, op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    let (left, right, l, r) = unify(b, implicit, left, right)?;
    if l.scalar.is_bool() {
        return None;
    }
    if op == BinaryOp::Mul && (l.is_matrix() || r.is_matrix()) {
        return matrix_product(b, left, right, l, r);
    }
    component_wise(b, op, left, right, l, r)
}

fn holds_matrix(b: &mut Builder<'_>, value: Value) -> bool {
    let ty = b.type_of(value);
    b.module.types.cooperative(ty).is_some()
}

/// Two cooperative matrices of one type, element by element, or one multiplied by a number of its element type.
fn on_cooperative(b: &mut Builder<'_>, op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    let (l, r) = (b.type_of(left), b.type_of(right));
    let types = &b.module.types;
    let scales = |matrix: TypeId, by: TypeId| {
        let is_float = types.scalar_of(by).is_some_and(Scalar::is_float);
        types.cooperative(matrix).is_some_and(|of| of.element == by && (is_float || !of.is_vector()))
    };
    let number = types.number_of(l).and(types.number_of(r)).filter(|number| number.is_number())?;
    types.number_of(l).filter(|number| number.is_number())?;
    let is_arithmetic = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div);
    let takes_bits = number.is_int() && op != BinaryOp::Rem && types.cooperative(l).is_some_and(|of| of.is_vector());
    let (op, left, right) = match op {
        _ if l == r && (is_arithmetic || takes_bits) => (op, left, right),
        BinaryOp::Mul if scales(l, r) => (BinaryOp::TimesScalar, left, right),
        BinaryOp::Mul if scales(r, l) => (BinaryOp::TimesScalar, right, left),
        _ => return None,
    };
    Some(b.binary(op, left, right))
}

/// Operands of one shape, or one of them a scalar.
fn component_wise(b: &mut Builder<'_>, op: BinaryOp, left: Value, right: Value, l: Basic, r: Basic) -> Option<Value> {
    if l.is_matrix() || r.is_matrix() {
        return by_columns(b, op, left, right, l, r);
    }
    match (l.rows, r.rows) {
        (a, c) if a == c => Some(b.binary(op, left, right)),
        (1, size) => {
            let left = b.splat(left, size);
            Some(b.binary(op, left, right))
        }
        (_, 1) if op == BinaryOp::Mul && l.scalar.is_float() => Some(b.binary(BinaryOp::TimesScalar, left, right)),
        (size, 1) => {
            let right = b.splat(right, size);
            Some(b.binary(op, left, right))
        }
        _ => None,
    }
}

fn by_columns(b: &mut Builder<'_>, op: BinaryOp, left: Value, right: Value, l: Basic, r: Basic) -> Option<Value> {
    if l != r && !l.is_scalar() && !r.is_scalar() {
        return None;
    }
    let whole = if l.is_matrix() { l } else { r };
    let column_of = |b: &mut Builder<'_>, value: Value, shape: Basic, index: u32| {
        if shape.is_matrix() { b.extract(value, index) } else { b.splat(value, whole.rows) }
    };
    let mut columns = Vec::with_capacity(4);
    for index in 0..u32::from(whole.columns) {
        let (x, y) = (column_of(b, left, l, index), column_of(b, right, r, index));
        columns.push(b.binary(op, x, y));
    }
    let ty = whole.intern(&mut b.module.types);
    Some(b.construct(ty, &columns))
}

/// `*` with a matrix: the products of linear algebra (GLSL 4.60 section 5.9).
fn matrix_product(b: &mut Builder<'_>, left: Value, right: Value, l: Basic, r: Basic) -> Option<Value> {
    let (op, left, right) = match (l.is_matrix(), r.is_matrix()) {
        (true, true) if l.columns == r.rows => (BinaryOp::MatrixTimesMatrix, left, right),
        (true, false) if r.is_scalar() => (BinaryOp::TimesScalar, left, right),
        (false, true) if l.is_scalar() => (BinaryOp::TimesScalar, right, left),
        (true, false) if l.columns == r.rows => (BinaryOp::MatrixTimesVector, left, right),
        (false, true) if l.rows == r.rows => (BinaryOp::VectorTimesMatrix, left, right),
        _ => return None,
    };
    Some(b.binary(op, left, right))
}

fn integer(b: &mut Builder<'_>, implicit: bool, op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    let (left, right, l, r) = unify(b, implicit, left, right)?;
    let whole = l.scalar.is_int() && !l.is_matrix() && !r.is_matrix();
    if whole { component_wise(b, op, left, right, l, r) } else { None }
}

/// The operands' integer types may differ; a vector may be shifted by a scalar, but not vice versa.
fn shift(b: &mut Builder<'_>, op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    let (l, r) = basics(b, left, right)?;
    if !l.scalar.is_int() || !r.scalar.is_int() || l.is_matrix() || r.is_matrix() {
        return None;
    }
    let right = match (l.rows, r.rows) {
        (a, c) if a == c => right,
        (size, 1) => b.splat(right, size),
        _ => return None,
    };
    Some(b.binary(op, left, right))
}

fn order(b: &mut Builder<'_>, implicit: bool, op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    let (left, right, l, r) = unify(b, implicit, left, right)?;
    let scalars = l.is_scalar() && r.is_scalar() && !l.scalar.is_bool();
    scalars.then(|| b.binary(op, left, right))
}

fn logical(b: &mut Builder<'_>, op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    let (l, r) = basics(b, left, right)?;
    let bools = l == r && l == Basic::vector(Scalar::BOOL, 1);
    bools.then(|| b.binary(op, left, right))
}

/// `==` and `!=` for any type except opaque ones: one `bool`.
fn equality(b: &mut Builder<'_>, implicit: bool, op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    if basics(b, left, right).is_some() {
        let (left, right, l, r) = unify(b, implicit, left, right)?;
        return if l == r { same(b, op, left, right) } else { None };
    }
    let (l, r) = (b.type_of(left), b.type_of(right));
    if l == r { same(b, op, left, right) } else { None }
}

/// Compares two values of one type.
fn same(b: &mut Builder<'_>, op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    let ty = b.type_of(left);
    match b.module.types.get(ty) {
        Type::Scalar(scalar) | Type::Vector { scalar, .. } if scalar.encoding().is_some() => None,
        Type::Scalar(_) => Some(b.binary(op, left, right)),
        Type::BufferReference { .. } => Some(same_address(b, op, left, right)),
        Type::Vector { .. } => {
            let parts = b.binary(op, left, right);
            let fold = if op == BinaryOp::Eq { MathFn::All } else { MathFn::Any };
            Some(b.math(fold, &[parts]))
        }
        _ => {
            let count = part_count(b, ty)?;
            same_parts(b, op, left, right, count)
        }
    }
}

fn same_parts(b: &mut Builder<'_>, op: BinaryOp, left: Value, right: Value, count: u32) -> Option<Value> {
    let join = if op == BinaryOp::Eq { BinaryOp::LogicalAnd } else { BinaryOp::LogicalOr };
    let mut whole = b.const_bool(op == BinaryOp::Eq);
    for index in 0..count {
        let (x, y) = (b.extract(left, index), b.extract(right, index));
        let part = same(b, op, x, y)?;
        whole = if index == 0 { part } else { b.binary(join, whole, part) };
    }
    Some(whole)
}

/// Parts of a matrix, a fixed array or a struct.
fn part_count(b: &Builder<'_>, ty: TypeId) -> Option<u32> {
    match b.module.types.get(ty) {
        Type::Matrix { columns, .. } => Some(u32::from(columns)),
        Type::Array { len: ArrayLen::Fixed(len), .. } => Some(len),
        Type::Struct(id) => Some(b.module.types.structs[id].members.len() as u32),
        _ => None,
    }
}

/// `-x`, `~x`, `!x`; `+x` is its operand.
///
/// # Errors
/// Returns an error if the operator does not support an operand of this type.
pub fn unary(b: &mut Builder<'_>, op: UnaryOp, text: &str, operand: Operand) -> Result<Value, Diagnostic> {
    let ty = b.type_of(operand.value);
    let basic = Basic::of(&b.module.types, ty);
    match basic.filter(|basic| takes(op, *basic)) {
        Some(basic) if basic.is_matrix() => Ok(negated_matrix(b, operand.value, basic)),
        Some(_) => Ok(b.unary(op, operand.value)),
        None if op == UnaryOp::Neg && negates_matrix(b, ty) => Ok(b.unary(op, operand.value)),
        None if op == UnaryOp::Not && inverts_vector(b, ty) => Ok(b.unary(op, operand.value)),
        None => {
            let name = display(&b.module.types, &b.module.constants, ty);
            let message = format!("`{text}` does not take an operand of type `{name}`");
            Err(Diagnostic::error(Code::BAD_OPERANDS, message).at(operand.span, format!("this is `{name}`")))
        }
    }
}

fn negates_matrix(b: &Builder<'_>, ty: TypeId) -> bool {
    b.module.types.cooperative(ty).is_some() && b.module.types.number_of(ty).is_some_and(Scalar::is_number)
}

fn inverts_vector(b: &Builder<'_>, ty: TypeId) -> bool {
    let types = &b.module.types;
    types.cooperative(ty).is_some_and(|of| of.is_vector()) && types.number_of(ty).is_some_and(Scalar::is_int)
}

fn takes(op: UnaryOp, basic: Basic) -> bool {
    match op {
        UnaryOp::Neg => basic.scalar.is_number(),
        UnaryOp::Not => basic.scalar.is_int() && !basic.is_matrix(),
        UnaryOp::LogicalNot => basic == Basic::vector(Scalar::BOOL, 1),
    }
}

fn negated_matrix(b: &mut Builder<'_>, value: Value, shape: Basic) -> Value {
    let columns: Vec<Value> = (0..u32::from(shape.columns))
        .map(|index| {
            let column = b.extract(value, index);
            b.unary(UnaryOp::Neg, column)
        })
        .collect();
    let ty = shape.intern(&mut b.module.types);
    b.construct(ty, &columns)
}
