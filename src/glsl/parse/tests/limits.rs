//! Inputs that are too deep, too long or plain noise: at most one error per place, quickly, on a small stack.

use super::super::cursor::{MAX_HEIGHT, MAX_NESTING};
use super::{messages, run, tree};
use proptest::prelude::*;

fn main_with(statements: &str) -> String {
    format!("void main() {{ {statements} }} int after;")
}

/// The only message of a shader that is too deep, after which parsing continues.
fn too_deep(source: &str) -> String {
    let (text, diagnostics) = run(source);
    assert_eq!(diagnostics.error_count(), 1, "{source:.60}: {:?}", diagnostics.iter().last());
    assert!(text.ends_with("int after\n"), "the rest is lost");
    diagnostics.iter().next().unwrap().message.clone()
}

/// Each nested struct definition is an error, and parsing stops after the maximum number of errors.
#[test]
fn nested_structs_end_in_as_many_errors_as_are_shown() {
    let n = 10_000;
    let (_, diagnostics) = run(&main_with(&format!("{} int i; {};", "struct { ".repeat(n), "} s; ".repeat(n))));
    let of_members = diagnostics.iter().filter(|d| d.message == "a struct cannot be defined among members").count();
    let too_deep = diagnostics.iter().filter(|d| d.message.contains("nesting is deeper")).count();
    assert_eq!([of_members + 1, too_deep], [diagnostics.error_count(), 1]);
}

#[test]
fn nesting_ends_in_one_error() {
    let n = 10_000;
    let cases = [
        format!("a = {}1{};", "(".repeat(n), ")".repeat(n)),
        format!("a = {}1;", "- ".repeat(n)),
        format!("a = {}b{};", "f(".repeat(n), ")".repeat(n)),
        format!("a = {}b{};", "x[".repeat(n), "]".repeat(n)),
        format!("a = {}b;", "c ? d : ".repeat(n)),
        format!("{}b;", "a = ".repeat(n)),
        format!("{}{}", "{".repeat(n), "}".repeat(n)),
        format!("{};", "if (a) ".repeat(n)),
        format!("{};", "for (;;) ".repeat(n)),
        format!("int a[] = {}1{};", "{".repeat(n), "}".repeat(n)),
        format!("if ({}1{}) b;", "(".repeat(n), ")".repeat(n)),
    ];
    for case in cases {
        let expected = format!("nesting is deeper than {MAX_NESTING} levels");
        assert_eq!(too_deep(&main_with(&case)), expected, "{case:.40}");
    }
}

#[test]
fn every_level_may_use_every_precedence() {
    let level = "b||c^^d&&e|f^g&h==i<j<<k+l*(";
    tree(&main_with(&format!("a = {}1{};", level.repeat(80), ")".repeat(80))));
    // The whole stack is used before the tree turns out to be too high.
    let message = too_deep(&main_with(&format!("a = {}1{};", level.repeat(250), ")".repeat(250))));
    assert_eq!(message, format!("an expression has more than {MAX_HEIGHT} operations in a chain"));
}

#[test]
fn chains_end_in_one_error() {
    let n = 100_000;
    for link in ["[0]", ".x", "++"] {
        let message = too_deep(&main_with(&format!("a{};", link.repeat(n))));
        assert_eq!(message, format!("an expression has more than {MAX_HEIGHT} operations in a chain"));
    }
}

#[test]
fn chains_of_operators_have_no_limit() {
    for link in [" + b", ", b"] {
        tree(&main_with(&format!("a{};", link.repeat(1500))));
    }
}

#[test]
fn long_else_if_chains_are_flat() {
    tree(&main_with(&format!("{}c;", "if (a) b; else ".repeat(20_000))));
}

#[test]
fn unclosed_nesting_is_reported_once() {
    assert_eq!(messages(&format!("void f() {{ a = {}", "(".repeat(200))).len(), 1);
    assert_eq!(messages(&format!("void f() {{ {}", "{".repeat(200))).len(), 1);
}

const WORDS: &[&str] = &[
    "a",
    "S",
    "1",
    "2.5",
    "int",
    "vec3",
    "void",
    "const",
    "layout",
    "in",
    "buffer",
    "struct",
    "precision",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "return",
    "break",
    "demote",
    "nonuniformEXT",
    "highp",
    "true",
    "goto",
    "subroutine",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ".",
    "=",
    "+=",
    "+",
    "-",
    "++",
    "*",
    "<",
    "?",
    ":",
    "!",
];

proptest! {
    #[test]
    fn no_tokens_break_the_parser(picks in proptest::collection::vec(0..WORDS.len(), 0..60)) {
        let source: Vec<&str> = picks.iter().map(|pick| WORDS[*pick]).collect();
        run(&source.join(" "));
    }
}
