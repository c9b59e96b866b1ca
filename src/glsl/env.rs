//! The state at a point of a shader: language version, stage, target, and the enabled extensions.

use super::dialect::Dialect;
use super::token::{ExtensionBehavior, GlslProfile, Version};
use crate::grammar::{self, ExtensionSet, Stages};
use crate::ir::{DerivativeGroup, Stage};
use crate::profile::Profile;
use std::borrow::Cow;

/// A shader without dialect options.
static PLAIN: Dialect = Dialect {
    version: None,
    names_profile: None,
    entry_name: None,
    preamble: None,
    needs_stage: false,
    auto_bindings: false,
    auto_locations: false,
    uniform_base: 0,
    uniform_locations: Vec::new(),
    bases: Vec::new(),
};

/// The language as the shader has chosen it so far.
#[derive(Clone, Debug)]
pub struct Env<'a> {
    pub version: Version,
    pub stage: Stage,
    pub profile: &'a Profile,
    /// Lanes of a subgroup, if the profile or the shader states them.
    pub wave_size: Option<u32>,
    /// Options of the command line that change how the shader is read.
    pub dialect: &'a Dialect,
    pub extensions: ExtensionSet,
    /// The derivative group of a compute shader, from any of its layouts.
    pub derivatives: Option<DerivativeGroup>,
}

impl<'a> Env<'a> {
    pub fn new(version: Version, stage: Stage, profile: &'a Profile) -> Env<'a> {
        let (dialect, extensions) = (&PLAIN, ExtensionSet::default());
        let wave_size = profile.wave_size;
        Env { version, stage, profile, wave_size, dialect, extensions, derivatives: None }
    }

    /// Obeys an `#extension` line. Unknown names have been reported by the preprocessor.
    pub fn apply(&mut self, name: &str, behavior: ExtensionBehavior) {
        match (grammar::extension(name), behavior) {
            (Some(extension), ExtensionBehavior::Disable) => self.extensions.disable(extension),
            (Some(extension), _) => self.extensions.enable(extension),
            (None, ExtensionBehavior::Disable) if name == "all" => self.extensions = ExtensionSet::default(),
            (None, _) => {}
        }
    }

    pub fn is_enabled(&self, extension: &str) -> bool {
        self.extensions.contains(extension)
    }

    /// Returns true if one of the extensions is enabled, or if the set is empty.
    pub fn has_any(&self, wanted: ExtensionSet) -> bool {
        wanted.is_empty() || self.extensions.intersects(wanted)
    }

    /// Returns true if invocations have neighbours for derivatives.
    pub fn has_quads(&self) -> bool {
        self.stage == Stage::Fragment || self.derivatives.is_some()
    }

    pub fn is_es(&self) -> bool {
        self.version.profile == GlslProfile::Es
    }

    /// Returns true if the version includes features introduced in core `core` and ES `es`; 0 means "never". Compute
    /// shaders of earlier versions follow GL_ARB_compute_shader, which has everything in 4.30.
    pub fn has_version(&self, core: u16, es: u16) -> bool {
        let since = if self.is_es() { es } else { core };
        let compute = self.stage == Stage::Compute && !self.is_es();
        let number = if compute { self.version.number.max(430) } else { self.version.number };
        since != 0 && number >= since
    }

    pub fn has_stage(&self, stages: Stages) -> bool {
        stages.contains(self.stage)
    }

    /// Returns true if the shader is a task or mesh shader of GL_NV_mesh_shader.
    pub fn has_nvidia_meshes(&self) -> bool {
        matches!(self.stage, Stage::Task | Stage::Mesh) && self.is_enabled("GL_NV_mesh_shader")
    }

    /// Returns true if the shader uses GL_NV_ray_tracing and no other form of ray tracing.
    pub fn has_nvidia_rays(&self) -> bool {
        self.stage.is_of_rays() && self.is_enabled("GL_NV_ray_tracing") && !self.is_enabled("GL_EXT_ray_tracing")
    }

    /// The name of a limit of mesh shading, in the form that the shader uses.
    pub fn mesh_limit(&self, name: &'static str) -> Cow<'static, str> {
        match (name.strip_suffix("EXT"), self.has_nvidia_meshes()) {
            (Some(stem), true) => Cow::Owned(format!("{stem}NV")),
            _ => Cow::Borrowed(name),
        }
    }

    /// GLSL ES has no implicit conversions (GLSL ES 3.20 section 4.1.10), unless an extension enables them.
    pub fn implicit_conversions(&self) -> bool {
        !self.is_es() || self.is_enabled("GL_EXT_shader_implicit_conversions")
    }

    /// Returns true if names such as `float32_t` are types.
    pub fn has_explicit_types(&self) -> bool {
        self.extensions.iter().any(|extension| extension.name.starts_with("GL_EXT_shader_explicit_arithmetic_types"))
    }
}
