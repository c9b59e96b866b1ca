//! A product of cooperative matrices on the machine's own driver (`CROSSLANE_DRIVER_LANES`), compared with plain Rust.
//! lavapipe does not support such matrices, and the test fails on any driver that does not. All numbers are small
//! integers, so that sums are exact in any order.

use crosslane::ir::fold::f64_to_f16;

use support::lavapipe::{self, Request};
use support::rival;

/// Rows, columns and depth of one step: a size that NVIDIA's and AMD's matrix units support.
const SIZE: usize = 16;

/// Steps along the depth of the whole product.
const STEPS: usize = 2;
const DEPTH: usize = SIZE * STEPS;

/// The left factor is stored in rows, the right one in columns, and the sums in rows with a gap after each.
const SOURCE: &str = "#version 460
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x_id = 0) in;
layout(std430, binding = 0) readonly buffer Left { float16_t left[]; };
layout(std430, binding = 1) readonly buffer Right { f16vec2 right[]; };
layout(std430, binding = 2) buffer Sums { float sums[]; };
shared float16_t tile[256];

void main() {
    coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> sum;
    coopMatLoad(sum, sums, 4, 20, gl_CooperativeMatrixLayoutRowMajor);
    for (uint k = 0; k < 32; k += 16) {
        for (uint i = gl_LocalInvocationIndex; i < 256; i += gl_WorkGroupSize.x) {
            tile[i] = left[i / 16 * 32 + k + i % 16];
        }
        barrier();
        coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA> a;
        coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB> b;
        coopMatLoad(a, tile, 0, 16, gl_CooperativeMatrixLayoutRowMajor);
        coopMatLoad(b, right, k / 2, 16, gl_CooperativeMatrixLayoutColumnMajor);
        sum = coopMatMulAdd(a, b, sum);
        barrier();
    }
    for (int i = 0; i < sum.length(); ++i) {
        sum[i] += 1.0;
    }
    coopMatStore(sum * 2.0, sums, 4, 20, gl_CooperativeMatrixLayoutRowMajor);
}";

fn left(row: usize, depth: usize) -> f64 {
    ((row * 3 + depth) % 7) as f64 - 3.0
}

fn right(depth: usize, column: usize) -> f64 {
    ((depth * 5 + column * 2) % 9) as f64 - 4.0
}

/// The place of a sum, and its initial value.
fn place(row: usize, column: usize) -> (usize, f32) {
    (4 + row * 20 + column, (row as f32) - (column as f32))
}

/// Packs halves into words, lower half first.
fn packed(numbers: impl Iterator<Item = f64>) -> Vec<u32> {
    let halves: Vec<u16> = numbers.map(f64_to_f16).collect();
    halves.chunks(2).map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16).collect()
}

fn cells() -> impl Iterator<Item = (usize, usize)> {
    (0..SIZE).flat_map(|row| (0..SIZE).map(move |column| (row, column)))
}

pub fn check(lanes: usize) -> Result<(), String> {
    let a = packed((0..SIZE).flat_map(|row| (0..DEPTH).map(move |depth| left(row, depth))));
    let b = packed((0..SIZE).flat_map(|column| (0..DEPTH).map(move |depth| right(depth, column))));
    let mut before = vec![7f32; 4 + SIZE * 20];
    let mut expected = before.clone();
    for (row, column) in cells() {
        let (at, start) = place(row, column);
        let product: f64 = (0..DEPTH).map(|depth| left(row, depth) * right(depth, column)).sum();
        before[at] = start;
        expected[at] = 2.0 * (start + product as f32 + 1.0);
    }
    let module = rival::ours("products", SOURCE, "spirv-1.6")?;
    let sums = before.iter().map(|number| number.to_bits()).collect();
    let request =
        Request { spec_constants: vec![(0, lanes as u32)], ..Request::new(module, 1, vec![vec![a, b, sums]]) };
    let after = lavapipe::run(lanes, &request)?;
    let found: Vec<f32> = after[0][2].iter().map(|bits| f32::from_bits(*bits)).collect();
    match found == expected {
        true => Ok(()),
        false => Err(format!("expected {expected:?}\nfound {found:?}")),
    }
}
