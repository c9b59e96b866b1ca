//! Cross-lane operations: each in a kernel by crosslane, as NVIDIA assembly and as PTX, and in one in the driver's own
//! GLSL, measured alternately.
//!
//! A kernel has a million invocations that perform an operation 256 times and sum up the results, so that the
//! throughput of shuffles decides.

use crosslane::compile::{Input, Language, Options};
use crosslane::kernel::Specializations;
use crosslane::profile::Profile;
use crosslane::run::cuda;
use support::device::gl::Painter;
use support::rates::{self, GROUP, GROUPS, Ratio, Turns, faster, microseconds};
use support::{compiler, report};

use crate::overhead::Overhead;
use crate::{PROFILE, PTX};

const WIDTHS: [u32; 5] = [2, 4, 8, 16, 32];
/// Operators, each with the operand type used here.
const OPERATORS: [(&str, &str); 7] = [
    ("Add", "float"),
    ("Mul", "float"),
    ("Min", "float"),
    ("Max", "float"),
    ("And", "uint"),
    ("Or", "uint"),
    ("Xor", "uint"),
];
/// How often each kernel is measured: the number of rounds, and of runs per round.
const TURNS: usize = 7;
const RUNS: usize = 5;

/// The page's section on operations.
pub fn section(painter: &Painter, cuda: Option<&cuda::Device>, overhead: Overhead) -> String {
    let rows: Vec<Vec<String>> = comparisons().iter().map(|what| what.row(painter, cuda, overhead)).collect();
    let head = [
        "operation of crosslane",
        "operation of the driver",
        "assembly, µs",
        "driver, µs",
        "ratio",
        "PTX, µs",
        "to the faster of assembly and driver",
    ];
    format!(
        "A million invocations do an operation 256 times and add up the results: medians of {TURNS} rounds of {RUNS} runs; a ratio \
         is the median over the rounds, with the range of the middle eight of ten in parentheses. Compare times only within a \
         row, because the GPU's clock changes between rows. {overhead}\n\n{}",
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
    fn row(&self, painter: &Painter, cuda: Option<&cuda::Device>, overhead: Overhead) -> Vec<String> {
        let source = self.source(&self.ours);
        let ours = painter.device.load(&program(&source)).unwrap_or_else(|why| panic!("{}: {why}", self.ours));
        let theirs = painter.compile(&self.source(&self.theirs)).unwrap_or_else(|why| panic!("{}: {why}", self.theirs));
        let ptx = cuda.map(|device| {
            device.load(&ptx_program(&source)).unwrap_or_else(|why| panic!("{} as PTX: {why}", self.ours))
        });
        let (groups, buffers) = ([GROUPS, 1, 1], rates::buffers(self.ty, GROUP * GROUPS));
        let mut times = [Turns::new(), Turns::new(), Turns::new()];
        for turn in 0..=TURNS {
            let runs = [
                Some(ours.time(groups, &[], &buffers, RUNS)),
                Some(theirs.time(groups, &buffers, RUNS)),
                ptx.as_ref().map(|kernel| kernel.time(groups, &[], &buffers, RUNS)),
            ];
            // The first round only wakes the clocks.
            for (run, times) in runs.into_iter().zip(&mut times).filter(|_| turn > 0) {
                times.extend(run.map(|run| run.expect("it was loaded")));
            }
        }
        self.cells(&times, overhead)
    }

    fn cells(&self, [ours, theirs, ptx]: &[Turns; 3], overhead: Overhead) -> Vec<String> {
        let time = |turns: &Turns| format!("{:.1}", microseconds(turns));
        let mut cells = vec![format!("`{}`", self.ours), format!("`{}`", self.theirs), time(ours), time(theirs)];
        cells.push(Ratio::new(ours, theirs).to_string());
        match ptx.is_empty() {
            true => cells.extend(["–".to_owned(), "–".to_owned()]),
            false => cells.extend([time(ptx), overhead.ratio(ptx, faster(ours, theirs)).to_string()]),
        }
        cells
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

/// Crosslane's assembly for a kernel.
pub fn program(source: &str) -> crosslane::backend::nv::Program {
    compiler::nv_program(&input(source), &options(PROFILE), &Specializations::new())
        .unwrap_or_else(|why| panic!("{why}"))
}

/// Crosslane's PTX for a kernel.
pub fn ptx_program(source: &str) -> crosslane::backend::ptx::Program {
    compiler::ptx_program(&input(source), &options(PTX), &Specializations::new()).unwrap_or_else(|why| panic!("{why}"))
}

fn options(profile: &str) -> Options {
    Options::new(Profile::named(profile).expect("a built-in profile"))
}

fn input(source: &str) -> Input<'_> {
    Input { name: "bench.comp", bytes: source.as_bytes(), language: Language::Glsl }
}
