//! Kernels as PTX compared with equivalent CUDA C++ compiled to PTX by `nvcc`: both are assembled by the driver and run
//! alternately in one process; the figures are medians of the GPU's own times. Without an NVIDIA GPU or without `nvcc`
//! it reports this and exits.
//!
//! The kernel for an operation has a million invocations that perform it 256 times and sum up the results, so that
//! throughput decides. `benches/cuda` has whole kernels. Those in `benches/cuda/ggml` are equivalents of ggml's
//! shaders, which are read from the folder named by `CROSSLANE_GGML`; both must produce the same results.
//! Operations over the workgroup are compared with CUB's. Pass part of a title to run only the matching tables.
//! `CROSSLANE_NVCC` names the compiler; `CROSSLANE_VERIFIED=docs/verified/cuda.md` writes the tables into that page.

use crosslane::backend::ptx::Program;
use crosslane::compile::{Input, Language, Options};
use crosslane::kernel::Specializations;
use crosslane::profile::Profile;
use crosslane::run::BufferBinding;
use crosslane::run::cuda::{Device, Loaded};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use support::lavapipe::{Buffers, to_words};
use support::rates::{self, GROUP, GROUPS, Ratio, Turns, geometric_mean, microseconds};
use support::whole::{self, Kernel, Origin};
use support::{compiler, report};

const PROFILE: &str = "ptx-sm90";
const ARCHITECTURE: &str = "-arch=sm_90";
/// How often each kernel is measured: the number of rounds, and of runs per round.
const TURNS: usize = 11;
const RUNS: usize = 5;

/// Whole kernels: name, and sizes of their buffers in words.
const KERNELS: [(&str, &str, u32); 6] = [
    ("softmax", "float", 4),
    ("layer_norm", "float", 4),
    ("scan", "uint", 1),
    ("histogram", "uint", 16),
    ("matmul", "float", 1),
    ("sort", "uint", 1),
];

/// Kernels of ggml: the shader, and the files of the CUDA C++ version.
const OF_GGML: [(&str, &[&str]); 10] = [
    ("argmax", &["rows.cuh", "argmax.cu"]),
    ("argsort", &["argsort.cu"]),
    ("cumsum", &["rows.cuh", "sums.cuh", "cumsum.cu"]),
    ("l2_norm", &["rows.cuh", "unary.cuh", "l2_norm.cu"]),
    ("mul_mat_vec", &["mul_mat_vec.cu"]),
    ("norm", &["rows.cuh", "unary.cuh", "norm.cu"]),
    ("rms_norm", &["rows.cuh", "rms_norm.cu"]),
    ("soft_max", &["rows.cuh", "soft_max.cu"]),
    ("sum_rows", &["rows.cuh", "sums.cuh", "sum_rows.cu"]),
    ("topk_moe", &["topk_moe.cu"]),
];

fn main() -> ExitCode {
    // Cargo passes `--bench` to benchmarks, and nothing when it only tests that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match measure() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("skipped: {why}");
            ExitCode::SUCCESS
        }
    }
}

/// The title of a table, and its rows.
type Table = (&'static str, fn() -> Vec<Comparison>);

/// Measures everything and returns true if all results are right; an error says why nothing can be measured.
fn measure() -> Result<bool, String> {
    let device = Device::open().map_err(|why| why.to_string())?;
    let nvcc = std::env::var_os("CROSSLANE_NVCC").unwrap_or_else(|| "nvcc".into());
    Command::new(&nvcc).arg("--version").output().map_err(|_| format!("{} cannot be run", nvcc.display()))?;
    let mut all_right = true;
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |title: &str| wanted.iter().all(|word| title.contains(word.as_str()));
    let tables: [Table; 3] = [
        ("Speed of operations", operations),
        ("Speed of operations over the workgroup", workgroups),
        ("Speed of kernels", kernels),
    ];
    for (title, all) in tables.into_iter().filter(|(title, _)| is_wanted(title)) {
        let all = all();
        let rivals = compiled(&all, Path::new(&nvcc));
        let rows: Vec<Measured> = all.iter().zip(rivals).map(|(what, rival)| what.measure(&device, rival)).collect();
        all_right &= rows.iter().all(|row| row.ratio.is_some());
        let text = section(&device, &rows);
        println!("{title}\n\n{text}");
        if let Some(path) = std::env::var_os("CROSSLANE_VERIFIED") {
            report::replace(Path::new(&path), title, &text).unwrap_or_else(|why| panic!("{why}"));
        }
    }
    Ok(all_right)
}

fn section(device: &Device, rows: &[Measured]) -> String {
    let command = "```sh\nCROSSLANE_GGML=ggml/src/ggml-vulkan/vulkan-shaders CROSSLANE_VERIFIED=docs/verified/cuda.md cargo bench --bench cuda\n```";
    let cells: Vec<Vec<String>> = rows.iter().map(Measured::cells).collect();
    let table = report::table(&["crosslane", "CUDA C++", "crosslane, µs", "CUDA C++, µs", "ratio"], &cells);
    let ratios: Vec<f64> = rows.iter().filter_map(|row| row.ratio.map(|ratio| ratio.middle)).collect();
    let mean = geometric_mean(&ratios).map_or(String::new(), |mean| format!("Geometric mean: {mean:.3}.\n\n"));
    format!(
        "On {}, profile `{PROFILE}`, the CUDA C++ by `nvcc`: medians of {TURNS} rounds of {RUNS} runs; a ratio is the median \
         over the rounds, with the range of the middle eight of ten in parentheses. Below 1 crosslane's kernel is the faster \
         one.\n\n{table}\n{mean}{command}",
        device.info()
    )
}

/// The work of a kernel.
enum Work {
    /// A text with an input and an output buffer of this many words of a type.
    Text {
        glsl: String,
        ty: &'static str,
        words: u32,
        groups: u32,
    },
    Whole(Box<Kernel>),
}

impl Work {
    fn program(&self) -> Result<Program, String> {
        match self {
            Work::Text { glsl, .. } => {
                let options = Options::new(Profile::named(PROFILE).expect("a built-in profile"));
                let input = Input { name: "bench.comp", bytes: glsl.as_bytes(), language: Language::Glsl };
                compiler::ptx_program(&input, &options, &Specializations::new())
            }
            Work::Whole(kernel) => kernel.ptx(PROFILE),
        }
    }

    fn groups(&self) -> [u32; 3] {
        match self {
            Work::Text { groups, .. } => [*groups, 1, 1],
            Work::Whole(kernel) => kernel.row.groups,
        }
    }

    fn push(&self) -> Vec<u8> {
        match self {
            Work::Text { .. } => Vec::new(),
            Work::Whole(kernel) => kernel.push(),
        }
    }

    fn buffers(&self) -> Vec<BufferBinding> {
        match self {
            Work::Text { ty, words, .. } => rates::buffers(ty, *words),
            Work::Whole(kernel) => kernel.buffers(),
        }
    }
}

/// The same work in GLSL and in CUDA C++.
struct Comparison {
    /// The names of both in the table.
    names: [String; 2],
    work: Work,
    cuda: String,
}

/// A row of a table.
struct Measured {
    names: [String; 2],
    times: [Turns; 2],
    /// `None` if the results differ.
    ratio: Option<Ratio>,
}

impl Measured {
    fn cells(&self) -> Vec<String> {
        let times = self.times.each_ref().map(|turns| format!("{:.1}", microseconds(turns)));
        let ratio = self.ratio.map_or("wrong".to_owned(), |ratio| ratio.to_string());
        self.names.iter().cloned().chain(times).chain([ratio]).collect()
    }
}

/// Operations: the type, crosslane's expression, and the CUDA C++ statements that compute `r` from `v`.
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

/// Reductions and scans over the workgroup, beside CUB's.
fn workgroups() -> Vec<Comparison> {
    let rows = [
        ("workgroupReduceAdd(v)", "r = cub::BlockReduce<T, N>(sums).Sum(v); __syncthreads();"),
        ("workgroupInclusiveAdd(v)", "Scan(scans).InclusiveSum(v, r); __syncthreads();"),
        ("workgroupExclusiveAdd(v)", "Scan(scans).ExclusiveSum(v, r); __syncthreads();"),
    ];
    let of = |(ours, theirs)| {
        let sized = move |group| ["uint", "float"].map(|ty| Comparison::of_workgroup(ty, group, ours, theirs));
        [128_u32, 256, 512, 1024].into_iter().flat_map(sized)
    };
    rows.into_iter().flat_map(of).collect()
}

/// Reads a file from a folder next to this file.
fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/cuda").join(name);
    std::fs::read_to_string(path).unwrap_or_else(|why| panic!("{name}: {why}"))
}

fn kernels() -> Vec<Comparison> {
    let own = KERNELS.into_iter().map(|(name, ty, each)| {
        let names = [format!("{name}.comp"), format!("{name}.cu")];
        let [glsl, cuda] = names.each_ref().map(|name| read(name));
        Comparison { names, work: Work::Text { glsl, ty, words: GROUP * GROUPS * each, groups: GROUPS }, cuda }
    });
    if !whole::has_ggml() {
        eprintln!("left out: the kernels of ggml (CROSSLANE_GGML does not name the folder of its shaders)");
    }
    own.chain(OF_GGML.into_iter().filter(|_| whole::has_ggml()).map(|(name, files)| of_ggml(name, files))).collect()
}

fn of_ggml(name: &str, files: &[&str]) -> Comparison {
    let file = format!("{name}.comp");
    let row = whole::of_ggml().find(|row| matches!(row.origin, Origin::Ggml(other) if other == file));
    let kernel = Kernel::read(row.unwrap_or_else(|| panic!("{file} is in no table")));
    let kernel = kernel.unwrap_or_else(|why| panic!("{file}: {why}"));
    let cuda = files.iter().map(|file| read(&format!("ggml/{file}"))).collect();
    Comparison {
        names: [format!("ggml's {file}"), format!("ggml/{name}.cu")],
        work: Work::Whole(Box::new(kernel)),
        cuda,
    }
}

/// The CUDA C++ of an operation: in a loop, like `rates::kernel_of`, in blocks of `group` threads.
fn rival(head: &str, ty: &str, group: u32, memory: &str, operation: &str, next: &str) -> String {
    let c_type = if ty == "float" { "float" } else { "unsigned" };
    format!(
        "{head}typedef {c_type} T;
const int N = {group};
extern \"C\" __global__ void __launch_bounds__(N) rival(const T *x, T *y) {{
    {memory}
    const unsigned i = blockIdx.x * N + threadIdx.x;
    T v = x[i], sum = 0;
    for (int n = 0; n < 256; n++) {{
        T r;
        {operation}
        sum += r;
        v = {next};
    }}
    y[i] = sum;
}}
"
    )
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
        let memory = format!("{memory}\n    const unsigned lane = threadIdx.x & 31;");
        let cuda = rival(head, ty, GROUP, &memory, theirs, next);
        let names = [format!("`{ours}`, {ty}"), format!("`{theirs}`")];
        Comparison { names, work: Work::Text { glsl, ty, words: GROUP * GROUPS, groups: GROUPS }, cuda }
    }

    fn of_workgroup(ty: &'static str, group: u32, ours: &str, theirs: &str) -> Comparison {
        // Values that differ in all invocations, so that no compiler leaves out shuffles.
        let next = if ty == "float" { "sum * 0.01f + v" } else { "sum ^ v" };
        let memory = "typedef cub::BlockScan<T, N, cub::BLOCK_SCAN_WARP_SCANS> Scan;
    __shared__ typename cub::BlockReduce<T, N>::TempStorage sums;
    __shared__ typename Scan::TempStorage scans;";
        let cuda = rival("#include <cub/cub.cuh>\n", ty, group, memory, theirs, next);
        let names = [format!("`{ours}`, {ty}, {group}"), format!("`{theirs}`")];
        let glsl = rates::kernel_of(group, ty, &["CROSSLANE_workgroup"], ours, next);
        let (words, groups) = (GROUP * GROUPS, GROUP * GROUPS / group);
        Comparison { names, work: Work::Text { glsl, ty, words, groups }, cuda }
    }

    fn measure(&self, device: &Device, rival: Result<String, String>) -> Measured {
        let ours = self.work.program().unwrap_or_else(|why| panic!("{}: {why}", self.names[0]));
        let reflection = crosslane::backend::ptx::Reflection { symbol: "rival".to_owned(), ..ours.reflection.clone() };
        let rival = rival.unwrap_or_else(|why| panic!("{}: {why}\n{}", self.names[1], self.cuda));
        let theirs = Program { text: rival, reflection };
        let [ours, theirs] = [&ours, &theirs]
            .map(|program| device.load(program).unwrap_or_else(|why| panic!("{:?}: {why}", self.names)));
        let (groups, push, buffers) = (self.work.groups(), self.work.push(), self.work.buffers());
        let mut times = [Turns::new(), Turns::new()];
        for turn in 0..=TURNS {
            for (kernel, times) in [&ours, &theirs].into_iter().zip(&mut times) {
                let run = kernel.time(groups, &push, &buffers, RUNS).expect("the kernel was loaded");
                // The first round only wakes the clocks.
                if turn > 0 {
                    times.push(run);
                }
            }
        }
        let after = |kernel: &Loaded<'_>| -> Buffers {
            let mut buffers = buffers.clone();
            kernel.run(groups, &push, &mut buffers).expect("the kernel was loaded");
            buffers.iter().map(|buffer| to_words(&buffer.data)).collect()
        };
        let held = match &self.work {
            Work::Text { .. } => Ok(()),
            Work::Whole(kernel) => kernel.alike(&after(&theirs), &after(&ours)),
        };
        let ratio = held.is_ok().then(|| Ratio::new(&times[0], &times[1]));
        held.unwrap_or_else(|why| eprintln!("error: {}: {why}", self.names[0]));
        Measured { names: self.names.clone(), times, ratio }
    }
}

/// The PTX that `nvcc` makes of the rival kernels, several compiled at a time.
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
