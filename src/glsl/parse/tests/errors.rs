//! Messages about broken source: one per mistake, at the right place.

use super::{messages, run};

#[test]
fn one_message_a_mistake() {
    let cases: &[(&str, &[&str])] = &[
        ("void main() { int a = 1 int b = 2; }", &["23..23: expected `;` after the declaration, found the type `int`"]),
        ("void main() { a = f(1; b; }", &["21..21: expected `)`, found `;`"]),
        ("void main() { a = ; b; }", &["18..19: expected an expression, found `;`"]),
        ("void main() { a = b + * c; d; }", &["22..23: expected an expression, found `*`"]),
        (
            "void main() { if (a > ) { b = 1 } c; }",
            &["22..23: expected an expression, found `)`", "31..31: expected `;` after the expression, found `}`"],
        ),
        (
            "void main() { for (int i = 0, i < 4; i++) { a; } b; }",
            &["32..33: expected `;` after the declaration, found `<`"],
        ),
        ("void main() { while a) b; c; }", &["20..21: expected `(` after `while`, found `a`"]),
        ("void main() { else a; b; }", &["14..18: `else` without an `if` in front of it"]),
        ("void main() { a[1; }", &["17..17: expected `]`, found `;`"]),
        ("void main() { x.size(); }", &["16..20: there is no method `size`"]),
        ("void main() { int 3; b; }", &["18..19: expected the name of a variable, found a number"]),
        ("void main() { int in; b; }", &["18..20: expected the name of a variable, found the keyword `in`"]),
        (
            "void main() { float input = 1, filter; }",
            &["20..25: `input` is a reserved word", "31..37: `filter` is a reserved word"],
        ),
        ("void main() { do a; b; c; }", &["20..21: expected `while` after the body of `do`, found `b`"]),
        ("void main() { case 1; b; }", &["20..21: expected `:` after the label, found `;`"]),
        ("void main() { vec2 = 1; b; }", &["19..20: expected the name of a variable, found `=`"]),
        ("void main() { a(1)(2); }", &["18..19: expected an operator or `;`, found `(`"]),
    ];
    for (source, expected) in cases {
        assert_eq!(messages(source), *expected, "{source}");
    }
}

#[test]
fn broken_items() {
    let cases: &[(&str, &[&str])] = &[
        ("x = 1; int a;", &["2..3: expected the name of a variable, found `=`"]),
        ("42; int a;", &["0..2: expected a declaration or a function, found a number"]),
        ("} int a;", &["0..1: expected a declaration or a function, found `}`"]),
        ("void f( { } int a;", &["8..9: expected a type, found `{`"]),
        ("void f(int a = 1) { a; }", &["13..14: a parameter has no default value in GLSL"]),
        ("void f() int a;", &["9..12: expected `{` or `;` after the parameters, found the type `int`"]),
        ("struct S { int a float b; }; S s;", &["16..16: expected `;` after the member, found the type `float`"]),
        ("struct S { }; S s;", &["9..12: a struct needs at least one member"]),
        ("struct S { int a; } S s", &["21..21: expected `;` after the declaration, found `s`"]),
        ("layout(local_size_x = ) in; int a;", &["22..23: expected an expression, found `)`"]),
        ("layout local_size_x in;", &["7..19: expected `(` after `layout`, found `local_size_x`"]),
        ("buffer B { int a; } b int c;", &["21..21: expected `;` after the block, found the type `int`"]),
        ("precision float;", &["10..15: expected `lowp`, `mediump` or `highp`, found the type `float`"]),
        ("void a() { x = 1; void b() { y; } int c;", &["9..10: this `{` has no `}`"]),
        ("void a() { if (x) { y; ", &["18..19: this `{` has no `}`"]),
        ("void a() { if (x) } y = 1; } int z;", &["18..19: expected a statement, found `}`"]),
        (
            "layout(a = 1) in buffer B { int a; };",
            &["16..16: expected `;` after the default layout, found the keyword `buffer`"],
        ),
        (
            "layout(a = 1) in void main() { a; }",
            &["16..16: expected `;` after the default layout, found the type `void`"],
        ),
        (
            "layout(a = 1) out layout(b = 2) out vec4 c;",
            &["17..17: expected `;` after the default layout, found the keyword `layout`"],
        ),
        ("layout(a) flat in layout(b = 2) vec4 c; in vec4 d;", &[]),
        ("int a", &["5..5: expected `;` after the declaration, found the end of the file"]),
        ("float a[2 = { 1, 2 }; int b;", &["10..11: expected `]`, found `=`"]),
        ("int a = { 1, 2; int b;", &["14..14: expected `}`, found `;`"]),
    ];
    for (source, expected) in cases {
        assert_eq!(messages(source), *expected, "{source}");
    }
}

#[test]
fn braces_inside_a_broken_statement_are_its_own() {
    let (text, diagnostics) = run("void f() { int a[] = { { 1, + }, { 2 } }; b; } int c[] = { 1, * }; int d;");
    assert_eq!(diagnostics.error_count(), 2);
    assert_eq!(text, "void f():\n  b\nint d\n");
}

#[test]
fn the_rest_is_read_after_an_error() {
    let (text, diagnostics) = run("int a = ; void f() { b = ); c; if (d e) { g; } h; } int i;");
    assert_eq!(diagnostics.error_count(), 3);
    assert_eq!(text, "void f():\n  c\n  empty\n  h\nint i\n");
}

#[test]
fn what_is_forgotten_is_suggested() {
    let (text, diagnostics) = run("void f() { a = g(1; b }");
    let suggestions: Vec<_> = diagnostics.iter().filter_map(|d| d.suggestion.as_ref()).collect();
    assert_eq!(text, "void f():\n  (= a (g 1))\n  b\n");
    assert_eq!(
        suggestions.iter().map(|s| (s.span.lo - 1, s.replacement.as_str())).collect::<Vec<_>>(),
        [(18, ")"), (21, ";")]
    );
}
