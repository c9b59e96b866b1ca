//! Formats of texels, by SPIR-V's numbers (section 3.11, Image Format).

use super::Scalar;

/// GLSL's layout qualifiers of the formats, by number from 1.
#[rustfmt::skip]
const FORMATS: [&str; 41] = [
    "rgba32f", "rgba16f", "r32f", "rgba8", "rgba8_snorm", "rg32f", "rg16f", "r11f_g11f_b10f", "r16f", "rgba16",
    "rgb10_a2", "rg16", "rg8", "r16", "r8", "rgba16_snorm", "rg16_snorm", "rg8_snorm", "r16_snorm", "r8_snorm",
    "rgba32i", "rgba16i", "rgba8i", "r32i", "rg32i", "rg16i", "rg8i", "r16i", "r8i", "rgba32ui", "rgba16ui",
    "rgba8ui", "r32ui", "rgb10_a2ui", "rg32ui", "rg16ui", "rg8ui", "r16ui", "r8ui", "r64ui", "r64i",
];

/// The number of a format and the scalar of its texels, by the layout qualifier.
pub fn format(name: &str) -> Option<(u8, Scalar)> {
    let at = FORMATS.iter().position(|known| *known == name)? as u8;
    let scalar = match at {
        0..20 => Scalar::F32,
        20..29 => Scalar::I32,
        29..39 => Scalar::U32,
        39 => Scalar::U64,
        _ => Scalar::I64,
    };
    Some((at + 1, scalar))
}

/// The layout qualifier of a format, or `None` if it has none.
pub fn format_name(number: u8) -> Option<&'static str> {
    FORMATS.get(usize::from(number).checked_sub(1)?).copied()
}

/// The number of components of a format; four if the format is unknown.
pub fn components(number: u8) -> usize {
    match format_name(number).unwrap_or_default() {
        name if name.starts_with("rgba") || name.starts_with("rgb10_a2") || name.is_empty() => 4,
        name if name.starts_with("r11f") => 3,
        name if name.starts_with("rg") => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_components() {
        let count = |name| components(format(name).unwrap().0);
        assert_eq!(
            ["rgba8", "rgb10_a2ui", "r11f_g11f_b10f", "rg16_snorm", "r8ui", "r64i"].map(count),
            [4, 4, 3, 2, 1, 1]
        );
        assert_eq!(components(0), 4);
    }

    #[test]
    fn formats_have_the_numbers_of_the_specification() {
        assert_eq!(format("rgba32f"), Some((1, Scalar::F32)));
        assert_eq!(format("r8_snorm"), Some((20, Scalar::F32)));
        assert_eq!(format("rgba32i"), Some((21, Scalar::I32)));
        assert_eq!(format("r8ui"), Some((39, Scalar::U32)));
        assert_eq!(format("r64i"), Some((41, Scalar::I64)));
        assert_eq!(format("rgba9"), None);
    }
}
