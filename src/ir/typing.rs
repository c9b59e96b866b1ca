//! Result types of operations, if the operands determine them. Shared by the builder and the verifier.
//!
//! Operands are checked only as far as the result needs; the verifier does the rest.

use super::{BinaryOp, MathFn, Scalar, Type, TypeId, Types};
use crate::lane::{Gives, LaneOp, Role};

/// `bool`, or a bool vector as wide as `of`.
pub fn bool_like(types: &mut Types, of: TypeId) -> TypeId {
    let size = types.components(of).unwrap_or(1);
    types.vector(Scalar::BOOL, size)
}

/// A scalar or vector of the size of `of`, with elements `scalar`.
pub fn with_scalar(types: &mut Types, of: TypeId, scalar: Scalar) -> TypeId {
    let size = types.components(of).unwrap_or(1);
    types.vector(scalar, size)
}

/// Returns true if a cross-lane operation takes an operand of a type in a role; `first` is the type of its first operand.
pub fn has_role(types: &Types, role: Role, ty: TypeId, first: TypeId) -> bool {
    let Some((scalar, size)) = types.scalar_of(ty).zip(types.components(ty)) else { return false };
    match role {
        _ if scalar.encoding().is_some() => false,
        Role::Data | Role::Class => true,
        Role::Number => !scalar.is_bool(),
        Role::Bits => !scalar.is_float(),
        Role::Key => size == 1 && !scalar.is_bool(),
        Role::Rider => size == 1,
        Role::Same | Role::SameNumber => ty == first,
        Role::Bool => ty == Types::BOOL,
        Role::Index | Role::NvWidth => size == 1 && scalar.is_int() && scalar.width == 32,
        Role::Ballot | Role::Partition => scalar == Scalar::U32 && size == 4,
        Role::Mask => scalar == Scalar::U64 && size == 1,
    }
}

/// Result of a cross-lane operation on operands of the types `args`, in the right number.
pub fn lane(types: &mut Types, op: LaneOp, args: &[TypeId]) -> TypeId {
    match (op.signature().gives, args) {
        (Gives::Bool, _) => Types::BOOL,
        (Gives::Lane | Gives::Count | Gives::U32, _) => Types::U32,
        (Gives::Ballot, _) => types.vector(Scalar::U32, 4),
        (Gives::Sorted, [keys, riders]) => types.pair(*keys, *riders),
        (Gives::Data | Gives::Sorted, [first, ..]) => *first,
        (Gives::Nothing | Gives::Data | Gives::Sorted, _) => Types::VOID,
    }
}

fn scalar_type(types: &mut Types, of: TypeId) -> Option<TypeId> {
    let scalar = types.scalar_of(of)?;
    Some(types.scalar(scalar))
}

/// Columns and rows of a matrix.
pub fn matrix_size(types: &Types, of: TypeId) -> Option<(Scalar, u8, u8)> {
    match types.get(of) {
        Type::Matrix { scalar, columns, rows, .. } => Some((scalar, columns, rows)),
        _ => None,
    }
}

/// Returns true if an operation works component by component on operands of one type.
pub const fn is_by_component(op: BinaryOp) -> bool {
    !matches!(
        op,
        BinaryOp::TimesScalar
            | BinaryOp::MatrixTimesVector
            | BinaryOp::VectorTimesMatrix
            | BinaryOp::MatrixTimesMatrix
            | BinaryOp::OuterProduct
    )
}

/// Result of a binary operation on operands of the types `a` and `b`.
pub fn binary(types: &mut Types, op: BinaryOp, a: TypeId, b: TypeId) -> Option<TypeId> {
    match op {
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            Some(bool_like(types, a))
        }
        BinaryOp::MatrixTimesVector => {
            let (scalar, _, rows) = matrix_size(types, a)?;
            Some(types.vector(scalar, rows))
        }
        BinaryOp::VectorTimesMatrix => {
            let (scalar, columns, _) = matrix_size(types, b)?;
            Some(types.vector(scalar, columns))
        }
        BinaryOp::MatrixTimesMatrix => {
            let ((scalar, _, rows), (_, columns, _)) = (matrix_size(types, a)?, matrix_size(types, b)?);
            Some(types.matrix(scalar, columns, rows))
        }
        BinaryOp::OuterProduct => {
            let (rows, columns) = (types.components(a)?, types.components(b)?);
            Some(types.matrix(types.scalar_of(a)?, columns, rows))
        }
        _ => Some(a),
    }
}

/// Result of a built-in function as GLSL declares it, for operands of the types `args`.
///
/// Bit counts and bit searches return `int` here. A language in which they have the operand's type sets it itself.
pub fn math(types: &mut Types, function: MathFn, args: &[TypeId]) -> Option<TypeId> {
    use MathFn::*;
    if function == IsHelper {
        return Some(Types::BOOL);
    }
    let first = *args.first()?;
    match function {
        IsNan | IsInf => Some(bool_like(types, first)),
        Any | All => Some(Types::BOOL),
        Modf | AddCarry | SubBorrow | MulExtended => Some(types.pair(first, first)),
        Frexp => {
            let exponent = with_scalar(types, first, Scalar::I32);
            Some(types.pair(first, exponent))
        }
        PackSnorm4x8 | PackUnorm4x8 | PackSnorm2x16 | PackUnorm2x16 | PackHalf2x16 => Some(Types::U32),
        UnpackSnorm4x8 | UnpackUnorm4x8 => Some(types.vector(Scalar::F32, 4)),
        UnpackSnorm2x16 | UnpackUnorm2x16 | UnpackHalf2x16 => Some(types.vector(Scalar::F32, 2)),
        PackDouble2x32 => Some(types.scalar(Scalar::F64)),
        UnpackDouble2x32 => Some(types.vector(Scalar::U32, 2)),
        Length | Distance | Dot | Determinant => scalar_type(types, first),
        Transpose => {
            let (scalar, columns, rows) = matrix_size(types, first)?;
            Some(types.matrix(scalar, rows, columns))
        }
        BitCount | FindLsb | FindMsb => Some(with_scalar(types, first, Scalar::I32)),
        Step => args.get(1).copied(),
        SmoothStep => args.get(2).copied(),
        _ => Some(first),
    }
}
