//! Packing floats into integers: GLSL 4.60 section 8.4.

use super::Folder;
use super::number::{Num, f16_to_f64, f64_to_f16, mask, round_to};
use crate::ir::{ConstId, MathFn, TypeId};

/// The format of the components in a packed word.
#[derive(Clone, Copy)]
enum Format {
    /// Signed, normalised to -1..1, of this many bits.
    Snorm(u8),
    /// Unsigned, normalised to 0..1.
    Unorm(u8),
    Half,
}

const fn format(function: MathFn) -> Option<(Format, bool)> {
    Some(match function {
        MathFn::PackSnorm4x8 => (Format::Snorm(8), true),
        MathFn::UnpackSnorm4x8 => (Format::Snorm(8), false),
        MathFn::PackUnorm4x8 => (Format::Unorm(8), true),
        MathFn::UnpackUnorm4x8 => (Format::Unorm(8), false),
        MathFn::PackSnorm2x16 => (Format::Snorm(16), true),
        MathFn::UnpackSnorm2x16 => (Format::Snorm(16), false),
        MathFn::PackUnorm2x16 => (Format::Unorm(16), true),
        MathFn::UnpackUnorm2x16 => (Format::Unorm(16), false),
        MathFn::PackHalf2x16 => (Format::Half, true),
        MathFn::UnpackHalf2x16 => (Format::Half, false),
        _ => return None,
    })
}

/// Returns true if [`Folder::packing`] evaluates the function.
pub fn is_packing(function: MathFn) -> bool {
    format(function).is_some() || matches!(function, MathFn::PackDouble2x32 | MathFn::UnpackDouble2x32)
}

impl Folder<'_> {
    pub fn packing(&mut self, function: MathFn, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        let Some((format, pack)) = format(function) else { return self.bitcast(ty, *args.first()?) };
        let arg = self.vector(*args.first()?)?;
        if pack {
            let fields = arg.lanes().iter().enumerate();
            let word = fields.map(|(index, lane)| Some(format.pack(lane.float()?) << (index * format.width())));
            let word = word.sum::<Option<u64>>()?;
            return self.lanes(ty, |_| Some(Num::Int(i128::from(word))));
        }
        let word = arg.lane(0).int()? as u64;
        self.lanes(ty, |index| {
            let field = word >> (index * format.width()) & mask(format.width() as u8);
            Some(Num::Float(round_to(32, format.unpack(field))))
        })
    }
}

impl Format {
    fn width(self) -> usize {
        match self {
            Format::Snorm(width) | Format::Unorm(width) => usize::from(width),
            Format::Half => 16,
        }
    }

    /// The largest integer of a normalised component.
    fn scale(self) -> f64 {
        match self {
            Format::Snorm(width) => mask(width - 1) as f64,
            Format::Unorm(width) => mask(width) as f64,
            Format::Half => 1.0,
        }
    }

    fn pack(self, value: f64) -> u64 {
        let normalised = |low: f64| (value.clamp(low, 1.0) * self.scale()).round_ties_even() as i64;
        match self {
            Format::Snorm(width) => normalised(-1.0) as u64 & mask(width),
            Format::Unorm(_) => normalised(0.0) as u64,
            Format::Half => u64::from(f64_to_f16(value)),
        }
    }

    fn unpack(self, field: u64) -> f64 {
        match self {
            Format::Snorm(width) => {
                let unused = 64 - u32::from(width);
                (((field << unused) as i64 >> unused) as f64 / self.scale()).clamp(-1.0, 1.0)
            }
            Format::Unorm(_) => field as f64 / self.scale(),
            Format::Half => f16_to_f64(field as u16),
        }
    }
}
