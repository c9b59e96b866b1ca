//! The names of an operation in shaders, from the language tables.

use super::topics::slug;
use crate::grammar::{ExtensionSet, FUNCTIONS, Lowering, Overload, VARIABLES, Variable, VariableSource};

/// One row of a page's table of calls: names that share their documentation.
pub struct Call {
    /// A width in a name is written `{W}`.
    pub names: Vec<String>,
    /// Brackets and parameters; empty for variables.
    pub params: String,
    /// The types that the type parameters can be; empty if the call states them.
    pub types: &'static str,
    dialect: &'static str,
    /// Extensions that enable it, any one of them; empty if none is needed.
    pub extensions: Vec<&'static str>,
    pub doc: &'static str,
}

/// The calls that are on a page, in the order of their names.
pub fn on_page(page: &str) -> Vec<Call> {
    let overloads = FUNCTIONS.iter().flat_map(|function| function.overloads).filter(|overload| is_on(overload, page));
    let is_here = |variable: &&Variable| matches!(variable.source, VariableSource::Lane(op) if slug(op) == page);
    let variables = VARIABLES.iter().filter(is_here).map(of_variable);
    let mut calls: Vec<Call> = Vec::new();
    for call in overloads.map(of_overload).chain(variables) {
        match calls.iter_mut().find(|other| other.is_row_of(&call)) {
            Some(row) if row.names.contains(&call.names[0]) => {}
            Some(row) => row.names.extend(call.names),
            None => calls.push(call),
        }
    }
    calls
}

impl Call {
    fn is_row_of(&self, other: &Call) -> bool {
        let seen = |call: &Call| (call.params.clone(), call.types, call.dialect, call.doc);
        seen(self) == seen(other)
    }
}

fn is_on(overload: &Overload, page: &str) -> bool {
    match overload.lowering {
        Lowering::Lane { op, .. } | Lowering::LaneAndValid { op, .. } => slug(op) == page,
        _ => false,
    }
}

fn of_overload(overload: &Overload) -> Call {
    let params: Vec<&str> = overload.params.iter().map(|param| param.name).collect();
    let has_width = overload.family.ends_with("{W}") && overload.name.ends_with(|c: char| c.is_ascii_digit());
    let stem = overload.name.trim_end_matches(|c: char| c.is_ascii_digit());
    Call {
        names: vec![if has_width { format!("{stem}{{W}}") } else { overload.name.into() }],
        params: format!("({})", params.join(", ")),
        types: overload.types,
        dialect: overload.dialect,
        extensions: names(overload.extensions),
        doc: overload.doc,
    }
}

fn of_variable(variable: &Variable) -> Call {
    Call {
        names: vec![variable.name.into()],
        params: String::new(),
        types: "",
        dialect: variable.dialect,
        extensions: names(variable.extensions),
        doc: variable.doc,
    }
}

/// Extensions by their names.
fn names(set: ExtensionSet) -> Vec<&'static str> {
    set.iter().map(|extension| extension.name).collect()
}
