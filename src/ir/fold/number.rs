//! One scalar value, and its bits in each scalar type.

use crate::ir::constant::sign_extend;
use crate::ir::{Format, Scalar, ScalarKind};
use crate::lane::ReduceOp;

/// A scalar. Ints of every width fit an `i128`; floats of every width fit an `f64`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Num {
    Bool(bool),
    Int(i128),
    Float(f64),
}

impl Num {
    /// The value that `bits` have in the type `scalar`.
    pub fn decode(scalar: Scalar, bits: u64) -> Num {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Bool, _) => Num::Bool(bits != 0),
            (ScalarKind::Sint, _) => Num::Int(i128::from(sign_extend(bits, scalar))),
            (ScalarKind::Uint, _) => Num::Int(i128::from(bits)),
            (ScalarKind::Float, 16) => Num::Float(f16_to_f64(bits as u16)),
            (ScalarKind::Float, 32) => Num::Float(f64::from(f32::from_bits(bits as u32))),
            (ScalarKind::Float, _) => Num::Float(f64::from_bits(bits)),
            (ScalarKind::Encoded(encoding), _) => Num::Float(encoding.format().decode(bits)),
        }
    }

    /// The bits of the value in the type `scalar`, of the same kind: ints wrap, floats are rounded.
    pub fn encode(self, scalar: Scalar) -> u64 {
        match (self, scalar.kind, scalar.width) {
            (Num::Bool(value), ..) => u64::from(value),
            (Num::Int(value), _, width) => value as u64 & mask(width),
            (Num::Float(value), ScalarKind::Encoded(encoding), _) => encoding.format().encode(value),
            (Num::Float(value), _, 16) => u64::from(f64_to_f16(value)),
            (Num::Float(value), _, 32) => u64::from((value as f32).to_bits()),
            (Num::Float(value), ..) => value.to_bits(),
        }
    }

    /// The value rounded to the type `scalar`.
    pub fn rounded(self, scalar: Scalar) -> Num {
        Num::decode(scalar, self.encode(scalar))
    }

    pub fn bool(self) -> Option<bool> {
        if let Num::Bool(value) = self { Some(value) } else { None }
    }

    pub fn int(self) -> Option<i128> {
        if let Num::Int(value) = self { Some(value) } else { None }
    }

    pub fn float(self) -> Option<f64> {
        if let Num::Float(value) = self { Some(value) } else { None }
    }
}

/// The bits of a reduction's identity.
pub fn identity(op: ReduceOp, scalar: Scalar) -> u64 {
    let (is_float, is_signed) = (scalar.kind == ScalarKind::Float, scalar.kind == ScalarKind::Sint);
    let number = |int: i128, float: f64| if is_float { Num::Float(float) } else { Num::Int(int) };
    let greatest = i128::from(mask(scalar.width - u8::from(is_signed)));
    match (op, scalar.kind) {
        (_, ScalarKind::Bool) => Num::Bool(op == ReduceOp::And),
        (ReduceOp::Add | ReduceOp::Or | ReduceOp::Xor, _) => number(0, 0.0),
        (ReduceOp::Mul, _) => number(1, 1.0),
        (ReduceOp::And, _) => number(-1, 0.0),
        (ReduceOp::Min, _) => number(greatest, f64::INFINITY),
        (ReduceOp::Max, _) => number(if is_signed { -1 - greatest } else { 0 }, f64::NEG_INFINITY),
    }
    .encode(scalar)
}

/// The bits that leave any other value unchanged when combined with it: the identity, but -0 for `Add` of floats.
pub fn neutral(op: ReduceOp, scalar: Scalar) -> u64 {
    match (op, scalar.kind) {
        (ReduceOp::Add, ScalarKind::Float) => 1 << (scalar.width - 1),
        _ => identity(op, scalar),
    }
}

/// The low `width` bits.
pub fn mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// A float rounded to the nearest value of `width` bits. Sums, products, quotients and square roots of values of 16 or
/// 32 bits are correctly rounded if they are computed in 64 bits and then rounded with this function.
pub fn round_to(width: u8, value: f64) -> f64 {
    match width {
        16 => Format::HALF.round(value),
        32 => f64::from(value as f32),
        _ => value,
    }
}

/// Value of an IEEE 754 binary16 number.
pub fn f16_to_f64(bits: u16) -> f64 {
    Format::HALF.decode(bits.into())
}

/// The nearest IEEE 754 binary16 number, ties to even; numbers that are too large become infinities.
pub fn f64_to_f16(value: f64) -> u16 {
    Format::HALF.encode(value) as u16
}
