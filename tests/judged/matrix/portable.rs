//! One shader per family, the same input, the same bits: in subgroups of every size, from the simulator, from SPIR-V, GLSL, HLSL
//! and WGSL with reductions in fixed order on lavapipe, from NVIDIA's listings and from AMD's; with an NVIDIA GPU, also from
//! the GPU, through Vulkan, OpenGL and CUDA.
//!
//! ```sh
//! CROSSLANE_MATRIX=portable CROSSLANE_GL=1 CROSSLANE_CUDA=1 CROSSLANE_DRIVER_LANES=32 \
//!     CROSSLANE_VERIFIED=docs/verified/portable.md cargo test --release --test judged matrix::
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex};

use crosslane::profile::{Profile, Target};

use super::compile::{Made, Source};
use super::gpu;
use super::kind::{Kind, Type};
use super::rows::{Unit, units};
use super::shader::Shader;
use super::stage::PROFILES;
use support::fixture::Language;
use support::interpret::{self, Order};
use support::lavapipe::{self, Buffers, Request};
use support::trial::{Trial, trial};
use support::{cuda, dawn, dxc, judge, nv, opengl, ptx, report, simulator};

/// The width of the segments: only waves of 64 lanes hold them.
const WIDTH: usize = 64;

/// A trial for each family of the portable interface that has forms with a width.
pub fn trials() -> Vec<Trial> {
    let portable = |unit: &Unit| {
        let says = unit.row().arguments.iter().all(|domain| *domain != super::domain::Domain::Width);
        unit.row().dialect == "portable" && unit.width == Some(WIDTH) && unit.language == Language::Glsl && says
    };
    let mut all: Vec<Unit> = units().into_iter().filter(portable).collect();
    all.dedup_by_key(|unit| unit.row().title());
    let trial = |unit: Unit| {
        let name = format!("portable::{}", unit.row().title());
        trial(name, move || same_everywhere(&unit))
    };
    all.into_iter().map(trial).collect()
}

/// A scalar and a vector of each kind that all engines here have.
fn types(unit: &Unit) -> Vec<Option<Type>> {
    let wanted = |ty: Type| [Kind::F32, Kind::I32, Kind::U32, Kind::Bool].contains(&ty.kind) && ty.size <= 2;
    unit.types.iter().copied().filter(|ty| ty.is_none_or(wanted)).collect()
}

/// The engine that runs a shader.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Engine {
    Simulator,
    Spirv,
    Glsl,
    Hlsl,
    Wgsl,
    Vulkan,
    OpenGl,
    Cuda,
    NvListing,
    PtxListing,
    AmdListing,
}

/// The engines' names in the table, in order.
const ENGINES: [&str; 11] = [
    "simulator",
    "SPIR-V on lavapipe",
    "GLSL on lavapipe",
    "HLSL on lavapipe",
    "WGSL on Dawn",
    "SPIR-V on the GPU",
    "NVIDIA assembly on the GPU",
    "PTX on the GPU",
    "NVIDIA listing, interpreted",
    "PTX listing, interpreted",
    "AMD listing, interpreted",
];

/// The lanes of the subgroups in which each engine ran a family, all with the same bits.
type Sizes = [BTreeSet<usize>; ENGINES.len()];

static SAME: LazyLock<Mutex<BTreeMap<String, Sizes>>> = LazyLock::new(Mutex::default);

/// Writes the table named by `CROSSLANE_VERIFIED`: a row for each family whose bits were the same everywhere.
pub fn write() -> Result<(), String> {
    let Some(path) = std::env::var_os("CROSSLANE_VERIFIED") else { return Ok(()) };
    let same = SAME.lock().map_err(|_| "a size is broken")?;
    let cell = |sizes: &BTreeSet<usize>| match sizes.is_empty() {
        true => "not run".to_owned(),
        false => sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    // A machine keeps the cells of engines that only another one has.
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let known_cells = |family: &str| -> Vec<String> {
        let row = known.lines().find(|line| line.starts_with(&format!("| {family} |")));
        row.into_iter()
            .flat_map(|row| row.trim_matches('|').split('|').skip(1))
            .map(|it| it.trim().to_owned())
            .collect()
    };
    let row = |(family, sizes): (&String, &Sizes)| {
        let family = format!("`{family}`");
        let known = known_cells(&family).into_iter().map(Some).chain(std::iter::repeat(None));
        let cells =
            sizes.iter().zip(known).map(|(own, known)| known.filter(|_| own.is_empty()).unwrap_or_else(|| cell(own)));
        std::iter::once(family.clone()).chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = same.iter().map(row).collect();
    let table = report::table(&[&["family"][..], &ENGINES].concat(), &rows);
    // The GPU's and the driver's names; limits follow.
    let gpu = || opengl::describe().map(|said| said.lines().take(2).collect::<Vec<_>>().join(", "));
    let gpu = match known.lines().find(|line| line.starts_with("GPU: ")) {
        _ if opengl::is_asked() => format!("GPU: {}", gpu()?),
        Some(known) => known.to_owned(),
        None => "GPU: none".to_owned(),
    };
    let page = format!("{HEAD}\n{gpu}\n\n{table}");
    std::fs::write(&path, page).map_err(|e| format!("{}: {e}", path.to_string_lossy()))
}

const HEAD: &str = "# One shader, one result

One shader for each family of the portable interface, with segments of 64 lanes, the same input and types that all engines have: `bool`,
`int`, `uint`, `float` and vectors of them. Each row has the lanes of the subgroups in which each engine ran it; a row is listed if all results
have the same bits. Where a driver chooses the size, one module or text ran in all of them. Reductions have a fixed order (`--reproducible`). A
machine without a GPU keeps the columns that need one.

```sh
CROSSLANE_MATRIX=portable CROSSLANE_GL=1 CROSSLANE_CUDA=1 CROSSLANE_DRIVER_LANES=32 \\
    CROSSLANE_VERIFIED=docs/verified/portable.md cargo test --release --test judged matrix::
```
";

fn same_everywhere(unit: &Unit) -> Result<(), String> {
    let types = types(unit);
    let shader = Shader::new(unit, &types);
    let request = Request::new(Vec::new(), 1, shader.before(WIDTH, true));
    let defined = shader.after(WIDTH, true);
    let mut first: Option<(String, Vec<Buffers>)> = None;
    let mut sizes = Sizes::default();
    for profile in profiles() {
        let source = Source::new(unit, &types, &profile);
        for Run { engine, lanes, after } in runs(unit, &source, &profile, &request)? {
            sizes[engine as usize].insert(lanes);
            let who = format!("{} in {lanes} lanes ({})", ENGINES[engine as usize], profile.name);
            let Some((other, known)) = &first else {
                first = Some((who, after));
                continue;
            };
            for (pattern, ((one, two), column)) in known.iter().zip(&after).zip(&defined).enumerate() {
                let differs = (0..column.len()).find(|at| column[*at].is_some() && one[1][*at] != two[1][*at]);
                if let Some(at) = differs {
                    let (a, b) = (one[1][at], two[1][at]);
                    return Err(format!("pattern {pattern}, word {at}: {a:#x} from {other}, {b:#x} from {who}"));
                }
            }
        }
    }
    SAME.lock().map_err(|_| "a size is broken")?.insert(unit.row().title().to_owned(), sizes);
    Ok(())
}

/// The profiles that guarantee the order of reductions, and a text of each language whose drivers choose the size of subgroups.
fn profiles() -> impl Iterator<Item = Profile> {
    let claims = |profile: &&Profile| profile.reproducible && &*profile.name != "nv-fermi";
    let text = |name| Profile { reproducible: true, ..Profile::named(name).expect("a built-in profile") };
    let texts = TEXTS.into_iter().filter(|(_, needed)| judge::need_or_skip(needed).is_some());
    PROFILES.iter().filter(claims).cloned().chain(texts.map(move |(name, _)| text(name)))
}

/// The profiles of texts, and what reads them.
const TEXTS: [(&str, &str); 3] =
    [("glsl-450-khr", "bin/glslangValidator"), ("hlsl-6.2", dxc::JUDGE), ("wgsl", dawn::JUDGES[0])];

/// The results of an engine in subgroups of some size.
struct Run {
    engine: Engine,
    lanes: usize,
    after: Vec<Buffers>,
}

/// The sizes in which a driver runs a shader: all of them for the table, otherwise one in turn.
fn driver_sizes(unit: &Unit) -> Vec<usize> {
    if super::asks_for("portable") {
        return lavapipe::LANES.to_vec();
    }
    vec![lavapipe::LANES[(unit.turn() % lavapipe::LANES.len() as u64) as usize]]
}

fn runs(unit: &Unit, source: &Source, profile: &Profile, request: &Request) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    let mut add = |engine, lanes, after| runs.push(Run { engine, lanes, after });
    let all_sizes = simulator::LANES.to_vec();
    for lanes in profile.wave_size.map_or(all_sizes, |size| vec![size as usize]) {
        let after = simulator::run(&source.kernel(profile, lanes)?, lanes, request)?;
        let words = after.into_iter().map(|run| run.into_iter().map(|buffer| buffer.words).collect());
        add(Engine::Simulator, lanes, words.collect());
    }
    let with = |module: &[u32]| Request { spirv: module.to_vec(), ..request.clone() };
    match source.make(profile)? {
        Made::Spirv(module) | Made::Glsl(_, module) => {
            let (engine, sizes) = match profile.target {
                Target::Glsl => (Engine::Glsl, driver_sizes(unit)),
                Target::Hlsl => (Engine::Hlsl, driver_sizes(unit)),
                _ if judge::need_or_skip("lvp.json").is_some() => (Engine::Spirv, driver_sizes(unit)),
                _ => (Engine::Spirv, Vec::new()),
            };
            for lanes in sizes {
                add(engine, lanes, lavapipe::run(lanes, &with(&module))?);
            }
            if let Some(lanes) = lavapipe::own_driver().filter(|_| engine == Engine::Spirv) {
                add(Engine::Vulkan, lanes, lavapipe::run(lanes, &with(&module))?);
            }
        }
        Made::Wgsl(text, _) => {
            for lanes in driver_sizes(unit) {
                add(Engine::Wgsl, lanes, dawn::run(lanes, &text, request)?);
            }
        }
        Made::Msl(..) => {}
        Made::Nv(program) => {
            add(Engine::NvListing, 32, nv::run(&program.text, &program.reflection, request)?);
            if opengl::is_asked() {
                add(Engine::OpenGl, 32, opengl::run(program, request.clone())?);
            }
        }
        Made::Ptx(program) => {
            add(Engine::PtxListing, 32, ptx::run(&program, request, ptx::SCHEDULES[0])?);
            if gpu::runs(profile) {
                add(Engine::Cuda, 32, cuda::run(&program, request)?);
            }
        }
        Made::Amd(program) => {
            let after = interpret::interpret(&program, &profile.processor, request, Order::Ascending)?;
            add(Engine::AmdListing, profile.wave_size.unwrap_or(64) as usize, after);
        }
    }
    Ok(runs)
}
