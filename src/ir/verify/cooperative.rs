//! Rules of operations on cooperative matrices.

use super::body::Body;
use super::{Check, ensure};
use crate::ir::{ArrayLen, CooperativeMatrix, FuncId, MatrixOp, MatrixRole, Space, Type, TypeId, Types, Value, Values};

impl Body<'_> {
    pub fn cooperative(&mut self, ty: TypeId, op: MatrixOp, args: Values) -> Check {
        let args = self.list(args)?;
        match (op, args) {
            (MatrixOp::Load, [pointer, layout, stride]) => {
                let role = self.matrix(ty)?.role;
                self.matrix_memory(role, *pointer, (*layout, *stride))
            }
            (MatrixOp::Store, [pointer, value, layout, stride]) => {
                let of = self.value(*value)?;
                let role = self.matrix(of)?.role;
                self.expect(ty, Types::VOID)?;
                self.matrix_memory(role, *pointer, (*layout, *stride))
            }
            (MatrixOp::MulAdd { .. }, [a, b, c]) => self.multiply_add(ty, [*a, *b, *c]),
            (MatrixOp::Length(of), []) => {
                self.matrix(of)?;
                self.expect(ty, Types::U32)
            }
            (MatrixOp::LoadTensor(_), [pointer, kept, tensor @ ..]) => {
                self.matrix(ty)?;
                let found = self.value(*kept)?;
                self.expect(ty, found)?;
                self.tensor_memory(*pointer, tensor)?;
                op.callees().into_iter().flatten().try_for_each(|function| self.has_params(function, 3))
            }
            (MatrixOp::StoreTensor, [pointer, value, tensor @ ..]) => {
                let of = self.value(*value)?;
                self.matrix(of)?;
                self.expect(ty, Types::VOID)?;
                self.tensor_memory(*pointer, tensor)
            }
            (MatrixOp::Reduce { combine, .. }, [matrix]) => {
                self.unary_matrix(ty, *matrix)?;
                self.has_params(combine, 2)
            }
            (MatrixOp::PerElement(function), [matrix, rest @ ..]) => {
                self.unary_matrix(ty, *matrix)?;
                self.has_params(function, 3 + rest.len())
            }
            (MatrixOp::Transpose, [matrix]) => self.unary_matrix(ty, *matrix),
            (MatrixOp::LoadVector, [pointer, offset]) => {
                self.vector(ty)?;
                self.matrix_pointer(*pointer)?;
                self.int_value(*offset)
            }
            (MatrixOp::StoreVector, [pointer, offset, value]) => {
                let of = self.value(*value)?;
                self.vector(of)?;
                self.expect(ty, Types::VOID)?;
                self.matrix_pointer(*pointer)?;
                self.int_value(*offset)
            }
            _ => Err(format!("{} operands", args.len())),
        }
    }

    /// Makes one matrix from another of the same size.
    fn unary_matrix(&mut self, ty: TypeId, matrix: Value) -> Check {
        let of = self.value(matrix)?;
        let (from, to) = (self.matrix(of)?, self.matrix(ty)?);
        ensure!(from.element == to.element && from.scope == to.scope, "from {} to {}", self.name(of), self.name(ty));
        Ok(())
    }

    fn has_params(&self, function: FuncId, count: usize) -> Check {
        let found = self.module.functions.get(function).map(|function| function.params.len());
        ensure!(found == Some(count), "a function of {found:?} parameters in place of {count}");
        Ok(())
    }

    /// The memory of a tensor, its layout and, if there is one, its view.
    fn tensor_memory(&mut self, pointer: Value, tensor: &[Value]) -> Check {
        self.matrix_pointer(pointer)?;
        ensure!((1..=2).contains(&tensor.len()), "{} operands that describe a tensor", tensor.len());
        for value in tensor {
            let of = self.value(*value)?;
            ensure!(matches!(self.types.get(of), Type::Foreign(_)), "{} describes no tensor", self.name(of));
        }
        Ok(())
    }

    fn matrix(&self, ty: TypeId) -> Result<CooperativeMatrix, String> {
        self.types.cooperative(ty).ok_or_else(|| format!("{} is not a cooperative matrix", self.name(ty)))
    }

    fn vector(&self, ty: TypeId) -> Check {
        ensure!(self.matrix(ty)?.is_vector(), "{} is not a cooperative vector", self.name(ty));
        Ok(())
    }

    /// The memory that a matrix is read from or written to, and its layout there.
    fn matrix_memory(&mut self, role: MatrixRole, pointer: Value, (layout, stride): (Value, Value)) -> Check {
        let pointee = self.matrix_pointer(pointer)?;
        self.shape(pointee)?;
        ensure!(matches!(layout, Value::Const(_)), "the layout is not a constant");
        if role == MatrixRole::Any {
            let found = self.value(layout)?;
            self.expect(found, Types::BOOL)?;
        } else {
            self.int_value(layout)?;
        }
        self.int_value(stride)
    }

    /// The type of memory that several invocations see.
    fn matrix_pointer(&mut self, pointer: Value) -> Result<TypeId, String> {
        let of = self.value(pointer)?;
        let Some((space, pointee)) = self.types.pointee(of) else {
            return Err(format!("{} is not a pointer", self.name(of)));
        };
        let shared = matches!(space, Space::Storage | Space::Workgroup | Space::Physical);
        ensure!(shared, "no matrices in {space:?} space");
        Ok(pointee)
    }

    fn multiply_add(&mut self, ty: TypeId, values: [Value; 3]) -> Check {
        let mut matrices = [self.matrix(ty)?; 3];
        for (matrix, value) in matrices.iter_mut().zip(values) {
            let of = self.value(value)?;
            *matrix = self.matrix(of)?;
        }
        let [a, b, c] = matrices;
        let roles = matrices.map(|matrix| matrix.role);
        let fits = roles == [MatrixRole::A, MatrixRole::B, MatrixRole::Accumulator] || roles == [MatrixRole::Any; 3];
        ensure!(fits, "operands in the roles {roles:?}");
        ensure!(a.scope == c.scope && b.scope == c.scope, "operands of several scopes");
        let fits = a.columns == b.rows && a.rows == c.rows && b.columns == c.columns;
        ensure!(fits, "operands whose sizes do not fit");
        let found = self.value(values[2])?;
        self.expect(ty, found)
    }

    /// Returns true if both are cooperative matrices of the same size.
    pub fn same_matrix_size(&self, a: TypeId, b: TypeId) -> bool {
        match (self.types.cooperative(a), self.types.cooperative(b)) {
            (Some(a), Some(b)) => a.has_size_of(&b),
            _ => false,
        }
    }

    /// Returns true if the number of parts of a value is unknown to the compiler.
    pub fn is_open(&self, ty: TypeId) -> bool {
        matches!(self.types.get(ty), Type::CooperativeMatrix(_) | Type::Array { len: ArrayLen::Spec(_), .. })
    }
}
