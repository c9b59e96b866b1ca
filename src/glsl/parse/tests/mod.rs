//! Tests of the parser: the tree, and the messages about malformed input.

mod dump;
mod errors;
mod limits;
mod trees;

use super::parse;
use crate::diagnostic::Diagnostics;
use crate::glsl::ast::Ast;
use crate::glsl::token::*;
use crate::source::{SourceMap, Span};
use dump::dump;

/// A scanner for tests: no comments and no directives; `#` ends the text.
fn scan(source: &str, interner: &mut Interner) -> TokenStream {
    let mut tokens = Vec::new();
    let mut literals = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let rest = &source[at..];
        let first = rest.as_bytes()[0];
        let length = match first {
            _ if first.is_ascii_whitespace() => 1,
            b'"' => rest[1..].find('"').unwrap() + 2,
            b'0'..=b'9' => count(rest, |c| c.is_alphanumeric() || c == '.'),
            _ if first.is_ascii_alphabetic() || first == b'_' => count(rest, |c| c.is_alphanumeric() || c == '_'),
            _ => punct(rest).text().len(),
        };
        let text = &rest[..length];
        let kind = match first {
            _ if first.is_ascii_whitespace() => None,
            b'"' => Some(TokenKind::String(interner.intern(&text[1..length - 1]))),
            b'0'..=b'9' => {
                literals.push(number(text));
                Some(TokenKind::Literal(LiteralId(literals.len() as u32 - 1)))
            }
            _ if first.is_ascii_alphabetic() || first == b'_' => Some(TokenKind::Word(interner.intern(text))),
            _ => Some(TokenKind::Punct(punct(rest))),
        };
        let span = Span::new(at as u32 + 1, (at + length) as u32 + 1);
        tokens.extend(kind.map(|kind| Token::new(kind, span)));
        at += length;
    }
    let end = Span::new(source.len() as u32 + 1, source.len() as u32 + 1);
    tokens.push(Token::new(TokenKind::End, end));
    let version = Version { number: 450, profile: GlslProfile::Core, span: Span::NONE };
    TokenStream { tokens, literals, version, extensions: Vec::new(), pragmas: Vec::new() }
}

fn count(text: &str, keep: fn(char) -> bool) -> usize {
    text.find(|c| !keep(c)).unwrap_or(text.len())
}

fn punct(text: &str) -> Punct {
    *Punct::ALL.iter().find(|punct| text.starts_with(punct.text())).unwrap()
}

fn number(text: &str) -> Literal {
    if text.contains('.') {
        return Literal::Float { value: text.parse().unwrap(), width: 32 };
    }
    let signed = !text.ends_with('u');
    Literal::Int { value: text.trim_end_matches('u').parse().unwrap(), width: 32, signed }
}

/// Parses, and gives the dump of the tree and the messages.
fn run(source: &str) -> (String, Diagnostics) {
    let mut interner = Interner::new();
    let stream = scan(source, &mut interner);
    let mut diagnostics = Diagnostics::new();
    let ast: Ast = parse(&stream, &interner, &SourceMap::new(), &mut diagnostics);
    (dump(&ast, &stream.literals, &interner), diagnostics)
}

/// The dump of a shader without errors.
fn tree(source: &str) -> String {
    let (text, diagnostics) = run(source);
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(messages.is_empty(), "{source}: {messages:?}");
    text
}

/// The messages of a shader, each as `start..end: message` with the characters of its primary label.
fn messages(source: &str) -> Vec<String> {
    let (_, diagnostics) = run(source);
    let one = |d: &crate::diagnostic::Diagnostic| format!("{}..{}: {}", d.span().lo - 1, d.span().hi - 1, d.message);
    diagnostics.iter().map(one).collect()
}
