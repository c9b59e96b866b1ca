//! Constructors (GLSL 4.60 section 5.4): of scalars, vectors, matrices, structs and arrays.

use super::Sema;
use super::non_uniform::is_flagged;
use super::operators::Operand;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, ExprId, List};
use crate::glsl::convert;
use crate::glsl::extended::{self, Allowed};
use crate::glsl::foreign;
use crate::glsl::types::{Basic, counted};
use crate::ir::build::Builder;
use crate::ir::{ArrayLen, ConstValue, ImageOp, ImageParts, ImageType, InstFlags, Scalar, Type, TypeId, Value};
use crate::source::Span;
use smallvec::SmallVec;

/// The scalars of a vector or matrix.
type Components = SmallVec<[Value; 16]>;

impl Sema<'_> {
    /// `type(args)`.
    pub fn construct(
        &mut self,
        b: &mut Builder<'_>,
        ty: ast::TypeId,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Value> {
        let ty = self.type_spec(b, ty);
        let args = self.operands(b, args);
        self.construct_type(b, ty?, &args?, whole)
    }

    /// The values of arguments; `None` if any is wrong, after all have been checked.
    pub fn operands(&mut self, b: &mut Builder<'_>, args: List<ExprId>) -> Option<SmallVec<[Operand; 4]>> {
        let ast = self.ast;
        let mut operands = SmallVec::new();
        for arg in &ast[args] {
            operands.extend(self.value(b, *arg).map(|value| Operand { value, span: ast[*arg].span }));
        }
        (operands.len() == args.len()).then_some(operands)
    }

    pub fn construct_type(&mut self, b: &mut Builder<'_>, ty: TypeId, args: &[Operand], whole: Span) -> Option<Value> {
        b.span = whole;
        match b.module.types.get(ty) {
            Type::Struct(id) => {
                let types: Vec<TypeId> = b.module.types.structs[id].members.iter().map(|member| member.ty).collect();
                self.construct_parts(b, ty, &types, args, whole)
            }
            Type::BufferReference { .. } => self.construct_reference(b, ty, args, whole),
            Type::CooperativeMatrix(matrix) => self.construct_matrix(b, ty, matrix, args, whole),
            Type::Array { element, len, .. } => self.construct_array(b, element, len, args, whole),
            Type::SampledImage(image) => self.combine(b, ty, image, args, whole),
            Type::AccelerationStructure => self.structure_at(b, args, whole),
            Type::Image(_) | Type::Sampler | Type::RayQuery | Type::HitObject { .. } | Type::Foreign(_) => {
                self.no_constructor(b, ty, args, whole)
            }
            Type::Void => {
                self.error(Code::BAD_TYPE, whole, "there is no constructor for `void`", "no such value");
                None
            }
            _ => {
                let shape = Basic::of(&b.module.types, ty)?;
                if let Some(address) = self.address_of(b, shape, args, whole) {
                    return address;
                }
                self.construct_basic(b, shape, args, whole)
            }
        }
    }

    fn no_constructor(&mut self, b: &mut Builder<'_>, ty: TypeId, args: &[Operand], whole: Span) -> Option<Value> {
        let first = args.first().map(|arg| b.type_of(arg.value));
        let name = self.type_name(b, ty);
        let message = format!("there is no constructor for `{name}`");
        let label = "variables of such a type are declared, not made";
        let diagnostic = Diagnostic::error(Code::BAD_CONSTRUCTOR, message).at(whole, label);
        let is_sampled = first.is_some_and(|ty| matches!(b.module.types.get(ty), Type::SampledImage(_)));
        let function = foreign::counterpart(&name).filter(|_| is_sampled);
        self.report(match function {
            Some(function) => {
                let place = Span::new(whole.lo, whole.lo + name.len() as u32);
                let advice = format!("`{name}` is a type since GLSL 1.30: write `{function}` to read a texture");
                diagnostic.suggest(place, function, advice)
            }
            None => diagnostic,
        });
        None
    }

    /// `sampler2D(image, sampler)` of GL_KHR_vulkan_glsl.
    fn combine(
        &mut self,
        b: &mut Builder<'_>,
        ty: TypeId,
        image: ImageType,
        args: &[Operand],
        whole: Span,
    ) -> Option<Value> {
        let mut types: SmallVec<[Type; 2]> = SmallVec::new();
        for arg in args {
            let ty = b.type_of(arg.value);
            types.push(b.module.types.get(ty));
        }
        let fits = match types.as_slice() {
            [Type::Image(given), Type::Sampler] => *given == ImageType { depth: false, ..image },
            _ => false,
        };
        if !fits {
            let name = self.type_name(b, ty);
            let message = format!("`{name}` is made of a texture of its kind and a sampler");
            self.error(Code::BAD_CONSTRUCTOR, whole, message, "other arguments");
            return None;
        }
        let flags = b.flags;
        b.flags.set(InstFlags::NON_UNIFORM, args.iter().any(|arg| is_flagged(b, arg.value)));
        let both = b.image(ImageOp::Combine, ImageParts::SAMPLER, &[args[0].value, args[1].value], ty);
        b.flags = flags;
        Some(both)
    }

    /// Structs and arrays take one argument per part, converted as in an assignment.
    fn construct_parts(
        &mut self,
        b: &mut Builder<'_>,
        ty: TypeId,
        parts: &[TypeId],
        args: &[Operand],
        whole: Span,
    ) -> Option<Value> {
        if parts.len() != args.len() {
            let name = self.type_name(b, ty);
            let (parts, args) = (counted(parts.len(), "part"), counted(args.len(), "argument"));
            let message = format!("`{name}` has {parts}, its constructor is given {args}");
            self.error(Code::BAD_CONSTRUCTOR, whole, message, "wrong number of arguments");
            return None;
        }
        let mut values = Vec::with_capacity(args.len());
        for (arg, part) in args.iter().zip(parts) {
            values.push(self.coerce(b, arg.value, *part, arg.span)?);
        }
        b.span = whole;
        Some(b.construct(ty, &values))
    }

    fn construct_array(
        &mut self,
        b: &mut Builder<'_>,
        element: TypeId,
        len: ArrayLen,
        args: &[Operand],
        whole: Span,
    ) -> Option<Value> {
        let given = args.len() as u32;
        let len = if len == ArrayLen::Runtime && given > 0 { ArrayLen::Fixed(given) } else { len };
        if let ArrayLen::Spec(_) = len {
            let message = "an array sized by a specialization constant has no constructor";
            self.error(Code::BAD_CONSTRUCTOR, whole, message, "its length is not known here");
            return None;
        }
        // `float[][](float[2](…), …)`: inner empty brackets take their length from the arguments' type.
        let element = match (b.module.types.get(element), args.first()) {
            (Type::Array { len: ArrayLen::Runtime, .. }, Some(first)) => b.type_of(first.value),
            _ => element,
        };
        let ty = b.module.types.array(element, len);
        let count = if let ArrayLen::Fixed(count) = len { count as usize } else { 0 };
        if count != args.len() {
            let name = self.type_name(b, ty);
            let (elements, args) = (counted(count, "element"), counted(args.len(), "argument"));
            let message = format!("`{name}` has {elements}, its constructor is given {args}");
            self.error(Code::BAD_CONSTRUCTOR, whole, message, "wrong number of arguments");
            return None;
        }
        self.construct_parts(b, ty, &vec![element; count], args, whole)
    }

    fn construct_basic(&mut self, b: &mut Builder<'_>, shape: Basic, args: &[Operand], whole: Span) -> Option<Value> {
        if self.is_storage_only(shape.scalar) {
            return self.construct_stored(b, shape, args, whole);
        }
        let widened: SmallVec<[Operand; 4]> = args.iter().map(|arg| self.widened(b, *arg)).collect();
        let (args, shapes) = (widened.as_slice(), self.basic_args(b, &widened)?);
        self.check_encoded(b, shape.scalar, args, &shapes)?;
        match (args, shapes.as_slice()) {
            ([], _) => {
                self.error(Code::BAD_CONSTRUCTOR, whole, "a constructor needs arguments", "no arguments");
                None
            }
            ([arg], [from]) if shape.is_matrix() && from.is_matrix() => Some(resize(b, arg.value, *from, shape)),
            ([arg], [from]) if shape.is_matrix() && from.is_scalar() => Some(diagonal(b, arg.value, shape)),
            ([arg], [from]) if !shape.is_matrix() && from.is_scalar() => {
                let scalar = to_scalar(b, arg.value, shape.scalar);
                Some(b.splat(scalar, shape.rows))
            }
            ([arg], [from]) if (from.columns, from.rows) == (shape.columns, shape.rows) => {
                let ty = shape.intern(&mut b.module.types);
                Some(convert::numeric(b, arg.value, ty))
            }
            _ => self.by_components(b, shape, args, &shapes, whole),
        }
    }

    /// Returns true if only blocks may contain a scalar here, so that it is only converted.
    fn is_storage_only(&self, scalar: Scalar) -> bool {
        extended::family(scalar).is_some_and(|family| family.allowed(&self.env) == Allowed::Storage)
    }

    /// Constructs such a value from 32-bit scalars and converts it as a whole, because there are no constants of such a
    /// type.
    fn construct_stored(&mut self, b: &mut Builder<'_>, shape: Basic, args: &[Operand], whole: Span) -> Option<Value> {
        let ty = shape.intern(&mut b.module.types);
        if let [Operand { value, .. }] = args
            && b.type_of(*value) == ty
        {
            return Some(*value);
        }
        let wide = self.construct_basic(b, shape.with_scalar(at_32_bits(shape.scalar)), args, whole)?;
        b.folds = false;
        let value = convert::numeric(b, wide, ty);
        b.folds = true;
        Some(value)
    }

    /// An argument of a type that only blocks may contain, widened to 32 bits.
    fn widened(&self, b: &mut Builder<'_>, arg: Operand) -> Operand {
        let ty = b.type_of(arg.value);
        let Some(shape) = Basic::of(&b.module.types, ty).filter(|shape| self.is_storage_only(shape.scalar)) else {
            return arg;
        };
        let ty = shape.with_scalar(at_32_bits(shape.scalar)).intern(&mut b.module.types);
        Operand { value: convert::numeric(b, arg.value, ty), ..arg }
    }

    fn basic_args(&mut self, b: &mut Builder<'_>, args: &[Operand]) -> Option<SmallVec<[Basic; 4]>> {
        let mut shapes = SmallVec::new();
        for arg in args {
            let ty = b.type_of(arg.value);
            let Some(shape) = Basic::of(&b.module.types, ty) else {
                let name = self.type_name(b, ty);
                let message = "only scalars, vectors and matrices can be converted and put together";
                self.error(Code::BAD_CONSTRUCTOR, arg.span, message, format!("this is `{name}`"));
                return None;
            };
            shapes.push(shape);
        }
        Some(shapes)
    }

    /// Encoded floats are never converted to or from bools. Only constants become floats smaller than a byte, because
    /// SPIR-V has no instruction for it.
    fn check_encoded(&mut self, b: &mut Builder<'_>, to: Scalar, args: &[Operand], from: &[Basic]) -> Option<()> {
        let apart =
            |from: Scalar| from.encoding().is_some() && to.is_bool() || from.is_bool() && to.encoding().is_some();
        for (arg, from) in args.iter().zip(from) {
            let is_known = matches!(arg.value, Value::Const(id) if !b.module.constants.is_spec(id));
            let message = match () {
                () if apart(from.scalar) => "there is no conversion between bools and such floats",
                () if to.is_below_byte() && from.scalar != to && !is_known => "only constants become such floats",
                () => continue,
            };
            let ty = b.type_of(arg.value);
            let name = self.type_name(b, ty);
            self.error(Code::BAD_CONSTRUCTOR, arg.span, message, format!("this is `{name}`"));
            return None;
        }
        Some(())
    }

    /// Components in order, from as many arguments as needed; the last one may have unused components.
    fn by_components(
        &mut self,
        b: &mut Builder<'_>,
        shape: Basic,
        args: &[Operand],
        shapes: &[Basic],
        whole: Span,
    ) -> Option<Value> {
        let wanted = usize::from(shape.columns) * usize::from(shape.rows);
        let mut components = Components::new();
        for (arg, from) in args.iter().zip(shapes) {
            if components.len() >= wanted {
                self.error(Code::BAD_CONSTRUCTOR, arg.span, "too many arguments", "nothing is left for this one");
                return None;
            }
            if shape.is_matrix() && from.is_matrix() {
                let message = "a matrix is made from one matrix, or from scalars and vectors";
                self.error(Code::BAD_CONSTRUCTOR, arg.span, message, "a matrix among others");
                return None;
            }
            push_components(b, arg.value, *from, &mut components);
        }
        if components.len() < wanted {
            let message = format!("{wanted} components are needed, {} are given", components.len());
            self.error(Code::BAD_CONSTRUCTOR, whole, message, "too few");
            return None;
        }
        b.span = whole;
        components.truncate(wanted);
        for component in &mut components {
            *component = to_scalar(b, *component, shape.scalar);
        }
        Some(assemble(b, shape, &components))
    }
}

const fn at_32_bits(scalar: Scalar) -> Scalar {
    Scalar { kind: scalar.kind, width: 32 }
}

fn to_scalar(b: &mut Builder<'_>, value: Value, scalar: Scalar) -> Value {
    let ty = b.module.types.scalar(scalar);
    b.convert(value, ty)
}

fn push_components(b: &mut Builder<'_>, value: Value, shape: Basic, out: &mut Components) {
    if shape.is_scalar() {
        out.push(value);
        return;
    }
    for index in 0..u32::from(if shape.is_matrix() { shape.columns } else { shape.rows }) {
        let part = b.extract(value, index);
        if shape.is_matrix() {
            push_components(b, part, Basic::vector(shape.scalar, shape.rows), out);
        } else {
            out.push(part);
        }
    }
}

/// A vector or matrix from its scalars, column by column.
fn assemble(b: &mut Builder<'_>, shape: Basic, components: &[Value]) -> Value {
    let column = Basic::vector(shape.scalar, shape.rows).intern(&mut b.module.types);
    if !shape.is_matrix() {
        return if shape.is_scalar() { components[0] } else { b.construct(column, components) };
    }
    let columns: Vec<Value> =
        components.chunks(usize::from(shape.rows)).map(|part| b.construct(column, part)).collect();
    let ty = shape.intern(&mut b.module.types);
    b.construct(ty, &columns)
}

fn constant(b: &mut Builder<'_>, scalar: Scalar, one: bool) -> Value {
    let ty = b.module.types.scalar(scalar);
    let bits = if one { scalar.one_bits() } else { 0 };
    Value::Const(b.module.constants.intern(ty, ConstValue::Bits(bits)))
}

/// The scalar on the diagonal, zeros elsewhere.
fn diagonal(b: &mut Builder<'_>, value: Value, shape: Basic) -> Value {
    let (scalar, zero) = (to_scalar(b, value, shape.scalar), constant(b, shape.scalar, false));
    let components: Vec<Value> = cells(shape).map(|(c, r)| if c == r { scalar } else { zero }).collect();
    assemble(b, shape, &components)
}

/// A matrix from a matrix; missing elements come from the identity.
fn resize(b: &mut Builder<'_>, value: Value, from: Basic, to: Basic) -> Value {
    let mut columns = Vec::with_capacity(4);
    for index in 0..u32::from(from.columns) {
        columns.push(b.extract(value, index));
    }
    let mut components = Vec::with_capacity(16);
    for (c, r) in cells(to) {
        let inside = c < from.columns && r < from.rows;
        components.push(if inside {
            let cell = b.extract(columns[usize::from(c)], u32::from(r));
            to_scalar(b, cell, to.scalar)
        } else {
            constant(b, to.scalar, c == r)
        });
    }
    assemble(b, to, &components)
}

/// Column and row of every component, column by column.
fn cells(shape: Basic) -> impl Iterator<Item = (u8, u8)> {
    (0..shape.columns).flat_map(move |c| (0..shape.rows).map(move |r| (c, r)))
}
