//! Overload resolution (GLSL 4.60 section 6.1): an exact match, otherwise the best one through implicit conversions.
//!
//! A generic row is a family of overloads, one for each type of its `T`.

use super::{Argument, Env};
use crate::glsl::convert::{self, Conversion};
use crate::glsl::extended;
use crate::grammar::{Mode, Opaque, Overload, Param, Shape, TypeExpr};
use crate::ir::build::Builder;
use crate::ir::{ArrayLen, Scalar, Type, TypeId, Types, Value};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// The facts about an argument that resolution uses.
#[derive(Clone, Copy, Debug)]
pub struct ArgShape {
    pub ty: TypeId,
    /// `None` for structs, arrays and other types without a shape.
    pub shape: Option<Shape>,
    /// For arrays: the shape of an element, and how many there are.
    pub elements: Option<(Shape, u32)>,
    /// For images and samplers: their type, and the scalar of their texels.
    pub opaque: Option<(Opaque, Scalar)>,
    pub is_place: bool,
    pub constant: bool,
}

/// An overload with its `T` chosen.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub overload: &'static Overload,
    pub generic: Shape,
    /// The struct, array or matrix that replaces `T`, for moves of composites.
    pub whole: Option<TypeId>,
}

impl Candidate {
    /// Type of a parameter; parameters are never `void`.
    pub fn param(&self, index: usize) -> Shape {
        self.overload.params[index].ty.shape(self.generic).unwrap_or(Shape::BOOL)
    }

    /// Returns true if a parameter has exactly the type `ty` for `arg`.
    pub fn param_is(&self, types: &Types, index: usize, ty: TypeId, arg: &ArgShape) -> bool {
        match self.overload.params[index].ty {
            TypeExpr::Generic if self.whole.is_some() => self.whole == Some(ty),
            exact if exact.is_exact() => arg.ty == ty,
            _ => Shape::of(types, ty) == Some(self.param(index)),
        }
    }

    /// The conversion of an argument; `None` if its type is exact.
    pub fn conversion(&self, index: usize, arg: &ArgShape) -> Option<Conversion> {
        let param = &self.overload.params[index];
        let shape = arg.shape.filter(|_| !param.ty.is_exact())?;
        let (arg, param_scalar) = (shape.scalar(), self.param(index).scalar());
        match param.mode {
            Mode::In => Some(Conversion { from: arg, to: param_scalar }),
            Mode::Out => Some(Conversion { from: param_scalar, to: arg }),
            Mode::InOut | Mode::Memory | Mode::Counter => None,
        }
    }
}

/// Why there is no overload for a call.
#[derive(Debug)]
pub enum Failure {
    /// No overload has this number of parameters.
    Count(Vec<&'static Overload>),
    /// No overload accepts arguments of these types.
    Types(Vec<&'static Overload>),
    /// The types fit, but this argument must be writable and is not.
    NotWritable(usize),
    Ambiguous(Candidate, Candidate),
}

/// The maximum number of arguments of a built-in function, plus one.
pub const MOST_ARGS: usize = 10;

/// The arguments for resolution, truncated after one more than any function takes.
pub type Shapes = SmallVec<[ArgShape; MOST_ARGS]>;

/// The arguments of a call of a built-in function as resolution sees them.
pub fn shapes(builder: &Builder<'_>, args: &[Argument]) -> Shapes {
    let shape = |arg: &Argument| {
        ArgShape::of(&builder.module.types, arg.ty, arg.is_place, matches!(arg.value, Value::Const(_)))
    };
    args.iter().take(MOST_ARGS).map(shape).collect()
}

impl ArgShape {
    pub fn of(types: &Types, ty: TypeId, is_place: bool, constant: bool) -> ArgShape {
        ArgShape {
            ty,
            shape: Shape::of(types, ty),
            elements: elements(types, ty),
            opaque: Opaque::of(types, ty),
            is_place,
            constant,
        }
    }
}

fn elements(types: &Types, ty: TypeId) -> Option<(Shape, u32)> {
    match types.get(ty) {
        Type::Array { element, len: ArrayLen::Fixed(count), .. } => Some((Shape::of(types, element)?, count)),
        _ => None,
    }
}

/// Selects an overload from `overloads`, all of which the shader may call.
///
/// # Errors
/// Returns an error if no overload fits, or more than one equally well.
pub fn resolve(
    env: &Env<'_>,
    overloads: impl Iterator<Item = &'static Overload> + Clone,
    args: &[ArgShape],
) -> Result<Candidate, Failure> {
    let counted = overloads.clone().filter(|o| o.params.len() == args.len());
    if let Some(exact) = counted.clone().find_map(|overload| exact(overload, args)) {
        return Ok(exact);
    }
    let families = counted.clone().flat_map(|overload| family(overload, args));
    let candidates = through_conversions(env, overloads.clone(), args);
    if !candidates.is_empty() {
        return best(env, &candidates, args);
    }
    if let Some(blocked) = families.clone().find(|c| viable(env, c, args, false)) {
        return Err(Failure::NotWritable(first_not_writable(&blocked, args)));
    }
    match counted.clone().next() {
        Some(_) => Err(Failure::Types(likeliest(env, counted.collect(), args))),
        None => Err(Failure::Count(overloads.collect())),
    }
}

/// The overloads that accept the first argument, if there are any, and the most others.
fn likeliest(env: &Env<'_>, overloads: Vec<&'static Overload>, args: &[ArgShape]) -> Vec<&'static Overload> {
    let rank = |overload: &'static Overload| {
        let fitting = family(overload, args).map(|candidate| {
            let fits = |index: usize| fits(env, &candidate, index, &args[index], false);
            (fits(0), (0..args.len()).filter(|index| fits(*index)).count())
        });
        fitting.max().unwrap_or((false, 0))
    };
    let ranks: Vec<(bool, usize)> = overloads.iter().map(|overload| rank(overload)).collect();
    let best = ranks.iter().max().copied();
    overloads.into_iter().zip(ranks).filter(|(_, rank)| Some(*rank) == best).map(|(overload, _)| overload).collect()
}

/// The overloads that accept the arguments, with implicit conversions if necessary.
pub fn through_conversions(
    env: &Env<'_>,
    overloads: impl Iterator<Item = &'static Overload>,
    args: &[ArgShape],
) -> Vec<Candidate> {
    let counted = overloads.filter(|overload| overload.params.len() == args.len());
    counted.flat_map(|overload| family(overload, args)).filter(|c| viable(env, c, args, true)).collect()
}

/// The overload with the `T` of the arguments, if every argument has exactly the type of its parameter.
pub fn exact(overload: &'static Overload, args: &[ArgShape]) -> Option<Candidate> {
    let states = |param: &Param| matches!(param.ty, TypeExpr::Generic | TypeExpr::Opaque(_));
    let stated = overload.params.iter().zip(args).find(|(param, _)| states(param));
    let generic = match stated {
        Some((param, arg)) => stated_by(param, arg).filter(|shape| overload.generic.contains(*shape))?,
        None if overload.generic.is_empty() => Shape::BOOL,
        None => return None,
    };
    let candidate = Candidate { overload, generic, whole: None };
    let fits = |(index, arg): (usize, &ArgShape)| {
        let param = &overload.params[index];
        has_type(&candidate, index, arg) && writable(param, arg) && (arg.constant || !param.constant)
    };
    args.iter().enumerate().all(fits).then_some(candidate)
}

/// The `T` of an argument, or of its texels.
fn stated_by(param: &Param, arg: &ArgShape) -> Option<Shape> {
    match param.ty {
        TypeExpr::Opaque(_) => arg.opaque.and_then(|(_, scalar)| Shape::vector(scalar, 1)),
        _ => arg.shape,
    }
}

/// Returns true if an argument has just the type of its parameter.
fn has_type(candidate: &Candidate, index: usize, arg: &ArgShape) -> bool {
    match candidate.overload.params[index].ty {
        TypeExpr::Opaque(opaque) => arg.opaque == Some((opaque, candidate.generic.scalar())),
        TypeExpr::Array(element, count) => arg.elements == Some((element, count)),
        _ => arg.shape == Some(candidate.param(index)),
    }
}

/// The overload with every `T`. Scalars from extensions are included only if an argument has such a type, so that they
/// never make other calls ambiguous.
fn family(overload: &'static Overload, args: &[ArgShape]) -> impl Iterator<Item = Candidate> + Clone + use<> {
    let single = overload.generic.is_empty().then_some(Shape::BOOL);
    let is_extended = |shape: Shape| extended::family(shape.scalar()).is_some();
    let texels = |arg: &ArgShape| arg.opaque.and_then(|(_, scalar)| Shape::vector(scalar, 1));
    let extended = args.iter().filter_map(|arg| arg.shape.or_else(|| texels(arg))).any(is_extended);
    let all = overload.generic.iter().chain(single).filter(move |shape| extended || !is_extended(*shape));
    all.map(move |generic| Candidate { overload, generic, whole: None })
}

fn writable(param: &Param, arg: &ArgShape) -> bool {
    param.mode == Mode::In || arg.is_place
}

fn viable(env: &Env<'_>, candidate: &Candidate, args: &[ArgShape], write: bool) -> bool {
    args.iter().enumerate().all(|(index, arg)| fits(env, candidate, index, arg, write))
}

/// Returns true if an argument can be passed in its parameter's mode.
pub fn fits(env: &Env<'_>, candidate: &Candidate, index: usize, arg: &ArgShape, write: bool) -> bool {
    let param = &candidate.overload.params[index];
    if param.ty.is_exact() {
        return has_type(candidate, index, arg);
    }
    let Some(shape) = arg.shape else { return false };
    (!write || writable(param, arg)) && passes(env, param.mode, shape, candidate.param(index))
}

/// Returns true if a value can be passed in the parameter's mode.
fn passes(env: &Env<'_>, mode: Mode, arg: Shape, param: Shape) -> bool {
    match mode {
        _ if arg == param => true,
        Mode::In => env.implicit_conversions() && converts(arg, param),
        Mode::Out => env.implicit_conversions() && converts(param, arg),
        Mode::InOut | Mode::Memory | Mode::Counter => false,
    }
}

fn converts(from: Shape, to: Shape) -> bool {
    from.is_matrix() == to.is_matrix()
        && from.dimensions() == to.dimensions()
        && convert::scalar_converts(from.scalar(), to.scalar())
}

fn best(env: &Env<'_>, candidates: &[Candidate], args: &[ArgShape]) -> Result<Candidate, Failure> {
    let explicit = env.has_explicit_types();
    let order = |a: usize, b: usize, index: usize| {
        let [a, b] = [a, b].map(|candidate| candidates[candidate].conversion(index, &args[index]));
        compare(a, b, explicit)
    };
    match convert::best(candidates.len(), args.len(), order) {
        Ok(best) => Ok(candidates[best]),
        Err((a, b)) => Err(Failure::Ambiguous(candidates[a], candidates[b])),
    }
}

/// Compares two conversions of an argument by the rules of [`Conversion::compare`]; neither is better if one candidate
/// has none.
pub fn compare(a: Option<Conversion>, b: Option<Conversion>, explicit: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.compare(b, explicit),
        _ => Ordering::Equal,
    }
}

fn first_not_writable(candidate: &Candidate, args: &[ArgShape]) -> usize {
    let params = candidate.overload.params.iter().zip(args);
    params.enumerate().find(|(_, (param, arg))| !writable(param, arg)).map_or(0, |(index, _)| index)
}
