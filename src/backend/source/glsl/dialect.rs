//! The dialects, one row each.

use crate::grammar::Overload;
use crate::profile::{Feature, Profile};

/// The functions for cross-lane operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::backend::source) enum Lanes {
    /// GL_KHR_shader_subgroup_*.
    Khr,
    /// GL_NV_shader_thread_shuffle, GL_NV_shader_thread_group, GL_NV_gpu_shader5.
    Nv,
    /// GL_ARB_shader_ballot, GL_ARB_shader_group_vote, GL_AMD_shader_ballot.
    Amd,
}

/// The differences between the dialects of GLSL.
#[derive(Debug)]
pub(in crate::backend::source) struct Dialect {
    /// The line that begins the text.
    pub version: &'static str,
    pub is_es: bool,
    /// Returns true if it is for Vulkan: sets, push constants, specialization constants, textures apart from samplers.
    pub is_vulkan: bool,
    /// The language in messages.
    pub language: &'static str,
    pub lanes: Lanes,
}

const KHR: Dialect =
    Dialect { version: "#version 450", is_es: false, is_vulkan: true, language: "GLSL", lanes: Lanes::Khr };
const NV: Dialect = Dialect { is_vulkan: false, language: "GLSL for OpenGL", lanes: Lanes::Nv, ..KHR };
const AMD: Dialect = Dialect { lanes: Lanes::Amd, ..KHR };
const ES: Dialect = Dialect { version: "#version 320 es", is_es: true, language: "GLSL ES", lanes: Lanes::Khr, ..NV };

impl Dialect {
    pub fn of(profile: &Profile) -> &'static Dialect {
        match profile.version {
            (3, _) => &ES,
            _ if profile.has(Feature::GlslNvThreads) => &NV,
            _ if profile.has(Feature::ShaderBallotAmd) => &AMD,
            _ => &KHR,
        }
    }
}

/// Returns true if other compilers have a function too: it is one of the language or of an extension that is not crosslane's.
pub(super) fn is_common(row: &Overload) -> bool {
    row.glsl && !matches!(row.dialect, "portable" | "quadrants")
}
