//! One shader through the whole compiler: text in, artifact and messages out. No file, clock or environment is touched;
//! included text comes through the caller's [`Loader`].

use crate::diagnostic::warning::{Choice, Choices};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Severity, allow};
use crate::glsl::preprocess::MacroOption;
use crate::ir::{Module, Stage};
use crate::kernel::{self, Specializations};
use crate::profile::{Profile, Target};
use crate::source::{FileId, Loader, SourceMap, Span};
use crate::target::amd::{self, AmdOptions};
use crate::target::nv::{self, NvOptions};
use crate::target::spirv::{self, SpirvOptions};
use crate::warn;
use crate::wgsl::{self, WgslOptions};

/// Language of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    Glsl,
    Wgsl,
}

/// What a compilation gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitKind {
    /// The target's binary form.
    Binary,
    /// The target's text form.
    Assembly,
    /// The typed intermediate form as text.
    Ir,
    /// The kernel form as text: for a profile of hardware what its assembly is written from, else before any
    /// cross-lane operation is planned.
    Kernel,
    /// What the caller of a program must bind, as JSON.
    Reflection,
    /// The preprocessed source.
    Preprocessed,
}

/// A shader as it was read.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Name for messages and debug information; quoted includes are looked up beside it.
    pub name: &'a str,
    pub bytes: &'a [u8],
    pub language: Language,
}

/// What to do with it.
#[derive(Clone, Debug)]
pub struct Options {
    pub profile: Profile,
    /// Stage of a GLSL shader. WGSL says it itself; it chooses where there are entry points of several stages.
    pub stage: Stage,
    /// Entry point to compile where there are several.
    pub entry: Option<String>,
    /// In the order in which they were given.
    pub macros: Vec<MacroOption>,
    pub emit: EmitKind,
    /// Keep names and source lines.
    pub debug: bool,
    pub deny_warnings: bool,
    pub no_warnings: bool,
    /// What is said of single kinds of warnings, in the order in which it was said.
    pub warnings: Vec<Choice>,
}

impl Options {
    /// Options for a compute shader and a binary.
    pub fn new(profile: Profile) -> Options {
        Options {
            profile,
            stage: Stage::Compute,
            entry: None,
            macros: Vec::new(),
            emit: EmitKind::Binary,
            debug: false,
            deny_warnings: false,
            no_warnings: false,
            warnings: Vec::new(),
        }
    }

    /// What becomes of warnings.
    fn choices(&self) -> Choices<'_> {
        Choices { deny: self.deny_warnings, silent: self.no_warnings, list: &self.warnings }
    }
}

/// What came out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Artifact {
    /// SPIR-V words.
    Spirv(Vec<u32>),
    Text(String),
}

impl Artifact {
    /// The bytes of a file that holds it; SPIR-V in little-endian order.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Artifact::Spirv(words) => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            Artifact::Text(text) => text.clone().into_bytes(),
        }
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
    pub sources: SourceMap,
}

/// Compiles one shader.
pub fn compile(input: &Input<'_>, options: &Options, loader: &dyn Loader) -> Compilation {
    let mut job = Job::new(options, loader);
    let artifact = job.run(input);
    job.treat_warnings();
    let verdict = verdict(artifact, &job.diagnostics);
    Compilation { verdict, diagnostics: job.diagnostics, sources: job.sources }
}

/// A shader that was read: its module, if it is right, its messages, and the sources that their spans point into.
#[derive(Debug)]
pub struct Parsed {
    pub module: Option<Module>,
    pub diagnostics: Diagnostics,
    pub sources: SourceMap,
}

/// Reads one shader and makes nothing of it.
pub fn parse(input: &Input<'_>, options: &Options, loader: &dyn Loader) -> Parsed {
    let mut job = Job::new(options, loader);
    let module = job.module(input);
    job.treat_warnings();
    let module = module.filter(|_| !job.diagnostics.has_errors());
    Parsed { module, diagnostics: job.diagnostics, sources: job.sources }
}

/// The program for NVIDIA's hardware that the first entry point of a module becomes, with these specialization constants;
/// none, and errors among the messages, where the kernel form, the profile or the target cannot express it.
pub fn nv_program(
    module: &Module,
    options: &Options,
    settings: &Specializations,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<nv::Program> {
    let source = first_source(sources);
    let names = NvOptions { profile: options.profile.name.to_string(), source, debug: options.debug };
    let write = |kernel: &kernel::Kernel| nv::emit(kernel, &names, sources);
    program(module, &options.profile, settings, diagnostics, write)
}

/// The same for AMD's hardware.
pub fn amd_program(
    module: &Module,
    options: &Options,
    settings: &Specializations,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<amd::Program> {
    let source = first_source(sources);
    let names = AmdOptions { profile: options.profile.clone(), source, debug: options.debug };
    let write = |kernel: &kernel::Kernel| amd::emit(kernel, &names, sources);
    program(module, &options.profile, settings, diagnostics, write)
}

/// Name of the file that a compilation began with.
fn first_source(sources: &SourceMap) -> String {
    sources.files().first().map(|file| file.name.to_string()).unwrap_or_default()
}

fn program<T>(
    module: &Module,
    profile: &Profile,
    settings: &Specializations,
    diagnostics: &mut Diagnostics,
    write: impl FnOnce(&kernel::Kernel) -> Result<T, Vec<Diagnostic>>,
) -> Option<T> {
    let made = kernel::finish(module, 0, settings, profile).and_then(|kernel| write(&kernel));
    made.map_err(|messages| messages.into_iter().for_each(|message| diagnostics.push(message))).ok()
}

/// Assembly text, and what its caller must bind, as JSON.
struct Assembly {
    text: String,
    reflection: String,
}

fn verdict(artifact: Option<Artifact>, diagnostics: &Diagnostics) -> Verdict {
    match artifact {
        Some(artifact) if !diagnostics.has_errors() => Verdict::Done(artifact),
        _ if diagnostics.errors_are_refusals() => Verdict::ProfileLacks,
        _ => Verdict::ShaderWrong,
    }
}

struct Job<'a> {
    options: &'a Options,
    loader: &'a dyn Loader,
    sources: SourceMap,
    diagnostics: Diagnostics,
}

impl<'a> Job<'a> {
    fn new(options: &'a Options, loader: &'a dyn Loader) -> Job<'a> {
        Job { options, loader, sources: SourceMap::new(), diagnostics: Diagnostics::new() }
    }

    fn run(&mut self, input: &Input<'_>) -> Option<Artifact> {
        if self.options.emit == EmitKind::Preprocessed {
            let file = self.add_source(input)?;
            return self.preprocess(file, input.language).map(Artifact::Text);
        }
        let module = self.module(input)?;
        let artifact = self.back(&module);
        self.warn(&module);
        artifact
    }

    /// Warns of cross-lane operations; of those that cannot be compiled there is something else to say.
    fn warn(&mut self, module: &Module) {
        if self.diagnostics.has_errors() {
            return;
        }
        let (options, profile) = (self.options, &self.options.profile);
        let mut found = warn::warnings(module, profile);
        if options.choices().wants(Code::WAVE_SIZE, Severity::Note) {
            found.extend(warn::sizes(module, profile));
        }
        // Those that are turned off do not count among those that there may be.
        found.retain(|message| self.severity(message).is_some());
        found.into_iter().for_each(|message| self.diagnostics.push(message));
    }

    /// How bad a message is that is no error; none if it is turned off.
    fn severity(&self, message: &Diagnostic) -> Option<Severity> {
        let severity = self.options.choices().severity(message.code, message.severity)?;
        (!allow::is_allowed(&self.sources, message)).then_some(severity)
    }

    /// The module that the front end makes, if nothing is wrong with it.
    fn module(&mut self, input: &Input<'_>) -> Option<Module> {
        let file = self.add_source(input)?;
        let module = self.front(file, input.language)?;
        (!self.diagnostics.has_errors() && self.is_sound(&module)).then_some(module)
    }

    fn treat_warnings(&mut self) {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        diagnostics.judge(|message| {
            let severity = self.severity(message)?;
            message.notes.extend(allow::misspelt(&self.sources, message));
            Some(severity)
        });
        self.diagnostics = diagnostics;
    }

    fn add_source(&mut self, input: &Input<'_>) -> Option<FileId> {
        let text = match std::str::from_utf8(input.bytes) {
            Ok(text) => text,
            Err(error) => {
                self.not_utf8(input, error.valid_up_to());
                return None;
            }
        };
        let added = self.sources.add(input.name, text);
        if added.is_err() {
            self.diagnostics.push(Diagnostic::error(Code::TOO_LARGE, "the input is larger than 1 GiB"));
        }
        added.ok()
    }

    /// Shows the text up to the bad byte, so that the message can point there.
    fn not_utf8(&mut self, input: &Input<'_>, valid: usize) {
        let message = Diagnostic::error(Code::NOT_UTF8, format!("{} is not UTF-8 (byte {valid})", input.name));
        let shown = String::from_utf8_lossy(input.bytes).into_owned();
        let message = match self.sources.add(input.name, shown) {
            Ok(file) => {
                let at = self.sources.file(file).base + valid as u32;
                message.at(Span::new(at, at), "this byte starts no character")
            }
            Err(_) => message,
        };
        self.diagnostics.push(message);
    }

    fn preprocess(&mut self, file: FileId, language: Language) -> Option<String> {
        match language {
            Language::Glsl => {
                let text = crate::glsl::preprocess_only(
                    file,
                    &mut self.sources,
                    self.loader,
                    self.options,
                    &mut self.diagnostics,
                );
                Some(text)
            }
            Language::Wgsl => {
                let message = "WGSL has no preprocessor";
                self.diagnostics.push(Diagnostic::error(Code::NO_PREPROCESSOR, message));
                None
            }
        }
    }

    fn front(&mut self, file: FileId, language: Language) -> Option<Module> {
        match language {
            Language::Glsl => {
                crate::glsl::compile(file, &mut self.sources, self.loader, self.options, &mut self.diagnostics)
            }
            Language::Wgsl => self.wgsl(file),
        }
    }

    fn wgsl(&mut self, file: FileId) -> Option<Module> {
        let defines: Vec<(String, String)> = self.options.macros.iter().filter_map(MacroOption::defined).collect();
        let profile = &self.options.profile;
        let (wave_size, target) = (profile.wave_size, profile.target);
        let (entry, stage) = (self.options.entry.as_deref(), self.options.stage);
        let options = WgslOptions { entry, stage, defines: &defines, wave_size, target };
        wgsl::compile(file, &self.sources, &options, &mut self.diagnostics)
    }

    /// Builds with debug assertions check what the front ends made; a module that fails is a defect of ours.
    fn is_sound(&mut self, module: &Module) -> bool {
        if !cfg!(debug_assertions) {
            return true;
        }
        let errors = crate::ir::verify::verify(module).err().unwrap_or_default();
        errors.iter().for_each(|error| self.diagnostics.push(error.diagnostic()));
        errors.is_empty()
    }

    fn back(&mut self, module: &Module) -> Option<Artifact> {
        match self.options.emit {
            EmitKind::Ir => Some(Artifact::Text(crate::ir::print::print(module, Some(&self.sources)))),
            EmitKind::Kernel => self.kernel(module).map(Artifact::Text),
            EmitKind::Reflection => self.reflection(module).map(Artifact::Text),
            EmitKind::Binary | EmitKind::Assembly if self.options.profile.target != Target::Spirv => {
                Some(Artifact::Text(self.assembly(module)?.text))
            }
            EmitKind::Assembly => {
                let words = self.spirv(module)?;
                self.listing(&words).map(Artifact::Text)
            }
            EmitKind::Binary => self.spirv(module).map(Artifact::Spirv),
            EmitKind::Preprocessed => None,
        }
    }

    /// The text of the kernel form.
    fn kernel(&mut self, module: &Module) -> Option<String> {
        let (settings, profile) = (Specializations::new(), &self.options.profile);
        let kernel = match profile.target {
            Target::Spirv => kernel::lower(module, 0, &settings).map(|mut kernel| {
                kernel::pass::optimize(&mut kernel);
                kernel
            }),
            Target::Nv | Target::Amd => kernel::finish(module, 0, &settings, profile),
        };
        let kernel = kernel.map_err(|errors| errors.into_iter().for_each(|error| self.diagnostics.push(error)));
        kernel.ok().map(|kernel| kernel::print::print(&kernel, Some(&self.sources)))
    }

    /// What a caller must bind and set, as JSON.
    fn reflection(&mut self, module: &Module) -> Option<String> {
        if self.options.profile.target != Target::Spirv {
            return Some(self.assembly(module)?.reflection);
        }
        let words = self.spirv(module)?;
        match kernel::lower(module, 0, &Specializations::new()) {
            Ok(kernel) => Some(spirv::reflection::json(&words, &kernel, &self.options.profile)),
            Err(messages) => {
                messages.into_iter().for_each(|message| self.diagnostics.push(message));
                None
            }
        }
    }

    /// The program for NVIDIA's or AMD's hardware.
    fn assembly(&mut self, module: &Module) -> Option<Assembly> {
        let settings = Specializations::default();
        match self.options.profile.target {
            Target::Nv => {
                let made = nv_program(module, self.options, &settings, &self.sources, &mut self.diagnostics)?;
                Some(Assembly { reflection: made.reflection.to_json(), text: made.text })
            }
            Target::Amd => {
                let made = amd_program(module, self.options, &settings, &self.sources, &mut self.diagnostics)?;
                Some(Assembly { reflection: made.reflection.to_json(), text: made.text })
            }
            Target::Spirv => {
                self.diagnostics.push(Diagnostic::error(Code::INTERNAL, "SPIR-V is written by another way"));
                None
            }
        }
    }

    fn spirv(&mut self, module: &Module) -> Option<Vec<u32>> {
        let Some(mut options) = SpirvOptions::new(self.options.profile.clone()) else {
            let name = &self.options.profile.name;
            let message = format!("the profile {name} names a SPIR-V version that is not supported");
            self.diagnostics.push(Diagnostic::error(Code::NOT_SUPPORTED, message));
            return None;
        };
        options.debug = self.options.debug;
        match spirv::emit(module, &options, &self.sources) {
            Ok(words) => Some(words),
            Err(messages) => {
                messages.into_iter().for_each(|message| self.diagnostics.push(message));
                None
            }
        }
    }

    /// The text of a module; a module that cannot be read back is a defect of ours.
    fn listing(&mut self, words: &[u32]) -> Option<String> {
        let text = spirv::disassemble(words);
        if let Err(reason) = &text {
            self.diagnostics.push(Diagnostic::error(Code::INTERNAL, format!("the module has no listing: {reason}")));
        }
        text.ok()
    }
}
