//! The arguments of crosslane's built-ins, and overload resolution.

use super::super::builtin::{Site, type_name};
use super::function::{Body, Slot};
use super::lane::failure;
use super::memory::PointerPath;
use super::{Failure, Outcome};
use crate::diagnostic::{Code, Diagnostic};
use crate::grammar::{Lowering, Mode, Overload, Param, Shape, TypeExpr};
use crate::ir::whole::{is_whole, moves};
use crate::ir::{Module, Scalar, ScalarKind, Type, TypeId, Types, Value};
use crate::source::Span;
use naga::{Expression, Handle, StorageAccess, TypeInner};

/// An argument.
pub(super) enum Given {
    Value {
        value: Value,
        ty: TypeId,
        span: Span,
    },
    /// A pointer to memory that may be read and written.
    Memory {
        path: PointerPath,
        ty: TypeId,
        span: Span,
    },
}

impl Given {
    pub(super) fn span(&self) -> Span {
        match self {
            Given::Value { span, .. } | Given::Memory { span, .. } => *span,
        }
    }

    /// Type of the value, or of the pointer's target.
    fn ty(&self) -> TypeId {
        match self {
            Given::Value { ty, .. } | Given::Memory { ty, .. } => *ty,
        }
    }
}

impl Body<'_, '_, '_> {
    pub(super) fn given_one(&mut self, of: Handle<Expression>, span: Span) -> Outcome<Given> {
        let path = match self.slot(of)? {
            Slot::Value(value) => return Ok(Given::Value { value, ty: self.b.type_of(value), span }),
            Slot::Pointer(path) => path,
        };
        if let Some(problem) = self.not_a_variable(of) {
            let message = format!("a cross-lane operation cannot work on {problem}");
            return Err(failure(Code::NOT_WRITABLE, message, span, "points there"));
        }
        let pointer = self.pointer(&path);
        let ty = self.b.type_of(pointer);
        let pointee = self.b.module.types.pointee(ty).map_or(ty, |(_, pointee)| pointee);
        Ok(Given::Memory { path, ty: self.b.module.types.logical(pointee), span })
    }

    /// A description of memory that cannot be read and written plainly.
    fn not_a_variable(&self, of: Handle<Expression>) -> Option<&'static str> {
        let origin = self.origin?;
        let types = &self.shader.naga.types;
        let (atomic, space) = match *origin.info[of].ty.inner_with(types) {
            TypeInner::Pointer { base, space } => (matches!(types[base].inner, TypeInner::Atomic(_)), space),
            TypeInner::ValuePointer { space, .. } => (false, space),
            _ => return None,
        };
        match space {
            _ if atomic => Some("an atomic variable"),
            naga::AddressSpace::Storage { access } if !access.contains(StorageAccess::STORE) => {
                Some("memory that is only read")
            }
            naga::AddressSpace::Uniform | naga::AddressSpace::Immediate => Some("memory that is only read"),
            _ => None,
        }
    }

    /// The overload for these arguments.
    pub(super) fn overload(
        &mut self,
        forms: &[&'static Overload],
        site: &Site,
        given: &[Given],
    ) -> Outcome<&'static Overload> {
        match forms.iter().find(|form| self.misfit(form, given).is_none()) {
            Some(found) => Ok(found),
            None => Err(self.mismatch(forms, site, given)),
        }
    }

    /// The message about the first argument that no overload accepts.
    fn mismatch(&self, forms: &[&'static Overload], site: &Site, given: &[Given]) -> Failure {
        let worst = forms.iter().filter_map(|form| self.misfit(form, given)).max().unwrap_or(0);
        let Some(bad) = given.get(worst) else {
            return failure(Code::INTERNAL, format!("`{}` has too few arguments", site.name), site.span, "this call");
        };
        let (message, label) = self.reason(forms, &site.name, (worst, bad));
        let error = Diagnostic::error(Code::NO_OVERLOAD, message).at(bad.span(), label);
        let mut notes: Vec<String> = forms.iter().map(|form| accepted(form)).collect();
        notes.dedup();
        Box::new(notes.into_iter().fold(error, Diagnostic::note))
    }

    /// The error in an argument, and its label.
    fn reason(&self, forms: &[&'static Overload], name: &str, (at, bad): (usize, &Given)) -> (String, String) {
        let in_all = |holds: fn(&Param) -> bool| forms.iter().all(|form| holds(&form.params[at]));
        let shape = Shape::of(&self.b.module.types, bad.ty()).filter(|shape| !shape.is_matrix());
        let other = "of a type that it does not take".to_string();
        match (bad, shape) {
            (Given::Value { .. }, _) if in_all(|param| param.mode != Mode::In) => {
                (format!("`{name}` writes to this argument, so it takes a pointer"), "a value".into())
            }
            (Given::Memory { .. }, _) if in_all(|param| param.mode == Mode::In) => {
                (format!("`{name}` takes a value here"), "a pointer".into())
            }
            (_, None) => match self.unmovable(forms, bad) {
                Some(reason) => (format!("`{name}` cannot move this value"), reason),
                None => (format!("`{name}` takes no struct, array or matrix"), other),
            },
            _ if at > 0 && in_all(|param| param.ty == TypeExpr::Generic) => {
                (format!("`{name}` takes values of one type"), "of another type than the first".into())
            }
            (_, Some(shape)) => (format!("`{name}` takes no value of type `{}`", type_name(shape)), other),
        }
    }

    /// The first argument that an overload does not accept.
    fn misfit(&self, form: &Overload, given: &[Given]) -> Option<usize> {
        let types = &self.b.module.types;
        let generic = form.params.iter().zip(given).find(|(param, _)| param.ty == TypeExpr::Generic);
        let generic = generic.map(|(_, given)| given.ty());
        let first = |ty: TypeId| match Shape::of(types, ty) {
            Some(shape) if !shape.is_matrix() => form.generic.contains(shape),
            _ => moves_parts(form) && is_whole(types, ty) && moves(types, ty).is_ok(),
        };
        let takes = |param: &Param, given: &Given| match (param.ty, Shape::of(types, given.ty())) {
            (TypeExpr::Generic, _) => {
                generic.is_some_and(|ty| first(ty) && (ty == given.ty() || self.is_number_for(given, ty)))
            }
            (TypeExpr::Is(shape) | TypeExpr::Test(shape), Some(own)) => {
                shape == own || param.constant && is_signed(shape, own)
            }
            _ => false,
        };
        let fits = |param: &Param, given: &Given| {
            let is_memory = matches!(given, Given::Memory { .. });
            is_memory == (param.mode != Mode::In) && takes(param, given)
        };
        form.params.iter().zip(given).position(|(param, given)| !fits(param, given))
    }

    /// Returns true if an argument is an integer literal that a type represents exactly. Without a suffix it arrives as
    /// `i32`, because naga does not know the intended type.
    fn is_number_for(&self, given: &Given, ty: TypeId) -> bool {
        let Module { types, constants, .. } = &*self.b.module;
        let (Given::Value { value: Value::Const(id), ty: own, .. }, Type::Scalar(scalar)) = (given, types.get(ty))
        else {
            return false;
        };
        if *own != Types::I32 {
            return false;
        }
        let bits = match (scalar.kind, scalar.width) {
            (ScalarKind::Bool | ScalarKind::Encoded(_), _) => return false,
            (ScalarKind::Float, 16) => 11,
            (ScalarKind::Float, 32) => 24,
            (ScalarKind::Float, _) | (ScalarKind::Sint, _) => 31,
            (ScalarKind::Uint, _) => return constants.as_int(types, *id).is_some_and(|number| number >= 0),
        };
        constants.as_int(types, *id).is_some_and(|number| (-(1i128 << bits)..=1 << bits).contains(&number))
    }

    /// Why a form that moves anything does not move this.
    fn unmovable(&self, forms: &[&'static Overload], data: &Given) -> Option<String> {
        let types = &self.b.module.types;
        let moved = forms.iter().any(|form| moves_parts(form)) && is_whole(types, data.ty());
        moved.then(|| moves(types, data.ty()).err())?.map(|reason| format!("it {reason}"))
    }
}

/// Returns true if a form only hands on its first argument.
fn moves_parts(form: &Overload) -> bool {
    match form.lowering {
        Lowering::Lane { op, .. } | Lowering::LaneAndValid { op, .. } => op.signature().moved() > 0,
        _ => false,
    }
}

/// A number without a suffix is `i32` if naga knows nothing about the parameter.
fn is_signed(wanted: Shape, given: Shape) -> bool {
    let unsigned = Scalar { kind: ScalarKind::Uint, ..given.scalar() };
    given.scalar() == Scalar::I32 && wanted == given.with_scalar(unsigned)
}

/// The types that an overload accepts, in WGSL's names; WGSL has no integers of 8 and 16 bits.
fn accepted(overload: &Overload) -> String {
    let narrow = |scalar: Scalar| scalar.is_int() && scalar.width < 32;
    let shapes = overload.generic.iter().filter(|shape| !shape.is_matrix() && !narrow(shape.scalar()));
    let names: Vec<String> = shapes.clone().filter(|shape| shape.size() == 1).map(type_name).collect();
    let vectors = if shapes.clone().any(|shape| shape.size() > 1) { " and vectors of these" } else { "" };
    let whole = if moves_parts(overload) { ", structs and arrays" } else { "" };
    match names.is_empty() {
        true => format!("it is declared as `{}`", overload.signature),
        false => format!("it takes `{}`{vectors}{whole}", names.join("`, `")),
    }
}
