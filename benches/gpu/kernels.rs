//! Whole kernels, and single operations in loops, each in five ways: measured alternately, and compared with the
//! simulator and with each other.

use crate::overhead::Overhead;
use crate::ways::Way;
use crosslane::run::{cuda, vulkan};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::device::gl::Painter;
use support::rates::{Ratio, Turns, faster, geometric_mean, microseconds};
use support::report;
use support::simulator::After;
use support::whole::{self, Kernel, Origin, Row};

/// Rounds in which each kernel is measured.
const TURNS: usize = 21;

/// The available devices.
pub struct Devices<'a> {
    pub painter: Option<&'a Painter>,
    pub vulkan: Option<&'a vulkan::Device>,
    pub cuda: Option<&'a cuda::Device>,
    pub overhead: Overhead,
}

/// The results of all kernels.
pub struct Found {
    pub sections: Vec<(&'static str, String)>,
    pub are_right: bool,
}

/// The kernels whose names contain one of these; all if there are none.
fn rows(names: &[&str]) -> impl Iterator<Item = &'static Row> {
    if !whole::has_ggml() {
        eprintln!("left out: the kernels of ggml (CROSSLANE_GGML does not name the folder of its shaders)");
    }
    let rows = whole::own().chain(whole::of_ggml().filter(|_| whole::has_ggml()));
    rows.filter(move |row| names.is_empty() || names.iter().any(|name| row.name.contains(name)))
}

/// Prints kernels as passed to the driver.
pub fn print_texts(names: &[&str]) -> ExitCode {
    let text = |row: &'static Row| Kernel::read(row).map(|kernel| println!("// {}\n{}", row.name, kernel.driver));
    match rows(names).try_for_each(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// A kernel, and the buffers after the simulator ran its small case.
struct Known {
    row: &'static Row,
    read: Result<(Kernel, Vec<After>), String>,
}

/// Reads and simulates the kernels whose names contain one of these, several at a time.
fn known(names: &[&str]) -> Vec<Known> {
    let rows: Vec<&'static Row> = rows(names).collect();
    let next = AtomicUsize::new(0);
    let one = |row: &'static Row| -> Result<(Kernel, Vec<After>), String> {
        let kernel = Kernel::read(row)?;
        let simulated = kernel.simulated().map_err(|why| format!("simulator: {why}"))?;
        Ok((kernel, simulated))
    };
    let work = || -> Vec<(usize, Known)> {
        let mine = std::iter::from_fn(|| {
            let n = next.fetch_add(1, Ordering::Relaxed);
            rows.get(n).map(|row| (n, Known { row, read: one(row) }))
        });
        mine.collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(usize, Known)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("it does not panic")).collect()
    });
    all.sort_by_key(|(n, _)| *n);
    all.into_iter().map(|(_, known)| known).collect()
}

/// Compares the results of kernels and returns true if they are right.
pub fn check_all(devices: &Devices<'_>, names: &[&str]) -> bool {
    let mut are_right = true;
    for Known { row, read } in known(names) {
        let done = read.map(|(kernel, simulated)| {
            let mut ways = ways(devices, &kernel);
            let refused = |way: &Result<Way<'_>, String>| way.as_ref().err().filter(|why| *why != ABSENT).cloned();
            (ways.iter().filter_map(refused).collect::<Vec<_>>(), check(&kernel, &simulated, &mut ways))
        });
        let (refused, wrong) = done.unwrap_or_else(|why| (Vec::new(), vec![why]));
        eprintln!("{}: {}", row.name, if wrong.is_empty() { "right" } else { "wrong" });
        refused.iter().for_each(|why| eprintln!("refused: {why}"));
        wrong.iter().for_each(|why| eprintln!("error: {why}"));
        are_right &= wrong.is_empty();
    }
    are_right
}

/// Measures kernels.
pub fn measure(devices: &Devices<'_>, names: &[&str]) -> Found {
    let all: Vec<Measured> = known(names).into_iter().map(|known| Measured::new(devices, known)).collect();
    let (operations, kernels): (Vec<&Measured>, Vec<&Measured>) = all.iter().partition(|one| one.is_operation());
    let tables = [("Kernels", kernels), ("Operations in loops", operations)];
    let sections = tables
        .map(|(title, all)| (title, format!("{}\n{}\n\n{}", device(devices), devices.overhead, section(&all))))
        .to_vec();
    Found { sections, are_right: all.iter().all(|one| one.wrong.is_empty()) }
}

fn device(devices: &Devices<'_>) -> String {
    let opengl = devices.painter.map(|painter| {
        let info = painter.device.info();
        ["OpenGL".to_owned(), format!("{}, {}", info.name, info.version)].to_vec()
    });
    let vulkan = devices.vulkan.map(|device| {
        let info = device.info();
        ["Vulkan".to_owned(), format!("{}, {}", info.name, info.driver)].to_vec()
    });
    let cuda = devices.cuda.map(|device| vec!["CUDA".to_owned(), device.info().to_string()]);
    let rows: Vec<Vec<String>> = opengl.into_iter().chain(vulkan).chain(cuda).collect();
    report::table(&["interface", "device and driver"], &rows)
}

/// The ways to run a kernel, in table order: crosslane's and the rival's, as assembly and as SPIR-V, and crosslane's as
/// PTX.
const WAYS: [&str; 5] = ["assembly", "driver", "SPIR-V", "glslang", "PTX"];

/// The ways to run a kernel.
type Ways<'d> = [Result<Way<'d>, String>; 5];

fn ways<'d>(devices: &Devices<'d>, kernel: &Kernel) -> Ways<'d> {
    let gl = || devices.painter.ok_or_else(|| ABSENT.to_owned());
    let vulkan = || devices.vulkan.ok_or_else(|| ABSENT.to_owned());
    [
        gl().and_then(|painter| Way::assembly(painter, kernel)),
        gl().and_then(|painter| Way::driver(painter, kernel)),
        vulkan().and_then(|device| Way::spirv(device, kernel)),
        vulkan().and_then(|device| Way::glslang(device, kernel)),
        devices.cuda.ok_or_else(|| ABSENT.to_owned()).and_then(|device| Way::ptx(device, kernel)),
    ]
}

/// The result of one way.
type Outcome = Result<Turns, String>;

/// The results of a kernel.
struct Measured {
    row: &'static Row,
    outcomes: [Outcome; 5],
    overhead: Overhead,
    /// The ways with wrong results, and the differences.
    wrong: Vec<String>,
}

impl Measured {
    fn new(devices: &Devices<'_>, Known { row, read }: Known) -> Measured {
        let done = match read {
            Ok((kernel, simulated)) => {
                let mut ways = ways(devices, &kernel);
                let wrong = check(&kernel, &simulated, &mut ways);
                Measured { row, outcomes: time(&kernel, ways), overhead: devices.overhead, wrong }
            }
            Err(why) => Measured {
                row,
                outcomes: WAYS.map(|_| Err(WRONG.to_owned())),
                overhead: devices.overhead,
                wrong: vec![why],
            },
        };
        eprintln!("{}", done.cells().join(" | "));
        done.wrong.iter().for_each(|why| eprintln!("error: {}: {why}", row.name));
        done
    }

    fn is_operation(&self) -> bool {
        matches!(self.row.origin, Origin::Operation(_))
    }

    /// The ratios of assembly to the driver's program (without one, to glslang's module on Vulkan), of the two modules,
    /// and of PTX to the faster of assembly and the driver's program.
    fn ratios(&self) -> [Option<Ratio>; 3] {
        let ratio = |ours: &Outcome, theirs: &Outcome| Some(Ratio::new(ours.as_ref().ok()?, theirs.as_ref().ok()?));
        let [assembly, driver, spirv, glslang, ptx] = &self.outcomes;
        let best = match (assembly, driver) {
            (Ok(assembly), Ok(driver)) => Some(faster(assembly, driver)),
            (one, other) => one.as_ref().or(other.as_ref()).ok(),
        };
        [
            ratio(assembly, driver).or_else(|| ratio(assembly, glslang)),
            ratio(spirv, glslang),
            best.and_then(|best| Some(self.overhead.ratio(ptx.as_ref().ok()?, best))),
        ]
    }

    fn cells(&self) -> Vec<String> {
        let time = |outcome: &Outcome| match outcome {
            Ok(turns) => format!("{:.1}", microseconds(turns)),
            Err(why) => why.lines().next().filter(|why| [ABSENT, WRONG].contains(why)).unwrap_or("refused").to_owned(),
        };
        let [assembly, driver, spirv, glslang, ptx] = self.outcomes.each_ref().map(time);
        let [first, second, third] =
            self.ratios().map(|ratio| ratio.map_or(ABSENT.to_owned(), |ratio| ratio.to_string()));
        let mark = if self.outcomes[1].is_err() && self.ratios()[0].is_some() { " †" } else { "" };
        vec![self.row.name.to_owned(), assembly, driver, first + mark, spirv, glslang, second, ptx, third]
    }

    /// Why some ways are missing.
    fn refusals(&self) -> impl Iterator<Item = String> {
        let of = |(way, outcome): (&str, &Outcome)| {
            let why = outcome.as_ref().err().filter(|why| ![ABSENT, WRONG].contains(&why.as_str()))?;
            let told = why.lines().find(|line| line.contains("error")).or(why.lines().next()).unwrap_or_default();
            Some(format!("- {}, {way}: `{}`", self.row.name, told.replace('`', "'")))
        };
        WAYS.into_iter().zip(&self.outcomes).filter_map(of).collect::<Vec<_>>().into_iter()
    }
}

/// Text of cells without a time.
const ABSENT: &str = "–";
const WRONG: &str = "wrong";

/// Compares each way with the simulator on the small case and with the first way on the whole one; wrong results become
/// errors.
fn check(kernel: &Kernel, simulated: &[After], ways: &mut Ways<'_>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut first = None;
    for (name, way) in WAYS.into_iter().zip(ways) {
        let Ok(made) = way else { continue };
        let held = made.run(kernel.row.checked).and_then(|after| kernel.hold(simulated, &after));
        let held = held.and_then(|()| made.run(kernel.row.groups)).and_then(|after| match &first {
            None => {
                first = Some(after);
                Ok(())
            }
            Some(first) => kernel.alike(first, &after),
        });
        if let Err(why) = held {
            wrong.push(format!("{name}: {why}"));
            *way = Err(WRONG.to_owned());
        }
    }
    wrong
}

/// Runs the ways alternately. The first round only wakes the clocks.
fn time(kernel: &Kernel, ways: Ways<'_>) -> [Outcome; 5] {
    let mut all = ways.each_ref().map(|way| way.as_ref().map(|_| Turns::new()).map_err(Clone::clone));
    for turn in 0..=TURNS {
        for (way, turns) in ways.iter().zip(&mut all) {
            let (Ok(way), Ok(done)) = (way, turns.as_mut()) else { continue };
            match way.time(kernel.row.groups) {
                Ok(times) if turn > 0 => done.push(times),
                Ok(_) => {}
                Err(why) => *turns = Err(why),
            }
        }
    }
    all
}

fn section(all: &[&Measured]) -> String {
    let head = [
        "kernel",
        "crosslane, µs",
        "driver, µs",
        "ratio",
        "SPIR-V, µs",
        "glslang, µs",
        "ratio",
        "PTX, µs",
        "to the faster of assembly and driver",
    ];
    let rows: Vec<Vec<String>> = all.iter().map(|one| one.cells()).collect();
    let mut text = format!(
        "Medians of {TURNS} rounds of 5 runs; a ratio is the median over the rounds, with the range of the middle eight of ten in \
         parentheses. Compare times only within a row, because the GPU's clock changes between rows.\n\n{}",
        report::table(&head, &rows)
    );
    if rows.iter().any(|cells| cells[3].ends_with('†')) {
        text += "\n† beside glslang's module on Vulkan, where the driver refuses the GLSL or leaves something wrong.\n";
    }
    let columns = [
        "NVIDIA assembly beside the driver",
        "SPIR-V beside glslang",
        "PTX beside the faster of NVIDIA assembly and the driver",
    ];
    for (n, column) in columns.into_iter().enumerate() {
        text += &summary(all, n, column);
    }
    let notes: Vec<String> = all.iter().flat_map(|one| one.refusals()).collect();
    if !notes.is_empty() {
        text += &format!("\nRefused:\n\n{}\n", notes.join("\n"));
    }
    let wrong = all.iter().flat_map(|one| &one.wrong).count();
    text + &format!("\nResults that are wrong: {wrong}.\n")
}

/// The mean of a column, and the rows that are slower by more than the spread.
fn summary(all: &[&Measured], n: usize, column: &str) -> String {
    let ratios: Vec<(&str, Ratio)> = all.iter().filter_map(|one| Some((one.row.name, one.ratios()[n]?))).collect();
    let middles: Vec<f64> = ratios.iter().map(|(_, ratio)| ratio.middle).collect();
    let Some(mean) = geometric_mean(&middles) else { return String::new() };
    let slower: Vec<String> = ratios
        .iter()
        .filter(|(_, ratio)| ratio.low > 1.0)
        .map(|(name, ratio)| format!("{name} {:.2}", ratio.middle))
        .collect();
    let slower = if slower.is_empty() { "none".to_owned() } else { slower.join("; ") };
    format!("\n{column}: geometric mean of {} rows {mean:.3}; above 1.00 beyond the spread: {slower}.\n", middles.len())
}
