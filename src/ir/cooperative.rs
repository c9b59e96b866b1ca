//! Matrices that the invocations of a scope hold together (GL_KHR_cooperative_matrix, SPV_KHR_cooperative_matrix,
//! SPV_NV_cooperative_matrix, SPV_NV_cooperative_matrix2): their type and the operations that only they have. The
//! driver chooses which invocation holds which element; arithmetic on them is that of [`super::Op`], element by
//! element.

use super::{Builder, ConstId, FuncId, Op, Scalar, Type, TypeId, Types, Value};

/// The role of a matrix in a product: `A * B + Accumulator`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MatrixRole {
    A,
    B,
    Accumulator,
    /// Any of these: the type does not say (SPV_NV_cooperative_matrix).
    Any,
    /// Nothing there: one row that each invocation holds by itself (SPV_NV_cooperative_vector).
    Vector,
}

/// The parameters of a cooperative matrix type. The numbers are constants of type `u32`, or specialization constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CooperativeMatrix {
    /// A number, or a type of a target's own.
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

    /// Returns true if the other one differs in its elements alone.
    pub fn has_shape_of(&self, other: &CooperativeMatrix) -> bool {
        CooperativeMatrix { element: other.element, ..*self } == *other
    }

    /// Returns true if the other one has as many rows and columns, and the same invocations hold it.
    pub fn has_size_of(&self, other: &CooperativeMatrix) -> bool {
        CooperativeMatrix { element: other.element, role: other.role, ..*self } == *other
    }
}

/// Operations that only cooperative matrices have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MatrixOp {
    /// Operands: pointer to an element of an array, layout, elements of the array from one row or column to the next. The
    /// layout is a number of SPIR-V, and of a matrix without a role whether columns lie one after the other.
    Load,
    /// Operands: pointer, matrix, layout, distance as for [`MatrixOp::Load`].
    Store,
    /// Operands: A, B, C; gives `A * B + C`.
    MulAdd {
        /// Sums of integers stay at the ends of their range.
        saturating: bool,
    },
    /// Elements of such a matrix that this invocation holds. `u32`, no operands.
    Length(TypeId),
    /// Operands: pointer to the first element of a tensor, the matrix whose elements stay where the view clips, the
    /// tensor's layout, and its view if there is one.
    LoadTensor(Decoders),
    /// Operands: pointer, matrix, layout and view as for [`MatrixOp::LoadTensor`].
    StoreTensor,
    /// Folds rows, columns or squares of four, and gives each element of a smaller or equal matrix its fold. Operand:
    /// the matrix.
    Reduce { parts: Reduced, combine: FuncId },
    /// Calls a function for each element. Operands: the matrix, and the function's arguments after row, column and element.
    PerElement(FuncId),
    /// Operand: the matrix; rows become columns.
    Transpose,
    /// Operands: pointer to an array, bytes from its beginning to the vector.
    LoadVector,
    /// Operands: pointer, bytes as for [`MatrixOp::LoadVector`], and the vector.
    StoreVector,
}

/// The functions that compute elements from a block in memory, the block's place and the place in the block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Decoders {
    /// Computes one element.
    pub scalar: Option<FuncId>,
    /// Computes two, four or eight neighbours at once (SPV_NV_cooperative_matrix_decode_vector); never without `scalar`.
    pub vector: Option<FuncId>,
}

/// The elements of a matrix that a reduction folds, by SPIR-V's number (Cooperative Matrix Reduce).
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

    /// The scalar that arithmetic on a type computes with: [`Types::scalar_of`], and that of cooperative matrices.
    pub fn number_of(&self, id: TypeId) -> Option<Scalar> {
        self.scalar_of(self.cooperative(id).map_or(id, |matrix| matrix.element))
    }

    /// Returns true if a cooperative matrix is, or is somewhere in, a type.
    pub fn holds_cooperative(&self, id: TypeId) -> bool {
        self.holds(id, |ty| matches!(ty, Type::CooperativeMatrix(_)))
    }
}

impl Builder<'_> {
    /// An operation on cooperative matrices; `ty` is `VOID` where it has no result.
    pub fn cooperative(&mut self, op: MatrixOp, args: &[Value], ty: TypeId) -> Value {
        let args = self.function.list(args);
        self.emit(ty, Op::Cooperative(op, args))
    }
}
