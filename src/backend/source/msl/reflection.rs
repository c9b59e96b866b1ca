//! The requirements of a shader in MSL to its caller, as JSON.

use crate::backend::reflection::{self, Reflection};
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::writer::Shader;
use crate::backend::{Made, Options};
use crate::ir::Module;
use crate::kernel;
use serde::Serialize;

/// The facts of every target with those of Metal.
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
    /// The buffers whose bytes the buffer of sizes has, a word each, in order.
    sizes: Vec<String>,
    /// Samplers that textures of the source brought with them.
    samplers: Vec<Sampler>,
    /// The number of each resource among those of its kind.
    slots: Vec<Numbered>,
}

/// A sampler that is a variable of its own.
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
    /// Set and binding in the source; none for push constants and the buffer of sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<u32>,
    kind: &'static str,
    index: u32,
    /// The numbers that an array takes, from `index` on.
    #[serde(skip_serializing_if = "is_one")]
    count: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

impl Numbered {
    fn of(slot: &Slot) -> Numbered {
        Numbered {
            name: slot.name.clone(),
            set: slot.role.binding().map(|(set, _)| set),
            binding: slot.role.binding().map(|(_, binding)| binding),
            kind: slot.kind,
            index: slot.index,
            count: slot.count,
        }
    }
}

/// The JSON text for a module with a single entry point.
pub(super) fn json(shader: &Shader, module: &Module, options: &Options) -> Made<String> {
    let entry = kernel::only_entry(module).map_err(|error| vec![*error])?;
    let (major, minor) = options.profile.version;
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
            slots: shader.slots().iter().map(Numbered::of).collect(),
        },
    }))
}
