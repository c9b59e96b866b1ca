//! Cross-lane operations on the GPU: each kernel, compiled by crosslane and by the driver from its own GLSL, in turn in
//! one process; the medians of the GPU's own times. Without an NVIDIA GPU it says so and ends.
//!
//! A kernel has a million invocations that do an operation 256 times and sum the results up, so that the rate of shuffles
//! decides.
//! `CROSSLANE_VERIFIED=docs/verified/nv.md` puts the table into that page.

use crosslane::backend::nv;
use crosslane::compile::{self, Input, Language, Options};
use crosslane::diagnostic::{Diagnostics, render};
use crosslane::kernel::Specializations;
use crosslane::profile::Profile;
use crosslane::run::BufferBinding;
use crosslane::source::NoIncludes;
use std::path::Path;
use support::device::gl::Painter;
use support::report;

const PROFILE: &str = "nv-hopper";
const WIDTHS: [u32; 5] = [2, 4, 8, 16, 32];
/// Operators, each with the type that its operands have here.
const OPERATORS: [(&str, &str); 7] = [
    ("Add", "float"),
    ("Mul", "float"),
    ("Min", "float"),
    ("Max", "float"),
    ("And", "uint"),
    ("Or", "uint"),
    ("Xor", "uint"),
];
/// Invocations of a workgroup, and workgroups: 2^20 invocations.
const GROUP: u32 = 256;
const GROUPS: u32 = 4096;
/// Times that each kernel is measured: so many turns of so many runs.
const TURNS: usize = 7;
const RUNS: usize = 5;

fn main() {
    // Cargo says `--bench` to benchmarks and nothing when it only tests that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let painter = match Painter::open() {
        Ok(painter) => painter,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let rows: Vec<Vec<String>> = comparisons().iter().map(|what| what.row(&painter)).collect();
    let head = ["operation of crosslane", "operation of the driver", "crosslane, µs", "driver, µs", "ratio"];
    let table = report::table(&head, &rows);
    println!("{table}");
    if let Some(path) = std::env::var_os("CROSSLANE_VERIFIED") {
        let written = report::replace(Path::new(&path), "Speed", &section(&painter, &table));
        written.unwrap_or_else(|why| panic!("{why}"));
    }
}

fn section(painter: &Painter, table: &str) -> String {
    let command = "```sh\nCROSSLANE_VERIFIED=docs/verified/nv.md cargo bench --bench gpu\n```";
    let times = TURNS * RUNS;
    format!(
        "A million invocations that do an operation 256 times and sum the results up, on {}: medians of {times} runs, taken in turn. A ratio \
         below 1 means that crosslane's program is the faster one; times compare within a row, because the GPU's clock \
         changes from one to the next.\n\n{table}\n{command}",
        painter.device.info().name
    )
}

/// The same work in crosslane's GLSL and in the driver's.
struct Comparison {
    ty: &'static str,
    ours: String,
    theirs: String,
}

fn comparisons() -> Vec<Comparison> {
    let of = |ty, ours: String, theirs: String| Comparison { ty, ours, theirs };
    let mut all = Vec::new();
    for (op, ty) in OPERATORS {
        let clustered = |w| of(ty, format!("allReduce{op}(v, {w})"), format!("subgroupClustered{op}(v, {w})"));
        all.extend(WIDTHS.map(clustered));
        all.push(of(ty, format!("allReduce{op}(v, 32)"), format!("subgroup{op}(v)")));
    }
    for (op, ty) in OPERATORS {
        all.push(of(ty, format!("inclusive{op}(v, 32)"), format!("subgroupInclusive{op}(v)")));
        all.push(of(ty, format!("exclusive{op}(v, 32)"), format!("subgroupExclusive{op}(v)")));
    }
    let moves = [
        ("quadSwizzle0(v)", "subgroupQuadBroadcast(v, 0)"),
        ("quadSwizzleX(v)", "subgroupQuadSwapHorizontal(v)"),
        ("quadSwizzleY(v)", "subgroupQuadSwapVertical(v)"),
        ("butterfly(v, 32)", "subgroupShuffleXor(v, 16)"),
        ("bpermute(v, 31u - laneIndex())", "subgroupShuffle(v, 31u - gl_SubgroupInvocationID)"),
        ("shuffleUpNV(v, 1u, 32u)", "subgroupShuffleUp(v, 1u)"),
    ];
    all.extend(moves.map(|(ours, theirs)| of("float", ours.to_owned(), theirs.to_owned())));
    all
}

impl Comparison {
    fn row(&self, painter: &Painter) -> Vec<String> {
        let program = program(&self.source(&self.ours));
        let ours = painter.device.load(&program).unwrap_or_else(|why| panic!("{}: {why}", self.ours));
        let theirs = painter.compile(&self.source(&self.theirs)).unwrap_or_else(|why| panic!("{}: {why}", self.theirs));
        let (groups, buffers) = ([GROUPS, 1, 1], self.buffers());
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        for turn in 0..=TURNS {
            let run = ours.time(groups, &[], &buffers, RUNS).expect("the program was loaded");
            let other = theirs.time(groups, &buffers, RUNS).expect("the shader was compiled");
            // The first turn only wakes the clocks.
            if turn > 0 {
                our_times.extend(run);
                their_times.extend(other);
            }
        }
        let (ours, theirs) = (median(our_times), median(their_times));
        let cells = [format!("{ours:.1}"), format!("{theirs:.1}"), format!("{:.2}", ours / theirs)];
        [format!("`{}`", self.ours), format!("`{}`", self.theirs)].into_iter().chain(cells).collect()
    }

    fn source(&self, operation: &str) -> String {
        let native = operation.starts_with("subgroup");
        let extensions: &[&str] = match native {
            true => &[
                "KHR_shader_subgroup_arithmetic",
                "KHR_shader_subgroup_clustered",
                "KHR_shader_subgroup_quad",
                "KHR_shader_subgroup_shuffle",
                "KHR_shader_subgroup_shuffle_relative",
            ],
            false => &[
                "CROSSLANE_portable",
                "CROSSLANE_shuffle",
                "CROSSLANE_permute",
                "CROSSLANE_quad_swizzle",
                "NV_shader_thread_shuffle",
            ],
        };
        let extensions: String = extensions.iter().map(|name| format!("#extension GL_{name} : require\n")).collect();
        let ty = self.ty;
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

    fn buffers(&self) -> Vec<BufferBinding> {
        let word = |n: u32| match self.ty {
            "float" => ((n % 97) as f32 * 0.01).to_bits(),
            _ => n.wrapping_mul(0x9e37_79b9),
        };
        let input: Vec<u8> = (0..GROUP * GROUPS).flat_map(|n| word(n).to_le_bytes()).collect();
        let output = vec![0; input.len()];
        vec![BufferBinding::storage(0, 0, input), BufferBinding::storage(0, 1, output)]
    }
}

/// The middle of times in nanoseconds, in microseconds.
fn median(mut times: Vec<u64>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2] as f64 / 1000.0
}

fn program(source: &str) -> nv::Program {
    let options = Options::new(Profile::named(PROFILE).expect("a built-in profile"));
    let input = Input { name: "bench.comp", bytes: source.as_bytes(), language: Language::Glsl };
    let parsed = compile::parse(&input, &options, &NoIncludes);
    let module = parsed.module.unwrap_or_else(|| panic!("{}", render::human(&parsed.sources, &parsed.diagnostics)));
    let mut messages = Diagnostics::new();
    let made = compile::nv_program(&module, &options, &Specializations::new(), &parsed.sources, &mut messages);
    made.unwrap_or_else(|| panic!("{}", render::human(&parsed.sources, &messages)))
}
