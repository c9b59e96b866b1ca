//! The compiler under test, as its users call it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crosslane::backend::nv::Program;
use crosslane::backend::{DebugInfo, Manner, Optimize, amd, ptx};
use crosslane::compile::{self, Artifact, EmitKind, Input, Options, Verdict};
use crosslane::diagnostic::{Diagnostics, render};
use crosslane::glsl::preprocess::MacroOption;
use crosslane::ir::spanning::spanned;
use crosslane::ir::{FpContract, Stage};
use crosslane::kernel::{Kernel, Specializations, lower};
use crosslane::profile::{Profile, Target as Kind, WaveSize};
use crosslane::source::NoIncludes;

use super::fixture::{Build, Fixture, Language};
use super::{dxc, judge};

/// The target for compiling a fixture.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub fixture: &'a Fixture,
    pub language: Language,
    /// A built-in profile or [`NARROW`], optionally followed by an option; the fixture determines whether its
    /// reductions keep the fixed order.
    pub profile: &'a str,
    pub build: Build,
}

/// The module for a fixture, or the compiler's messages; for the profile of a shading language, the module for the
/// generated text.
pub fn spirv(target: Target<'_>) -> Result<Vec<u32>, String> {
    module_of(language(target), artifact(target, EmitKind::Binary)?, Stage::Compute)
}

/// The language of a target's profile.
fn language(target: Target<'_>) -> Kind {
    Profile::named(target.profile).map_or(Kind::Spirv, |profile| profile.target)
}

/// The modules for several fixtures and one profile at once: glslang reads all of their texts in one process.
pub fn spirv_of_all(targets: &[Target<'_>]) -> Result<Vec<Vec<u32>>, String> {
    let built =
        |target: &Target<'_>| artifact(*target, EmitKind::Binary).map_err(|why| format!("{:?}: {why}", target.build));
    let artifacts = targets.iter().map(built).collect::<Result<Vec<_>, _>>()?;
    let kind = targets.first().map_or(Kind::Spirv, |target| language(*target));
    modules_of(kind, &artifacts, Stage::Compute).into_iter().collect()
}

/// A module, or one made from text: WGSL by crosslane; GLSL by glslang, and by crosslane as well, since others may read
/// it; HLSL by DXC.
pub fn module_of(kind: Kind, artifact: Artifact, stage: Stage) -> Result<Vec<u32>, String> {
    modules_of(kind, &[artifact], stage).remove(0)
}

/// The modules for several artifacts of one stage; glslang reads all texts in one process.
pub fn modules_of(kind: Kind, artifacts: &[Artifact], stage: Stage) -> Vec<Result<Vec<u32>, String>> {
    let is_glsl = kind == Kind::Glsl;
    let for_glslang = artifacts.iter().filter_map(|artifact| match artifact {
        Artifact::Text(text) if is_glsl => Some(known_to_glslang(text)),
        _ => None,
    });
    let mut made = by_glslang(&for_glslang.collect::<Vec<_>>(), stage).into_iter();
    let one = |artifact: &Artifact| match (artifact, kind) {
        (Artifact::Spirv(words), _) => Ok(words.clone()),
        (Artifact::Text(text), Kind::Glsl) => {
            let made = made.next().unwrap_or_else(|| Err("glslang was not asked".to_owned()));
            read_again(text, stage).and(made)
        }
        (Artifact::Text(text), Kind::Hlsl) => dxc::module(text, stage),
        (Artifact::Text(text), _) => read_again(text, stage),
    };
    artifacts.iter().map(one).collect()
}

/// The beginning of GLSL.
const VERSION: &str = "#version";

/// NVIDIA's extensions for OpenGL, which glslang does not know, in terms of Khronos' functions.
const NV_THREADS: &str = "\
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#define gl_WarpSizeNV gl_SubgroupSize
#define gl_ThreadInWarpNV gl_SubgroupInvocationID
#define gl_ThreadEqMaskNV gl_SubgroupEqMask.x
#define gl_ThreadGeMaskNV gl_SubgroupGeMask.x
#define gl_ThreadGtMaskNV gl_SubgroupGtMask.x
#define gl_ThreadLeMaskNV gl_SubgroupLeMask.x
#define gl_ThreadLtMaskNV gl_SubgroupLtMask.x
#define allThreadsNV subgroupAll
#define anyThreadNV subgroupAny
#define ballotThreadNV(value) subgroupBallot(value).x
#define shuffleNV(value, lane, width) subgroupShuffle(value, lane)
#define shuffleXorNV(value, lane, width) subgroupShuffleXor(value, lane)
#define shuffleUpNV(value, lane, width) subgroupShuffleUp(value, lane)
#define shuffleDownNV(value, lane, width) subgroupShuffleDown(value, lane)
";

/// A text in a form that glslang can read.
fn known_to_glslang(text: &str) -> String {
    let is_nv = |line: &str| ["GL_NV_shader_thread_", "GL_NV_gpu_shader5"].iter().any(|name| line.contains(name));
    if !text.lines().any(is_nv) {
        return text.to_owned();
    }
    let mut lines = text.lines();
    let version = lines.next().unwrap_or_default();
    let others: Vec<&str> = lines.filter(|line| !is_nv(line)).collect();
    format!("{version}\n{NV_THREADS}{}\n", others.join("\n"))
}

/// A module, or why there is none.
type Made = Result<Vec<u32>, String>;

/// The modules that glslang makes from texts, cached because each is both validated and run.
fn by_glslang(texts: &[String], stage: Stage) -> Vec<Made> {
    static MADE: Mutex<BTreeMap<(&str, String), Made>> = Mutex::new(BTreeMap::new());
    let key = |text: &str| (stage.ending(), text.to_owned());
    let known = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let unknown: Vec<&str> =
        texts.iter().map(String::as_str).filter(|text| !known().contains_key(&key(text))).collect();
    // The tool that reads many texts at once does not support the newer stages.
    let made = match stage {
        Stage::Vertex | Stage::Fragment | Stage::Compute => judge::glslang_all(&unknown, stage.ending()),
        _ => unknown.iter().map(|text| judge::glslang_stage(text, stage.ending())).collect(),
    };
    let said = |(text, made): (&&str, Result<_, String>)| (key(text), made.map_err(|why| format!("{why}\n{text}")));
    known().extend(unknown.iter().zip(made).map(said));
    texts.iter().map(|text| known()[&key(text)].clone()).collect()
}

/// The module that crosslane makes from a generated text.
fn read_again(text: &str, stage: Stage) -> Result<Vec<u32>, String> {
    let is_glsl = text.starts_with(VERSION);
    let language = if is_glsl { compile::Language::Glsl } else { compile::Language::Wgsl };
    let input = Input { name: "again", bytes: text.as_bytes(), language };
    let profile = Profile::named("spirv-1.6").expect("a built-in profile");
    let options = Options { stage: is_glsl.then_some(stage), ..Options::new(profile) };
    let done = compile::compile(&input, &options, &NoIncludes);
    match done.verdict {
        Verdict::Done(Artifact::Spirv(words)) => Ok(words),
        _ => Err(format!("{}\n{text}", render::human(&done.sources, &done.diagnostics))),
    }
}

/// The text for a fixture.
pub fn text(target: Target<'_>) -> Result<String, String> {
    match artifact(target, EmitKind::Binary)? {
        Artifact::Text(text) => Ok(text),
        Artifact::Spirv(_) => Err("words came out where text was asked for".to_string()),
    }
}

/// The reflection of a fixture's artifact, as JSON.
pub fn reflection(target: Target<'_>) -> Result<String, String> {
    match artifact(target, EmitKind::Reflection)? {
        Artifact::Text(text) => Ok(text),
        Artifact::Spirv(_) => Err("words came out where text was asked for".to_string()),
    }
}

/// The assembly for a fixture, where subgroups hold its segments.
pub fn assembly(target: Target<'_>) -> Result<String, String> {
    let mut options = options(target, EmitKind::Assembly)?;
    let width = target.build.width.filter(|width| *width > 4 && target.build.wave.is_none());
    options.profile.promise = width.map(|width| WaveSize::Least(width as u32)).or(options.profile.promise);
    match made(target, &options)? {
        Artifact::Text(text) => Ok(text),
        Artifact::Spirv(_) => Err("words came out where text was asked for".to_string()),
    }
}

/// Appended to a profile's name to contract floats as by default.
pub const CONTRACTED: &str = "--fp-contract=fast";

/// Appended to a profile's name for full debug information.
pub const LINES: &str = "-g2";

/// A profile's name, with `-O` or `-Os` after it for an optimized module, [`LINES`] or [`CONTRACTED`].
fn level(name: &str) -> (&str, Manner, Option<FpContract>) {
    let (profile, option) = name.split_once(' ').unwrap_or((name, ""));
    let optimize = match option {
        "-O" => Optimize::Speed,
        "-Os" => Optimize::Size,
        _ => Optimize::None,
    };
    (profile, Manner { optimize, ..Manner::default() }, (option == CONTRACTED).then_some(FpContract::Fast))
}

/// The options for results that are compared bit for bit. Where crosslane or NVIDIA's driver would contract, results
/// are exact; modules and texts use the defaults unless their reductions are in a fixed order, since nothing that runs
/// them here contracts.
pub fn exact(profile: Profile) -> Options {
    let is_exact = profile.target.is_hardware() || profile.reproducible;
    Options { fp_contract: FpContract::chosen(None, is_exact), ..Options::new(profile) }
}

/// The options for a built-in profile by such a name.
pub fn named(name: &str) -> Result<Options, String> {
    let (profile, manner, fp_contract) = level(name);
    let profile = Profile::named(profile).ok_or_else(|| format!("no profile {profile}"))?;
    let exact = exact(profile);
    let debug = if name.ends_with(LINES) { DebugInfo::Full } else { exact.debug };
    Ok(Options { manner, debug, fp_contract: fp_contract.unwrap_or(exact.fp_contract), ..exact })
}

/// A profile that lacks some features of every SPIR-V, so that other plans are used.
pub const NARROW: &str = "spirv-narrow";

const NARROW_LACKS: &str =
    r#""scans", "ballot-bits", "vote-equal", "varying-distance", "elect", "clustered", "quad-control", "rotate""#;

fn options(target: Target<'_>, emit: EmitKind) -> Result<Options, String> {
    let (name, manner, fp_contract) = level(target.profile);
    let reproducible = target.fixture.reproducible;
    let narrow = format!("inherit = \"spirv-1.6\"\nremove-features = [{NARROW_LACKS}]");
    let heritage = if name == NARROW { narrow } else { format!("inherit = \"{name}\"") };
    let text = format!("name = \"{name}-test\"\nreproducible = {reproducible}\n{heritage}\n");
    let profile = Profile::from_toml(&text, "a test's profile").map_err(|e| e.to_string())?;
    let width = target.build.width.map(|w| MacroOption::Define { name: "WIDTH".to_string(), value: w.to_string() });
    let is_own = profile.wave_size == target.build.wave;
    let profile = if is_own { profile } else { profile.with_wave_size(target.build.wave) };
    let exact = exact(profile);
    let fp_contract = fp_contract.unwrap_or(exact.fp_contract);
    Ok(Options { macros: width.into_iter().collect(), emit, manner, fp_contract, ..exact })
}

/// The NVIDIA program for a fixture.
pub fn program(target: Target<'_>) -> Result<Program, String> {
    with_input(target, |input| nv_program(input, &options(target, EmitKind::Binary)?, &Specializations::new()))
}

/// The program of any source with these options and specialization constants.
pub fn nv_program(input: &Input<'_>, options: &Options, settings: &Specializations) -> Result<Program, String> {
    let parsed = compile::parse(input, options, &NoIncludes);
    let module = parsed.module.ok_or_else(|| render::human(&parsed.sources, &parsed.diagnostics))?;
    let mut messages = Diagnostics::new();
    let program = compile::nv_program(&module, options, settings, &parsed.sources, &mut messages);
    program.ok_or_else(|| render::human(&parsed.sources, &messages))
}

/// The AMD kernel for a fixture.
pub fn amd(target: Target<'_>) -> Result<amd::Program, String> {
    with_input(target, |input| amd_program(input, &options(target, EmitKind::Binary)?, &Specializations::new()))
}

/// The AMD program for any source, with these options and specialization constants.
pub fn amd_program(input: &Input<'_>, options: &Options, settings: &Specializations) -> Result<amd::Program, String> {
    let parsed = compile::parse(input, options, &NoIncludes);
    let module = parsed.module.ok_or_else(|| render::human(&parsed.sources, &parsed.diagnostics))?;
    let mut messages = Diagnostics::new();
    let program = compile::amd_program(&module, options, settings, &parsed.sources, &mut messages);
    program.ok_or_else(|| render::human(&parsed.sources, &messages))
}

/// The PTX kernel for a fixture.
pub fn ptx(target: Target<'_>) -> Result<ptx::Program, String> {
    with_input(target, |input| ptx_program(input, &options(target, EmitKind::Binary)?, &Specializations::new()))
}

/// The PTX program for any source, with these options and specialization constants.
pub fn ptx_program(input: &Input<'_>, options: &Options, settings: &Specializations) -> Result<ptx::Program, String> {
    let parsed = compile::parse(input, options, &NoIncludes);
    let module = parsed.module.ok_or_else(|| render::human(&parsed.sources, &parsed.diagnostics))?;
    let mut messages = Diagnostics::new();
    let program = compile::ptx_program(&module, options, settings, &parsed.sources, &mut messages);
    program.ok_or_else(|| render::human(&parsed.sources, &messages))
}

/// The kernel for a fixture, with its cross-lane operations not lowered yet.
pub fn kernel(target: Target<'_>) -> Result<Kernel, String> {
    with_input(target, |input| parsed(input, &options(target, EmitKind::Ir)?, &Specializations::new()))
}

/// The kernel of a compute shader in GLSL.
pub fn kernel_of_text(text: &str) -> Result<Kernel, String> {
    let input = Input { name: "again.comp", bytes: text.as_bytes(), language: compile::Language::Glsl };
    let profile = Profile::named("spirv-1.6").expect("a built-in profile");
    parsed(&input, &Options::new(profile), &Specializations::new())
}

/// The kernel of any source with these options and specialization constants.
pub fn parsed(input: &Input<'_>, options: &Options, settings: &Specializations) -> Result<Kernel, String> {
    let parsed = compile::parse(input, options, &NoIncludes);
    let module = parsed.module.ok_or_else(|| render::human(&parsed.sources, &parsed.diagnostics))?;
    let lowered = spanned(&module, &options.profile).and_then(|module| lower(&module, settings));
    lowered.map_err(|refusals| format!("{refusals:?}"))
}

/// Calls `f` with the fixture's source.
fn with_input<T>(target: Target<'_>, f: impl FnOnce(&Input<'_>) -> Result<T, String>) -> Result<T, String> {
    let path = target.fixture.path(target.language);
    let source = target.fixture.source(target.language)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let language = match target.language {
        Language::Glsl => compile::Language::Glsl,
        Language::Wgsl => compile::Language::Wgsl,
    };
    f(&Input { name: &name, bytes: source.as_bytes(), language })
}

fn artifact(target: Target<'_>, emit: EmitKind) -> Result<Artifact, String> {
    made(target, &options(target, emit)?)
}

fn made(target: Target<'_>, options: &Options) -> Result<Artifact, String> {
    let done = with_input(target, |input| Ok(compile::compile(input, options, &NoIncludes)))?;
    match done.verdict {
        Verdict::Done(artifact) => Ok(artifact),
        Verdict::ShaderWrong | Verdict::ProfileLacks => Err(render::human(&done.sources, &done.diagnostics)),
    }
}
