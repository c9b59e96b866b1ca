//! Declarations: variables, functions, interface blocks, default qualifiers and precision statements.
//!
//! Functions are taken at global scope only; everything else anywhere, and the semantic analysis refuses what it must.

use super::cursor::{Parsed, Parser};
use super::statements::{at_function, attributes, compound_body};
use super::types::{array_specifier, initializer, member_list, type_qualifiers, type_specifier};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::*;
use crate::glsl::keyword::{Keyword, WordClass};
use crate::glsl::token::{Punct, TokenKind};
use crate::source::Span;

/// A declaration at global scope.
pub(super) enum Declared {
    Function(FunctionId),
    Decl(DeclId),
}

/// The qualifiers before a declaration and where it begins.
#[derive(Clone, Copy)]
struct Head {
    qualifiers: List<Qualifier>,
    start: Span,
}

/// `declaration` or `function_definition`, at global scope.
pub(super) fn declaration(p: &mut Parser, attributes: List<Attribute>) -> Parsed<Declared> {
    if let Some(decl) = precision_statement(p)? {
        return Ok(Declared::Decl(decl));
    }
    let head = item_head(p)?;
    if let Some(decl) = without_type(p, head)? {
        return Ok(Declared::Decl(decl));
    }
    let ty = item_type(p, head)?;
    if p.at_identifier() && p.is_punct(1, Punct::LeftParen) {
        return function(p, head, ty, attributes);
    }
    variables(p, head, ty).map(Declared::Decl)
}

/// `declaration`, inside a function.
pub(super) fn local_declaration(p: &mut Parser) -> Parsed<DeclId> {
    if let Some(decl) = precision_statement(p)? {
        return Ok(decl);
    }
    let head = head(p)?;
    match without_type(p, head)? {
        Some(decl) => Ok(decl),
        None => {
            let ty = type_specifier(p)?;
            variables(p, head, ty)
        }
    }
}

fn head(p: &mut Parser) -> Parsed<Head> {
    let start = p.span();
    Ok(Head { qualifiers: type_qualifiers(p)?, start })
}

/// The head of an item. In front of another declaration, `layout(…) in` is an item that lacks its `;`.
fn item_head(p: &mut Parser) -> Parsed<Head> {
    loop {
        let head = head(p)?;
        let Some(end) = default_before(p, head) else { return Ok(head) };
        p.go_back_to(end);
        p.semicolon("the default layout")?;
    }
}

/// The end of the `layout(…) in` or `layout(…) out` that a head begins with, if another declaration follows.
fn default_before(p: &mut Parser, head: Head) -> Option<u32> {
    let qualifiers = &p.ast[head.qualifiers];
    let is_default =
        |qualifier: &Qualifier| matches!(qualifier.kind, QualifierKind::Storage(Storage::In | Storage::Out));
    let is_layout = |qualifier: &Qualifier| matches!(qualifier.kind, QualifierKind::Layout(_));
    let is_another = |qualifier: &Qualifier| match qualifier.kind {
        QualifierKind::Storage(storage) => !matches!(storage, Storage::Centroid | Storage::Patch | Storage::Sample),
        _ => false,
    };
    let at = qualifiers.iter().position(is_default).filter(|at| qualifiers[..*at].iter().any(is_layout))?;
    let (end, declares) = (qualifiers[at].span.hi, qualifiers[at + 1..].iter().any(is_another));
    (declares || at_function(p)).then_some(end)
}

/// The type at the start of an item, with a message that fits the place.
fn item_type(p: &mut Parser, head: Head) -> Parsed<TypeId> {
    if matches!(p.class(), Some(WordClass::Type)) || p.keyword() == Some(Keyword::Struct) || p.at_identifier() {
        return type_specifier(p);
    }
    let what = if head.qualifiers.is_empty() { "a declaration or a function" } else { "a type or the name of a block" };
    Err(p.expected(what))
}

fn finish(p: &mut Parser, head: Head, kind: DeclKind) -> DeclId {
    let span = p.span_from(head.start);
    p.ast.decls.push(Decl { qualifiers: head.qualifiers, kind, span })
}

/// `precision_statement`
fn precision_statement(p: &mut Parser) -> Parsed<Option<DeclId>> {
    let start = p.span();
    if !p.eat_keyword(Keyword::Precision) {
        return Ok(None);
    }
    let Some(WordClass::Qualifier(QualifierKind::Precision(precision))) = p.class() else {
        return Err(p.expected("`lowp`, `mediump` or `highp`"));
    };
    p.bump();
    let ty = type_specifier(p)?;
    p.semicolon("the precision statement")?;
    Ok(Some(finish(p, Head { qualifiers: List::EMPTY, start }, DeclKind::Precision { precision, ty })))
}

/// The declarations that have qualifiers and no type: `default_qualifiers`, `requalification`, `interface_block`.
fn without_type(p: &mut Parser, head: Head) -> Parsed<Option<DeclId>> {
    if head.qualifiers.is_empty() {
        return Ok(None);
    }
    if p.eat(Punct::Semicolon) {
        return Ok(Some(finish(p, head, DeclKind::Defaults)));
    }
    if !p.at_identifier() {
        return Ok(None);
    }
    match p.peek(1).kind() {
        TokenKind::Punct(Punct::LeftBrace) => interface_block(p, head).map(Some),
        TokenKind::Punct(Punct::Semicolon | Punct::Comma) => requalification(p, head).map(Some),
        _ => Ok(None),
    }
}

/// `requalification`, after its qualifiers.
fn requalification(p: &mut Parser, head: Head) -> Parsed<DeclId> {
    let names = p.comma_list(|p| p.identifier("the name of a variable"))?;
    p.semicolon("the names")?;
    Ok(finish(p, head, DeclKind::Requalify(names)))
}

/// `interface_block`, after its qualifiers.
fn interface_block(p: &mut Parser, head: Head) -> Parsed<DeclId> {
    let name = p.identifier("the name of a block")?;
    let members = member_list(p, "a block")?;
    let instance = if p.at_identifier() { Some(instance_name(p)?) } else { None };
    p.semicolon("the block")?;
    Ok(finish(p, head, DeclKind::Block(Block { name, members, instance })))
}

fn instance_name(p: &mut Parser) -> Parsed<Declarator> {
    let name = p.identifier("the name of the block's instance")?;
    let dimensions = array_specifier(p)?;
    Ok(Declarator { name, dimensions, init: None, span: p.span_from(name.span) })
}

/// `variable_declaration`, after its type.
fn variables(p: &mut Parser, head: Head, ty: TypeId) -> Parsed<DeclId> {
    let bare = p.at(Punct::Semicolon) || ends_struct(p, ty);
    let declarators = if bare { List::EMPTY } else { p.comma_list(declarator)? };
    p.semicolon(if bare { "the struct" } else { "the declaration" })?;
    Ok(finish(p, head, DeclKind::Variables { ty, declarators }))
}

/// True after the `}` of a struct where no declarator follows: its `;` has been forgotten.
fn ends_struct(p: &mut Parser, ty: TypeId) -> bool {
    matches!(p.ast[ty].kind, TypeKind::Struct(_)) && !p.at_identifier()
}

/// `declarator`
fn declarator(p: &mut Parser) -> Parsed<Declarator> {
    let name = p.identifier("the name of a variable")?;
    let dimensions = array_specifier(p)?;
    let init = if p.eat(Punct::Equal) { Some(initializer(p)?) } else { None };
    Ok(Declarator { name, dimensions, init, span: p.span_from(name.span) })
}

/// `condition_declaration`: a declaration of one variable with its value, without the `;`.
pub(super) fn condition_declaration(p: &mut Parser) -> Parsed<DeclId> {
    let head = head(p)?;
    let ty = type_specifier(p)?;
    let declarators = p.list(|p| {
        let declarator = declarator(p)?;
        if declarator.init.is_none() {
            return Err(p.expected("`=` and the value of the condition"));
        }
        p.push(declarator);
        Ok(())
    })?;
    Ok(finish(p, head, DeclKind::Variables { ty, declarators }))
}

/// `function_prototype` and what follows it: `;`, or the body of a `function_definition`.
fn function(p: &mut Parser, head: Head, ty: TypeId, before: List<Attribute>) -> Parsed<Declared> {
    let mut function = function_prototype(p, head, ty, before)?;
    if p.at(Punct::LeftBrace) {
        function.body = Some(function_body(p)?);
        return Ok(Declared::Function(p.ast.functions.push(function)));
    }
    if p.at(Punct::LeftBracket) || !matches!(p.kind(), TokenKind::Punct(Punct::Semicolon)) {
        return Err(p.expected("`{` or `;` after the parameters"));
    }
    p.bump();
    let id = p.ast.functions.push(function);
    Ok(Declared::Decl(finish(p, Head { qualifiers: List::EMPTY, ..head }, DeclKind::Prototype(id))))
}

/// `function_prototype`, after the return type. Attributes are before it or after it.
fn function_prototype(p: &mut Parser, head: Head, ty: TypeId, before: List<Attribute>) -> Parsed<Function> {
    let name = p.identifier("the name of a function")?;
    let open = p.bump().span;
    let params = parameters(p)?;
    p.close(Punct::RightParen, open)?;
    let span = p.span_from(head.start);
    let after = attributes(p)?;
    let attributes = if after.is_empty() { before } else { after };
    Ok(Function { qualifiers: head.qualifiers, return_type: ty, name, params, attributes, body: None, span })
}

/// `parameters`
fn parameters(p: &mut Parser) -> Parsed<List<Param>> {
    if p.at(Punct::RightParen) {
        return Ok(List::EMPTY);
    }
    if p.at_lone_void() {
        p.bump();
        return Ok(List::EMPTY);
    }
    p.comma_list(parameter)
}

/// `parameter`
fn parameter(p: &mut Parser) -> Parsed<Param> {
    let start = p.span();
    let qualifiers = type_qualifiers(p)?;
    let ty = type_specifier(p)?;
    let name = if p.at_identifier() { Some(p.identifier("the name of a parameter")?) } else { None };
    let dimensions = array_specifier(p)?;
    if p.at(Punct::Equal) {
        return Err(default_argument(p));
    }
    Ok(Param { qualifiers, ty, name, dimensions, span: p.span_from(start) })
}

fn default_argument(p: &mut Parser) -> super::cursor::Reported {
    let diagnostic = Diagnostic::error(Code::SYNTAX, "a parameter has no default value in GLSL");
    p.report(diagnostic.at(p.span(), "expected `,` or `)`"))
}

fn function_body(p: &mut Parser) -> Parsed<Body> {
    let open = p.span();
    let stmts = compound_body(p)?;
    Ok(Body { stmts, span: p.span_from(open) })
}
