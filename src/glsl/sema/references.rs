//! Buffer references: addresses of blocks as values (GL_EXT_buffer_reference, GL_EXT_buffer_reference2,
//! GL_EXT_buffer_reference_uvec2).
//!
//! A block with `layout(buffer_reference)` declares a type. Its struct is created when the name is first seen and
//! filled when the block is defined, so that blocks can refer to each other and to themselves.

use super::Sema;
use super::expressions::Lowered;
use super::lvalue::LValue;
use super::operators::Operand;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, BinaryOp, Decl, List, Name};
use crate::glsl::convert;
use crate::glsl::types::{Basic, with_article};
use crate::ir::build::Builder;
use crate::ir::{self, Access, ArrayLen, Scalar, Space, Struct, StructId, Type, TypeId, Value};
use crate::source::Span;

/// Default alignment of a reference in bytes.
const USUAL_ALIGN: u32 = 16;

/// A block that has been announced but not defined yet.
#[derive(Clone, Copy, Debug)]
pub struct Announced {
    pub block: StructId,
    pub name: Name,
}

impl Sema<'_> {
    /// Returns true if a declaration has `layout(buffer_reference)`.
    pub fn says_reference(&self, list: List<ast::Qualifier>) -> bool {
        self.layout_ids(list).iter().any(|id| self.text(id.name.symbol) == "buffer_reference")
    }

    /// `layout(buffer_reference) buffer Name, Other;`: the types exist from here on.
    pub fn announce_references(&mut self, b: &mut Builder<'_>, decl: &Decl, names: List<Name>) {
        self.need_references(decl.span);
        let ast = self.ast;
        for name in &ast[names] {
            self.announced(b, *name);
        }
    }

    pub fn need_references(&mut self, span: Span) {
        let names = ["GL_EXT_buffer_reference", "GL_EXT_buffer_reference2", "GL_EXT_buffer_reference_uvec2"];
        if !names.iter().any(|name| self.env.is_enabled(name)) {
            self.needs_extension("buffer references need", names[0], span);
        }
    }

    pub fn needs_extension(&mut self, what: &str, name: &str, span: Span) {
        let message = format!("{what} the extension {name}");
        let note = format!("add `#extension {name} : require`");
        self.report(Diagnostic::error(Code::MISSING_EXTENSION, message).at(span, "used here").note(note));
    }

    /// The struct that the references called `name` point to, which is empty until the block is defined.
    pub fn announced(&mut self, b: &mut Builder<'_>, name: Name) -> StructId {
        if let Some(known) = self.references.iter().find(|known| known.name.symbol == name.symbol) {
            if known.name.span != name.span {
                self.scopes.note(name.span, known.name.span);
            }
            return known.block;
        }
        let text = self.text(name.symbol).into();
        let block = Struct { name: text, span: name.span, members: Vec::new(), block: true, logical: None };
        let block = b.module.types.structs.push(block);
        let ty = b.module.types.intern(Type::BufferReference { pointee: block });
        b.module.types.set_reference_align(block, USUAL_ALIGN);
        self.references.push(Announced { block, name });
        self.declare(name, Entity::Type(ty));
        block
    }

    /// Fills the struct of a block when it is defined; `laid` is its layout, `align` the alignment of its references,
    /// and `access` applies to all members. Returns the type of the block itself.
    pub fn define_reference(
        &mut self,
        b: &mut Builder<'_>,
        block: StructId,
        laid: TypeId,
        align: Option<u32>,
        access: Access,
    ) -> TypeId {
        let types = &mut b.module.types;
        let Type::Struct(from) = types.get(laid) else { return laid };
        let mut filled = types.structs[from].clone();
        filled.members.iter_mut().for_each(|member| member.access |= access - Access::RESTRICT);
        types.structs[block] = filled;
        if let Some(align) = align {
            types.set_reference_align(block, align);
        }
        self.references.retain(|announced| announced.block != block);
        types.intern(Type::Struct(block))
    }

    /// Checks that every announced block is defined.
    pub fn check_references(&mut self) {
        for Announced { name, .. } in std::mem::take(&mut self.references) {
            let message = format!("the block `{}` is announced and never defined", self.text(name.symbol));
            self.error(Code::NOT_DEFINED, name.span, message, "announced here");
        }
    }

    /// The block of a reference; other values stay unchanged.
    pub fn dereferenced(&mut self, b: &mut Builder<'_>, lowered: Lowered, span: Span) -> Option<Lowered> {
        let ty = match &lowered {
            Lowered::LValue(lvalue) if lvalue.swizzle.is_none() => lvalue.ty,
            Lowered::Value(value) => b.type_of(*value),
            _ => return Some(lowered),
        };
        let Some(block) = b.module.types.referred(ty) else { return Some(lowered) };
        if b.module.types.structs[block].logical.is_none() {
            let message = format!("the block `{}` is not defined yet", b.module.types.structs[block].name);
            self.error(Code::NOT_DEFINED, span, message, "its members are not known here");
            return None;
        }
        let root = self.value_of(b, lowered, span)?;
        let ty = b.module.types.intern(Type::Struct(block));
        Some(Lowered::LValue(LValue::new(root, Space::Physical, ty)))
    }

    /// `reference[index]`: the reference to the block at this distance.
    pub fn index_reference(&mut self, b: &mut Builder<'_>, base: Operand, at: Value, whole: Span) -> Option<Lowered> {
        let at = Operand { value: at, span: whole };
        self.reference_operator(b, BinaryOp::Add, base, at, whole).map(Lowered::Value)
    }

    /// Returns true if an operand is a buffer reference.
    pub fn is_reference(&self, b: &mut Builder<'_>, value: Value) -> bool {
        let ty = b.type_of(value);
        b.module.types.referred(ty).is_some()
    }

    /// `+` and `-` on references, counted in blocks.
    pub fn reference_operator(
        &mut self,
        b: &mut Builder<'_>,
        op: BinaryOp,
        left: Operand,
        right: Operand,
        whole: Span,
    ) -> Option<Value> {
        if !self.env.is_enabled("GL_EXT_buffer_reference2") {
            self.needs_extension("calculating with buffer references needs", "GL_EXT_buffer_reference2", whole);
            return None;
        }
        b.span = whole;
        let [l, r] = [left, right].map(|operand| b.type_of(operand.value));
        let [refers, moves] = [b.module.types.referred(l), b.module.types.referred(r)];
        match (op, refers, moves) {
            (BinaryOp::Sub, Some(block), Some(other)) if block == other => {
                let size = self.block_size(b, block, left.span)?;
                Some(distance(b, left.value, right.value, size))
            }
            (BinaryOp::Add | BinaryOp::Sub, Some(block), None) if is_int(b, r) => {
                let size = self.block_size(b, block, left.span)?;
                Some(moved(b, op, l, (left.value, right.value), size))
            }
            (BinaryOp::Add, None, Some(block)) if is_int(b, l) => {
                let size = self.block_size(b, block, right.span)?;
                Some(moved(b, op, r, (right.value, left.value), size))
            }
            _ => {
                let names = [l, r].map(|ty| self.type_name(b, ty));
                let message = format!("no such operator on operands of types `{}` and `{}`", names[0], names[1]);
                let note = "an integer can be added to a reference, and two references of one type be subtracted";
                self.report(Diagnostic::error(Code::BAD_OPERANDS, message).at(whole, "not for references").note(note));
                None
            }
        }
    }

    /// Stride between blocks in bytes: up to the end of the last member, rounded up to the references' alignment.
    fn block_size(&mut self, b: &Builder<'_>, block: StructId, span: Span) -> Option<u32> {
        let types = &b.module.types;
        let ends = types.structs[block].members.iter().map(|member| {
            let size = padded_size(b, member.ty).unwrap_or(0);
            member.offset.unwrap_or(0).saturating_add(size)
        });
        let size = ends.max().unwrap_or(0).checked_next_multiple_of(types.reference_align(block));
        if size.is_none_or(|size| size == 0) || types.structs[block].logical.is_none() {
            let message = format!("the size of the block `{}` is not known", types.structs[block].name);
            self.error(Code::BAD_OPERANDS, span, message, "it cannot be counted in");
            return None;
        }
        size
    }

    /// `Name(value)`: a reference from an address, or from a reference of another type.
    pub fn construct_reference(
        &mut self,
        b: &mut Builder<'_>,
        ty: TypeId,
        args: &[Operand],
        whole: Span,
    ) -> Option<Value> {
        let [arg] = args else { return self.no_reference(b, ty, whole) };
        let from = b.type_of(arg.value);
        if from == ty || b.module.types.referred(from).is_some() {
            return Some(b.bitcast(arg.value, ty));
        }
        if from == pair_of_words(b) {
            self.need_words(arg.span)?;
            return Some(b.bitcast(arg.value, ty));
        }
        let address = b.module.types.scalar(Scalar::U64);
        if !matches!(b.module.types.get(from), Type::Scalar(_)) || !convert::converts(&b.module.types, from, address) {
            return self.no_reference(b, ty, whole);
        }
        let value = b.convert(arg.value, address);
        Some(b.bitcast(value, ty))
    }

    fn no_reference(&mut self, b: &Builder<'_>, ty: TypeId, whole: Span) -> Option<Value> {
        let message = format!("{} is made of one address or one reference", with_article(&self.type_name(b, ty)));
        self.error(Code::BAD_CONSTRUCTOR, whole, message, "a `uint64_t`, a `uvec2` or a reference is needed");
        None
    }

    fn need_words(&mut self, span: Span) -> Option<()> {
        if self.env.is_enabled("GL_EXT_buffer_reference_uvec2") {
            return Some(());
        }
        self.needs_extension("addresses in a `uvec2` need", "GL_EXT_buffer_reference_uvec2", span);
        None
    }

    /// `uint64_t(reference)` and `uvec2(reference)`; `None` for arguments that are not a single reference.
    #[expect(clippy::option_option, reason = "what is wrong and reported differs from what is not a reference")]
    pub fn address_of(
        &mut self,
        b: &mut Builder<'_>,
        shape: Basic,
        args: &[Operand],
        whole: Span,
    ) -> Option<Option<Value>> {
        let [arg] = args else { return None };
        if !self.is_reference(b, arg.value) {
            return None;
        }
        let ty = shape.intern(&mut b.module.types);
        if ty == pair_of_words(b) {
            return Some(self.need_words(arg.span).map(|()| b.bitcast(arg.value, ty)));
        }
        if shape == Basic::vector(Scalar::U64, 1) {
            return Some(Some(b.bitcast(arg.value, ty)));
        }
        let message = format!("a buffer reference cannot become {}", with_article(&self.type_name(b, ty)));
        self.error(Code::BAD_CONSTRUCTOR, whole, message, "only a `uint64_t` or a `uvec2` holds an address");
        Some(None)
    }
}

fn pair_of_words(b: &mut Builder<'_>) -> TypeId {
    b.module.types.vector(Scalar::U32, 2)
}

fn is_int(b: &Builder<'_>, ty: TypeId) -> bool {
    matches!(b.module.types.get(ty), Type::Scalar(scalar) if scalar.is_int())
}

/// Bytes of a type in memory layout, with an array's trailing padding.
fn padded_size(b: &Builder<'_>, ty: TypeId) -> Option<u32> {
    match b.module.types.get(ty) {
        Type::Array { len: ArrayLen::Fixed(count), stride: Some(stride), .. } => stride.checked_mul(count),
        _ => ir::layout::size_of(&b.module.types, &b.module.constants, ty),
    }
}

/// A value of a 64-bit integer type.
fn long(b: &mut Builder<'_>, ty: TypeId, value: u64) -> Value {
    Value::Const(b.module.constants.intern(ty, ir::ConstValue::Bits(value)))
}

/// A reference advanced by a number of blocks.
fn moved(b: &mut Builder<'_>, op: BinaryOp, ty: TypeId, (base, count): (Value, Value), size: u32) -> Value {
    let int = b.module.types.scalar(Scalar::I64);
    let address = b.module.types.scalar(Scalar::U64);
    let (count, size) = (b.convert(count, int), long(b, int, size.into()));
    let bytes = b.binary(ir::BinaryOp::Mul, count, size);
    let bytes = b.bitcast(bytes, address);
    let base = b.bitcast(base, address);
    let op = if op == BinaryOp::Sub { ir::BinaryOp::Sub } else { ir::BinaryOp::Add };
    let sum = b.binary(op, base, bytes);
    b.bitcast(sum, ty)
}

/// Blocks from the second reference to the first: an `int64_t`.
fn distance(b: &mut Builder<'_>, to: Value, from: Value, size: u32) -> Value {
    let (int, address) = (b.module.types.scalar(Scalar::I64), b.module.types.scalar(Scalar::U64));
    let [to, from] = [to, from].map(|reference| {
        let address = b.bitcast(reference, address);
        b.bitcast(address, int)
    });
    let size = long(b, int, size.into());
    let bytes = b.binary(ir::BinaryOp::Sub, to, from);
    b.binary(ir::BinaryOp::Div, bytes, size)
}

/// True if two references are the same address.
pub fn same_address(b: &mut Builder<'_>, op: ir::BinaryOp, left: Value, right: Value) -> Value {
    let address = b.module.types.scalar(Scalar::U64);
    let [left, right] = [left, right].map(|reference| b.bitcast(reference, address));
    b.binary(op, left, right)
}
