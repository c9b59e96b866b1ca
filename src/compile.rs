//! Compiles one shader: text in, artifact and messages out. It touches no file, clock or environment, except that
//! builds with debug assertions may run `spirv-val`. Included text comes through the caller's [`Loader`]. A [`Reading`]
//! keeps the work that several outputs share.

mod kernels;
mod reading;

pub use crate::backend::Artifact;
pub use crate::backend::places::{Bound, InputPlace, Place, Places};
use crate::backend::reflection::{Interface, Reflection};
use crate::backend::{self, Backend, DebugInfo, Form, KernelWriter, Made, Manner, ModuleWriter, Writer, amd, nv, ptx};
use crate::diagnostic::warning::{self, Choice, Choices};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity, allow};
use crate::glsl::GlslOptions;
use crate::glsl::dialect::Dialect;
use crate::glsl::preprocess::MacroOption;
use crate::guard;
use crate::ir::{ClipSpace, FpContract, Module, Stage};
use crate::kernel::trace::{self, Moment};
use crate::kernel::{self, Kernel, Specializations};
use crate::lane::Plans;
use crate::limits::{Limits, Taken};
use crate::profile::{Profile, Target, WaveSize};
use crate::source::{Loader, SourceMap};
use crate::warn;
use crate::wgsl::BoundsChecks;
use kernels::{Kernels, Lowered};
pub use reading::{Reading, Readings, read_alike};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Language of a shader's text. A SPIR-V module needs none: input that begins with its magic number is read as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    Glsl,
    Wgsl,
}

/// The output of a compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitKind {
    /// The target's binary form.
    Binary,
    /// The target's text form.
    Assembly,
    /// The typed intermediate form as text.
    Ir,
    /// The kernel form as text. For a hardware profile, this is the form that assembly is written from; otherwise it
    /// still contains unplanned cross-lane operations.
    Kernel,
    /// The kernel form at an earlier moment.
    KernelAt(Moment),
    /// The resources that the caller of a program must bind, as JSON.
    Reflection,
    /// The preprocessed source.
    Preprocessed,
}

/// A shader as it was read.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Name for messages and debug information; quoted includes are looked up next to it.
    pub name: &'a str,
    pub bytes: &'a [u8],
    pub language: Language,
}

/// The options of a compilation.
#[derive(Clone, Debug)]
pub struct Options {
    pub profile: Profile,
    /// The plans made so far for the profile. Clones share them.
    pub plans: Arc<Plans>,
    /// Stage of a GLSL shader. The default is the stage of its `#pragma shader_stage`, otherwise compute. WGSL declares
    /// its stages; in a module with several stages this selects the entry points of one.
    pub stage: Option<Stage>,
    /// Entry point to compile if a WGSL module has several. SPIR-V can hold all of them, other outputs only one.
    pub entry: Option<String>,
    /// In the order in which they were given.
    pub macros: Vec<MacroOption>,
    /// Settings of the GLSL front end, in addition to the shader's own directives.
    pub dialect: Dialect,
    /// The effect of an index out of range in WGSL.
    pub bounds_checks: BoundsChecks,
    /// Floating-point contraction, unless the shader sets it with `#pragma crosslane fp_contract`.
    pub fp_contract: FpContract,
    /// The clip space of the written positions.
    pub clip_space: ClipSpace,
    /// How SPIR-V is written.
    pub manner: Manner,
    /// Places of resources in a shading language.
    pub places: Places,
    /// Values of specialization constants.
    pub settings: Specializations,
    pub emit: EmitKind,
    /// The debug information.
    pub debug: DebugInfo,
    pub deny_warnings: bool,
    pub no_warnings: bool,
    /// Choices for single kinds of warnings, in the given order.
    pub warnings: Vec<Choice>,
    /// The limits of the compilation. Lower them if you compile untrusted input.
    pub limits: Limits,
}

impl Options {
    /// The options of the GLSL front end.
    pub fn glsl(&self) -> GlslOptions<'_> {
        let Options { profile, stage, macros, dialect, fp_contract, limits, .. } = self;
        GlslOptions { profile, stage: *stage, macros, dialect, fp_contract: *fp_contract, limits: *limits }
    }

    /// The options for a shader, which may promise subgroup sizes itself.
    ///
    /// # Errors
    /// Like [`Module::profile`].
    pub fn narrowed(&self, module: &Module) -> Made<Cow<'_, Options>> {
        let Some((size, _)) = module.promise else { return Ok(Cow::Borrowed(self)) };
        let profile = module.profile(&self.profile)?.into_owned();
        let sizes = warning::of(Code::WAVE_SIZE).filter(|_| size == WaveSize::Any).map(Choice::on);
        let warnings = sizes.into_iter().chain(self.warnings.iter().copied()).collect();
        Ok(Cow::Owned(Options { profile, warnings, ..self.clone() }))
    }

    /// The options of the back ends.
    pub fn of_backend(&self, sources: &SourceMap) -> backend::Options {
        let source = sources.files().first().map(|file| file.name.to_string()).unwrap_or_default();
        backend::Options {
            profile: self.profile.clone(),
            source,
            debug: self.debug,
            manner: self.manner,
            places: self.places.clone(),
            plan: None,
            plans: self.plans.of(&self.profile),
        }
    }

    /// Options for a compute shader and a binary.
    pub fn new(profile: Profile) -> Options {
        Options {
            profile,
            plans: Arc::default(),
            stage: None,
            entry: None,
            macros: Vec::new(),
            dialect: Dialect::default(),
            bounds_checks: BoundsChecks::default(),
            fp_contract: FpContract::default(),
            clip_space: ClipSpace::default(),
            manner: Manner::default(),
            places: Places::default(),
            settings: Specializations::new(),
            emit: EmitKind::Binary,
            debug: DebugInfo::None,
            deny_warnings: false,
            no_warnings: false,
            warnings: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// The choices of warnings.
    fn choices(&self) -> Choices<'_> {
        Choices { deny: self.deny_warnings, silent: self.no_warnings, list: &self.warnings }
    }
}

/// How a compilation ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Done(Artifact),
    /// The shader is wrong.
    ShaderWrong,
    /// The shader is right, but the profile, or crosslane so far, cannot express it.
    ProfileLacks,
}

/// A finished compilation: its verdict, its messages, and the sources that their spans point into.
#[derive(Debug)]
pub struct Compilation {
    pub verdict: Verdict,
    pub diagnostics: Diagnostics,
    pub sources: Arc<SourceMap>,
    /// Usage of [`Options::limits`], including the reading of the shader, even if several compilations share it.
    pub taken: Taken,
}

/// Compiles one shader.
pub fn compile(input: &Input<'_>, options: &Options, loader: &dyn Loader) -> Compilation {
    match options.emit {
        EmitKind::Preprocessed => reading::preprocess(input, options, loader),
        _ => Reading::new(input, options, loader).compile(options),
    }
}

/// A parsed shader: its module if it is valid, its messages, and the sources that their spans point into.
#[derive(Debug)]
pub struct Parsed {
    pub module: Option<Module>,
    pub diagnostics: Diagnostics,
    pub sources: SourceMap,
}

/// Parses one shader without compiling it.
pub fn parse(input: &Input<'_>, options: &Options, loader: &dyn Loader) -> Parsed {
    let (module, sources, mut diagnostics) = reading::read(input, options, loader);
    treat_warnings(options, &sources, &mut diagnostics);
    let module = module.filter(|_| !diagnostics.has_errors());
    Parsed { module, diagnostics, sources }
}

/// The NVIDIA hardware program of a module's entry point, with these specialization constants. Returns `None` and adds
/// errors to the messages if the kernel form, the profile or the target cannot express it.
pub fn nv_program(
    module: &Module,
    options: &Options,
    settings: &Specializations,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<nv::Program> {
    program(module, options, settings, diagnostics, |kernel, options| {
        nv::emit(kernel, &options.of_backend(sources), sources)
    })
}

/// The program for AMD's hardware.
pub fn amd_program(
    module: &Module,
    options: &Options,
    settings: &Specializations,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<amd::Program> {
    program(module, options, settings, diagnostics, |kernel, options| {
        amd::emit(kernel, &options.of_backend(sources), sources)
    })
}

/// The PTX program for NVIDIA's hardware.
pub fn ptx_program(
    module: &Module,
    options: &Options,
    settings: &Specializations,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<ptx::Program> {
    program(module, options, settings, diagnostics, |kernel, options| {
        ptx::emit(kernel, &options.of_backend(sources), sources)
    })
}

/// The hardware program that a back end writes.
fn program<T>(
    module: &Module,
    options: &Options,
    settings: &Specializations,
    diagnostics: &mut Diagnostics,
    emit: impl FnOnce(&Kernel, &Options) -> Made<T>,
) -> Option<T> {
    within(options, diagnostics, |diagnostics| {
        let options = &*diagnostics.take(options.narrowed(module))?;
        let made = kernel::finish(module, settings, &options.profile);
        diagnostics.take(made.and_then(|kernel| emit(&kernel, options)))
    })
}

/// Runs part of a compilation within the limits of the options. Reports a limit or a bug in crosslane that ends it.
fn within<T>(
    options: &Options,
    diagnostics: &mut Diagnostics,
    part: impl FnOnce(&mut Diagnostics) -> Option<T>,
) -> Option<T> {
    measured(options, diagnostics, part).0
}

/// Like `within`, and returns how much of the limits was used.
fn measured<T>(
    options: &Options,
    diagnostics: &mut Diagnostics,
    part: impl FnOnce(&mut Diagnostics) -> Option<T>,
) -> (Option<T>, Taken) {
    let (done, taken) = guard::measured(options.limits, || part(diagnostics));
    let done = done.unwrap_or_else(|failure| {
        diagnostics.push(failure);
        None
    });
    (done, taken)
}

fn verdict(artifact: Option<Artifact>, diagnostics: &Diagnostics) -> Verdict {
    match artifact {
        Some(artifact) if !diagnostics.has_errors() => Verdict::Done(artifact),
        _ if diagnostics.errors_are_refusals() => Verdict::ProfileLacks,
        _ => Verdict::ShaderWrong,
    }
}

/// Sets the severity of every warning, and drops warnings that are turned off.
fn treat_warnings(options: &Options, sources: &SourceMap, diagnostics: &mut Diagnostics) {
    diagnostics.judge(|message| {
        let severity = severity(options, sources, message)?;
        message.notes.extend(allow::misspelt(sources, message));
        Some(severity)
    });
}

/// Severity of a message that is not an error; `None` if it is turned off.
fn severity(options: &Options, sources: &SourceMap, message: &Diagnostic) -> Option<Severity> {
    let severity = options.choices().severity(message.code, message.severity)?;
    (!allow::is_allowed(sources, message)).then_some(severity)
}

/// The work on a module that was read.
struct Job<'a> {
    options: &'a Options,
    /// The module as the shader has it.
    source: &'a Module,
    /// The module whose cross-lane operations stay within subgroups of a fixed size.
    module: &'a Module,
    sources: &'a SourceMap,
    /// The kernels that other jobs have made from it.
    kernels: &'a Kernels,
    /// The warnings that other jobs have found.
    warnings: &'a OnceLock<Vec<Diagnostic>>,
    diagnostics: &'a mut Diagnostics,
}

impl Job<'_> {
    fn run(&mut self) -> Option<Artifact> {
        let artifact = self.back();
        self.warn();
        artifact
    }

    /// Warns of cross-lane operations; operations that cannot be compiled have other messages.
    fn warn(&mut self) {
        if self.diagnostics.has_errors() {
            return;
        }
        let (options, profile) = (self.options, &self.options.profile);
        let mut found = self.warnings.get_or_init(|| warn::warnings(self.source, profile)).clone();
        if options.choices().wants(Code::WAVE_SIZE, Severity::Note) {
            found.extend(warn::sizes(self.source, profile));
        }
        found.extend(warn::widths(self.module, profile));
        // Warnings that are turned off do not count towards the maximum.
        found.retain(|message| severity(options, self.sources, message).is_some());
        found.into_iter().for_each(|message| self.diagnostics.push(message));
    }

    fn back(&mut self) -> Option<Artifact> {
        let form = match self.options.emit {
            EmitKind::Ir => {
                return Some(Artifact::Text(crate::ir::print::print(self.module, Some(self.sources))));
            }
            EmitKind::Kernel => return self.kernel(self.options.profile.target).map(Artifact::Text),
            EmitKind::KernelAt(moment) => return self.kernel_at(moment).map(Artifact::Text),
            EmitKind::Preprocessed => return None,
            EmitKind::Binary => Form::Binary,
            EmitKind::Assembly => Form::Text,
            EmitKind::Reflection => Form::Reflection,
        };
        match &Backend::of(self.options.profile.target).writer {
            Writer::Module(writer) => self.whole(writer, form),
            Writer::Kernel(writer) => self.program(writer, form).map(Artifact::Text),
        }
    }

    /// The text of the kernel form: the input of assembly, or, for SPIR-V, the form before cross-lane operations are
    /// lowered.
    fn kernel(&mut self, target: Target) -> Option<String> {
        if target.is_hardware() {
            return Some(kernel::print::print(&self.lowered()?.kernel, Some(self.sources)));
        }
        let kernel = kernel::simplified(self.module, &Specializations::new(), target);
        Some(kernel::print::print(&self.diagnostics.take(kernel)?, Some(self.sources)))
    }

    fn kernel_at(&mut self, moment: Moment) -> Option<String> {
        let text = trace::trace(self.module, &self.options.profile, moment, Some(self.sources));
        self.diagnostics.take(text)
    }

    /// The kernel for the profile.
    fn lowered(&mut self) -> Option<Arc<Lowered>> {
        let profile = &self.options.profile;
        let lowered = self.kernels.lowered(self.module, profile, &self.options.plans.of(profile));
        self.diagnostics.take(lowered)
    }

    /// The program of the entry point, or the bindings and settings that its caller must provide.
    fn program(&mut self, writer: &KernelWriter, form: Form) -> Option<String> {
        let lowered = self.lowered()?;
        let draft = lowered.draft(writer, &self.options.of_backend(self.sources), self.sources);
        let draft = self.diagnostics.take(draft)?;
        let refused = kernel::pass::not_unrolled(&lowered.kernel, self.sources);
        refused.into_iter().for_each(|warning| self.diagnostics.push(warning));
        Some(match form {
            Form::Reflection => draft.reflection(&self.interface()?),
            Form::Binary | Form::Text => draft.text(&self.options.profile),
        })
    }

    /// The interface of the shader to its pipeline.
    fn interface(&mut self) -> Option<Interface> {
        let entry = self.diagnostics.take(kernel::only_entry(self.module).map_err(|error| vec![*error]))?;
        let options = self.options;
        Some(Reflection::of(self.module, entry, options.manner.keep_unused, options.profile.wave_size).interface)
    }

    /// The whole module in the target's language, or the bindings and settings that its caller must provide.
    fn whole(&mut self, writer: &ModuleWriter, form: Form) -> Option<Artifact> {
        self.diagnostics.take(self.has_entries())?;
        self.diagnostics.take(self.check_workgroups())?;
        let made = (writer.write)(self.module, form, &self.options.of_backend(self.sources), self.sources);
        let made = self.diagnostics.take(made)?;
        (writer.losses)(self.module, &self.options.profile)
            .into_iter()
            .for_each(|warning| self.diagnostics.push(warning));
        Some(made)
    }

    fn has_entries(&self) -> Result<(), Vec<Diagnostic>> {
        if self.module.entry_points.is_empty() { Err(vec![kernel::no_entry()]) } else { Ok(()) }
    }

    /// Specialization can change a size that is not a plain number.
    fn check_workgroups(&self) -> Result<(), Vec<Diagnostic>> {
        let Module { constants, types, functions, .. } = self.module;
        for entry in self.module.entry_points.iter().filter(|entry| entry.stage.has_workgroups()) {
            let size = entry.workgroup_size.map(|id| constants.as_int(types, id));
            if let [Some(x), Some(y), Some(z)] = size {
                let size = [x, y, z].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
                kernel::check_workgroup(size, functions[entry.function].span, self.options.profile.target)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
