//! Cross-lane operations: each in a kernel of crosslane and in one of the driver's own GLSL, measured in turn.
//!
//! A kernel has a million invocations that do an operation 256 times and sum the results up, so that the rate of shuffles
//! decides.

use crosslane::compile::{Input, Language, Options};
use crosslane::kernel::Specializations;
use crosslane::profile::Profile;
use support::device::gl::Painter;
use support::rates::{self, GROUP, GROUPS};
use support::{compiler, report};

use crate::PROFILE;

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

/// The section of the page.
pub fn section(painter: &Painter) -> String {
    let rows: Vec<Vec<String>> = comparisons().iter().map(|what| what.row(painter)).collect();
    let head = ["operation of crosslane", "operation of the driver", "crosslane, µs", "driver, µs", "ratio"];
    let times = TURNS * RUNS;
    format!(
        "A million invocations that do an operation 256 times and sum the results up: medians of {times} runs, taken in turn. Times \
         compare within a row, because the GPU's clock changes from one to the next.\n\n{}",
        report::table(&head, &rows)
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

fn program(source: &str) -> crosslane::backend::nv::Program {
    let options = Options::new(Profile::named(PROFILE).expect("a built-in profile"));
    let input = Input { name: "bench.comp", bytes: source.as_bytes(), language: Language::Glsl };
    compiler::nv_program(&input, &options, &Specializations::new()).unwrap_or_else(|why| panic!("{why}"))
}
