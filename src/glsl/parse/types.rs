//! Types and qualifiers: type specifiers, struct definitions, array brackets, `layout` and the other qualifiers.
//!
//! The semantic analysis checks the combinations of qualifiers; their order is free (section 4.7.1).

use super::cursor::{Parsed, Parser, Reported};
use super::expressions::{additive_expression, assignment_expression, constant_expression};
use super::statements::statement_like_list;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::*;
use crate::glsl::keyword::{Keyword, WordClass};
use crate::glsl::token::{Punct, TokenKind};
use crate::source::Span;

/// `type_qualifiers`: zero or more.
pub(super) fn type_qualifiers(p: &mut Parser) -> Parsed<List<Qualifier>> {
    if qualifier_ahead(p).is_none() {
        return Ok(List::EMPTY);
    }
    p.list(|p| {
        while let Some(kind) = qualifier_ahead(p) {
            let qualifier = type_qualifier(p, kind)?;
            p.push(qualifier);
        }
        Ok(())
    })
}

/// The qualifier that starts with the current word.
pub(super) fn qualifier_ahead(p: &mut Parser) -> Option<QualifierKind> {
    match p.class()? {
        WordClass::Qualifier(kind) => Some(kind),
        WordClass::CallQualifier(kind) => p.is_punct(1, Punct::LeftParen).then_some(kind),
        WordClass::SoftQualifier(kind) => matches!(p.peek(1).kind(), TokenKind::Word(_)).then_some(kind),
        _ => None,
    }
}

/// `type_qualifier`
fn type_qualifier(p: &mut Parser, kind: QualifierKind) -> Parsed<Qualifier> {
    let start = p.bump().span;
    let kind = match kind {
        QualifierKind::Layout(_) => QualifierKind::Layout(layout_qualifier(p)?),
        QualifierKind::Subroutine(_) => QualifierKind::Subroutine(subroutine_types(p)?),
        QualifierKind::Spirv(word, _) if word.has_args() => QualifierKind::Spirv(word, spirv_args(p)?),
        simple => simple,
    };
    Ok(Qualifier { kind, span: p.span_from(start) })
}

/// `layout_qualifier`, from its parenthesis on.
fn layout_qualifier(p: &mut Parser) -> Parsed<List<LayoutId>> {
    let open = p.span();
    p.expect(Punct::LeftParen, "after `layout`")?;
    let ids = p.comma_list(layout_qualifier_id)?;
    p.close(Punct::RightParen, open)?;
    Ok(ids)
}

/// `layout_qualifier_id`
fn layout_qualifier_id(p: &mut Parser) -> Parsed<LayoutId> {
    let name = match (p.class(), p.kind()) {
        (Some(WordClass::Qualifier(QualifierKind::Storage(Storage::Shared))), TokenKind::Word(symbol)) => {
            Name { symbol, span: p.bump().span }
        }
        _ => p.identifier("the name of a layout qualifier")?,
    };
    let value = if p.eat(Punct::Equal) { Some(constant_expression(p)?) } else { None };
    Ok(LayoutId { name, value, span: p.span_from(name.span) })
}

/// The list of subroutine types between parentheses after `subroutine`.
fn subroutine_types(p: &mut Parser) -> Parsed<List<Name>> {
    let open = p.span();
    if !p.eat(Punct::LeftParen) {
        return Ok(List::EMPTY);
    }
    let names = p.comma_list(|p| p.identifier("the name of a subroutine type"))?;
    p.close(Punct::RightParen, open)?;
    Ok(names)
}

/// `type_specifier`
pub(super) fn type_specifier(p: &mut Parser) -> Parsed<TypeId> {
    let start = p.span();
    let kind = match p.class() {
        Some(WordClass::Type) => TypeKind::Named(type_name(p)?),
        Some(WordClass::Keyword(Keyword::Struct)) => TypeKind::Struct(p.nested(struct_specifier)?),
        _ if at_spirv_type(p) => {
            p.bump();
            TypeKind::Spirv(p.nested(spirv_args)?)
        }
        _ if at_matrix(p).is_some() => TypeKind::Matrix(p.nested(matrix_specifier)?),
        _ if at_tensor(p) => TypeKind::Tensor(tensor_specifier(p)?),
        _ => TypeKind::Named(type_name(p)?),
    };
    let dimensions = array_specifier(p)?;
    Ok(p.ast.types.push(TypeSpec { kind, dimensions, span: p.span_from(start) }))
}

/// `type_name`
pub(super) fn type_name(p: &mut Parser) -> Parsed<Name> {
    match (p.class(), p.kind()) {
        _ if has_parameters(p) => Err(type_with_parameters(p)),
        (Some(WordClass::Type), TokenKind::Word(symbol)) => Ok(Name { symbol, span: p.bump().span }),
        _ => p.identifier("a type"),
    }
}

/// True at `spirv_type(` (GL_EXT_spirv_intrinsics).
pub(super) fn at_spirv_type(p: &Parser) -> bool {
    let TokenKind::Word(symbol) = p.kind() else { return false };
    p.is_punct(1, Punct::LeftParen) && p.text(symbol) == "spirv_type"
}

/// `spirv_args`, with the parentheses.
fn spirv_args(p: &mut Parser) -> Parsed<List<SpirvArg>> {
    let open = p.span();
    p.expect(Punct::LeftParen, "before the numbers of SPIR-V")?;
    let args = p.comma_list(spirv_arg)?;
    p.close(Punct::RightParen, open)?;
    Ok(args)
}

/// `spirv_arg`
fn spirv_arg(p: &mut Parser) -> Parsed<SpirvArg> {
    let start = p.span();
    let has_key = p.at_identifier() && p.is_punct(1, Punct::Equal);
    let key = if has_key { Some(p.identifier("a key")?) } else { None };
    if has_key {
        p.bump();
    }
    let value = spirv_value(p)?;
    Ok(SpirvArg { key, value, span: p.span_from(start) })
}

/// `spirv_value`: a list, a type by its keyword, or an expression, which includes a struct's name.
fn spirv_value(p: &mut Parser) -> Parsed<SpirvValue> {
    let open = p.span();
    if p.eat(Punct::LeftBracket) {
        let list = p.comma_list(constant_expression)?;
        p.close(Punct::RightBracket, open)?;
        return Ok(SpirvValue::List(list));
    }
    let typed = matches!(p.class(), Some(WordClass::Type)) && !p.is_punct(1, Punct::LeftParen);
    if typed || at_spirv_type(p) {
        return type_specifier(p).map(SpirvValue::Type);
    }
    constant_expression(p).map(SpirvValue::Expr)
}

/// Matrix types, with the number of parameters; true if the first is the element type.
const MATRICES: [(&str, usize, bool); 5] = [
    ("coopmat", 5, true),
    ("coopvecNV", 2, true),
    ("fcoopmatNV", 4, false),
    ("icoopmatNV", 4, false),
    ("ucoopmatNV", 4, false),
];

/// At a cooperative matrix type and its `<`: the number of parameters, and true if the first is a type.
pub(super) fn at_matrix(p: &Parser) -> Option<(usize, bool)> {
    let TokenKind::Word(symbol) = p.kind() else { return None };
    if !p.is_punct(1, Punct::Less) {
        return None;
    }
    let known = MATRICES.iter().find(|(name, ..)| *name == p.text(symbol));
    known.map(|(_, count, has_element)| (*count, *has_element))
}

/// `matrix_specifier`
fn matrix_specifier(p: &mut Parser) -> Parsed<MatrixSpec> {
    let has_element = at_matrix(p).is_some_and(|(_, has_element)| has_element);
    let name = p.identifier("a type")?;
    let open = p.bump().span;
    let element = if has_element { Some(type_specifier(p)?) } else { None };
    if has_element {
        p.expect(Punct::Comma, "after the type of the elements")?;
    }
    let parameters = p.comma_list(additive_expression)?;
    p.close(Punct::Greater, open)?;
    Ok(MatrixSpec { name, element, parameters })
}

/// True at `tensorLayoutNV<` and `tensorViewNV<` (GL_NV_cooperative_matrix2).
pub(super) fn at_tensor(p: &Parser) -> bool {
    let TokenKind::Word(symbol) = p.kind() else { return false };
    p.is_punct(1, Punct::Less) && matches!(p.text(symbol), "tensorLayoutNV" | "tensorViewNV")
}

/// `tensor_specifier`
fn tensor_specifier(p: &mut Parser) -> Parsed<TensorSpec> {
    let name = p.identifier("a type")?;
    let open = p.bump().span;
    let parameters = p.comma_list(additive_expression)?;
    p.close(Punct::Greater, open)?;
    Ok(TensorSpec { name, parameters })
}

/// True at `tensorARM<` (GL_ARM_tensors), which is not supported, and at parameters after any type name where a type is
/// expected.
pub(super) fn has_parameters(p: &mut Parser) -> bool {
    let TokenKind::Word(symbol) = p.kind() else { return false };
    p.is_punct(1, Punct::Less) && (matches!(p.class(), Some(WordClass::Type)) || p.text(symbol) == "tensorARM")
}

fn type_with_parameters(p: &mut Parser) -> Reported {
    let error =
        Diagnostic::error(Code::NOT_SUPPORTED, "types with parameters between `<` and `>` are not supported yet");
    p.report(error.at(p.span(), "only those of cooperative matrices and vectors and of NVIDIA's tensors are"))
}

/// `array_specifier`: zero or more pairs of brackets.
pub(super) fn array_specifier(p: &mut Parser) -> Parsed<List<Dimension>> {
    if !p.at(Punct::LeftBracket) {
        return Ok(List::EMPTY);
    }
    p.list(push_dimensions)
}

/// Adds the pairs of brackets that follow to the open list.
pub(super) fn push_dimensions(p: &mut Parser) -> Parsed<()> {
    while p.at(Punct::LeftBracket) {
        let dimension = dimension(p)?;
        p.push(dimension);
    }
    Ok(())
}

fn dimension(p: &mut Parser) -> Parsed<Dimension> {
    let open = p.bump().span;
    let size = if p.at(Punct::RightBracket) { None } else { Some(constant_expression(p)?) };
    p.close(Punct::RightBracket, open)?;
    Ok(Dimension { size, span: p.span_from(open) })
}

/// `struct_specifier`
fn struct_specifier(p: &mut Parser) -> Parsed<StructId> {
    let start = p.bump().span;
    let name = if p.at_identifier() { Some(p.identifier("the name of the struct")?) } else { None };
    let members = member_list(p, "a struct")?;
    Ok(p.ast.structs.push(StructSpec { name, members, span: p.span_from(start) }))
}

/// `member_list`: the members of a struct or interface block, with the braces.
pub(super) fn member_list(p: &mut Parser, of: &str) -> Parsed<List<Member>> {
    let open = p.span();
    p.expect(Punct::LeftBrace, format_args!("before the members of {of}"))?;
    if p.at(Punct::RightBrace) {
        empty_members(p, of, open);
    }
    statement_like_list(p, open, member)
}

fn empty_members(p: &mut Parser, of: &str, open: Span) {
    let message = format!("{of} needs at least one member");
    let span = open.to(p.span());
    p.report(Diagnostic::error(Code::SYNTAX, message).at(span, "no members"));
}

/// `member`
fn member(p: &mut Parser) -> Parsed<Member> {
    let start = p.span();
    let qualifiers = type_qualifiers(p)?;
    let ty = type_specifier(p)?;
    refuse_nested(p, ty);
    let declarators = p.comma_list(member_declarator)?;
    p.semicolon("the member")?;
    Ok(Member { qualifiers, ty, declarators, span: p.span_from(start) })
}

/// A struct is not defined among the members of another or of a block (GLSL 4.60 sections 4.1.8 and 4.3.9).
fn refuse_nested(p: &mut Parser, ty: TypeId) {
    let TypeSpec { kind: TypeKind::Struct(_), span, .. } = p.ast[ty] else { return };
    let message = "a struct cannot be defined among members";
    p.report(Diagnostic::error(Code::BAD_DECLARATION, message).at(span, "define it before, and name it here"));
}

/// `member_declarator`
fn member_declarator(p: &mut Parser) -> Parsed<Declarator> {
    let name = p.identifier("the name of a member")?;
    let dimensions = array_specifier(p)?;
    if p.at(Punct::Equal) {
        let error = Diagnostic::error(Code::SYNTAX, "a member has no initial value");
        return Err(p.report(error.at(p.span(), "expected `;` after the member")));
    }
    Ok(Declarator { name, dimensions, init: None, span: p.span_from(name.span) })
}

/// `initializer`
pub(super) fn initializer(p: &mut Parser) -> Parsed<ExprId> {
    if p.at(Punct::LeftBrace) { p.nested(aggregate) } else { assignment_expression(p) }
}

/// `aggregate`: initialisers between braces; a comma may follow the last.
fn aggregate(p: &mut Parser) -> Parsed<ExprId> {
    let open = p.bump().span;
    let items = p.list(|p| {
        while !p.at(Punct::RightBrace) {
            let item = initializer(p)?;
            p.push(item);
            if !p.eat(Punct::Comma) {
                break;
            }
        }
        Ok(())
    })?;
    p.close(Punct::RightBrace, open)?;
    p.expr(ExprKind::Aggregate(items), p.span_from(open))
}
