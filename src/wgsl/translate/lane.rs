//! crosslane's own built-ins: from a carried call and its row of the tables to a lane operation.
//!
//! Types and constants of the arguments are judged here; whether the profile can run the operation is the planner's.

use super::super::builtin::{Builtin, Site, type_name};
use super::super::carrier::site_number;
use super::function::{Body, Slot};
use super::{Failure, Outcome};
use crate::diagnostic::{Code, Diagnostic};
use crate::grammar::{Lowering, Overload, Param, Shape, TypeExpr, Variable, VariableSource};
use crate::ir::derived::Derived;
use crate::ir::{Scalar, TypeId, Value};
use crate::source::Span;
use naga::{Expression, Handle};
use smallvec::SmallVec;

type Id = Handle<Expression>;

/// The 32-bit scalar of the same kind: the tables speak of these, what moves them moves the others.
fn usual(of: Scalar) -> Scalar {
    Scalar { width: if of.is_bool() { 1 } else { 32 }, ..of }
}

fn failure(code: Code, message: String, span: Span, label: &str) -> Failure {
    Box::new(Diagnostic::error(code, message).at(span, label))
}

impl Body<'_, '_, '_> {
    /// The value of a built-in's call, if that is what the expression carries.
    pub(super) fn carrier_at(&mut self, result: Id) -> Outcome<Option<Value>> {
        let carriers = self.shader.carriers;
        let Some(carried) = self.origin.and_then(|origin| carriers.carried(origin.key, result)) else {
            return Ok(None);
        };
        let site = &carriers.sites[carried.site];
        self.b.span = site.span;
        let data = self.value(carried.data)?;
        self.site(site, Some(data), &carried.rest).map(Some)
    }

    /// The call of a stub: a built-in without data, or the index of a carrier, which stands for nothing itself.
    pub(super) fn stub_call(&mut self, arguments: &[Id], result: Option<Id>, at: naga::Span) -> Outcome<()> {
        let carriers = self.shader.carriers;
        let number = site_number(self.expressions, arguments);
        let Some(site) = number.and_then(|number| carriers.sites.get(number)) else {
            return Err(self.unexpected("a stub's call without its number", at));
        };
        if site.data {
            return Ok(());
        }
        self.b.span = site.span;
        let value = self.site(site, None, &arguments[1..])?;
        if let Some(result) = result {
            self.set(result, Slot::Value(value));
        }
        Ok(())
    }

    fn site(&mut self, site: &Site, data: Option<Value>, rest: &[Id]) -> Outcome<Value> {
        match &site.builtin {
            Builtin::Variable(variable) => self.variable(variable, site),
            Builtin::Function(overloads) => {
                let overload = self.overload(overloads, site, data)?;
                self.lane_call(overload, site, data, rest)
            }
        }
    }

    fn variable(&mut self, variable: &Variable, site: &Site) -> Outcome<Value> {
        let ty = variable.ty.intern(&mut self.b.module.types);
        match variable.source {
            VariableSource::Lane(op) => Ok(self.b.lane_as(op, ty, &[])),
            VariableSource::BuiltIn(of) => Ok(self.load_input(of)),
            VariableSource::WorkgroupSize => {
                let message = format!("`{}` is not supported in WGSL yet", site.name);
                Err(failure(Code::NOT_SUPPORTED, message, site.span, "used here"))
            }
        }
    }

    /// The form that takes data of this type.
    fn overload(
        &mut self,
        overloads: &[&'static Overload],
        site: &Site,
        data: Option<Value>,
    ) -> Outcome<&'static Overload> {
        let Some(data) = data else { return Ok(overloads[0]) };
        let (ty, scalar, size) = self.shape(data);
        let shape = Shape::of(&self.b.module.types, ty);
        let taking = |shape: Shape| overloads.iter().copied().find(|o| o.generic.contains(shape));
        let found = shape.and_then(taking).or_else(|| Shape::vector(usual(scalar), size).and_then(taking));
        found.ok_or_else(|| {
            let given = shape.map_or_else(|| "this type".into(), |shape| format!("`{}`", type_name(shape)));
            let message = format!("`{}` takes no value of type {given}", site.name);
            let span = site.arguments.first().copied().unwrap_or(site.span);
            let error = Diagnostic::error(Code::NO_OVERLOAD, message).at(span, "of a type that it does not take");
            Box::new(overloads.iter().fold(error, |error, o| error.note(accepted(o))))
        })
    }

    fn lane_call(
        &mut self,
        overload: &'static Overload,
        site: &Site,
        data: Option<Value>,
        rest: &[Id],
    ) -> Outcome<Value> {
        let (op, constant_arg) = match overload.lowering {
            Lowering::Lane { op, constant_arg } => (Ok(op), constant_arg.map(usize::from)),
            Lowering::LaneAndValid { op, .. } => (Ok(op), None),
            Lowering::Derived(of) => (Err(of), None),
            _ => return Err(failure(Code::INTERNAL, "a built-in is no lane operation".into(), site.span, "this one")),
        };
        let mut operands: Vec<Value> = data.into_iter().collect();
        let mut constants: SmallVec<[u32; 4]> = SmallVec::new();
        let first = operands.len();
        for (place, (param, of)) in overload.params[first..].iter().zip(rest).enumerate() {
            let span = site.arguments.get(first + place).copied().unwrap_or(site.span);
            let known = self.judge(param, *of, site, span)?;
            match constant_arg == Some(first + place) {
                true => constants.extend(known.into_iter().map(|value| param.rule.meant(value as u32))),
                false => operands.push(self.value(*of)?),
            }
        }
        let ty = self.result_type(overload, data);
        Ok(match op {
            Ok(op) => self.b.lane_as(op.with_constants(&constants).unwrap_or(op), ty, &operands),
            Err(of) => self.derived(of, ty, &operands, site)?,
        })
    }

    fn derived(&mut self, of: Derived, ty: TypeId, operands: &[Value], site: &Site) -> Outcome<Value> {
        if of.needs_size() && self.shader.wave_size.is_none() {
            let message =
                format!("`{}` is a constant, and the profile does not say how many lanes a subgroup has", site.name);
            return Err(failure(Code::PROFILE_LACKS, message, site.span, "not known"));
        }
        Ok(self.b.derived(of, ty, operands, self.shader.wave_size))
    }

    fn result_type(&mut self, overload: &Overload, data: Option<Value>) -> TypeId {
        match (overload.ret, data) {
            (TypeExpr::Generic, Some(data)) => self.b.type_of(data),
            (ret, _) => {
                let shape = ret.shape(Shape::BOOL);
                shape.map_or(crate::ir::Types::VOID, |shape| shape.intern(&mut self.b.module.types))
            }
        }
    }

    /// The numbers that an argument's components are, where they are known; the row's rule holds for them.
    fn judge(&mut self, param: &Param, of: Id, site: &Site, span: Span) -> Outcome<SmallVec<[i128; 4]>> {
        let known = self.constant_ints(of)?;
        let (name, what) = (&site.name, param.name);
        if known.is_empty() && param.constant {
            let message = format!("the argument `{what}` of `{name}` must be a constant expression");
            return Err(failure(Code::ARGUMENT_NOT_CONSTANT, message, span, "not known when the shader is compiled"));
        }
        let broken = known.iter().find_map(|value| param.rule.check(*value, self.shader.wave_size).err());
        match broken {
            None => Ok(known),
            Some(error) => {
                Err(failure(error.code(), error.to_string(), span, &format!("the argument `{what}` of `{name}`")))
            }
        }
    }
}

/// What a form takes, in WGSL's names.
fn accepted(overload: &Overload) -> String {
    let mut types: Vec<String> = Vec::new();
    for name in overload.generic.iter().filter(|shape| !shape.is_matrix()).map(type_name) {
        if !types.contains(&name) {
            types.push(name);
        }
    }
    format!("it takes `{}`", types.join("`, `"))
}
