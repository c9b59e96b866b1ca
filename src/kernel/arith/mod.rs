//! Arithmetic on rows of bits: one operation of the kernel form on all lanes at once.
//!
//! A row has the bits of one value in every lane, in the form of [`crate::kernel::Ty`]. A function here writes a row
//! and returns the lanes in which the result is undefined (bit `i` for lane `i`); the caller tracks undefined operands.
//! Exact operations follow IEEE 754; transcendental ones are computed in 64 bits and rounded once.

mod convert;
mod float;
mod int;
mod straight;

#[cfg(test)]
mod tests;

use crate::ir::{Scalar, ScalarKind, fold};
use crate::kernel::{BinOp, CmpOp, TernOp, UnOp};
use crate::lane::{InvertibleOp, ReduceOp};
pub(crate) use convert::convert;
pub(crate) use straight::compute;

/// `op a`. Never undefined.
pub(crate) fn un(op: UnOp, scalar: Scalar, out: &mut [u64], a: &[u64]) {
    match scalar.kind {
        ScalarKind::Bool => map(out, a, |x| x ^ 1),
        ScalarKind::Float => float::un(op, scalar, out, a),
        _ => int::un(op, scalar, out, a),
    }
}

/// `a op b`.
pub(crate) fn bin(op: BinOp, scalar: Scalar, out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    match (op, scalar.kind) {
        // The canonical forms of values are closed under these operators, for any type.
        (BinOp::And, _) => zip(out, a, b, |x, y| x & y),
        (BinOp::Or, _) => zip(out, a, b, |x, y| x | y),
        (BinOp::Xor, _) => zip(out, a, b, |x, y| x ^ y),
        (_, ScalarKind::Float) => float::bin(op, scalar, out, a, b),
        _ => return int::bin(op, scalar, out, a, b),
    }
    0
}

/// `a op b`, zeros and ones.
pub(crate) fn cmp(op: CmpOp, scalar: Scalar, out: &mut [u64], a: &[u64], b: &[u64]) {
    match scalar.kind {
        ScalarKind::Float => float::cmp(op, scalar, out, a, b),
        _ => int::cmp(op, scalar, out, a, b),
    }
}

/// An operation of three operands.
pub(crate) fn tern(op: TernOp, scalar: Scalar, out: &mut [u64], args: [&[u64]; 3]) -> u64 {
    match op {
        TernOp::Fma => {
            float::fma(scalar, out, args);
            0
        }
        TernOp::BitExtract => int::bit_extract(scalar, out, args),
    }
}

/// `base` with `bits` bits from `offset` on taken from `insert`.
pub(crate) fn bit_insert(scalar: Scalar, out: &mut [u64], args: [&[u64]; 4]) -> u64 {
    int::bit_insert(scalar, out, args)
}

/// The operator of a reduction as a binary operation.
pub(crate) fn fold_op(op: ReduceOp) -> BinOp {
    match op {
        ReduceOp::Add => BinOp::Add,
        ReduceOp::Mul => BinOp::Mul,
        ReduceOp::Min => BinOp::Min,
        ReduceOp::Max => BinOp::Max,
        ReduceOp::And => BinOp::And,
        ReduceOp::Or => BinOp::Or,
        ReduceOp::Xor => BinOp::Xor,
    }
}

/// The operator that undoes one step of a reduction.
pub(crate) fn unfold_op(op: InvertibleOp) -> BinOp {
    match op {
        InvertibleOp::Add => BinOp::Sub,
        InvertibleOp::Xor => BinOp::Xor,
    }
}

/// The identity of a reduction (the identities of `exclusive`).
pub(crate) fn identity(op: ReduceOp, scalar: Scalar) -> u64 {
    let bits = fold::identity(op, scalar);
    if scalar.is_int() { int::fit(bits, scalar) } else { bits }
}

/// The neutral value: the identity, but -0 for sums of floats.
pub(crate) fn neutral(op: ReduceOp, scalar: Scalar) -> u64 {
    match (op, scalar.kind) {
        (ReduceOp::Add, ScalarKind::Float) => 1 << (scalar.width - 1),
        _ => identity(op, scalar),
    }
}

pub(super) fn map(out: &mut [u64], a: &[u64], f: impl Fn(u64) -> u64) {
    for (out, a) in out.iter_mut().zip(a) {
        *out = f(*a);
    }
}

pub(super) fn zip(out: &mut [u64], a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = f(*a, *b);
    }
}

/// Writes one result per lane, zero if undefined; returns the undefined lanes.
fn each_defined(out: &mut [u64], f: impl Fn(usize) -> Option<u64>) -> u64 {
    let mut undefined = 0;
    for (lane, out) in out.iter_mut().enumerate() {
        let result = f(lane);
        *out = result.unwrap_or(0);
        undefined |= u64::from(result.is_none()) << lane;
    }
    undefined
}
