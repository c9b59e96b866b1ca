//! Matrices: products and GLSL 4.60 section 8.6. A matrix is a list of columns.

use super::number::Num;
use super::{Folder, Vector};
use crate::ir::{BinaryOp, ConstId, MathFn, Type, TypeId};

impl Folder<'_> {
    /// The columns of a matrix constant.
    pub fn matrix(&mut self, id: ConstId) -> Option<Vec<Vector>> {
        if !matches!(self.types.get(self.constants.get(id).ty), Type::Matrix { .. }) {
            return None;
        }
        let columns = self.parts(id)?;
        columns.into_iter().map(|column| self.vector(column)).collect()
    }

    /// The matrix constant of type `ty` with these columns.
    pub fn matrix_of(&mut self, ty: TypeId, columns: &[Vector]) -> Option<ConstId> {
        let column_ty = self.types.element(ty, 0)?;
        let parts: Option<Vec<ConstId>> = columns.iter().map(|column| self.vector_of(column_ty, column)).collect();
        Some(self.composite(ty, parts?))
    }

    pub fn matrix_times_vector(&mut self, ty: TypeId, a: ConstId, b: ConstId) -> Option<ConstId> {
        let product = transform(&self.matrix(a)?, &self.vector(b)?)?;
        self.vector_of(ty, &product)
    }

    pub fn vector_times_matrix(&mut self, ty: TypeId, a: ConstId, b: ConstId) -> Option<ConstId> {
        let (vector, columns) = (self.vector(a)?, self.matrix(b)?);
        self.lanes(ty, |index| Some(vector.dot(columns.get(index)?)?.lane(0)))
    }

    pub fn matrix_times_matrix(&mut self, ty: TypeId, a: ConstId, b: ConstId) -> Option<ConstId> {
        let (a, b) = (self.matrix(a)?, self.matrix(b)?);
        let columns: Option<Vec<Vector>> = b.iter().map(|column| transform(&a, column)).collect();
        self.matrix_of(ty, &columns?)
    }

    pub fn outer_product(&mut self, ty: TypeId, a: ConstId, b: ConstId) -> Option<ConstId> {
        let (column, row) = (self.vector(a)?, self.vector(b)?);
        let factor = |value: &Num| Vector::new(row.scalar, 1, |_| *value);
        let columns: Option<Vec<Vector>> =
            row.lanes().iter().map(|value| column.zip(&factor(value), BinaryOp::Mul)).collect();
        self.matrix_of(ty, &columns?)
    }

    pub fn matrix_function(&mut self, function: MathFn, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        let a = self.matrix(*args.first()?)?;
        match function {
            MathFn::MatrixCompMult => {
                let b = self.matrix(*args.get(1)?)?;
                let columns: Option<Vec<Vector>> = a.iter().zip(&b).map(|(a, b)| a.zip(b, BinaryOp::Mul)).collect();
                self.matrix_of(ty, &columns?)
            }
            MathFn::Transpose => self.matrix_of(ty, &transpose(&a)),
            MathFn::Determinant => {
                let value = Square::new(&a)?.determinant();
                self.lanes(ty, |_| Some(Num::Float(value)))
            }
            MathFn::Inverse => {
                let inverse = Square::new(&a)?.inverse()?;
                self.matrix_of(ty, &inverse.columns(&a))
            }
            _ => None,
        }
    }
}

/// The sum of the columns, each times its component of `vector`.
fn transform(columns: &[Vector], vector: &Vector) -> Option<Vector> {
    let factor = |index| Vector::new(vector.scalar, 1, |_| vector.lane(index));
    let mut sum = columns.first()?.zip(&factor(0), BinaryOp::Mul)?;
    for (index, column) in columns.iter().enumerate().skip(1) {
        sum = sum.zip(&column.zip(&factor(index), BinaryOp::Mul)?, BinaryOp::Add)?;
    }
    Some(sum)
}

fn transpose(columns: &[Vector]) -> Vec<Vector> {
    let rows = columns.first().map_or(0, |column| column.size);
    (0..rows).map(|row| Vector::new(columns[0].scalar, columns.len(), |at| columns[at].lane(row))).collect()
}

/// A square matrix in 64-bit floats, `cells[column][row]`.
struct Square {
    size: usize,
    cells: [[f64; 4]; 4],
}

impl Square {
    fn new(columns: &[Vector]) -> Option<Square> {
        let mut cells = [[0.0; 4]; 4];
        for (cells, column) in cells.iter_mut().zip(columns) {
            for (cell, lane) in cells.iter_mut().zip(column.lanes()) {
                *cell = lane.float()?;
            }
        }
        Some(Square { size: columns.len(), cells })
    }

    /// Expansion along the first column.
    fn determinant(&self) -> f64 {
        if self.size == 1 {
            return self.cells[0][0];
        }
        (0..self.size).map(|row| self.cells[0][row] * self.cofactor(0, row)).sum()
    }

    /// The determinant without one column and row, with its sign.
    fn cofactor(&self, column: usize, row: usize) -> f64 {
        let mut minor = Square { size: self.size - 1, cells: [[0.0; 4]; 4] };
        for (to, from) in (0..self.size).filter(|at| *at != column).enumerate() {
            for (to_row, from_row) in (0..self.size).filter(|at| *at != row).enumerate() {
                minor.cells[to][to_row] = self.cells[from][from_row];
            }
        }
        if (column + row).is_multiple_of(2) { minor.determinant() } else { -minor.determinant() }
    }

    /// The transposed cofactors divided by the determinant; `None` for a singular matrix.
    fn inverse(&self) -> Option<Square> {
        let determinant = self.determinant();
        if determinant == 0.0 {
            return None;
        }
        let mut cells = [[0.0; 4]; 4];
        for (column, cells) in cells.iter_mut().enumerate().take(self.size) {
            for (row, cell) in cells.iter_mut().enumerate().take(self.size) {
                *cell = self.cofactor(row, column) / determinant;
            }
        }
        Some(Square { size: self.size, cells })
    }

    /// Columns of the kind of `like`.
    fn columns(&self, like: &[Vector]) -> Vec<Vector> {
        let columns = self.cells[..self.size].iter();
        columns.map(|cells| Vector::new(like[0].scalar, self.size, |row| Num::Float(cells[row]))).collect()
    }
}
