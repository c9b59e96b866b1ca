//! The rules of WGSL that naga's validator finds broken, in our words.
//!
//! naga's messages name its arenas, inner types and switches. Each rule that a module can break has a message of its
//! own here; the others, which only a defect of naga's front end can break, keep naga's. No match has a `_`, so that a
//! new error in naga does not compile, and each error without a message is next to the reason why it cannot occur.

#![deny(clippy::wildcard_enum_match_arm)]

mod body;
mod constant;
mod constructor;
mod interface;

use body::subgroup;
pub(super) use constant::worded;
pub(super) use constructor::constructor;
use naga::common::wgsl::TypeContext;
use naga::proc::{LayoutErrorInner, ResolveError};
use naga::valid::{
    Capabilities, ComposeError, ConstExpressionError, ConstantError, Disalignment, GlobalVariableError, ImmediateError,
    LiteralError, OverrideError, TypeError, TypeFlags, ValidationError, WidthError,
};
use naga::{AddressSpace, Handle, Module, ScalarKind, TypeInner};
use std::error::Error;

/// The text of a message, and whether crosslane, not the module, is to blame.
pub(super) struct Words {
    pub text: String,
    pub is_refusal: bool,
    /// Advice what to write instead.
    pub help: Option<&'static str>,
}

impl<T: Into<String>> From<T> for Words {
    fn from(text: T) -> Words {
        Words { text: text.into(), is_refusal: false, help: None }
    }
}

/// The text for an error at `source`; the innermost cause that has one gives it.
pub(super) fn of(error: &ValidationError, module: &Module, source: &str) -> Option<Words> {
    let variable = if let ValidationError::GlobalVariable { handle, .. } = error { Some(*handle) } else { None };
    let speaker = Speaker { module, variable, source };
    let mut causes = Vec::new();
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = next {
        causes.push(cause);
        next = cause.source();
    }
    causes.into_iter().rev().find_map(|cause| speaker.cause(cause))
}

struct Speaker<'a> {
    module: &'a Module,
    /// The variable that is wrong, where it is one.
    variable: Option<Handle<naga::GlobalVariable>>,
    /// The text at the place of the error.
    source: &'a str,
}

impl Speaker<'_> {
    fn cause(&self, cause: &(dyn Error + 'static)) -> Option<Words> {
        if let Some(error) = cause.downcast_ref() {
            return self.expression(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return self.ty(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return self.varying(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return alignment(error).map(Words::from);
        }
        if let Some(error) = cause.downcast_ref() {
            return self.variable(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return self.entry_point(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return self.function(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return self.local(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return self.call(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return subgroup(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return self.constant_expression(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return Some(self.compose(error));
        }
        if let Some(error) = cause.downcast_ref() {
            return width(error);
        }
        if let Some(error) = cause.downcast_ref() {
            return self.override_of_pipeline(error);
        }
        small(cause)
    }

    /// A type as it is written.
    fn type_name(&self, of: Handle<naga::Type>) -> String {
        let mut text = String::new();
        let _ = self.module.to_ctx().write_type(of, &mut text);
        text
    }

    fn inner_name(&self, of: &TypeInner) -> String {
        let mut text = String::new();
        let _ = self.module.to_ctx().write_type_inner(of, &mut text);
        text
    }

    fn variable_name(&self, of: Handle<naga::GlobalVariable>) -> &str {
        self.module.global_variables[of].name.as_deref().unwrap_or("a variable")
    }

    fn ty(&self, error: &TypeError) -> Option<Words> {
        Some(match *error {
            TypeError::MissingCapability(needed) => missing(needed),
            TypeError::InvalidAtomicWidth(kind, width) => {
                format!("an atomic cannot be {}: it is an integer of 32 or 64 bits", scalar(kind, width)).into()
            }
            TypeError::InvalidArrayBaseType(of) => {
                format!("`{}` cannot be the element of an array: it has no fixed size", self.type_name(of)).into()
            }
            TypeError::InvalidDynamicArray(ref name, _) => {
                format!("the member `{name}` has no fixed size; only the last member of a struct may have none").into()
            }
            TypeError::InvalidPointerToUnsized { space, .. } => {
                format!("an array without a size can be in the address space `storage` only, not in {}", named(space))
                    .into()
            }
            TypeError::InvalidData(of) => {
                format!("`{}` cannot be a member of a struct or the element of an array", self.type_name(of)).into()
            }
            TypeError::EmptyStruct => "a struct needs a member".into(),
            TypeError::InvalidPointerBase(of) => format!("a pointer cannot point to a `{}`", self.type_name(of)).into(),
            TypeError::UnsupportedSpecializedArrayLength(_) => {
                "the length of an array cannot depend on an override here".into()
            }
            TypeError::BindingArrayBaseTypeNotStruct(of) => {
                format!("`{}` cannot be the element of a binding array", self.type_name(of)).into()
            }
            TypeError::BindingArrayBaseExternalTextures => {
                "`texture_external` cannot be the element of a binding array".into()
            }
            TypeError::MemberOverlap { index, .. } => {
                format!("member {} of the struct overlaps the one before it", index + 1).into()
            }
            TypeError::MemberOutOfBounds { index, .. } => {
                format!("member {} of the struct ends after the struct does", index + 1).into()
            }
            TypeError::UnresolvedOverride(of) => {
                format!("the length of `{}` depends on an override without a value", self.type_name(of)).into()
            }
            TypeError::InvalidArraySize(of) => format!("the length of `{}` is not positive", self.type_name(of)).into(),
            TypeError::MatrixElementNotFloat => "the elements of a matrix are floats".into(),
            TypeError::UnsupportedImageType { arrayed, .. } => {
                let what = if arrayed { "arrays of such textures" } else { "such textures" };
                format!("there are no {what} in WGSL").into()
            }
            TypeError::InvalidBlendSrc(ref error) => return self.varying(error),
            TypeError::WidthError(ref error) => return width(error),
            // naga computes the strides of arrays itself.
            TypeError::InvalidArrayStride { .. } => return None,
        })
    }

    fn variable(&self, error: &GlobalVariableError) -> Option<Words> {
        let handle = self.variable?;
        let (name, ty) = (self.variable_name(handle), self.type_name(self.module.global_variables[handle].ty));
        Some(match error {
            GlobalVariableError::InvalidUsage(space) | GlobalVariableError::InvalidType(space) => {
                format!("`{name}` cannot be in {}: its type is `{ty}`", named(*space)).into()
            }
            GlobalVariableError::MissingTypeFlags { required, seen } => {
                let space = named(self.module.global_variables[handle].space);
                let lacks = lacking(required.difference(*seen));
                format!("`{name}` cannot be in {space}: its type `{ty}` {lacks}").into()
            }
            GlobalVariableError::InvalidBinding => match self.module.global_variables[handle].binding {
                None => Words::with_help(
                    format!("`{name}` needs a `@group` and a `@binding`"),
                    "write `@group(0) @binding(N)` in front of it, with a number that no other variable has",
                ),
                Some(_) => format!("`{name}` cannot have a `@group` and a `@binding`: nothing is bound to it").into(),
            },
            GlobalVariableError::InitializerType => format!("the initial value of `{name}` is not a `{ty}`").into(),
            GlobalVariableError::InitializerNotAllowed(space) => {
                format!("`{name}` cannot have an initial value: it is in {}", named(*space)).into()
            }
            GlobalVariableError::InitializerExprType => {
                format!("the initial value of `{name}` is not known before the shader runs").into()
            }
            GlobalVariableError::StorageAddressSpaceWriteOnlyNotSupported => {
                format!("`{name}` cannot be `write` only: buffers are `read` or `read_write`").into()
            }
            GlobalVariableError::InvalidImmediateType(_) => {
                format!("`{name}` cannot be immediate data: its type is `{ty}`").into()
            }
            GlobalVariableError::UnsupportedCapability(needed) => missing(*needed),
            GlobalVariableError::InvalidBindingArray(_) => {
                format!("`{name}` cannot be a binding array: its type is `{ty}`").into()
            }
            GlobalVariableError::InvalidMemoryDecorationsAddressSpace => {
                format!("`{name}` cannot be `@coherent` or `@volatile`: only storage buffers can").into()
            }
            GlobalVariableError::CoherentNotSupported => Words::refusal("`@coherent` is not supported yet"),
            GlobalVariableError::VolatileNotSupported => Words::refusal("`@volatile` is not supported yet"),
            GlobalVariableError::ZeroSizedTaskPayload => Words::refusal("task shaders are not supported yet"),
            GlobalVariableError::Alignment(.., cause) => return alignment(cause).map(Words::from),
        })
    }
}

impl Speaker<'_> {
    fn constant_expression(&self, error: &ConstExpressionError) -> Option<Words> {
        Some(match error {
            ConstExpressionError::NonConstOrOverride => "this is not known before the shader runs".into(),
            ConstExpressionError::NonFullyEvaluatedConst => "this is not a constant".into(),
            ConstExpressionError::InvalidSplatType(_) => "a vector is made of numbers or bools".into(),
            ConstExpressionError::Compose(error) => self.compose(error),
            ConstExpressionError::Literal(error) => return literal(error),
            ConstExpressionError::Width(error) => return width(error),
            ConstExpressionError::Type(error) => resolution(error),
        })
    }

    fn compose(&self, error: &ComposeError) -> Words {
        let ty = constructor::constructed(self.source);
        match *error {
            ComposeError::Type(_) => "a value of this type is not made of parts".into(),
            ComposeError::ComponentCount { given, expected } => constructor::miscounted(ty, expected, given).into(),
            ComposeError::ComponentType { index } => {
                format!("argument {} of `{ty}(…)` has the wrong type", index + 1).into()
            }
        }
    }

    fn override_of_pipeline(&self, error: &OverrideError) -> Option<Words> {
        Some(match error {
            OverrideError::DuplicateID => "two overrides have the same `@id`".into(),
            OverrideError::TypeNotScalar => "an override is a `bool` or a number".into(),
            OverrideError::InvalidType => "the default value of the override has another type".into(),
            OverrideError::InitializerExprType => "the default value of the override is not a constant".into(),
            OverrideError::NonConstructibleType => "an override cannot be of this type".into(),
            OverrideError::ConstExpression { source, .. } => return self.constant_expression(source),
            // WGSL gives each override a name.
            OverrideError::MissingNameAndID => return None,
            // These errors are for modules whose overrides already have values.
            OverrideError::NotAllowed | OverrideError::UninitializedOverride => return None,
        })
    }
}

fn width(error: &WidthError) -> Option<Words> {
    Some(match *error {
        WidthError::Abstract => "a number without a type is allowed in constant expressions only".into(),
        WidthError::Invalid(kind, bytes) => format!("there is no type for {} in WGSL", scalar(kind, bytes)).into(),
        WidthError::MissingCapability { name, .. } => Words::refusal(format!("`{name}` is not supported yet")),
    })
}

/// Errors of which there are few.
fn small(cause: &(dyn Error + 'static)) -> Option<Words> {
    if let Some(error) = cause.downcast_ref() {
        return Some(match error {
            ConstantError::InitializerExprType => "the value of the constant is not a constant".into(),
            ConstantError::InvalidType => "the value of the constant is of another type".into(),
            ConstantError::NonConstructibleType => "a constant cannot be of this type".into(),
        });
    }
    if let Some(error) = cause.downcast_ref() {
        return Some(resolution(error));
    }
    if let Some(ImmediateError::InvalidScalar(_)) = cause.downcast_ref() {
        return Some("immediate data cannot hold values of this type".into());
    }
    match cause.downcast_ref()? {
        ValidationError::ArraySizeError { .. } => Some("the length of an array is not positive".into()),
        ValidationError::Layouter(error) => layout(&error.inner),
        // Their sources say the reason.
        ValidationError::Type { .. }
        | ValidationError::ConstExpression { .. }
        | ValidationError::Constant { .. }
        | ValidationError::Override { .. }
        | ValidationError::GlobalVariable { .. }
        | ValidationError::Function { .. }
        | ValidationError::EntryPoint { .. } => None,
        // naga's front end makes handles of things that are there only.
        ValidationError::InvalidHandle(_) | ValidationError::Corrupted => None,
    }
}

fn layout(error: &LayoutErrorInner) -> Option<Words> {
    match error {
        LayoutErrorInner::TooLarge => Some("a type is larger than 1 GiB".into()),
        // Element and member types precede their composites, and WGSL's scalars have 2, 4 or 8 bytes.
        LayoutErrorInner::InvalidArrayElementType(_)
        | LayoutErrorInner::InvalidStructMemberType(..)
        | LayoutErrorInner::NonPowerOfTwoWidth => None,
    }
}

fn literal(error: &LiteralError) -> Option<Words> {
    Some(match error {
        LiteralError::NaN => "the value is not a number".into(),
        LiteralError::Infinity => "the value is infinite".into(),
        LiteralError::Width(error) => return width(error),
    })
}

fn resolution(error: &ResolveError) -> Words {
    match error {
        ResolveError::IncompatibleOperands(_) => "the operands have types that do not go together".into(),
        ResolveError::OutOfBoundsIndex { index, .. } => format!("the index {index} is out of bounds").into(),
        ResolveError::FunctionReturnsVoid => "the function has no result, and one is used".into(),
        ResolveError::InvalidAccess { .. }
        | ResolveError::InvalidSubAccess { .. }
        | ResolveError::InvalidScalar(_)
        | ResolveError::InvalidVector(_)
        | ResolveError::InvalidPointer(_)
        | ResolveError::InvalidImage(_)
        | ResolveError::FunctionNotDefined { .. }
        | ResolveError::FunctionArgumentNotFound(_)
        | ResolveError::MissingSpecialType
        | ResolveError::BuiltinArgumentsInvalid(_) => {
            "this expression has no type: an operand is of a type that it does not take".into()
        }
    }
}

/// Uniform buffers ask for more than others (WGSL 14.4.5).
fn alignment(error: &Disalignment) -> Option<String> {
    Some(match *error {
        Disalignment::ArrayStride { stride, alignment } => format!(
            "elements of this array lie {stride} bytes apart, and {alignment} must divide that in a uniform buffer"
        ),
        Disalignment::StructSpan { span, alignment } => {
            format!("this struct has {span} bytes, and {alignment} must divide that in a uniform buffer")
        }
        Disalignment::MemberOffset { index, offset, alignment } => format!(
            "member {} of the struct is at byte {offset}, and {alignment} must divide that in this address space; \
             write `@align` before it",
            index + 1
        ),
        Disalignment::MemberOffsetAfterStruct { index, offset, expected } => format!(
            "member {} of the struct is at byte {offset}, and can be at {expected} at the earliest after a struct; \
             write `@size` before that one",
            index + 1
        ),
        Disalignment::UnsizedMember { index } => format!("member {} of the struct has no fixed size", index + 1),
        Disalignment::NonHostShareable => "values of this type cannot be in a buffer".into(),
    })
}

/// The property that a type lacks for an address space.
fn lacking(flags: TypeFlags) -> &'static str {
    match () {
        () if flags.contains(TypeFlags::SIZED) => "has no fixed size",
        () if flags.contains(TypeFlags::HOST_SHAREABLE) => "cannot be in a buffer",
        () if flags.contains(TypeFlags::DATA) => "is not plain data",
        () => "is not allowed there",
    }
}

impl Words {
    fn with_help(text: impl Into<String>, help: &'static str) -> Words {
        Words { help: Some(help), ..Words::from(text) }
    }

    fn refusal(text: impl Into<String>) -> Words {
        Words { text: text.into(), is_refusal: true, help: None }
    }
}

/// crosslane does not support everything that naga knows.
fn missing(needed: Capabilities) -> Words {
    let name = |(name, _): (&str, _)| match name {
        "SHADER_FLOAT32_ATOMIC" => "atomics on `f32`".into(),
        "TEXTURE_INT64_ATOMIC" => "atomics on texels of 64 bits".into(),
        name => name.to_lowercase().replace('_', " "),
    };
    let names: Vec<String> = needed.iter_names().map(name).collect();
    Words { text: format!("not supported yet: {}", names.join(", ")), is_refusal: true, help: None }
}

/// An address space as it is written.
fn named(space: AddressSpace) -> String {
    let name = match space {
        AddressSpace::Function => "function",
        AddressSpace::Private => "private",
        AddressSpace::WorkGroup => "workgroup",
        AddressSpace::Uniform => "uniform",
        AddressSpace::Storage { .. } => "storage",
        AddressSpace::Immediate => "immediate",
        AddressSpace::Handle => return "the address space of textures and samplers".into(),
        AddressSpace::TaskPayload => "task_payload",
        AddressSpace::RayPayload => "ray_payload",
        AddressSpace::IncomingRayPayload => "incoming_ray_payload",
    };
    format!("the address space `{name}`")
}

fn scalar(kind: ScalarKind, width: naga::Bytes) -> String {
    let bits = u32::from(width) * 8;
    match kind {
        ScalarKind::Bool => "a `bool`".into(),
        ScalarKind::Sint => format!("an `i{bits}`"),
        ScalarKind::Uint => format!("a `u{bits}`"),
        ScalarKind::Float => format!("an `f{bits}`"),
        ScalarKind::AbstractInt => "an AbstractInt".into(),
        ScalarKind::AbstractFloat => "an AbstractFloat".into(),
    }
}

fn camel_case(name: &str) -> String {
    let mut rest = name.chars();
    rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
}
