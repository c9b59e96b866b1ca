//! The parser: tokens in, an [`Ast`] out. One function per production of `grammar/glsl.ebnf`, with the same name.
//!
//! It resolves no name: what is a type and what a variable follows from the place of a word alone. It follows nesting
//! only to a limit, so that no input overflows the stack, and it continues after an error; the broken part is missing in
//! the tree then.

mod braces;
mod cursor;
mod declarations;
mod expressions;
mod misspelt;
mod statements;
#[cfg(test)]
mod tests;
mod types;

use super::ast::{Ast, Item, ItemKind};
use super::keyword::{Keyword, WordClass};
use super::token::{Interner, Punct, TokenKind, TokenStream};
use crate::diagnostic::Diagnostics;
use crate::source::SourceMap;
use cursor::{Parsed, Parser};
pub(super) use misspelt::keywords;

/// Parses a whole shader. When `diagnostics` has gained errors, the tree lacks what could not be read.
pub fn parse(stream: &TokenStream, interner: &Interner, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Ast {
    let mut parser = Parser::new(stream, interner, sources, diagnostics);
    translation_unit(&mut parser);
    parser.ast
}

/// `translation_unit`. Words that no item can begin with are skipped in silence after a broken item: they are what
/// is left of it.
fn translation_unit(p: &mut Parser) {
    let mut broken = false;
    while !p.at_end() && !p.is_full() {
        if p.eat(Punct::Semicolon) {
            continue;
        }
        let start = p.position();
        let errors = p.error_count();
        if broken && !starts_item(p) {
            skip_item(p, start);
            continue;
        }
        match item(p) {
            Ok(item) => p.ast.items.push(item),
            Err(_) => skip_item(p, start),
        }
        broken = p.error_count() > errors;
    }
}

/// Skips a broken item and the brace that may be left over.
fn skip_item(p: &mut Parser, start: usize) {
    p.skip_statement(start);
    if p.position() == start || p.at(Punct::RightBrace) {
        p.bump();
    }
}

/// True where an item begins in all likelihood: a word for it, or two words in a row.
fn starts_item(p: &mut Parser) -> bool {
    match p.class() {
        Some(WordClass::Type) => !p.is_punct(1, Punct::LeftParen),
        Some(WordClass::Qualifier(_) | WordClass::Keyword(Keyword::Struct | Keyword::Precision)) => true,
        _ => matches!((p.kind(), p.peek(1).kind()), (TokenKind::Word(_), TokenKind::Word(_))),
    }
}

/// `item`
fn item(p: &mut Parser) -> Parsed<Item> {
    let (start, token) = (p.span(), p.position() as u32);
    let attributes = statements::attributes(p)?;
    let kind = match declarations::declaration(p, attributes)? {
        declarations::Declared::Function(function) => ItemKind::Function(function),
        declarations::Declared::Decl(decl) => ItemKind::Decl(decl),
    };
    Ok(Item { kind, span: p.span_from(start), token })
}
