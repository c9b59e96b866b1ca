//! Moves of structs, arrays and matrices: calls with a data type that no row lists.
//!
//! Every row that only passes its data on accepts structs and arrays, by their exact type without conversions.

use super::resolve::{ArgShape, Candidate, fits};
use super::{Argument, Env};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::types;
use crate::grammar::{Lowering, Overload, Shape, TypeExpr};
use crate::ir::Types;
use crate::ir::build::Builder;
use crate::ir::whole::{is_whole, moves};

/// The overload for a call whose first argument is moved part by part; `None` for other calls, and if no overload fits.
///
/// # Errors
/// Returns an error if the argument's type cannot be moved.
pub fn resolve(
    builder: &Builder<'_>,
    env: &Env<'_>,
    overloads: impl Iterator<Item = &'static Overload>,
    args: &[Argument],
    shapes: &[ArgShape],
) -> Result<Option<Candidate>, Diagnostic> {
    let module = &builder.module;
    let Some((chosen, data)) = form(&module.types, env, overloads, shapes).zip(args.first()) else { return Ok(None) };
    match moves(&module.types, data.ty) {
        Ok(_) => Ok(Some(chosen)),
        Err(reason) => {
            let name = types::display(&module.types, &module.constants, data.ty);
            let message = format!("`{}` cannot move a value of type {name}", chosen.overload.name);
            Err(Diagnostic::error(Code::NO_OVERLOAD, message).at(data.span, format!("it {reason}")))
        }
    }
}

/// The overload that accepts the arguments, the first of which is moved part by part.
pub fn form(
    types: &Types,
    env: &Env<'_>,
    mut overloads: impl Iterator<Item = &'static Overload>,
    args: &[ArgShape],
) -> Option<Candidate> {
    let data = args.first().filter(|data| is_whole(types, data.ty))?;
    overloads.find_map(|overload| {
        let chosen = Candidate { overload, generic: Shape::BOOL, whole: Some(data.ty) };
        let takes = overload.params.len() == args.len()
            && moves_parts(overload)
            && args.iter().enumerate().all(|(at, arg)| passes(env, &chosen, at, arg));
        takes.then_some(chosen)
    })
}

fn passes(env: &Env<'_>, chosen: &Candidate, index: usize, arg: &ArgShape) -> bool {
    match chosen.overload.params[index].ty {
        TypeExpr::Generic => Some(arg.ty) == chosen.whole,
        _ => fits(env, chosen, index, arg, true),
    }
}

/// Returns true if a form only hands on its first argument.
fn moves_parts(overload: &Overload) -> bool {
    let generic = overload.params.first().is_some_and(|param| param.ty == TypeExpr::Generic);
    match overload.lowering {
        Lowering::Lane { op, .. } | Lowering::LaneAndValid { op, .. } => generic && op.signature().moved() > 0,
        _ => false,
    }
}
