//! The dialects, one row each.

use super::versions::Since;
use crate::backend::source::writer::Writer;
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
    /// The version, such as 450.
    pub number: u16,
    pub is_es: bool,
    /// True for Vulkan: sets, push constants, specialization constants, separate textures and samplers.
    pub is_vulkan: bool,
    /// True if `#line` may name a file (GL_GOOGLE_cpp_style_line_directive).
    pub names_files: bool,
    /// The language in messages.
    pub language: &'static str,
    pub lanes: Lanes,
}

const VULKAN: Dialect =
    Dialect { number: 450, is_es: false, is_vulkan: true, names_files: true, language: "GLSL", lanes: Lanes::Khr };
const OPENGL: Dialect = Dialect { is_vulkan: false, names_files: false, language: "GLSL for OpenGL", ..VULKAN };
const ES: Dialect = Dialect { is_es: true, language: "GLSL ES", ..OPENGL };

static DIALECTS: [Dialect; 15] = [
    VULKAN,
    Dialect { number: 460, ..VULKAN },
    Dialect { lanes: Lanes::Amd, ..VULKAN },
    Dialect { lanes: Lanes::Nv, ..OPENGL },
    Dialect { number: 330, ..OPENGL },
    Dialect { number: 400, ..OPENGL },
    Dialect { number: 410, ..OPENGL },
    Dialect { number: 420, ..OPENGL },
    Dialect { number: 430, ..OPENGL },
    Dialect { number: 440, ..OPENGL },
    OPENGL,
    Dialect { number: 460, ..OPENGL },
    Dialect { number: 300, ..ES },
    Dialect { number: 310, ..ES },
    Dialect { number: 320, ..ES },
];

/// The first versions of GLSL for OpenGL and of GLSL ES that an extension supports; 0 for none (Khronos' registry). A
/// name that ends in `_` is a family's.
const EXTENSIONS: [(&str, u16, u16); 37] = [
    ("GL_ARB_derivative_control", 400, 0),
    ("GL_ARB_fragment_shader_interlock", 450, 0),
    ("GL_ARB_gpu_shader_int64", 450, 0),
    ("GL_ARB_shader_texture_image_samples", 430, 0),
    ("GL_ARB_sparse_texture2", 450, 0),
    ("GL_ARB_sparse_texture_clamp", 450, 0),
    ("GL_ARM_shader_core_builtins", 450, 300),
    ("GL_EXT_blend_func_extended", 0, 300),
    ("GL_EXT_clip_cull_distance", 0, 300),
    ("GL_EXT_debug_printf", 450, 310),
    ("GL_EXT_demote_to_helper_invocation", 450, 310),
    ("GL_EXT_fragment_invocation_density", 450, 310),
    ("GL_EXT_fragment_shader_barycentric", 450, 320),
    ("GL_EXT_fragment_shading_rate", 450, 310),
    ("GL_EXT_geometry_point_size", 0, 310),
    ("GL_EXT_gpu_shader5", 0, 310),
    ("GL_EXT_integer_dot_product", 450, 310),
    ("GL_EXT_maximal_reconvergence", 450, 310),
    // Only for Vulkan.
    ("GL_EXT_nonuniform_qualifier", 0, 0),
    ("GL_EXT_shader_atomic_float", 450, 0),
    ("GL_EXT_shader_atomic_float2", 450, 0),
    ("GL_EXT_shader_image_int64", 450, 0),
    ("GL_EXT_shader_quad_control", 450, 310),
    ("GL_EXT_subgroup_uniform_control_flow", 450, 310),
    ("GL_EXT_tessellation_point_size", 0, 310),
    ("GL_EXT_texture_shadow_lod", 450, 320),
    ("GL_NV_compute_shader_derivatives", 450, 320),
    ("GL_NV_shader_noperspective_interpolation", 0, 300),
    // Only for NVIDIA's hardware.
    ("GL_NV_shader_thread_group", 0, 0),
    ("GL_NV_stereo_view_rendering", 450, 310),
    ("GL_NV_viewport_array2", 450, 310),
    ("GL_NVX_multiview_per_view_attributes", 450, 320),
    ("GL_OES_gpu_shader5", 0, 310),
    ("GL_OVR_multiview", 330, 300),
    ("GL_EXT_shader_explicit_arithmetic_types_", 450, 310),
    ("GL_EXT_shader_subgroup_extended_types_", 450, 310),
    ("GL_KHR_shader_subgroup_", 330, 310),
];

impl Dialect {
    /// The first line of the text, with this version or a later one that an extension needs.
    pub fn version_line(&self, least: u16) -> String {
        format!("#version {}{}", self.number.max(least), if self.is_es { " es" } else { "" })
    }

    /// Returns true if the dialect has an extension.
    pub fn has_extension(&self, name: &str) -> bool {
        if self.is_vulkan || self.lanes == Lanes::Nv {
            return true;
        }
        let is_of = |own: &str| own == name || own.ends_with('_') && name.starts_with(own);
        match EXTENSIONS.iter().find(|(own, ..)| is_of(own)) {
            Some((_, core, es)) => {
                let since = if self.is_es { *es } else { *core };
                since != 0 && since <= self.number
            }
            None if self.is_es => Since::all().any(|since| since.es.brings(self.number, name)),
            // Only ES extensions add features to GLSL ES.
            None => !name.starts_with("GL_OES_") && !Since::all().any(|since| since.es.is_by(name)),
        }
    }

    /// The extensions, one of which adds a function or variable to the dialect; empty if the dialect already has it,
    /// `None` if it cannot have it.
    pub fn brings(&self, [extensions, earlier]: [ExtensionSet; 2], (core, es): (u16, u16)) -> Option<ExtensionSet> {
        let since = if self.is_es { es } else { core };
        let brings = match (extensions.is_empty(), since != 0 && since <= self.number) {
            (false, _) => extensions,
            (true, true) => return Some(ExtensionSet::default()),
            (true, false) => earlier,
        };
        brings.iter().any(|extension| self.has_extension(extension.name)).then_some(brings)
    }

    /// The words for the first version with a function, if there is one.
    pub fn before(&self, (core, es): (u16, u16)) -> String {
        match if self.is_es { es } else { core } {
            since if since > self.number => format!(" before version {since}"),
            _ => String::new(),
        }
    }

    /// The extension to name, if several provide the same feature.
    pub fn preferred(&self, set: ExtensionSet) -> Option<&'static str> {
        const ORDER: [&str; 3] = ["GL_KHR_", "GL_EXT_", "GL_ARB_"];
        let rank = |name: &str| ORDER.iter().position(|prefix| name.starts_with(prefix)).unwrap_or(ORDER.len());
        let names = set.iter().map(|extension| extension.name).filter(|name| self.has_extension(name));
        names.min_by_key(|name| rank(name))
    }

    /// Requires a part of the language: enables the extension that adds it to earlier versions, or refuses it.
    pub fn require(&self, t: &mut Writer, part: &'static Since) {
        let row = if self.is_es { &part.es } else { &part.core };
        match row.extension {
            _ if row.version != 0 && row.version <= self.number => {}
            Some((since, extension)) if since <= self.number => t.need(extension),
            _ if row.version == 0 => t.lacks(part.what),
            _ => t.lacks(&format!("{} before version {}", part.what, row.version)),
        }
    }

    /// Returns true if the dialect has a part of the language, possibly through an extension.
    pub fn has(&self, part: &Since) -> bool {
        let row = if self.is_es { &part.es } else { &part.core };
        row.version != 0 && row.version <= self.number || row.extension.is_some_and(|(since, _)| since <= self.number)
    }

    /// The row of a profile: its API and version, or the newest older version.
    pub fn of(profile: &Profile) -> &'static Dialect {
        let (major, minor) = profile.version;
        let number = u16::from(major) * 100 + u16::from(minor);
        let [is_opengl, is_es] = [Feature::Opengl, Feature::Es].map(|feature| profile.has(feature));
        let lanes = match profile {
            _ if profile.has(Feature::GlslNvThreads) => Lanes::Nv,
            _ if profile.has(Feature::ShaderBallotAmd) => Lanes::Amd,
            _ => Lanes::Khr,
        };
        let is_api = |row: &&Dialect| (row.is_es, row.is_vulkan, row.lanes) == (is_es, !is_opengl && !is_es, lanes);
        let rows = || DIALECTS.iter().filter(is_api);
        let newest = rows().filter(|row| row.number <= number).max_by_key(|row| row.number);
        newest.or_else(|| rows().min_by_key(|row| row.number)).unwrap_or(&VULKAN)
    }
}

/// Returns true if other compilers have a function too: it belongs to the language or to an extension that is not
/// crosslane's.
pub(super) fn is_common(row: &Overload) -> bool {
    row.glsl && !matches!(row.dialect, "portable" | "workgroup" | "quadrants")
}
