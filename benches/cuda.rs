//! Kernels as PTX beside CUDA C++ that does the same, compiled by `nvcc` to PTX: both assembled by the driver and run in turn in
//! one process; the medians of the GPU's own times. Without an NVIDIA GPU or without `nvcc` it says so and ends.
//!
//! A kernel of an operation has a million invocations that do it 256 times and sum the results up, so that its rate decides.
//! The kernels of `benches/cuda` are whole ones. `CROSSLANE_NVCC` names the compiler; `CROSSLANE_VERIFIED=docs/verified/cuda.md`
//! puts the tables into that page.

use crosslane::backend::ptx::Program;
use crosslane::compile::{Input, Language, Options};
use crosslane::kernel::Specializations;
use crosslane::profile::Profile;
use crosslane::run::cuda::Device;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::rates::{self, GROUP, GROUPS};
use support::{compiler, report};

const PROFILE: &str = "ptx-sm90";
const ARCHITECTURE: &str = "-arch=sm_90";
/// Times that each kernel is measured: so many turns of so many runs.
const TURNS: usize = 5;
const RUNS: usize = 5;

/// Whole kernels: their name, and the words of their buffers.
const KERNELS: [(&str, &str, u32); 6] = [
    ("softmax", "float", 4),
    ("layer_norm", "float", 4),
    ("scan", "uint", 1),
    ("histogram", "uint", 16),
    ("matmul", "float", 1),
    ("sort", "uint", 1),
];

fn main() {
    // Cargo says `--bench` to benchmarks and nothing when it only tests that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let device = match Device::open() {
        Ok(device) => device,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    let nvcc = std::env::var_os("CROSSLANE_NVCC").unwrap_or_else(|| "nvcc".into());
    if Command::new(&nvcc).arg("--version").output().is_err() {
        return eprintln!("skipped: {} cannot be run", nvcc.display());
    }
    let mut sections = Vec::new();
    for (title, all) in [("Speed of operations", operations()), ("Speed of kernels", kernels())] {
        let rivals = compiled(&all, Path::new(&nvcc));
        let rows: Vec<Vec<String>> = all.iter().zip(rivals).map(|(what, rival)| what.row(&device, rival)).collect();
        let table = report::table(&["crosslane", "CUDA C++", "crosslane, µs", "CUDA C++, µs", "ratio"], &rows);
        println!("{title}\n\n{table}");
        sections.push((title, table));
    }
    let Some(path) = std::env::var_os("CROSSLANE_VERIFIED") else { return };
    for (title, table) in sections {
        let written = report::replace(Path::new(&path), title, &section(&device, &table));
        written.unwrap_or_else(|why| panic!("{why}"));
    }
}

fn section(device: &Device, table: &str) -> String {
    let command = "```sh\nCROSSLANE_VERIFIED=docs/verified/cuda.md cargo bench --bench cuda\n```";
    let times = TURNS * RUNS;
    format!(
        "On {}, profile `{PROFILE}`, the CUDA C++ by `nvcc`: medians of {times} runs, taken in turn. A ratio below 1 means that \
         crosslane's kernel is the faster one.\n\n{table}\n{command}",
        device.info()
    )
}

/// The same work in GLSL and in CUDA C++.
struct Comparison {
    /// The names of the two in the table.
    names: [String; 2],
    ty: &'static str,
    glsl: String,
    cuda: String,
    words: u32,
    groups: u32,
}

/// Operations: the type, crosslane's, and the statements that make `r` of `v` in CUDA C++.
fn operations() -> Vec<Comparison> {
    let tree = |width: u32, step: &str| format!("r = v; for (unsigned d = 1; d < {width}; d *= 2) r = {step};");
    let (add, least) = ("r + __shfl_xor_sync(~0u, r, d)", "min(r, __shfl_xor_sync(~0u, r, d))");
    let up = "for (unsigned d = 1; d < 32; d *= 2) { auto b = __shfl_up_sync(~0u, r, d); if (lane >= d) r += b; }";
    let mut all = Vec::new();
    let mut of = |ty, ours: &str, theirs: String| all.push(Comparison::operation(ty, ours, &theirs));
    for width in [2_u32, 4, 8, 16, 32] {
        of("float", &format!("allReduceAdd(v, {width})"), tree(width, add));
        of("uint", &format!("allReduceAdd(v, {width})"), tree(width, add));
    }
    for width in [8_u32, 16] {
        let segment = format!("{}u << (lane & {})", (1_u32 << width) - 1, 32 - width);
        of("uint", &format!("allReduceAdd(v, {width})"), format!("r = __reduce_add_sync({segment}, v);"));
    }
    for (op, name, step) in [
        ("Add", "add", add),
        ("Min", "min", least),
        ("And", "and", "r & __shfl_xor_sync(~0u, r, d)"),
        ("Xor", "xor", "r ^ __shfl_xor_sync(~0u, r, d)"),
    ] {
        of("uint", &format!("allReduce{op}(v, 32)"), format!("r = __reduce_{name}_sync(~0u, v);"));
        if op != "Add" {
            of("uint", &format!("allReduce{op}(v, 32)"), tree(32, step));
        }
    }
    of("float", "allReduceMin(v, 32)", tree(32, "fminf(r, __shfl_xor_sync(~0u, r, d))"));
    of("float", "allReduceMax(v, 32)", tree(32, "fmaxf(r, __shfl_xor_sync(~0u, r, d))"));
    for ty in ["float", "uint"] {
        of(ty, "inclusiveAdd(v, 32)", format!("r = v; {up}"));
        of(ty, "exclusiveAdd(v, 32)", format!("r = v; {up} r = __shfl_up_sync(~0u, r, 1); if (lane == 0) r = 0;"));
        of(ty, "inclusiveAdd(v, 32)", "cub::WarpScan<T>(scans[warp]).InclusiveSum(v, r);".to_owned());
        of(ty, "exclusiveAdd(v, 32)", "cub::WarpScan<T>(scans[warp]).ExclusiveSum(v, r);".to_owned());
        of(ty, "reduceAdd(v, 32)", "r = cub::WarpReduce<T>(sums[warp]).Sum(v);".to_owned());
        let heads = "r = cub::WarpReduce<T>(sums[warp]).HeadSegmentedSum(v, (lane & 5) == 0);";
        of(ty, "segmentedReduceAdd(v, (laneIndex() & 5u) == 0u, 32)", heads.to_owned());
    }
    of("uint", "allReduceAdd(v, 32)", "r = cg::reduce(whole, v, cg::plus<T>());".to_owned());
    of("float", "allReduceAdd(v, 32)", "r = cg::reduce(whole, v, cg::plus<T>());".to_owned());
    of("float", "butterfly(v, 32)", "r = __shfl_xor_sync(~0u, v, 16);".to_owned());
    of("float", "bpermute(v, 31u - laneIndex())", "r = __shfl_sync(~0u, v, 31 - lane);".to_owned());
    of("float", "shuffleUpNV(v, 1u, 32u)", "r = __shfl_up_sync(~0u, v, 1);".to_owned());
    of("uint", "ballot(v > 1000u).x", "r = __ballot_sync(~0u, v > 1000);".to_owned());
    of("uint", "uint(subgroupAny(v == 1u))", "r = __any_sync(~0u, v == 1);".to_owned());
    of("uint", "subgroupPartitionNV(v & 3u).x", "r = __match_any_sync(~0u, v & 3);".to_owned());
    of("uint", "uint(subgroupAllEqual(v))", "int all; __match_all_sync(~0u, v, &all); r = all;".to_owned());
    all
}

fn kernels() -> Vec<Comparison> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/cuda");
    let read = |name: String| std::fs::read_to_string(folder.join(&name)).unwrap_or_else(|why| panic!("{name}: {why}"));
    let of = |(name, ty, each): (&str, &'static str, u32)| Comparison {
        names: [format!("{name}.comp"), format!("{name}.cu")],
        ty,
        glsl: read(format!("{name}.comp")),
        cuda: read(format!("{name}.cu")),
        words: GROUP * GROUPS * each,
        groups: GROUPS,
    };
    KERNELS.into_iter().map(of).collect()
}

const EXTENSIONS: [&str; 8] = [
    "CROSSLANE_portable",
    "CROSSLANE_shuffle",
    "CROSSLANE_permute",
    "KHR_shader_subgroup_vote",
    "KHR_shader_subgroup_ballot",
    "NV_shader_subgroup_partitioned",
    "NV_shader_thread_shuffle",
    "CROSSLANE_quad_swizzle",
];

impl Comparison {
    fn operation(ty: &'static str, ours: &str, theirs: &str) -> Comparison {
        let next = if ty == "float" { "sum * 0.01f" } else { "sum ^ v" };
        let glsl = rates::kernel(ty, &EXTENSIONS, ours);
        let is_cub = theirs.contains("cub::");
        let is_group = theirs.contains("cg::");
        let head = match (is_cub, is_group) {
            (true, _) => "#include <cub/cub.cuh>\n",
            (_, true) => {
                "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n"
            }
            _ => "",
        };
        let memory = match (is_cub, is_group) {
            (true, _) => {
                "__shared__ typename cub::WarpScan<T>::TempStorage scans[8];
    __shared__ typename cub::WarpReduce<T>::TempStorage sums[8];
    const unsigned warp = threadIdx.x / 32;"
            }
            (_, true) => "auto whole = cg::tiled_partition<32>(cg::this_thread_block());",
            _ => "",
        };
        let c_type = if ty == "float" { "float" } else { "unsigned" };
        let cuda = format!(
            "{head}typedef {c_type} T;
extern \"C\" __global__ void __launch_bounds__({GROUP}) rival(const T *x, T *y) {{
    {memory}
    const unsigned i = blockIdx.x * {GROUP} + threadIdx.x, lane = threadIdx.x & 31;
    T v = x[i], sum = 0;
    for (int n = 0; n < 256; n++) {{
        T r;
        {theirs}
        sum += r;
        v = {next};
    }}
    y[i] = sum;
}}
"
        );
        let names = [format!("`{ours}`, {ty}"), format!("`{theirs}`")];
        Comparison { names, ty, glsl, cuda, words: GROUP * GROUPS, groups: GROUPS }
    }

    fn row(&self, device: &Device, rival: Result<String, String>) -> Vec<String> {
        let ours = self.program();
        let reflection = crosslane::backend::ptx::Reflection { symbol: "rival".to_owned(), ..ours.reflection.clone() };
        let rival = rival.unwrap_or_else(|why| panic!("{}: {why}\n{}", self.names[1], self.cuda));
        let theirs = Program { text: rival, reflection };
        let [ours, theirs] = [&ours, &theirs]
            .map(|program| device.load(program).unwrap_or_else(|why| panic!("{:?}: {why}", self.names)));
        let (groups, buffers) = ([self.groups, 1, 1], rates::buffers(self.ty, self.words));
        let mut times = [Vec::new(), Vec::new()];
        for turn in 0..=TURNS {
            for (kernel, times) in [&ours, &theirs].into_iter().zip(&mut times) {
                let run = kernel.time(groups, &[], &buffers, RUNS).expect("the kernel was loaded");
                // The first turn only wakes the clocks.
                if turn > 0 {
                    times.extend(run);
                }
            }
        }
        self.names.iter().cloned().chain(rates::cells(times)).collect()
    }

    fn program(&self) -> Program {
        let options = Options::new(Profile::named(PROFILE).expect("a built-in profile"));
        let input = Input { name: "bench.comp", bytes: self.glsl.as_bytes(), language: Language::Glsl };
        let made = compiler::ptx_program(&input, &options, &Specializations::new());
        made.unwrap_or_else(|why| panic!("{why}"))
    }
}

/// The PTX that `nvcc` makes of the rivals, several at a time.
fn compiled(all: &[Comparison], nvcc: &Path) -> Vec<Result<String, String>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let one = |n: usize| {
        let stem = std::env::temp_dir().join(format!("crosslane-rival-{}-{n}", std::process::id()));
        let [source, made] = ["cu", "ptx"].map(|extension| stem.with_extension(extension));
        let done = std::fs::write(&source, &all[n].cuda).map_err(|e| e.to_string());
        let done = done.and_then(|()| run(nvcc, &source, &made));
        [source, made].iter().for_each(|file| drop(std::fs::remove_file(file)));
        done
    };
    let mut results: Vec<(usize, Result<String, String>)> = std::thread::scope(|scope| {
        let worker =
            |first: usize| scope.spawn(move || (first..all.len()).step_by(threads).map(|n| (n, one(n))).collect());
        let workers: Vec<_> = (0..threads).map(worker).collect();
        workers.into_iter().flat_map(|worker| -> Vec<_> { worker.join().expect("it does not panic") }).collect()
    });
    results.sort_by_key(|(n, _)| *n);
    results.into_iter().map(|(_, result)| result).collect()
}

fn run(nvcc: &Path, source: &PathBuf, made: &PathBuf) -> Result<String, String> {
    let output =
        Command::new(nvcc).args(["-ptx", "-O3", "-std=c++17", ARCHITECTURE, "-o"]).args([made, source]).output();
    let output = output.map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    std::fs::read_to_string(made).map_err(|e| e.to_string())
}
