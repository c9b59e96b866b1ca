//! Matrices that the invocations of a scope hold together (GL_KHR_cooperative_matrix, SPV_KHR_cooperative_matrix,
//! SPV_NV_cooperative_matrix, SPV_NV_cooperative_matrix2): their type and their special operations. The driver
//! distributes the elements over the invocations. Arithmetic uses the operations of [`super::Op`], element by element.

use super::{Builder, ConstId, FuncId, Op, Scalar, Type, TypeId, Types, Value};

/// The role of a matrix in a product: `A * B + Accumulator`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MatrixRole {
    A,
    B,
    Accumulator,
    /// Unspecified (SPV_NV_cooperative_matrix).
    Any,
    /// A row that each invocation has for itself (SPV_NV_cooperative_vector).
    Vector,
}

/// The parameters of a cooperative matrix type. The numbers are constants of type `u32`, or specialization constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CooperativeMatrix {
    /// A number, or a target-specific type.
    pub element: TypeId,
    /// The invocations that hold it, by SPIR-V's number (section 3.27, Scope Id).
    pub scope: ConstId,
    pub rows: ConstId,
    pub columns: ConstId,
    pub role: MatrixRole,
}

impl CooperativeMatrix {
    /// Returns true if it is a cooperative vector, whose components are columns.
    pub fn is_vector(&self) -> bool {
        self.role == MatrixRole::Vector
    }

    /// Returns true if the other type differs only in its elements.
    pub fn has_shape_of(&self, other: &CooperativeMatrix) -> bool {
        CooperativeMatrix { element: other.element, ..*self } == *other
    }

    /// Returns true if the other type has the same rows, columns and scope.
    pub fn has_size_of(&self, other: &CooperativeMatrix) -> bool {
        CooperativeMatrix { element: other.element, role: other.role, ..*self } == *other
    }
}

/// Operations that only cooperative matrices have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MatrixOp {
    /// Operands: pointer to an element of an array, layout, stride in elements between rows or columns. The layout is a
    /// SPIR-V number; for a matrix without a role, whether it is column-major.
    Load,
    /// Operands: pointer, matrix, layout, distance as for [`MatrixOp::Load`].
    Store,
    /// Operands: A, B, C. The result is `A * B + C`.
    MulAdd {
        /// Integer sums saturate.
        saturating: bool,
    },
    /// The number of elements of such a matrix in this invocation. `u32`, no operands.
    Length(TypeId),
    /// Operands: pointer to the first element of a tensor, the matrix whose elements stay where the view clips, the
    /// tensor's layout, and its view if there is one.
    LoadTensor(Decoders),
    /// Operands: pointer, matrix, layout and view as for [`MatrixOp::LoadTensor`].
    StoreTensor,
    /// Reduces rows, columns or squares of four, and gives each element of an equal or smaller matrix its result.
    /// Operand: the matrix.
    Reduce { parts: Reduced, combine: FuncId },
    /// Calls a function for each element. Operands: the matrix, and the function's arguments after row, column and
    /// element.
    PerElement(FuncId),
    /// Operand: the matrix; rows become columns.
    Transpose,
    /// Operands: pointer to an array, bytes from its beginning to the vector.
    LoadVector,
    /// Operands: pointer, bytes as for [`MatrixOp::LoadVector`], and the vector.
    StoreVector,
}

/// The functions that compute elements from a block in memory, the block's coordinates and the coordinates in the
/// block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Decoders {
    /// Computes one element.
    pub scalar: Option<FuncId>,
    /// Computes two, four or eight neighbours at once (SPV_NV_cooperative_matrix_decode_vector); requires `scalar`.
    pub vector: Option<FuncId>,
}

/// The elements of a matrix that are reduced together, by SPIR-V's number (Cooperative Matrix Reduce).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reduced {
    Row = 1,
    Column = 2,
    RowAndColumn = 3,
    Square = 4,
}

impl MatrixOp {
    /// The functions that the operation calls.
    pub const fn callees(self) -> [Option<FuncId>; 2] {
        match self {
            MatrixOp::LoadTensor(Decoders { scalar, vector }) => [scalar, vector],
            MatrixOp::Reduce { combine, .. } => [Some(combine), None],
            MatrixOp::PerElement(function) => [Some(function), None],
            _ => [None, None],
        }
    }
}

impl Types {
    /// The parameters of a cooperative matrix type.
    pub fn cooperative(&self, id: TypeId) -> Option<CooperativeMatrix> {
        match self.get(id) {
            Type::CooperativeMatrix(matrix) => Some(matrix),
            _ => None,
        }
    }

    /// The scalar type of arithmetic on a type: [`Types::scalar_of`], extended to cooperative matrices.
    pub fn number_of(&self, id: TypeId) -> Option<Scalar> {
        self.scalar_of(self.cooperative(id).map_or(id, |matrix| matrix.element))
    }

    /// Returns true if a type is or contains a cooperative matrix.
    pub fn holds_cooperative(&self, id: TypeId) -> bool {
        self.holds(id, |ty| matches!(ty, Type::CooperativeMatrix(_)))
    }
}

impl Builder<'_> {
    /// An operation on cooperative matrices; `ty` is `VOID` if there is no result.
    pub fn cooperative(&mut self, op: MatrixOp, args: &[Value], ty: TypeId) -> Value {
        let args = self.function.list(args);
        self.emit(ty, Op::Cooperative(op, args))
    }
}
