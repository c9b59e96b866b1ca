//! Floats of 16, 32 and 64 bits, all computed in 64 bits.
//!
//! This way, sums, products, quotients and square roots of 16- and 32-bit values are correctly rounded. The only
//! exception is the 32-bit fused multiply-add, which has its own function.

use super::{map, zip};
use crate::ir::Scalar;
use crate::ir::fold::{f16_to_f64, f64_to_f16};
use crate::kernel::{BinOp, CmpOp, UnOp};

/// A float type.
pub(super) trait Real {
    fn get(bits: u64) -> f64;
    /// Rounded to the nearest value of the type, ties to even.
    fn put(value: f64) -> u64;

    /// Through 64 bits nothing is rounded twice: integers in the range of 16-bit floats need fewer than 53 bits.
    fn of_signed(value: i64) -> u64 {
        Self::put(value as f64)
    }
    fn of_unsigned(value: u64) -> u64 {
        Self::put(value as f64)
    }
}

pub(super) struct F16;
pub(super) struct F32;
pub(super) struct F64;

impl Real for F16 {
    fn get(bits: u64) -> f64 {
        f16_to_f64(bits as u16)
    }
    fn put(value: f64) -> u64 {
        f64_to_f16(value).into()
    }
}

impl Real for F32 {
    fn get(bits: u64) -> f64 {
        f32::from_bits(bits as u32).into()
    }
    fn put(value: f64) -> u64 {
        (value as f32).to_bits().into()
    }
    // Integers of more than 53 bits would be rounded twice.
    fn of_signed(value: i64) -> u64 {
        (value as f32).to_bits().into()
    }
    fn of_unsigned(value: u64) -> u64 {
        (value as f32).to_bits().into()
    }
}

impl Real for F64 {
    fn get(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn put(value: f64) -> u64 {
        value.to_bits()
    }
}

/// Calls a function that is generic in the float type with the type of a scalar.
macro_rules! with_real {
    ($scalar:expr, $function:ident($($args:expr),*)) => {
        match $scalar.width {
            16 => $function::<$crate::kernel::arith::float::F16>($($args),*),
            32 => $function::<$crate::kernel::arith::float::F32>($($args),*),
            _ => $function::<$crate::kernel::arith::float::F64>($($args),*),
        }
    };
}
pub(super) use with_real;

pub(super) fn un(op: UnOp, scalar: Scalar, out: &mut [u64], a: &[u64]) {
    let sign = 1 << (scalar.width - 1);
    match op {
        // A NaN's sign changes too and its other bits stay.
        UnOp::Neg => map(out, a, |x| x ^ sign),
        UnOp::Abs => map(out, a, |x| x & !sign),
        _ => with_real!(scalar, un_of(op, out, a)),
    }
}

fn un_of<R: Real>(op: UnOp, out: &mut [u64], a: &[u64]) {
    let by = |out: &mut [u64], f: fn(f64) -> f64| map(out, a, |x| R::put(f(R::get(x))));
    match op {
        UnOp::Floor => by(out, f64::floor),
        UnOp::Ceil => by(out, f64::ceil),
        UnOp::Trunc => by(out, f64::trunc),
        UnOp::RoundEven => by(out, f64::round_ties_even),
        UnOp::Sqrt => by(out, f64::sqrt),
        UnOp::InverseSqrt => by(out, |x| 1.0 / x.sqrt()),
        UnOp::Exp2 => by(out, f64::exp2),
        UnOp::Log2 => by(out, f64::log2),
        UnOp::Sin => by(out, f64::sin),
        UnOp::Cos => by(out, f64::cos),
        // The others are for integers.
        _ => out.copy_from_slice(a),
    }
}

pub(super) fn bin(op: BinOp, scalar: Scalar, out: &mut [u64], a: &[u64], b: &[u64]) {
    with_real!(scalar, bin_of(op, out, a, b));
}

fn bin_of<R: Real>(op: BinOp, out: &mut [u64], a: &[u64], b: &[u64]) {
    match op {
        BinOp::Add => zip(out, a, b, |x, y| R::put(R::get(x) + R::get(y))),
        BinOp::Sub => zip(out, a, b, |x, y| R::put(R::get(x) - R::get(y))),
        BinOp::Mul => zip(out, a, b, |x, y| R::put(R::get(x) * R::get(y))),
        BinOp::Div => zip(out, a, b, |x, y| R::put(R::get(x) / R::get(y))),
        BinOp::Min => zip(out, a, b, |x, y| R::put(R::get(x).min(R::get(y)))),
        BinOp::Max => zip(out, a, b, |x, y| R::put(R::get(x).max(R::get(y)))),
        // The others are for integers.
        _ => out.copy_from_slice(a),
    }
}

pub(super) fn cmp(op: CmpOp, scalar: Scalar, out: &mut [u64], a: &[u64], b: &[u64]) {
    with_real!(scalar, cmp_of(op, out, a, b));
}

fn cmp_of<R: Real>(op: CmpOp, out: &mut [u64], a: &[u64], b: &[u64]) {
    match op {
        CmpOp::Eq => zip(out, a, b, |x, y| (R::get(x) == R::get(y)).into()),
        CmpOp::Ne => zip(out, a, b, |x, y| (R::get(x) != R::get(y)).into()),
        CmpOp::Lt => zip(out, a, b, |x, y| (R::get(x) < R::get(y)).into()),
        CmpOp::Le => zip(out, a, b, |x, y| (R::get(x) <= R::get(y)).into()),
        CmpOp::Gt => zip(out, a, b, |x, y| (R::get(x) > R::get(y)).into()),
        CmpOp::Ge => zip(out, a, b, |x, y| (R::get(x) >= R::get(y)).into()),
    }
}

pub(super) fn fma(scalar: Scalar, out: &mut [u64], [a, b, c]: [&[u64]; 3]) {
    let single = |bits: u64| f32::from_bits(bits as u32);
    for (lane, out) in out.iter_mut().enumerate() {
        let (a, b, c) = (a[lane], b[lane], c[lane]);
        *out = match scalar.width {
            32 => single(a).mul_add(single(b), single(c)).to_bits().into(),
            16 => F16::put(F16::get(a).mul_add(F16::get(b), F16::get(c))),
            _ => F64::put(F64::get(a).mul_add(F64::get(b), F64::get(c))),
        };
    }
}
