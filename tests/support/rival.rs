//! Crosslane against another compiler: the same source through both, the modules run side by side on lavapipe.

use crosslane::compile::{Artifact, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::render;
use crosslane::ir::Stage;
use crosslane::kernel::Kernel;
use crosslane::kernel::pass::optimize;
use crosslane::kernel::verify::verify;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;

use super::case::Column;
use super::compare::{Closeness, compare};
use super::compiler;

use super::judge;
use super::lavapipe::{self, Buffers, Request};
use super::scalar::Type;
use super::simulator::{self, After};

/// The compared profiles, by default and with `-O` and `-Os`, each with the environment in which its modules must be
/// valid.
pub const PROFILES: [(&str, &str); 8] = [
    ("spirv-1.0", "vulkan1.0"),
    ("spirv-1.0 -O", "vulkan1.0"),
    ("spirv-1.3", "vulkan1.1"),
    ("spirv-1.3 -O", "vulkan1.1"),
    ("spirv-1.5", "vulkan1.2"),
    ("spirv-1.6", "vulkan1.3"),
    ("spirv-1.6 -O", "vulkan1.3"),
    ("spirv-1.6 -Os", "vulkan1.3"),
];

/// Returns true if a profile of [`PROFILES`] has all operations of subgroups.
pub fn has_subgroups(profile: &str) -> bool {
    !profile.starts_with("spirv-1.0")
}

/// glslang's module for a compute shader; some are not valid (copies of structs that contain bools), and those judge
/// nothing.
pub fn theirs(source: &str) -> Result<Vec<u32>, String> {
    theirs_of(source, "comp")
}

/// glslang's module for a stage, given by the extension of its files.
pub fn theirs_of(source: &str, stage: &str) -> Result<Vec<u32>, String> {
    let module = judge::glslang_stage(source, stage)?;
    judge::spirv_val(&module, "vulkan1.3", true).map_err(|e| format!("glslang's module: {e}"))?;
    Ok(module)
}

/// Lanes of the driver on which both modules run: the machine's own driver if enabled, otherwise lavapipe with eight
/// lanes. Nothing here depends on the number.
fn lanes() -> usize {
    lavapipe::own_driver().unwrap_or(8)
}

/// Our module of a compute shader for a profile, or our messages.
pub fn ours(name: &str, source: &str, profile: &str) -> Result<Vec<u32>, String> {
    ours_of(name, source, Stage::Compute, profile)
}

/// Crosslane's module for a stage.
pub fn ours_of(name: &str, source: &str, stage: Stage, profile: &str) -> Result<Vec<u32>, String> {
    let options = Options { stage: Some(stage), ..compiler::named(profile)? };
    let input = Input { name, bytes: source.as_bytes(), language: Language::Glsl };
    let done = compile(&input, &options, &NoIncludes);
    match done.verdict {
        Verdict::Done(Artifact::Spirv(words)) => Ok(words),
        _ => Err(render::human(&done.sources, &done.diagnostics)),
    }
}

/// How a buffer is compared.
#[derive(Debug, Clone, Copy)]
pub struct Judged {
    pub kind: Type,
    pub closeness: Closeness,
}

/// Where the buffers of two runs of one case differ, if anywhere.
pub fn differences(judged: &[Judged], theirs: &Buffers, ours: &Buffers) -> Result<(), String> {
    let expected: Vec<Column> = theirs.iter().map(|words| words.iter().map(|word| Some(*word)).collect()).collect();
    hold(judged, &expected, ours)
}

/// Where buffers differ from a simulation, if anywhere; only words that are defined there are compared.
pub fn same(judged: &[Judged], simulated: &[After], ours: &Buffers) -> Result<(), String> {
    let expected: Vec<Column> = simulated.iter().map(After::column).collect();
    hold(judged, &expected, ours)
}

fn hold(judged: &[Judged], expected: &[Column], ours: &Buffers) -> Result<(), String> {
    for (binding, how) in judged.iter().enumerate() {
        compare(how.kind, how.closeness, &expected[binding], &ours[binding], 1)
            .map_err(|e| format!("{DIFFERS}{binding}: {e}"))?;
    }
    Ok(())
}

/// The start of a message about buffers that differ.
const DIFFERS: &str = "binding ";

/// Returns true if a message is about buffers that differ, not about a kernel that was not compiled or run.
pub fn is_difference(why: &str) -> bool {
    why.contains(DIFFERS)
}

/// Runs a module over the case that `request` describes.
pub fn run(request: &Request, module: &[u32]) -> Result<Vec<Buffers>, String> {
    lavapipe::run(lanes(), &Request { spirv: module.to_vec(), ..request.clone() })
}

/// Checks a source completely: valid for each profile, and the same buffers as glslang's module gives, on the driver
/// and simulated.
pub fn agree(name: &str, source: &str, request: &Request, judged: &[Judged]) -> Result<(), String> {
    let theirs = run(request, &theirs(source)?).map_err(|e| format!("glslang's module: {e}"))?;
    let make = |profile: &str| ours(name, source, profile).map(|module| vec![module]);
    hold_profiles(source, judged, &theirs, make, |modules| run(request, &modules[0]))?;
    simulated(name, source, request, judged, &theirs)
}

/// The profiles from the first that a line `// from spirv-1.5` of the source names, or all.
pub fn profiles_of(source: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let first = source.lines().find_map(|line| line.strip_prefix("// from ")).unwrap_or(PROFILES[0].0).to_owned();
    PROFILES.into_iter().skip_while(move |(profile, _)| *profile != first)
}

/// Checks crosslane's modules for each profile from the first that `source` names: they are valid, and give the same
/// results as glslang's.
pub fn hold_profiles(
    source: &str,
    judged: &[Judged],
    theirs: &[Buffers],
    make: impl Fn(&str) -> Result<Vec<Vec<u32>>, String>,
    run: impl Fn(&[Vec<u32>]) -> Result<Vec<Buffers>, String>,
) -> Result<(), String> {
    let mut seen: Vec<Vec<Vec<u32>>> = Vec::new();
    let scalar = source.contains("GL_EXT_scalar_block_layout");
    for (profile, environment) in profiles_of(source) {
        let modules = make(profile)?;
        for module in &modules {
            judge::spirv_val(module, environment, scalar).map_err(|e| format!("{profile}: {e}"))?;
        }
        // Everything but the version in the header.
        let known = |known: &Vec<Vec<u32>>| known.iter().zip(&modules).all(|(a, b)| a[2..] == b[2..]);
        if seen.iter().any(known) {
            continue;
        }
        for (index, (theirs, ours)) in
            theirs.iter().zip(&run(&modules).map_err(|e| format!("{profile}: {e}"))?).enumerate()
        {
            differences(judged, theirs, ours).map_err(|e| format!("{profile}, run {index}: {e}"))?;
        }
        seen.push(modules);
    }
    Ok(())
}

/// Checks that the simulator gives the same buffers, before and after the passes over kernels.
pub fn simulated(
    name: &str,
    source: &str,
    request: &Request,
    judged: &[Judged],
    theirs: &[Buffers],
) -> Result<(), String> {
    let profile = Profile::named("spirv-1.6").ok_or("no such profile")?;
    let input = Input { name, bytes: source.as_bytes(), language: Language::Glsl };
    let mut kernel = compiler::parsed(&input, &Options::new(profile), &request.settings())?;
    simulated_once(&kernel, request, judged, theirs).map_err(|why| format!("simulated, {why}"))?;
    optimize(&mut kernel);
    simulated_once(&kernel, request, judged, theirs).map_err(|why| format!("simulated after the passes, {why}"))
}

fn simulated_once(kernel: &Kernel, request: &Request, judged: &[Judged], theirs: &[Buffers]) -> Result<(), String> {
    verify(kernel).map_err(|errors| format!("{errors:?}"))?;
    for (index, (theirs, after)) in theirs.iter().zip(simulator::run(kernel, lanes(), request)?).enumerate() {
        let ours = after.into_iter().map(|buffer| buffer.words).collect();
        differences(judged, theirs, &ours).map_err(|e| format!("run {index}: {e}"))?;
    }
    Ok(())
}
