//! Built-in values that the Shader Model does not have, in constant buffers.

use super::Hlsl;
use super::globals::LAST_CONSTANTS;
use super::stage::system_value;
use crate::backend::source::host::HostBlock;
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::writer::Writer;
use crate::ir::{BuiltIn, DepthPromise};

/// The register space of the constant buffers, which is otherwise unused.
const HOST_SPACE: u32 = 254;

static BLOCKS: [HostBlock; 2] = [
    HostBlock {
        name: "DispatchSize",
        role: Role::WorkgroupCount,
        index: 0,
        values: &[(BuiltIn::NumWorkgroups, "uint3", "workgroups")],
    },
    HostBlock {
        name: "DrawParameters",
        role: Role::DrawParameters,
        index: 1,
        values: &[
            (BuiltIn::BaseVertex, "int", "base_vertex"),
            (BuiltIn::BaseInstance, "int", "base_instance"),
            (BuiltIn::DrawIndex, "int", "draw_index"),
        ],
    },
];

impl Hlsl {
    /// Returns true for values that the caller provides in the profile's Shader Model.
    pub fn is_from_host(&self, t: &Writer, of: BuiltIn) -> bool {
        let has_own = system_value(of, DepthPromise::Any).is_some_and(|own| t.options.profile.version >= own.since);
        !has_own && BLOCKS.iter().any(|block| block.has(of))
    }

    /// Declares the constant buffers of the values that the shader uses.
    pub fn declare_host_blocks(&self, t: &mut Writer) {
        for block in &BLOCKS {
            let Some((span, values)) = block.used(t, |of| self.is_from_host(t, of)) else { continue };
            let members = values.into_iter().map(|value| {
                let name = value.given.map_or_else(|| t.names.unique(value.unused, None), |given| given.name);
                format!("    {} {name};", value.ty)
            });
            let members: Vec<String> = members.collect();
            let name = t.names.unique(block.name, None);
            let HostBlock { role, index, .. } = *block;
            let (index, space) = match self.has_spaces {
                true => (index, HOST_SPACE),
                false => (LAST_CONSTANTS - 1 - index, 0),
            };
            let of_space = if space > 0 { format!(", space{space}") } else { String::new() };
            t.variables.push(format!("cbuffer {name} : register(b{index}{of_space}) {{"));
            t.variables.extend(members);
            t.variables.push("};".to_string());
            t.slots.push(Slot { name, role, kind: "b", space, index, count: 1, span });
        }
    }
}
