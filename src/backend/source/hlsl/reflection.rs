//! The requirements of a shader in HLSL to its caller and to the compiler that reads it, as JSON.

use super::tessellation::{is_tessellation, points_in};
use crate::backend::reflection::{self, Reflection};
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::writer::Shader;
use crate::backend::{Made, Options};
use crate::ir::Module;
use crate::kernel::{self, LaneContract};
use serde::Serialize;

/// The facts of every target with those of Direct3D.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    common: Reflection,
    direct3d: Direct3d,
}

/// The parameters of a compiler and a root signature.
#[derive(Serialize)]
struct Direct3d {
    /// The Shader Model, such as `6.5`.
    shader_model: String,
    /// Fewest lanes of a wave with which all operations are defined: the widest segment in the shader.
    least_wave_size: u32,
    /// Samplers that textures of the source brought with them.
    samplers: Vec<Sampler>,
    /// The register of the constant buffer that push constants became.
    #[serde(skip_serializing_if = "Option::is_none")]
    push_constants: Option<Register>,
    /// The register of the constant buffer whose first words are the numbers of workgroups in x, y and z.
    #[serde(skip_serializing_if = "Option::is_none")]
    workgroup_count: Option<Register>,
    /// The register of the constant buffer whose first words are the first vertex, the first instance and the number of the draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    draw_parameters: Option<Register>,
    /// The control points of a patch that comes in.
    #[serde(skip_serializing_if = "Option::is_none")]
    control_points: Option<u32>,
    /// The register of each resource.
    registers: Vec<Register>,
}

/// A sampler that is a variable of its own.
#[derive(Serialize)]
struct Sampler {
    name: String,
    group: u32,
    binding: u32,
}

/// A register, with set and binding of its resource in the source; none for push constants.
#[derive(Serialize)]
struct Register {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<u32>,
    register: String,
    space: u32,
}

impl Register {
    fn of(slot: &Slot) -> Register {
        Register {
            name: slot.name.clone(),
            set: slot.role.binding().map(|(set, _)| set),
            binding: slot.role.binding().map(|(_, binding)| binding),
            register: format!("{}{}", slot.kind, slot.index),
            space: slot.space,
        }
    }
}

/// The JSON text for a module with a single entry point.
pub(super) fn json(shader: &Shader, module: &Module, options: &Options) -> Made<String> {
    let entry = kernel::only_entry(module).map_err(|error| vec![*error])?;
    let lanes = LaneContract::of_entry(&reflection::settled(module), entry);
    let common = Reflection::of(module, entry, options.manner.keep_unused, options.profile.wave_size);
    let (major, minor) = options.profile.version;
    let of = |role| shader.slots().iter().find(|slot| slot.role == role).map(Register::of);
    let registers = shader.slots().iter().filter(|slot| slot.role.binding().is_some()).map(Register::of);
    let samplers = shader.slots().iter().filter_map(|slot| match slot.role {
        Role::Sampler(group, binding) => Some(Sampler { name: slot.name.clone(), group, binding }),
        _ => None,
    });
    Ok(reflection::text(&Whole {
        direct3d: Direct3d {
            shader_model: format!("{major}.{minor}"),
            least_wave_size: lanes.least_subgroup_size(),
            samplers: samplers.collect(),
            push_constants: of(Role::PushConstants),
            workgroup_count: of(Role::WorkgroupCount),
            draw_parameters: of(Role::DrawParameters),
            control_points: Some(entry)
                .filter(|entry| is_tessellation(entry.stage))
                .and_then(|entry| points_in(module, entry)),
            registers: registers.collect(),
        },
        common,
    }))
}
