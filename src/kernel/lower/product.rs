//! Matrices, column after column: products and GLSL 4.60 section 8.6. Sums run from the first component to the last.

use super::{Lower, Scalars};
use crate::ir::{self, BinaryOp, MathFn, Scalar, Type, TypeId};
use crate::kernel::{BinOp, UnOp, Value};

/// The cells of a matrix, column after column.
struct Matrix {
    cells: Scalars,
    columns: usize,
    rows: usize,
}

impl Matrix {
    fn column(&self, at: usize) -> &[Value] {
        &self.cells[at * self.rows..(at + 1) * self.rows]
    }

    fn row(&self, at: usize) -> Scalars {
        self.cells.iter().skip(at).step_by(self.rows).copied().collect()
    }

    /// The matrix without one column and one row.
    fn without(&self, column: usize, row: usize) -> Matrix {
        let rows = self.rows;
        let kept = (0..self.cells.len()).filter(|at| at / rows != column && at % rows != row);
        Matrix { cells: kept.map(|at| self.cells[at]).collect(), columns: self.columns - 1, rows: rows - 1 }
    }
}

impl Lower<'_> {
    fn matrix(&mut self, value: ir::Value) -> Matrix {
        let cells = self.values(value);
        let ty = self.type_of(value).map(|ty| self.shapes.types.get(ty));
        let (columns, rows) = match ty {
            Some(Type::Matrix { columns, rows, .. }) => (columns.into(), rows.into()),
            _ => (1, cells.len()),
        };
        Matrix { cells, columns, rows }
    }

    pub fn product(&mut self, op: BinaryOp, scalar: Scalar, a: ir::Value, b: ir::Value) -> Scalars {
        let (a, b) = (self.matrix(a), self.matrix(b));
        match op {
            BinaryOp::MatrixTimesVector => self.transform(scalar, &a, &b.cells),
            BinaryOp::VectorTimesMatrix => (0..b.columns).map(|at| self.dot(scalar, &a.cells, b.column(at))).collect(),
            BinaryOp::OuterProduct => {
                let factors = b.cells.iter();
                factors.flat_map(|factor| self.scaled(scalar, &a.cells, *factor)).collect()
            }
            _ => (0..b.columns).flat_map(|at| self.transform(scalar, &a, b.column(at))).collect(),
        }
    }

    /// A matrix times a vector.
    fn transform(&mut self, scalar: Scalar, matrix: &Matrix, vector: &[Value]) -> Scalars {
        (0..matrix.rows).map(|row| self.dot(scalar, &matrix.row(row), vector)).collect()
    }

    fn scaled(&mut self, scalar: Scalar, values: &[Value], factor: Value) -> Scalars {
        values.iter().map(|value| self.b.bin(BinOp::Mul, scalar, *value, factor)).collect()
    }

    /// `a[0] * b[0] + a[1] * b[1] + …`.
    pub fn dot(&mut self, scalar: Scalar, a: &[Value], b: &[Value]) -> Value {
        let products: Scalars = self.zip(a, b, |lower, a, b| lower.b.bin(BinOp::Mul, scalar, a, b));
        let mut products = products.into_iter();
        match products.next() {
            Some(first) => products.fold(first, |sum, product| self.b.bin(BinOp::Add, scalar, sum, product)),
            None => self.b.u32(0),
        }
    }

    pub fn matrix_function(&mut self, function: MathFn, ty: TypeId, args: &[ir::Value]) -> Scalars {
        let scalar = self.shapes.types.scalar_of(ty).unwrap_or(Scalar::F32);
        let matrix = self.matrix(args[0]);
        match function {
            MathFn::Transpose => (0..matrix.rows).flat_map(|row| matrix.row(row)).collect(),
            MathFn::Determinant => Scalars::from_elem(self.determinant(scalar, &matrix), 1),
            MathFn::Inverse => self.inverse(scalar, &matrix),
            _ => {
                let other = self.matrix(args[1]);
                self.zip(&matrix.cells, &other.cells, |lower, a, b| lower.b.bin(BinOp::Mul, scalar, a, b))
            }
        }
    }

    /// Expansion along the first column.
    fn determinant(&mut self, scalar: Scalar, matrix: &Matrix) -> Value {
        if matrix.columns <= 1 {
            return matrix.cells[0];
        }
        let cofactors: Scalars = (0..matrix.rows).map(|row| self.cofactor(scalar, matrix, 0, row)).collect();
        self.dot(scalar, matrix.column(0), &cofactors)
    }

    /// The determinant without one column and row, with its sign.
    fn cofactor(&mut self, scalar: Scalar, matrix: &Matrix, column: usize, row: usize) -> Value {
        let minor = self.determinant(scalar, &matrix.without(column, row));
        if (column + row).is_multiple_of(2) { minor } else { self.b.un(UnOp::Neg, scalar, minor) }
    }

    /// The transposed cofactors over the determinant.
    fn inverse(&mut self, scalar: Scalar, matrix: &Matrix) -> Scalars {
        let size = matrix.columns;
        let mut cofactors = Scalars::new();
        for at in 0..size * size {
            cofactors.push(self.cofactor(scalar, matrix, at % size, at / size));
        }
        let first: Scalars = (0..size).map(|row| cofactors[row * size]).collect();
        let determinant = self.dot(scalar, matrix.column(0), &first);
        cofactors.into_iter().map(|cell| self.b.bin(BinOp::Div, scalar, cell, determinant)).collect()
    }
}
