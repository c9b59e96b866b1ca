//! Parts of things: indexing, members, swizzles, `.length()`.

use super::constants::is_int_scalar;
use super::expressions::Lowered;
use super::lvalue::{LValue, Mutability, Swizzle};
use super::operators::Operand;
use super::{Sema, did_you_mean, memory};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{ExprId, Name};
use crate::glsl::types::with_article;
use crate::ir::build::Builder;
use crate::ir::{
    Access, ArrayLen, Binding, ConstId, ConstValue, Global, MatrixOp, MatrixRole, Member, Scalar, Space, Type, TypeId,
    Types, Value,
};
use crate::source::Span;
use smallvec::SmallVec;

/// The letters of each swizzle set (GLSL 4.60 section 5.5).
static SWIZZLE_SETS: [&[u8; 4]; 3] = [b"xyzw", b"rgba", b"stpq"];

impl Sema<'_> {
    pub fn index(&mut self, b: &mut Builder<'_>, base: ExprId, index: ExprId, whole: Span) -> Option<Lowered> {
        let lowered = self.lower(b, base);
        let at = self.value(b, index);
        let (lowered, at) = (lowered?, at?);
        let span = self.ast[index].span;
        if !is_int_scalar(b, at) {
            self.error(Code::TYPE_MISMATCH, span, "an index is an integer", "not an integer scalar");
            return None;
        }
        b.span = whole;
        if let Lowered::LValue(LValue { ty, swizzle: None, .. }) = &lowered
            && b.module.types.referred(*ty).is_some()
        {
            let value = self.value_of(b, lowered, self.ast[base].span)?;
            return self.index_reference(b, Operand { value, span: self.ast[base].span }, at, whole);
        }
        match lowered {
            Lowered::LValue(lvalue) => self.index_lvalue(b, lvalue, at, self.ast[base].span, span),
            Lowered::Value(value) => self.index_value(b, value, at, self.ast[base].span, span),
            Lowered::Void => self.no_parts(b, None, self.ast[base].span),
        }
    }

    fn index_lvalue(
        &mut self,
        b: &mut Builder<'_>,
        lvalue: LValue,
        at: Value,
        base: Span,
        span: Span,
    ) -> Option<Lowered> {
        if let Some(swizzle) = lvalue.swizzle {
            return self.index_swizzle(b, lvalue, swizzle, at, base, span);
        }
        let ty = lvalue.ty;
        self.check_resource_length(b, &lvalue, Some(at), base)?;
        let Some(element) = self.element_of(b, ty, at, span)? else { return self.no_parts(b, Some(ty), base) };
        self.note_index(b, &lvalue, at, span);
        let mutability = self.element_mutability(b, &lvalue, at);
        let mut part = LValue { mutability, ..lvalue.part(at, element) };
        part.non_uniform |= self.is_non_uniform(b, at);
        Some(Lowered::LValue(part))
    }

    /// `v.zyx[i]`: the component of `v` that the index selects from the swizzle. A swizzle with a repeated component is
    /// not an lvalue, and neither are its parts.
    fn index_swizzle(
        &mut self,
        b: &mut Builder<'_>,
        lvalue: LValue,
        swizzle: Swizzle,
        at: Value,
        base: Span,
        span: Span,
    ) -> Option<Lowered> {
        self.check_index(b, at, u32::from(swizzle.len), span)?;
        let known = match at {
            Value::Const(id) => b.module.constants.as_int(&b.module.types, id),
            _ => None,
        };
        if swizzle.has_duplicates() {
            let vector = self.read(b, &lvalue, base)?;
            return self.index_value(b, vector, at, base, span);
        }
        let component = match known {
            Some(at) => b.const_u32(u32::from(swizzle.components()[at as usize])),
            None => picked(b, &swizzle, at),
        };
        Some(Lowered::LValue(self.component(b, lvalue, component)))
    }

    fn index_value(&mut self, b: &mut Builder<'_>, value: Value, at: Value, base: Span, span: Span) -> Option<Lowered> {
        let ty = b.type_of(value);
        if b.module.types.referred(ty).is_some() {
            return self.index_reference(b, Operand { value, span: base }, at, base.to(span));
        }
        let Some(element) = self.element_of(b, ty, at, span)? else { return self.no_parts(b, Some(ty), base) };
        if let Value::Const(id) = at
            && let Some(at) = b.module.constants.as_int(&b.module.types, id)
        {
            return Some(Lowered::Value(b.extract(value, at as u32)));
        }
        if matches!(b.module.types.get(ty), Type::Vector { .. }) {
            return Some(Lowered::Value(b.extract_dynamic(value, at)));
        }
        let memory = self.memory_of(b, value, ty);
        Some(Lowered::LValue(memory.part(at, element)))
    }

    /// Memory with a value, so that it can be indexed at run time.
    fn memory_of(&mut self, b: &mut Builder<'_>, value: Value, ty: TypeId) -> LValue {
        let lvalue = match value {
            Value::Const(id) => {
                let global = self.constant_global(b, id, ty);
                LValue::new(Value::Global(global), Space::Private, ty)
            }
            _ => {
                let root = b.local("indexed", ty, None);
                b.store(root, value);
                LValue::new(root, Space::Function, ty)
            }
        };
        LValue { mutability: Mutability::Const, ..lvalue }
    }

    fn constant_global(&mut self, b: &mut Builder<'_>, id: ConstId, ty: TypeId) -> crate::ir::GlobalId {
        if let Some(global) = self.constant_memory.get(&id) {
            return *global;
        }
        let global = b.module.globals.push(Global {
            name: "constants".into(),
            span: b.span,
            space: Space::Private,
            ty,
            binding: Binding::None,
            access: Access::READONLY,
            init: Some(id),
        });
        self.constant_memory.insert(id, global);
        global
    }

    /// Element type of a type that can be indexed; `Some(None)` for other types. Constant indices are checked.
    #[expect(clippy::option_option, reason = "an error that is reported differs from a type without elements")]
    fn element_of(&mut self, b: &mut Builder<'_>, ty: TypeId, at: Value, span: Span) -> Option<Option<TypeId>> {
        let len = match b.module.types.get(ty) {
            Type::Vector { size, .. } => u32::from(size),
            Type::Matrix { columns, .. } => u32::from(columns),
            Type::Array { len: ArrayLen::Fixed(len), .. } => len,
            Type::CooperativeMatrix(of) if of.is_vector() => {
                let columns = b.module.constants.as_int(&b.module.types, of.columns);
                columns.map_or(i32::MAX as u32, |columns| columns as u32)
            }
            Type::Array { .. } | Type::CooperativeMatrix(_) => i32::MAX as u32,
            _ => return Some(None),
        };
        self.check_index(b, at, len, span)?;
        Some(b.module.types.element(ty, 0))
    }

    fn no_parts(&mut self, b: &Builder<'_>, ty: Option<TypeId>, span: Span) -> Option<Lowered> {
        let name = ty.map_or("void".to_string(), |ty| self.type_name(b, ty));
        self.error(
            Code::NO_SUCH_PART,
            span,
            format!("{} cannot be indexed", with_article(&name)),
            "not an array, vector or matrix",
        );
        None
    }

    /// `base.name`: a member of a struct or block, or a swizzle.
    pub fn field(&mut self, b: &mut Builder<'_>, base: ExprId, name: Name) -> Option<Lowered> {
        let span = self.ast[base].span;
        let lowered = self.lower(b, base)?;
        let lowered = self.dereferenced(b, lowered, span)?;
        b.span = span.to(name.span);
        let ty = match &lowered {
            Lowered::LValue(lvalue) => lvalue.ty,
            Lowered::Value(value) => b.type_of(*value),
            Lowered::Void => {
                self.error(Code::NO_SUCH_PART, span, "a `void` has no members", "no value");
                return None;
            }
        };
        match b.module.types.get(ty) {
            Type::Struct(id) => {
                let wanted = self.text(name.symbol);
                let Some(index) = self.members.find(&b.module.types, id, wanted) else {
                    return self.no_member(b, ty, name);
                };
                let Member { access, ty: part, span: declared, .. } = b.module.types.structs[id].members[index];
                self.scopes.note(name.span, declared);
                if let Some(place) = self.member_variable(b, &lowered, wanted, name.span) {
                    return Some(Lowered::LValue(place));
                }
                Some(member(b, lowered, index as u32, part, access))
            }
            Type::Vector { size, .. } => {
                let size = swizzle_on(&lowered).map_or(size, |inner| inner.len);
                self.swizzle(b, lowered, size, name)
            }
            Type::Scalar(_) => self.swizzle(b, lowered, 1, name),
            _ => self.no_member(b, ty, name),
        }
    }

    fn no_member(&mut self, b: &Builder<'_>, ty: TypeId, name: Name) -> Option<Lowered> {
        let wanted = self.text(name.symbol);
        if wanted.ends_with("PerViewNV") && self.env.has_nvidia_meshes() {
            self.unsupported(name.span, "outputs of mesh shaders for each view are");
            return None;
        }
        let message = format!("{} has no member `{wanted}`", with_article(&self.type_name(b, ty)));
        let diagnostic = Diagnostic::error(Code::NO_SUCH_PART, message).at(name.span, "no such member");
        let members = match b.module.types.get(ty) {
            Type::Struct(id) => b.module.types.structs[id].members.as_slice(),
            _ => &[],
        };
        let names = members.iter().map(|member| &*member.name);
        self.report(did_you_mean(diagnostic, wanted, name.span, names));
        None
    }

    fn swizzle(&mut self, b: &mut Builder<'_>, lowered: Lowered, size: u8, name: Name) -> Option<Lowered> {
        let swizzle = self.parse_swizzle(name, size)?;
        Some(match lowered {
            Lowered::LValue(lvalue) if size == 1 => self.swizzle_scalar(b, lvalue, swizzle, name.span)?,
            Lowered::LValue(lvalue) => Lowered::LValue(self.swizzle_lvalue(b, lvalue, swizzle)),
            Lowered::Value(value) if size == 1 => Lowered::Value(b.splat(value, swizzle.len)),
            Lowered::Value(value) => Lowered::Value(b.swizzle(value, swizzle.components())),
            Lowered::Void => return None,
        })
    }

    /// A scalar's only component, or a vector of copies of it.
    fn swizzle_scalar(&mut self, b: &mut Builder<'_>, lvalue: LValue, swizzle: Swizzle, span: Span) -> Option<Lowered> {
        if swizzle.len == 1 {
            return Some(Lowered::LValue(lvalue));
        }
        let value = self.read(b, &lvalue, span)?;
        Some(Lowered::Value(b.splat(value, swizzle.len)))
    }

    fn swizzle_lvalue(&mut self, b: &mut Builder<'_>, lvalue: LValue, swizzle: Swizzle) -> LValue {
        let swizzle = lvalue.swizzle.map_or(swizzle, |inner| inner.then(&swizzle));
        match swizzle.components() {
            [component] => {
                let component = b.const_u32(u32::from(*component));
                self.component(b, lvalue, component)
            }
            _ => LValue { swizzle: Some(swizzle), ..lvalue },
        }
    }

    /// One component of a vector place, through its swizzle.
    fn component(&mut self, b: &mut Builder<'_>, lvalue: LValue, component: Value) -> LValue {
        let scalar = b.module.types.scalar_of(lvalue.ty).unwrap_or(Scalar::F32);
        let ty = b.module.types.scalar(scalar);
        LValue { swizzle: None, ..lvalue.part(component, ty) }
    }

    fn parse_swizzle(&mut self, name: Name, size: u8) -> Option<Swizzle> {
        let text = self.text(name.symbol).as_bytes();
        let parsed = SWIZZLE_SETS.iter().find_map(|set| swizzle_of(text, set));
        let complaint = match &parsed {
            _ if text.len() > 4 => "a swizzle has at most four components",
            None => "not a swizzle: its letters come from one of xyzw, rgba, stpq",
            Some(swizzle) if swizzle.components().iter().any(|c| *c >= size) => "the vector has fewer components",
            Some(swizzle) => return Some(*swizzle),
        };
        let message = format!("no component `{}`", self.text(name.symbol));
        self.error(Code::NO_SUCH_PART, name.span, message, complaint);
        None
    }

    /// `base.length()` (GLSL 4.60 sections 4.1.9, 5.5, 5.6): an `int`.
    pub fn length(&mut self, b: &mut Builder<'_>, base: ExprId, whole: Span) -> Option<Value> {
        let span = self.ast[base].span;
        let lowered = self.lower(b, base)?;
        b.span = whole;
        let (ty, lvalue) = match lowered {
            Lowered::LValue(lvalue) => (memory::value_type(b, &lvalue), Some(lvalue)),
            Lowered::Value(value) => (b.type_of(value), None),
            Lowered::Void => return self.no_parts(b, None, span).and(None),
        };
        match (b.module.types.get(ty), lvalue) {
            (Type::Array { len: ArrayLen::Fixed(len), .. }, _) => Some(b.const_i32(len as i32)),
            (Type::Array { len: ArrayLen::Spec(id), .. }, _) => {
                Some(b.convert(Value::Const(id), crate::ir::Types::I32))
            }
            (Type::Array { len: ArrayLen::Runtime, .. }, Some(lvalue)) => self.run_time_length(b, &lvalue, span),
            (Type::Vector { size, .. }, _) => Some(b.const_i32(i32::from(size))),
            (Type::Matrix { columns, .. }, _) => Some(b.const_i32(i32::from(columns))),
            (Type::CooperativeMatrix(of), _) if of.is_vector() => Some(b.convert(Value::Const(of.columns), Types::I32)),
            (Type::CooperativeMatrix(of), _) if of.role == MatrixRole::Any => {
                let length = ConstValue::MatrixLength(ty);
                Some(Value::Const(b.module.constants.intern(Types::I32, length)))
            }
            (Type::CooperativeMatrix(_), _) => {
                let length = b.cooperative(MatrixOp::Length(ty), &[], Types::U32);
                Some(b.convert(length, Types::I32))
            }
            _ => self.no_parts(b, Some(ty), span).and(None),
        }
    }

    fn run_time_length(&mut self, b: &mut Builder<'_>, lvalue: &LValue, span: Span) -> Option<Value> {
        self.check_resource_length(b, lvalue, None, span)?;
        if lvalue.space == Space::Physical {
            let message = "the length of an array that a buffer reference points to is not known";
            self.error(Code::NO_SUCH_PART, span, message, "only its author knows");
            return None;
        }
        if let Some(length) = self.length_by_now(b, lvalue) {
            return Some(b.const_i32(length as i32));
        }
        let block = lvalue.path.split_last().filter(|_| self.find_open(b, lvalue).is_none());
        let Some((_, block)) = block else {
            self.error(Code::NO_SUCH_PART, span, "the length of this array is not known", "no size");
            return None;
        };
        let block = if block.is_empty() { lvalue.root } else { b.access(lvalue.root, block) };
        let length = b.array_length(block);
        Some(b.convert(length, crate::ir::Types::I32))
    }
}

/// The component that a run-time index selects from a swizzle: the index itself if the swizzle starts with `x`, `y`, ….
fn picked(b: &mut Builder<'_>, swizzle: &Swizzle, at: Value) -> Value {
    if swizzle.components().iter().copied().eq(0..swizzle.len) {
        return at;
    }
    let parts: SmallVec<[Value; 4]> = swizzle.components().iter().map(|c| b.const_u32(u32::from(*c))).collect();
    let ty = b.module.types.vector(Scalar::U32, swizzle.len);
    let components = b.construct(ty, &parts);
    b.extract_dynamic(components, at)
}

/// The swizzle of a place, whose size may differ from its vector's.
fn swizzle_on(lowered: &Lowered) -> Option<Swizzle> {
    match lowered {
        Lowered::LValue(lvalue) => lvalue.swizzle,
        Lowered::Value(_) | Lowered::Void => None,
    }
}

/// The swizzle for letters of one set; only its first four components.
fn swizzle_of(text: &[u8], set: &[u8; 4]) -> Option<Swizzle> {
    let mut components = [0; 4];
    for (at, letter) in text.iter().enumerate() {
        let component = set.iter().position(|s| s == letter)? as u8;
        if let Some(slot) = components.get_mut(at) {
            *slot = component;
        }
    }
    Some(Swizzle::new(&components[..text.len().min(4)]))
}

fn member(b: &mut Builder<'_>, lowered: Lowered, index: u32, ty: TypeId, access: Access) -> Lowered {
    match lowered {
        Lowered::LValue(lvalue) => {
            let mut part = lvalue.part(b.const_u32(index), ty);
            part.access |= access;
            Lowered::LValue(part)
        }
        Lowered::Value(value) => Lowered::Value(b.extract(value, index)),
        Lowered::Void => Lowered::Void,
    }
}
