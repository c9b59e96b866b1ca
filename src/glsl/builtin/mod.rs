//! Built-in functions and variables: the meaning of a name here, and the code of a call.
//!
//! [`call`] is the entry point: it finds the overload (`resolve`), checks the requirements of its row in
//! [`crate::grammar`] (`check`) and emits the operation (`emit`). It does not evaluate arguments or store results:
//! values for out arguments are returned to the caller. If the user has functions of the same name, [`rivals`] returns
//! the overloads that compete with them, and [`call_chosen`] emits the one that won.

mod check;
mod emit;
mod image;
mod report;
mod resolve;
mod scopes;
#[cfg(test)]
mod tests;
mod whole;

pub use check::{check_constant, check_member, check_variable, is_in_version, variable};
pub use report::{declaration, misspelt_width};
pub use resolve::{ArgShape, Candidate, MOST_ARGS, Shapes, compare};

use super::env::Env;
use crate::diagnostic::Diagnostic;
use crate::grammar::{self, Mode, Overload};
use crate::ir::build::Builder;
use crate::ir::{TypeId, Types, Value};
use crate::source::Span;
use smallvec::SmallVec;

/// An argument after evaluation. [`modes`] gives its mode in advance.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// The value that is read, or the pointer that an atomic operation works on; not used for outputs.
    pub value: Value,
    /// Type of the value, or of the memory behind a pointer.
    pub ty: TypeId,
    /// True if the argument denotes a variable or a part of one.
    pub is_place: bool,
    pub span: Span,
}

/// The results of a call: a value unless the function is `void`, and values that the caller stores into arguments
/// (index of the argument, value of the argument's type).
#[derive(Clone, Debug, Default)]
pub struct Called {
    pub value: Option<Value>,
    pub writes: SmallVec<[(usize, Value); 2]>,
}

/// The built-in functions of this name; empty if GLSL has none.
pub fn named(name: &str) -> &'static [Overload] {
    let overloads = grammar::functions(name);
    if overloads.iter().any(|overload| overload.glsl) { overloads } else { &[] }
}

/// How the arguments of a call with `count` of them are passed. If overloads differ, the most demanding use is
/// returned: an argument that some overloads read and others write goes both ways. An argument that is not an lvalue is
/// still passed as a value.
pub fn modes(overloads: &[Overload], count: usize) -> [Mode; MOST_ARGS] {
    let overloads = overloads.iter().filter(|o| o.glsl && o.params.len() == count);
    let mut modes = [None; MOST_ARGS];
    for overload in overloads {
        for (mode, param) in modes.iter_mut().zip(overload.params) {
            *mode = match (*mode, param.mode) {
                (Some(Mode::InOut), _) | (Some(Mode::In), Mode::Out) | (Some(Mode::Out), Mode::In) => Some(Mode::InOut),
                (Some(known), Mode::In) => Some(known),
                (_, new) => Some(new),
            };
        }
    }
    modes.map(|mode| mode.unwrap_or(Mode::In))
}

/// Resolves and emits a call of one of the [`named`] functions. `span` is the name's span; the instructions get the
/// builder's own.
///
/// # Errors
/// Returns the first error in the call.
pub fn call(
    builder: &mut Builder<'_>,
    env: &Env<'_>,
    (name, overloads): (&str, &'static [Overload]),
    span: Span,
    args: &[Argument],
) -> Result<Called, Diagnostic> {
    let overloads = check::available(env, name, overloads, span)?;
    let shapes = resolve::shapes(builder, args);
    let chosen = match whole::resolve(builder, env, overloads.clone(), args, &shapes)? {
        Some(chosen) => chosen,
        None => resolve::resolve(env, overloads, &shapes)
            .map_err(|failure| report::failure(builder.module, name, span, args, &failure))?,
    };
    call_chosen(builder, env, &chosen, span, args)
}

/// Emits a call of an overload that resolution has chosen.
///
/// # Errors
/// Returns the first argument that breaks a rule of its parameter.
pub fn call_chosen(
    builder: &mut Builder<'_>,
    env: &Env<'_>,
    chosen: &Candidate,
    span: Span,
    args: &[Argument],
) -> Result<Called, Diagnostic> {
    check::scalars(builder, env, chosen, args)?;
    check::arguments(builder, env, chosen, span, args)?;
    Ok(emit::emit(builder, env, chosen, args))
}

/// The built-in overloads that compete with the user's functions of their name.
#[derive(Debug)]
pub enum Rivals {
    /// The overload whose parameters have exactly the types of the arguments.
    Exact(Candidate),
    /// Candidates that the arguments convert to.
    Converted(Vec<Candidate>),
}

/// The overloads of a name that accept the arguments and that the shader may call.
pub fn rivals(types: &Types, env: &Env<'_>, overloads: &'static [Overload], args: &[ArgShape]) -> Rivals {
    let usable = check::usable(env, overloads).filter(|overload| overload.params.len() == args.len());
    let exact = usable.clone().find_map(|overload| resolve::exact(overload, args));
    match exact.or_else(|| whole::form(types, env, usable.clone(), args)) {
        Some(exact) => Rivals::Exact(exact),
        None => Rivals::Converted(resolve::through_conversions(env, usable, args)),
    }
}

/// Returns true if the shader may call a built-in function of this name.
pub fn is_usable(env: &Env<'_>, name: &str) -> bool {
    check::usable(env, named(name)).next().is_some()
}
