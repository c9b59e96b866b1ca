//! Benchmarks of cross-lane operations on a GPU: a kernel with a million invocations performs an operation 256 times
//! and sums up the results, so that throughput decides.

use crosslane::run::BufferBinding;
use std::fmt;

/// Invocations of a workgroup, and workgroups: 2^20 invocations.
pub const GROUP: u32 = 256;
pub const GROUPS: u32 = 4096;

/// The kernel of an operation on `v`, a value of the type `ty`, in workgroups of [`GROUP`].
pub fn kernel(ty: &str, extensions: &[&str], operation: &str) -> String {
    let next = if ty == "float" { "sum * 0.01" } else { "sum ^ v" };
    kernel_of(GROUP, ty, extensions, operation, next)
}

/// The kernel of an operation on `v`, a value of the type `ty`, in workgroups of `group` invocations. `next` is the value
/// after it.
pub fn kernel_of(group: u32, ty: &str, extensions: &[&str], operation: &str, next: &str) -> String {
    let extensions: String = extensions.iter().map(|name| format!("#extension GL_{name} : require\n")).collect();
    format!(
        "#version 450\n{extensions}layout(local_size_x = {group}) in;
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

/// The words of a buffer before a run.
#[derive(Debug, Clone, Copy)]
pub enum Fill {
    /// The same word everywhere.
    Same(u32),
    /// Floats from 0 to 0.96.
    Floats,
    /// Integers that look random.
    Words,
}

impl Fill {
    /// The word at an index.
    pub fn word(self, n: u32) -> u32 {
        match self {
            Fill::Same(word) => word,
            Fill::Floats => ((n % 97) as f32 * 0.01).to_bits(),
            Fill::Words => n.wrapping_mul(0x9e37_79b9),
        }
    }

    /// A storage buffer with this many words in set 0.
    pub fn buffer(self, binding: u32, words: u32) -> BufferBinding {
        BufferBinding::storage(0, binding, (0..words).flat_map(|n| self.word(n).to_le_bytes()).collect())
    }
}

/// The two buffers of a kernel on values of a type: its input, and an output of as many words.
pub fn buffers(ty: &str, words: u32) -> Vec<BufferBinding> {
    let input = if ty == "float" { Fill::Floats } else { Fill::Words };
    vec![input.buffer(0, words), Fill::Same(0).buffer(1, words)]
}

fn median(mut times: Vec<u64>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2] as f64 / 1000.0
}

/// Nanoseconds for each run, by round of a measurement.
pub type Turns = Vec<Vec<u64>>;

/// The median of all runs, in microseconds.
pub fn microseconds(turns: &Turns) -> f64 {
    median(turns.concat())
}

/// The ratio of two programs that ran alternately: the median over the rounds, and the range of the middle eight out of
/// ten.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    pub middle: f64,
    pub low: f64,
    pub high: f64,
}

impl Ratio {
    /// The ratio of crosslane's times to the rival's. Both must have the same number of rounds, at least one.
    pub fn new(ours: &Turns, theirs: &Turns) -> Ratio {
        let of_turn = |(ours, theirs): (&Vec<u64>, &Vec<u64>)| median(ours.clone()) / median(theirs.clone());
        let mut all: Vec<f64> = ours.iter().zip(theirs).map(of_turn).collect();
        all.sort_by(f64::total_cmp);
        let last = all.len() - 1;
        Ratio { middle: all[last / 2], low: all[last / 10], high: all[last - last / 10] }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ({:.2}–{:.2})", self.middle, self.low, self.high)
    }
}

/// The times without a part of each run, in nanoseconds.
pub fn without(turns: &Turns, part: u64) -> Turns {
    let run = |time: &u64| time.saturating_sub(part).max(1);
    turns.iter().map(|runs| runs.iter().map(run).collect()).collect()
}

/// The faster of two programs.
pub fn faster<'t>(one: &'t Turns, other: &'t Turns) -> &'t Turns {
    if microseconds(one) <= microseconds(other) { one } else { other }
}

/// The geometric mean of ratios; `None` if there are none.
pub fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}
