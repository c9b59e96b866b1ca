//! Overload resolution over the user's functions and the built-in ones of the same name (GLSL 4.60 section 6.1).
//!
//! A user's function only hides a built-in one whose parameters have the same types.

use super::Sema;
use super::calls::Given;
use super::functions::{Mode, Signature};
use super::scope::SetId;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::Name;
use crate::glsl::builtin::{self, ArgShape, Candidate, Rivals, Shapes};
use crate::glsl::convert::{self, Conversion};
use crate::grammar::{self, Overload};
use crate::ir::build::Builder;
use crate::ir::{TypeId, Value};
use crate::limits;
use crate::source::Span;
use std::cmp::Ordering;

/// An overload that accepts the arguments of a call.
#[derive(Clone, Copy)]
pub enum Overloaded {
    /// The user's, by its index in the set.
    User(usize),
    Builtin(Candidate),
}

impl Sema<'_> {
    /// The built-in overloads that calls of a user's function with this name may also mean.
    pub fn builtin_rivals(&self, callee: Name) -> &'static [Overload] {
        builtin::named(self.text(callee.symbol))
    }

    /// Returns true if no overload with this number of parameters writes to the one at `index`.
    pub fn only_reads(&self, set: SetId, rivals: &[Overload], count: usize, index: usize) -> bool {
        let reads = |mode: Mode| matches!(mode, Mode::In | Mode::Literal);
        let mut users = self.sets[set.0 as usize].overloads.iter().filter(|s| s.params.len() == count);
        let builtin = builtin::modes(rivals, count).get(index).is_none_or(|mode| *mode == grammar::Mode::In);
        builtin && users.all(|signature| reads(signature.params[index].mode))
    }

    /// The overload that fits best.
    pub fn choose(
        &mut self,
        b: &mut Builder<'_>,
        set: SetId,
        rivals: &'static [Overload],
        given: &[Given],
        callee: Name,
    ) -> Option<Overloaded> {
        let functions = &self.sets[set.0 as usize];
        if let Some(exact) = functions.exact(given.iter().map(|arg| arg.ty)) {
            return Some(Overloaded::User(exact));
        }
        let overloads = &functions.overloads;
        limits::spend(overloads.len());
        let shapes = shapes(b, given);
        let builtins = match builtin::rivals(&b.module.types, &self.env, rivals, &shapes) {
            Rivals::Exact(exact) => return Some(Overloaded::Builtin(exact)),
            Rivals::Converted(candidates) => candidates,
        };
        let users = (0..overloads.len()).filter(|index| self.is_viable(b, &overloads[*index], given));
        let visible = |candidate: &Candidate| !overloads.iter().any(|s| hides(b, s, candidate, &shapes));
        let builtins = builtins.into_iter().filter(visible).map(Overloaded::Builtin);
        let viable: Vec<Overloaded> = users.map(Overloaded::User).chain(builtins).collect();
        if viable.is_empty() {
            self.no_overload(b, set, given, callee);
            return None;
        }
        let explicit = self.env.has_explicit_types();
        let compare = |first: usize, second: usize, argument: usize| -> Ordering {
            let [first, second] = [first, second].map(|at| match viable[at] {
                Overloaded::User(index) => conversion(b, &overloads[index], argument, given),
                Overloaded::Builtin(candidate) => candidate.conversion(argument, &shapes[argument]),
            });
            builtin::compare(first, second, explicit)
        };
        match convert::best(viable.len(), given.len(), compare) {
            Ok(best) => Some(viable[best]),
            Err((first, second)) => {
                self.ambiguous(set, [viable[first], viable[second]], callee);
                None
            }
        }
    }

    fn is_viable(&self, b: &Builder<'_>, signature: &Signature, given: &[Given]) -> bool {
        signature.params.len() == given.len()
            && signature.params.iter().zip(given).all(|(param, arg)| match param.mode {
                Mode::In | Mode::Literal => self.converts(b, arg.ty, param.ty),
                Mode::Out => self.converts(b, param.ty, arg.ty),
                Mode::InOut | Mode::Reference | Mode::Named => param.ty == arg.ty,
            })
    }

    fn ambiguous(&mut self, set: SetId, rivals: [Overloaded; 2], callee: Name) {
        let message = format!("two overloads of `{}` fit equally well", self.text(callee.symbol));
        let mut diagnostic = Diagnostic::error(Code::AMBIGUOUS_CALL, message).at(callee.span, "ambiguous call");
        for (rival, label) in rivals.into_iter().zip(["this one", "and this one"]) {
            diagnostic = match rival {
                Overloaded::User(index) => {
                    let span = self.sets[set.0 as usize].overloads[index].span;
                    diagnostic.with(span, label)
                }
                Overloaded::Builtin(candidate) => {
                    diagnostic.note(format!("candidate: {}", builtin::declaration(candidate.overload)))
                }
            };
        }
        self.report(diagnostic);
    }

    fn no_overload(&mut self, b: &Builder<'_>, set: SetId, given: &[Given], callee: Name) {
        let list = |types: &mut dyn Iterator<Item = TypeId>| {
            types.map(|ty| self.type_name(b, ty)).collect::<Vec<_>>().join(", ")
        };
        let name = self.text(callee.symbol);
        let message = format!("no overload of `{name}` takes ({})", list(&mut given.iter().map(|arg| arg.ty)));
        let mut diagnostic = Diagnostic::error(Code::NO_OVERLOAD, message).at(callee.span, "no overload fits");
        for signature in self.sets[set.0 as usize].overloads.iter().take(4) {
            let takes = list(&mut signature.types());
            diagnostic = diagnostic.with(signature.span, format!("takes ({takes})"));
        }
        self.report(diagnostic);
    }

    /// GLSL ES forbids functions with the name of a built-in one (GLSL ES 3.20 section 6.1).
    pub fn check_es_overload(&mut self, name: &str, span: Span) {
        if self.env.is_es() && builtin::is_usable(&self.env, name) {
            let message = format!("GLSL ES has a built-in function `{name}`, which cannot be redefined or overloaded");
            self.error(Code::REDECLARED, span, message, "choose another name");
        }
    }
}

/// The arguments as the resolution of built-in functions sees them.
fn shapes(b: &Builder<'_>, given: &[Given]) -> Shapes {
    let shape = |arg: &Given| {
        let is_constant = matches!(arg.value, Some(Value::Const(_)));
        ArgShape::of(&b.module.types, arg.ty, arg.lvalue.is_some(), is_constant)
    };
    given.iter().take(builtin::MOST_ARGS).map(shape).collect()
}

/// Returns true if a user's function has the same parameter types as a built-in one.
fn hides(b: &Builder<'_>, signature: &Signature, candidate: &Candidate, shapes: &Shapes) -> bool {
    let types = &b.module.types;
    let same = |(index, param): (usize, &super::functions::Parameter)| {
        candidate.param_is(types, index, param.ty, &shapes[index])
    };
    signature.params.len() == shapes.len() && signature.params.iter().enumerate().all(same)
}

/// The conversion of an argument of a user's function; `None` for types that only convert to themselves.
fn conversion(b: &Builder<'_>, signature: &Signature, argument: usize, given: &[Given]) -> Option<Conversion> {
    let types = &b.module.types;
    let param = signature.params[argument];
    let (arg, parameter) = (types.scalar_of(given[argument].ty)?, types.scalar_of(param.ty)?);
    match param.mode {
        Mode::Out => Some(Conversion { from: parameter, to: arg }),
        _ => Some(Conversion { from: arg, to: parameter }),
    }
}
