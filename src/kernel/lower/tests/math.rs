//! Precision of composed functions, compared with Rust's in 64 bits.

use super::{run, with_body};

/// A function and how far off it may be: Vulkan 1.3, "Precision of GLSL.std.450 Instructions".
struct Precision {
    /// An expression of `a` in -1..1 and `b` in 0.1..5.1.
    glsl: &'static str,
    exact: fn(f64, f64) -> f64,
    /// The error limit, relative to the result or, near zero, absolute.
    share: f64,
}

const fn row(glsl: &'static str, exact: fn(f64, f64) -> f64, share: f64) -> Precision {
    Precision { glsl, exact, share }
}

/// One unit in the last place of a 32-bit float, relative to its value.
const ULP: f64 = 1.2e-7;

static ROWS: &[Precision] = &[
    row("radians(b * 50.0)", |_, b| (b * 50.0).to_radians(), 4.0 * ULP),
    row("degrees(a)", |a, _| a.to_degrees(), 4.0 * ULP),
    row("tan(a)", |a, _| a.tan(), 8.0 * ULP),
    row("asin(a)", |a, _| a.asin(), 8.0 * ULP),
    row("acos(a)", |a, _| a.acos(), 8.0 * ULP),
    row("atan(a)", |a, _| a.atan(), 4.0 * ULP),
    row("atan(-b * 3.0)", |_, b| (-b * 3.0).atan(), 4.0 * ULP),
    row("atan(a, b)", |a, b| a.atan2(b), 4.0 * ULP),
    row("atan(a, -b)", |a, b| a.atan2(-b), 4.0 * ULP),
    row("atan(b, a)", |a, b| b.atan2(a), 4.0 * ULP),
    row("sinh(a)", |a, _| a.sinh(), 8.0 * ULP),
    row("cosh(b)", |_, b| b.cosh(), 16.0 * ULP),
    row("tanh(a)", |a, _| a.tanh(), 8.0 * ULP),
    row("tanh(b * 40.0)", |_, b| (b * 40.0).tanh(), 8.0 * ULP),
    row("asinh(-b)", |_, b| (-b).asinh(), 8.0 * ULP),
    row("acosh(b + 1.0)", |_, b| (b + 1.0).acosh(), 8.0 * ULP),
    row("atanh(a * 0.9)", |a, _| (a * 0.9).atanh(), 16.0 * ULP),
    row("pow(b, 1.7)", |_, b| b.powf(1.7), 16.0 * ULP),
    row("exp(b)", |_, b| b.exp(), 16.0 * ULP),
    row("log(b)", |_, b| b.ln(), 8.0 * ULP),
    row("normalize(vec2(a, b)).y", |a, b| b / a.hypot(b), 4.0 * ULP),
    row("length(vec3(a, b, 1.0))", |a, b| (a * a + b * b + 1.0).sqrt(), 4.0 * ULP),
    row("smoothstep(-0.5, 0.75, a)", |a, _| smooth((a + 0.5) / 1.25), 8.0 * ULP),
    row("refract(vec2(a, b), vec2(0.0, 1.0), 0.5).x", |a, b| if b * b > -3.0 { 0.5 * a } else { 0.0 }, 4.0 * ULP),
    row("inverse(mat2(b, a, 1.0, 3.0))[1].y", |a, b| b / (3.0 * b - a), 1e-4),
    row("determinant(mat3(b, a, 1.0, 2.0, b, a, 1.0, 0.5, 4.0))", determinant, 1e-5),
];

fn smooth(place: f64) -> f64 {
    let t = place.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn determinant(a: f64, b: f64) -> f64 {
    b * (b * 4.0 - a * 0.5) - 2.0 * (a * 4.0 - 0.5) + (a * a - b)
}

/// Steps through the ranges; zero is among the values of `a`.
const STEPS: u32 = 64;

#[test]
fn composed_functions_are_as_precise_as_vulkan_asks() {
    for row in ROWS {
        let body = format!(
            "    float a = float(int(v) - 32) / 32.0, b = float(v) / 12.5 + 0.1; y[i] = floatBitsToUint({});",
            row.glsl
        );
        let kernel = with_body("", &body);
        let steps: Vec<u32> = (0..STEPS).collect();
        for eight in steps.chunks(8) {
            for (step, word) in eight.iter().zip(run(&kernel, eight)) {
                check(row, *step, f32::from_bits(word));
            }
        }
    }
}

fn check(row: &Precision, step: u32, got: f32) {
    let a = (step as f32 - 32.0) / 32.0;
    let b = step as f32 / 12.5 + 0.1;
    let exact = (row.exact)(a.into(), b.into());
    let error = (f64::from(got) - exact).abs() / exact.abs().max(1.0);
    assert!(error <= row.share, "{} of a = {a}, b = {b}: {got}, not {exact}", row.glsl);
}

#[test]
fn floats_come_apart_and_together_exactly() {
    let values = [0.0, -0.0, 1.0, -6.5, 1e-40, f32::MAX, 1e-45, f32::MIN_POSITIVE].map(f32::to_bits);
    let together = "float f = uintBitsToFloat(v); int e; float s = frexp(f, e); y[i] = floatBitsToUint(ldexp(s, e));";
    assert_eq!(run(&with_body("", together), &values), values);
    let exponent = "int e; float s = frexp(uintBitsToFloat(v), e); y[i] = uint(e);";
    let exponents: [i32; 8] = [0, 0, 1, 3, -132, 128, -148, -125];
    assert_eq!(run(&with_body("", exponent), &values), exponents.map(i32::cast_unsigned));
    let parts = "float w, f = modf(uintBitsToFloat(v), w); y[i] = floatBitsToUint(f) ^ floatBitsToUint(w);";
    let expected = values.map(|bits| {
        let f = f32::from_bits(bits);
        (f - f.trunc()).copysign(f).to_bits() ^ f.trunc().to_bits()
    });
    assert_eq!(run(&with_body("", parts), &values), expected);
}

#[test]
fn scaling_reaches_every_exponent() {
    let steps = [-278i32, -150, -149, -126, 0, 127, 128, 277].map(i32::cast_unsigned);
    let body = "y[i] = floatBitsToUint(ldexp(1.5, int(v)));";
    let expected = steps.map(|step| (1.5 * 2f64.powi(step.cast_signed())) as f32).map(f32::to_bits);
    assert_eq!(run(&with_body("", body), &steps), expected);
}
