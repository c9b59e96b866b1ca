//! The dialects, one row each.

use crate::grammar::{ExtensionSet, Overload};
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
    /// True if `#line` may name a file (GL_GOOGLE_cpp_style_line_directive).
    pub names_files: bool,
    /// The language in messages.
    pub language: &'static str,
    pub lanes: Lanes,
}

const KHR: Dialect = Dialect {
    version: "#version 450",
    is_es: false,
    is_vulkan: true,
    names_files: true,
    language: "GLSL",
    lanes: Lanes::Khr,
};
const NV: Dialect =
    Dialect { is_vulkan: false, names_files: false, language: "GLSL for OpenGL", lanes: Lanes::Nv, ..KHR };
const AMD: Dialect = Dialect { lanes: Lanes::Amd, ..KHR };
const ES: Dialect = Dialect { version: "#version 320 es", is_es: true, language: "GLSL ES", lanes: Lanes::Khr, ..NV };

/// The extensions that are written against GLSL ES too, of those that texts name (the registry of Khronos).
const OF_ES: [&str; 18] = [
    "GL_ARM_shader_core_builtins",
    "GL_EXT_blend_func_extended",
    "GL_EXT_clip_cull_distance",
    "GL_EXT_debug_printf",
    "GL_EXT_demote_to_helper_invocation",
    "GL_EXT_fragment_invocation_density",
    "GL_EXT_fragment_shader_barycentric",
    "GL_EXT_fragment_shading_rate",
    "GL_EXT_integer_dot_product",
    "GL_EXT_maximal_reconvergence",
    "GL_EXT_shader_quad_control",
    "GL_EXT_subgroup_uniform_control_flow",
    "GL_EXT_texture_shadow_lod",
    "GL_NV_compute_shader_derivatives",
    "GL_NV_shader_noperspective_interpolation",
    "GL_NV_stereo_view_rendering",
    "GL_NV_viewport_array2",
    "GL_OVR_multiview",
];

/// Extensions of ES that are families: each member's name starts so.
const FAMILIES_OF_ES: [&str; 3] =
    ["GL_EXT_shader_explicit_arithmetic_types_", "GL_EXT_shader_subgroup_extended_types_", "GL_KHR_shader_subgroup_"];

impl Dialect {
    /// Returns true if the dialect has an extension.
    pub fn has_extension(&self, name: &str) -> bool {
        !self.is_es || OF_ES.contains(&name) || FAMILIES_OF_ES.iter().any(|family| name.starts_with(family))
    }

    /// The extensions of which one brings a function or variable to the dialect, none of them where it is there anyway; nothing
    /// where the dialect does not have it.
    pub fn brings(&self, [extensions, earlier]: [ExtensionSet; 2], (core, es): (u16, u16)) -> Option<ExtensionSet> {
        let (since, version) = if self.is_es { (es, 320) } else { (core, 450) };
        let brings = match (extensions.is_empty(), since != 0 && since <= version) {
            (false, _) => extensions,
            (true, true) => return Some(ExtensionSet::default()),
            (true, false) => earlier,
        };
        brings.iter().any(|extension| self.has_extension(extension.name)).then_some(brings)
    }

    /// The extension to name, of several that bring the same.
    pub fn preferred(&self, set: ExtensionSet) -> Option<&'static str> {
        const ORDER: [&str; 3] = ["GL_KHR_", "GL_EXT_", "GL_ARB_"];
        let rank = |name: &str| ORDER.iter().position(|prefix| name.starts_with(prefix)).unwrap_or(ORDER.len());
        let names = set.iter().map(|extension| extension.name).filter(|name| self.has_extension(name));
        names.min_by_key(|name| rank(name))
    }

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
