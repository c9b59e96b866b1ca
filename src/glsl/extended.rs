//! Scalars from extensions, and the rights of each extension: GL_EXT_shader_8bit_storage and similar ones allow a type
//! in blocks and in constructors; GL_EXT_shader_explicit_arithmetic_types and similar ones allow it everywhere.
//! GL_EXT_bfloat16 and similar ones add floats that are stored and converted; arithmetic operators refuse them
//! themselves.

use super::env::Env;
use crate::ir::Scalar;

/// The uses of a scalar that the extensions allow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Allowed {
    Nothing,
    /// Members of blocks, and conversions from and to them.
    Storage,
    Everything,
}

/// One family of scalars and its extensions.
#[derive(Debug)]
pub struct Family {
    scalars: &'static [Scalar],
    storage: &'static [&'static str],
    everywhere: &'static [&'static str],
    /// The extension that allows it in cross-lane operations; `None` if there is none.
    lanes: Option<&'static str>,
}

const fn integers(
    scalars: &'static [Scalar],
    storage: &'static [&'static str],
    everywhere: &'static [&'static str],
    lanes: &'static str,
) -> Family {
    Family { scalars, storage, everywhere, lanes: Some(lanes) }
}

const fn encoded(scalar: &'static [Scalar], extension: &'static [&'static str]) -> Family {
    Family { scalars: scalar, storage: &[], everywhere: extension, lanes: None }
}

static FAMILIES: [Family; 8] = [
    integers(
        &[Scalar::I8, Scalar::U8],
        &["GL_EXT_shader_8bit_storage"],
        &["GL_EXT_shader_explicit_arithmetic_types_int8"],
        "GL_EXT_shader_subgroup_extended_types_int8",
    ),
    integers(
        &[Scalar::I16, Scalar::U16],
        &["GL_EXT_shader_16bit_storage"],
        &["GL_EXT_shader_explicit_arithmetic_types_int16", "GL_AMD_gpu_shader_int16"],
        "GL_EXT_shader_subgroup_extended_types_int16",
    ),
    Family {
        scalars: &[Scalar::F16],
        storage: &["GL_EXT_shader_16bit_storage"],
        everywhere: &["GL_EXT_shader_explicit_arithmetic_types_float16", "GL_AMD_gpu_shader_half_float"],
        lanes: Some("GL_EXT_shader_subgroup_extended_types_float16"),
    },
    integers(
        &[Scalar::I64, Scalar::U64],
        &[],
        &["GL_EXT_shader_explicit_arithmetic_types_int64", "GL_ARB_gpu_shader_int64"],
        "GL_EXT_shader_subgroup_extended_types_int64",
    ),
    encoded(&[Scalar::BF16], &["GL_EXT_bfloat16"]),
    encoded(&[Scalar::E4M3], &["GL_EXT_float_e4m3"]),
    encoded(&[Scalar::E5M2], &["GL_EXT_float_e5m2"]),
    encoded(&[Scalar::E2M1], &["GL_EXT_float_e2m1"]),
];

/// The family of a scalar; `None` for scalars of the core language.
#[inline(always)]
pub fn family(scalar: Scalar) -> Option<&'static Family> {
    // Nearly all scalars belong to the core language, and need no further test.
    if scalar.width == 32 { None } else { FAMILIES.iter().find(|family| family.scalars.contains(&scalar)) }
}

impl Family {
    /// How far the shader may use it here.
    pub fn allowed(&self, env: &Env<'_>) -> Allowed {
        let any = |names: &[&str]| names.iter().any(|name| env.is_enabled(name));
        match (any(self.everywhere), any(self.storage)) {
            (true, _) => Allowed::Everything,
            (false, true) => Allowed::Storage,
            (false, false) => Allowed::Nothing,
        }
    }

    /// The extension that cross-lane operations on it need and the shader lacks.
    pub fn missing_for_lanes(&self, env: &Env<'_>) -> Option<&'static str> {
        self.lanes.filter(|extension| !env.is_enabled(extension))
    }

    /// The extension to enable.
    pub const fn extension(&self) -> &'static str {
        self.everywhere[0]
    }

    /// A bit for sets of families.
    pub fn bit(&self) -> u8 {
        FAMILIES.iter().zip(0..).find(|(family, _)| std::ptr::eq(*family, self)).map_or(0, |(_, at)| 1 << at)
    }
}

/// The families of a set of [`Family::bit`]s.
pub fn families(bits: u8) -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().filter(move |family| family.bit() & bits != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_have_no_family() {
        for scalar in [Scalar::BOOL, Scalar::I32, Scalar::U32, Scalar::F32, Scalar::F64] {
            assert!(family(scalar).is_none(), "{scalar:?}");
        }
    }

    #[test]
    fn families_have_bits_of_their_own() {
        let bits: Vec<u8> = FAMILIES.iter().map(Family::bit).collect();
        assert_eq!(bits.iter().fold(0, |all, bit| all ^ bit).count_ones(), 8);
        for scalar in FAMILIES.iter().flat_map(|family| family.scalars).copied() {
            let bit = family(scalar).map(Family::bit).expect("an extension brings it");
            assert_eq!(families(bit).count(), 1, "{scalar:?}");
        }
    }
}
