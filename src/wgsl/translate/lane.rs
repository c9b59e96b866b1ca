//! crosslane's own built-ins: from a carried call and its table row to a lane operation.
//!
//! This module checks types and constants of the arguments. The planner checks whether the profile can run the
//! operation.

use super::super::builtin::{Builtin, Passing, Site};
use super::super::carrier::{Call, Carried, THROUGH, site_number};
use super::function::{Body, Slot};
use super::given::Given;
use super::{Failure, Outcome};
use crate::diagnostic::{Code, Diagnostic};
use crate::grammar::VariableSource;
use crate::grammar::{self, Lowering, Mode, Overload, Param, ResultSlot, Shape, TypeExpr, Variable};
use crate::ir::derived::Derived;
use crate::ir::{Order, TypeId, Types, Value};
use crate::source::Span;
use naga::{Expression, Handle, Statement};
use smallvec::SmallVec;

type Id = Handle<Expression>;

pub(super) fn failure(code: Code, message: String, span: Span, label: &str) -> Failure {
    Box::new(Diagnostic::error(code, message).at(span, label))
}

/// A built-in that only GLSL has so far.
fn unsupported(site: &Site) -> Failure {
    let message = format!("`{}` is not supported in WGSL yet", site.name);
    failure(Code::NOT_SUPPORTED, message, site.span, "used here")
}

/// The results of an operation.
type Parts = SmallVec<[Value; 2]>;

impl Body<'_, '_, '_> {
    /// The value of a built-in's call, if the expression carries one.
    pub(super) fn carrier_at(&mut self, result: Id) -> Outcome<Option<Value>> {
        let carriers = self.shader.carriers;
        match self.origin.and_then(|origin| carriers.carried(origin.key, result)) {
            None => Ok(None),
            Some(Carried::Native(statement)) => self.native_lane(statement).map(Some),
            Some(Carried::Call(call)) => self.carried_call(call).map(Some),
        }
    }

    fn carried_call(&mut self, call: &Call) -> Outcome<Value> {
        let site = &self.shader.carriers.sites[call.site];
        let value = self.site(site, Some(call.data), &call.rest)?;
        value.ok_or_else(|| {
            failure(Code::INTERNAL, "a built-in function returns no value".into(), site.span, "this one")
        })
    }

    /// The call of a stub: a built-in with its own result type; a call on a struct, array or matrix; or the index of a
    /// carrier, which has no value.
    pub(super) fn stub_call(&mut self, arguments: &[Id], result: Option<Id>, at: naga::Span) -> Outcome<()> {
        let carriers = self.shader.carriers;
        let number = site_number(self.expressions, arguments);
        let whole = self.origin.zip(result).and_then(|(origin, result)| carriers.whole(origin.key, result));
        if let Some(call) = whole {
            let value = self.carried_call(call)?;
            self.set(call.result, Slot::Value(value));
            return Ok(());
        }
        let Some(site) = number.and_then(|number| carriers.sites.get(number as usize)) else {
            return if number == Some(THROUGH) {
                Ok(())
            } else {
                Err(self.unexpected("a stub without its number", at))
            };
        };
        if site.signature.data {
            return Ok(());
        }
        let value = self.site(site, None, &arguments[1..])?;
        if let Some((result, value)) = result.zip(value) {
            self.set(result, Slot::Value(value));
        }
        Ok(())
    }

    /// The argument that an expression hands through.
    pub(super) fn through(&self, of: Id) -> Option<Id> {
        self.origin.and_then(|origin| self.shader.carriers.through(origin.key, of))
    }

    fn site(&mut self, site: &Site, data: Option<Id>, rest: &[Id]) -> Outcome<Option<Value>> {
        self.b.span = site.span;
        match &site.builtin {
            Builtin::Variable(variable) => self.variable(variable, site).map(Some),
            Builtin::Function(overloads) => {
                let given = self.given(site, data, rest)?;
                let overload = self.overload(overloads, site, &given)?;
                self.lane_call(overload, site, &given)
            }
        }
    }

    fn variable(&mut self, variable: &Variable, site: &Site) -> Outcome<Value> {
        let ty = variable.ty.intern(&mut self.b.module.types);
        match variable.source {
            VariableSource::Lane(op) => Ok(self.b.lane_as(op, ty, &[])),
            VariableSource::BuiltIn(of) => Ok(self.load_input(of)),
            VariableSource::WorkgroupSize
            | VariableSource::Transposed(_)
            | VariableSource::Output(_)
            | VariableSource::Blocks(_) => Err(unsupported(site)),
        }
    }

    /// The arguments of a call.
    fn given(&mut self, site: &Site, data: Option<Id>, rest: &[Id]) -> Outcome<Vec<Given>> {
        let passings = site.signature.others.iter().zip(rest).map(|(passing, of)| match passing {
            Passing::Typed(_) => *of,
            Passing::Through => self.through(*of).unwrap_or(*of),
        });
        let ids: SmallVec<[Id; 4]> = data.into_iter().chain(passings).collect();
        let spans = site.arguments.iter().copied().chain(std::iter::repeat(site.span));
        ids.into_iter().zip(spans).map(|(of, span)| self.given_one(of, span)).collect()
    }

    fn lane_call(&mut self, overload: &'static Overload, site: &Site, given: &[Given]) -> Outcome<Option<Value>> {
        let constant_arg = match overload.lowering {
            Lowering::Lane { constant_arg, .. } => constant_arg.map(usize::from),
            _ => None,
        };
        let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
        let mut constants: SmallVec<[u32; 4]> = SmallVec::new();
        for (place, (param, given)) in overload.params.iter().zip(given).enumerate() {
            let known = self.judge(param, given, site)?;
            match (param.mode, constant_arg == Some(place)) {
                (_, true) => constants.extend(known.into_iter().map(|value| param.rule.meant(value as u32))),
                (Mode::Out, _) => {}
                _ => {
                    let value = self.operand(param, given);
                    operands.push(self.like_first(param, value, &operands));
                }
            }
        }
        let parts = self.operation(overload, site, &operands, &constants)?;
        self.deliver(overload, given, &parts)
    }

    /// The value of an argument that an operation reads.
    fn operand(&mut self, param: &Param, given: &Given) -> Value {
        let value = match given {
            Given::Value { value, .. } => *value,
            Given::Memory { path, .. } => self.load_path(path),
        };
        match param.ty {
            TypeExpr::Test(_) => self.b.convert(value, Types::BOOL),
            _ => value,
        }
    }

    /// A number that represents a value of the first operand's type.
    fn like_first(&mut self, param: &Param, value: Value, before: &[Value]) -> Value {
        let Some(first) = before.first().filter(|_| param.ty == TypeExpr::Generic) else { return value };
        let (own, ty) = (self.b.type_of(value), self.b.type_of(*first));
        if own == ty { value } else { self.b.convert(value, ty) }
    }

    fn operation(&mut self, overload: &Overload, site: &Site, operands: &[Value], constants: &[u32]) -> Outcome<Parts> {
        let ty = self.result_type(overload, operands);
        match overload.lowering {
            Lowering::Lane { op, .. } => {
                let op = op.with_constants(constants).unwrap_or(op);
                let value = self.b.lane_as(op, ty, operands);
                Ok(match overload.results.len() {
                    2 => Parts::from_slice(&[self.b.extract(value, 0), self.b.extract(value, 1)]),
                    _ => Parts::from_slice(&[value]),
                })
            }
            Lowering::LaneAndValid { op, valid } => {
                let value = self.b.lane_as(op, ty, operands);
                Ok(Parts::from_slice(&[value, self.b.lane(valid, Types::BOOL, &operands[1..])]))
            }
            Lowering::Derived(of) => Ok(Parts::from_slice(&[self.derived(of, ty, operands, site)?])),
            Lowering::Barrier { execution, memory, kinds } => {
                self.b.barrier(execution, memory, kinds, Order::AcquireRelease);
                Ok(Parts::new())
            }
            Lowering::Math(_)
            | Lowering::Unary(_)
            | Lowering::Binary(_)
            | Lowering::Bitcast
            | Lowering::Select
            | Lowering::Atomic(_)
            | Lowering::Count { .. }
            | Lowering::End(_)
            | Lowering::Hint
            | Lowering::ScopedBarrier { .. }
            | Lowering::Image { .. }
            | Lowering::Pixel { .. }
            | Lowering::Interlock { .. }
            | Lowering::Saturated
            | Lowering::Instruction(_) => Err(unsupported(site)),
        }
    }

    fn derived(&mut self, of: Derived, ty: TypeId, operands: &[Value], site: &Site) -> Outcome<Value> {
        if of.needs_size() && self.shader.wave_size.is_none() {
            return Err(Box::new(grammar::size_unknown(&site.name, site.span)));
        }
        Ok(self.b.derived(of, ty, operands, self.shader.wave_size))
    }

    /// Type of the operation's result: the return type, or the type of the operands that are written back.
    fn result_type(&mut self, overload: &Overload, operands: &[Value]) -> TypeId {
        match (overload.ret, operands) {
            (TypeExpr::Generic, [data, ..]) => self.b.type_of(*data),
            (TypeExpr::Void, [key, value]) => {
                let (key, value) = (self.b.type_of(*key), self.b.type_of(*value));
                self.b.module.types.pair(key, value)
            }
            (TypeExpr::Void, [key]) => self.b.type_of(*key),
            (ret, _) => {
                let shape = ret.shape(Shape::BOOL);
                shape.map_or(Types::VOID, |shape| shape.intern(&mut self.b.module.types))
            }
        }
    }

    /// Writes results through pointers and returns the call's value.
    fn deliver(&mut self, overload: &Overload, given: &[Given], parts: &[Value]) -> Outcome<Option<Value>> {
        let places = match overload.results {
            [] => &[ResultSlot::Return],
            places => places,
        };
        let mut returned = None;
        for (place, part) in places.iter().zip(parts) {
            match place {
                ResultSlot::Return => returned = Some(*part),
                ResultSlot::Argument(at) => {
                    if let Given::Memory { path, .. } = &given[usize::from(*at)] {
                        self.store_path(path, *part);
                    }
                }
            }
        }
        Ok(returned)
    }

    /// The known numbers of an argument's components, checked by the row's rule.
    fn judge(&mut self, param: &Param, given: &Given, site: &Site) -> Outcome<SmallVec<[i128; 4]>> {
        let (span, known) = (given.span(), self.numbers(given));
        let (name, what) = (&site.name, param.name);
        if known.is_empty() && param.constant {
            let message = format!("the argument `{what}` of `{name}` must be a constant expression");
            return Err(failure(Code::ARGUMENT_NOT_CONSTANT, message, span, "not known when the shader is compiled"));
        }
        let broken = known.iter().find_map(|value| param.rule.check(*value).err());
        match broken {
            None => Ok(known),
            Some(error) => {
                Err(failure(error.code(), error.to_string(), span, &format!("the argument `{what}` of `{name}`")))
            }
        }
    }

    fn numbers(&self, given: &Given) -> SmallVec<[i128; 4]> {
        match given {
            Given::Value { value: Value::Const(id), .. } => self.b.module.constants.as_ints(&self.b.module.types, *id),
            _ => SmallVec::new(),
        }
    }

    /// A naga subgroup function with data that naga would reject.
    fn native_lane(&mut self, statement: &Statement) -> Outcome<Value> {
        match statement {
            Statement::SubgroupGather { mode, argument, .. } => self.gather(*mode, *argument),
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, .. } => {
                self.collective(*op, *collective_op, *argument)
            }
            _ => Err(self.unexpected("another statement", naga::Span::UNDEFINED)),
        }
    }
}
