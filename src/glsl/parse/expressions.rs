//! Expressions, from the comma down to primaries (section 5.1 has the table of precedences).
//!
//! The parser accepts assignments to any expression; the semantic analysis checks for lvalues.

use super::cursor::{Parsed, Parser, Reported};
use super::types::{at_matrix, push_dimensions, type_specifier};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::*;
use crate::glsl::keyword::WordClass;
use crate::glsl::token::{Punct, TokenKind};
use crate::source::Span;

/// `expression`
pub(super) fn expression(p: &mut Parser) -> Parsed<ExprId> {
    let mut left = assignment_expression(p)?;
    while p.eat(Punct::Comma) {
        let right = assignment_expression(p)?;
        left = join(p, left, right, ExprKind::Comma { left, right })?;
    }
    Ok(left)
}

/// Adds an expression from the start of `first` to the end of `last`.
fn join(p: &mut Parser, first: ExprId, last: ExprId, kind: ExprKind) -> Parsed<ExprId> {
    let span = p.expr_span(first).to(p.expr_span(last));
    p.expr(kind, span)
}

/// `assignment_expression`
pub(super) fn assignment_expression(p: &mut Parser) -> Parsed<ExprId> {
    p.nested(|p| {
        let target = conditional_expression(p)?;
        let Some(op) = assignment_operator(p.kind()) else {
            return Ok(target);
        };
        p.bump();
        let value = assignment_expression(p)?;
        join(p, target, value, ExprKind::Assign { op, target, value })
    })
}

/// `constant_expression`: that it is constant is not checked here.
pub(super) fn constant_expression(p: &mut Parser) -> Parsed<ExprId> {
    p.nested(conditional_expression)
}

/// The level of `+` and `-` among binary operators.
const ADDITIVE: u8 = 9;

/// `additive_expression`: the expressions allowed before a closing `>`.
pub(super) fn additive_expression(p: &mut Parser) -> Parsed<ExprId> {
    p.nested(|p| binary_expression(p, ADDITIVE))
}

/// `conditional_expression`
fn conditional_expression(p: &mut Parser) -> Parsed<ExprId> {
    let condition = binary_expression(p, 0)?;
    if !p.eat(Punct::Question) {
        return Ok(condition);
    }
    let then = expression(p)?;
    p.expect(Punct::Colon, "between the two values of `?:`")?;
    let otherwise = assignment_expression(p)?;
    join(p, condition, otherwise, ExprKind::Conditional { condition, then, otherwise })
}

/// `binary_expression`: operators that bind at least as tightly as `level`.
fn binary_expression(p: &mut Parser, level: u8) -> Parsed<ExprId> {
    let mut left = unary_expression(p)?;
    while let Some((op, binds)) = binary_operator(p.kind()).filter(|(_, binds)| *binds >= level) {
        p.bump();
        let right = binary_expression(p, binds + 1)?;
        left = join(p, left, right, ExprKind::Binary { op, left, right })?;
    }
    Ok(left)
}

/// The operator that a token is, with its level: the higher, the tighter.
#[rustfmt::skip]
fn binary_operator(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    let TokenKind::Punct(punct) = kind else { return None };
    Some(match punct {
        Punct::PipePipe     => (BinaryOp::Or, 0),
        Punct::CaretCaret   => (BinaryOp::Xor, 1),
        Punct::AmpAmp       => (BinaryOp::And, 2),
        Punct::Pipe         => (BinaryOp::BitOr, 3),
        Punct::Caret        => (BinaryOp::BitXor, 4),
        Punct::Amp          => (BinaryOp::BitAnd, 5),
        Punct::EqualEqual   => (BinaryOp::Equal, 6),
        Punct::BangEqual    => (BinaryOp::NotEqual, 6),
        Punct::Less         => (BinaryOp::Less, 7),
        Punct::Greater      => (BinaryOp::Greater, 7),
        Punct::LessEqual    => (BinaryOp::LessEqual, 7),
        Punct::GreaterEqual => (BinaryOp::GreaterEqual, 7),
        Punct::ShiftLeft    => (BinaryOp::ShiftLeft, 8),
        Punct::ShiftRight   => (BinaryOp::ShiftRight, 8),
        Punct::Plus         => (BinaryOp::Add, ADDITIVE),
        Punct::Minus        => (BinaryOp::Sub, ADDITIVE),
        Punct::Star         => (BinaryOp::Mul, 10),
        Punct::Slash        => (BinaryOp::Div, 10),
        Punct::Percent      => (BinaryOp::Mod, 10),
        _ => return None,
    })
}

/// `assignment_operator`: the operator inside it, `None` for a plain `=`.
#[rustfmt::skip]
fn assignment_operator(kind: TokenKind) -> Option<Option<BinaryOp>> {
    let TokenKind::Punct(punct) = kind else { return None };
    Some(match punct {
        Punct::Equal           => None,
        Punct::PlusEqual       => Some(BinaryOp::Add),
        Punct::MinusEqual      => Some(BinaryOp::Sub),
        Punct::StarEqual       => Some(BinaryOp::Mul),
        Punct::SlashEqual      => Some(BinaryOp::Div),
        Punct::PercentEqual    => Some(BinaryOp::Mod),
        Punct::ShiftLeftEqual  => Some(BinaryOp::ShiftLeft),
        Punct::ShiftRightEqual => Some(BinaryOp::ShiftRight),
        Punct::AmpEqual        => Some(BinaryOp::BitAnd),
        Punct::PipeEqual       => Some(BinaryOp::BitOr),
        Punct::CaretEqual      => Some(BinaryOp::BitXor),
        _ => return None,
    })
}

/// A prefix operator.
enum Prefix {
    Unary(UnaryOp),
    Step(StepOp),
}

fn prefix_operator(kind: TokenKind) -> Option<Prefix> {
    let TokenKind::Punct(punct) = kind else { return None };
    Some(match punct {
        Punct::Plus => Prefix::Unary(UnaryOp::Plus),
        Punct::Minus => Prefix::Unary(UnaryOp::Minus),
        Punct::Bang => Prefix::Unary(UnaryOp::Not),
        Punct::Tilde => Prefix::Unary(UnaryOp::BitNot),
        Punct::PlusPlus => Prefix::Step(StepOp::PreIncrement),
        Punct::MinusMinus => Prefix::Step(StepOp::PreDecrement),
        _ => return None,
    })
}

/// `unary_expression`
fn unary_expression(p: &mut Parser) -> Parsed<ExprId> {
    let Some(prefix) = prefix_operator(p.kind()) else {
        return postfix_expression(p);
    };
    let start = p.bump().span;
    let operand = p.nested(unary_expression)?;
    let kind = match prefix {
        Prefix::Unary(op) => ExprKind::Unary { op, operand },
        Prefix::Step(op) => ExprKind::Step { op, operand },
    };
    p.expr(kind, start.to(p.expr_span(operand)))
}

/// `postfix_expression`
fn postfix_expression(p: &mut Parser) -> Parsed<ExprId> {
    let mut base = primary_expression(p)?;
    loop {
        let TokenKind::Punct(punct) = p.kind() else { return Ok(base) };
        base = match punct {
            Punct::LeftBracket if p.is_punct(1, Punct::RightBracket) => array_constructor(p, base)?,
            Punct::LeftBracket => index(p, base)?,
            Punct::LeftParen => array_constructor(p, base)?,
            Punct::Dot => selection(p, base)?,
            Punct::PlusPlus => step(p, base, StepOp::PostIncrement)?,
            Punct::MinusMinus => step(p, base, StepOp::PostDecrement)?,
            _ => return Ok(base),
        };
    }
}

fn index(p: &mut Parser, base: ExprId) -> Parsed<ExprId> {
    let open = p.bump().span;
    let index = expression(p)?;
    p.close(Punct::RightBracket, open)?;
    p.expr(ExprKind::Index { base, index }, p.span_from(p.expr_span(base)))
}

fn step(p: &mut Parser, operand: ExprId, op: StepOp) -> Parsed<ExprId> {
    p.bump();
    p.expr(ExprKind::Step { op, operand }, p.span_from(p.expr_span(operand)))
}

/// `selection`: a member, a swizzle, or `.length()`.
fn selection(p: &mut Parser, base: ExprId) -> Parsed<ExprId> {
    p.bump();
    let name = p.identifier("a member, a swizzle or `length()` after `.`")?;
    let kind = if p.at(Punct::LeftParen) {
        length_call(p, name)?;
        ExprKind::Length { base }
    } else {
        ExprKind::Field { base, name }
    };
    p.expr(kind, p.span_from(p.expr_span(base)))
}

/// The parentheses of `.length()`.
fn length_call(p: &mut Parser, name: Name) -> Parsed<()> {
    if p.text(name.symbol) != "length" {
        return Err(no_such_method(p, name));
    }
    let open = p.bump().span;
    if p.at_lone_void() {
        p.bump();
    }
    p.close(Punct::RightParen, open)
}

fn no_such_method(p: &mut Parser, name: Name) -> Reported {
    let message = format!("there is no method `{}`", p.text(name.symbol));
    let diagnostic = Diagnostic::error(Code::SYNTAX, message).at(name.span, "the only method in GLSL is `length()`");
    let is_length = ["size", "count", "len", "Length"].contains(&p.text(name.symbol));
    p.report(match is_length {
        true => diagnostic.suggest(name.span, "length", "did you mean `length`?"),
        false => diagnostic,
    })
}

/// A name with brackets that turns out to be an array type, as in `S[](…)`. `base` has the brackets before the current
/// token, which is a `[` without a size or a `(`.
fn array_constructor(p: &mut Parser, base: ExprId) -> Parsed<ExprId> {
    let Some(name) = root_of_brackets(p, base) else {
        return Err(p.expected("an operator or `;`"));
    };
    let dimensions = p.list(|p| {
        push_index_chain(p, base);
        push_dimensions(p)
    })?;
    if !p.at(Punct::LeftParen) {
        let error = Diagnostic::error(Code::SYNTAX, "an index is missing").at(p.last_span(), "empty brackets");
        return Err(p.report(error));
    }
    let span = p.span_from(name.span);
    let ty = p.ast.types.push(TypeSpec { kind: TypeKind::Named(name), dimensions, span });
    construct(p, ty)
}

/// The name that a chain of index expressions starts from.
fn root_of_brackets(p: &Parser, mut base: ExprId) -> Option<Name> {
    loop {
        let expr = p.ast[base];
        match expr.kind {
            ExprKind::Index { base: inner, .. } => base = inner,
            ExprKind::Name(symbol) => return Some(Name { symbol, span: expr.span }),
            _ => return None,
        }
    }
}

/// Adds the indices of a chain, outermost brackets first, as dimensions to the open list.
fn push_index_chain(p: &mut Parser, base: ExprId) {
    let mut sizes = Vec::new();
    let mut at = base;
    while let ExprKind::Index { base: inner, index } = p.ast[at].kind {
        sizes.push(index);
        at = inner;
    }
    for size in sizes.into_iter().rev() {
        let span = p.expr_span(size);
        p.push(Dimension { size: Some(size), span });
    }
}

/// `constructor`
fn constructor(p: &mut Parser) -> Parsed<ExprId> {
    let ty = type_specifier(p)?;
    if p.at(Punct::LeftParen) {
        return construct(p, ty);
    }
    Err(if p.at(Punct::RightParen) { cast(p, ty) } else { p.expected("`(` and the arguments of the constructor") })
}

/// `(float)x`: a C cast, or a type where a value is needed.
fn cast(p: &mut Parser, ty: TypeId) -> Reported {
    let span = p.ast[ty].span;
    let error = Diagnostic::error(Code::SYNTAX, "a type is not a value").at(span, "a constructor needs its arguments");
    p.report(error.note("GLSL converts with constructors: `float(x)`, not `(float)x`"))
}

fn construct(p: &mut Parser, ty: TypeId) -> Parsed<ExprId> {
    let start = p.ast[ty].span;
    let args = arguments(p)?;
    p.expr(ExprKind::Construct { ty, args }, p.span_from(start))
}

/// `arguments`, with the parentheses.
pub(super) fn arguments(p: &mut Parser) -> Parsed<List<ExprId>> {
    let open = p.span();
    p.expect(Punct::LeftParen, "before the arguments")?;
    if p.at_lone_void() {
        p.bump();
    }
    let args = if p.at(Punct::RightParen) { List::EMPTY } else { p.comma_list(assignment_expression)? };
    p.close(Punct::RightParen, open)?;
    Ok(args)
}

/// `primary_expression`
fn primary_expression(p: &mut Parser) -> Parsed<ExprId> {
    let token = p.current();
    let kind = match token.kind() {
        TokenKind::Literal(literal) => ExprKind::Literal(literal),
        TokenKind::String(text) => ExprKind::String(text),
        TokenKind::Punct(Punct::LeftParen) => return parenthesized(p),
        TokenKind::Word(_) => return word(p),
        _ => return Err(p.expected("an expression")),
    };
    p.bump();
    p.expr(kind, token.span)
}

fn parenthesized(p: &mut Parser) -> Parsed<ExprId> {
    let open = p.bump().span;
    let inner = expression(p)?;
    p.close(Punct::RightParen, open)?;
    p.widen(inner, p.span_from(open));
    Ok(inner)
}

/// An expression that starts with a word: a constant, a constructor, a call or a variable.
fn word(p: &mut Parser) -> Parsed<ExprId> {
    match p.class() {
        Some(WordClass::Bool(value)) => {
            let span = p.bump().span;
            p.expr(ExprKind::Bool(value), span)
        }
        Some(WordClass::Type) => constructor(p),
        _ if at_matrix_constructor(p) => constructor(p),
        _ => {
            let name = p.identifier("an expression")?;
            call_or_name(p, name)
        }
    }
}

/// True at `coopmat<…>(` and `coopmat<…>[`, or a similar type's. A variable called `coopmat` may be compared with
/// anything else.
pub(super) fn at_matrix_constructor(p: &Parser) -> bool {
    let less = p.position() + 1;
    at_matrix(p).is_some_and(|(count, _)| {
        let after = p.after_parameters(less, count);
        let next = p.token(after).kind();
        after != less && matches!(next, TokenKind::Punct(Punct::LeftParen | Punct::LeftBracket))
    })
}

fn call_or_name(p: &mut Parser, callee: Name) -> Parsed<ExprId> {
    if !p.at(Punct::LeftParen) {
        return p.expr(ExprKind::Name(callee.symbol), callee.span);
    }
    let args = arguments(p)?;
    let span: Span = p.span_from(callee.span);
    p.expr(ExprKind::Call { callee, args }, span)
}
