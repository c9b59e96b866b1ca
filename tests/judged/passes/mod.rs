//! Passes on kernels: each file in `tests/passes` contains a kernel, the passes to run, and the expected kernel.
//! `tests/README.md` explains the notation; `CROSSLANE_BLESS=1` writes the result.
//!
//! Both kernels must be valid, and give the same results in the simulator.

mod reads;
mod runs;

use crosslane::kernel::pass::{
    EXPANDING, FP_CONTRACT, GATHERING, OPTIMIZING, Pass, REDUCING, REPEATING, fp_contract, optimize,
};
use crosslane::kernel::print::print;
use crosslane::kernel::verify::verify;
use crosslane::kernel::{Kernel, lower_lanes};
use crosslane::profile::Profile;
use std::fs;
use support::kernel::read;
use support::trial::{Trial, trial};
use support::{bless, fixture, root};

const FOLDER: &str = "tests/passes";

/// The line between the two kernels.
const BECOMES: &str = "// becomes";

/// Files that each pass should have.
const ENOUGH: usize = 3;

/// Steps that are not single passes: the lowering of lanes, which needs a profile, as contraction does, and all passes
/// of a target.
const LOWER_LANES: &str = "lower_lanes";
const OPTIMIZE: &str = "optimize";

pub fn trials() -> Vec<Trial> {
    let files: Vec<String> = fs::read_dir(root().join(FOLDER))
        .expect("the tests are part of the repository")
        .flat_map(|folder| {
            let folder = folder.expect("a readable folder").file_name().into_string().expect("UTF-8");
            fixture::files(&format!("{FOLDER}/{folder}")).into_iter().map(move |file| {
                let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
                format!("{folder}/{stem}")
            })
        })
        .collect();
    let mut trials: Vec<Trial> = passes().map(|name| enough(name, &files)).collect();
    trials.extend(reads::trials());
    trials.extend(files.into_iter().map(|name| trial(name.replace('/', "::"), move || check(&name))));
    trials
}

fn single_passes() -> impl Iterator<Item = Pass> {
    EXPANDING.into_iter().chain(OPTIMIZING).chain(REDUCING).chain(GATHERING).chain(REPEATING)
}

fn passes() -> impl Iterator<Item = &'static str> {
    single_passes().map(|pass| pass.name).chain([LOWER_LANES, FP_CONTRACT])
}

fn enough(pass: &'static str, files: &[String]) -> Trial {
    let count = files.iter().filter(|file| file.split('/').next() == Some(pass)).count();
    trial(format!("{pass}::has_enough_files"), move || {
        if count < ENOUGH { Err(format!("{count} files in {FOLDER}/{pass}")) } else { Ok(()) }
    })
}

/// The lines of a file before its kernel.
struct Header {
    steps: Vec<String>,
    profile: Option<Profile>,
    /// True unless the first kernel cannot run in the simulator or computes nothing that is defined.
    is_run: bool,
}

impl Header {
    fn read(text: &str) -> Result<Header, String> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let steps = value("// run:").ok_or("`// run: PASS` is missing")?;
        let steps = steps.split(',').map(|step| step.trim().to_owned()).collect();
        let named = |name: &str| Profile::named(name).ok_or_else(|| format!("unknown profile `{name}`"));
        let profile = value("// profile:").map(named).transpose()?;
        Ok(Header { steps, profile, is_run: value("// not run:").is_none() })
    }
}

fn check(name: &str) -> Result<(), String> {
    let path = format!("{FOLDER}/{name}.kernel");
    let text = fs::read_to_string(root().join(&path)).map_err(|error| format!("{path}: {error}"))?;
    let given = text.split_once(BECOMES).map_or(&*text, |(given, _)| given).trim_end();
    let header = Header::read(given)?;
    let folder = name.split('/').next().unwrap_or_default();
    if !header.steps.iter().any(|step| step == folder) {
        return Err(format!("{path} does not run {folder}"));
    }
    let before = read(given).map_err(|error| format!("{path}: {error}"))?;
    sound(&before, "the first kernel")?;
    let mut after = before.clone();
    header.steps.iter().try_for_each(|step| run(step, header.profile.as_ref(), &mut after))?;
    let made = print(&after, None);
    sound(&after, "the second kernel").map_err(|why| format!("{why}\n{made}"))?;
    if made == print(&before, None) {
        return Err(format!("{path}: nothing changes, so the test would pass without the pass"));
    }
    if header.is_run {
        let lanes = header.profile.as_ref().and_then(|profile| profile.wave_size).unwrap_or(32);
        runs::alike(&before, &after, lanes).map_err(|why| format!("{path}: {why}\n{made}"))?;
    }
    bless::hold(&path, &format!("{given}\n\n{BECOMES}\n\n{made}"))
}

fn run(step: &str, profile: Option<&Profile>, kernel: &mut Kernel) -> Result<(), String> {
    let profile = profile.ok_or("`// profile: NAME` is missing");
    if step == FP_CONTRACT {
        fp_contract(kernel, profile?);
        return Ok(());
    }
    if step == LOWER_LANES {
        let profile = profile?;
        return lower_lanes(kernel, profile).map_err(|errors| format!("{errors:?}"));
    }
    if step == OPTIMIZE {
        optimize(kernel);
        return Ok(());
    }
    let pass = single_passes().find(|pass| pass.name == step).ok_or_else(|| format!("unknown pass `{step}`"))?;
    (pass.run)(kernel);
    Ok(())
}

fn sound(kernel: &Kernel, which: &str) -> Result<(), String> {
    verify(kernel).map_err(|errors| {
        let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
        format!("{which} is not sound: {}", list.join("; "))
    })
}
