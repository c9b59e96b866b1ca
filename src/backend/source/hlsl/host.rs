//! Built-in values that the language, or its Shader Model, does not have: the caller puts them into constant buffers.

use super::Hlsl;
use super::stage::system_value;
use crate::backend::source::ports::Given;
use crate::backend::source::slots::{Role, Slot};
use crate::backend::source::writer::Writer;
use crate::ir::{BuiltIn, DepthPromise, Space};

/// The register space of the constant buffers, which nothing else has.
const HOST_SPACE: u32 = 254;

/// A constant buffer with values of the caller's.
struct HostBlock {
    name: &'static str,
    role: Role,
    /// Its register.
    index: u32,
    /// Each value with the declaration of its member, whose offset does not depend on which ones a shader uses.
    values: &'static [(BuiltIn, &'static str, &'static str)],
}

static BLOCKS: [HostBlock; 2] = [
    HostBlock {
        name: "DispatchSize",
        role: Role::WorkgroupCount,
        index: 0,
        values: &[(BuiltIn::NumWorkgroups, "uint3", "c0")],
    },
    HostBlock {
        name: "DrawParameters",
        role: Role::DrawParameters,
        index: 1,
        values: &[
            (BuiltIn::BaseVertex, "int", "c0.x"),
            (BuiltIn::BaseInstance, "int", "c0.y"),
            (BuiltIn::DrawIndex, "int", "c0.z"),
        ],
    },
];

impl Hlsl {
    /// Returns true for values that come from the caller in the profile's Shader Model.
    pub fn is_from_host(&self, t: &Writer, of: BuiltIn) -> bool {
        let has_own = system_value(of, DepthPromise::Any).is_some_and(|own| t.options.profile.version >= own.since);
        !has_own && BLOCKS.iter().any(|block| block.values.iter().any(|(value, ..)| *value == of))
    }

    /// Declares the constant buffers of the values that the shader uses.
    pub fn declare_host_blocks(&self, t: &mut Writer) {
        for block in &BLOCKS {
            let given: Vec<Given> = t.ports.built_in_of(Space::Input).into_iter().collect();
            let asked = |of| given.iter().find(|given| given.of == of && self.is_from_host(t, of));
            let members: Vec<String> = block
                .values
                .iter()
                .filter_map(|(of, ty, offset)| {
                    asked(*of).map(|given| format!("    {ty} {} : packoffset({offset});", given.name))
                })
                .collect();
            let Some(span) = block.values.iter().find_map(|(of, ..)| asked(*of)).map(|given| given.span) else {
                continue;
            };
            let name = t.names.unique(block.name, None);
            let HostBlock { role, index, .. } = *block;
            t.variables.push(format!("cbuffer {name} : register(b{index}, space{HOST_SPACE}) {{"));
            t.variables.extend(members);
            t.variables.push("};".to_string());
            t.slots.push(Slot { name, role, kind: "b", space: HOST_SPACE, index, count: 1, span });
        }
    }
}
