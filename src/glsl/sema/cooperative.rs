//! Cooperative matrices (GL_KHR_cooperative_matrix): the type, its constructors, and the functions on it. Its operators
//! are in `operators`, its elements in `access`.

use super::Sema;
use super::expressions::Lowered;
use super::lvalue::LValue;
use super::memory;
use super::operators::Operand;
use super::{cooperative_nv, tensors, vectors};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{ExprId, List, MatrixSpec, Name};
use crate::glsl::builtin::Argument;
use crate::ir::build::Builder;
use crate::ir::{
    ArrayLen, ConstId, CooperativeMatrix, MatrixOp, MatrixRole, Scalar, Space, Type, TypeId, Types, Value,
};
use crate::profile::Feature;
use crate::source::Span;

const EXTENSION: &str = "GL_KHR_cooperative_matrix";

/// Layouts by SPIR-V's numbers: rows, columns, and ARM's blocks of either.
const LAYOUTS: [i128; 4] = [0, 1, 4202, 4203];

/// The bit of `gl_MatrixOperandsSaturatingAccumulation`.
const SATURATING: i128 = 0x10;

/// A function on matrices, tensors or vectors.
pub struct Function {
    name: &'static str,
    /// The minimum and maximum number of arguments.
    count: (usize, usize),
    lower: Lower,
}

type Lower = fn(&mut Sema<'_>, &mut Builder<'_>, Call<'_>) -> Option<Lowered>;

/// A call of such a function.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub name: &'static str,
    pub args: &'a [ExprId],
    pub whole: Span,
}

/// A row of the tables.
pub const fn function(name: &'static str, count: (usize, usize), lower: Lower) -> Function {
    Function { name, count, lower }
}

static FUNCTIONS: [Function; 3] = [
    function("coopMatLoad", (5, 5), |sema, b, call| sema.load_matrix(b, call, false)),
    function("coopMatStore", (5, 5), |sema, b, call| sema.store_matrix(b, call, false)),
    function("coopMatMulAdd", (3, 4), |sema, b, call| sema.multiply_matrices(b, call, false)),
];

/// Reports if the extension of a table's functions is not enabled.
type Need = fn(&mut Sema<'_>, Span) -> Option<()>;

/// The tables, each with its functions' requirements.
static TABLES: [(&[Function], Need); 4] = [
    (&FUNCTIONS, |sema, span| sema.need_matrices(span)),
    (&cooperative_nv::FUNCTIONS, |sema, span| sema.need_roleless_matrices(span)),
    (&tensors::FUNCTIONS, |sema, span| sema.need_tensors(span)),
    (&vectors::FUNCTIONS, |sema, span| sema.need_vectors(span)),
];

/// The memory of a matrix.
struct Memory {
    /// The element of an array of scalars or vectors at which the matrix starts.
    first: LValue,
    layout: Value,
    stride: Value,
}

impl Sema<'_> {
    /// `coopmat<element, scope, rows, columns, use>`, and other types of matrices.
    pub fn matrix_spec(&mut self, b: &mut Builder<'_>, spec: MatrixSpec) -> Option<TypeId> {
        let Some(of) = spec.element else { return self.roleless_spec(b, spec) };
        if self.text(spec.name.symbol) == vectors::NAME {
            return self.vector_spec(b, spec, of);
        }
        self.need_matrices(spec.name.span)?;
        let element = self.type_spec(b, of);
        let ast = self.ast;
        let [scope, rows, columns, role] = ast[spec.parameters] else {
            let message = "`coopmat` has five parameters: a type, a scope, rows, columns and a use";
            self.error(Code::BAD_TYPE, spec.name.span, message, "another number");
            return None;
        };
        let element = self.matrix_element(b, element?, ast[of].span)?;
        let size = self.matrix_size(b, [scope, rows, columns]);
        let role = self.matrix_role(b, role)?;
        let [scope, rows, columns] = size?;
        let matrix = CooperativeMatrix { element, scope, rows, columns, role };
        Some(b.module.types.intern(Type::CooperativeMatrix(matrix)))
    }

    /// Scope, rows and columns of a matrix.
    pub fn matrix_size(&mut self, b: &mut Builder<'_>, [scope, rows, columns]: [ExprId; 3]) -> Option<[ConstId; 3]> {
        let scope = self.matrix_number(b, scope, "the scope of a matrix", 2..=3);
        let [rows, columns] = [(rows, "rows"), (columns, "columns")]
            .map(|(expr, what)| self.matrix_number(b, expr, what, 1..=i128::from(u16::MAX)));
        Some([scope?, rows?, columns?])
    }

    fn need_matrices(&mut self, span: Span) -> Option<()> {
        self.need_matrix_extension("cooperative matrices need", &[EXTENSION, tensors::EXTENSION], span)
    }

    /// Checks that one of the extensions is enabled. If none is because the profile lacks such matrices, the message
    /// says so.
    pub fn need_matrix_extension(&mut self, needs: &str, extensions: &[&'static str], span: Span) -> Option<()> {
        if extensions.iter().any(|extension| self.env.is_enabled(extension)) {
            return Some(());
        }
        let (profile, extension) = (self.env.profile, extensions[0]);
        if profile.has(Feature::CooperativeMatrix) {
            self.needs_extension(needs, extension, span);
            return None;
        }
        let message = format!("the profile {} has no cooperative matrices", profile.name);
        let note = format!("`#ifdef {extension}` is true where there are some");
        self.report(Diagnostic::error(Code::PROFILE_LACKS, message).at(span, "used here").note(note));
        None
    }

    /// The elements of matrices and vectors: numbers of at least a byte.
    pub fn matrix_element(&mut self, b: &Builder<'_>, ty: TypeId, span: Span) -> Option<TypeId> {
        let fits = |scalar: Scalar| scalar.width >= 8 && !scalar.is_bool();
        let types = &b.module.types;
        if matches!(types.get(ty), Type::Scalar(scalar) if fits(scalar)) || matches!(types.get(ty), Type::Foreign(_)) {
            return Some(ty);
        }
        let message = format!("a cooperative matrix cannot be made of `{}`", self.type_name(b, ty));
        self.error(Code::BAD_TYPE, span, message, "its elements are numbers");
        None
    }

    /// A parameter that is a specialization constant, or a number in a range.
    pub fn matrix_number(
        &mut self,
        b: &mut Builder<'_>,
        expr: ExprId,
        what: &str,
        range: std::ops::RangeInclusive<i128>,
    ) -> Option<ConstId> {
        let id = self.constant(b, expr, what)?;
        let span = self.ast[expr].span;
        let ty = b.module.constants.get(id).ty;
        let int = matches!(b.module.types.get(ty), Type::Scalar(scalar) if scalar.is_int() && scalar.width == 32);
        if int && b.module.constants.is_spec(id) {
            return Some(id);
        }
        match b.module.constants.as_int(&b.module.types, id).filter(|_| int) {
            Some(number) if range.contains(&number) => Some(b.module.constants.u32(number as u32)),
            _ => {
                let (first, last) = (range.start(), range.end());
                let message = format!("{what} must be a number from {first} to {last}");
                self.error(Code::BAD_TYPE, span, message, "another value");
                None
            }
        }
    }

    fn matrix_role(&mut self, b: &mut Builder<'_>, expr: ExprId) -> Option<MatrixRole> {
        match self.constant_int(b, expr, "the use of a matrix")? {
            0 => Some(MatrixRole::A),
            1 => Some(MatrixRole::B),
            2 => Some(MatrixRole::Accumulator),
            _ => {
                let message = "the use of a matrix is gl_MatrixUseA, gl_MatrixUseB or gl_MatrixUseAccumulator";
                self.error(Code::BAD_TYPE, self.ast[expr].span, message, "another value");
                None
            }
        }
    }

    /// `coopmat<…>(value)`: all elements from one number, or from a matrix of the same shape.
    pub fn construct_matrix(
        &mut self,
        b: &mut Builder<'_>,
        ty: TypeId,
        matrix: CooperativeMatrix,
        args: &[Operand],
        whole: Span,
    ) -> Option<Value> {
        if matrix.is_vector() {
            return self.construct_vector(b, ty, matrix, args, whole);
        }
        let given = if let [arg] = args { Some((arg.value, b.type_of(arg.value))) } else { None };
        let types = &b.module.types;
        match given {
            Some((value, from)) if self.reshapes(types, from, &matrix) => {
                let converts = types.number_of(from).is_some() && types.number_of(ty).is_some();
                (converts || from == ty).then(|| b.convert(value, ty))
            }
            Some((value, from)) if is_number(types, from) && is_number(types, matrix.element) => {
                let value = b.convert(value, matrix.element);
                Some(b.construct(ty, &[value]))
            }
            _ => None,
        }
        .or_else(|| self.no_matrix(b, ty, whole))
    }

    /// Returns true if a matrix can be constructed from one of this type: only NVIDIA's extension can change its use.
    fn reshapes(&self, types: &Types, from: TypeId, to: &CooperativeMatrix) -> bool {
        let changes = self.env.is_enabled(tensors::EXTENSION);
        let fits = |from: CooperativeMatrix| from.has_shape_of(to) || changes && from.has_size_of(to);
        types.cooperative(from).is_some_and(fits)
    }

    fn no_matrix(&mut self, b: &Builder<'_>, ty: TypeId, whole: Span) -> Option<Value> {
        let message = format!("`{}` is made of one number or one matrix of its shape", self.type_name(b, ty));
        self.error(Code::BAD_CONSTRUCTOR, whole, message, "other arguments");
        None
    }

    /// `saturatedConvertEXT(matrix, matrix)` (GL_EXT_float_e4m3): the value for its first argument; `None` for all
    /// other calls.
    pub fn saturated_matrix(&self, b: &mut Builder<'_>, name: &str, args: &[Argument]) -> Option<Value> {
        let [result, value] = args else { return None };
        let types = &b.module.types;
        let matrix = types.cooperative(result.ty).filter(|_| name == "saturatedConvertEXT" && result.is_place)?;
        let from = types.number_of(value.ty)?;
        let takes = matches!(types.scalar_of(matrix.element), Some(Scalar::E4M3 | Scalar::E5M2));
        let gives = from.is_number() || from == Scalar::BF16;
        (takes && gives && self.reshapes(types, value.ty, &matrix)).then(|| b.convert_saturated(value.value, result.ty))
    }

    /// A call of a function in [`TABLES`]; `None` for all others.
    #[expect(clippy::option_option, reason = "what is wrong and reported differs from what is another function")]
    pub fn call_matrix(
        &mut self,
        b: &mut Builder<'_>,
        callee: Name,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Option<Lowered>> {
        let name = self.text(callee.symbol);
        let named = |(functions, need): &(&'static [Function], Need)| {
            functions.iter().find(|function| function.name == name).map(|function| (function, *need))
        };
        let (function, need) = TABLES.iter().find_map(named)?;
        Some(need(self, callee.span).and_then(|()| {
            let Function { name, count: (least, most), lower } = *function;
            let args = &self.ast[args];
            if !(least..=most).contains(&args.len()) {
                self.wrong_counts(name, least, most, whole);
                return None;
            }
            lower(self, b, Call { name, args, whole })
        }))
    }

    /// `coopMatLoad(matrix, array, element, stride, layout)`
    pub fn load_matrix(&mut self, b: &mut Builder<'_>, call: Call<'_>, roleless: bool) -> Option<Lowered> {
        let Call { args, whole, .. } = call;
        let target = args[0];
        let span = self.ast[target].span;
        let lvalue = self.target(b, target)?;
        let ty = memory::value_type(b, &lvalue);
        self.check_matrix(b, ty, span).and_then(|matrix| self.check_use(matrix, roleless, span))?;
        let Memory { first, layout, stride } = self.matrix_memory(b, args, roleless)?;
        self.check_readable(&first, whole)?;
        b.span = whole;
        let value = memory::with_access_flags(b, &first, |b| {
            let pointer = memory::pointer(b, &first);
            b.cooperative(MatrixOp::Load, &[pointer, layout, stride], ty)
        });
        self.write(b, &lvalue, value, span, whole)?;
        Some(Lowered::Void)
    }

    /// `coopMatStore(matrix, array, element, stride, layout)`
    pub fn store_matrix(&mut self, b: &mut Builder<'_>, call: Call<'_>, roleless: bool) -> Option<Lowered> {
        let Call { args, whole, .. } = call;
        let source = args[0];
        let value = self.value(b, source)?;
        let ty = b.type_of(value);
        let span = self.ast[source].span;
        self.check_matrix(b, ty, span).and_then(|matrix| self.check_use(matrix, roleless, span))?;
        let Memory { first, layout, stride } = self.matrix_memory(b, args, roleless)?;
        self.writable(b, &first, whole)?;
        b.span = whole;
        memory::with_access_flags(b, &first, |b| {
            let pointer = memory::pointer(b, &first);
            b.cooperative(MatrixOp::Store, &[pointer, value, layout, stride], Types::VOID)
        });
        Some(Lowered::Void)
    }

    pub fn check_matrix(&mut self, b: &Builder<'_>, ty: TypeId, span: Span) -> Option<CooperativeMatrix> {
        let matrix = b.module.types.cooperative(ty);
        if matrix.is_none() {
            let name = self.type_name(b, ty);
            self.error(Code::TYPE_MISMATCH, span, "a cooperative matrix is needed here", format!("this is `{name}`"));
        }
        matrix
    }

    /// The arguments after the matrix: the memory to access.
    fn matrix_memory(&mut self, b: &mut Builder<'_>, args: &[ExprId], roleless: bool) -> Option<Memory> {
        let [_, array, at, stride, layout] = *args else { return None };
        let message = "a matrix is loaded from and stored to an array of numbers in a buffer or in shared memory";
        let array = self.shared_array(b, array, is_numbers, message)?;
        let first = self.array_element(b, array, at);
        let stride = self.value(b, stride).and_then(|value| self.coerce(b, value, Types::U32, self.ast[stride].span));
        let layout = if roleless { self.by_columns(b, layout)? } else { self.matrix_layout(b, layout)? };
        Some(Memory { first: first?, layout, stride: stride? })
    }

    /// One element of an array.
    pub fn array_element(&mut self, b: &mut Builder<'_>, array: LValue, at: ExprId) -> Option<LValue> {
        let span = self.ast[at].span;
        let value = self.value(b, at)?;
        let at = self.coerce(b, value, Types::U32, span)?;
        if let Type::Array { len: ArrayLen::Fixed(len), .. } = b.module.types.get(array.ty) {
            self.check_index(b, at, len, span)?;
        }
        let ty = b.module.types.element(array.ty, 0)?;
        Some(array.part(at, ty))
    }

    /// An array that all invocations see, of elements that suit.
    pub fn shared_array(
        &mut self,
        b: &mut Builder<'_>,
        arg: ExprId,
        suits: fn(&Types, TypeId) -> bool,
        message: &str,
    ) -> Option<LValue> {
        let span = self.ast[arg].span;
        let lowered = self.lower(b, arg)?;
        if let Lowered::LValue(lvalue) = lowered
            && matches!(lvalue.space, Space::Storage | Space::Workgroup | Space::Physical)
            && let Type::Array { element, .. } = b.module.types.get(lvalue.ty)
            && suits(&b.module.types, element)
        {
            return self.refuse_open(b, &lvalue, span).map(|()| lvalue);
        }
        self.error(Code::TYPE_MISMATCH, span, message, "not such an array");
        None
    }

    fn matrix_layout(&mut self, b: &mut Builder<'_>, arg: ExprId) -> Option<Value> {
        let id = self.constant(b, arg, "the layout of a matrix")?;
        let ty = b.module.constants.get(id).ty;
        let int = matches!(b.module.types.get(ty), Type::Scalar(scalar) if scalar.is_int() && scalar.width == 32);
        let number = b.module.constants.as_int(&b.module.types, id);
        if int && (b.module.constants.is_spec(id) || number.is_some_and(|number| LAYOUTS.contains(&number))) {
            return Some(Value::Const(id));
        }
        let message = "the layout of a matrix is gl_CooperativeMatrixLayoutRowMajor or …ColumnMajor";
        self.error(Code::TYPE_MISMATCH, self.ast[arg].span, message, "another value");
        None
    }

    /// `coopMatMulAdd(A, B, C)`, `coopMatMulAdd(A, B, C, operands)`
    pub fn multiply_matrices(&mut self, b: &mut Builder<'_>, call: Call<'_>, roleless: bool) -> Option<Lowered> {
        let Call { args, whole, .. } = call;
        let mut values = [Value::Param(0); 3];
        let mut matrices = [None; 3];
        for (at, arg) in args.iter().take(3).enumerate() {
            values[at] = self.value(b, *arg)?;
            let ty = b.type_of(values[at]);
            let span = self.ast[*arg].span;
            matrices[at] = self.check_matrix(b, ty, span).and_then(|matrix| self.check_use(matrix, roleless, span));
        }
        let [left, right, sum] = [matrices[0]?, matrices[1]?, matrices[2]?];
        let complaint = product_complaint(&b.module.types, &left, &right, &sum);
        if let Some(complaint) = complaint {
            let names = values.map(|value| {
                let ty = b.type_of(value);
                self.type_name(b, ty)
            });
            let message = format!("no product of `{}` and `{}` plus `{}`", names[0], names[1], names[2]);
            self.error(Code::NO_OVERLOAD, whole, message, complaint);
            return None;
        }
        let saturating = match args.get(3) {
            Some(flags) => self.saturates(b, *flags, sum)?,
            None => false,
        };
        b.span = whole;
        let ty = b.type_of(values[2]);
        Some(Lowered::Value(b.cooperative(MatrixOp::MulAdd { saturating }, &values, ty)))
    }

    /// Returns the saturation that the last argument of a product selects.
    fn saturates(&mut self, b: &mut Builder<'_>, flags: ExprId, sum: CooperativeMatrix) -> Option<bool> {
        let bits = self.constant_int(b, flags, "the operands of a product")?;
        let int = b.module.types.scalar_of(sum.element).is_some_and(Scalar::is_int);
        if bits == 0 || bits == SATURATING && int {
            return Some(bits == SATURATING);
        }
        let message = "a product takes gl_MatrixOperandsSaturatingAccumulation, for integers, or nothing";
        self.error(Code::TYPE_MISMATCH, self.ast[flags].span, message, "another value");
        None
    }

    /// Reports shared memory of a type that only private variables may have.
    pub fn refuse_private(&mut self, b: &Builder<'_>, ty: TypeId, span: Span) -> Option<()> {
        let types = &b.module.types;
        let reason = match () {
            () if types.holds_cooperative(ty) => "it holds a cooperative matrix",
            () if types.holds_scalar(ty, Scalar::is_below_byte) => "it holds numbers smaller than a byte",
            () => return Some(()),
        };
        let message = format!("only variables of one invocation can be `{}`", self.type_name(b, ty));
        self.error(Code::BAD_TYPE, span, message, reason);
        None
    }
}

/// Why `a * b + c` is not possible.
fn product_complaint(
    types: &Types,
    a: &CooperativeMatrix,
    b: &CooperativeMatrix,
    c: &CooperativeMatrix,
) -> Option<&'static str> {
    let is_float = |matrix: &CooperativeMatrix| types.scalar_of(matrix.element).map(|scalar| !scalar.is_int());
    let roles = [a.role, b.role, c.role];
    if roles != [MatrixRole::A, MatrixRole::B, MatrixRole::Accumulator] && roles != [MatrixRole::Any; 3] {
        return Some("their uses are gl_MatrixUseA, gl_MatrixUseB and gl_MatrixUseAccumulator");
    }
    if a.scope != b.scope || a.scope != c.scope {
        return Some("their scopes differ");
    }
    if a.columns != b.rows || a.rows != c.rows || b.columns != c.columns {
        return Some("their rows and columns do not fit");
    }
    let same = is_float(a) == is_float(b) && is_float(b) == is_float(c);
    if same { None } else { Some("all are made of floats, or all of integers") }
}

/// Returns true if a type consists of numbers, alone or in vectors.
pub fn is_numbers(types: &Types, ty: TypeId) -> bool {
    types.components(ty).is_some() && !types.scalar_of(ty).is_some_and(Scalar::is_bool)
}

pub fn is_number(types: &Types, ty: TypeId) -> bool {
    matches!(types.get(ty), Type::Scalar(scalar) if !scalar.is_bool())
}
