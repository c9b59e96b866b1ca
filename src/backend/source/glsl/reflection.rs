//! The requirements of a shader in GLSL to its caller and to the compiler that reads it, as JSON.

use crate::backend::reflection::{self, Reflection};
use crate::backend::source::combine::Pair;
use crate::backend::source::sets::{Moved, Point};
use crate::backend::source::writer::Shader;
use crate::backend::{Made, Options};
use crate::ir::Module;
use crate::kernel::{self, LaneContract};
use crate::profile::WaveSize;
use serde::Serialize;

/// The facts common to all targets, and GLSL's.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    common: Reflection,
    glsl: Glsl,
}

/// The text's requirements for its compiler and the device.
#[derive(Serialize)]
struct Glsl {
    /// Extensions that the text requires, by name.
    extensions: Vec<&'static str>,
    /// Smallest subgroup for which all operations are defined: the widest segment in the shader, or more if promised.
    least_subgroup_size: u32,
    /// The subgroup size that the text is written for; absent for any.
    #[serde(skip_serializing_if = "Option::is_none")]
    required_subgroup_size: Option<u32>,
    /// Variables that a texture and a sampler of the source became.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    combined: Vec<Pair>,
    /// Resources whose binding point differs from their binding in set 0 of the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moved: Vec<Moved>,
    /// Resources without a binding point in the text, and the points that the host must assign by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_name: Vec<Point>,
}

/// The JSON text for a module with a single entry point.
pub(super) fn json(shader: &Shader, module: &Module, options: &Options) -> Made<String> {
    let entry = kernel::only_entry(module).map_err(|error| vec![*error])?;
    let lanes = LaneContract::of_entry(&reflection::settled(module), entry);
    Ok(reflection::text(&Whole {
        common: Reflection::of(module, entry, options.manner.keep_unused, options.profile.wave_size),
        glsl: Glsl {
            extensions: shader.extensions().to_vec(),
            least_subgroup_size: lanes.least_of(&options.profile),
            required_subgroup_size: options.profile.promise.and_then(WaveSize::lanes),
            combined: shader.pairs.clone(),
            moved: shader.moved.clone(),
            by_name: shader.points.clone(),
        },
    }))
}
