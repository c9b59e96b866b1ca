//! Command-line options that change the front end, like those of glslc and glslang.

use super::token::GlslProfile;
use crate::ir::{ImageDim, Module, Space, Stage, Type, TypeId};

/// How a shader is read.
#[derive(Clone, Default, Debug)]
pub struct Dialect {
    /// Version that overrides the shader's own.
    pub version: Option<(u16, GlslProfile)>,
    /// Set if a shader is also warned about when only one of its `#version` line and that version names a profile: true
    /// if the version does.
    pub names_profile: Option<bool>,
    /// Name of the entry point in the module, instead of `main`.
    pub entry_name: Option<String>,
    /// Text that is read after the `#version` line.
    pub preamble: Option<String>,
    /// The stage must be named: it is not compute by default.
    pub needs_stage: bool,
    /// Resources without a binding get the next free one.
    pub auto_bindings: bool,
    /// Inputs and outputs without a location get the next one, and so do uniforms outside blocks.
    pub auto_locations: bool,
    /// The first location of uniforms, and the locations of some by name.
    pub uniform_base: u32,
    pub uniform_locations: Vec<(String, u32)>,
    pub bases: Vec<BindingBase>,
}

/// The offset added to the bindings of one kind of resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BindingBase {
    pub kind: ResourceKind,
    /// `None` for all stages.
    pub stage: Option<Stage>,
    /// `None` for all descriptor sets.
    pub set: Option<u32>,
    pub base: u32,
}

/// Kinds of resources with separate bases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResourceKind {
    Uniform,
    Storage,
    Texture,
    Sampler,
    Image,
}

impl ResourceKind {
    /// The kind of a variable; `None` if no base applies to it.
    pub fn of(module: &Module, space: Space, ty: TypeId) -> Option<ResourceKind> {
        match (space, module.types.get(ty)) {
            (Space::Uniform, _) => Some(ResourceKind::Uniform),
            (Space::Storage, _) => Some(ResourceKind::Storage),
            (_, Type::Array { element, .. }) => ResourceKind::of(module, space, element),
            (_, Type::Sampler) => Some(ResourceKind::Sampler),
            (_, Type::SampledImage(_)) => Some(ResourceKind::Texture),
            (_, Type::Image(image)) if image.storage && image.dim != ImageDim::SubpassInput => {
                Some(ResourceKind::Image)
            }
            (_, Type::Image(_)) => Some(ResourceKind::Texture),
            _ => None,
        }
    }
}

impl Dialect {
    /// The first binding for a kind of resource; the last option that names it counts.
    pub fn base(&self, kind: Option<ResourceKind>, stage: Stage, set: u32) -> u32 {
        let fits = |base: &&BindingBase| {
            Some(base.kind) == kind
                && base.stage.is_none_or(|only| only == stage)
                && base.set.is_none_or(|only| only == set)
        };
        self.bases.iter().rev().find(fits).map_or(0, |base| base.base)
    }
}

/// A version and a profile in one word, as in `450core` and `310es`.
pub fn version(text: &str) -> Option<(u16, GlslProfile)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let profile = match &text[digits..] {
        "" | "core" => GlslProfile::Core,
        "compatibility" => GlslProfile::Compatibility,
        "es" => GlslProfile::Es,
        _ => return None,
    };
    Some((text[..digits].parse().ok()?, profile))
}
