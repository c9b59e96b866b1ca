//! The requirements of a shader in HLSL to its caller and to the compiler that reads it, as JSON.

use super::tessellation::{is_tessellation, points_in};
use crate::backend::reflection::{self, Reflection};
use crate::backend::source::sets::Moved;
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::writer::Shader;
use crate::backend::{Made, Options};
use crate::ir::{Module, ResourceClass};
use crate::kernel::{self, LaneContract};
use serde::Serialize;

/// The facts common to all targets, and Direct3D's.
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
    /// Smallest wave for which all operations are defined: the widest segment in the shader.
    least_wave_size: u32,
    /// Samplers of the source's combined textures.
    samplers: Vec<Sampler>,
    /// The register of the constant buffer that push constants became.
    #[serde(skip_serializing_if = "Option::is_none")]
    push_constants: Option<Register>,
    /// The register of the constant buffer that starts with the numbers of workgroups in x, y and z.
    #[serde(skip_serializing_if = "Option::is_none")]
    workgroup_count: Option<Register>,
    /// The register of the constant buffer that starts with the first vertex, the first instance and the index of the
    /// draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    draw_parameters: Option<Register>,
    /// The control points of an input patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    control_points: Option<u32>,
    /// The register of each resource.
    registers: Vec<Register>,
}

/// A separate sampler.
#[derive(Serialize)]
struct Sampler {
    name: String,
    group: u32,
    binding: u32,
}

/// A register, with set and binding of its resource in the source; `None` for push constants.
#[derive(Serialize)]
struct Register {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<u32>,
    /// The element of the source's array of resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<u32>,
    register: String,
    space: u32,
}

/// Set and binding of a slot's resource in the source, and which element of an array it is.
fn source_of(slot: &Slot, shader: &Shader) -> Option<((u32, u32), Option<u32>)> {
    let at = slot.role.binding()?;
    let is_block = |row: &&Moved| (row.class == ResourceClass::UniformBlock) == (slot.kind == "b");
    let moved = shader.moved.iter().filter(is_block).find(|row| (0, row.point) == at);
    let at = moved.map_or(at, |row| (row.set, row.binding));
    let Some(element) = shader.elements.iter().find(|element| (element.group, element.binding) == at) else {
        return Some((at, None));
    };
    // The first element has the place of the array.
    let first = shader.elements.iter().find(|first| first.array == element.array && first.element == 0);
    Some((first.map_or(at, |first| (first.group, first.binding)), Some(element.element)))
}

impl Register {
    fn of(slot: &Slot, shader: &Shader) -> Register {
        let source = source_of(slot, shader);
        Register {
            name: slot.name.clone(),
            set: source.map(|((set, _), _)| set),
            binding: source.map(|((_, binding), _)| binding),
            element: source.and_then(|(_, element)| element),
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
    let of = |role| shader.slots().iter().find(|slot| slot.role == role).map(|slot| Register::of(slot, shader));
    let registers = shader.slots().iter().filter(|slot| slot.role.binding().is_some());
    let registers = registers.map(|slot| Register::of(slot, shader));
    let samplers = shader.slots().iter().filter_map(|slot| match slot.role {
        Role::Sampler(..) => {
            let ((group, binding), _) = source_of(slot, shader)?;
            Some(Sampler { name: slot.name.clone(), group, binding })
        }
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
