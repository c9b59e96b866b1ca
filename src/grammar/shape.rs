//! Types by their numbers in the tables, and sets of types.

use crate::ir::{Scalar, Type, TypeId, Types};

#[rustfmt::skip]
const SCALARS: [Scalar; 16] = [
    Scalar::F32, Scalar::I32, Scalar::U32, Scalar::BOOL, Scalar::F64, Scalar::F16,
    Scalar::I8, Scalar::U8, Scalar::I16, Scalar::U16, Scalar::I64, Scalar::U64,
    Scalar::BF16, Scalar::E4M3, Scalar::E5M2, Scalar::E2M1,
];
const MATRIX_SCALARS: [Scalar; 3] = [Scalar::F32, Scalar::F64, Scalar::F16];
const FIRST_MATRIX: u8 = 64;
const UINT_KIND: u8 = 2;
const BOOL_KIND: u8 = 3;
const LAST: u8 = 90;

/// A scalar, vector or matrix type. The build script numbers them: `4 * kind + size - 1` for the kinds float, int,
/// uint, bool, double, half, the integers of other widths and the encoded floats, then nine matrices each of float,
/// double and half.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Shape(pub u8);

impl Shape {
    pub const BOOL: Shape = Shape(4 * BOOL_KIND);
    pub const U32: Shape = Shape(4 * UINT_KIND);

    /// A scalar or a vector; `None` for scalars that are not in the tables.
    pub fn vector(scalar: Scalar, size: u8) -> Option<Shape> {
        let kind = SCALARS.iter().position(|s| *s == scalar)? as u8;
        (1..=4).contains(&size).then(|| Shape(kind * 4 + size - 1))
    }

    fn matrix(scalar: Scalar, columns: u8, rows: u8) -> Option<Shape> {
        let kind = MATRIX_SCALARS.iter().position(|s| *s == scalar)? as u8;
        Some(Shape(FIRST_MATRIX + kind * 9 + (columns - 2) * 3 + rows - 2))
    }

    /// The shape of a type; `None` for structs, arrays and other types without one.
    pub fn of(types: &Types, id: TypeId) -> Option<Shape> {
        match types.get(id) {
            Type::Scalar(scalar) => Shape::vector(scalar, 1),
            Type::Vector { scalar, size } => Shape::vector(scalar, size),
            Type::Matrix { scalar, columns, rows, .. } => Shape::matrix(scalar, columns, rows),
            _ => None,
        }
    }

    pub const fn is_matrix(self) -> bool {
        self.0 >= FIRST_MATRIX
    }

    pub const fn scalar(self) -> Scalar {
        match self.0 {
            0..FIRST_MATRIX => SCALARS[self.0 as usize / 4],
            n => MATRIX_SCALARS[(n - FIRST_MATRIX) as usize / 9],
        }
    }

    /// Components of a scalar (1) or vector.
    pub const fn size(self) -> u8 {
        if self.is_matrix() { 1 } else { self.0 % 4 + 1 }
    }

    /// Columns and rows of a matrix. A scalar or vector is one column.
    pub const fn dimensions(self) -> (u8, u8) {
        match self.is_matrix() {
            true => ((self.0 - FIRST_MATRIX) % 9 / 3 + 2, (self.0 - FIRST_MATRIX) % 3 + 2),
            false => (1, self.size()),
        }
    }

    /// A vector of the same size with another scalar.
    #[must_use]
    pub fn with_scalar(self, scalar: Scalar) -> Shape {
        let kind = SCALARS.iter().position(|s| *s == scalar).expect("the tables name their own scalars only") as u8;
        Shape(kind * 4 + self.size() - 1)
    }

    #[must_use]
    pub fn transposed(self) -> Shape {
        let (columns, rows) = self.dimensions();
        match self.is_matrix() {
            true => Shape::matrix(self.scalar(), rows, columns).expect("all scalars of matrices are in the table"),
            false => self,
        }
    }

    /// The type of this shape.
    pub fn intern(self, types: &mut Types) -> TypeId {
        let (columns, rows) = self.dimensions();
        match columns {
            1 => types.vector(self.scalar(), rows),
            _ => types.matrix(self.scalar(), columns, rows),
        }
    }
}

/// A set of [`Shape`]s.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ShapeSet(pub u128);

impl ShapeSet {
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn contains(self, shape: Shape) -> bool {
        self.0 >> shape.0 & 1 == 1
    }

    pub fn iter(self) -> impl Iterator<Item = Shape> + Clone {
        (0..=LAST).map(Shape).filter(move |shape| self.contains(*shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_types_correspond() {
        let mut types = Types::new();
        for shape in ShapeSet(u128::MAX).iter() {
            let id = shape.intern(&mut types);
            assert_eq!(Shape::of(&types, id), Some(shape));
            assert_eq!(shape.transposed().transposed(), shape);
        }
        assert_eq!(types.len(), 1 + usize::from(LAST) + 1);
    }

    #[test]
    fn scalars_change_and_sizes_stay() {
        let vec3 = Shape::vector(Scalar::F32, 3).unwrap();
        assert_eq!(Some(vec3.with_scalar(Scalar::BOOL)), Shape::vector(Scalar::BOOL, 3));
        assert_eq!((Shape::BOOL.scalar(), Shape::U32.scalar()), (Scalar::BOOL, Scalar::U32));
    }
}
