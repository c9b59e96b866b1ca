//! The default uniform block of GLSL for OpenGL: uniforms outside blocks and their locations (GLSL 4.60 sections 4.3.5
//! and 4.4.3), and atomic counters (sections 4.1.7.3 and 4.4.6).

use super::Sema;
use super::constants::without_effects;
use super::expressions::Lowered;
use super::lvalue::{LValue, Mutability};
use super::qualifiers::Qualifiers;
use super::resources::ResourceLayout;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Declarator, LayoutId};
use crate::ir::build::Builder;
use crate::ir::{Access, ArrayLen, Binding, ConstId, Module, Space, Type, TypeId, Types, Value};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Bytes of an atomic counter.
const COUNTER: u32 = 4;

/// The atomic counters so far.
#[derive(Default)]
pub(super) struct Counters {
    /// The offset of the next counter without one, by binding.
    next: FxHashMap<u32, u32>,
    /// The bytes in use, by binding and first byte: the end, and the place of the declaration.
    taken: BTreeMap<(u32, u32), (u32, Span)>,
}

impl Sema<'_> {
    /// Returns true if the API's GLSL has uniforms outside of blocks.
    pub fn has_default_block(&self) -> bool {
        self.env.profile.client.row().has_default_block
    }

    /// `layout(location = 0) uniform vec4 name = vec4(1);`
    pub fn loose_uniform(
        &mut self,
        b: &mut Builder<'_>,
        decl: &ast::Decl,
        qualifiers: &Qualifiers,
        base: TypeId,
        declarator: &Declarator,
    ) -> Option<Entity> {
        if let Some(span) = qualifiers.buffer {
            self.error(Code::BAD_QUALIFIER, span, "a `buffer` is a block", "not a block");
            return None;
        }
        let mut location = None;
        for id in &self.layout_ids(decl.qualifiers) {
            match self.text(id.name.symbol) {
                "location" => location = Some(self.uniform_location(b, id)?),
                _ => self.unknown_layout_id(id),
            }
        }
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        let ty = self.usable(b, ty, declarator.span)?;
        let init = self.uniform_value(b, ty, declarator)?;
        let Some(location) = location.or_else(|| self.automatic_uniform(b, declarator.name, ty)) else {
            let message = format!("the uniform `{}` needs a location", self.text(declarator.name.symbol));
            let note = "write `layout(location = N)` in front of it, or put it into a block";
            let message = Diagnostic::error(Code::BAD_LAYOUT, message).at(declarator.name.span, "no location");
            self.report(message.note(note));
            return None;
        };
        let space = Space::Loose;
        let entity = self.new_global(b, space, Access::empty(), ty, declarator, init);
        let Entity::LValue(LValue { root: Value::Global(id), .. }) = entity else { return None };
        b.module.globals[id].binding = Binding::Uniform { location, binding: None };
        Some(Entity::LValue(LValue { mutability: Mutability::Input, ..LValue::new(Value::Global(id), space, ty) }))
    }

    /// The initial value of a uniform, if it has one, which must be constant.
    fn uniform_value(&mut self, b: &mut Builder<'_>, ty: TypeId, declarator: &Declarator) -> Option<Option<ConstId>> {
        let Some(init) = declarator.init else { return Some(None) };
        if self.env.is_es() {
            self.refuse_initial_value(declarator, "a uniform");
            return None;
        }
        match without_effects(b, |b| self.initializer(b, init, ty))? {
            (Value::Const(id), true) => Some(Some(id)),
            _ => {
                let span = self.ast[init].span;
                let message = "the initial value of a uniform must be constant";
                self.error(Code::NOT_CONSTANT, span, message, "not a constant expression");
                None
            }
        }
    }

    /// The location that a uniform outside of blocks names (GL_ARB_explicit_uniform_location).
    pub fn uniform_location(&mut self, b: &mut Builder<'_>, id: &LayoutId) -> Option<u32> {
        const EXTENSION: &str = "GL_ARB_explicit_uniform_location";
        if !self.env.has_version(430, 310) && !self.env.is_enabled(EXTENSION) {
            self.needs_extension("locations of uniforms need", EXTENSION, id.span);
        }
        self.layout_value(b, id)
    }

    /// Reports each uniform at the location of an earlier one.
    pub fn check_uniform_locations(&mut self, module: &Module) {
        let mut taken: BTreeMap<u32, (u32, &str)> = BTreeMap::new();
        for (_, global) in module.globals.iter() {
            let Binding::Uniform { location, .. } = global.binding else { continue };
            let end = location.saturating_add(uniform_locations(&module.types, global.ty));
            let before = taken.range(..end).next_back().filter(|(_, (until, _))| *until > location);
            if let Some((first, (_, name))) = before {
                let shared = location.max(*first);
                let message = format!("`{name}` and `{}` share location {shared}", global.name);
                self.report(Diagnostic::error(Code::BAD_LAYOUT, message).at(global.span, "this location is taken"));
            }
            taken.insert(location, (end, &global.name));
        }
    }

    // Atomic counters.

    /// `layout(binding = 0, offset = 4) uniform atomic_uint name;`
    pub fn atomic_counter(
        &mut self,
        b: &mut Builder<'_>,
        layout: &ResourceLayout,
        declarator: &Declarator,
        ty: TypeId,
    ) -> Option<Binding> {
        let name = self.text(declarator.name.symbol);
        let Some(binding) = layout.binding else {
            let message = format!("the atomic counter `{name}` needs a binding");
            let note = self.binding_note();
            self.report(Diagnostic::error(Code::BAD_LAYOUT, message).at(declarator.name.span, "no binding").note(note));
            return None;
        };
        let Some(count) = counters(&b.module.types, ty) else {
            self.error(Code::BAD_TYPE, declarator.span, "an array of atomic counters needs a size", "no size");
            return None;
        };
        let given = layout.offset.map(|(offset, _)| offset);
        let offset = given.or_else(|| self.counters.next.get(&binding).copied()).unwrap_or(0);
        let end = offset.saturating_add(count.saturating_mul(COUNTER));
        self.counters.next.insert(binding, end);
        let before = self.counters.taken.range(..(binding, end)).next_back();
        let before = before.filter(|((of, _), (until, _))| *of == binding && *until > offset).map(|(_, (_, at))| *at);
        if let Some(first) = before {
            let message = format!("the atomic counter `{name}` is where another one is");
            let diagnostic = Diagnostic::error(Code::BAD_LAYOUT, message).at(declarator.name.span, "the second one");
            self.report(diagnostic.with(first, "the first one"));
        }
        self.counters.taken.insert((binding, offset), (end, declarator.name.span));
        Some(Binding::Counter { binding, offset })
    }

    /// `layout(binding = 0, offset = 8) uniform atomic_uint;` sets the offset of the binding's next counter.
    pub fn counter_default(&mut self, b: &mut Builder<'_>, decl: &ast::Decl, ty: TypeId) {
        if b.module.types.get(ty) != Type::AtomicCounter {
            return;
        }
        let mut layout = ResourceLayout::default();
        for id in &self.layout_ids(decl.qualifiers) {
            if self.resource_layout_id(b, id, &mut layout).is_none() {
                return;
            }
        }
        if let (Some(binding), Some((offset, _))) = (layout.binding, layout.offset) {
            self.counters.next.insert(binding, offset);
        }
    }

    /// The offset of an atomic counter.
    pub fn counter_offset(&mut self, b: &mut Builder<'_>, id: &LayoutId) -> Option<u32> {
        let offset = self.layout_value(b, id)?;
        if offset.is_multiple_of(COUNTER) {
            return Some(offset);
        }
        let message = format!("the offset {offset} of an atomic counter is not a multiple of {COUNTER}");
        self.error(Code::BAD_LAYOUT, id.span, message, "not aligned");
        None
    }

    /// The counter that a function accesses.
    pub fn counter_target(&mut self, b: &Builder<'_>, lowered: Lowered, span: Span) -> Option<LValue> {
        match lowered {
            Lowered::LValue(lvalue) if b.module.types.get(lvalue.ty) == Type::AtomicCounter => Some(lvalue),
            _ => {
                self.error(Code::NOT_ATOMIC_MEMORY, span, "an atomic counter is needed here", "not an atomic counter");
                None
            }
        }
    }

    /// Atomic counters belong to GLSL for OpenGL.
    pub fn need_counters(&mut self, span: Span) -> Option<()> {
        if self.has_default_block() {
            return Some(());
        }
        let message = format!("GLSL for {} has no atomic counters", self.env.profile.client.name());
        let note = "declare a `uint` in a buffer, and use `atomicAdd`";
        self.report(Diagnostic::error(Code::BAD_TYPE, message).at(span, "belongs to GLSL for OpenGL").note(note));
        None
    }
}

/// Locations of a uniform: one for each scalar, vector and matrix in it (GLSL 4.60 section 4.4.3).
pub(super) fn uniform_locations(types: &Types, ty: TypeId) -> u32 {
    match types.get(ty) {
        Type::Array { element, len: ArrayLen::Fixed(len), .. } => len.saturating_mul(uniform_locations(types, element)),
        Type::Struct(of) => {
            let members = types.structs[of].members.iter().map(|member| uniform_locations(types, member.ty));
            members.fold(0, u32::saturating_add)
        }
        _ => 1,
    }
}

/// The number of counters; `None` if the shader does not state it.
fn counters(types: &Types, ty: TypeId) -> Option<u32> {
    match types.get(ty) {
        Type::Array { element, len: ArrayLen::Fixed(len), .. } => counters(types, element)?.checked_mul(len),
        Type::Array { .. } => None,
        _ => Some(1),
    }
}
