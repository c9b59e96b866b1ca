//! The requirements of a shader in MSL to its caller, as JSON.

use super::argument_buffers::{ArgumentBuffer, ID};
use super::crowds::{Part, Record};
use super::tessellation::{Fetched, Tessellation};
use crate::backend::reflection::{self, Reflection};
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::writer::Shader;
use crate::backend::{Made, Options};
use crate::ir::{EntryPoint, Module, PrimitiveMode, Stage};
use crate::kernel;
use serde::Serialize;

/// The facts common to all targets, and Metal's.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    common: Reflection,
    metal: Metal,
}

/// The parameters of a compiler and a pipeline.
#[derive(Serialize)]
struct Metal {
    /// The version of the language, such as `2.1`.
    language: String,
    /// The name of the entry point in the text.
    function: String,
    /// The buffers whose sizes in bytes are in the buffer of sizes, one word each, in order.
    sizes: Vec<String>,
    /// Samplers of the source's combined textures.
    samplers: Vec<Sampler>,
    /// The number of each resource within its kind.
    slots: Vec<Numbered>,
    /// The descriptor sets that are argument buffers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    argument_buffers: Vec<Set>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tessellation: Option<Tessellated>,
    /// Bytes of the payload that object functions hand to mesh functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_bytes: Option<u32>,
}

/// The properties of a pipeline with tessellation, and the values passed between its stages.
#[derive(Serialize)]
struct Tessellated {
    /// The patch type: `triangle` or `quad`; `None` for vertex stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<&'static str>,
    /// The struct of a patch's factors in their buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    factors: Option<&'static str>,
    /// Control points of a patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    control_points: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition_mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winding: Option<&'static str>,
    /// The attributes of the vertex descriptor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<Attribute>,
    /// The structs that are in buffers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    structs: Vec<Laid>,
}

#[derive(Serialize)]
struct Attribute {
    number: u32,
    /// `control_point` and `patch` for the step functions of these names, `factors` for one per patch in the buffer of
    /// factors.
    step: &'static str,
    #[serde(flatten)]
    part: Place,
}

/// A struct in a buffer.
#[derive(Serialize)]
struct Laid {
    /// The buffer that contains them consecutively.
    buffer: String,
    stride: u32,
    members: Vec<Member>,
}

#[derive(Serialize)]
struct Member {
    offset: u32,
    #[serde(flatten)]
    part: Place,
}

/// A vector or scalar passed between stages.
#[derive(Serialize)]
struct Place {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<u32>,
    #[serde(skip_serializing_if = "is_zero")]
    component: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    built_in: Option<String>,
}

impl Place {
    fn of(part: &Part) -> Place {
        let built_in = part.built_in.map(|of| format!("{of:?}"));
        let (location, component) = (part.location.filter(|_| built_in.is_none()), part.component);
        Place { name: part.name.clone(), ty: part.text.clone(), location, component, built_in }
    }
}

impl Tessellated {
    fn of(facts: &Tessellation, entry: &EntryPoint) -> Option<Tessellated> {
        let is_one = matches!(entry.stage, Stage::TessControl | Stage::TessEvaluation);
        if !is_one && facts.records.is_empty() {
            return None;
        }
        let find = |rows: &[(PrimitiveMode, &'static str)]| {
            rows.iter().find(|(mode, _)| entry.primitives.contains(mode)).map(|(_, word)| *word)
        };
        let attribute = |of: &Fetched| Attribute { number: of.number, step: of.step, part: Place::of(&of.part) };
        let laid = |record: &Record| Laid {
            buffer: record.buffer.clone(),
            stride: record.stride,
            members: record.parts.iter().map(|part| Member { offset: part.offset, part: Place::of(part) }).collect(),
        };
        Some(Tessellated {
            domain: is_one.then(|| facts.domain.word()),
            factors: is_one.then(|| facts.domain.factors()),
            control_points: facts.points,
            partition_mode: find(&[
                (PrimitiveMode::SpacingEqual, "integer"),
                (PrimitiveMode::SpacingFractionalOdd, "fractional_odd"),
                (PrimitiveMode::SpacingFractionalEven, "fractional_even"),
            ]),
            winding: find(&[
                (PrimitiveMode::VertexOrderCw, "clockwise"),
                (PrimitiveMode::VertexOrderCcw, "counter_clockwise"),
            ]),
            attributes: facts.attributes.iter().map(attribute).collect(),
            structs: facts.records.iter().map(laid).collect(),
        })
    }
}

/// A separate sampler.
#[derive(Serialize)]
struct Sampler {
    name: String,
    group: u32,
    binding: u32,
}

/// A resource with its number.
#[derive(Serialize)]
struct Numbered {
    name: String,
    /// Set and binding in the source; `None` for push constants and the buffer of sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<u32>,
    kind: &'static str,
    /// The role of a buffer between stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    index: u32,
    /// The number of indices of an array, from `index` on.
    #[serde(skip_serializing_if = "is_one")]
    count: u32,
}

/// A descriptor set as an argument buffer.
#[derive(Serialize)]
struct Set {
    set: u32,
    name: String,
    /// The number of the buffer.
    index: u32,
    members: Vec<Held>,
}

/// A resource in an argument buffer.
#[derive(Serialize)]
struct Held {
    name: String,
    set: u32,
    binding: u32,
    kind: &'static str,
    id: u32,
    /// The number of ids of an array, from the first one on.
    #[serde(skip_serializing_if = "is_one")]
    count: u32,
}

impl Set {
    fn of(shader: &Shader, buffer: &ArgumentBuffer) -> Option<Set> {
        let own = shader.slots().iter().find(|slot| slot.role == Role::ArgumentBuffer(buffer.set))?;
        let held = |(slot, kind): &(Slot, &'static str)| {
            let (set, binding) = slot.role.binding()?;
            Some(Held { name: slot.name.clone(), set, binding, kind, id: slot.index, count: slot.count })
        };
        let members = buffer.members.iter().filter_map(held).collect();
        Some(Set { set: buffer.set, name: own.name.clone(), index: own.index, members })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

impl Numbered {
    fn of(slot: &Slot) -> Numbered {
        Numbered {
            name: slot.name.clone(),
            set: match slot.role {
                Role::ArgumentBuffer(set) => Some(set),
                role => role.binding().map(|(set, _)| set),
            },
            binding: slot.role.binding().map(|(_, binding)| binding),
            kind: slot.kind,
            role: match slot.role {
                Role::Stage(role) => Some(role),
                Role::DrawParameters => Some("draw_parameters"),
                Role::ArgumentBuffer(_) => Some("argument_buffer"),
                _ => None,
            },
            index: slot.index,
            count: slot.count,
        }
    }
}

/// The JSON text for a module with a single entry point.
pub(super) fn json(shader: &Shader, module: &Module, options: &Options) -> Made<String> {
    let entry = kernel::only_entry(module).map_err(|error| vec![*error])?;
    let (major, minor) = options.profile.version;
    let buffers = shader.msl().argument_buffers.iter().filter_map(|buffer| Set::of(shader, buffer));
    let samplers = shader.slots().iter().filter_map(|slot| match slot.role {
        Role::Sampler(group, binding) => Some(Sampler { name: slot.name.clone(), group, binding }),
        _ => None,
    });
    Ok(reflection::text(&Whole {
        common: Reflection::of(module, entry, options.manner.keep_unused, options.profile.wave_size),
        metal: Metal {
            language: format!("{major}.{minor}"),
            function: shader.entry().to_string(),
            sizes: shader.sized().to_vec(),
            samplers: samplers.collect(),
            slots: shader.slots().iter().filter(|slot| slot.kind != ID).map(Numbered::of).collect(),
            argument_buffers: buffers.collect(),
            tessellation: Tessellated::of(&shader.msl().tessellation, entry),
            payload_bytes: shader.msl().mesh.payload,
        },
    }))
}
