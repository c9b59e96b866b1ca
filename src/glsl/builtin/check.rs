//! The demands of a row beyond types: extensions, versions, stages, constant arguments, memory.

use super::report;
use super::resolve::Candidate;
use super::scopes;
use super::{Argument, Env};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::extended::{self, Allowed};
use crate::grammar::{
    self, Constant, ExtensionSet, ImageRole, Lowering, Mode, Overload, Param, Rule, RuleError, Shape, Stages, Variable,
};
use crate::ir::build::Builder;
use crate::ir::{ImageOp, Scalar, Space, Type, Value, whole};
use crate::source::Span;
use smallvec::SmallVec;

/// The dialect of GL_KHR_shader_subgroup_*.
const KHRONOS: &str = "khr_shader_subgroup";

/// The demands that functions and variables share.
#[derive(Clone, Copy)]
struct Demands {
    extensions: ExtensionSet,
    earlier: ExtensionSet,
    stages: Stages,
    core: u16,
    es: u16,
}

impl Demands {
    fn of(overload: &Overload) -> Demands {
        let Overload { extensions, earlier, stages, core, es, .. } = *overload;
        Demands { extensions, earlier, stages, core, es }
    }

    fn are_met(&self, env: &Env<'_>) -> bool {
        env.has_any(self.extensions) && self.is_in_version(env) && env.has_stage(self.stages)
    }

    fn is_in_version(&self, env: &Env<'_>) -> bool {
        env.has_version(self.core, self.es) || env.extensions.intersects(self.earlier)
    }

    /// The message about the first that is not met.
    fn complain(&self, env: &Env<'_>, name: &str, span: Span) -> Diagnostic {
        if !env.has_stage(self.stages) {
            report::wrong_stage(env, name, span)
        } else if !self.is_in_version(env) {
            report::needs_version(env, name, span, if env.is_es() { self.es } else { self.core }, self.earlier)
        } else {
            report::missing_extension(env, name, span, self.extensions)
        }
    }
}

/// The overloads of `name` that the shader may call here.
///
/// # Errors
/// Returns the requirement that the first overload misses, if no overload may be called.
pub fn available<'e>(
    env: &'e Env<'_>,
    name: &str,
    overloads: &'static [Overload],
    span: Span,
) -> Result<impl Iterator<Item = &'static Overload> + Clone + use<'e>, Diagnostic> {
    let usable = usable(env, overloads);
    match (usable.clone().next(), overloads.iter().find(|overload| overload.glsl)) {
        (Some(_), _) => Ok(usable),
        (None, Some(first)) => Err(Demands::of(first).complain(env, name, span)),
        (None, None) => Err(report::unknown_function(name, span)),
    }
}

/// The overloads of a name whose extensions, version and stage the shader has.
pub fn usable<'e>(
    env: &'e Env<'_>,
    overloads: &'static [Overload],
) -> impl Iterator<Item = &'static Overload> + Clone + use<'e> {
    overloads.iter().filter(|overload| overload.glsl && Demands::of(overload).are_met(env))
}

/// The built-in variable of that name, in the version of the shader's stage.
pub fn variable(env: &Env<'_>, name: &str) -> Option<&'static Variable> {
    let rows = grammar::variables(name);
    rows.iter().find(|row| env.has_stage(row.stages)).or(rows.first())
}

/// Checks that a built-in variable may be used here.
///
/// # Errors
/// Reports the missing requirement.
pub fn check_variable(env: &Env<'_>, variable: &Variable, span: Span) -> Result<(), Diagnostic> {
    let Variable { extensions, earlier, stages, core, until, es, .. } = *variable;
    let demands = Demands { extensions, earlier, stages, core, es };
    if until.is_some_and(|last| env.version.number > last) {
        return Err(report::removed(variable.name, span));
    }
    if variable.client.is_some_and(|client| client != env.profile.client) {
        return Err(report::other_client(env, variable, span));
    }
    if demands.are_met(env) { Ok(()) } else { Err(demands.complain(env, variable.name, span)) }
}

/// Returns true if the shader's version of the language has a built-in variable.
pub fn is_in_version(env: &Env<'_>, variable: &Variable) -> bool {
    let Variable { extensions, earlier, stages, core, es, .. } = *variable;
    Demands { extensions, earlier, stages, core, es }.is_in_version(env)
}

/// Checks that a built-in variable may be used here as a member of a block.
///
/// # Errors
/// Returns the extension that the shader lacks.
pub fn check_member(env: &Env<'_>, variable: &Variable, span: Span) -> Result<(), Diagnostic> {
    match env.has_any(variable.extensions) || env.extensions.intersects(variable.earlier) {
        true => Ok(()),
        false => Err(report::missing_extension(env, variable.name, span, variable.extensions)),
    }
}

/// Checks that a built-in constant may be used here.
///
/// # Errors
/// Returns the extension that the shader lacks.
pub fn check_constant(env: &Env<'_>, constant: &Constant, span: Span) -> Result<(), Diagnostic> {
    match env.has_any(constant.extensions) {
        true => Ok(()),
        false => Err(report::missing_extension(env, constant.name, span, constant.extensions)),
    }
}

/// Checks the arguments against the rules of their parameters.
///
/// # Errors
/// Returns the first argument that breaks a rule.
pub fn arguments(
    builder: &mut Builder<'_>,
    env: &Env<'_>,
    chosen: &Candidate,
    name_span: Span,
    args: &[Argument],
) -> Result<(), Diagnostic> {
    for (param, arg) in chosen.overload.params.iter().zip(args) {
        argument(builder, chosen.overload, param, arg)?;
    }
    texel(builder, chosen, args)?;
    if matches!(chosen.overload.lowering, Lowering::Derived(of) if of.needs_size() && env.wave_size.is_none()) {
        return Err(grammar::size_unknown(chosen.overload.name, name_span));
    }
    Ok(())
}

/// An atomic operation changes whole texels: the format determines whether they are one number or several halves.
fn texel(builder: &Builder<'_>, chosen: &Candidate, args: &[Argument]) -> Result<(), Diagnostic> {
    let Lowering::Image { op: ImageOp::Atomic(..), roles } = chosen.overload.lowering else { return Ok(()) };
    let Type::Image(image) = builder.module.types.get(args[0].ty) else { return Ok(()) };
    let (scalar, size) = image.atomic_texel();
    let data = roles.iter().position(|role| *role == ImageRole::Data);
    let fits = match data {
        Some(data) => Shape::vector(scalar, size) == Some(chosen.param(data)),
        None => size == 1,
    };
    if fits {
        return Ok(());
    }
    let what = match size {
        1 => "a single number".to_owned(),
        _ => format!("`f16vec{size}`"),
    };
    let message = format!("`{}`: the texels of this image are {what}", chosen.overload.name);
    Err(Diagnostic::error(Code::TYPE_MISMATCH, message).at(args[data.unwrap_or(0)].span, "this does not fit"))
}

/// Refuses arguments with scalars that only blocks may contain here, or that cross-lane operations do not support.
///
/// # Errors
/// Returns an error for the first such argument.
pub fn scalars(builder: &Builder<'_>, env: &Env<'_>, chosen: &Candidate, args: &[Argument]) -> Result<(), Diagnostic> {
    let name = chosen.overload.name;
    // GL_EXT_shader_subgroup_extended_types extends Khronos' functions; crosslane's support all types without it.
    let lane = matches!(chosen.overload.lowering, Lowering::Lane { .. }) && chosen.overload.dialect == KHRONOS;
    for arg in args {
        for family in scalars_of(builder, arg).into_iter().filter_map(extended::family) {
            // If no extension allows it, it comes from another extension's function, and functions may take it.
            if family.allowed(env) == Allowed::Storage {
                return Err(report::storage_only(name, family.extension(), arg.span));
            }
            if let Some(extension) = family.missing_for_lanes(env).filter(|_| lane) {
                return Err(report::extended_lanes(name, extension, arg.span));
            }
        }
    }
    Ok(())
}

/// The scalars of an argument, the members of structs and arrays included.
fn scalars_of(builder: &Builder<'_>, arg: &Argument) -> SmallVec<[Scalar; 4]> {
    match builder.module.types.scalar_of(arg.ty) {
        Some(scalar) => SmallVec::from_slice(&[scalar]),
        None => whole::moves(&builder.module.types, arg.ty).map(|moves| moves.scalars).unwrap_or_default(),
    }
}

fn argument(builder: &mut Builder<'_>, overload: &Overload, param: &Param, arg: &Argument) -> Result<(), Diagnostic> {
    let (name, lowering) = (overload.name, overload.lowering);
    if param.mode == Mode::Counter {
        return Ok(());
    }
    if param.mode == Mode::Memory {
        return memory(builder, name, arg);
    }
    if !param.constant && param.rule == Rule::None {
        return Ok(());
    }
    let wrong = |e: RuleError| broken_rule(name, param, arg.span, &e);
    let known = known_values(builder, arg);
    known.iter().try_for_each(|value| param.rule.check(*value).map_err(wrong))?;
    if let Some(complaint) = known.first().and_then(|bits| scopes::complaint(lowering, param.name, *bits)) {
        let message = format!("`{name}`: {complaint}");
        return Err(Diagnostic::error(Code::ARGUMENT_RANGE, message).at(arg.span, format!("argument `{}`", param.name)));
    }
    let of_image = matches!(lowering, Lowering::Image { op, .. } if !matches!(op, ImageOp::Atomic(..)));
    if of_image && matches!(arg.value, Value::Const(_)) {
        return Ok(());
    }
    if known.is_empty() && param.constant && !is_known(builder, arg) {
        return Err(report::not_constant(name, param, arg));
    }
    Ok(())
}

/// Returns true if the value, or each component of a vector, is known at compile time.
fn is_known(builder: &Builder<'_>, arg: &Argument) -> bool {
    matches!(arg.value, Value::Const(id) if !builder.module.constants.is_spec(id))
}

/// The integer components of an argument; `None` if they are unknown.
pub fn known_values(builder: &Builder<'_>, arg: &Argument) -> SmallVec<[i128; 4]> {
    let Value::Const(id) = arg.value else { return SmallVec::new() };
    builder.module.constants.as_ints(&builder.module.types, id)
}

fn broken_rule(name: &str, param: &Param, span: Span, error: &RuleError) -> Diagnostic {
    let diagnostic = Diagnostic::error(error.code(), format!("`{name}`: {error}"));
    diagnostic.at(span, format!("argument `{}`", param.name))
}

/// Atomic operations work on buffers and shared memory (GLSL 4.60 section 8.11).
fn memory(builder: &mut Builder<'_>, name: &str, arg: &Argument) -> Result<(), Diagnostic> {
    let ty = builder.type_of(arg.value);
    match builder.module.types.pointee(ty) {
        Some((Space::Workgroup | Space::TaskPayload | Space::Storage | Space::Physical | Space::Handle, _)) => Ok(()),
        _ => Err(Diagnostic::error(Code::NOT_ATOMIC_MEMORY, format!("`{name}` works on buffer or shared memory only"))
            .at(arg.span, "is neither in a buffer nor shared")),
    }
}
