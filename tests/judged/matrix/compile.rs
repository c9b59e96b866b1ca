//! A shader of cells, compiled for each target.

use crosslane::backend::{amd, nv, ptx};
use crosslane::compile::{self, Artifact, EmitKind, Input, Options, Verdict};
use crosslane::diagnostic::render;
use crosslane::ir::Stage;
use crosslane::kernel::pass::optimize;
use crosslane::kernel::verify::verify;
use crosslane::kernel::{Kernel, Specializations, lower_lanes};
use crosslane::profile::{Profile, Target};
use crosslane::source::NoIncludes;

use super::kind::Type;
use super::rows::Unit;
use super::shader::Shader;
use super::stage;
use support::compiler;
use support::fixture::Language;

/// The output for a shader.
pub enum Made {
    Spirv(Vec<u32>),
    /// A WGSL text, and its module.
    Wgsl(String, Vec<u32>),
    /// A GLSL text for drivers that are not available here, and glslang's module for it.
    Glsl(String, Vec<u32>),
    /// An MSL text with its reflection.
    Msl(String, String),
    Nv(nv::Program),
    Amd(amd::Program),
    Ptx(ptx::Program),
}

/// The shader of some cells of a unit, with its source for a profile.
pub struct Source {
    pub shader: Shader,
    pub text: String,
    language: Language,
}

impl Source {
    pub fn new(unit: &Unit, types: &[Option<Type>], profile: &Profile) -> Self {
        let shader = Shader::new(unit, types);
        let text = shader.source(|extension| extension.available(profile));
        Self { shader, text, language: unit.language }
    }

    fn with_input<T>(&self, f: impl FnOnce(&Input<'_>) -> Result<T, String>) -> Result<T, String> {
        let (name, language) = match self.language {
            Language::Glsl => ("cells.comp", compile::Language::Glsl),
            Language::Wgsl => ("cells.wgsl", compile::Language::Wgsl),
        };
        f(&Input { name, bytes: self.text.as_bytes(), language })
    }

    /// Compiles it for the profile's target, or returns the compiler's messages.
    pub fn make(&self, profile: &Profile) -> Result<Made, String> {
        let options = compiler::exact(profile.clone());
        self.with_input(|input| match profile.target {
            Target::Spirv => module(input, &options).map(Made::Spirv),
            Target::Wgsl => {
                let text = text(input, &options)?;
                let module = compiler::module_of(Target::Wgsl, Artifact::Text(text.clone()), Stage::Compute)?;
                Ok(Made::Wgsl(text, module))
            }
            Target::Glsl | Target::Hlsl => {
                let text = text(input, &options)?;
                let module = compiler::module_of(profile.target, Artifact::Text(text.clone()), Stage::Compute)?;
                Ok(if stage::is_read_back(profile) { Made::Glsl(text, module) } else { Made::Spirv(module) })
            }
            Target::Msl => {
                let reflection = Options { emit: EmitKind::Reflection, ..options.clone() };
                Ok(Made::Msl(text(input, &options)?, text(input, &reflection)?))
            }
            Target::Nv => compiler::nv_program(input, &options, &Specializations::new()).map(Made::Nv),
            Target::Ptx => compiler::ptx_program(input, &options, &Specializations::new()).map(Made::Ptx),
            Target::Amd => compiler::amd_program(input, &options, &Specializations::new()).map(Made::Amd),
        })
    }

    /// The kernel with the profile's plans, for subgroups of `lanes` lanes.
    pub fn kernel(&self, profile: &Profile, lanes: usize) -> Result<Kernel, String> {
        let profile = profile.clone().with_wave_size(Some(lanes as u32));
        let options = compiler::exact(profile.clone());
        let mut kernel = self.with_input(|input| compiler::parsed(input, &options, &Specializations::new()))?;
        optimize(&mut kernel);
        lower_lanes(&mut kernel, &profile).map_err(|errors| format!("{errors:?}"))?;
        verify(&kernel).map_err(|errors| format!("the lowered kernel: {errors:?}"))?;
        Ok(kernel)
    }
}

fn text(input: &Input<'_>, options: &Options) -> Result<String, String> {
    match done(input, options)? {
        Artifact::Text(text) => Ok(text),
        Artifact::Spirv(_) => Err("words came out where text was asked for".to_owned()),
    }
}

fn module(input: &Input<'_>, options: &Options) -> Result<Vec<u32>, String> {
    match done(input, options)? {
        Artifact::Spirv(words) => Ok(words),
        Artifact::Text(_) => Err("text came out where words were asked for".to_owned()),
    }
}

fn done(input: &Input<'_>, options: &Options) -> Result<Artifact, String> {
    let done = compile::compile(input, options, &NoIncludes);
    match done.verdict {
        Verdict::Done(artifact) => Ok(artifact),
        Verdict::ShaderWrong | Verdict::ProfileLacks => Err(render::human(&done.sources, &done.diagnostics)),
    }
}
