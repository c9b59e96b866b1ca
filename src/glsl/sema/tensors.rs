//! GL_NV_cooperative_matrix2: the types that describe tensors, their functions, and the functions that load, store and
//! compute whole cooperative matrices, some through a function of the shader.

use super::Sema;
use super::cooperative::{Call, Function, function};
use super::expressions::Lowered;
use super::functions::{Mode, Signature};
use super::lvalue::LValue;
use super::memory;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{ExprId, ExprKind, TensorSpec};
use crate::ir::build::Builder;
use crate::ir::{
    ArrayLen, ConstId, CooperativeMatrix, Decoders, ForeignInstruction, ForeignOperand, ForeignType, FuncId, MatrixOp,
    Passing, Reduced, Requirements, Type, TypeId, Types, Value,
};
use crate::source::Span;
use Described::{Layout, View};
use Numbers::{Exactly, ForEach};
use rspirv::spirv::{Capability, Op};
use smallvec::SmallVec;

pub const EXTENSION: &str = "GL_NV_cooperative_matrix2";

/// The extension that allows a second function to decode several elements at once.
const DECODE_VECTOR: &str = "GL_NV_cooperative_matrix_decode_vector";

/// Dimensions that a tensor can have (SPV_NV_tensor_addressing).
const DIMENSIONS: std::ops::RangeInclusive<i128> = 1..=5;

/// Values of gl_CooperativeMatrixClampMode….
const CLAMP_MODES: std::ops::RangeInclusive<i128> = 0..=4;

/// What the type describes: the layout of a tensor, or a view of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Described {
    Layout,
    View,
}

impl Described {
    const fn opcode(self) -> Op {
        match self {
            Described::Layout => Op::TypeTensorLayoutNV,
            Described::View => Op::TypeTensorViewNV,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Described::Layout => "tensorLayoutNV",
            Described::View => "tensorViewNV",
        }
    }
}

/// Numbers after a description: a count per dimension, or a fixed count.
#[derive(Clone, Copy)]
enum Numbers {
    ForEach(usize),
    Exactly(usize),
}

/// A tensor in memory.
struct Tensor {
    /// The element of an array at which it starts.
    first: LValue,
    layout: Value,
    dimensions: u32,
}

/// An argument count that depends on a tensor's dimensions.
const ANY: (usize, usize) = (0, usize::MAX);

#[rustfmt::skip]
pub static FUNCTIONS: [Function; 15] = [
    function("createTensorLayoutNV", ANY, |sema, b, call| sema.create(b, Layout, call)),
    function("createTensorViewNV", ANY, |sema, b, call| sema.create(b, View, call)),
    function("setTensorLayoutBlockSizeNV", ANY, |sema, b, call| sema.set(b, (Layout, Op::TensorLayoutSetBlockSizeNV, ForEach(1)), call)),
    function("setTensorLayoutDimensionNV", ANY, |sema, b, call| sema.set(b, (Layout, Op::TensorLayoutSetDimensionNV, ForEach(1)), call)),
    function("setTensorLayoutStrideNV", ANY, |sema, b, call| sema.set(b, (Layout, Op::TensorLayoutSetStrideNV, ForEach(1)), call)),
    function("sliceTensorLayoutNV", ANY, |sema, b, call| sema.set(b, (Layout, Op::TensorLayoutSliceNV, ForEach(2)), call)),
    function("setTensorLayoutClampValueNV", ANY, |sema, b, call| sema.set(b, (Layout, Op::TensorLayoutSetClampValueNV, Exactly(1)), call)),
    function("setTensorViewDimensionsNV", ANY, |sema, b, call| sema.set(b, (View, Op::TensorViewSetDimensionNV, ForEach(1)), call)),
    function("setTensorViewStrideNV", ANY, |sema, b, call| sema.set(b, (View, Op::TensorViewSetStrideNV, ForEach(1)), call)),
    function("setTensorViewClipNV", ANY, |sema, b, call| sema.set(b, (View, Op::TensorViewSetClipNV, Exactly(4)), call)),
    function("coopMatLoadTensorNV", (4, 7), |sema, b, call| sema.load_tensor(b, call)),
    function("coopMatStoreTensorNV", (4, 5), |sema, b, call| sema.store_tensor(b, call)),
    function("coopMatReduceNV", (4, 4), |sema, b, call| sema.reduce_matrix(b, call)),
    function("coopMatPerElementNV", (3, usize::MAX), |sema, b, call| sema.per_element(b, call)),
    function("coopMatTransposeNV", (2, 2), |sema, b, call| sema.transpose_matrix(b, call)),
];

fn requirements() -> Requirements {
    let extensions = vec!["SPV_NV_tensor_addressing".into()];
    Requirements { extensions, capabilities: vec![Capability::TensorAddressingNV as u32] }
}

impl Sema<'_> {
    /// `tensorLayoutNV<dimensions, clamp mode>`, `tensorViewNV<dimensions, has dimensions, order…>`
    pub fn tensor_spec(&mut self, b: &mut Builder<'_>, spec: TensorSpec) -> Option<TypeId> {
        self.need_tensors(spec.name.span)?;
        let layout = self.text(spec.name.symbol) == Described::Layout.name();
        let described = if layout { Described::Layout } else { Described::View };
        let parameters = &self.ast[spec.parameters];
        self.described(b, described, parameters, spec.name.span)
    }

    pub fn need_tensors(&mut self, span: Span) -> Option<()> {
        self.need_matrix_extension("this needs", &[EXTENSION], span)
    }

    /// The type with these parameters; missing ones have defaults.
    fn described(
        &mut self,
        b: &mut Builder<'_>,
        described: Described,
        parameters: &[ExprId],
        span: Span,
    ) -> Option<TypeId> {
        let [first, rest @ ..] = parameters else {
            self.error(Code::BAD_TYPE, span, "the number of dimensions is missing", "needs arguments");
            return None;
        };
        let dimensions = self.dimensions(b, *first)?;
        let mut operands = vec![b.module.constants.u32(dimensions)];
        match described {
            Described::Layout => operands.push(self.clamp_mode(b, rest, span)?),
            Described::View => self.view_parameters(b, rest, dimensions, &mut operands, span)?,
        }
        let operands = operands.into_iter().map(ForeignOperand::Constant).collect();
        let opcode = described.opcode() as u32;
        Some(b.foreign_type(ForeignType { opcode, operands, requires: requirements() }))
    }

    fn dimensions(&mut self, b: &mut Builder<'_>, expr: ExprId) -> Option<u32> {
        let number = self.constant_int(b, expr, "the number of dimensions of a tensor")?;
        if DIMENSIONS.contains(&number) {
            return Some(number as u32);
        }
        self.error(Code::BAD_TYPE, self.ast[expr].span, "a tensor has 1 to 5 dimensions", "another number");
        None
    }

    fn clamp_mode(&mut self, b: &mut Builder<'_>, rest: &[ExprId], span: Span) -> Option<ConstId> {
        match rest {
            [] => Some(b.module.constants.u32(0)),
            [mode] => self.matrix_number(b, *mode, "the clamp mode of a tensor", CLAMP_MODES),
            _ => self.too_many(Described::Layout, span),
        }
    }

    fn view_parameters(
        &mut self,
        b: &mut Builder<'_>,
        rest: &[ExprId],
        dimensions: u32,
        operands: &mut Vec<ConstId>,
        span: Span,
    ) -> Option<()> {
        if rest.len() > 1 + dimensions as usize {
            return self.too_many(Described::View, span);
        }
        operands.push(match rest.first() {
            Some(has_dimensions) => self.view_flag(b, *has_dimensions)?,
            None => b.module.constants.bool(false),
        });
        let last = i128::from(dimensions) - 1;
        for at in 0..dimensions {
            operands.push(match rest.get(1 + at as usize) {
                Some(expr) => self.matrix_number(b, *expr, "the place of a dimension", 0..=last)?,
                None => b.module.constants.u32(at),
            });
        }
        Some(())
    }

    fn view_flag(&mut self, b: &mut Builder<'_>, expr: ExprId) -> Option<ConstId> {
        let id = self.constant(b, expr, "whether a view has dimensions")?;
        if b.module.constants.get(id).ty == Types::BOOL {
            return Some(id);
        }
        self.error(Code::BAD_TYPE, self.ast[expr].span, "a `bool` is needed here", "another type");
        None
    }

    fn too_many<T>(&mut self, described: Described, span: Span) -> Option<T> {
        let message = format!("`{}` does not have so many parameters", described.name());
        self.error(Code::BAD_TYPE, span, message, "too many");
        None
    }

    fn create(
        &mut self,
        b: &mut Builder<'_>,
        described: Described,
        Call { args, whole, .. }: Call<'_>,
    ) -> Option<Lowered> {
        let ty = self.described(b, described, args, whole)?;
        let op = if described == Described::Layout { Op::CreateTensorLayoutNV } else { Op::CreateTensorViewNV };
        Some(self.tensor_instruction(b, op, &[], ty, whole))
    }

    fn tensor_instruction(&mut self, b: &mut Builder<'_>, op: Op, args: &[Value], ty: TypeId, whole: Span) -> Lowered {
        b.span = whole;
        let arguments = vec![Passing::Value; args.len()];
        let opcode = op as u32;
        let index = b.known_instruction(ForeignInstruction { set: None, opcode, arguments, requires: requirements() });
        Lowered::Value(b.foreign(index, args, ty))
    }

    /// A copy of a description with other numbers.
    fn set(
        &mut self,
        b: &mut Builder<'_>,
        (described, op, numbers): (Described, Op, Numbers),
        Call { name, args, whole }: Call<'_>,
    ) -> Option<Lowered> {
        let [first, rest @ ..] = args else {
            self.wrong_count(name, 1, whole);
            return None;
        };
        let (value, dimensions) = self.description(b, *first, described)?;
        let count = match numbers {
            Numbers::ForEach(count) => count * dimensions as usize,
            Numbers::Exactly(count) => count,
        };
        if rest.len() != count {
            self.wrong_count(name, 1 + count, whole);
            return None;
        }
        let mut values: SmallVec<[Value; 8]> = SmallVec::from_slice(&[value]);
        for arg in rest {
            let value = self.value(b, *arg)?;
            values.push(self.coerce(b, value, Types::U32, self.ast[*arg].span)?);
        }
        let ty = b.type_of(value);
        Some(self.tensor_instruction(b, op, &values, ty, whole))
    }

    /// An argument that describes a tensor, and how many dimensions that has.
    fn description(&mut self, b: &mut Builder<'_>, arg: ExprId, described: Described) -> Option<(Value, u32)> {
        let value = self.value(b, arg)?;
        let ty = b.type_of(value);
        if let Some(dimensions) = dimensions_of(b, ty, described) {
            return Some((value, dimensions));
        }
        let message = format!("a `{}` is needed here", described.name());
        self.error(Code::TYPE_MISMATCH, self.ast[arg].span, message, "another type");
        None
    }

    /// `coopMatLoadTensorNV(matrix, array, element, layout, [view], [decode, [decode vector]])`
    fn load_tensor(&mut self, b: &mut Builder<'_>, Call { args, whole, .. }: Call<'_>) -> Option<Lowered> {
        let [target, array, at, layout, rest @ ..] = args else { return None };
        let span = self.ast[*target].span;
        let lvalue = self.target(b, *target)?;
        let ty = memory::value_type(b, &lvalue);
        let matrix = self.check_matrix(b, ty, span)?;
        let Tensor { first, layout, dimensions } = self.tensor_memory(b, (*array, *at), *layout)?;
        let (view, decoders) = self.tensor_rest(b, rest, (matrix, dimensions), whole)?;
        self.check_readable(&first, whole)?;
        // Only a view clips: without one no element keeps its value.
        let kept = if view.is_some() { self.read(b, &lvalue, span)? } else { b.undef(ty) };
        b.span = whole;
        let value = memory::with_access_flags(b, &first, |b| {
            let mut operands: SmallVec<[Value; 4]> = SmallVec::from_slice(&[memory::pointer(b, &first), kept, layout]);
            operands.extend(view);
            b.cooperative(MatrixOp::LoadTensor(decoders), &operands, ty)
        });
        self.write(b, &lvalue, value, span, whole)?;
        Some(Lowered::Void)
    }

    /// `coopMatStoreTensorNV(matrix, array, element, layout, [view])`
    fn store_tensor(&mut self, b: &mut Builder<'_>, Call { args, whole, .. }: Call<'_>) -> Option<Lowered> {
        let [source, array, at, layout, view @ ..] = args else { return None };
        let value = self.value(b, *source)?;
        let ty = b.type_of(value);
        self.check_matrix(b, ty, self.ast[*source].span)?;
        let Tensor { first, layout, .. } = self.tensor_memory(b, (*array, *at), *layout)?;
        let view = match view.first() {
            Some(view) => Some(self.description(b, *view, Described::View)?.0),
            None => None,
        };
        self.writable(b, &first, whole)?;
        b.span = whole;
        memory::with_access_flags(b, &first, |b| {
            let mut operands: SmallVec<[Value; 4]> = SmallVec::from_slice(&[memory::pointer(b, &first), value, layout]);
            operands.extend(view);
            b.cooperative(MatrixOp::StoreTensor, &operands, Types::VOID)
        });
        Some(Lowered::Void)
    }

    /// The element of an array at which a tensor starts, and the tensor's layout with its dimensions.
    fn tensor_memory(&mut self, b: &mut Builder<'_>, (array, at): (ExprId, ExprId), layout: ExprId) -> Option<Tensor> {
        let message = "a tensor lies in an array in a buffer or in shared memory";
        let array = self.shared_array(b, array, |_, _| true, message)?;
        let first = self.array_element(b, array, at)?;
        let (layout, dimensions) = self.description(b, layout, Described::Layout)?;
        Some(Tensor { first, layout, dimensions })
    }

    /// The view and the decoding functions, all of which are optional.
    fn tensor_rest(
        &mut self,
        b: &mut Builder<'_>,
        rest: &[ExprId],
        (matrix, dimensions): (CooperativeMatrix, u32),
        whole: Span,
    ) -> Option<(Option<Value>, Decoders)> {
        let (view, functions) = match rest {
            [view, functions @ ..] if !self.names_function(*view) => (Some(*view), functions),
            functions => (None, functions),
        };
        if functions.len() > 2 {
            self.wrong_counts("coopMatLoadTensorNV", 4, 7, whole);
            return None;
        }
        let view = match view {
            Some(view) => Some(self.description(b, view, Described::View)?.0),
            None => None,
        };
        let mut decoders = Decoders::default();
        if let Some(scalar) = functions.first() {
            decoders.scalar = Some(self.decoder(b, *scalar, matrix, dimensions)?);
        }
        if let Some(vector) = functions.get(1) {
            decoders.vector = Some(self.vector_decoder(b, *vector, matrix, dimensions)?);
        }
        Some((view, decoders))
    }

    /// A function `element f(reference block, uint place[dimensions], uint within[dimensions])`.
    fn decoder(
        &mut self,
        b: &mut Builder<'_>,
        arg: ExprId,
        matrix: CooperativeMatrix,
        dimensions: u32,
    ) -> Option<FuncId> {
        let signature = self.function_argument(arg)?;
        let fits = takes_block(b, &signature, dimensions) && signature.ret == matrix.element;
        let wanted = "takes a buffer reference and two arrays of one `uint` for each dimension, and returns an element";
        self.fits(fits, &signature, arg, wanted)
    }

    /// Checks a function that returns a vector of elements.
    fn vector_decoder(
        &mut self,
        b: &mut Builder<'_>,
        arg: ExprId,
        matrix: CooperativeMatrix,
        dimensions: u32,
    ) -> Option<FuncId> {
        if !self.env.is_enabled(DECODE_VECTOR) {
            self.needs_extension("a second function that decodes needs", DECODE_VECTOR, self.ast[arg].span);
            return None;
        }
        let signature = self.function_argument(arg)?;
        let returns = matches!(b.module.types.get(signature.ret), Type::Vector { scalar, size: 2 | 4 }
            if b.module.types.scalar_of(matrix.element) == Some(scalar));
        let fits = takes_block(b, &signature, dimensions) && returns;
        let wanted = "takes what the first one takes, and returns a vector of two or four elements";
        self.fits(fits, &signature, arg, wanted)
    }

    /// `coopMatReduceNV(result, matrix, which, combine)`
    fn reduce_matrix(&mut self, b: &mut Builder<'_>, Call { args, whole, .. }: Call<'_>) -> Option<Lowered> {
        let [target, source, which, combine] = *args else { return None };
        let (lvalue, ty, value, to) = self.result_and_matrix(b, target, source)?;
        let parts = self.reduced(b, which)?;
        let signature = self.function_argument(combine)?;
        let fits = signature.ret == to.element
            && matches!(&signature.params[..], [a, c] if a.ty == to.element && c.ty == to.element);
        let combine = self.fits(fits, &signature, combine, "takes two elements and returns one")?;
        self.write_matrix(b, MatrixOp::Reduce { parts, combine }, &[value], (lvalue, ty, target), whole)
    }

    fn reduced(&mut self, b: &mut Builder<'_>, which: ExprId) -> Option<Reduced> {
        Some(match self.constant_int(b, which, "the elements that are reduced")? {
            1 => Reduced::Row,
            2 => Reduced::Column,
            3 => Reduced::RowAndColumn,
            4 => Reduced::Square,
            _ => {
                let message = "a reduction is of gl_CooperativeMatrixReduceRowNV, …ColumnNV, …RowAndColumnNV or …2x2NV";
                self.error(Code::TYPE_MISMATCH, self.ast[which].span, message, "another value");
                return None;
            }
        })
    }

    /// `coopMatPerElementNV(result, matrix, function, more…)`
    fn per_element(&mut self, b: &mut Builder<'_>, Call { args, whole, .. }: Call<'_>) -> Option<Lowered> {
        let [target, source, function, more @ ..] = args else { return None };
        let (lvalue, ty, value, to) = self.result_and_matrix(b, *target, *source)?;
        let signature = self.function_argument(*function)?;
        let params: SmallVec<[TypeId; 8]> = signature.types().collect();
        let fits = signature.ret == to.element
            && params.len() == 3 + more.len()
            && params[..3] == [Types::U32, Types::U32, to.element]
            && b.type_of(value) == ty;
        let wanted = "takes row and column as `uint`, an element and the arguments that follow, and returns an element";
        let function = self.fits(fits, &signature, *function, wanted)?;
        let mut values: SmallVec<[Value; 8]> = SmallVec::from_slice(&[value]);
        for (arg, param) in more.iter().zip(&params[3..]) {
            values.push(self.per_element_argument(b, *arg, *param, to)?);
        }
        self.write_matrix(b, MatrixOp::PerElement(function), &values, (lvalue, ty, *target), whole)
    }

    /// A value that is the same for all elements, or a matrix whose elements correspond.
    fn per_element_argument(
        &mut self,
        b: &mut Builder<'_>,
        arg: ExprId,
        param: TypeId,
        matrix: CooperativeMatrix,
    ) -> Option<Value> {
        let value = self.value(b, arg)?;
        let ty = b.type_of(value);
        let given = b.module.types.cooperative(ty);
        if given.is_some_and(|given| given.has_shape_of(&matrix) && given.element == param) {
            return Some(value);
        }
        self.coerce(b, value, param, self.ast[arg].span)
    }

    /// `coopMatTransposeNV(result, matrix)`
    fn transpose_matrix(&mut self, b: &mut Builder<'_>, Call { args, whole, .. }: Call<'_>) -> Option<Lowered> {
        let [target, source] = *args else { return None };
        let (lvalue, ty, value, to) = self.result_and_matrix(b, target, source)?;
        let given = b.type_of(value);
        let from = b.module.types.cooperative(given)?;
        if (from.rows, from.columns) != (to.columns, to.rows) {
            self.error(
                Code::TYPE_MISMATCH,
                whole,
                "the rows of one matrix are the columns of the other",
                "other sizes",
            );
            return None;
        }
        self.write_matrix(b, MatrixOp::Transpose, &[value], (lvalue, ty, target), whole)
    }

    /// The variable for a matrix with its type, and the matrix that it is computed from, with the same elements.
    fn result_and_matrix(
        &mut self,
        b: &mut Builder<'_>,
        target: ExprId,
        source: ExprId,
    ) -> Option<(LValue, TypeId, Value, CooperativeMatrix)> {
        let ast = self.ast;
        let lvalue = self.target(b, target)?;
        let ty = memory::value_type(b, &lvalue);
        let to = self.check_matrix(b, ty, ast[target].span)?;
        let value = self.value(b, source)?;
        let given = b.type_of(value);
        let from = self.check_matrix(b, given, ast[source].span)?;
        if from.element == to.element && from.scope == to.scope {
            return Some((lvalue, ty, value, to));
        }
        let message = "both matrices have the same elements and the same scope";
        self.error(Code::TYPE_MISMATCH, ast[source].span, message, "another matrix");
        None
    }

    fn write_matrix(
        &mut self,
        b: &mut Builder<'_>,
        op: MatrixOp,
        values: &[Value],
        (lvalue, ty, target): (LValue, TypeId, ExprId),
        whole: Span,
    ) -> Option<Lowered> {
        b.span = whole;
        let value = b.cooperative(op, values, ty);
        self.write(b, &lvalue, value, self.ast[target].span, whole)?;
        Some(Lowered::Void)
    }

    fn names_function(&self, arg: ExprId) -> bool {
        let ExprKind::Name(symbol) = self.ast[arg].kind else { return false };
        let declared = self.scopes.get(symbol);
        declared.is_some_and(|declared| matches!(declared.entity, Entity::Functions(_)))
    }

    /// The function that an argument names.
    fn function_argument(&mut self, arg: ExprId) -> Option<Signature> {
        let expr = self.ast[arg];
        let set = match expr.kind {
            ExprKind::Name(symbol) => self.scopes.used(symbol, expr.span).map(|declared| &declared.entity),
            _ => None,
        };
        let Some(&Entity::Functions(set)) = set else {
            self.error(Code::TYPE_MISMATCH, expr.span, "the name of a function is needed here", "another argument");
            return None;
        };
        let [signature] = &mut self.sets[set.0 as usize].overloads[..] else {
            self.error(Code::NO_OVERLOAD, expr.span, "a function with overloads cannot be an argument", "ambiguous");
            return None;
        };
        signature.called.get_or_insert(expr.span);
        self.calls_unfinished |= !signature.finished;
        Some(signature.clone())
    }

    /// Reports a function with a wrong signature.
    fn fits(&mut self, types_fit: bool, signature: &Signature, arg: ExprId, wanted: &str) -> Option<FuncId> {
        let by_value = signature.params.iter().all(|param| param.mode == Mode::In);
        if types_fit && by_value && signature.instruction.is_none() {
            return Some(signature.id);
        }
        let message = format!("the function here {wanted}");
        let diagnostic = Diagnostic::error(Code::NO_OVERLOAD, message).at(self.ast[arg].span, "another function");
        self.report(diagnostic.with(signature.span, "declared here"));
        None
    }
}

/// Returns true if a function takes a buffer reference, a block's coordinates and the coordinates in the block.
fn takes_block(b: &mut Builder<'_>, signature: &Signature, dimensions: u32) -> bool {
    let place = b.module.types.array(Types::U32, ArrayLen::Fixed(dimensions));
    match &signature.params[..] {
        [block, at, within] => {
            let refers = matches!(b.module.types.get(block.ty), Type::BufferReference { .. });
            refers && at.ty == place && within.ty == place
        }
        _ => false,
    }
}

/// The name of a type that describes a tensor, with its parameters.
pub fn name(b: &Builder<'_>, ty: TypeId) -> Option<String> {
    let Type::Foreign(index) = b.module.types.get(ty) else { return None };
    let known = &b.module.foreign.types[index as usize];
    let described = [Described::Layout, Described::View].into_iter().find(|one| one.opcode() as u32 == known.opcode)?;
    let parameters: Vec<String> = known.operands.iter().map(|operand| parameter(b, operand)).collect();
    Some(format!("{}<{}>", described.name(), parameters.join(", ")))
}

fn parameter(b: &Builder<'_>, operand: &ForeignOperand) -> String {
    let ForeignOperand::Constant(id) = operand else { return "constant".to_owned() };
    let (constants, types) = (&b.module.constants, &b.module.types);
    match constants.as_int(types, *id) {
        Some(number) => number.to_string(),
        None => constants.bits(*id).map_or_else(|| "constant".to_owned(), |bits| (bits != 0).to_string()),
    }
}

/// The dimensions that a type of a description has.
fn dimensions_of(b: &Builder<'_>, ty: TypeId, described: Described) -> Option<u32> {
    let Type::Foreign(index) = b.module.types.get(ty) else { return None };
    let known = &b.module.foreign.types[index as usize];
    match known.operands.first() {
        Some(ForeignOperand::Constant(id)) if known.opcode == described.opcode() as u32 => {
            b.module.constants.as_int(&b.module.types, *id).and_then(|number| u32::try_from(number).ok())
        }
        _ => None,
    }
}
