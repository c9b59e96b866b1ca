//! What the arguments of crosslane's built-ins are, and which form of a built-in takes them.

use super::super::builtin::{Site, type_name};
use super::Outcome;
use super::function::{Body, Slot};
use super::lane::failure;
use crate::diagnostic::{Code, Diagnostic};
use crate::grammar::{Lowering, Mode, Overload, Param, Shape, TypeExpr};
use crate::ir::whole::{is_whole, moves};
use crate::ir::{Scalar, ScalarKind, TypeId, Value};
use crate::source::Span;
use naga::{Expression, Handle, StorageAccess, TypeInner};

/// An argument.
pub(super) enum Given {
    Value {
        value: Value,
        ty: TypeId,
        span: Span,
    },
    /// A pointer to what may be read and written.
    Memory {
        pointer: Value,
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

    /// Type of the value, or of what the pointer points to.
    fn ty(&self) -> TypeId {
        match self {
            Given::Value { ty, .. } | Given::Memory { ty, .. } => *ty,
        }
    }
}

impl Body<'_, '_, '_> {
    pub(super) fn given_one(&mut self, of: Handle<Expression>, span: Span) -> Outcome<Given> {
        let place = match self.slot(of)? {
            Slot::Value(value) => return Ok(Given::Value { value, ty: self.b.type_of(value), span }),
            Slot::Place(place) => place,
        };
        if let Some(problem) = self.not_a_variable(of) {
            let message = format!("a cross-lane operation cannot work on {problem}");
            return Err(failure(Code::NOT_WRITABLE, message, span, "points there"));
        }
        let pointer = self.pointer(&place);
        let ty = self.b.type_of(pointer);
        let pointee = self.b.module.types.pointee(ty).map_or(ty, |(_, pointee)| pointee);
        Ok(Given::Memory { pointer, ty: self.b.module.types.logical(pointee), span })
    }

    /// What memory is that must not be read and written plainly.
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

    /// The form that takes these arguments.
    pub(super) fn overload(
        &mut self,
        forms: &[&'static Overload],
        site: &Site,
        given: &[Given],
    ) -> Outcome<&'static Overload> {
        if let Some(found) = forms.iter().find(|form| self.misfit(form, given).is_none()) {
            return Ok(found);
        }
        let worst = forms.iter().filter_map(|form| self.misfit(form, given)).max().unwrap_or(0);
        let (span, what) = given.get(worst).map_or((site.span, String::new()), |one| (one.span(), self.words(one)));
        if let Some(reason) = given.first().filter(|_| worst == 0).and_then(|data| self.unmovable(forms, data)) {
            let message = format!("`{}` cannot move {what}", site.name);
            return Err(failure(Code::NO_OVERLOAD, message, span, &format!("it {reason}")));
        }
        let message = format!("`{}` takes no {what} here", site.name);
        let error = Diagnostic::error(Code::NO_OVERLOAD, message).at(span, "not what it takes");
        Err(Box::new(forms.iter().fold(error, |error, form| error.note(accepted(form)))))
    }

    /// The first argument that a form does not take.
    fn misfit(&self, form: &Overload, given: &[Given]) -> Option<usize> {
        let types = &self.b.module.types;
        let generic = form.params.iter().zip(given).find(|(param, _)| param.ty == TypeExpr::Generic);
        let generic = generic.map(|(_, given)| given.ty());
        let first = |ty: TypeId| match Shape::of(types, ty) {
            Some(shape) if !shape.is_matrix() => form.generic.contains(shape),
            _ => moves_parts(form) && is_whole(types, ty) && moves(types, ty).is_ok(),
        };
        let takes = |param: &Param, given: &Given| match (param.ty, Shape::of(types, given.ty())) {
            (TypeExpr::Generic, _) => Some(given.ty()) == generic && first(given.ty()),
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

    /// Why a form that moves anything does not move this.
    fn unmovable(&self, forms: &[&'static Overload], data: &Given) -> Option<String> {
        let types = &self.b.module.types;
        let moved = forms.iter().any(|form| moves_parts(form)) && is_whole(types, data.ty());
        moved.then(|| moves(types, data.ty()).err())?.map(|reason| reason.to_string())
    }

    /// An argument in words: `value of type `f32``, `pointer to `f32``.
    fn words(&self, given: &Given) -> String {
        let types = &self.b.module.types;
        let ty = match Shape::of(types, given.ty()) {
            Some(shape) if !shape.is_matrix() => format!("`{}`", type_name(shape)),
            _ => "another type".to_string(),
        };
        match given {
            Given::Value { .. } => format!("value of type {ty}"),
            Given::Memory { .. } => format!("pointer to {ty}"),
        }
        .replace("type another type", "another type")
    }
}

/// Whether a form only hands on its first argument.
fn moves_parts(form: &Overload) -> bool {
    match form.lowering {
        Lowering::Lane { op, .. } | Lowering::LaneAndValid { op, .. } => op.moved_operands() > 0,
        _ => false,
    }
}

/// A number without a suffix is `i32` where naga knows nothing of the parameter.
fn is_signed(wanted: Shape, given: Shape) -> bool {
    let unsigned = Scalar { kind: ScalarKind::Uint, ..given.scalar() };
    given.scalar() == Scalar::I32 && wanted == given.with_scalar(unsigned)
}

/// What a form takes, in WGSL's names.
fn accepted(overload: &Overload) -> String {
    let mut types: Vec<String> = Vec::new();
    for name in overload.generic.iter().filter(|shape| !shape.is_matrix()).map(type_name) {
        if !types.contains(&name) {
            types.push(name);
        }
    }
    if types.is_empty() {
        format!("it is declared as `{}`", overload.signature)
    } else {
        format!("it takes `{}`", types.join("`, `"))
    }
}
