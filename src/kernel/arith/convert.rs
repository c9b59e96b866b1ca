//! Conversions between numbers.

use super::float::{Real, with_real};
use super::{each_defined, map};
use crate::ir::{Scalar, ScalarKind};

/// `a` in another type: integers keep their low bits, floats truncate toward zero (undefined out of range), bools are 0
/// and 1, and to bool means `!= 0`.
pub(crate) fn convert(from: Scalar, to: Scalar, out: &mut [u64], a: &[u64]) -> u64 {
    use ScalarKind::{Bool, Float};
    match (from.kind, to.kind) {
        (Float, Float | Bool) => with_real!(from, from_float(to, out, a)),
        (Float, _) => return with_real!(from, to_int(to, out, a)),
        (_, Bool) => map(out, a, |x| (x != 0).into()),
        (_, Float) => with_real!(to, from_int(from, out, a)),
        _ => map(out, a, |x| fit(to, extend(from, x))),
    }
    0
}

/// An integer's bits in 64, extended by its sign.
fn extend(scalar: Scalar, bits: u64) -> u64 {
    let unused = 64 - u32::from(scalar.width);
    match scalar.kind {
        ScalarKind::Sint => (((bits << unused) as i64) >> unused) as u64,
        _ => bits,
    }
}

/// The low bits in the form that values of a type have.
fn fit(scalar: Scalar, bits: u64) -> u64 {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Sint, 8) => (bits as i8 as u16).into(),
        (_, width) => bits & (u64::MAX >> (64 - width)),
    }
}

fn from_float<R: Real>(to: Scalar, out: &mut [u64], a: &[u64]) {
    fn put<R: Real, S: Real>(out: &mut [u64], a: &[u64]) {
        map(out, a, |x| S::put(R::get(x)));
    }
    match (to.kind, to.width) {
        (ScalarKind::Bool, _) => map(out, a, |x| (R::get(x) != 0.0).into()),
        (_, 16) => put::<R, super::float::F16>(out, a),
        (_, 32) => put::<R, super::float::F32>(out, a),
        _ => put::<R, super::float::F64>(out, a),
    }
}

fn from_int<R: Real>(from: Scalar, out: &mut [u64], a: &[u64]) {
    match from.kind {
        ScalarKind::Sint => map(out, a, |x| R::of_signed(extend(from, x) as i64)),
        _ => map(out, a, R::of_unsigned),
    }
}

fn to_int<R: Real>(to: Scalar, out: &mut [u64], a: &[u64]) -> u64 {
    let magnitude = 2_f64.powi(i32::from(to.width) - i32::from(to.kind == ScalarKind::Sint));
    let least = if to.kind == ScalarKind::Sint { -magnitude } else { 0.0 };
    each_defined(out, |i| {
        let whole = R::get(a[i]).trunc();
        let inside = whole >= least && whole < magnitude;
        inside.then(|| fit(to, if whole < 0.0 { whole as i64 as u64 } else { whole as u64 }))
    })
}
