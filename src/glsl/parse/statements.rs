//! Statements and the attributes before them (section 6, and GL_EXT_control_flow_attributes).
//!
//! The semantic analysis checks the places of `case` and `break`, and the attributes that a statement may have.

use super::cursor::{Parsed, Parser};
use super::declarations::{condition_declaration, local_declaration};
use super::expressions::{arguments, expression};
use super::types::{at_matrix, at_spirv_type, at_tensor, has_parameters, qualifier_ahead};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::*;
use crate::glsl::keyword::{Keyword, WordClass};
use crate::glsl::token::{Punct, TokenKind};
use crate::source::Span;

/// `compound_statement`: the statements between braces.
pub(super) fn compound_body(p: &mut Parser) -> Parsed<List<StmtId>> {
    let open = p.span();
    p.expect(Punct::LeftBrace, "")?;
    statement_like_list(p, open, statement)
}

/// The list between the brace at `open`, already taken, and the matching one: statements or members, without broken
/// ones.
pub(super) fn statement_like_list<T: Pooled>(
    p: &mut Parser,
    open: Span,
    one: fn(&mut Parser) -> Parsed<T>,
) -> Parsed<List<T>> {
    p.list(|p| {
        while !p.at(Punct::RightBrace) && !p.at_end() && !p.is_full() && !at_function(p) {
            let start = p.position();
            match one(p) {
                Ok(one) => p.push(one),
                Err(_) => p.skip_statement(start),
            }
        }
        close_brace(p, open);
        Ok(())
    })
}

/// True at `type name (`, which only starts a function.
pub(super) fn at_function(p: &mut Parser) -> bool {
    let typed = matches!(p.class(), Some(WordClass::Type)) || p.at_identifier();
    typed && p.is_identifier(p.position() + 1) && p.is_punct(2, Punct::LeftParen)
}

/// Takes the closing brace, or reports once that it is missing and continues without.
fn close_brace(p: &mut Parser, open: Span) {
    if p.eat(Punct::RightBrace) || p.is_full() || p.is_told_here() {
        return;
    }
    let (diagnostic, of) = (p.unclosed(open), "a function is declared at global scope only");
    p.report(if p.at_end() { diagnostic } else { diagnostic.note(of) });
    p.mark_fault();
}

/// `statement`
pub(super) fn statement(p: &mut Parser) -> Parsed<StmtId> {
    p.nested(|p| {
        let start = p.span();
        let attributes = attributes(p)?;
        let kind = unattributed(p)?;
        let span = p.span_from(start);
        Ok(p.ast.stmts.push(Stmt { kind, attributes, span }))
    })
}

fn unattributed(p: &mut Parser) -> Parsed<StmtKind> {
    if p.at(Punct::LeftBrace) {
        return compound_body(p).map(StmtKind::Compound);
    }
    if p.eat(Punct::Semicolon) {
        return Ok(StmtKind::Empty);
    }
    match statement_keyword(p) {
        Some(keyword) => keyword_statement(p, keyword),
        None => simple_statement(p),
    }
}

/// The keyword of a statement other than a declaration or expression.
fn statement_keyword(p: &mut Parser) -> Option<Keyword> {
    match p.class()? {
        WordClass::Keyword(Keyword::Struct | Keyword::Precision) => None,
        WordClass::Keyword(keyword) => Some(keyword),
        WordClass::SoftKeyword(keyword) if p.is_punct(1, Punct::Semicolon) => Some(keyword),
        _ => None,
    }
}

fn keyword_statement(p: &mut Parser, keyword: Keyword) -> Parsed<StmtKind> {
    match keyword {
        Keyword::If => selection_statement(p),
        Keyword::Switch => switch_statement(p),
        Keyword::Case | Keyword::Default => case_label(p, keyword),
        Keyword::While => while_statement(p),
        Keyword::Do => do_statement(p),
        Keyword::For => for_statement(p),
        Keyword::Return => return_statement(p),
        Keyword::Break => jump(p, StmtKind::Break, "`break`"),
        Keyword::Continue => jump(p, StmtKind::Continue, "`continue`"),
        Keyword::Discard => jump(p, StmtKind::Discard, "`discard`"),
        Keyword::Demote => jump(p, StmtKind::Demote, "`demote`"),
        Keyword::TerminateInvocation => jump(p, StmtKind::TerminateInvocation, "`terminateInvocation`"),
        Keyword::IgnoreIntersection => jump(p, StmtKind::IgnoreIntersection, "`ignoreIntersectionEXT`"),
        Keyword::TerminateRay => jump(p, StmtKind::TerminateRay, "`terminateRayEXT`"),
        Keyword::Else => Err(stray_else(p)),
        Keyword::Struct | Keyword::Precision => simple_statement(p),
    }
}

fn stray_else(p: &mut Parser) -> super::cursor::Reported {
    let diagnostic = Diagnostic::error(Code::SYNTAX, "`else` without an `if` in front of it");
    p.report(diagnostic.at(p.span(), "no `if` takes this"))
}

/// `declaration` or `expression_statement`
fn simple_statement(p: &mut Parser) -> Parsed<StmtKind> {
    if at_declaration(p) {
        return local_declaration(p).map(StmtKind::Decl);
    }
    if !starts_expression(p) {
        return Err(p.expected("a statement"));
    }
    let value = expression(p)?;
    p.semicolon("the expression")?;
    Ok(StmtKind::Expr(value))
}

/// True if a declaration starts here: at a qualifier, `struct` or `precision`, at a type that is not called as a
/// constructor, and at two names in a row, possibly with brackets in between.
fn at_declaration(p: &mut Parser) -> bool {
    if qualifier_ahead(p).is_some() {
        return true;
    }
    match p.class() {
        Some(WordClass::Keyword(Keyword::Struct | Keyword::Precision)) => true,
        Some(WordClass::Type) => {
            let after = p.after_brackets(p.position() + 1);
            p.token(after).kind() != TokenKind::Punct(Punct::LeftParen)
        }
        _ if at_spirv_type(p) => true,
        _ if at_matrix(p).is_some() => {
            let less = p.position() + 1;
            let after = p.after_brackets(p.after_parameters(less, at_matrix(p).map_or(1, |(count, _)| count)));
            after == less || p.token(after).kind() != TokenKind::Punct(Punct::LeftParen)
        }
        _ if at_tensor(p) || has_parameters(p) => true,
        _ if p.at_identifier() => {
            let after = p.after_brackets(p.position() + 1);
            p.is_identifier(after)
        }
        _ => false,
    }
}

/// Tells a stray closing token from an expression with something wrong inside it.
fn starts_expression(p: &mut Parser) -> bool {
    use Punct::{Bang, LeftParen, Minus, MinusMinus, Plus, PlusPlus, Tilde};
    match p.kind() {
        TokenKind::Punct(punct) => matches!(punct, LeftParen | Plus | Minus | PlusPlus | MinusMinus | Bang | Tilde),
        kind => kind != TokenKind::End,
    }
}

/// A statement that consists of one keyword.
fn jump(p: &mut Parser, kind: StmtKind, what: &str) -> Parsed<StmtKind> {
    p.bump();
    if p.at(Punct::LeftParen) && p.is_punct(1, Punct::RightParen) {
        let pair = p.bump().span.to(p.bump().span);
        let error = Diagnostic::error(Code::SYNTAX, format!("{what} is not a function")).at(pair, "no parentheses");
        p.report(error.suggest(pair, "", "remove them"));
    }
    p.semicolon(what)?;
    Ok(kind)
}

fn return_statement(p: &mut Parser) -> Parsed<StmtKind> {
    p.bump();
    let bare = p.at(Punct::Semicolon) || p.at(Punct::RightBrace);
    let value = if bare { None } else { Some(expression(p)?) };
    p.semicolon("`return`")?;
    Ok(StmtKind::Return(value))
}

/// `case_label`
fn case_label(p: &mut Parser, keyword: Keyword) -> Parsed<StmtKind> {
    p.bump();
    let kind = if keyword == Keyword::Case { StmtKind::Case(expression(p)?) } else { StmtKind::Default };
    p.expect(Punct::Colon, "after the label")?;
    Ok(kind)
}

/// Parses the contents of the parentheses after the keyword `of`. If they are broken, skips them and returns `None`, so
/// that the body can still be parsed.
fn header<T>(p: &mut Parser, of: &str, inner: fn(&mut Parser) -> Parsed<T>) -> Parsed<Option<T>> {
    let (open, start) = (p.span(), p.position());
    p.expect(Punct::LeftParen, format_args!("after `{of}`"))?;
    match inner(p).and_then(|read| p.close(Punct::RightParen, open).map(|()| read)) {
        Ok(read) => Ok(Some(read)),
        Err(reported) if p.is_overflowed() => Err(reported),
        Err(_) => {
            p.skip_parentheses(start);
            Ok(None)
        }
    }
}

/// The statement after the header of `of`. A `;` in front of a block is hardly meant to be it.
fn body(p: &mut Parser, of: &str) -> Parsed<StmtId> {
    if p.at(Punct::Semicolon) && p.is_punct(1, Punct::LeftBrace) {
        let (semicolon, block) = (p.span(), p.peek(1).span);
        let warning = Diagnostic::warning(Code::EMPTY_BODY, format!("the body of this `{of}` is empty"));
        let warning = warning.at(semicolon, "this `;` is the whole body");
        let warning = warning.with(block, format!("this block does not belong to the `{of}`"));
        p.report(warning.suggest(semicolon, "", "remove the `;`"));
    }
    statement(p)
}

/// `selection_statement`: the whole chain of `else if`s at once.
fn selection_statement(p: &mut Parser) -> Parsed<StmtKind> {
    let mut otherwise = None;
    let arms = p.list(|p| {
        otherwise = push_arms(p)?;
        Ok(())
    })?;
    // Only a chain with no valid condition has no arm.
    Ok(if arms.is_empty() { StmtKind::Empty } else { StmtKind::If { arms, otherwise } })
}

/// Adds the arms to the open list and returns the last `else`.
fn push_arms(p: &mut Parser) -> Parsed<Option<StmtId>> {
    while p.eat_keyword(Keyword::If) {
        let condition = header(p, "if", expression)?;
        let body = body(p, "if")?;
        if let Some(condition) = condition {
            p.push(IfArm { condition, body });
        }
        if !p.eat_keyword(Keyword::Else) {
            return Ok(None);
        }
    }
    statement(p).map(Some)
}

/// `switch_statement`
fn switch_statement(p: &mut Parser) -> Parsed<StmtKind> {
    p.bump();
    let selector = header(p, "switch", expression)?;
    let body = compound_body(p)?;
    Ok(selector.map_or(StmtKind::Empty, |selector| StmtKind::Switch { selector, body }))
}

/// `while_statement`
fn while_statement(p: &mut Parser) -> Parsed<StmtKind> {
    p.bump();
    let condition = header(p, "while", condition)?;
    let body = body(p, "while")?;
    Ok(condition.map_or(StmtKind::Empty, |condition| StmtKind::While { condition, body }))
}

/// `condition`
fn condition(p: &mut Parser) -> Parsed<Condition> {
    if at_declaration(p) { condition_declaration(p).map(Condition::Decl) } else { expression(p).map(Condition::Expr) }
}

/// `do_statement`
fn do_statement(p: &mut Parser) -> Parsed<StmtKind> {
    p.bump();
    let body = statement(p)?;
    if !p.eat_keyword(Keyword::While) {
        return Err(p.expected("`while` after the body of `do`"));
    }
    let condition = header(p, "while", expression)?;
    p.semicolon("the condition of `do`")?;
    Ok(condition.map_or(StmtKind::Empty, |condition| StmtKind::DoWhile { body, condition }))
}

/// The parts between the parentheses of `for`.
struct ForHeader {
    init: Option<StmtId>,
    condition: Option<Condition>,
    step: Option<ExprId>,
}

/// `for_statement`
fn for_statement(p: &mut Parser) -> Parsed<StmtKind> {
    p.bump();
    let header = header(p, "for", for_header)?;
    let body = body(p, "for")?;
    Ok(header.map_or(StmtKind::Empty, |ForHeader { init, condition, step }| StmtKind::For {
        init,
        condition,
        step,
        body,
    }))
}

/// `for_header`
fn for_header(p: &mut Parser) -> Parsed<ForHeader> {
    let init = for_init(p)?;
    let condition = if p.at(Punct::Semicolon) { None } else { Some(condition(p)?) };
    p.expect(Punct::Semicolon, "after the condition of `for`")?;
    let step = if p.at(Punct::RightParen) { None } else { Some(expression(p)?) };
    Ok(ForHeader { init, condition, step })
}

/// The first part of a `for`, with its `;`.
fn for_init(p: &mut Parser) -> Parsed<Option<StmtId>> {
    if p.eat(Punct::Semicolon) {
        return Ok(None);
    }
    let start = p.span();
    let kind = simple_statement(p)?;
    let span = p.span_from(start);
    Ok(Some(p.ast.stmts.push(Stmt { kind, attributes: List::EMPTY, span })))
}

/// `attributes`: zero or more groups, `[[a, b(1)]] [[c]]`.
pub(super) fn attributes(p: &mut Parser) -> Parsed<List<Attribute>> {
    if !p.at(Punct::LeftBracket) {
        return Ok(List::EMPTY);
    }
    p.list(|p| {
        while p.at(Punct::LeftBracket) {
            attribute_group(p)?;
        }
        Ok(())
    })
}

fn attribute_group(p: &mut Parser) -> Parsed<()> {
    let outer = p.bump().span;
    let inner = p.span();
    p.expect(Punct::LeftBracket, "after `[`: attributes are written between `[[` and `]]`")?;
    loop {
        let attribute = attribute(p)?;
        p.push(attribute);
        if !p.eat(Punct::Comma) {
            break;
        }
    }
    p.close(Punct::RightBracket, inner)?;
    p.close(Punct::RightBracket, outer)
}

/// `attribute`
fn attribute(p: &mut Parser) -> Parsed<Attribute> {
    let name = p.identifier("the name of an attribute")?;
    let args = if p.at(Punct::LeftParen) { arguments(p)? } else { List::EMPTY };
    Ok(Attribute { name, args, span: p.span_from(name.span) })
}
