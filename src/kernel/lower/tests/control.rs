//! Control flow, and variables that it changes.

use super::{count, run, with_body};
use crate::kernel::Op;

const INPUT: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

fn scopes(op: &Op) -> bool {
    matches!(op, Op::Scope { .. })
}

#[test]
fn a_return_at_the_end_needs_no_scope() {
    let function = "uint f(uint a) { if (a > 3u) { return a * 2u; } else { return a + 100u; } }";
    let kernel = with_body(function, "y[i] = f(v);");
    assert_eq!(count(&kernel, scopes), 0);
    assert_eq!(run(&kernel, &INPUT), [100, 101, 102, 103, 8, 10, 12, 14]);
}

#[test]
fn an_early_return_leaves_a_scope() {
    let function = "
uint f(uint a) {
    for (uint n = 0u; n < 4u; n++) {
        if (n == a) return n * 10u;
    }
    a += 1u;
    return a;
}";
    let kernel = with_body(function, "y[i] = f(v) + f(v + 1u);");
    assert_eq!(count(&kernel, scopes), 2);
    assert_eq!(run(&kernel, &INPUT), [10, 30, 50, 35, 11, 13, 15, 17]);
}

#[test]
fn an_early_return_of_the_entry_point_ends_the_invocation() {
    let kernel = with_body("", "if ((v & 1u) != 0u) return; y[i] = v + 1u;");
    assert_eq!(count(&kernel, scopes), 0);
    assert_eq!(run(&kernel, &INPUT), [1, 0, 3, 0, 5, 0, 7, 0]);
}

#[test]
fn breaks_at_the_end_of_arms_need_no_scope() {
    let body = "
    uint r = 0u;
    switch (v) {
        default: r = 9u; break;
        case 1: case 2: if (v == 1u) { r = 5u; break; } else { r = 6u; break; }
        case 3: r += 1u;
        case 4: r += 10u; break;
        case 5: break;
    }
    y[i] = r;";
    let kernel = with_body("", body);
    assert_eq!(count(&kernel, scopes), 0);
    assert_eq!(run(&kernel, &INPUT), [9, 5, 6, 11, 10, 0, 9, 9]);
}

#[test]
fn breaks_elsewhere_leave_a_scope() {
    let body = "
    uint r = 0u;
    switch (v & 3u) {
        case 0: r = 1u; if (v > 3u) break; r += 1u;
        default: r += 20u; if (v == 3u) break; r += 100u; break;
        case 2: r = 7u;
    }
    y[i] = r;";
    let kernel = with_body("", body);
    assert_eq!(count(&kernel, scopes), 1);
    assert_eq!(run(&kernel, &INPUT), [122, 120, 7, 20, 1, 120, 7, 120]);
}

#[test]
fn jumps_pass_through_switches() {
    let body = "
    uint r = 0u;
    for (uint n = 0u; n < 8u; n++) {
        switch (n) {
            case 2: continue;
            case 5: if (v > 4u) { r += 1000u; break; }
            case 6: r += 100u; break;
        }
        if (n > v) break;
        r += n;
    }
    y[i] = r;";
    let expected = |v: u32| {
        let mut r = 0;
        for n in (0..8).filter(|n| *n != 2) {
            r += match n {
                5 if v > 4 => 1000,
                5 | 6 => 100,
                _ => 0,
            };
            if n > v {
                break;
            }
            r += n;
        }
        r
    };
    assert_eq!(run(&with_body("", body), &INPUT), INPUT.map(expected));
}

#[test]
fn loops_carry_what_they_write() {
    let body = "
    uint a = 1u, b = 0u, c = 7u;
    do {
        uint t = a + b;
        b = a;
        a = t;
        if (t > 20u) { c = t; break; }
    } while (a < v * 3u);
    y[i] = a * 100u + b + c;";
    let expected = |v: u32| {
        let (mut a, mut b, mut c) = (1, 0, 7);
        loop {
            (a, b) = (a + b, a);
            if a > 20 {
                c = a;
                break;
            }
            if a >= v * 3 {
                break;
            }
        }
        a * 100 + b + c
    };
    assert_eq!(run(&with_body("", body), &INPUT), INPUT.map(expected));
}

#[test]
fn a_loop_that_goes_round_once_ends() {
    let body = "uint r = v; for (;;) { r += 1u; if (v > 3u) { r = 50u; } break; } y[i] = r;";
    assert_eq!(run(&with_body("", body), &INPUT), [1, 2, 3, 4, 50, 50, 50, 50]);
}

#[test]
fn out_arguments_and_private_variables_pass_through_calls() {
    let globals = "
uint calls = 0u;
void step(inout uint a, out uint b) { calls++; b = a; a += 2u; if (b > 4u) return; a += 10u; calls += 5u; }";
    let body = "uint a = v, b; step(a, b); step(b, a); y[i] = a + 100u * b + 10000u * calls;";
    let expected = |v: u32| {
        let mut calls = 0;
        let mut step = |a: u32| {
            calls += if a > 4 { 1 } else { 6 };
            (if a > 4 { a + 2 } else { a + 12 }, a)
        };
        let (_, b) = step(v);
        let (b, a) = step(b);
        a + 100 * b + 10000 * calls
    };
    assert_eq!(run(&with_body(globals, body), &INPUT), INPUT.map(expected));
}
