//! Words for naga's errors about constant expressions and untyped numbers. Its front end only provides texts.

/// naga's texts, and ours.
const TEXTS: [(&str, &str); 38] = [
    ("Constants cannot access function arguments", "a constant cannot depend on a parameter"),
    ("Constants cannot access global variables", "a constant cannot depend on a variable"),
    ("Constants cannot access local variables", "a constant cannot depend on a variable"),
    ("Cannot get the array length of a non array type", "`arrayLength` takes a pointer to an array without a size"),
    ("Constants cannot get the array length of a dynamically sized array", "`arrayLength` is not a constant"),
    ("Cannot call arrayLength on array sized by override-expression", "`arrayLength` is for arrays without a size"),
    ("Constants cannot call functions", "a constant cannot depend on a function of the module"),
    ("Constants don't support workGroupUniformLoad", "`workgroupUniformLoad` is not a constant"),
    ("Constants don't support atomic functions", "an atomic operation is not a constant"),
    ("Constants don't support derivative functions", "a derivative is not a constant"),
    ("Constants don't support load expressions", "a constant cannot depend on a variable"),
    ("Constants don't support image expressions", "a constant cannot depend on a texture"),
    ("Constants don't support ray query expressions", "a constant cannot depend on a ray query"),
    ("Constants don't support subgroup expressions", "a subgroup operation is not a constant"),
    ("Cannot access the type", "this has no members or elements"),
    ("Cannot access at the index", "the index is out of bounds"),
    ("Cannot access with index of type", "an index is an `i32` or `u32`"),
    ("Constants don't support array length expressions", "`arrayLength` is not a constant"),
    ("Cannot apply the unary op to the argument", "the operator does not take an operand of this type"),
    ("Cannot apply the binary op to the arguments", "the operator does not take operands of these types"),
    ("Cannot apply math function to type", "the function does not take a value of this type"),
    ("Cannot apply relational function to type", "the function takes a `bool` or a vector of them"),
    (
        "value of `low` is greater than `high` for clamp built-in function",
        "the lower limit of `clamp` is above the upper one",
    ),
    ("Constructor must only contain vector or scalar arguments", "a vector is made of scalars and vectors"),
    ("Splat is defined only on scalar values", "a vector is made of scalars and vectors"),
    ("Can only swizzle vector constants", "only vectors have components to choose from"),
    ("swizzle component not present in source expression", "the vector does not have this component"),
    ("Type is not constructible", "values of this type cannot be constructed"),
    ("Subexpression(s) are not constant", "a part of this is not a constant"),
    ("Division by zero", "an integer is divided by zero"),
    ("Remainder by zero", "the remainder of a division by zero is taken"),
    ("RHS of shift operation is greater than or equal to 32", "a value is shifted by as many bits as it has, or more"),
    (
        "Can't use pipeline-overridable constants in const-expressions",
        "an override is not a constant: its value is known when a pipeline is made",
    ),
    ("Unexpected runtime-expression", "this is known only when the shader runs, and a constant is needed"),
    ("Unexpected override-expression", "this is known only when a pipeline is made, and a constant is needed"),
    (
        "Expected boolean expression for condition argument of `select`, got something else",
        "the condition of `select` is a `bool` or a vector of them",
    ),
    (
        "Expected boolean vector for condition arg., got something else",
        "the condition of `select` is a `bool` or a vector of them",
    ),
    ("Cooperative operations can't be constant", "an operation on cooperative matrices is not a constant"),
];

/// A text from naga's front end in our words.
pub(in crate::wgsl) fn worded(text: &str) -> String {
    let known = TEXTS.iter().find(|(naga, _)| *naga == text);
    let text = known.map_or(text, |(_, ours)| ours);
    text.replace("{AbstractFloat}", "AbstractFloat").replace("{AbstractInt}", "AbstractInt")
}

#[cfg(test)]
mod tests {
    use super::{TEXTS, worded};
    use naga::proc::ConstantEvaluatorError as E;

    /// Each text is one of naga's, and each error without a value has a text.
    #[test]
    fn errors_of_constants_have_words() {
        let errors = [
            E::FunctionArg,
            E::GlobalVariable,
            E::LocalVariable,
            E::InvalidArrayLengthArg,
            E::ArrayLengthDynamic,
            E::ArrayLengthOverridden,
            E::Call,
            E::WorkGroupUniformLoadResult,
            E::Atomic,
            E::Derivative,
            E::Load,
            E::ImageExpression,
            E::RayQueryExpression,
            E::SubgroupExpression,
            E::InvalidAccessBase,
            E::InvalidAccessIndex,
            E::InvalidAccessIndexTy,
            E::ArrayLength,
            E::InvalidUnaryOpArg,
            E::InvalidBinaryOpArgs,
            E::InvalidMathArg,
            E::InvalidRelationalArg(naga::RelationalFunction::All),
            E::InvalidClamp,
            E::InvalidVectorComposeComponent,
            E::SplatScalarOnly,
            E::SwizzleVectorOnly,
            E::SwizzleOutOfBounds,
            E::TypeNotConstructible,
            E::SubexpressionsAreNotConstant,
            E::DivisionByZero,
            E::RemainderByZero,
            E::ShiftedMoreThan32Bits,
            E::Override,
            E::RuntimeExpr,
            E::OverrideExpr,
            E::SelectScalarConditionNotABool,
            E::SelectConditionNotAVecBool,
            E::CooperativeOperation,
        ];
        assert_eq!(errors.len(), TEXTS.len());
        for (error, (naga, ours)) in errors.iter().zip(TEXTS) {
            assert_eq!((error.to_string().as_str(), worded(naga).as_str()), (naga, ours));
        }
    }

    #[test]
    fn numbers_without_a_type_have_the_names_of_wgsl() {
        assert_eq!(worded("got `vec2<{AbstractFloat}>`"), "got `vec2<AbstractFloat>`");
    }
}
