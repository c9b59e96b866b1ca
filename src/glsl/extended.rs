//! Scalars that only extensions bring, and how far each extension goes: GL_EXT_shader_8bit_storage and its kin let blocks
//! hold a type and constructors convert it, GL_EXT_shader_explicit_arithmetic_types and its kin let everything have it.

use super::env::Env;
use crate::ir::{Scalar, ScalarKind};

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
    integer: bool,
    width: u8,
    storage: &'static [&'static str],
    everywhere: &'static [&'static str],
    /// The extension that lets cross-lane operations work on it.
    lanes: &'static str,
}

static FAMILIES: [Family; 4] = [
    Family {
        integer: true,
        width: 8,
        storage: &["GL_EXT_shader_8bit_storage"],
        everywhere: &["GL_EXT_shader_explicit_arithmetic_types_int8"],
        lanes: "GL_EXT_shader_subgroup_extended_types_int8",
    },
    Family {
        integer: true,
        width: 16,
        storage: &["GL_EXT_shader_16bit_storage"],
        everywhere: &["GL_EXT_shader_explicit_arithmetic_types_int16", "GL_AMD_gpu_shader_int16"],
        lanes: "GL_EXT_shader_subgroup_extended_types_int16",
    },
    Family {
        integer: false,
        width: 16,
        storage: &["GL_EXT_shader_16bit_storage"],
        everywhere: &["GL_EXT_shader_explicit_arithmetic_types_float16", "GL_AMD_gpu_shader_half_float"],
        lanes: "GL_EXT_shader_subgroup_extended_types_float16",
    },
    Family {
        integer: true,
        width: 64,
        storage: &[],
        everywhere: &["GL_EXT_shader_explicit_arithmetic_types_int64", "GL_ARB_gpu_shader_int64"],
        lanes: "GL_EXT_shader_subgroup_extended_types_int64",
    },
];

/// The family of a scalar; none for those of the language itself.
#[inline(always)]
pub fn family(scalar: Scalar) -> Option<&'static Family> {
    // Nearly all scalars are the language's own, and no more than this is asked of them.
    if scalar.width == 32 { None } else { unusual_family(scalar) }
}

fn unusual_family(scalar: Scalar) -> Option<&'static Family> {
    let integer = match scalar.kind {
        ScalarKind::Bool => return None,
        kind => kind != ScalarKind::Float,
    };
    FAMILIES.iter().find(|family| family.integer == integer && family.width == scalar.width)
}

impl Family {
    /// How much of it the shader may use here.
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
        (!env.is_enabled(self.lanes)).then_some(self.lanes)
    }

    /// The extension to ask for.
    pub const fn extension(&self) -> &'static str {
        self.everywhere[0]
    }

    /// A bit for sets of families.
    pub const fn bit(&self) -> u8 {
        match (self.integer, self.width) {
            (true, 8) => 1,
            (true, 16) => 2,
            (false, _) => 4,
            (true, _) => 8,
        }
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
        assert_eq!(bits.iter().fold(0, |all, bit| all ^ bit).count_ones(), 4);
        for scalar in [Scalar::I8, Scalar::U8, Scalar::I16, Scalar::U16, Scalar::F16, Scalar::I64, Scalar::U64] {
            let bit = family(scalar).map(Family::bit).expect("an extension brings it");
            assert_eq!(families(bit).count(), 1, "{scalar:?}");
        }
    }
}
