//! Conversions between numbers and reinterpretation of bits.

use super::Folder;
use super::number::{Num, mask, round_to};
use crate::ir::{ConstId, Scalar, ScalarKind, Type, TypeId};

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
        let mut bytes = [0; 32];
        for (index, lane) in a.lanes().iter().enumerate() {
            let wide = lane.encode(a.scalar).to_le_bytes();
            let count = from_width / 8;
            bytes[index * count..][..count].copy_from_slice(&wide[..count]);
        }
        self.lanes(ty, |index| {
            let count = to_width / 8;
            let mut wide = [0; 8];
            wide[..count].copy_from_slice(&bytes[index * count..][..count]);
            Some(Num::decode(to, u64::from_le_bytes(wide)))
        })
    }
}

/// The number in another type. Floats out of an integer's range, where every value would do, give the nearest one.
pub fn convert(value: Num, to: Scalar) -> Num {
    match (to.kind, value) {
        (ScalarKind::Bool, Num::Int(value)) => Num::Bool(value != 0),
        (ScalarKind::Bool, Num::Float(value)) => Num::Bool(value != 0.0),
        (ScalarKind::Bool, Num::Bool(_)) => value,
        (ScalarKind::Float, Num::Int(value)) => Num::Float(int_to_float(value, to.width)),
        (ScalarKind::Float, Num::Bool(value)) => Num::Float(f64::from(u8::from(value))),
        (ScalarKind::Float, Num::Float(value)) => Num::Float(round_to(to.width, value)),
        (_, Num::Bool(value)) => Num::Int(i128::from(value)),
        (_, Num::Int(_)) => value.rounded(to),
        (_, Num::Float(value)) => Num::Int(float_to_int(value, to)),
    }
}

/// Rounded once: through `f64` a 64-bit integer would be rounded twice on the way to 32 bits.
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
