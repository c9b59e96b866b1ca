//! Barriers and derivatives in control flow that may diverge within a workgroup or a quad (WGSL 15.2).

use super::Wgsl;
use crate::backend::source::uniform::{parted, takes_derivatives};
use crate::backend::source::writer::Writer;
use crate::diagnostic::{Code, Diagnostic};

impl Wgsl {
    /// Refuses barriers that a part of the workgroup may not reach, and finds derivatives that a part of a quad may not
    /// reach.
    pub fn check_uniformity(&self, t: &mut Writer) {
        let found = parted(t, |op| takes_derivatives(op) || op.waits_for_workgroup());
        let module = t.module;
        let mut all = found.into_iter().map(|(f, id)| module.functions[f].insts[id]);
        t.wgsl.has_parted_derivatives = all.clone().any(|inst| takes_derivatives(&inst.op));
        if let Some(barrier) = all.find(|inst| inst.op.waits_for_workgroup()) {
            let message = format!("{} has no barriers where invocations of the workgroup may part", t.language.name());
            let error = Diagnostic::error(Code::NOT_SUPPORTED, message);
            let error = error.at(barrier.span, "some may have gone another way, or have returned");
            t.diagnostics.push(error.note(
                "values of memory that invocations write, of private variables and of other lanes may differ to the language",
            ));
        }
    }
}
