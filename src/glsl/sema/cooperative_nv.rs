//! The first extensions for cooperative matrices (GL_NV_cooperative_matrix, GL_NV_integer_cooperative_matrix), whose
//! types do not state the use of a matrix. Everything else is in [`super::cooperative`].

use super::Sema;
use super::cooperative::{Function, function};
use crate::diagnostic::Code;
use crate::glsl::ast::{ExprId, MatrixSpec};
use crate::ir::build::Builder;
use crate::ir::{CooperativeMatrix, MatrixRole, Scalar, ScalarKind, Type, TypeId, Types, Value};
use crate::source::Span;

const FLOATS: &str = "GL_NV_cooperative_matrix";

const INTEGERS: &str = "GL_NV_integer_cooperative_matrix";

pub static FUNCTIONS: [Function; 3] = [
    function("coopMatLoadNV", (5, 5), |sema, b, call| sema.load_matrix(b, call, true)),
    function("coopMatStoreNV", (5, 5), |sema, b, call| sema.store_matrix(b, call, true)),
    function("coopMatMulAddNV", (3, 3), |sema, b, call| sema.multiply_matrices(b, call, true)),
];

impl Sema<'_> {
    /// `fcoopmatNV<bits, scope, rows, columns>`, `icoopmatNV<…>`, `ucoopmatNV<…>`
    pub fn roleless_spec(&mut self, b: &mut Builder<'_>, spec: MatrixSpec) -> Option<TypeId> {
        let name = self.text(spec.name.symbol);
        let (kind, extension) = match name.chars().next() {
            Some('f') => (ScalarKind::Float, FLOATS),
            Some('i') => (ScalarKind::Sint, INTEGERS),
            _ => (ScalarKind::Uint, INTEGERS),
        };
        self.need_matrix_extension("these cooperative matrices need", &[extension], spec.name.span)?;
        let ast = self.ast;
        let [bits, scope, rows, columns] = ast[spec.parameters] else {
            let message = format!("`{name}` has four parameters: bits of an element, a scope, rows and columns");
            self.error(Code::BAD_TYPE, spec.name.span, message, "another number");
            return None;
        };
        let width = self.element_width(b, bits, kind);
        let [scope, rows, columns] = self.matrix_size(b, [scope, rows, columns])?;
        let element = b.module.types.scalar(Scalar { kind, width: width? });
        let matrix = CooperativeMatrix { element, scope, rows, columns, role: MatrixRole::Any };
        Some(b.module.types.intern(Type::CooperativeMatrix(matrix)))
    }

    fn element_width(&mut self, b: &mut Builder<'_>, expr: ExprId, kind: ScalarKind) -> Option<u8> {
        let bits = self.constant_int(b, expr, "the size of an element")?;
        let (known, sizes): (&[i128], _) = match kind {
            ScalarKind::Float => (&[16, 32, 64], "16, 32 or 64"),
            _ => (&[8, 16, 32, 64], "8, 16, 32 or 64"),
        };
        if known.contains(&bits) {
            return Some(bits as u8);
        }
        let message = format!("an element of this matrix has {sizes} bits");
        self.error(Code::BAD_TYPE, self.ast[expr].span, message, "another number");
        None
    }

    pub fn need_roleless_matrices(&mut self, span: Span) -> Option<()> {
        self.need_matrix_extension("these cooperative matrices need", &[FLOATS, INTEGERS], span)
    }

    /// Reports a matrix of one extension in a call of the other's function.
    pub fn check_use(&mut self, matrix: CooperativeMatrix, roleless: bool, span: Span) -> Option<CooperativeMatrix> {
        if (matrix.role == MatrixRole::Any) == roleless {
            return Some(matrix);
        }
        let (wanted, given) = if roleless { (FLOATS, "`coopmat`") } else { ("GL_KHR_cooperative_matrix", FLOATS) };
        let message = format!("this function takes the matrices of {wanted}");
        self.error(Code::TYPE_MISMATCH, span, message, format!("this is one of {given}"));
        None
    }

    /// The constant `bool` that is true if a matrix is column-major in memory.
    pub fn by_columns(&mut self, b: &mut Builder<'_>, arg: ExprId) -> Option<Value> {
        let id = self.constant(b, arg, "the layout of a matrix")?;
        if b.module.constants.get(id).ty == Types::BOOL {
            return Some(Value::Const(id));
        }
        let message = "`true` means column-major, `false` row-major";
        self.error(Code::TYPE_MISMATCH, self.ast[arg].span, message, "another value");
        None
    }
}
