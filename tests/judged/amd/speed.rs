//! `docs/verified/speed-amd.md`: whole kernels compared with the code that Mesa's compiler generates for the same
//! hardware.
//!
//! ```sh
//! CROSSLANE_ACO=docs/verified/speed-amd.md CROSSLANE_GGML=ggml/src/ggml-vulkan/vulkan-shaders cargo test --profile ci --test judged amd::speed
//! ```

use crate::nv::graphics;
use crosslane::backend::amd::Program;
use crosslane::profile::Profile;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use support::amd::{Executed, Traced};
use support::interpret::traced;
use support::rates::geometric_mean;
use support::tally::{TURNS, Tally};
use support::trial::{Trial, judged, trial};
use support::whole::{self, Kernel, Row};
use support::{aco, assembler, judge, radv, report};

/// The variable that names the page to write.
const PAGE: &str = "CROSSLANE_ACO";

/// A processor, by our profile and by Mesa's name.
struct Hardware {
    profile: &'static str,
    processor: &'static str,
    family: &'static str,
    wave: u32,
    /// True if both listings run: the cases are for waves of 32 lanes, and ACO's must be in the assembler's form.
    is_run: bool,
}

static HARDWARE: [Hardware; 4] = [
    Hardware { profile: "gfx900", processor: "gfx900", family: "vega10", wave: 64, is_run: false },
    Hardware { profile: "gfx1030-wave32", processor: "gfx1030", family: "navi21", wave: 32, is_run: true },
    Hardware { profile: "gfx1100-wave32", processor: "gfx1100", family: "navi31", wave: 32, is_run: true },
    Hardware { profile: "gfx1201-wave32", processor: "gfx1201", family: "gfx1201", wave: 32, is_run: false },
];

/// Kernels that the interpreter runs for minutes.
const NOT_RUN: [&str; 5] =
    ["matmul by tiles of 4 by 4", "matmul by tiles of 8 by 8", "nbody", "ggml argsort", "ggml mul_mm"];

/// The trial that writes the page, if a page is named, and the one that checks its counts.
pub fn trials() -> impl Iterator<Item = Trial> {
    let page = std::env::var_os(PAGE).map(PathBuf::from);
    let writes = page.map(|page| judged("speed::page", &["lvp.json", "bin/glslc"], move || write(page)));
    writes.into_iter().chain([trial("speed::tally", counts)])
}

/// Listings by crosslane, by LLVM's disassembler and by ACO itself are counted alike.
fn counts() -> Result<(), String> {
    let ours = "; v99 is a comment\n\t.amdhsa_code_object_version 5\nmain:\n\ts_load_b64 s[2:3], s[0:1], 0\n.L1:\n\
                \tv_add_nc_u32 v0, s4, v7\n\ts_waitcnt lgkmcnt(0)\n\tv_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v3, v4\n\
                \ts_cbranch_scc1 .L1\n\ts_endpgm\n\t.amdhsa_kernel main\n\tv_mov_b32 v200, 0\n";
    let printed = "BB0\n\t v1: %5:v[3] = v_lshl_add_u32 %26:s[117], 6, %25:v[0]\n\ts_delay_alu valu_dep_1\nBB1\n\
                   /* logical preds: BB0, / kind: uniform, */\n\t s4: %12:s[0-3] = s_load_dwordx4 %10:s[2-3], 0\n\
                   \ts_cbranch_execz block:BB1\n\ts_endpgm\n*** SHADER STATS ***\nv9\n";
    let expected = [
        Tally {
            vector: 2,
            scalar: 1,
            scalar_memory: 1,
            branches: 1,
            waits: 1,
            weighted: 2 + 3 * TURNS,
            vectors: 8,
            scalars: 5,
            ..Tally::default()
        },
        Tally {
            vector: 1,
            scalar: 1,
            scalar_memory: 1,
            branches: 1,
            weighted: 2 + 2 * TURNS,
            vectors: 4,
            scalars: 4,
            ..Tally::default()
        },
        Tally { vector: 1, weighted: 1, vectors: 10, scalars: 5, ..Tally::default() },
    ];
    for (listing, expected) in
        [ours, printed, "\tv_mac_f32_e32 v2, s4, v[8:9]   ; 2c040204\n"].into_iter().zip(expected)
    {
        let found = Tally::of(listing);
        if found != expected {
            return Err(format!("{found:?} is not {expected:?} in\n{listing}"));
        }
    }
    Ok(())
}

/// A kernel with glslang's module.
struct Case {
    kernel: Kernel,
    module: Vec<u32>,
}

/// The columns of the page: a title, and the number of a side.
type Column = (&'static str, fn(&Side) -> u64);

const COLUMNS: [Column; 10] = [
    ("instructions", |side| side.tally.all()),
    ("weighted", |side| side.tally.weighted),
    ("VALU", |side| side.tally.vector),
    ("SALU", |side| side.tally.scalar),
    ("memory", |side| side.tally.memory()),
    ("branches", |side| side.tally.branches),
    ("waits", |side| side.tally.waits),
    ("bytes", |side| side.bytes),
    ("VGPRs", |side| side.tally.vectors),
    ("SGPRs", |side| side.tally.scalars),
];

/// One compiler's code for a kernel.
#[derive(Default)]
struct Side {
    tally: Tally,
    bytes: u64,
}

fn write(page: PathBuf) -> Result<(), String> {
    let cases = cases()?;
    let mut text = INTRODUCTION.replace("TURNS", &TURNS.to_string());
    let mut means = Vec::new();
    let mut tables = String::new();
    let mut wrong = Vec::new();
    for hardware in &HARDWARE {
        let (mean, table) = section(hardware, &cases, &mut wrong)?;
        means.push(mean);
        let _ = write!(tables, "\n## {}\n\n{table}", hardware.processor);
    }
    text += &report::table(&titles("processor"), &means);
    tables += &images()?;
    let path = support::root().join(page);
    std::fs::write(&path, text + &tables).map_err(|e| format!("{}: {e}", path.display()))?;
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn cases() -> Result<Vec<Case>, String> {
    if !whole::has_ggml() {
        return Err("CROSSLANE_GGML does not name the folder of ggml's shaders".to_owned());
    }
    let is_kernel = |row: &&Row| !matches!(row.origin, whole::Origin::Operation(_));
    let rows = whole::own().filter(is_kernel).chain(whole::of_ggml()).chain(whole::listed());
    let kernels = rows.map(Kernel::read).collect::<Result<Vec<_>, _>>()?;
    let theirs: Vec<&str> = kernels.iter().map(|kernel| kernel.theirs.as_str()).collect();
    let modules = judge::glslang_all(&theirs, "comp");
    let case = |(kernel, module): (Kernel, Result<Vec<u32>, String>)| {
        let module = module.map_err(|why| format!("{}: {why}", kernel.row.name))?;
        Ok(Case { kernel, module })
    };
    kernels.into_iter().zip(modules).map(case).collect()
}

/// The geometric mean of ratios, empty if there are none.
fn mean(ratios: &[f64]) -> String {
    geometric_mean(ratios).map_or(String::new(), |mean| format!("{mean:.2}"))
}

/// The row of geometric means, and the table of all kernels on a processor. Failed runs are added to `wrong`.
fn section(hardware: &Hardware, cases: &[Case], wrong: &mut Vec<String>) -> Result<(Vec<String>, String), String> {
    let mut rows = Vec::new();
    let mut ratios = vec![Vec::new(); COLUMNS.len()];
    let mut run = Runs::default();
    for case in cases {
        let of_it = |why: String| format!("{} for {}: {why}", case.kernel.row.name, hardware.profile);
        let program = case.kernel.amd(hardware.profile).map_err(of_it)?;
        let theirs = theirs(&shader(case, hardware), hardware).map_err(of_it)?;
        rows.push(compared(case.kernel.row.name, &ours(&program, hardware).map_err(of_it)?, &theirs, &mut ratios));
        if hardware.is_run && case.kernel.row.has_case() && !NOT_RUN.contains(&case.kernel.row.name) {
            match runs(case, &program, hardware) {
                Ok((ours, theirs)) => run.add(case.kernel.row.name, ours, theirs),
                Err(why) => wrong.push(of_it(why)),
            }
        }
    }
    Ok((means_of(hardware.processor, &ratios), report::table(&titles("kernel"), &rows) + &run.text(hardware.processor)))
}

/// The column titles of a table about code; the first one names the rows.
fn titles(first: &str) -> Vec<&str> {
    std::iter::once(first).chain(COLUMNS.iter().map(|(title, _)| *title)).collect()
}

fn means_of(name: &str, ratios: &[Vec<f64>]) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(ratios.iter().map(|ratios| mean(ratios))).collect()
}

/// The row of a kernel; adds to the ratios of each column.
fn compared(name: &str, ours: &Side, theirs: &Side, ratios: &mut [Vec<f64>]) -> Vec<String> {
    let mut row = vec![name.to_owned()];
    for ((_, number), ratios) in COLUMNS.iter().zip(ratios) {
        let (ours, theirs) = (number(ours), number(theirs));
        row.push(format!("{ours} / {theirs}"));
        ratios.push((ours as f64 + 1.0) / (theirs as f64 + 1.0));
    }
    row
}

fn ours(program: &Program, hardware: &Hardware) -> Result<Side, String> {
    let bytes = assembler::code_bytes(&program.text, hardware.processor, hardware.wave)? as u64;
    Ok(Side { tally: Tally::of(&program.text), bytes })
}

/// The tables for the fixtures with images: the means for each processor, followed by all fixtures.
fn images() -> Result<String, String> {
    let cases = super::images::cases();
    let mut means = Vec::new();
    let mut tables = String::new();
    for hardware in &HARDWARE {
        let profile = Profile::named(hardware.profile).ok_or("no profile")?;
        let (mut rows, mut ratios) = (Vec::new(), vec![Vec::new(); COLUMNS.len()]);
        for case in &cases {
            let of_it = |why: String| format!("{} for {}: {why}", case.name, hardware.profile);
            let Some(program) = super::images::program(case, &profile).map_err(of_it)? else { continue };
            let name = case.name.trim_end_matches(".comp");
            let Some(theirs) = theirs_of_images(case, hardware).map_err(of_it)? else {
                // Without a device, the driver fails if the hardware lacks what the shader requires.
                rows.push(vec![name.to_owned()]);
                continue;
            };
            rows.push(compared(name, &ours(&program, hardware).map_err(of_it)?, &theirs, &mut ratios));
        }
        means.push(means_of(hardware.processor, &ratios));
        let _ =
            write!(tables, "\n### Images on {}\n\n{}", hardware.processor, report::table(&titles("fixture"), &rows));
    }
    Ok(IMAGES.to_owned() + &report::table(&titles("processor"), &means) + &tables)
}

/// ACO's code for a fixture; `None` if RADV terminates without it.
fn theirs_of_images(case: &graphics::Case, hardware: &Hardware) -> Result<Option<Side>, String> {
    let (modules, request) = (case.modules()?, &case.request);
    let slots = request.slots();
    let shader = radv::Shader {
        module: modules.first().ok_or("no module")?,
        buffers: 0,
        others: &slots,
        push_bytes: request.push_constants.len(),
        wave: Some(hardware.wave),
        constants: &request.spec_constants,
    };
    match theirs(&shader, hardware) {
        Err(why) if why.starts_with("RADV for ") => Ok(None),
        side => side.map(Some),
    }
}

/// Runs both codes on the small case: the buffers of both must match the simulator's. Returns the counts of both, or
/// why ACO's code does not run.
fn runs(case: &Case, program: &Program, hardware: &Hardware) -> Result<(Run, Result<Run, String>), String> {
    let request = case.kernel.request();
    let ours = Run::of(traced(program, hardware.processor, &request)?, hardware)?;
    let simulated = case.kernel.simulated()?;
    let theirs = aco::run(&shader(case, hardware), hardware.family, hardware.processor, &request);
    let held = theirs.and_then(|(after, run)| case.kernel.hold(&simulated, &after).map(|()| run));
    Ok((ours, held.and_then(|run| Run::of(run, hardware))))
}

/// The instructions that a run executed, and the modelled cycles of its first wave.
struct Run {
    executed: Executed,
    cycles: u64,
}

impl Run {
    fn of(run: Traced, hardware: &Hardware) -> Result<Self, String> {
        let cycles = assembler::modelled_cycles(&run.first_wave, hardware.processor, hardware.wave)?;
        Ok(Self { executed: run.executed, cycles })
    }

    /// A number for all waves, divided by the number of waves.
    fn each(&self, number: u64) -> f64 {
        number as f64 / self.executed.waves.max(1) as f64
    }
}

/// A column of the executed instructions: a title, and the number of a wave.
type Count = (&'static str, fn(&Run) -> f64);

/// The columns for what a wave executes on average.
const EXECUTED: [Count; 6] = [
    ("instructions", |run| run.each(run.executed.all())),
    ("VALU", |run| run.each(run.executed.vector)),
    ("SALU", |run| run.each(run.executed.scalar)),
    ("memory", |run| run.each(run.executed.memory)),
    ("branches", |run| run.each(run.executed.branches)),
    ("cycles", |run| run.cycles as f64),
];

/// The columns of ratios that follow.
const RATIOS: [&str; 2] = ["instructions' ratio", "cycles' ratio"];

/// The table of executed instructions of a processor.
#[derive(Default)]
struct Runs {
    rows: Vec<Vec<String>>,
    ratios: [Vec<f64>; EXECUTED.len()],
    /// Kernels whose ACO code does not run, with the reason.
    refused: String,
}

impl Runs {
    fn add(&mut self, name: &str, ours: Run, theirs: Result<Run, String>) {
        let theirs = match theirs {
            Ok(theirs) => theirs,
            Err(why) => {
                let line = why.lines().next().unwrap_or_default();
                let _ = writeln!(self.refused, "- {name}: {line}");
                return;
            }
        };
        let mut row = vec![name.to_owned()];
        for ((_, number), ratios) in EXECUTED.iter().zip(&mut self.ratios) {
            let (ours, theirs) = (number(&ours), number(&theirs));
            row.push(format!("{ours:.0} / {theirs:.0}"));
            ratios.push((ours + 1.0) / (theirs + 1.0));
        }
        let last = |column: usize| self.ratios[column].last().map_or(String::new(), |ratio| format!("{ratio:.2}"));
        row.extend([last(0), last(EXECUTED.len() - 1)]);
        self.rows.push(row);
    }

    /// The table with the means of its ratios, if anything ran.
    fn text(&self, processor: &str) -> String {
        if self.rows.is_empty() && self.refused.is_empty() {
            return String::new();
        }
        let titles: Vec<&str> =
            std::iter::once("kernel").chain(EXECUTED.iter().map(|(title, _)| *title)).chain(RATIOS).collect();
        let means = std::iter::once("geometric mean".to_owned()).chain(self.ratios.iter().map(|ratios| mean(ratios)));
        let means = means.chain(RATIOS.map(|_| String::new()));
        let rows: Vec<Vec<String>> = self.rows.iter().cloned().chain([means.collect()]).collect();
        let table = report::table(&titles, &rows);
        let refused = match &self.refused[..] {
            "" => String::new(),
            lines => format!("\nACO's code is not run:\n\n{lines}"),
        };
        format!("\n### Executed on {processor}\n\n{table}{refused}")
    }
}

fn shader<'c>(case: &'c Case, hardware: &Hardware) -> radv::Shader<'c> {
    let row = case.kernel.row;
    radv::Shader {
        module: &case.module,
        buffers: row.buffers.len(),
        others: &[],
        push_bytes: 4 * row.push.len(),
        wave: Some(hardware.wave),
        constants: row.constants,
    }
}

/// ACO's code of a shader.
fn theirs(shader: &radv::Shader<'_>, hardware: &Hardware) -> Result<Side, String> {
    let said = radv::measured(shader, hardware.family)?;
    let tally = Tally::of(&said);
    let statistics: BTreeMap<&str, &str> = said.lines().filter_map(|line| line.split_once(": ")).collect();
    let bytes = statistics.get("Code size").and_then(|bytes| bytes.trim().parse().ok());
    match bytes {
        Some(bytes) if tally.all() > 0 => Ok(Side { tally, bytes }),
        _ => Err(format!("RADV printed no listing or no statistics:\n{said}")),
    }
}

const IMAGES: &str = "
## Images

The fixtures of `fixtures/graphics` with images, textures and texel buffers, counted as above but not executed. Rows
without numbers are fixtures that RADV does not compile for the processor.

";

const INTRODUCTION: &str = "# AMD kernels beside ACO's

Whole kernels for AMD's hardware, compared with ACO, Mesa's compiler. ACO compiles glslang's module of the same source, with the same
specialization constants and wave size, in RADV of Mesa 25.0.7 without a device. No GPU ran either.

```sh
CROSSLANE_ACO=docs/verified/speed-amd.md CROSSLANE_GGML=ggml/src/ggml-vulkan/vulkan-shaders cargo test --profile ci --test judged amd::speed
```

A cell is \"ours / ACO's\". Instructions leave out waits, no-operations and hints (`s_delay_alu`, `s_clause`), which change no
result; a pair of `v_dual_` counts as one. *weighted* counts the instructions of a loop TURNS times as often as those around it; it
favours whoever unrolls a loop of fewer turns. *bytes* are those of the code, registers the highest that the code names. The tables of executed
instructions are averages per wave of 32 lanes over the small case of `tests/support/whole`: the interpreter of `tests/support/amd` runs
both listings, and both leave the buffers that the simulator does. Waits, barriers, hints and the end are not counted. *cycles* are
those that LLVM's model of the processor (llvm-mca 22) gives the instructions that the first wave executed, in their order: one wave alone
on a SIMD, which waits for all memory it asks for. Barriers are left out, since the model gives one of them 2,000 cycles and those after it
none as long as these last. There are no cycles for gfx900, since the cases are for waves of 32 lanes, nor for gfx1201, for which ACO prints
its own form only. Kernels without a case and kernels that take the interpreter minutes are left out. ACO's kernels have push constants
and workgroup numbers in scalar registers at their start and buffers behind descriptors; ours load both from their arguments. The kernels
of ggml are its own files (`src/ggml-vulkan/vulkan-shaders` of ggml-org/ggml d99724f2).

Above 1.2 in executed instructions: fft, since the sine and the cosine of an operand take a product each, and a branch leads over arms of
two instructions; histogram on gfx1030, since ACO's shifts take a byte of a word themselves there, with the amount in a register (SDWA);
topk, raymarch and ggml's mul_mat_vec on gfx1100, since ACO gives more pairs of instructions registers with which they can be one (`v_dual_`).

Above 1.2 in cycles: votes, since a comparison and its opposite are both made before what depends on them; rms_norm, and ggml's soft_max and
rms_norm on gfx1100, since a `readonly` buffer that is not `restrict` may be the memory that is written: its loads stay after the stores,
while ACO moves them before. With `restrict` the loads of rms_norm are issued together.

Geometric means of the ratios, one added to both sides; below 1 ours is the smaller one.

";
