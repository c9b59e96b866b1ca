//! Shaders that are too large or too deep for a kernel end in a message.

use super::{codes, run, specialized, with_body};
use std::fmt::Write;

fn shader(functions: &str, body: &str) -> String {
    format!(
        "#version 450
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer Input {{ uint x[]; }};
layout(std430, binding = 1) buffer Output {{ uint y[]; }};
{functions}
void main() {{ uint i = gl_GlobalInvocationID.x, v = x[i]; {body} }}"
    )
}

#[test]
fn calls_that_double_are_stopped() {
    let mut functions = "uint f0(uint v) { return v * 3u + 1u; }\n".to_owned();
    for n in 1..40 {
        let before = n - 1;
        writeln!(functions, "uint f{n}(uint v) {{ return f{before}(v) + f{before}(v + 1u); }}").expect("a string");
    }
    assert_eq!(codes(specialized(&shader(&functions, "y[i] = f39(v);"), &[])), ["E0703"]);
}

/// Functions that call each other from within `depth` nested blocks.
fn nested(functions: u32, depth: usize) -> String {
    let mut text = "uint f0(uint v) { return v; }\n".to_owned();
    for n in 1..=functions {
        let before = n - 1;
        let (open, close) = ("if (v < 100u) { v++; ".repeat(depth), "}".repeat(depth));
        writeln!(text, "uint f{n}(uint v) {{ {open} v = f{before}(v); {close} return v; }}").expect("a string");
    }
    text
}

#[test]
fn nesting_counts_across_calls() {
    let text = shader(&nested(20, 40), "y[i] = f20(v);");
    assert_eq!(codes(specialized(&text, &[])), ["E0703"]);
}

#[test]
fn deep_nesting_within_the_limit_is_right() {
    let kernel = specialized(&shader(&nested(4, 30), "y[i] = f4(v);"), &[]).expect("it is within the limits");
    assert_eq!(run(&kernel, &[0, 5, 90, 99, 100, 101, 7, 1]), [100, 100, 100, 100, 100, 101, 100, 100]);
}

#[test]
fn variables_beyond_measure_are_refused() {
    let private = shader("", "uint a[8000000]; a[v] = 1u; y[i] = a[v + 1u];");
    assert_eq!(codes(specialized(&private, &[])), ["E0703"]);
    let shared = shader("shared uint a[8000000];", "a[v] = 1u; y[i] = a[v + 1u];");
    assert_eq!(codes(specialized(&shared, &[])), ["E0703"]);
    let value = shader("struct S { uint a[100000]; };", "S s; s.a[v] = 1u; S t = s; t.a[v] += 1u; y[i] = t.a[v];");
    assert_eq!(codes(specialized(&value, &[])), ["E0703"]);
    let returned = shader("uint[100000] f() { uint a[100000]; a[5] = 1u; return a; }", "y[i] = f()[5];");
    assert_eq!(codes(specialized(&returned, &[])), ["E0703"]);
}

#[test]
fn many_arms_are_no_deep_nesting() {
    let mut body = "uint r = 0u; switch (v) {".to_owned();
    for n in 0..2000 {
        write!(body, "case {n}: r = {}u; break;", n * 7 + 1).expect("a string");
    }
    body += "} y[i] = r;";
    let input = [0, 1999, 2000, 3, 4, 700, 6, 7];
    assert_eq!(run(&with_body("", &body), &input), input.map(|v| if v < 2000 { v * 7 + 1 } else { 0 }));
}
