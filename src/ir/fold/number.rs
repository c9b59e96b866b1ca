//! One scalar value, and its bits in each scalar type.

use crate::ir::constant::sign_extend;
use crate::ir::{Scalar, ScalarKind};

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
        }
    }

    /// The bits of the value in the type `scalar`, of the same kind: ints wrap, floats are rounded.
    pub fn encode(self, scalar: Scalar) -> u64 {
        match (self, scalar.width) {
            (Num::Bool(value), _) => u64::from(value),
            (Num::Int(value), width) => value as u64 & mask(width),
            (Num::Float(value), 16) => u64::from(f64_to_f16(value)),
            (Num::Float(value), 32) => u64::from((value as f32).to_bits()),
            (Num::Float(value), _) => value.to_bits(),
        }
    }

    /// The value as the type `scalar` holds it.
    pub fn rounded(self, scalar: Scalar) -> Num {
        match self {
            Num::Float(value) => Num::Float(round_to(scalar.width, value)),
            _ => Num::decode(scalar, self.encode(scalar)),
        }
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

/// The low `width` bits.
pub fn mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// A float rounded to the nearest value of `width` bits. Sums, products, quotients and square roots of values of 16 or
/// 32 bits that are computed in 64 bits and then rounded so are correctly rounded.
pub fn round_to(width: u8, value: f64) -> f64 {
    match width {
        16 => f16_to_f64(f64_to_f16(value)),
        32 => f64::from(value as f32),
        _ => value,
    }
}

/// Value of an IEEE 754 binary16 number.
pub fn f16_to_f64(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The nearest IEEE 754 binary16 number, ties to even; too large numbers become infinities.
pub fn f64_to_f16(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Below 2^-14 numbers are multiples of 2^-24, above of 2^-10 of their power of two.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let steps = (magnitude * 2f64.powi(10 - exponent)).round_ties_even() as u16;
    // A number with steps from 1024 on has the exponent field `exponent + 15`; its leading bit adds one to the field.
    sign | ((((exponent + 14) as u16) << 10) + steps)
}
