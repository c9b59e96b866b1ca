//! Spelled types: names, struct definitions, array brackets.

use super::scope::Entity;
use super::{Sema, did_you_mean};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Dimension, List, Name, TypeKind};
use crate::glsl::extended::{self, Allowed, Family};
use crate::glsl::token::Symbol;
use crate::glsl::types::{TypeName, type_name};
use crate::glsl::{keyword, parse};
use crate::ir::build::Builder;
use crate::ir::{Access, ArrayLen, Binding, ImageDim, Member, Scalar, Struct, Type, TypeId, Types};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// Longest array; SPIR-V counts lengths in 32 bits and drivers in far fewer.
const LONGEST_ARRAY: i128 = i32::MAX as i128;

impl Sema<'_> {
    /// The type of a specifier, including its brackets.
    pub fn type_spec(&mut self, b: &mut Builder<'_>, id: ast::TypeId) -> Option<TypeId> {
        let ty = self.type_alone(b, id);
        if let (None, TypeKind::Struct(of)) = (ty, self.ast[id].kind) {
            self.refuse_opaque_struct(self.ast[of].name);
        }
        ty
    }

    /// The type of a declaration without variables: structs with unsupported members may only be declared.
    pub fn type_alone(&mut self, b: &mut Builder<'_>, id: ast::TypeId) -> Option<TypeId> {
        let spec = self.ast[id];
        let base = match spec.kind {
            TypeKind::Named(name) => self.named_type(b, name)?,
            TypeKind::Struct(id) => self.struct_definition(b, id)?,
            TypeKind::Spirv(args) => self.spirv_type(b, args, spec.span)?,
            TypeKind::Matrix(spec) => self.matrix_spec(b, spec)?,
            TypeKind::Tensor(spec) => self.tensor_spec(b, spec)?,
        };
        self.with_dimensions(b, base, spec.dimensions)
    }

    /// A type with brackets after it; the first bracket is the outermost array. Empty brackets mean a run-time length.
    pub fn with_dimensions(
        &mut self,
        b: &mut Builder<'_>,
        base: TypeId,
        dimensions: List<Dimension>,
    ) -> Option<TypeId> {
        let ast = self.ast;
        let mut ty = base;
        if !dimensions.is_empty() && base == Types::VOID {
            self.error(Code::BAD_TYPE, ast[dimensions][0].span, "there are no arrays of `void`", "array of nothing");
            return None;
        }
        for dimension in ast[dimensions].iter().rev() {
            let len = self.array_len(b, dimension)?;
            let array = b.module.types.array(ty, len);
            ty = self.bounded(b, array, dimension.span)?;
        }
        Some(ty)
    }

    fn array_len(&mut self, b: &mut Builder<'_>, dimension: &Dimension) -> Option<ArrayLen> {
        let Some(expr) = dimension.size else { return Some(ArrayLen::Runtime) };
        let id = self.constant(b, expr, "an array size")?;
        if b.module.constants.is_spec(id) {
            return Some(ArrayLen::Spec(id));
        }
        let span = self.ast[expr].span;
        match b.module.constants.as_int(&b.module.types, id) {
            Some(len) if len > 0 && len <= LONGEST_ARRAY => Some(ArrayLen::Fixed(len as u32)),
            Some(len) => {
                self.error(Code::BAD_TYPE, span, format!("an array cannot have {len} elements"), "bad size");
                None
            }
            None => {
                self.error(Code::BAD_TYPE, span, "an array size is an integer", "not an integer");
                None
            }
        }
    }

    /// The type that a name refers to here.
    pub fn named_type(&mut self, b: &mut Builder<'_>, name: Name) -> Option<TypeId> {
        match self.scopes.used(name.symbol, name.span).map(|declared| &declared.entity) {
            Some(Entity::Type(ty)) => return Some(*ty),
            Some(Entity::Error) => return None,
            Some(Entity::OpaqueStruct) => {
                self.refuse_opaque_struct(Some(name));
                return None;
            }
            Some(_) => {
                let message = format!("`{}` is not a type", self.text(name.symbol));
                self.error(Code::UNKNOWN_TYPE, name.span, message, "declared as something else");
                return None;
            }
            None => {}
        }
        if let Some(known) = self.plain_types.get(name.symbol.0 as usize).filter(|ty| **ty != Types::VOID) {
            return Some(*known);
        }
        match type_name(self.text(name.symbol)) {
            Some(TypeName::Void) => Some(Types::VOID),
            Some(TypeName::Basic(basic)) => {
                let ty = basic.intern(&mut b.module.types);
                self.plain_types[name.symbol.0 as usize] = ty;
                Some(ty)
            }
            Some(TypeName::Explicit(basic)) if self.env.has_explicit_types() => Some(basic.intern(&mut b.module.types)),
            Some(TypeName::Explicit(_)) => self.needs_explicit_types(name),
            Some(TypeName::Extended(basic)) => {
                self.check_extended(
                    basic.scalar,
                    &format!("`{}`", self.text(name.symbol)),
                    Allowed::Storage,
                    name.span,
                )?;
                Some(basic.intern(&mut b.module.types))
            }
            Some(TypeName::Opaque(ty)) => {
                match ty {
                    Type::AccelerationStructure => self.need_structures(name)?,
                    Type::RayQuery => self.need_ray_query(name.span)?,
                    Type::AtomicCounter => self.need_counters(name.span)?,
                    Type::Sampler => self.need_separate_samplers(name.span)?,
                    Type::HitObject { nvidia } => self.need_hit_objects(nvidia, name.span)?,
                    Type::Image(image) if image.dim == ImageDim::Tile => self.need_tiles(name.span)?,
                    Type::Image(image) => self.need_image(image, self.text(name.symbol), name.span)?,
                    _ => {}
                }
                Some(b.module.types.intern(ty))
            }
            None => self.unknown_type(name),
        }
    }

    /// Checks that the enabled extensions allow this use of a scalar; `what` names it in the error.
    #[inline]
    pub fn check_extended(&mut self, scalar: Scalar, what: &str, needed: Allowed, span: Span) -> Option<()> {
        extended::family(scalar).map_or(Some(()), |family| self.check_family(family, what, needed, span))
    }

    fn check_family(&mut self, family: &Family, what: &str, needed: Allowed, span: Span) -> Option<()> {
        if family.allowed(&self.env) >= needed {
            return Some(());
        }
        let message = format!("{what} needs the extension {}", family.extension());
        let note = format!("add `#extension {} : require`", family.extension());
        self.report(Diagnostic::error(Code::MISSING_EXTENSION, message).at(span, "used here").note(note));
        None
    }

    fn needs_explicit_types(&mut self, name: Name) -> Option<TypeId> {
        let message = format!("`{}` needs an extension", self.text(name.symbol));
        let note = "add `#extension GL_EXT_shader_explicit_arithmetic_types : require`";
        self.report(Diagnostic::error(Code::MISSING_EXTENSION, message).at(name.span, "used here").note(note));
        None
    }

    fn unknown_type(&mut self, name: Name) -> Option<TypeId> {
        let message = format!("no type `{}` is known", self.text(name.symbol));
        let users = self.scopes.visible().filter(|symbol| self.scopes.names_type(*symbol));
        let names = users.map(|symbol| self.text(symbol)).chain(keyword::types().map(|word| word as &str));
        let names = names.chain(parse::keywords().map(|word| word as &str));
        let diagnostic = Diagnostic::error(Code::UNKNOWN_TYPE, message).at(name.span, "not declared");
        let diagnostic = did_you_mean(diagnostic, self.text(name.symbol), name.span, names);
        let is_clear = diagnostic.suggestion.is_some() || !self.is_lone_parameter(name.span);
        self.report(if is_clear {
            diagnostic
        } else {
            diagnostic.help("a parameter begins with its type, as in `float x`")
        });
        self.scopes.declare(name.symbol, Entity::Error, name.span);
        None
    }

    /// Returns true for a word that is a parameter by itself.
    fn is_lone_parameter(&self, word: Span) -> bool {
        let ast = self.ast;
        let mut params = ast.functions.iter().flat_map(|(_, function)| &ast[function.params]);
        params.any(|param| param.name.is_none() && param.span == word)
    }

    /// Defines a struct and declares its name.
    fn struct_definition(&mut self, b: &mut Builder<'_>, id: ast::StructId) -> Option<TypeId> {
        let spec = self.ast[id];
        let opaque = spec.name.filter(|_| self.has_opaque_member(b, spec.members));
        let members = self.struct_members(b, spec.members, opaque.is_some());
        if let Some(name) = opaque {
            self.declare(name, if members.is_some() { Entity::OpaqueStruct } else { Entity::Error });
            return None;
        }
        let name = spec.name.map_or("", |name| self.text(name.symbol));
        let span = spec.name.map_or(spec.span, |name| name.span);
        let ty = members.map(|members| {
            b.module.types.add_struct(Struct { name: name.into(), span, members, block: false, logical: None })
        });
        let ty = ty.and_then(|ty| self.bounded(b, ty, span));
        if let Some(name) = spec.name {
            let entity = ty.map_or(Entity::Error, Entity::Type);
            self.declare(name, entity);
        }
        ty
    }

    /// Returns true if a member is an image or a sampler, or an array of them (GLSL 4.60 section 4.1.7).
    fn has_opaque_member(&mut self, b: &mut Builder<'_>, list: List<ast::Member>) -> bool {
        self.ast[list].iter().any(|line| match self.ast[line.ty].kind {
            TypeKind::Named(name) => match type_name(self.text(name.symbol)) {
                Some(TypeName::Opaque(ty)) => {
                    let ty = b.module.types.intern(ty);
                    self.is_opaque(b, ty) && !self.is_tile(b, ty)
                }
                _ => false,
            },
            _ => false,
        })
    }

    /// Reports the use of a struct that was only declared.
    fn refuse_opaque_struct(&mut self, name: Option<Name>) {
        let Some(name) = name else { return };
        if let Some(Entity::OpaqueStruct) = self.scopes.get(name.symbol).map(|declared| &declared.entity) {
            self.unsupported(name.span, "structs with images or samplers in them are");
        }
    }

    pub fn struct_members(
        &mut self,
        b: &mut Builder<'_>,
        list: List<ast::Member>,
        opaque: bool,
    ) -> Option<Vec<Member>> {
        let ast = self.ast;
        let (mut members, mut names): (Vec<Member>, FxHashSet<Symbol>) = (Vec::new(), FxHashSet::default());
        let mut complete = true;
        for line in &ast[list] {
            let base = self.type_spec(b, line.ty);
            for declarator in &ast[line.declarators] {
                let ty = base.and_then(|base| self.member_type(b, base, declarator, opaque));
                complete &= ty.is_some();
                let name = self.text(declarator.name.symbol);
                self.check_new_member(&mut names, declarator.name);
                let ty = ty.unwrap_or(Types::VOID);
                let (access, binding) = (Access::empty(), Binding::None);
                let span = declarator.name.span;
                members.push(Member { name: name.into(), span, ty, offset: None, access, binding });
            }
        }
        complete.then_some(members)
    }

    fn member_type(
        &mut self,
        b: &mut Builder<'_>,
        base: TypeId,
        declarator: &ast::Declarator,
        opaque: bool,
    ) -> Option<TypeId> {
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        if !opaque {
            self.refuse_opaque(b, ty, declarator.span)?;
        }
        self.refuse_valueless(b, ty, declarator.span)?;
        let complaint = match b.module.types.get(ty) {
            Type::Void => "a member cannot be `void`",
            Type::Array { len: ArrayLen::Runtime, .. } => "an array in a struct needs a size",
            _ => return Some(ty),
        };
        self.error(Code::BAD_TYPE, declarator.span, complaint, "this member");
        None
    }

    /// Declares a name in the innermost scope; an existing one there is an error.
    pub fn declare(&mut self, name: Name, mut entity: Entity) {
        if self.words.bytes(name.symbol).starts_with(b"gl_") && !self.env.is_enabled("GL_EXT_spirv_intrinsics") {
            let message = format!("`{}` cannot be declared", self.text(name.symbol));
            self.error(Code::RESERVED_WORD, name.span, message, "names that begin with `gl_` are the language's own");
        }
        if let Some(before) = self.scopes.get_innermost(name.symbol)
            && !matches!(before.entity, Entity::Error)
        {
            let message = format!("`{}` is declared twice in one scope", self.text(name.symbol));
            let first = before.span;
            let diagnostic = Diagnostic::error(Code::REDECLARED, message);
            self.report(diagnostic.at(name.span, "the second declaration").with(first, "the first one"));
            return;
        }
        if let Entity::LValue(lvalue) = &mut entity {
            lvalue.non_uniform |= self.is_declared_non_uniform(name.span);
        }
        self.scopes.declare(name.symbol, entity, name.span);
    }
}
