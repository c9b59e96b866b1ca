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
use crosslane::source::NoIncludes;
use std::path::Path;
use support::device::gl::Painter;
use support::rates::{self, GROUP, GROUPS};
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
        let (groups, buffers) = ([GROUPS, 1, 1], rates::buffers(self.ty, GROUP * GROUPS));
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
        let cells = rates::cells([our_times, their_times]);
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
        rates::kernel(self.ty, extensions, operation)
    }
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
