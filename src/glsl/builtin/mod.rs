//! Calls of built-in functions: which overload, with which conversions, and what it becomes in the IR.

use super::env::Env;
use crate::diagnostic::{Code, Diagnostic};
use crate::grammar::{self, Mode};
use crate::ir::build::Builder;
use crate::ir::{TypeId, Value};
use crate::source::Span;

/// An argument of a call: what is read, or the pointer that an atomic operation works on.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub value: Value,
    /// Type of the value; of the memory behind a pointer.
    pub ty: TypeId,
    pub span: Span,
}

/// What a call gives: a value unless the function is `void`, and values that the caller stores into `out` arguments
/// (index of the argument, value).
#[derive(Clone, Debug, Default)]
pub struct Called {
    pub value: Option<Value>,
    pub writes: Vec<(usize, Value)>,
}

/// Whether a built-in function of this name exists.
pub fn exists(name: &str) -> bool {
    grammar::functions(name).iter().any(|overload| overload.glsl)
}

/// How the arguments of a call with `count` of them are passed.
pub fn modes(name: &str, count: usize) -> Vec<Mode> {
    let overload = grammar::functions(name).iter().find(|overload| overload.params.len() == count);
    overload.map_or_else(Vec::new, |overload| overload.params.iter().map(|param| param.mode).collect())
}

/// Resolves and emits a call.
///
/// # Errors
/// When no overload fits, or an argument breaks its rule.
pub fn call(_: &mut Builder<'_>, _: &Env<'_>, name: &str, span: Span, _: &[Argument]) -> Result<Called, Diagnostic> {
    Err(Diagnostic::error(Code::NOT_SUPPORTED, format!("`{name}` is not supported yet")).at(span, "called here"))
}
