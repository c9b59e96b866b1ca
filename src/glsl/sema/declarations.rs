//! Variables and constants, global and local, and the conversion of a value to a declared type.

use super::Sema;
use super::constants::without_effects;
use super::feedback::FeedbackLayout;
use super::lvalue::{LValue, Mutability};
use super::qualifiers::Qualifiers;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Declarator, ExprKind, List};
use crate::glsl::convert;
use crate::glsl::types::{Basic, with_article};
use crate::ir::build::Builder;
use crate::ir::{Access, ArrayLen, Binding, ConstId, ConstValue, Global, Space, Type, TypeId, Types, Value};
use crate::source::Span;
use std::collections::hash_map::Entry;

impl Sema<'_> {
    /// `type a, b = 1;` outside functions.
    pub fn global_variables(
        &mut self,
        b: &mut Builder<'_>,
        decl: &ast::Decl,
        ty: ast::TypeId,
        declarators: List<Declarator>,
    ) {
        let qualifiers = self.qualifiers(decl.qualifiers);
        let base = if declarators.is_empty() { self.type_alone(b, ty) } else { self.type_spec(b, ty) };
        let ast = self.ast;
        match base {
            Some(base) if declarators.is_empty() => self.counter_default(b, decl, base),
            Some(base) => self.check_memory(b, &qualifiers, base),
            None => {}
        }
        for declarator in &ast[declarators] {
            let named = self.text(declarator.name.symbol).starts_with("gl_");
            let redeclares = named && qualifiers.storage().is_some() && !self.says_decoration(decl.qualifiers);
            if let (true, Some(base)) = (redeclares, base) {
                let feedback = self.redeclare_builtin(b, decl.qualifiers, &qualifiers, base, declarator, false);
                let none = FeedbackLayout::default();
                self.capture_builtin(b, declarator, feedback.unwrap_or(none), none, None);
                continue;
            }
            let again = |base| {
                self.resource_again(b, decl, base, declarator) || self.array_again(b, &qualifiers, base, declarator)
            };
            if base.is_some_and(again) {
                continue;
            }
            let made = base.and_then(|base| self.global_variable(b, decl, &qualifiers, base, declarator));
            if let Some(Entity::LValue(LValue { root: Value::Global(id), .. })) = made {
                self.decorate(b, decl.qualifiers, id);
            }
            self.declare(declarator.name, made.unwrap_or(Entity::Error));
        }
    }

    fn global_variable(
        &mut self,
        b: &mut Builder<'_>,
        decl: &ast::Decl,
        qualifiers: &Qualifiers,
        base: TypeId,
        declarator: &Declarator,
    ) -> Option<Entity> {
        let layout = self.layout_ids(decl.qualifiers);
        if let Some(id) = layout.iter().find(|id| self.text(id.name.symbol) == "constant_id") {
            return self.spec_constant(b, qualifiers.constant, base, declarator, id);
        }
        let foreign = matches!(b.module.types.get(base), Type::Foreign(_));
        if self.is_opaque(b, base) || foreign && qualifiers.uniform.is_some() {
            return self.resource(b, decl, qualifiers, base, declarator);
        }
        if let Some(span) = qualifiers.tile {
            return self.no_attachment(span);
        }
        if let Some(span) = qualifiers.uniform.or(qualifiers.buffer) {
            return match self.has_default_block() {
                true => self.loose_uniform(b, decl, qualifiers, base, declarator),
                false => self.refuse_loose_uniform(span),
            };
        }
        if qualifiers.input.is_some() || qualifiers.output.is_some() {
            return self.stage_variable(b, decl, qualifiers, base, declarator);
        }
        if let Some(span) = qualifiers.payload {
            return self.task_payload(b, decl, base, declarator, span);
        }
        if let (Some(of), Some(span)) = (qualifiers.of_ray, qualifiers.ray) {
            return self.ray_variable(b, decl, (of, span), base, declarator);
        }
        self.check_interpolation(qualifiers);
        if let Some(span) = qualifiers.inout {
            self.error(Code::BAD_QUALIFIER, span, "`inout` belongs to parameters", "not here");
            return None;
        }
        if let Some(id) = layout.first() {
            self.unknown_layout_id(id);
        }
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        let ty = self.usable(b, ty, declarator.span)?;
        if qualifiers.shared.is_some() {
            return self.shared_variable(b, qualifiers, ty, declarator);
        }
        if qualifiers.constant.is_some() {
            return self.constant_variable(b, ty, declarator).map(Entity::Value);
        }
        self.private_variable(b, ty, declarator)
    }

    fn refuse_loose_uniform(&mut self, span: Span) -> Option<Entity> {
        let message = "a uniform or buffer variable outside a block is not part of GLSL for Vulkan";
        let note = "put it into a block: `layout(binding = 0) uniform Params { … };`";
        self.report(Diagnostic::error(Code::BAD_QUALIFIER, message).at(span, "not in a block").note(note));
        None
    }

    /// `layout(constant_id = N) const T x = default;`
    fn spec_constant(
        &mut self,
        b: &mut Builder<'_>,
        constant: Option<Span>,
        ty: TypeId,
        declarator: &Declarator,
        id: &ast::LayoutId,
    ) -> Option<Entity> {
        let number = self.layout_value(b, id)?;
        if constant.is_none() {
            let message = "a specialization constant is `const`";
            self.error(Code::BAD_QUALIFIER, declarator.span, message, "a variable");
            return None;
        }
        let Some(init) = declarator.init else {
            self.error(Code::BAD_QUALIFIER, declarator.span, "a specialization constant needs a default", "no value");
            return None;
        };
        if !matches!(b.module.types.get(ty), Type::Scalar(_)) || !declarator.dimensions.is_empty() {
            let message = "a specialization constant is a scalar";
            self.error(Code::BAD_QUALIFIER, declarator.span, message, "not a scalar");
            return None;
        }
        self.usable(b, ty, declarator.span)?;
        let default = self.constant_of(b, init, ty, "the default of a specialization constant")?;
        let Some(default) = b.module.constants.bits(default) else {
            let span = self.ast[init].span;
            self.error(Code::NOT_CONSTANT, span, "the default must be known at compile time", "depends on another");
            return None;
        };
        self.new_constant_id(number, id.span);
        let name = self.text(declarator.name.symbol);
        b.module.spec_names.push((number, name.into()));
        let value = b.module.constants.intern(ty, ConstValue::Spec { id: number, default });
        Some(Entity::Value(Value::Const(value)))
    }

    /// Two specialization constants have different numbers; a workgroup size may share one.
    fn new_constant_id(&mut self, number: u32, span: Span) {
        match self.constant_ids.entry(number) {
            Entry::Vacant(entry) => _ = entry.insert(span),
            Entry::Occupied(entry) => {
                let first = *entry.get();
                let message = format!("two specialization constants have `constant_id = {number}`");
                let diagnostic = Diagnostic::error(Code::BAD_LAYOUT, message).at(span, "the second one");
                self.report(diagnostic.with(first, "the first one"));
            }
        }
    }

    fn shared_variable(
        &mut self,
        b: &mut Builder<'_>,
        qualifiers: &Qualifiers,
        ty: TypeId,
        declarator: &Declarator,
    ) -> Option<Entity> {
        if let (Some(span), false) = (qualifiers.shared, self.env.stage.has_workgroups()) {
            let message = "`shared` variables belong to compute, task and mesh shaders";
            self.error(Code::BAD_QUALIFIER, span, message, "not in this stage");
        }
        let ty = if declarator.init.is_some() {
            self.sized(b, ty, declarator)?
        } else {
            self.sized_in_time(b, ty, declarator)?
        };
        self.refuse_valueless(b, ty, declarator.span)?;
        self.refuse_private(b, ty, declarator.span)?;
        let init = declarator.init.and_then(|init| self.shared_zero(b, init, ty));
        let entity = self.new_global(b, Space::Workgroup, qualifiers.access, ty, declarator, init);
        self.leave_open(b, &entity);
        Some(entity)
    }

    /// The only initial value that workgroup memory can have: `{}` (GL_EXT_null_initializer).
    fn shared_zero(&mut self, b: &mut Builder<'_>, init: ast::ExprId, ty: TypeId) -> Option<ConstId> {
        let ast::Expr { kind, span } = self.ast[init];
        match kind {
            ast::ExprKind::Aggregate(parts) if parts.is_empty() && self.env.is_enabled("GL_EXT_null_initializer") => {
                match b.zero(ty) {
                    Value::Const(zero) => Some(zero),
                    _ => None,
                }
            }
            _ => {
                let message = "a `shared` variable cannot have an initial value other than `{}`";
                let error = Diagnostic::error(Code::BAD_INITIALIZER, message).at(span, "not allowed");
                self.report(error.help("let one invocation assign it, and call `barrier()` before others read it"));
                None
            }
        }
    }

    fn private_variable(&mut self, b: &mut Builder<'_>, ty: TypeId, declarator: &Declarator) -> Option<Entity> {
        let Some(init) = declarator.init else {
            let ty = self.sized_in_time(b, ty, declarator)?;
            let entity = self.new_global(b, Space::Private, Access::empty(), ty, declarator, None);
            self.leave_open(b, &entity);
            return Some(entity);
        };
        let (value, constant) = without_effects(b, |b| self.initializer(b, init, ty))?;
        let ty = b.type_of(value);
        let (init, later) = match value {
            Value::Const(id) if constant => (Some(id), None),
            _ => (None, Some(init)),
        };
        if let Some(later) = later {
            self.may_initialize(later);
        }
        let entity = self.new_global(b, Space::Private, Access::empty(), ty, declarator, init);
        if let (Some(expr), Entity::LValue(LValue { root: Value::Global(id), .. })) = (later, &entity) {
            self.deferred.push((*id, expr));
        }
        Some(entity)
    }

    /// Initial values of global variables are constant in GLSL ES (GLSL ES 3.20 section 4.3).
    fn may_initialize(&mut self, init: ast::ExprId) {
        let extension = "GL_EXT_shader_non_constant_global_initializers";
        if self.env.is_es() && !self.env.is_enabled(extension) {
            let what = "an initial value that is not constant needs, at global scope,";
            self.needs_extension(what, extension, self.ast[init].span);
        }
    }

    pub fn new_global(
        &mut self,
        b: &mut Builder<'_>,
        space: Space,
        access: Access,
        ty: TypeId,
        declarator: &Declarator,
        init: Option<ConstId>,
    ) -> Entity {
        let name = self.text(declarator.name.symbol).into();
        let span = declarator.name.span;
        let id = b.module.globals.push(Global { name, span, space, ty, binding: Binding::None, access, init });
        Entity::LValue(LValue { access, ..LValue::new(Value::Global(id), space, ty) })
    }

    /// A global variable's type has a size, or gets one by the end of the shader.
    fn sized_in_time(&mut self, b: &Builder<'_>, ty: TypeId, declarator: &Declarator) -> Option<TypeId> {
        if self.may_stay_open(b, ty) { Some(ty) } else { self.sized(b, ty, declarator) }
    }

    /// A variable's type must have a size by the end of its declaration.
    pub fn sized(&mut self, b: &Builder<'_>, ty: TypeId, declarator: &Declarator) -> Option<TypeId> {
        let complaint = match b.module.types.get(ty) {
            Type::Void => "a variable cannot be `void`",
            Type::Array { len: ArrayLen::Runtime, .. } => "this array needs a size or an initializer",
            _ => return Some(ty),
        };
        self.error(Code::BAD_TYPE, declarator.span, complaint, "declared here");
        None
    }

    /// A `const` variable whose value must be constant.
    fn constant_variable(&mut self, b: &mut Builder<'_>, ty: TypeId, d: &Declarator) -> Option<Value> {
        let Some(init) = d.init else {
            self.error(Code::BAD_INITIALIZER, d.span, "a `const` variable needs a value", "no initializer");
            return None;
        };
        self.constant_of(b, init, ty, "the value of a global `const`").map(Value::Const)
    }

    /// A constant expression of a given type.
    fn constant_of(&mut self, b: &mut Builder<'_>, init: ast::ExprId, ty: TypeId, what: &str) -> Option<ConstId> {
        match without_effects(b, |b| self.initializer(b, init, ty))? {
            (Value::Const(id), true) => Some(id),
            _ => {
                let span = self.ast[init].span;
                self.error(Code::NOT_CONSTANT, span, format!("{what} must be constant"), "not a constant expression");
                None
            }
        }
    }

    /// `type a, b = 1;` inside a function.
    pub fn local_variables(&mut self, b: &mut Builder<'_>, decl: &ast::Decl) {
        let ast::DeclKind::Variables { ty, declarators } = decl.kind else {
            self.local_non_variable(b, decl);
            return;
        };
        let qualifiers = self.qualifiers(decl.qualifiers);
        self.refuse_decorations(decl.qualifiers);
        if let Some(span) = qualifiers.storage() {
            let message = "a local variable has no storage qualifier but `const`";
            let diagnostic = Diagnostic::error(Code::BAD_QUALIFIER, message).at(span, "not here");
            self.report(diagnostic.help("move the declaration out of the function"));
        }
        self.check_interpolation(&qualifiers);
        let base = if declarators.is_empty() { self.type_alone(b, ty) } else { self.type_spec(b, ty) };
        let ast = self.ast;
        for declarator in &ast[declarators] {
            let made = base.and_then(|base| self.local_variable(b, &qualifiers, base, declarator));
            if let Some(Entity::LValue(LValue { root: Value::Local(id), .. })) = made {
                b.function.locals[id].restrict = qualifiers.access.contains(Access::RESTRICT);
            }
            self.declare(declarator.name, made.unwrap_or(Entity::Error));
        }
    }

    fn local_non_variable(&mut self, b: &mut Builder<'_>, decl: &ast::Decl) {
        match decl.kind {
            ast::DeclKind::Precision { ty, .. } => self.check_precision(b, ty),
            ast::DeclKind::Prototype(_) => {
                self.error(Code::BAD_DECLARATION, decl.span, "functions are declared outside functions", "not here");
            }
            _ => self.error(Code::BAD_DECLARATION, decl.span, "this is allowed outside functions only", "not here"),
        }
    }

    fn local_variable(
        &mut self,
        b: &mut Builder<'_>,
        qualifiers: &Qualifiers,
        base: TypeId,
        declarator: &Declarator,
    ) -> Option<Entity> {
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        self.refuse_opaque(b, ty, declarator.span)?;
        let ty = self.usable(b, ty, declarator.span)?;
        let value = match declarator.init {
            Some(init) => Some(self.initializer(b, init, ty)?),
            None => None,
        };
        let constant = qualifiers.constant.is_some();
        match value {
            None if constant => {
                self.error(
                    Code::BAD_INITIALIZER,
                    declarator.span,
                    "a `const` variable needs a value",
                    "no initializer",
                );
                None
            }
            None if b.module.types.is_valueless(ty) => {
                let ty = self.sized(b, ty, declarator)?;
                Some(self.new_global(b, Space::Private, Access::empty(), ty, declarator, None))
            }
            None => {
                let ty = self.sized(b, ty, declarator)?;
                Some(self.new_local(b, ty, declarator, None, Mutability::Writable))
            }
            Some(value @ Value::Const(_)) if constant => Some(Entity::Value(value)),
            Some(value) => {
                let mutability = if constant { Mutability::Const } else { Mutability::Writable };
                let ty = b.type_of(value);
                Some(self.new_local(b, ty, declarator, Some(value), mutability))
            }
        }
    }

    /// A variable of the function. The value is stored at the declaration, so that a loop stores it again.
    fn new_local(
        &mut self,
        b: &mut Builder<'_>,
        ty: TypeId,
        declarator: &Declarator,
        value: Option<Value>,
        mutability: Mutability,
    ) -> Entity {
        b.span = declarator.name.span;
        let root = b.variable(self.text(declarator.name.symbol), ty, None);
        if let Some(value) = value {
            b.span = declarator.span;
            b.store(root, value);
        }
        Entity::LValue(LValue { mutability, ..LValue::new(root, Space::Function, ty) })
    }

    /// The value of an initializer for a variable of type `ty`; empty outer brackets take the value's length.
    pub fn initializer(&mut self, b: &mut Builder<'_>, init: ast::ExprId, ty: TypeId) -> Option<Value> {
        if ty == Types::VOID {
            self.error(Code::BAD_TYPE, self.ast[init].span, "a variable cannot be `void`", "no such value");
            return None;
        }
        if let ExprKind::Aggregate(parts) = self.ast[init].kind {
            return self.aggregate(b, init, parts, ty);
        }
        let value = self.value(b, init)?;
        let ty = sized_like(b, ty, value);
        self.coerce(b, value, ty, self.ast[init].span)
    }

    /// Converts a value to a type as an assignment does.
    pub fn coerce(&mut self, b: &mut Builder<'_>, value: Value, ty: TypeId, span: Span) -> Option<Value> {
        let from = b.type_of(value);
        if self.converts(b, from, ty) {
            b.span = span;
            return Some(convert::numeric(b, value, ty));
        }
        let (from_name, to) = (self.type_name(b, from), self.type_name(b, ty));
        let diagnostic = Diagnostic::error(Code::TYPE_MISMATCH, format!("{} is needed here", with_article(&to)));
        let diagnostic = diagnostic.at(span, format!("this is `{from_name}`"));
        self.report(conversion(b, from, ty, &to).into_iter().fold(diagnostic, Diagnostic::help));
        None
    }

    /// Returns true if a value of one type is accepted for another; GLSL ES has no implicit conversions.
    pub fn converts(&self, b: &Builder<'_>, from: TypeId, to: TypeId) -> bool {
        from == to || (self.env.implicit_conversions() && convert::converts(&b.module.types, from, to))
    }
}

/// How to convert a value of one type to another, if a constructor or a swizzle does it.
fn conversion(b: &Builder<'_>, from: TypeId, to: TypeId, name: &str) -> Option<String> {
    let (from, to) = (Basic::of(&b.module.types, from)?, Basic::of(&b.module.types, to)?);
    if from.is_matrix() || to.is_matrix() {
        return None;
    }
    match (usize::from(from.rows), usize::from(to.rows)) {
        (own, wanted) if own == wanted || own == 1 => Some(format!("`{name}(…)` converts it")),
        (own, wanted) if own > wanted => Some(format!("`.{}` takes the first of its components", &"xyzw"[..wanted])),
        (own, wanted) => {
            let more = ", …".repeat(wanted - own);
            Some(format!("`{name}(…{more})` adds the components that it lacks"))
        }
    }
}

/// `int a[] = …` has as many elements as the value, and so do inner brackets.
fn sized_like(b: &mut Builder<'_>, ty: TypeId, value: Value) -> TypeId {
    let given = b.type_of(value);
    match (b.module.types.get(ty), b.module.types.get(given)) {
        (Type::Array { .. }, Type::Array { .. }) => fill_lengths(b, ty, given),
        _ => ty,
    }
}

fn fill_lengths(b: &mut Builder<'_>, ty: TypeId, given: TypeId) -> TypeId {
    let types = &b.module.types;
    let (Type::Array { element, len, .. }, Type::Array { element: from, len: given, .. }) =
        (types.get(ty), types.get(given))
    else {
        return ty;
    };
    let len = if len == ArrayLen::Runtime { given } else { len };
    let element = fill_lengths(b, element, from);
    b.module.types.array(element, len)
}
