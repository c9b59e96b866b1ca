//! The names that a syntax tree declares, for editors.
//!
//! Spans are token spans, so a declaration from a macro has the span of the macro's call.

use super::ast::{Ast, Block, Decl, DeclKind, Declarator, Function, Member, Name, Param, Qualifier, QualifierKind};
use super::ast::{List, StmtKind, Storage, TypeKind, TypeSpec};
use crate::source::Span;
use crate::symbols::{Declaration, Kind, TypeOf};
use rustc_hash::FxHashSet;

/// All declarations of a tree.
pub fn declarations(ast: &Ast) -> Vec<Declaration> {
    let global = ast.items.iter().map(|item| item.span).collect();
    let mut found = Found { ast, scopes: scopes(ast), global, list: Vec::new() };
    ast.functions.iter().for_each(|(_, function)| found.function(function));
    ast.decls.iter().for_each(|(_, decl)| found.decl(decl));
    ast.structs.iter().for_each(|(_, of)| {
        if let Some(name) = of.name {
            found.add(name, Kind::Struct, Span::NONE, name.span, of.span);
        }
        found.members(of.members, of.name.map_or(of.span, |name| name.span), false);
    });
    found.list.sort_by_key(|declaration| (declaration.name, declaration.whole));
    found.list.dedup_by_key(|declaration| declaration.name);
    found.list
}

/// The ranges of text that are scopes of names, the outermost first.
fn scopes(ast: &Ast) -> Vec<Span> {
    let opens = |kind: &StmtKind| {
        matches!(kind, StmtKind::Compound(_) | StmtKind::Switch { .. } | StmtKind::While { .. } | StmtKind::For { .. })
    };
    let statements = ast.stmts.iter().filter(|(_, stmt)| opens(&stmt.kind)).map(|(_, stmt)| stmt.span);
    let functions = ast.functions.iter().filter_map(|(_, function)| Some(function.span.to(function.body?.span)));
    let mut all: Vec<Span> = functions.chain(statements).collect();
    all.sort_by_key(|span| (span.lo, std::cmp::Reverse(span.hi)));
    all
}

struct Found<'a> {
    ast: &'a Ast,
    scopes: Vec<Span>,
    /// Spans of global items.
    global: FxHashSet<Span>,
    list: Vec<Declaration>,
}

impl Found<'_> {
    fn add(&mut self, name: Name, kind: Kind, before: Span, written: Span, whole: Span) -> &mut Declaration {
        let scope = self.scope(name.span);
        self.list.push(Declaration {
            name: name.span,
            kind,
            before,
            written,
            whole,
            scope,
            ty: None,
            inferred: None,
            owner: None,
            is_free: false,
            has_body: false,
        });
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// The innermost scope around a place.
    fn scope(&self, at: Span) -> Option<Span> {
        let before = &self.scopes[..self.scopes.partition_point(|scope| scope.lo <= at.lo)];
        before.iter().rev().find(|scope| at.hi <= scope.hi).copied()
    }

    fn function(&mut self, function: &Function) {
        let whole = function.body.map_or(function.span, |body| function.span.to(body.span));
        let written = function.name.span.to(function.span);
        let before = Span::new(function.span.lo, function.name.span.lo);
        let ty = self.type_of(&self.ast[function.return_type], 0);
        let declaration = self.add(function.name, Kind::Function, before, written, whole);
        // Its name is outside its parameters' scope.
        (declaration.scope, declaration.ty) = (None, ty);
        declaration.has_body = function.body.is_some();
        for param in &self.ast[function.params] {
            self.param(param, whole);
        }
    }

    fn param(&mut self, param: &Param, function: Span) {
        let Some(name) = param.name else { return };
        let ty = self.type_of(&self.ast[param.ty], param.dimensions.len());
        let before = Span::new(param.span.lo, self.ast[param.ty].span.hi);
        let declaration = self.add(name, Kind::Parameter, before, Span::new(name.span.lo, param.span.hi), param.span);
        (declaration.scope, declaration.ty) = (Some(function), ty);
    }

    fn decl(&mut self, decl: &Decl) {
        match decl.kind {
            DeclKind::Variables { ty, declarators } => {
                let spec = &self.ast[ty];
                let kind = self.variable_kind(decl);
                let before = Span::new(decl.span.lo, spec.span.hi);
                for declarator in &self.ast[declarators] {
                    let ty = self.type_of(spec, declarator.dimensions.len());
                    let written = self.written(declarator);
                    let whole = if declarators.len() == 1 { decl.span } else { declarator.span };
                    self.add(declarator.name, kind, before, written, whole).ty = ty;
                }
            }
            DeclKind::Block(block) => self.block(decl, &block),
            // `layout(buffer_reference) buffer Node;` announces a block.
            DeclKind::Requalify(names) if self.has(decl, Storage::Buffer) => {
                for name in &self.ast[names] {
                    self.add(*name, Kind::Block, Span::new(decl.span.lo, name.span.lo), name.span, decl.span);
                }
            }
            DeclKind::Prototype(_) | DeclKind::Precision { .. } | DeclKind::Requalify(_) | DeclKind::Defaults => {}
        }
    }

    fn variable_kind(&self, decl: &Decl) -> Kind {
        if self.has(decl, Storage::Const) {
            Kind::Constant
        } else if self.global.contains(&decl.span) || self.scope(decl.span).is_none() {
            Kind::Global
        } else {
            Kind::Local
        }
    }

    fn has(&self, decl: &Decl, storage: Storage) -> bool {
        let is_it = |qualifier: &Qualifier| matches!(qualifier.kind, QualifierKind::Storage(found) if found == storage);
        self.ast[decl.qualifiers].iter().any(is_it)
    }

    fn block(&mut self, decl: &Decl, block: &Block) {
        let before = Span::new(decl.span.lo, block.name.span.lo);
        self.add(block.name, Kind::Block, before, block.name.span, decl.span);
        self.members(block.members, block.name.span, block.instance.is_none());
        if let Some(instance) = &block.instance {
            let written = self.written(instance);
            let dimensions = instance.dimensions.len() as u32;
            let whole = instance.span;
            let before = Span::new(decl.span.lo, block.name.span.hi);
            let declaration = self.add(instance.name, Kind::Global, before, written, whole);
            declaration.ty = Some(TypeOf { name: block.name.span, dimensions });
        }
    }

    fn members(&mut self, members: List<Member>, owner: Span, is_free: bool) {
        for line in &self.ast[members] {
            let spec = &self.ast[line.ty];
            for declarator in &self.ast[line.declarators] {
                let ty = self.type_of(spec, declarator.dimensions.len());
                let (written, before) = (self.written(declarator), Span::new(line.span.lo, spec.span.hi));
                let declaration = self.add(declarator.name, Kind::Member, before, written, declarator.span);
                (declaration.ty, declaration.owner, declaration.is_free) = (ty, Some(owner), is_free);
            }
        }
    }

    /// The name and its brackets.
    fn written(&self, declarator: &Declarator) -> Span {
        let last = self.ast[declarator.dimensions].last();
        last.map_or(declarator.name.span, |last| declarator.name.span.to(last.span))
    }

    fn type_of(&self, spec: &TypeSpec, more: usize) -> Option<TypeOf> {
        let name = match spec.kind {
            TypeKind::Named(name) => name.span,
            TypeKind::Struct(id) => self.ast[id].name.map_or(self.ast[id].span, |name| name.span),
            TypeKind::Matrix(of) => of.name.span,
            TypeKind::Tensor(of) => of.name.span,
            TypeKind::Spirv(_) => return None,
        };
        Some(TypeOf { name, dimensions: (spec.dimensions.len() + more) as u32 })
    }
}
