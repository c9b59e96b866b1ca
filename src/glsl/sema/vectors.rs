//! GL_NV_cooperative_vector: the type, its constructors, and the functions on it. Operators are in `operators`,
//! components in `access`: a cooperative vector is a cooperative matrix of one row that each invocation has for itself.

use super::Sema;
use super::cooperative::{Call, Function, function, is_number, is_numbers};
use super::expressions::Lowered;
use super::lvalue::LValue;
use super::memory;
use super::operators::Operand;
use crate::diagnostic::Code;
use crate::glsl::ast::{self, ExprId, MatrixSpec};
use crate::ir::build::Builder;
use crate::ir::{
    Access, CooperativeMatrix, ForeignInstruction, MatrixOp, MatrixRole, Passing, Requirements, Scalar, ScalarKind,
    Type, TypeId, Types, Value,
};
use crate::source::Span;
use rspirv::spirv::{Capability, CooperativeMatrixOperands, GlslStd450Op as G, Op};
use smallvec::SmallVec;

pub const NAME: &str = "coopvecNV";

const EXTENSION: &str = "GL_NV_cooperative_vector";

/// SPIR-V's number of the invocation scope.
const INVOCATION: u32 = 4;

/// Number of components that a vector can be constructed from: the limit of one instruction.
const COMPONENTS: std::ops::RangeInclusive<i128> = 1..=0xFFF0;

/// Interpretations with four numbers per input component: gl_ComponentType…Int8PackedNV.
const PACKED: [i128; 2] = [1_000_491_000, 1_000_491_001];

pub static FUNCTIONS: [Function; 6] = [
    function("coopVecLoadNV", (3, 3), |sema, b, call| sema.load_vector(b, call)),
    function("coopVecStoreNV", (3, 3), |sema, b, call| sema.store_vector(b, call)),
    function("coopVecMatMulNV", (11, 11), |sema, b, call| sema.multiply_vector(b, call)),
    function("coopVecMatMulAddNV", (14, 14), |sema, b, call| sema.multiply_vector(b, call)),
    function("coopVecOuterProductAccumulateNV", (7, 7), |sema, b, call| sema.outer_product(b, call)),
    function("coopVecReduceSumAccumulateNV", (3, 3), |sema, b, call| sema.reduce_sum(b, call)),
];

/// Built-in functions that also accept such vectors: number of arguments, and the instructions for floats, signed and
/// unsigned integers.
const MATH: [(&str, usize, [Option<G>; 3]); 9] = [
    ("exp", 1, [Some(G::Exp), None, None]),
    ("log", 1, [Some(G::Log), None, None]),
    ("tanh", 1, [Some(G::Tanh), None, None]),
    ("atan", 1, [Some(G::Atan), None, None]),
    ("min", 2, [Some(G::FMin), Some(G::SMin), Some(G::UMin)]),
    ("max", 2, [Some(G::FMax), Some(G::SMax), Some(G::UMax)]),
    ("clamp", 3, [Some(G::FClamp), Some(G::SClamp), Some(G::UClamp)]),
    ("step", 2, [Some(G::Step), None, None]),
    ("fma", 3, [Some(G::Fma), None, None]),
];

/// Operands of an instruction and how each is passed.
type Operands = SmallVec<[(Value, Passing); 16]>;

impl Sema<'_> {
    /// `coopvecNV<component, components>`
    pub fn vector_spec(&mut self, b: &mut Builder<'_>, spec: MatrixSpec, element: ast::TypeId) -> Option<TypeId> {
        self.need_vectors(spec.name.span)?;
        let of = self.type_spec(b, element);
        let ast = self.ast;
        let [columns] = ast[spec.parameters] else {
            let message = "`coopvecNV` has two parameters: a type and the number of components";
            self.error(Code::BAD_TYPE, spec.name.span, message, "another number");
            return None;
        };
        let span = ast[element].span;
        let element = self.matrix_element(b, of?, span)?;
        if b.module.types.scalar_of(element).is_some_and(|scalar| scalar.encoding().is_some()) {
            let message = format!("a cooperative vector cannot be made of `{}`", self.type_name(b, element));
            self.error(Code::BAD_TYPE, span, message, "nothing computes with it");
            return None;
        }
        let columns = self.matrix_number(b, columns, "the number of components", COMPONENTS)?;
        let (scope, rows) = (b.module.constants.u32(INVOCATION), b.module.constants.u32(1));
        let vector = CooperativeMatrix { element, scope, rows, columns, role: MatrixRole::Vector };
        Some(b.module.types.intern(Type::CooperativeMatrix(vector)))
    }

    pub fn need_vectors(&mut self, span: Span) -> Option<()> {
        self.need_matrix_extension("cooperative vectors need", &[EXTENSION], span)
    }

    /// `coopvecNV<…>(…)`: all components from one number, from another vector of the same size, or each from a
    /// component of the arguments.
    pub fn construct_vector(
        &mut self,
        b: &mut Builder<'_>,
        ty: TypeId,
        vector: CooperativeMatrix,
        args: &[Operand],
        whole: Span,
    ) -> Option<Value> {
        if let [arg] = args {
            let from = b.type_of(arg.value);
            if b.module.types.cooperative(from).is_some_and(|from| from.has_shape_of(&vector)) {
                return Some(b.convert(arg.value, ty));
            }
            if is_number(&b.module.types, from) {
                let value = b.convert(arg.value, vector.element);
                return Some(b.construct(ty, &[value]));
            }
        }
        let parts = self.components(b, args).filter(|parts| !parts.is_empty());
        // If a specialization constant sets the number of components, only the pipeline knows it, so all arguments are
        // passed.
        let wanted = b.module.constants.as_int(&b.module.types, vector.columns).map(|wanted| wanted as usize);
        let Some(parts) = parts.filter(|parts| wanted.is_none_or(|wanted| parts.len() >= wanted)) else {
            let message =
                format!("`{}` is made of one number, or of as many as it has components", self.type_name(b, ty));
            self.error(Code::BAD_CONSTRUCTOR, whole, message, "other arguments");
            return None;
        };
        let count = wanted.unwrap_or(parts.len());
        let parts: Vec<Value> = parts.into_iter().take(count).map(|part| b.convert(part, vector.element)).collect();
        Some(b.construct(ty, &parts))
    }

    /// The numbers in the arguments; `None` if they contain anything else.
    fn components(&self, b: &mut Builder<'_>, args: &[Operand]) -> Option<Vec<Value>> {
        let mut parts = Vec::new();
        for arg in args {
            let of = b.type_of(arg.value);
            match b.module.types.components(of).filter(|_| is_numbers(&b.module.types, of))? {
                1 => parts.push(arg.value),
                size => parts.extend((0..u32::from(size)).map(|index| b.extract(arg.value, index))),
            }
        }
        Some(parts)
    }

    /// `coopVecLoadNV(vector, array, bytes)`
    fn load_vector(&mut self, b: &mut Builder<'_>, Call { args, whole, .. }: Call<'_>) -> Option<Lowered> {
        let span = self.ast[args[0]].span;
        let target = self.target(b, args[0])?;
        let ty = memory::value_type(b, &target);
        self.check_vector(b, ty, span)?;
        let (lvalue, offset) = self.vector_memory(b, args[1], args[2])?;
        self.check_readable(&lvalue, whole)?;
        b.span = whole;
        let value = memory::with_access_flags(b, &lvalue, |b| {
            let pointer = memory::pointer(b, &lvalue);
            b.cooperative(MatrixOp::LoadVector, &[pointer, offset], ty)
        });
        self.write(b, &target, value, span, whole)?;
        Some(Lowered::Void)
    }

    /// `coopVecStoreNV(vector, array, bytes)`
    fn store_vector(&mut self, b: &mut Builder<'_>, Call { args, whole, .. }: Call<'_>) -> Option<Lowered> {
        let (value, _) = self.vector_value(b, args[0])?;
        let (lvalue, offset) = self.vector_memory(b, args[1], args[2])?;
        self.writable(b, &lvalue, whole)?;
        b.span = whole;
        memory::with_access_flags(b, &lvalue, |b| {
            let pointer = memory::pointer(b, &lvalue);
            b.cooperative(MatrixOp::StoreVector, &[pointer, offset, value], Types::VOID)
        });
        Some(Lowered::Void)
    }

    /// `coopVecMatMulNV(result, input, interpretation, matrix, bytes, interpretation, rows, columns, layout,
    /// transposed, stride)`, and `coopVecMatMulAddNV` with a bias, its bytes and interpretation before the rows.
    fn multiply_vector(&mut self, b: &mut Builder<'_>, Call { args, whole, .. }: Call<'_>) -> Option<Lowered> {
        let [result, input, input_kind, factors @ .., rows, columns, layout, transposed, stride] = args else {
            return None;
        };
        let span = self.ast[*result].span;
        let target = self.target(b, *result)?;
        let ty = memory::value_type(b, &target);
        let output = self.check_vector(b, ty, span)?;
        let (value, given) = self.vector_value(b, *input)?;
        let kind = self.number(b, *input_kind, "the interpretation of the input")?;
        let mut operands: Operands = SmallVec::from_slice(&[(value, Passing::Value), (kind, Passing::Value)]);
        for factor in factors.chunks_exact(3) {
            let (lvalue, offset) = self.vector_memory(b, factor[0], factor[1])?;
            self.check_readable(&lvalue, whole)?;
            let kind = self.number(b, factor[2], "the interpretation of a matrix")?;
            operands.push((memory::marked_pointer(b, &lvalue), Passing::Reference));
            operands.extend([(offset, Passing::Value), (kind, Passing::Value)]);
        }
        let is_packed = PACKED.contains(&self.known(b, kind).unwrap_or(0));
        let sizes = [(*rows, output, "rows"), (*columns, given, "columns")];
        for (expr, vector, what) in sizes {
            let id = self.matrix_number(b, expr, what, COMPONENTS)?;
            if id != vector.columns && !(is_packed && what == "columns") {
                let message = format!("the matrix has other {what} than the vector has components");
                self.error(Code::TYPE_MISMATCH, self.ast[expr].span, message, "another number");
                return None;
            }
            operands.push((Value::Const(id), Passing::Value));
        }
        operands.push((self.number(b, *layout, "the layout of a matrix")?, Passing::Value));
        let transposed = self.constant(b, *transposed, "whether a matrix is transposed")?;
        operands.push((Value::Const(transposed), Passing::Value));
        operands.push((self.bytes(b, *stride)?, Passing::Value));
        operands.extend(signs(b, &given, &output).map(|mask| (mask, Passing::Literal)));
        let op = if factors.len() > 3 { Op::CooperativeVectorMatrixMulAddNV } else { Op::CooperativeVectorMatrixMulNV };
        let value = vector_instruction(b, (op, Capability::CooperativeVectorNV), &operands, ty, whole);
        self.write(b, &target, value, span, whole)?;
        Some(Lowered::Void)
    }

    /// `coopVecOuterProductAccumulateNV(left, right, array, bytes, stride, layout, interpretation)`
    fn outer_product(&mut self, b: &mut Builder<'_>, Call { args, whole, .. }: Call<'_>) -> Option<Lowered> {
        let (left, _) = self.vector_value(b, args[0])?;
        let (right, _) = self.vector_value(b, args[1])?;
        let (lvalue, offset) = self.vector_memory(b, args[2], args[3])?;
        self.writable(b, &lvalue, whole)?;
        let stride = self.bytes(b, args[4])?;
        let layout = self.number(b, args[5], "the layout of a matrix")?;
        let kind = self.number(b, args[6], "the interpretation of a matrix")?;
        let pointer = memory::marked_pointer(b, &lvalue);
        let values = [offset, left, right, layout, kind, stride].map(|value| (value, Passing::Value));
        let operands: Operands = [(pointer, Passing::Reference)].into_iter().chain(values).collect();
        let op = (Op::CooperativeVectorOuterProductAccumulateNV, Capability::CooperativeVectorTrainingNV);
        vector_instruction(b, op, &operands, Types::VOID, whole);
        Some(Lowered::Void)
    }

    /// `coopVecReduceSumAccumulateNV(vector, array, bytes)`
    fn reduce_sum(&mut self, b: &mut Builder<'_>, Call { args, whole, .. }: Call<'_>) -> Option<Lowered> {
        let (vector, _) = self.vector_value(b, args[0])?;
        let (lvalue, offset) = self.vector_memory(b, args[1], args[2])?;
        self.writable(b, &lvalue, whole)?;
        let pointer = memory::marked_pointer(b, &lvalue);
        let operands = [(pointer, Passing::Reference), (offset, Passing::Value), (vector, Passing::Value)];
        let op = (Op::CooperativeVectorReduceSumAccumulateNV, Capability::CooperativeVectorTrainingNV);
        vector_instruction(b, op, &operands, Types::VOID, whole);
        Some(Lowered::Void)
    }

    /// A built-in function on cooperative vectors of one type; `None` for all other calls.
    pub fn vector_math(&mut self, b: &mut Builder<'_>, name: &str, args: &[Value]) -> Option<Value> {
        let ty = b.type_of(*args.first()?);
        b.module.types.cooperative(ty).filter(|of| of.is_vector())?;
        let (_, count, ops) = *MATH.iter().find(|(known, ..)| *known == name)?;
        let kind = b.module.types.number_of(ty)?.kind;
        let op = match kind {
            ScalarKind::Float => ops[0],
            ScalarKind::Sint => ops[1],
            ScalarKind::Uint => ops[2],
            ScalarKind::Bool | ScalarKind::Encoded(_) => None,
        }?;
        if args.len() != count || args.iter().any(|arg| b.type_of(*arg) != ty) {
            return None;
        }
        let instruction = ForeignInstruction {
            set: Some("GLSL.std.450".into()),
            opcode: op as u32,
            arguments: vec![Passing::Value; args.len()],
            requires: Requirements::default(),
        };
        let instruction = b.known_instruction(instruction);
        Some(b.foreign(instruction, args, ty))
    }

    fn vector_value(&mut self, b: &mut Builder<'_>, arg: ExprId) -> Option<(Value, CooperativeMatrix)> {
        let value = self.value(b, arg)?;
        let ty = b.type_of(value);
        self.check_vector(b, ty, self.ast[arg].span).map(|vector| (value, vector))
    }

    fn check_vector(&mut self, b: &Builder<'_>, ty: TypeId, span: Span) -> Option<CooperativeMatrix> {
        let vector = b.module.types.cooperative(ty).filter(|of| of.is_vector());
        if vector.is_none() {
            let name = self.type_name(b, ty);
            self.error(Code::TYPE_MISMATCH, span, "a cooperative vector is needed here", format!("this is `{name}`"));
        }
        vector
    }

    /// An array, and the bytes from its beginning.
    fn vector_memory(&mut self, b: &mut Builder<'_>, array: ExprId, offset: ExprId) -> Option<(LValue, Value)> {
        let message = "vectors and their matrices lie in arrays of numbers, in a buffer or in shared memory";
        let lvalue = self.shared_array(b, array, is_numbers, message)?;
        Some((lvalue, self.bytes(b, offset)?))
    }

    fn bytes(&mut self, b: &mut Builder<'_>, arg: ExprId) -> Option<Value> {
        let value = self.value(b, arg)?;
        self.coerce(b, value, Types::U32, self.ast[arg].span)
    }

    /// A constant `int` or `uint`, possibly a specialization constant.
    fn number(&mut self, b: &mut Builder<'_>, arg: ExprId, what: &str) -> Option<Value> {
        let id = self.constant(b, arg, what)?;
        let ty = b.module.constants.get(id).ty;
        if ty == Types::I32 || ty == Types::U32 {
            return Some(Value::Const(id));
        }
        self.error(Code::TYPE_MISMATCH, self.ast[arg].span, format!("{what} is an integer"), "another type");
        None
    }

    fn known(&self, b: &Builder<'_>, value: Value) -> Option<i128> {
        match value {
            Value::Const(id) => b.module.constants.as_int(&b.module.types, id),
            _ => None,
        }
    }

    pub fn check_readable(&mut self, lvalue: &LValue, span: Span) -> Option<()> {
        if lvalue.access.contains(Access::WRITEONLY) {
            self.error(Code::NOT_READABLE, span, "this memory is `writeonly`", "read here");
            return None;
        }
        Some(())
    }
}

/// The signedness operands for the input and the result of a product; none if neither is signed.
fn signs(b: &mut Builder<'_>, input: &CooperativeMatrix, output: &CooperativeMatrix) -> Option<Value> {
    let types = &b.module.types;
    let is_signed = |of: &CooperativeMatrix| types.scalar_of(of.element).is_some_and(Scalar::is_signed);
    let mut mask = CooperativeMatrixOperands::empty();
    mask.set(CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR, is_signed(input));
    mask.set(CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR, is_signed(output));
    (!mask.is_empty()).then(|| b.const_u32(mask.bits()))
}

fn vector_instruction(
    b: &mut Builder<'_>,
    (op, capability): (Op, Capability),
    operands: &[(Value, Passing)],
    ty: TypeId,
    whole: Span,
) -> Value {
    b.span = whole;
    let extensions = vec!["SPV_NV_cooperative_vector".into()];
    let instruction = b.known_instruction(ForeignInstruction {
        set: None,
        opcode: op as u32,
        arguments: operands.iter().map(|(_, passing)| *passing).collect(),
        requires: Requirements { extensions, capabilities: vec![capability as u32] },
    });
    let values: SmallVec<[Value; 16]> = operands.iter().map(|(value, _)| *value).collect();
    b.foreign(instruction, &values, ty)
}
