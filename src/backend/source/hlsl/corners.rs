//! Fragment inputs with a value for each vertex of the triangle (Shader Model 6.1, `GetAttributeAtVertex`).

use super::Hlsl;
use crate::backend::source::function::Body;
use crate::ir::{Binding, Global, GlobalId, Interpolation};

/// Vertices of a triangle.
const CORNERS: u32 = 3;

/// Returns true for an input with a value for each vertex.
pub(super) fn is_per_vertex(global: &Global) -> bool {
    matches!(global.binding, Binding::Location { interpolation: Interpolation::PerVertex, .. })
}

impl Hlsl {
    /// Fills the array with the values of all vertices.
    pub fn fill_corners(&self, b: &mut Body, id: GlobalId) {
        let global = &b.t.module.globals[id];
        if b.t.options.profile.version < (6, 1) {
            b.t.lacks("values of each vertex in fragment shaders before Shader Model 6.1");
        }
        let (name, input) = (self.port_name(b.t, id), b.t.ports.input.clone());
        if !b.t.ports.shared.contains(&id) {
            let (ty, dims) = self.port_type(b.t, id, global);
            b.setup_line(format!("{ty} {name}{dims}"));
        }
        let members = b.t.block_of(global.ty).map(|of| {
            let names = self.block_member_names(b.t, id, of);
            names.iter().map(|member| format!(".{member}")).collect::<Vec<_>>()
        });
        for vertex in 0..CORNERS {
            for member in members.as_deref().unwrap_or(&[String::new()]) {
                let value = format!("GetAttributeAtVertex({input}.{name}{member}, {vertex})");
                b.setup_line(format!("{name}[{vertex}]{member} = {value}"));
            }
        }
    }
}
