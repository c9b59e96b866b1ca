//! The text form, and behaviour on large or strange inputs.

use super::*;
use crate::limits::Limits;
use std::time::{Duration, Instant};

fn text_of(text: &str, files: &[(&'static str, &'static str)]) -> String {
    let mut sources = SourceMap::new();
    let main = sources.add("main.comp", text).unwrap();
    let options = PreprocessOptions {
        dialects: &TestDialects,
        stage: None,
        macros: &[],
        default_version: None,
        forced_version: None,
        names_profile: None,
        preamble: "",
        limits: Limits::default(),
    };
    let (mut interner, mut diagnostics) = (Interner::new(), Diagnostics::new());
    let loader = Files(files.to_vec());
    preprocess_to_text(main, &mut sources, &loader, &options, &mut interner, &mut diagnostics)
}

#[test]
fn text_keeps_its_lines() {
    let text = "// c\n#version 450\n#define M(x) -x\n#pragma p\n\nint  a = -M(1);  // c\nx=a+ +b;";
    assert_eq!(text_of(text, &[]), "\n#version 450\n\n#pragma p\n\nint a = - -1;\nx=a+ +b;\n");
}

#[test]
fn text_marks_gaps_and_files() {
    let text =
        format!("#version 450\n#extension GL_GOOGLE_include_directive : enable\n#include \"x\"\na{}b", "\n".repeat(20));
    let expected = "#version 450\n#extension GL_GOOGLE_include_directive : enable\n#line 1 \"x\"\nin\n#line 4 \"main.comp\"\na\n#line 24\nb\n";
    assert_eq!(text_of(&text, &[("x", "in")]), expected);
}

#[test]
fn lines_may_have_the_largest_numbers() {
    assert_eq!(text_of("#version 450\n#line 4294967294\na\nb\nc", &[]), "#version 450\n#line 4294967294\na\nb c\n");
    assert_eq!(text_of("#line 4294967294\na", &[]), "#line 4294967294\na\n");
}

#[test]
fn text_is_read_again_as_the_same_tokens() {
    let text = "#version 450\n#extension GL_GOOGLE_include_directive : enable\n#define C(a, b) a b\n#include \"x\"\nC(1, .5) C(1., x) C(x, y) C(+, +) C(/, /) C(1e, +1) C(<, <=) C(a, .x) C(1, .x)";
    let files = [("x", "#define P +\nP+P-=P=\n")];
    let first = run_with(text, &Files(files.to_vec()), &[]);
    let second = run_with(&text_of(text, &files), &NoIncludes, &[]);
    assert_eq!(first.text, second.text);
}

#[test]
fn long_inputs_take_linear_time() {
    let size = 1 << 20;
    let inputs = [
        "a+1 ".repeat(size / 4),
        "a".repeat(size),
        "1".repeat(size),
        "(".repeat(size),
        "@ ".repeat(size / 2),
        "\0x".repeat(size / 2),
        format!("#define {}\n", "a ".repeat(size / 2)),
        format!("#if 0\n{}", "#if x\n".repeat(size / 6)),
        "\\\n".repeat(size / 2),
        "#x\n".repeat(size / 3),
        format!("#if {}\n", "1+".repeat(size / 2)),
        format!("#define F(x) x\nF({}", "F(".repeat(size / 2)),
    ];
    for input in inputs {
        let start = Instant::now();
        let outcome = run(&input);
        assert!(outcome.stream.tokens.last().is_some_and(|token| token.kind() == TokenKind::End));
        // Quadratic work would take minutes.
        assert!(start.elapsed() < Duration::from_secs(10), "{:?} for {}…", start.elapsed(), &input[..20]);
    }
}

/// Building blocks of directives, macros and damaged text.
const PIECES: &[&str] = &[
    "#",
    "##",
    "define ",
    "undef ",
    "if ",
    "ifdef ",
    "elif ",
    "else",
    "endif",
    "line ",
    "include ",
    "extension ",
    "pragma once",
    "version 450",
    "F",
    "(",
    ")",
    ",",
    "F(x) x##x F(x)",
    " ",
    "\n",
    "\\\n",
    "\r\n",
    "/*",
    "*/",
    "//",
    "\"",
    "<x>",
    "1",
    "0x",
    ".5e",
    "+",
    "&&",
    "defined",
    "__LINE__",
    "__FILE__",
    "ä",
    "\0",
    "@",
    ": enable",
    "GL_CROSSLANE_shuffle",
    "\u{feff}",
];

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(choices in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let lines: String = choices.iter().map(|choice| PIECES[*choice]).collect();
        let outcome = run_with(&format!("#version 450\n#define F(x) x\n{lines}"), &Files(vec![("x", "F(\n#endif\n")]), &[]);
        outcome.messages();
        text_of(&lines, &[]);
    }
}
