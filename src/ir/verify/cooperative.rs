//! Rules of operations on cooperative matrices.

use super::body::Body;
use super::{Check, ensure};
use crate::ir::{ArrayLen, CooperativeMatrix, MatrixOp, MatrixRole, Space, Type, TypeId, Types, Value, Values};

impl Body<'_> {
    pub fn cooperative(&mut self, ty: TypeId, op: MatrixOp, args: Values) -> Check {
        let args = self.list(args)?;
        match (op, args) {
            (MatrixOp::Load, [pointer, layout, stride]) => {
                self.matrix(ty)?;
                self.matrix_memory(*pointer, *layout, *stride)
            }
            (MatrixOp::Store, [pointer, value, layout, stride]) => {
                let of = self.value(*value)?;
                self.matrix(of)?;
                self.expect(ty, Types::VOID)?;
                self.matrix_memory(*pointer, *layout, *stride)
            }
            (MatrixOp::MulAdd { .. }, [a, b, c]) => self.multiply_add(ty, [*a, *b, *c]),
            (MatrixOp::Length(of), []) => {
                self.matrix(of)?;
                self.expect(ty, Types::U32)
            }
            _ => Err(format!("{} operands", args.len())),
        }
    }

    fn matrix(&self, ty: TypeId) -> Result<CooperativeMatrix, String> {
        self.types.cooperative(ty).ok_or_else(|| format!("{} is no cooperative matrix", self.name(ty)))
    }

    /// The memory that a matrix is read from or written to, and how it lies there.
    fn matrix_memory(&mut self, pointer: Value, layout: Value, stride: Value) -> Check {
        let of = self.value(pointer)?;
        let Some((space, pointee)) = self.types.pointee(of) else {
            return Err(format!("{} is no pointer", self.name(of)));
        };
        let shared = matches!(space, Space::Storage | Space::Workgroup | Space::Physical);
        ensure!(shared, "no matrices in {space:?} space");
        self.shape(pointee)?;
        ensure!(matches!(layout, Value::Const(_)), "the layout is no constant");
        self.int_value(layout)?;
        self.int_value(stride)
    }

    fn multiply_add(&mut self, ty: TypeId, values: [Value; 3]) -> Check {
        let mut matrices = [self.matrix(ty)?; 3];
        for (matrix, value) in matrices.iter_mut().zip(values) {
            let of = self.value(value)?;
            *matrix = self.matrix(of)?;
        }
        let [a, b, c] = matrices;
        let roles = matrices.map(|matrix| matrix.role);
        ensure!(roles == [MatrixRole::A, MatrixRole::B, MatrixRole::Accumulator], "operands in the roles {roles:?}");
        ensure!(a.scope == c.scope && b.scope == c.scope, "operands of several scopes");
        let fits = a.columns == b.rows && a.rows == c.rows && b.columns == c.columns;
        ensure!(fits, "operands whose sizes do not fit");
        let found = self.value(values[2])?;
        self.expect(ty, found)
    }

    /// Whether both are cooperative matrices of one shape.
    pub fn same_matrix_shape(&self, a: TypeId, b: TypeId) -> bool {
        match (self.types.cooperative(a), self.types.cooperative(b)) {
            (Some(a), Some(b)) => a.has_shape_of(&b),
            _ => false,
        }
    }

    /// Whether the number of parts of a value is not known to the compiler.
    pub fn is_open(&self, ty: TypeId) -> bool {
        matches!(self.types.get(ty), Type::CooperativeMatrix(_) | Type::Array { len: ArrayLen::Spec(_), .. })
    }
}
