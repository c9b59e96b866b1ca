//! The parser: tokens in, an [`Ast`] out. One function per production of `grammar/glsl.ebnf`, with the same name.
//!
//! It does not resolve names: only the position of a word decides between type and variable. It limits nesting, so that
//! no input overflows the stack. It continues after an error, with the broken part missing from the tree.

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

/// Parses a whole shader. If `diagnostics` has gained errors, the tree lacks the parts that could not be parsed.
pub fn parse(stream: &TokenStream, interner: &Interner, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Ast {
    let mut parser = Parser::new(stream, interner, sources, diagnostics);
    translation_unit(&mut parser);
    parser.ast
}

/// `translation_unit`. After a broken item, words that cannot start an item are its remains and are skipped silently.
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

/// Skips a broken item and a leftover closing brace.
fn skip_item(p: &mut Parser, start: usize) {
    p.skip_statement(start);
    if p.position() == start || p.at(Punct::RightBrace) {
        p.bump();
    }
}

/// True if an item probably starts here: a word for it, or two words in a row.
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
