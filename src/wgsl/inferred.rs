//! The inferred types of declarations without a written type, for editors.

use super::offsets::Offsets;
use crate::source::Span;
use naga::common::wgsl::TypeContext;
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{Function, Module};

/// A type, and a span inside the declaration that has it.
#[derive(Debug)]
pub(super) struct Inferred {
    pub at: Span,
    pub ty: String,
}

/// The types of all values and variables of a valid module.
pub(super) fn inferred(module: &Module, info: &ModuleInfo, offsets: &Offsets) -> Vec<Inferred> {
    let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
    let entries = module.entry_points.iter().enumerate();
    let entries = entries.map(|(index, entry)| (&entry.function, info.get_entry_point(index)));
    let locals = functions.chain(entries).flat_map(|(function, info)| of_function(module, function, info));
    let constants = module.constants.iter().map(|(handle, constant)| (module.constants.get_span(handle), constant.ty));
    let globals = module.global_variables.iter();
    let globals = globals.map(|(handle, variable)| (module.global_variables.get_span(handle), variable.ty));
    let outer = constants.chain(globals).map(|(span, ty)| (span, module.to_ctx().type_to_string(ty)));
    locals.chain(outer).map(|(span, ty)| Inferred { at: offsets.span(span), ty }).collect()
}

fn of_function<'a>(
    module: &'a Module,
    function: &'a Function,
    info: &'a FunctionInfo,
) -> impl Iterator<Item = (naga::Span, String)> + 'a {
    let variables = function.local_variables.iter().map(|(handle, variable)| {
        (function.local_variables.get_span(handle), module.to_ctx().type_to_string(variable.ty))
    });
    let values = function.named_expressions.keys().map(|handle| {
        let mut text = String::new();
        // Writing to a `String` does not fail.
        let _ = module.to_ctx().write_type_resolution(&info[*handle].ty, &mut text);
        (function.expressions.get_span(*handle), text)
    });
    variables.chain(values)
}
