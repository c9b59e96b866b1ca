//! Built-in values that Metal does not have, in a constant buffer.

use super::{Extra, Msl};
use crate::backend::source::function::Body;
use crate::backend::source::host::HostBlock;
use crate::backend::source::slots::Role;
use crate::backend::source::writer::Writer;
use crate::ir::BuiltIn;
use crate::source::Span;

static DRAW: HostBlock = HostBlock {
    name: "DrawParameters",
    role: Role::DrawParameters,
    index: 0,
    values: &[(BuiltIn::DrawIndex, "int", "draw_index")],
};

/// Returns true for values that the caller provides.
pub(super) fn is_from_host(of: BuiltIn) -> bool {
    DRAW.has(of)
}

impl Msl {
    /// The buffer of the values that the entry point uses: its declaration, name and role. Variables represent the
    /// values.
    pub fn host_argument(&self, b: &mut Body, used: &[Extra]) -> Option<(String, String, Role, Span)> {
        let is_used = |t: &Writer, of| {
            used.iter().any(|extra| matches!(extra, Extra::BuiltIn(at) if t.ports.built_in[*at].of == of))
        };
        let (span, values) = DRAW.used(b.t, |of| is_used(b.t, of))?;
        let (ty, name) = (b.t.names.unique(DRAW.name, None), b.named("draw_parameters"));
        b.t.declare_struct(&ty, values.iter().map(|value| format!("    {} {};", value.ty, value.unused)).collect());
        for value in &values {
            if let Some(given) = &value.given {
                b.setup_line(format!("{} {} = {name}.{}", value.ty, given.name, value.unused));
            }
        }
        Some((format!("constant {ty}& {name}"), name, DRAW.role, span))
    }
}
