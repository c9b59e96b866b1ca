//! Benchmarks of cross-lane operations on a GPU: a kernel with a million invocations does an operation 256 times and sums the
//! results up, so that its rate decides.

use crosslane::run::BufferBinding;

/// Invocations of a workgroup, and workgroups: 2^20 invocations.
pub const GROUP: u32 = 256;
pub const GROUPS: u32 = 4096;

/// The kernel of an operation on `v`, a value of the type `ty`.
pub fn kernel(ty: &str, extensions: &[&str], operation: &str) -> String {
    let extensions: String = extensions.iter().map(|name| format!("#extension GL_{name} : require\n")).collect();
    let next = if ty == "float" { "sum * 0.01" } else { "sum ^ v" };
    format!(
        "#version 450\n{extensions}layout(local_size_x = {GROUP}) in;
layout(std430, binding = 0) readonly buffer In {{ {ty} x[]; }};
layout(std430, binding = 1) buffer Out {{ {ty} y[]; }};
void main() {{
    {ty} v = x[gl_GlobalInvocationID.x], sum = {ty}(0);
    for (int n = 0; n < 256; n++) {{
        sum += {operation};
        v = {next};
    }}
    y[gl_GlobalInvocationID.x] = sum;
}}
"
    )
}

/// The two buffers of a kernel on values of a type: its input, and room for as many words.
pub fn buffers(ty: &str, words: u32) -> Vec<BufferBinding> {
    let word = |n: u32| match ty {
        "float" => ((n % 97) as f32 * 0.01).to_bits(),
        _ => n.wrapping_mul(0x9e37_79b9),
    };
    let input: Vec<u8> = (0..words).flat_map(|n| word(n).to_le_bytes()).collect();
    let output = vec![0; input.len()];
    vec![BufferBinding::storage(0, 0, input), BufferBinding::storage(0, 1, output)]
}

/// The cells of a row: the medians of both sides' times in microseconds, and their ratio. Times are in nanoseconds.
pub fn cells(times: [Vec<u64>; 2]) -> [String; 3] {
    let [ours, theirs] = times.map(median);
    [format!("{ours:.1}"), format!("{theirs:.1}"), format!("{:.2}", ours / theirs)]
}

fn median(mut times: Vec<u64>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2] as f64 / 1000.0
}
