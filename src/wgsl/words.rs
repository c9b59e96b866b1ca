//! The rules of WGSL that naga's validator finds broken, in our words.
//!
//! naga's texts name its arenas, its inner types and its switches. What a module can break has a text of its own here; the
//! rest, which only a defect of naga's front end brings about, keeps naga's.

use naga::common::wgsl::TypeContext;
use naga::valid::{
    Capabilities, Disalignment, EntryPointError, ExpressionError, FunctionError, GlobalUse, GlobalVariableError,
    LocalVariableError, OverrideError, TypeError, TypeFlags, ValidationError, VaryingError, WidthError,
};
use naga::{AddressSpace, BuiltIn, Handle, ImageClass, ImageDimension, Module, ScalarKind, StorageAccess, TypeInner};
use std::error::Error;

/// What a message says, and whether crosslane, not the module, is to blame.
pub(super) struct Words {
    pub text: String,
    pub is_refusal: bool,
}

impl<T: Into<String>> From<T> for Words {
    fn from(text: T) -> Words {
        Words { text: text.into(), is_refusal: false }
    }
}

/// The text for an error; the innermost cause that has one gives it.
pub(super) fn of(error: &ValidationError, module: &Module) -> Option<Words> {
    let speaker = Speaker { module, variable: None };
    let speaker = match error {
        ValidationError::GlobalVariable { handle, .. } => Speaker { variable: Some(*handle), ..speaker },
        _ => speaker,
    };
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
        if let Some(WidthError::Abstract) = cause.downcast_ref() {
            return Some("a number without a type can stand in constant expressions only".into());
        }
        match cause.downcast_ref()? {
            OverrideError::DuplicateID => Some("two overrides have the same `@id`".into()),
            OverrideError::TypeNotScalar => Some("an override is a `bool` or a number".into()),
            _ => None,
        }
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
            TypeError::MatrixElementNotFloat => "the elements of a matrix are floats".into(),
            TypeError::UnsupportedImageType { arrayed, .. } => {
                let what = if arrayed { "arrays of such textures" } else { "such textures" };
                format!("there are no {what} in WGSL").into()
            }
            TypeError::InvalidBlendSrc(ref error) => return self.varying(error),
            _ => return None,
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
                None => format!("`{name}` needs a `@group` and a `@binding`").into(),
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
            _ => return None,
        })
    }

    fn entry_point(&self, error: &EntryPointError) -> Option<Words> {
        Some(match error {
            EntryPointError::Conflict => "two entry points of one stage have the same name".into(),
            EntryPointError::MissingVertexOutputPosition => {
                "a vertex entry point returns a `@builtin(position)`".into()
            }
            EntryPointError::UnexpectedEarlyDepthTest => {
                "`@early_depth_test` is for fragment entry points".into()
            }
            EntryPointError::UnexpectedWorkgroupSize => "`@workgroup_size` is for compute entry points".into(),
            EntryPointError::OutOfRangeWorkgroupSize => {
                "a size of the workgroup is zero, or the workgroup is larger than any device takes".into()
            }
            EntryPointError::ForbiddenStageOperations => {
                "the entry point reaches an operation that its stage does not have: derivatives, and samples that choose their \
                 level by them, are for fragments, barriers for compute shaders"
                    .into()
            }
            EntryPointError::InvalidGlobalUsage(of, usage) => self.wrong_use(*of, *usage).into(),
            EntryPointError::MoreThanOneImmediateUsed => {
                "the entry point uses more than one variable of immediate data".into()
            }
            EntryPointError::BindingCollision(of) => self.collision(*of).into(),
            EntryPointError::UnsupportedCapability(needed) => missing(*needed),
            EntryPointError::Function(error) => return self.function(error),
            EntryPointError::Result(error) => return self.varying(error),
            _ => return None,
        })
    }

    fn wrong_use(&self, of: Handle<naga::GlobalVariable>, usage: GlobalUse) -> String {
        let name = self.variable_name(of);
        match self.module.global_variables[of].space {
            AddressSpace::Storage { access } if !access.contains(StorageAccess::STORE) => {
                format!("`{name}` is only read; to write it, declare it as `var<storage, read_write>`")
            }
            AddressSpace::WorkGroup => format!("`{name}` is workgroup memory, which compute shaders only have"),
            space if usage.contains(GlobalUse::WRITE) => format!("`{name}` cannot be written in {}", named(space)),
            space => format!("`{name}` cannot be used so in {}", named(space)),
        }
    }

    /// Two resources of one entry point with one place.
    fn collision(&self, of: Handle<naga::GlobalVariable>) -> String {
        let variables = &self.module.global_variables;
        let (name, place) = (self.variable_name(of), &variables[of].binding);
        let other = variables.iter().find(|(handle, other)| *handle != of && other.binding == *place);
        let other = other.map_or("another resource", |(handle, _)| self.variable_name(handle));
        match place {
            Some(at) => {
                let (group, binding) = (at.group, at.binding);
                format!("`{name}` and `{other}` of one entry point are both `@group({group}) @binding({binding})`")
            }
            None => format!("`{name}` and `{other}` have the same binding"),
        }
    }

    fn varying(&self, error: &VaryingError) -> Option<Words> {
        Some(match *error {
            VaryingError::NotIOShareableType(of) | VaryingError::InvalidType(of) => format!(
                "a `{}` cannot be an input or output of an entry point: numbers and vectors of them can",
                self.type_name(of)
            )
            .into(),
            VaryingError::InvalidInterpolationForInteger => {
                "integers cannot be interpolated: write `@interpolate(flat)`".into()
            }
            VaryingError::InvalidInterpolationSamplingCombination { .. } => {
                "this kind of interpolation does not go with this kind of sampling".into()
            }
            VaryingError::InvalidBuiltInStage(of) => {
                format!("`@builtin({})` is not there in this stage, or not in this direction", builtin(of)).into()
            }
            VaryingError::InvalidBuiltInType(of, ref seen) => {
                format!("`@builtin({})` has another type than `{}`", builtin(of), self.inner_name(seen)).into()
            }
            VaryingError::MissingBinding => {
                "inputs and outputs of an entry point have a `@location` or a `@builtin`".into()
            }
            VaryingError::MemberMissingBinding(at) => {
                format!("member {} of the struct has no `@location` and no `@builtin`", at + 1).into()
            }
            VaryingError::BindingCollision { location } => {
                format!("two inputs, or two outputs, are at location {location}").into()
            }
            VaryingError::BindingCollisionBlendSrc { blend_src } => {
                format!("two outputs are `@blend_src({blend_src})`").into()
            }
            VaryingError::DuplicateBuiltIn(of) => format!("`@builtin({})` is there twice", builtin(of)).into(),
            VaryingError::UnsupportedCapability(needed) => missing(needed),
            VaryingError::InvalidBlendSrcIndex { .. } => "`@blend_src` is 0 or 1, at location 0".into(),
            VaryingError::IncompleteBlendSrcUsage { present_blend_src } => {
                format!("`@blend_src({present_blend_src})` is there without the other one").into()
            }
            VaryingError::InvalidBlendSrcWithOtherBindings { location } => {
                format!("an output at location {location} cannot be beside outputs with `@blend_src`").into()
            }
            VaryingError::BlendSrcOutputTypeMismatch { blend_src_0_type: a, blend_src_1_type: b } => format!(
                "the two outputs with `@blend_src` have different types, `{}` and `{}`",
                self.type_name(a),
                self.type_name(b)
            )
            .into(),
            VaryingError::BlendSrcNotOnStructMember => "`@blend_src` is for members of a struct".into(),
            _ => return None,
        })
    }

    fn function(&self, error: &FunctionError) -> Option<Words> {
        Some(match *error {
            FunctionError::NonConstructibleReturnType => "a function cannot return a value of this type".into(),
            FunctionError::InvalidArgumentType { ref name, .. } => {
                format!("the parameter `{name}` is of a type that cannot be passed").into()
            }
            FunctionError::InvalidArgumentPointerSpace { ref name, space, .. } => {
                format!("the parameter `{name}` cannot be a pointer to {}", named(space)).into()
            }
            FunctionError::BreakOutsideOfLoopOrSwitch => "`break` stands outside of a loop or `switch`".into(),
            FunctionError::ContinueOutsideOfLoop => "`continue` stands outside of a loop".into(),
            FunctionError::InvalidReturnSpot => "`return` cannot stand in a `continuing` block".into(),
            FunctionError::InvalidReturnType { expression: None, expected_ty: Some(ty) } => {
                format!("every path must return a value of type `{}`", self.type_name(ty)).into()
            }
            FunctionError::InvalidReturnType { expected_ty: Some(ty), .. } => {
                format!("the returned value is not of type `{}`", self.type_name(ty)).into()
            }
            FunctionError::InvalidReturnType { expected_ty: None, .. } => {
                "the function is declared without a result, and a value is returned".into()
            }
            FunctionError::InvalidIfType(_) => "the condition of an `if` is a `bool`".into(),
            FunctionError::InvalidSwitchType(_) => "the selector of a `switch` is an `i32` or `u32`".into(),
            FunctionError::ConflictingSwitchCase(_) => "two cases of the `switch` have the same value".into(),
            FunctionError::ConflictingCaseType => "a case of the `switch` has another type than its selector".into(),
            FunctionError::MissingDefaultCase => "the `switch` has no `default`".into(),
            FunctionError::MultipleDefaultCases => "the `switch` has two `default`s".into(),
            FunctionError::InvalidStorePointer(_) => "only variables that can be written can be assigned".into(),
            FunctionError::InvalidStoreTypes { .. } => {
                "the value and what it is assigned to have different types".into()
            }
            FunctionError::InvalidStoreTexture { .. } => {
                "`textureStore` needs a storage texture that can be written".into()
            }
            FunctionError::InvalidStoreValue { ref actual_ty, ref expected_ty, .. } => format!(
                "the texel of this texture is a `{}`, not a `{}`",
                self.inner_name(expected_ty),
                self.inner_name(actual_ty)
            )
            .into(),
            FunctionError::MissingCapability(needed) => missing(needed),
            FunctionError::NonUniformControlFlow(..) => {
                "this needs uniform control flow: all invocations must come here together".into()
            }
            FunctionError::PipelineInputRegularFunction { ref name } => {
                format!("`{name}` has a `@location` or `@builtin`, which are for entry points").into()
            }
            FunctionError::PipelineOutputRegularFunction => {
                "the result has a `@location` or `@builtin`, which are for entry points".into()
            }
            FunctionError::NonUniformWorkgroupUniformLoad(_) => {
                "`workgroupUniformLoad` needs uniform control flow: all invocations must come here together".into()
            }
            FunctionError::WorkgroupUniformLoadInvalidPointer(_) => {
                "`workgroupUniformLoad` takes a pointer to workgroup memory".into()
            }
            _ => return None,
        })
    }

    fn local(&self, error: &LocalVariableError) -> Option<Words> {
        Some(match error {
            LocalVariableError::InvalidType(of) => {
                format!("a variable of a function cannot be a `{}`", self.type_name(*of)).into()
            }
            LocalVariableError::InitializerType => "the initial value has another type than the variable".into(),
            LocalVariableError::NonConstOrOverrideInitializer => return None,
        })
    }

    fn expression(&self, error: &ExpressionError) -> Option<Words> {
        Some(match *error {
            ExpressionError::InvalidBaseType(_) => "this has no members or elements".into(),
            ExpressionError::InvalidIndexType(_) => "an index is an `i32` or `u32`".into(),
            ExpressionError::NegativeIndex(_) => "the index is negative".into(),
            ExpressionError::IndexOutOfBounds(_, at) => format!("the index {at} is out of bounds").into(),
            ExpressionError::InvalidPointerType(_) => "this cannot be read".into(),
            ExpressionError::InvalidArrayType(_) => "`arrayLength` takes a pointer to an array without a size".into(),
            ExpressionError::InvalidSplatType(_) => "a vector is made of numbers or bools".into(),
            ExpressionError::InvalidVectorType(_) => "this is no vector".into(),
            ExpressionError::InvalidZeroValue(of) => format!("there is no zero `{}`", self.type_name(of)).into(),
            ExpressionError::InvalidUnaryOperandType(op, _) => {
                format!("the operation {op:?} does not take an operand of this type").into()
            }
            ExpressionError::InvalidBinaryOperandTypes { op, ref lhs_type, ref rhs_type, .. } => format!(
                "the operation {op:?} does not take operands of types `{}` and `{}`",
                self.inner_name(lhs_type),
                self.inner_name(rhs_type)
            )
            .into(),
            ExpressionError::SelectValuesTypeMismatch { ref accept, ref reject } => format!(
                "the two values of `select` have different types, `{}` and `{}`",
                self.inner_name(reject),
                self.inner_name(accept)
            )
            .into(),
            ExpressionError::SelectConditionNotABool { ref actual } => {
                format!("the condition of `select` is a `bool`, not a `{}`", self.inner_name(actual)).into()
            }
            ExpressionError::InvalidBooleanVector(_) => "`all` and `any` take bools".into(),
            ExpressionError::InvalidDerivative => "derivatives are of floats and vectors of them".into(),
            ExpressionError::ComparisonSamplingMismatch { image, sampler, has_ref } => {
                comparison(image, sampler, has_ref).into()
            }
            ExpressionError::InvalidImageArrayIndex => {
                "an index of a layer is for arrays of textures, which need one".into()
            }
            ExpressionError::InvalidImageCoordinateType(dim, _) => {
                format!("the coordinate does not fit a texture of {}", dimensions(dim)).into()
            }
            ExpressionError::InvalidSampleOffsetExprType => "an offset of texels is a constant".into(),
            ExpressionError::InvalidSampleOffset(..) => {
                "an offset of texels has one component for each dimension of the texture".into()
            }
            ExpressionError::InvalidDepthReference(_) => "the depth to compare with is an `f32`".into(),
            ExpressionError::InvalidGatherDimension(_) => "texels are gathered of 2D and cube textures only".into(),
            ExpressionError::InvalidImageFormat(of) => format!("texels of the format {of:?} have no atomics").into(),
            ExpressionError::InvalidImageStorageAccess(_) => "atomics need a storage texture that is `atomic`".into(),
            ExpressionError::InvalidImageClass(_) => "this is not for textures of this kind".into(),
            ExpressionError::InvalidCastArgument => "a value of this type cannot be converted so".into(),
            ExpressionError::InvalidArgumentType(function, at, _) => {
                format!("argument {} of `{}` has the wrong type", at + 1, camel_case(&format!("{function:?}"))).into()
            }
            ExpressionError::WrongArgumentCount(function) => {
                format!("`{}` takes another number of arguments", camel_case(&format!("{function:?}"))).into()
            }
            ExpressionError::InvalidWorkGroupUniformLoadResultType(of) => {
                format!("`workgroupUniformLoad` cannot load a `{}`", self.type_name(of)).into()
            }
            ExpressionError::MissingCapabilities(needed) => missing(needed),
            ExpressionError::ShiftAmountTooLarge { ref lhs_type, .. } => {
                format!("a `{}` is shifted by as many bits as it has, or more", self.inner_name(lhs_type)).into()
            }
            ExpressionError::DivideByZero => "an integer is divided by zero".into(),
            _ => return None,
        })
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

const fn dimensions(of: ImageDimension) -> &'static str {
    match of {
        ImageDimension::D1 => "one dimension",
        ImageDimension::D2 => "two dimensions",
        ImageDimension::D3 => "three dimensions",
        ImageDimension::Cube => "a cube",
    }
}

/// What a type lacks for an address space.
fn lacking(flags: TypeFlags) -> &'static str {
    match () {
        () if flags.contains(TypeFlags::SIZED) => "has no fixed size",
        () if flags.contains(TypeFlags::HOST_SHAREABLE) => "cannot be in a buffer",
        () if flags.contains(TypeFlags::DATA) => "is no plain data",
        () => "is not allowed there",
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
    Words { text: format!("not supported yet: {}", names.join(", ")), is_refusal: true }
}

fn comparison(image: ImageClass, sampler: bool, has_ref: bool) -> String {
    let depth = matches!(image, ImageClass::Depth { .. });
    match (depth, sampler, has_ref) {
        (false, true, _) => "a `sampler_comparison` is for depth textures, and this is none",
        (_, true, false) => "a `sampler_comparison` is for `textureSampleCompare` and its kind",
        (_, false, true) => "a comparison needs a `sampler_comparison`",
        _ => "a comparison needs a depth texture",
    }
    .into()
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
        _ => return "this address space".into(),
    };
    format!("the address space `{name}`")
}

fn scalar(kind: ScalarKind, width: naga::Bytes) -> String {
    let bits = u32::from(width) * 8;
    match kind {
        ScalarKind::Bool => "a `bool`".into(),
        ScalarKind::Sint => format!("an `i{bits}`"),
        ScalarKind::Uint => format!("a `u{bits}`"),
        _ => format!("an `f{bits}`"),
    }
}

/// A built-in value as it is written; naga names it in capitals.
fn builtin(of: BuiltIn) -> String {
    let debug = format!("{of:?}");
    let name = debug.split([' ', '(', '{']).next().unwrap_or_default().replace("WorkGroup", "Workgroup");
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

fn camel_case(name: &str) -> String {
    let mut rest = name.chars();
    rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
}
