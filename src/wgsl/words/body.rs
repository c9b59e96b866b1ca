//! Words for errors in the bodies of functions.

use super::{Speaker, Words, camel_case, literal, missing, named, resolution, scalar};
use naga::proc::IndexableLengthError;
use naga::valid::{CallError, ExpressionError, FunctionError, LocalVariableError, SubgroupError};
use naga::{ImageClass, ImageDimension};
use std::fmt::Debug;

impl Speaker<'_> {
    pub(super) fn function(&self, error: &FunctionError) -> Option<Words> {
        Some(match *error {
            FunctionError::NonConstructibleReturnType => "a function cannot return a value of this type".into(),
            FunctionError::InvalidArgumentType { ref name, .. } => {
                format!("the parameter `{name}` is of a type that cannot be passed").into()
            }
            FunctionError::InvalidArgumentPointerSpace { ref name, space, .. } => {
                format!("the parameter `{name}` cannot be a pointer to {}", named(space)).into()
            }
            FunctionError::BreakOutsideOfLoopOrSwitch => "`break` is outside of a loop or `switch`".into(),
            FunctionError::ContinueOutsideOfLoop => "`continue` is outside of a loop".into(),
            FunctionError::InvalidReturnSpot => "`return` is not allowed in a `continuing` block".into(),
            FunctionError::InvalidReturnType { expression: None, expected_ty: Some(ty) } => {
                format!("every path must return a value of type `{}`", self.type_name(ty)).into()
            }
            FunctionError::InvalidReturnType { expected_ty: Some(ty), .. } => {
                format!("the returned value is not of type `{}`", self.type_name(ty)).into()
            }
            FunctionError::InvalidReturnType { expected_ty: None, .. } => {
                let message = "the function is declared without a result, and a value is returned";
                Words::with_help(message, "write the type of the result after the parameters: `fn f() -> f32`")
            }
            FunctionError::InvalidIfType(_) => "the condition of an `if` is a `bool`".into(),
            FunctionError::InvalidSwitchType(_) => "the selector of a `switch` is an `i32` or `u32`".into(),
            FunctionError::ConflictingSwitchCase(_) => "two cases of the `switch` have the same value".into(),
            FunctionError::ConflictingCaseType => "a case of the `switch` has another type than its selector".into(),
            FunctionError::MissingDefaultCase => "the `switch` has no `default`".into(),
            FunctionError::MultipleDefaultCases => "the `switch` has two `default`s".into(),
            FunctionError::InvalidStorePointer(_) => Words::with_help(
                "this variable is read-only",
                "declare a buffer as `var<storage, read_write>`, and a local variable with `var`",
            ),
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
            FunctionError::InvalidAtomic(ref error) => return atomic(error),
            FunctionError::InvalidImageAtomicFunction(_) => "textures do not have this atomic operation".into(),
            FunctionError::InvalidImageAtomicValue(_) => {
                "the value of this atomic operation is not of the type of the texture's texels".into()
            }
            FunctionError::InvalidRayQueryExpression(_) | FunctionError::InvalidRayQueryType(_) => {
                "this takes a pointer to a variable of the type `ray_query`".into()
            }
            FunctionError::InvalidAccelerationStructure(_) => "this takes an `acceleration_structure`".into(),
            FunctionError::InvalidRayDescriptor(_) => "this takes a `RayDesc`".into(),
            FunctionError::InvalidHitDistanceType(_) => "the distance of a hit is an `f32`".into(),
            FunctionError::InvalidCooperativeStoreTarget(_) | FunctionError::InvalidCooperativeDataPointer(_) => {
                "cooperative matrices are loaded from and stored to arrays of their elements".into()
            }
            FunctionError::MissingAccelerationStructureVertexReturn(..)
            | FunctionError::MissingRayQueryVertexReturn(_) => {
                "the query asks for the vertices of a hit: declare the `ray_query` and the `acceleration_structure` with \
                 `<vertex_return>`"
                    .into()
            }
            FunctionError::InvalidMeshFunctionCall(_)
            | FunctionError::ConflictingMeshOutputTypes(..)
            | FunctionError::ConflictingTaskPayloadVariables(..)
            | FunctionError::InvalidMeshShaderOutputType(_) => {
                Words::refusal("mesh and task entry points are not supported yet")
            }
            FunctionError::InvalidPayloadType
            | FunctionError::InvalidPayloadAddressSpace(_)
            | FunctionError::MismatchedPayloadType(..)
            | FunctionError::PayloadPointerNotGlobal => {
                Words::refusal("ray tracing entry points are not supported yet")
            }
            FunctionError::Expression { ref source, .. }
            | FunctionError::InvalidImageStore(ref source)
            | FunctionError::InvalidImageAtomic(ref source) => return self.expression(source),
            FunctionError::LocalVariable { ref source, .. } => return self.local(source),
            FunctionError::InvalidCall { ref error, .. } => return self.call(error),
            FunctionError::InvalidSubgroup(ref error) => return subgroup(error),
            // WGSL's cases do not fall through.
            FunctionError::LastCaseFallTrough => return None,
            // naga's front end evaluates each expression once, in place, and creates the results of statements.
            FunctionError::ExpressionAlreadyInScope(_)
            | FunctionError::WorkgroupUniformLoadExpressionMismatch(_)
            | FunctionError::EmitResult(_)
            | FunctionError::UnvisitedExpression(_) => return None,
        })
    }

    pub(super) fn call(&self, error: &CallError) -> Option<Words> {
        Some(match *error {
            CallError::Argument { index, .. } => format!("argument {} of the call is wrong", index + 1).into(),
            CallError::ArgumentCount { required, seen } => {
                format!("the function takes {required} arguments, and {seen} are given").into()
            }
            CallError::ArgumentType { index, required, .. } => {
                format!("argument {} of the call is not of type `{}`", index + 1, self.type_name(required)).into()
            }
            CallError::ExpressionMismatch(_) => "the function has no result, and one is used".into(),
            // Each call has its own result.
            CallError::ResultAlreadyInScope(_) | CallError::ResultAlreadyPopulated(_) => return None,
        })
    }

    pub(super) fn local(&self, error: &LocalVariableError) -> Option<Words> {
        Some(match error {
            LocalVariableError::InvalidType(of) => {
                format!("a variable of a function cannot be a `{}`", self.type_name(*of)).into()
            }
            LocalVariableError::InitializerType => "the initial value has another type than the variable".into(),
            LocalVariableError::NonConstOrOverrideInitializer => {
                "the initial value is not known before the shader runs".into()
            }
        })
    }

    pub(super) fn expression(&self, error: &ExpressionError) -> Option<Words> {
        Some(match *error {
            ExpressionError::InvalidBaseType(_) => "this has no members or elements".into(),
            ExpressionError::InvalidIndexType(_) => Words::with_help(
                "an index is an `i32` or `u32`",
                "take a component of a vector, as in `id.x`, or convert the value: `u32(…)`",
            ),
            ExpressionError::NegativeIndex(_) => "the index is negative".into(),
            ExpressionError::IndexOutOfBounds(_, at) => format!("the index {at} is out of bounds").into(),
            ExpressionError::InvalidPointerType(_) => {
                Words::with_help("this cannot be read", "a parameter that is a pointer takes the address: `&x`")
            }
            ExpressionError::InvalidArrayType(_) => "`arrayLength` takes a pointer to an array without a size".into(),
            ExpressionError::InvalidSplatType(_) => "a vector is made of numbers or bools".into(),
            ExpressionError::InvalidVectorType(_) => "only vectors have components to choose from".into(),
            ExpressionError::InvalidZeroValue(of) => format!("a `{}` has no zero value", self.type_name(of)).into(),
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
            ExpressionError::Compose(ref error) => self.compose(error),
            ExpressionError::Literal(ref error) => return literal(error),
            ExpressionError::IndexableLength(IndexableLengthError::TypeNotIndexable) => "this has no elements".into(),
            ExpressionError::IndexableLength(_) => "the length of the array is not known here".into(),
            ExpressionError::InvalidRayQueryType(_) => "this takes a pointer to a `ray_query`".into(),
            ExpressionError::InvalidSwizzleComponent(..) => "the vector does not have this component".into(),
            ExpressionError::InvalidFloatArgument(_) => "this function takes floats".into(),
            ExpressionError::ExpectedGlobalVariable | ExpressionError::ExpectedGlobalOrArgument => {
                "a texture or sampler is a module-scope variable or a parameter".into()
            }
            ExpressionError::ExpectedBindingArrayType(of) => {
                format!("this needs a binding array, not a `{}`", self.type_name(of)).into()
            }
            ExpressionError::ExpectedImageType(of) => {
                format!("this needs a texture, not a `{}`", self.type_name(of)).into()
            }
            ExpressionError::ExpectedSamplerType(of) => {
                format!("this needs a sampler, not a `{}`", self.type_name(of)).into()
            }
            ExpressionError::InvalidImageSampleSelector => "the texture is not multisampled: it has no samples".into(),
            ExpressionError::MissingImageSampleSelector => {
                "the texture is multisampled: name the sample to load".into()
            }
            ExpressionError::InvalidImageLevelSelector => "the texture has no mip levels".into(),
            ExpressionError::MissingImageLevelSelector => "the texture has mip levels: name the level to load".into(),
            ExpressionError::InvalidImageArrayIndexType(_) => "the index of a layer is an `i32` or `u32`".into(),
            ExpressionError::InvalidImageOtherIndexType(_) => {
                "the number of a mip level or sample is an `i32` or `u32`".into()
            }
            ExpressionError::InvalidDepthSampleLevel => "a comparison samples the first mip level only".into(),
            ExpressionError::InvalidGatherLevel => "texels are gathered from the first mip level only".into(),
            ExpressionError::InvalidGatherComponent(_) => "the texture does not have this component".into(),
            ExpressionError::InvalidSampleLevelExactType(_) => {
                "the mip level is an `f32`, and an `i32` or `u32` for depth textures".into()
            }
            ExpressionError::InvalidSampleLevelBiasType(_) => "the bias of the mip level is an `f32`".into(),
            ExpressionError::InvalidSampleLevelBiasDimension(dim) => {
                format!("the mip level of a texture of {} has no bias", dimensions(dim)).into()
            }
            ExpressionError::InvalidSampleLevelGradientType(dim, _) => {
                format!("this derivative does not fit a texture of {}", dimensions(dim)).into()
            }
            ExpressionError::InvalidSampleClampCoordinateToEdge(_) => {
                "`textureSampleBaseClampToEdge` takes a `texture_2d<f32>` or a `texture_external`".into()
            }
            ExpressionError::UnsupportedWidth(function, kind, bytes) => Words::refusal(format!(
                "`{}` of {} is not supported yet",
                camel_case(&format!("{function:?}")),
                scalar(kind, bytes)
            )),
            ExpressionError::InvalidCooperativeOperand(_) => "this takes cooperative matrices that fit".into(),
            ExpressionError::Type(ref error) => return Some(resolution(error)),
            // naga's front end evaluates an expression's operands before it, and only numbers existing parameters.
            ExpressionError::NotInScope | ExpressionError::FunctionArgumentDoesntExist(_) => return None,
        })
    }
}

/// The type of this error is private to naga, but the names of its variants are known. `InvalidResultExpression`,
/// `ResultExpressionExchange`, `ResultExpressionNotExchange` and `ResultAlreadyPopulated` are about results, which
/// naga's front end creates itself.
fn atomic(error: &impl Debug) -> Option<Words> {
    let name = format!("{error:?}");
    let name = name.split(['(', ' ']).next().unwrap_or_default();
    let text = match name {
        "InvalidPointer" => "an atomic operation takes a pointer to an atomic",
        "InvalidAddressSpace" => "there are no atomics in this address space",
        "InvalidOperand" => "the value is not of the type that the atomic holds",
        "InvalidOperator" => "there is no such atomic operation for this type",
        "ResultTypeMismatch" => "the result is not of the type that the atomic holds",
        "MissingReturnValue" => "the result of this atomic operation must be used",
        "MissingCapability" => return Some(Words::refusal("this atomic operation is not supported yet")),
        _ => return None,
    };
    Some(text.into())
}

pub(super) fn subgroup(error: &SubgroupError) -> Option<Words> {
    Some(match *error {
        SubgroupError::InvalidOperand(_) => "this subgroup operation does not take a value of this type".into(),
        SubgroupError::InvalidInvocationIdExprType(_) => "the lane of a `subgroupBroadcast` is a constant".into(),
        SubgroupError::UnsupportedOperation(_) => Words::refusal("this subgroup operation is not supported yet"),
        // naga's front end creates the operations and their results.
        SubgroupError::ResultTypeMismatch(_) | SubgroupError::UnknownOperation => return None,
    })
}

fn comparison(image: ImageClass, sampler: bool, has_ref: bool) -> String {
    let depth = matches!(image, ImageClass::Depth { .. });
    match (depth, sampler, has_ref) {
        (false, true, _) => "a `sampler_comparison` is for depth textures, and this is not one",
        (_, true, false) => "a `sampler_comparison` is for `textureSampleCompare` and its kind",
        (_, false, true) => "a comparison needs a `sampler_comparison`",
        _ => "a comparison needs a depth texture",
    }
    .into()
}

const fn dimensions(of: ImageDimension) -> &'static str {
    match of {
        ImageDimension::D1 => "one dimension",
        ImageDimension::D2 => "two dimensions",
        ImageDimension::D3 => "three dimensions",
        ImageDimension::Cube => "a cube",
    }
}
