//! One shader per family, the same input, the same bits: from the simulator, from SPIR-V with reductions in fixed order
//! on lavapipe, from NVIDIA's listing and from AMD's; with an NVIDIA GPU, also from the GPU, through Vulkan and OpenGL.
//!
//! ```sh
//! CROSSLANE_MATRIX=portable CROSSLANE_GL=1 CROSSLANE_DRIVER_LANES=32 CROSSLANE_VERIFIED=docs/verified/portable.md \
//!     cargo test --release --test judged matrix::
//! ```

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use crosslane::profile::Profile;

use super::compile::{Made, Source};
use super::kind::{Kind, Type};
use super::rows::{Unit, units};
use super::shader::Shader;
use super::stage::PROFILES;
use support::fixture::Language;
use support::interpret::{self, Order};
use support::lavapipe::{self, Buffers, Request};
use support::trial::{Trial, trial};
use support::{nv, opengl, ptx, report, simulator};

/// The width of the segments, which subgroups of every size here have.
const WIDTH: usize = 16;

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

/// Types for which all engines here are expected to agree.
fn types(unit: &Unit) -> Vec<Option<Type>> {
    let wanted =
        |ty: &Option<Type>| ty.is_none_or(|ty| [Kind::F32, Kind::I32, Kind::U32, Kind::Bool].contains(&ty.kind));
    unit.types.iter().copied().filter(wanted).collect()
}

/// The engine that runs a shader.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Engine {
    Simulator,
    Lavapipe,
    Vulkan,
    OpenGl,
    NvListing,
    AmdListing,
    PtxListing,
}

/// The engines' names in the table, in order.
const ENGINES: [&str; 7] = [
    "simulator",
    "SPIR-V on lavapipe",
    "SPIR-V on the GPU",
    "assembly on the GPU",
    "NVIDIA listing, interpreted",
    "AMD listing, interpreted",
    "PTX listing, interpreted",
];

/// The number of profiles for which each engine ran a family, all with the same bits.
static SAME: LazyLock<Mutex<BTreeMap<String, [usize; ENGINES.len()]>>> = LazyLock::new(Mutex::default);

/// Writes the table named by `CROSSLANE_VERIFIED`: a row for each family whose bits were the same everywhere.
pub fn write() -> Result<(), String> {
    let Some(path) = std::env::var_os("CROSSLANE_VERIFIED") else { return Ok(()) };
    let same = SAME.lock().map_err(|_| "a count is broken")?;
    let row = |(family, counts): (&String, &[usize; ENGINES.len()])| {
        let counts = counts.iter().map(|count| if *count == 0 { "not run".to_owned() } else { count.to_string() });
        std::iter::once(format!("`{family}`")).chain(counts).collect()
    };
    let rows: Vec<Vec<String>> = same.iter().map(row).collect();
    let table = report::table(&[&["family"][..], &ENGINES].concat(), &rows);
    let said = if opengl::is_asked() { opengl::describe()? } else { "none".to_owned() };
    // The GPU's and the driver's names; limits follow.
    let gpu = said.lines().take(2).collect::<Vec<_>>().join(", ");
    let page = format!("{HEAD}\nGPU: {gpu}\n\n{table}");
    std::fs::write(&path, page).map_err(|e| format!("{}: {e}", path.to_string_lossy()))
}

const HEAD: &str = "# One shader, one result

One shader for each family of the portable interface, with segments of 16 lanes, the same input and every type that all
engines have: `bool`, `int`, `uint`, `float` and their vectors. Each row has the number of profiles that ran it
in each engine; a row is listed if all results have the same bits. SPIR-V uses the fixed order of reductions (`--reproducible`).

```sh
CROSSLANE_MATRIX=portable CROSSLANE_GL=1 CROSSLANE_DRIVER_LANES=32 CROSSLANE_VERIFIED=docs/verified/portable.md \\
    cargo test --release --test judged matrix::
```
";

fn same_everywhere(unit: &Unit) -> Result<(), String> {
    let types = types(unit);
    let shader = Shader::new(unit, &types);
    let before = shader.before(WIDTH, true);
    let defined = shader.after(WIDTH, true);
    let mut first: Option<(String, Vec<Buffers>)> = None;
    let mut counts = [0; ENGINES.len()];
    for profile in PROFILES.iter().filter(|profile| claims(profile)) {
        let source = Source::new(unit, &types, profile);
        for (engine, after) in results(&source, profile, &before)? {
            counts[engine as usize] += 1;
            let who = format!("{} ({})", ENGINES[engine as usize], profile.name);
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
    SAME.lock().map_err(|_| "a count is broken")?.insert(unit.row().title().to_owned(), counts);
    Ok(())
}

/// Returns true if a profile guarantees the order of reductions.
fn claims(profile: &Profile) -> bool {
    profile.reproducible && &*profile.name != "nv-fermi"
}

/// The results of each engine.
fn results(source: &Source, profile: &Profile, before: &[Buffers]) -> Result<Vec<(Engine, Vec<Buffers>)>, String> {
    let request = |module| Request::new(module, 1, before.to_vec());
    let lanes = profile.wave_size.map_or(WIDTH, |size| size as usize);
    let simulated = simulator::run(&source.kernel(profile, lanes)?, lanes, &request(Vec::new()))?;
    let simulated = simulated.into_iter().map(|run| run.into_iter().map(|buffer| buffer.words).collect()).collect();
    let mut all = vec![(Engine::Simulator, simulated)];
    match source.make(profile)? {
        Made::Spirv(module) | Made::Wgsl(_, module) => {
            let request = request(module);
            all.push((Engine::Lavapipe, lavapipe::run(WIDTH, &request)?));
            if let Some(lanes) = lavapipe::own_driver() {
                all.push((Engine::Vulkan, lavapipe::run(lanes, &request)?));
            }
        }
        Made::Msl(..) | Made::Glsl(..) => {}
        Made::Nv(program) => {
            let request = request(Vec::new());
            all.push((Engine::NvListing, nv::run(&program.text, &program.reflection, &request)?));
            if opengl::is_asked() {
                all.push((Engine::OpenGl, opengl::run(program, request)?));
            }
        }
        Made::Ptx(program) => {
            let request = request(Vec::new());
            all.push((Engine::PtxListing, ptx::run(&program, &request, ptx::SCHEDULES[0])?));
        }
        Made::Amd(program) => {
            let request = request(Vec::new());
            let after = interpret::interpret(&program, &profile.processor, &request, Order::Ascending)?;
            all.push((Engine::AmdListing, after));
        }
    }
    Ok(all)
}
