//! The compiler under test, as its users call it.

use crosslane::backend::nv::Program;
use crosslane::backend::{amd, ptx};
use crosslane::compile::{self, Artifact, EmitKind, Input, Options, Verdict};
use crosslane::diagnostic::{Diagnostics, render};
use crosslane::glsl::preprocess::MacroOption;
use crosslane::kernel::{Kernel, Specializations, lower};
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;

use super::fixture::{Build, Fixture, Language};

/// The target that one fixture is compiled to.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub fixture: &'a Fixture,
    pub language: Language,
    /// A built-in profile or [`NARROW`]; the fixture says whether its folds keep the fixed order.
    pub profile: &'a str,
    pub build: Build,
}

/// The module that a fixture becomes, or the compiler's messages; for a profile of WGSL that of the text which comes out.
pub fn spirv(target: Target<'_>) -> Result<Vec<u32>, String> {
    module_of(artifact(target, EmitKind::Binary)?)
}

/// A module, or what is made of a text in WGSL.
pub fn module_of(artifact: Artifact) -> Result<Vec<u32>, String> {
    let text = match artifact {
        Artifact::Spirv(words) => return Ok(words),
        Artifact::Text(text) => text,
    };
    let input = Input { name: "again.wgsl", bytes: text.as_bytes(), language: compile::Language::Wgsl };
    let profile = Profile::named("spirv-1.6").expect("a built-in profile");
    let done = compile::compile(&input, &Options::new(profile), &NoIncludes);
    match done.verdict {
        Verdict::Done(Artifact::Spirv(words)) => Ok(words),
        _ => Err(format!("{}\n{text}", render::human(&done.sources, &done.diagnostics))),
    }
}

/// The text in WGSL that a fixture becomes.
pub fn wgsl(target: Target<'_>) -> Result<String, String> {
    match artifact(target, EmitKind::Binary)? {
        Artifact::Text(text) => Ok(text),
        Artifact::Spirv(_) => Err("words came out where text was asked for".to_string()),
    }
}

/// The same as text.
pub fn assembly(target: Target<'_>) -> Result<String, String> {
    match artifact(target, EmitKind::Assembly)? {
        Artifact::Text(text) => Ok(text),
        Artifact::Spirv(_) => Err("words came out where text was asked for".to_string()),
    }
}

/// A profile that lacks parts of what every SPIR-V has, for which other plans stand in.
pub const NARROW: &str = "spirv-narrow";

const NARROW_LACKS: &str =
    r#""scans", "ballot-bits", "vote-equal", "varying-distance", "elect", "clustered", "quad-control", "rotate""#;

fn options(target: Target<'_>, emit: EmitKind) -> Result<Options, String> {
    let (name, reproducible) = (target.profile, target.fixture.reproducible);
    let narrow = format!("inherit = \"spirv-1.6\"\nremove-features = [{NARROW_LACKS}]");
    let heritage = if name == NARROW { narrow } else { format!("inherit = \"{name}\"") };
    let text = format!("name = \"{name}-test\"\nreproducible = {reproducible}\n{heritage}\n");
    let profile = Profile::from_toml(&text, "a test's profile").map_err(|e| e.to_string())?;
    let width = target.build.width.map(|w| MacroOption::Define { name: "WIDTH".to_string(), value: w.to_string() });
    let profile = profile.with_wave_size(target.build.wave);
    Ok(Options { macros: width.into_iter().collect(), emit, ..Options::new(profile) })
}

/// The program for NVIDIA's hardware that a fixture becomes.
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

/// The kernel for AMD's hardware that a fixture becomes.
pub fn amd(target: Target<'_>) -> Result<amd::Program, String> {
    with_input(target, |input| amd_program(input, &options(target, EmitKind::Binary)?, &Specializations::new()))
}

/// The same of any source with these options and specialization constants.
pub fn amd_program(input: &Input<'_>, options: &Options, settings: &Specializations) -> Result<amd::Program, String> {
    let parsed = compile::parse(input, options, &NoIncludes);
    let module = parsed.module.ok_or_else(|| render::human(&parsed.sources, &parsed.diagnostics))?;
    let mut messages = Diagnostics::new();
    let program = compile::amd_program(&module, options, settings, &parsed.sources, &mut messages);
    program.ok_or_else(|| render::human(&parsed.sources, &messages))
}

/// The kernel in PTX that a fixture becomes.
pub fn ptx(target: Target<'_>) -> Result<ptx::Program, String> {
    with_input(target, |input| ptx_program(input, &options(target, EmitKind::Binary)?, &Specializations::new()))
}

/// The same of any source with these options and specialization constants.
pub fn ptx_program(input: &Input<'_>, options: &Options, settings: &Specializations) -> Result<ptx::Program, String> {
    let parsed = compile::parse(input, options, &NoIncludes);
    let module = parsed.module.ok_or_else(|| render::human(&parsed.sources, &parsed.diagnostics))?;
    let mut messages = Diagnostics::new();
    let program = compile::ptx_program(&module, options, settings, &parsed.sources, &mut messages);
    program.ok_or_else(|| render::human(&parsed.sources, &messages))
}

/// The kernel that a fixture becomes, its cross-lane operations as they are.
pub fn kernel(target: Target<'_>) -> Result<Kernel, String> {
    with_input(target, |input| parsed(input, &options(target, EmitKind::Ir)?, &Specializations::new()))
}

/// The kernel of any source with these options and specialization constants.
pub fn parsed(input: &Input<'_>, options: &Options, settings: &Specializations) -> Result<Kernel, String> {
    let parsed = compile::parse(input, options, &NoIncludes);
    let module = parsed.module.ok_or_else(|| render::human(&parsed.sources, &parsed.diagnostics))?;
    lower(&module, settings).map_err(|refusals| format!("{refusals:?}"))
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
    let options = options(target, emit)?;
    let done = with_input(target, |input| Ok(compile::compile(input, &options, &NoIncludes)))?;
    match done.verdict {
        Verdict::Done(artifact) => Ok(artifact),
        Verdict::ShaderWrong | Verdict::ProfileLacks => Err(render::human(&done.sources, &done.diagnostics)),
    }
}
