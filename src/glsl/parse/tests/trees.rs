//! The dump of the tree of valid source.

use super::tree;

/// The dump of statements in a function, without its heading and indentation.
fn body(statements: &str) -> String {
    let text = tree(&format!("void main() {{ {statements} }}"));
    let lines = text.lines().skip(1).map(|line| line.strip_prefix("  ").unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn expressions_bind_as_the_specification_says() {
    let cases = [
        ("a + b * c;", "(+ a (* b c))"),
        ("a - b - c;", "(- (- a b) c)"),
        ("(a + b) * c;", "(* (+ a b) c)"),
        ("a << 1 < b == c & d ^ e | f && g ^^ h || i;", "(|| (^^ (&& (| (^ (& (== (< (<< a 1) b) c) d) e) f) g) h) i)"),
        ("a = b += c;", "(= a (+= b c))"),
        ("a ? b : c ? d : e;", "(?: a b (?: c d e))"),
        ("a ? b = 1 : c;", "(?: a (= b 1) c)"),
        ("-a[1].x++;", "(- (post++ (. ([] a 1) x)))"),
        ("!~+-b;", "(! (~ (+ (- b))))"),
        ("--a, b--;", "(, (-- a) (post-- b))"),
        ("a <<= 1, a >>= 2u, a %= 3;", "(, (, (<<= a 1) (>>= a 2u)) (%= a 3))"),
        ("x = a.length() + b[2].c.length();", "(= x (+ (length a) (length (. ([] b 2) c))))"),
        ("true != false;", "(!= true false)"),
    ];
    for (source, expected) in cases {
        assert_eq!(body(source), expected, "{source}");
    }
}

#[test]
fn calls_and_constructors() {
    let cases = [
        ("f(), g(void), h(1, 2.5);", "(, (, (f) (g)) (h 1 2.5))"),
        ("vec2(1).x;", "(. (new vec2 1) x)"),
        ("a = float[3](1, 2, 3)[i];", "(= a ([] (new float[3] 1 2 3) i))"),
        ("a = float[](1);", "(= a (new float[] 1))"),
        ("a = S[2](s, s);", "(= a (new S[2] s s))"),
        ("a = S[](s);", "(= a (new S[] s))"),
        ("a = S[2][](b, c);", "(= a (new S[2][] b c))"),
        ("a = S[][2](b);", "(= a (new S[][2] b))"),
        ("float[2](1, 2);", "(new float[2] 1 2)"),
        ("barrier();", "(barrier)"),
        ("t[nonuniformEXT(i)];", "([] t (nonuniformEXT i))"),
        ("debugPrintfEXT(\"i = %d\", i);", "(debugPrintfEXT \"i = %d\" i)"),
    ];
    for (source, expected) in cases {
        assert_eq!(body(source), expected, "{source}");
    }
}

#[test]
fn declarations_and_expressions_are_told_apart() {
    let cases = [
        ("S s;", "S s"),
        ("S[2] s;", "S[2] s"),
        ("S[] s = t;", "S[] s = t"),
        ("s[2] = t;", "(= ([] s 2) t)"),
        ("s[f(i)][1].x = t;", "(= (. ([] ([] s (f i)) 1) x) t)"),
        ("float x, y[2] = float[](1, 2), z = 3;", "float x, y[2] = (new float[] 1 2), z = 3"),
        ("const highp int i = 1;", "const highp int i = 1"),
        ("struct P { float a, b[2]; } p;", "struct P { float a, b[2] } p"),
        ("precise float16_t h = float16_t(1);", "precise float16_t h = (float16_t 1)"),
        ("precision mediump int;", "precision mediump int"),
        ("nonprivate = demote + 1;", "(= nonprivate (+ demote 1))"),
        ("mat2 m = { { 1, 2 }, { 3, 4 }, };", "mat2 m = ({} ({} 1 2) ({} 3 4))"),
        ("coopmat<float, s, M, N * 2, u> a[2];", "coopmat<float s M (* N 2) u> a[2]"),
        ("coopmat<float, s, (2>1?8:4), N, u>(0).length();", "(length (new coopmat<float s (?: (> 2 1) 8 4) N u> 0))"),
        ("a = coopmat<half_t, s, M, N, u>[](b);", "(= a (new coopmat<half_t s M N u>[] b))"),
        ("coopvecNV<float, N + 1> a;", "coopvecNV<float (+ N 1)> a"),
        ("a = coopvecNV<float, 2>(b, c);", "(= a (new coopvecNV<float 2> b c))"),
        ("a = coopmat < 3;", "(= a (< coopmat 3))"),
        ("f(coopmat < a, b > (c));", "(f (< coopmat a) (> b c))"),
        ("a = b < coopmat && coopmat > (c);", "(= a (&& (< b coopmat) (> coopmat c)))"),
        (
            "spirv_type(capabilities = [4472], id = 30, 16, uint) q[N];",
            "spirv_type(capabilities =  4472, id = 30, 16, uint) q[N]",
        ),
        ("spirv_decorate = spirv_literal;", "(= spirv_decorate spirv_literal)"),
    ];
    for (source, expected) in cases {
        assert_eq!(body(source), expected, "{source}");
    }
}

#[test]
fn statements() {
    let cases = [
        (";", "empty"),
        ("{ a; { } }", "do:\n  a\n  do:"),
        ("if (a) b; else if (c) { d; } else e;", "if:\n  when a:\n    b\n  when c:\n    do:\n      d\n  else:\n    e"),
        ("if (a) if (b) c; else d;", "if:\n  when a:\n    if:\n      when b:\n        c\n      else:\n        d"),
        (
            "switch (i) { case 1 + 1: a; break; default: b; }",
            "switch i:\n  case (+ 1 1):\n  a\n  break\n  default:\n  b",
        ),
        ("while (bool b = f()) continue;", "while bool b = (f):\n  continue"),
        ("do a; while (b);", "do-while b:\n  a"),
        ("for (int i = 0, n = 4; i < n; i++) a;", "for int i = 0, n = 4; (< i n); (post++ i):\n  a"),
        ("for (;;) { return; }", "for ;;:\n  do:\n    return"),
        ("for (i = 0; bool go = f(i); ) ;", "for (= i 0); bool go = (f i);:\n  empty"),
        ("return a + b;", "return (+ a b)"),
        ("discard; demote; terminateInvocation;", "discard\ndemote\nterminateinvocation"),
        ("[[unroll]] for (;;) a;", "[[unroll]] for ;;:\n  a"),
        ("[[loop, dependency_length(4)]] while (b) a;", "[[loop]] [[dependency_length 4]] while b:\n  a"),
        ("[[branch]] if (a) b;", "[[branch]] if:\n  when a:\n    b"),
    ];
    for (source, expected) in cases {
        assert_eq!(body(source), expected, "{source}");
    }
}

#[test]
fn global_declarations() {
    let cases = [
        (";;", ""),
        (
            "layout(local_size_x = 64, local_size_y_id = 1 + 2) in;",
            "layout(local_size_x=64, local_size_y_id=(+ 1 2)) in default",
        ),
        ("shared float s[N * 2];", "shared float s[(* N 2)]"),
        ("uniform layout(r32f) image2D i;", "uniform layout(r32f) image2D i"),
        ("invariant gl_Position;", "invariant gl_Position"),
        ("invariant precise a, b;", "invariant precise a, b"),
        ("precision highp float;", "precision highp float"),
        (
            "layout(std430, shared) buffer B { uint n; S s[]; } b[2];",
            "layout(std430, shared) buffer block B { uint n; S s[] } b[2]",
        ),
        ("uniform U { layout(offset = 16) row_t m; };", "uniform block U { layout(offset=16) row_t m }"),
        ("layout(buffer_reference) buffer Node;", "layout(buffer_reference) buffer Node"),
        (
            "coherent workgroupcoherent restrict readonly buffer B { int i; };",
            "coherent workgroupcoherent restrict readonly buffer block B { int i }",
        ),
        ("const struct { int i; } s = { 1 };", "const struct { int i } s = ({} 1)"),
        ("centroid noperspective in vec2 v[];", "centroid noperspective in vec2 v[]"),
        ("subroutine(A, B) float f(int i) { return 1; }", "subroutine(A, B) float f(int i):\n  return 1"),
        ("spirv_execution_mode(5027);", "spirv executionmode(5027) default"),
        (
            "spirv_instruction(set = \"S\", id = 1) float f(spirv_by_reference float x, spirv_literal int);",
            "spirv instruction(set = \"S\", id = 1) float f(spirv byreference() float x, spirv literal() int)",
        ),
        ("spirv_decorate_id(2, x) in vec2 gl_A;", "spirv decorateid(2, x) in vec2 gl_A"),
        ("subroutine uniform A a;", "subroutine() uniform A a"),
    ];
    for (source, expected) in cases {
        assert_eq!(tree(source).trim_end(), expected, "{source}");
    }
}

#[test]
fn functions() {
    let cases = [
        ("void f(void);", "void f()"),
        (
            "S[2] f(const in S s[2], inout highp vec4, out T[3] t);",
            "S[2] f(const in S s[2], inout highp vec4, out T[3] t)",
        ),
        ("highp float f(float) { }", "highp float f(float):"),
        ("void main() [[a, b(1)]] { }", "[[a]] [[b 1]] void main():"),
        ("[[a]] void main() { }", "[[a]] void main():"),
    ];
    for (source, expected) in cases {
        assert_eq!(tree(source).trim_end(), expected, "{source}");
    }
}

#[test]
fn items_know_their_first_token() {
    use crate::diagnostic::Diagnostics;
    use crate::glsl::token::Interner;
    let mut interner = Interner::new();
    let stream = super::scan("int a; ; void f() { } layout(binding = 0) uniform U { int b; };", &mut interner);
    let ast = super::parse(&stream, &interner, &super::SourceMap::new(), &mut Diagnostics::new());
    let firsts: Vec<(u32, u32)> = ast.items.iter().map(|item| (item.token, item.span.lo - 1)).collect();
    assert_eq!(firsts, [(0, 0), (4, 9), (10, 22)]);
}
