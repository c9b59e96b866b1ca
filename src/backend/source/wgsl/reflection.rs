//! The resources and features that a shader needs from the caller and the device, as JSON.

use crate::backend::reflection::{self, Reflection};
use crate::backend::source::elements::Element;
use crate::backend::source::slots::Role;
use crate::backend::source::writer::Shader;
use crate::backend::{Made, Options};
use crate::ir::Module;
use crate::kernel::{self, LaneContract};
use serde::Serialize;

/// The facts common to all targets, and WebGPU's.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    common: Reflection,
    webgpu: WebGpu,
}

/// The parameters of a device and a pipeline.
#[derive(Serialize)]
struct WebGpu {
    /// Features of the device, by their names in the API.
    features: Vec<&'static str>,
    /// Smallest subgroup for which all operations are defined: the widest segment in the shader.
    least_subgroup_size: u32,
    /// Samplers of the source's combined textures.
    samplers: Vec<Sampler>,
    /// Elements of the source's arrays of resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elements: Vec<Element>,
}

/// A separate sampler.
#[derive(Serialize)]
struct Sampler {
    name: String,
    group: u32,
    binding: u32,
}

/// Device features by language extension (WGSL 4.1.1, Enable Extensions; WebGPU 3.6.1, Features).
const FEATURES: [(&str, &str); 5] = [
    ("subgroups", "subgroups"),
    ("f16", "shader-f16"),
    ("clip_distances", "clip-distances"),
    ("dual_source_blending", "dual-source-blending"),
    ("primitive_index", "primitive-index"),
];

/// The JSON text for a module with a single entry point.
pub(super) fn json(shader: &Shader, module: &Module, options: &Options) -> Made<String> {
    let entry = kernel::only_entry(module).map_err(|error| vec![*error])?;
    let lanes = LaneContract::of_entry(&reflection::settled(module), entry);
    let is_enabled = |extension: &str| shader.extensions().contains(&extension);
    let samplers = shader.slots().iter().filter_map(|slot| match slot.role {
        Role::Sampler(group, binding) => Some(Sampler { name: slot.name.clone(), group, binding }),
        _ => None,
    });
    Ok(reflection::text(&Whole {
        common: Reflection::of(module, entry, options.manner.keep_unused, options.profile.wave_size),
        webgpu: WebGpu {
            features: FEATURES.iter().filter(|(enable, _)| is_enabled(enable)).map(|(_, name)| *name).collect(),
            least_subgroup_size: lanes.least_subgroup_size(),
            samplers: samplers.collect(),
            elements: shader.elements.clone(),
        },
    }))
}
