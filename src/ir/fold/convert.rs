//! Conversions between numbers and reinterpretation of bits.

use super::Folder;
use super::number::{Num, mask, round_to};
use crate::ir::{ConstId, Encoding, Scalar, ScalarKind, Type, TypeId};

impl Folder<'_> {
    /// Numeric conversion, component by component; of a matrix, column by column.
    pub fn convert(&mut self, ty: TypeId, a: ConstId) -> Option<ConstId> {
        if matches!(self.types.get(ty), Type::Matrix { .. }) {
            let columns = self.matrix(a)?;
            return self.matrix_of(ty, &columns);
        }
        let a = self.vector(a)?;
        let to = self.types.scalar_of(ty)?;
        self.lanes(ty, |index| Some(convert(a.lane(index), to)))
    }

    /// The same bits, lowest component first.
    pub fn bitcast(&mut self, ty: TypeId, a: ConstId) -> Option<ConstId> {
        let a = self.vector(a)?;
        let (to, size) = self.shape(ty)?;
        let (from_width, to_width) = (usize::from(a.scalar.width), usize::from(to.width));
        if from_width * a.size != to_width * size || a.scalar.is_bool() || to.is_bool() {
            return None;
        }
        // The narrowest scalar has four bits.
        let (from_digits, to_digits) = (from_width / 4, to_width / 4);
        let mut digits = [0; 64];
        for (index, lane) in a.lanes().iter().enumerate() {
            let bits = lane.encode(a.scalar);
            for (at, digit) in digits[index * from_digits..][..from_digits].iter_mut().enumerate() {
                *digit = bits >> (4 * at) & 0xf;
            }
        }
        self.lanes(ty, |index| {
            let digits = &digits[index * to_digits..][..to_digits];
            let bits = digits.iter().rev().fold(0, |bits, digit| bits << 4 | digit);
            // An encoded NaN may have other bits than the encoding of its value.
            Some(Num::decode(to, bits)).filter(|value| to.encoding().is_none() || value.encode(to) == bits)
        })
    }
}

/// The number in another type. Floats outside an integer's range, which are undefined, become the nearest value.
pub fn convert(value: Num, to: Scalar) -> Num {
    match (to.kind, value) {
        (ScalarKind::Bool, Num::Int(value)) => Num::Bool(value != 0),
        (ScalarKind::Bool, Num::Float(value)) => Num::Bool(value != 0.0),
        (ScalarKind::Bool, Num::Bool(_)) => value,
        (ScalarKind::Float, Num::Int(value)) => Num::Float(int_to_float(value, to.width)),
        (ScalarKind::Float | ScalarKind::Encoded(_), Num::Bool(value)) => Num::Float(f64::from(u8::from(value))),
        (ScalarKind::Float, Num::Float(value)) => Num::Float(round_to(to.width, value)),
        // Through 32 bits, as in SPV_KHR_bfloat16.
        (ScalarKind::Encoded(Encoding::BFloat16), Num::Int(value)) => Num::Float(int_to_float(value, 32)).rounded(to),
        (ScalarKind::Encoded(Encoding::BFloat16), Num::Float(value)) => Num::Float(round_to(32, value)).rounded(to),
        (ScalarKind::Encoded(_), Num::Int(value)) => Num::Float(value as f64).rounded(to),
        (ScalarKind::Encoded(_), Num::Float(_)) => value.rounded(to),
        (_, Num::Bool(value)) => Num::Int(i128::from(value)),
        (_, Num::Int(_)) => value.rounded(to),
        (_, Num::Float(value)) => Num::Int(float_to_int(value, to)),
    }
}

/// Rounds once: through `f64`, a 64-bit integer would be rounded twice on the way to 32 bits.
fn int_to_float(value: i128, width: u8) -> f64 {
    match width {
        32 => f64::from(value as f32),
        _ => round_to(width, value as f64),
    }
}

fn float_to_int(value: f64, to: Scalar) -> i128 {
    let (least, most) = match to.is_signed() {
        true => (-(1i128 << (to.width - 1)), i128::from(mask(to.width - 1))),
        false => (0, i128::from(mask(to.width))),
    };
    (value as i128).clamp(least, most)
}
